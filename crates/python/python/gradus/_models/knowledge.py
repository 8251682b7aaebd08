"""What is known of a model without a run: shapes, costs, contracts and pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from .._compare import Portability
from .._contract import Contract
from .._cost import Cost
from .._inference import Inference
from .base import Base, sizes_of


class Knowledge(Base):
    """Methods that infer shapes, and what follows from them."""

    def infer(
        self,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        values: Mapping[str, Any] | None = None,
        ignore_declared: bool = False,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        dialect: Literal["gradus", "onnx", "sympy", "torch"] = "gradus",
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> Inference:
        """Infers the type and shape of every value, without running the model.

        Args:
            dims: numbers for symbols of the inputs' shapes, by name.
            shapes: shapes of inputs by name, in place of the declared ones.
            values: inputs by name that are known.
            ignore_declared: ignore what the model declares of values that its
                nodes compute.
            ranges: by symbol, the smallest and the largest number that is
                assumed; `None` for no largest.
            nonempty: assume that no size of an input is 0.
            assume: conditions on symbols that are assumed: `"h % 32 == 0"`.
            dialect: the dialect in which dimensions are written.
            max_bytes: maximum bytes of values at one time; by default the limit
                of the model.
            max_work: maximum elements that nodes read, write and multiply; by
                default the limit of the model.
            timeout: seconds after which the call fails.

        Returns:
            A mapping from names of values to types, with conditions, reasons
            and the peak of memory.

        Raises:
            UsageError: if a symbol or an input has no such name.
            LimitError: if the call exceeds a limit.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> print(model.infer()["phase"], model.infer({"seq": 4})["phase"])
            float32[seq] float32[4]
            >>> print(model.infer(assume=["seq == 2*batch"])["phase"])
            float32[2*batch]
        """
        limits = (max_bytes, max_work, timeout)
        sizes = sizes_of(dims, shapes, ranges, nonempty, assume)
        return Inference(self._native._infer(sizes, dict(values or {}), ignore_declared, dialect, limits))

    def explain(self, name: str) -> str:
        """Explains the type and shape of a value by the values it comes from.

        Args:
            name: the name of a value.

        Returns:
            Lines of text, one for each value.

        Raises:
            UsageError: if a value has no such name.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> print(model.explain("seq"))
            seq: int64[1] = [seq] by node "length" (Shape)
              tokens: int64[batch, seq] by an input
        """
        return self._native.explain(name)

    def cost(
        self,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        fit: int | None = None,
        in_place: bool = False,
        depth: int = 2,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> Cost:
        """Counts parameters, operations, bytes and memory, without a run.

        Args:
            dims: numbers for symbols of the inputs' shapes, by name.
            shapes: shapes of inputs by name, in place of the declared ones.
            fit: bytes; find the largest number of the only symbol left at which
                constants, inputs and values take no more.
            in_place: in what fits, let outputs of elementwise nodes take the
                memory of an input of their size that no later node reads.
            depth: the number of components of node names, split at slashes,
                that make a group.
            ranges: by symbol, the smallest and the largest number that is
                assumed; `None` for no largest.
            nonempty: assume that no size of an input is 0.
            assume: conditions on symbols that are assumed: `"h % 32 == 0"`.
            max_bytes: maximum bytes of values at one time; by default the limit
                of the model.
            max_work: maximum elements that nodes read, write and multiply; by
                default the limit of the model.
            timeout: seconds after which the call fails.

        Returns:
            Numbers, and formulas of the symbols, by node, operator and group.

        Raises:
            UsageError: if a symbol or an input has no such name, or not exactly
                one symbol is left to `fit`.
            UnsupportedError: if what is to `fit` is not known, or may fall
                where the symbol grows.
            LimitError: if the call exceeds a limit.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> cost = model.cost()
            >>> cost.total.operations, cost.constants
            (Dim("4*seq + 1"), 16)
            >>> cost.operators["Div"].bytes_written
            Dim("4*seq")
            >>> fit = model.cost({"batch": 8}, fit=1 << 20).fit
            >>> fit.symbol, fit.most, fit.bytes
            ('seq', 13106, 1048508)
        """
        limits = (max_bytes, max_work, timeout)
        sizes = sizes_of(dims, shapes, ranges, nonempty, assume)

        def plan(more: Mapping[str, int], alignment: int, in_place: bool) -> Any:
            return self._native._plan(({**sizes[0], **more}, *sizes[1:]), limits, alignment, in_place)

        return Cost(self._native._cost(sizes, limits, fit, in_place, depth), plan)

    def compare(
        self,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> Portability:
        """Lists the nodes at which runtimes are known to differ. None is run.

        The runtimes are ONNX Runtime, OpenVINO and the reference of `onnx`.
        Source: the recorded results of `docs/compare.md`.

        Args:
            dims: numbers for symbols of the inputs' shapes, by name.
            shapes: shapes of inputs by name, in place of the declared ones.
            ranges: by symbol, the smallest and the largest number that is
                assumed; `None` for no largest.
            nonempty: assume that no size of an input is 0.
            assume: conditions on symbols that are assumed: `"h % 32 == 0"`.
            max_bytes: maximum bytes of values at one time; by default the limit
                of the model.
            max_work: maximum elements that nodes read, write and multiply; by
                default the limit of the model.
            timeout: seconds after which the call fails.

        Returns:
            The differences, in the order of the nodes, each with the condition
            under which the runtimes differ.

        Raises:
            UsageError: if a symbol or an input has no such name.
            UnsupportedError: if a model of another standard than ONNX has an
                operator that does not convert.
            LimitError: if the call exceeds a limit.

        Example:
            >>> import gradus
            >>> found = gradus.load("examples/positions.onnx").compare()
            >>> [(it.operator, it.condition) for it in found]
            [('Range', 'seq >= 2147483648'), ('Div', 'a quotient is rounded')]
            >>> found[1].results["openvino"]
            'multiplies by the rounded reciprocal'
        """
        sizes = sizes_of(dims, shapes, ranges, nonempty, assume)
        limits = (max_bytes, max_work, timeout)
        return Portability(self._native._differences(sizes, limits))

    def to_html(
        self,
        dims: Mapping[str, int] | None = None,
        *,
        name: str = "model",
        shapes: Mapping[str, Sequence[Any]] | None = None,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> str:
        """Makes a page of HTML with shapes, cost, memory and graph of the model.

        The page follows the sizes that its reader sets; `gradus report` writes
        the same one.

        Args:
            dims: numbers for symbols of the inputs' shapes, by name.
            name: the name of the model in the page.
            shapes: shapes of inputs by name, in place of the declared ones.
            ranges: by symbol, the smallest and the largest number that is
                assumed; `None` for no largest.
            nonempty: assume that no size of an input is 0.
            assume: conditions on symbols that are assumed: `"h % 32 == 0"`.
            max_bytes: maximum bytes of values at one time; by default the limit
                of the model.
            max_work: maximum elements that nodes read, write and multiply; by
                default the limit of the model.
            timeout: seconds after which the call fails.

        Returns:
            The page, which refers to no other file.

        Raises:
            UsageError: if a symbol or an input has no such name.
            LimitError: if the call exceeds a limit.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> page = model.to_html(name="positions")
            >>> page.startswith("<!DOCTYPE html>")
            True
        """
        sizes = sizes_of(dims, shapes, ranges, nonempty, assume)
        return self._native._report(name, sizes, (max_bytes, max_work, timeout))

    @overload
    def contract(
        self,
        language: str = "python",
        dims: Mapping[str, int] | None = None,
        *,
        name: str = "model",
        shapes: Mapping[str, Sequence[Any]] | None = None,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> str: ...

    @overload
    def contract(
        self,
        language: None,
        dims: Mapping[str, int] | None = None,
        *,
        name: str = "model",
        shapes: Mapping[str, Sequence[Any]] | None = None,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> Contract: ...

    def contract(
        self,
        language: str | None = "python",
        dims: Mapping[str, int] | None = None,
        *,
        name: str = "model",
        shapes: Mapping[str, Sequence[Any]] | None = None,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> str | Contract:
        """Writes a function that checks sizes and computes shapes and memory.

        The function checks the sizes of the inputs, and returns shapes and
        bytes of the outputs and the peak of memory. Without a language, the
        contract itself answers.

        Args:
            language: `"rust"`, `"c"` or `"python"`; for shapes that the model
                runs with, `"trtexec"` (arguments), `"ort"` (options of the
                TensorRT provider) or `"triton"` (`config.pbtxt`), within
                `ranges`; `None` for a `gradus.Contract`.
            dims: numbers for symbols of the inputs' shapes, by name.
            name: the name of the model's file; names of C begin with it.
            shapes: shapes of inputs by name, in place of the declared ones.
            ranges: by symbol, the smallest and the largest number that is
                assumed; `None` for no largest.
            nonempty: assume that no size of an input is 0.
            assume: conditions on symbols that are assumed: `"h % 32 == 0"`.
            max_bytes: maximum bytes of values at one time; by default the limit
                of the model.
            max_work: maximum elements that nodes read, write and multiply; by
                default the limit of the model.
            timeout: seconds after which the call fails.

        Returns:
            The text of a module of Rust or Python, of a header of C, or of a
            configuration; or the contract.

        Raises:
            UsageError: if a symbol, an input or a language has no such name, or
                a configuration lacks the largest value of a size.
            GraphError: if the model contradicts itself.
            LimitError: if the call exceeds a limit.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/heads.onnx")
            >>> text = model.contract("python", name="heads.onnx")
            >>> "def shapes(x: Sequence[int]) -> Shapes:" in text
            True
            >>> ranges = {"batch": (1, 8), "seq": (1, 512)}
            >>> print(model.contract("ort", ranges=ranges), end="")
            trt_profile_min_shapes=x:1x1x8
            trt_profile_opt_shapes=x:4x256x8
            trt_profile_max_shapes=x:8x512x8
        """
        sizes = sizes_of(dims, shapes, ranges, nonempty, assume)
        limits = (max_bytes, max_work, timeout)
        if language is None:
            return Contract(self._native._asked_contract(sizes, limits))
        return self._native._contract(language, name, sizes, limits)
