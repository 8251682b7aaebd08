"""Models: loaded, inferred, folded, run and saved."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias, overload

import numpy as np

from . import _html, _ir, _native
from ._check import CheckReport, NodeCheck, OutputCheck, ProofReport, RuntimeReport
from ._compare import Portability
from ._contract import Contract, ContractShapes, OutputShape
from ._cost import Cost
from ._inference import Condition, Inference, MapType, OptionalType, SequenceType, TensorType, Type, UnknownType
from ._lint import Finding
from ._native import Dim
from ._reports import ConversionNote, ConversionReport, FoldReport, Kept
from ._runtimes import RUNTIMES, Runnable, must_be_known
from .errors import UsageError

__all__ = ["Condition", "Contract", "ContractShapes", "ConversionNote", "ConversionReport", "ConvertedModel", "Dim", "EditedModel", "Finding", "FoldReport", "FoldedModel", "Inference", "Kept", "MapType", "Model", "OptionalType", "OutputShape", "SequenceType", "TensorType", "UnknownType", "load"]


class Model:
    """A model that can be inferred, folded, converted, run and saved.

    `gradus.load` opens one, and `gradus.Graph.model` makes one. A model is
    never changed: methods return new ones. Models can be pickled.
    """

    def __init__(self, native: _native.Model) -> None:
        self._native = native

    @property
    def inputs(self) -> dict[str, Type]:
        """The declared types of the inputs, by name."""
        return self._native.inputs

    @property
    def outputs(self) -> dict[str, Type]:
        """The declared types of the outputs, by name."""
        return self._native.outputs

    @property
    def standard(self) -> str:
        """The standard of the operators: `"onnx"`, `"openvino"` or `"paddle"`."""
        return self._native.standard

    @property
    def opsets(self) -> dict[str, int]:
        """The versions of the operator sets, by domain."""
        return self._native.opsets

    def with_inputs_set(self, values: Mapping[str, Any]) -> Model:
        """Replaces inputs by constants.

        Args:
            values: arrays, or numbers and lists, by name of an input, as for
                `gradus.Model.run`.

        Returns:
            A model without these inputs.

        Raises:
            UsageError: if an input has no such name, or a value is not what the
                model declares.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/range.onnx")
            >>> ends = {"start": 0, "limit": 10, "delta": 2}
            >>> model = model.with_inputs_set(ends)
            >>> print(list(model.inputs), model.infer()["positions"])
            [] float32[5]
        """
        return Model(self._native._with_inputs_set(dict(values)))

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
        sizes = _sizes(dims, shapes, ranges, nonempty, assume)
        return Inference(self._native._infer(sizes, dict(values or {}), ignore_declared, dialect, limits))

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
        sizes = _sizes(dims, shapes, ranges, nonempty, assume)

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
        sizes = _sizes(dims, shapes, ranges, nonempty, assume)
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
        sizes = _sizes(dims, shapes, ranges, nonempty, assume)
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
        sizes = _sizes(dims, shapes, ranges, nonempty, assume)
        limits = (max_bytes, max_work, timeout)
        if language is None:
            return Contract(self._native._asked_contract(sizes, limits))
        return self._native._contract(language, name, sizes, limits)

    def edit(
        self,
        *,
        extract: tuple[Sequence[str], Sequence[str]] | None = None,
        add_outputs: Sequence[str] = (),
        remove_outputs: Sequence[str] = (),
        rename: Mapping[str, str] | None = None,
        rename_dims: Mapping[str, str] | None = None,
        values: Mapping[str, Any] | None = None,
        defaults: Mapping[str, Any] | None = None,
        input_shapes: Mapping[str, Sequence[Any]] | None = None,
        dynamic: Mapping[str, Sequence[Any]] | None = None,
        sizes: Mapping[str, str] | None = None,
        dims: Mapping[str, int] | None = None,
        input_types: Mapping[str, str | tuple[str, Any, Any]] | None = None,
        output_types: Mapping[str, str] | None = None,
        layouts: Mapping[str, str] | None = None,
        floats: str | None = None,
        keep: Sequence[str] = (),
        max_error: float | None = None,
        inputs: Mapping[str, Any] | None = None,
        embed: bool = False,
        strip_weights: bool = False,
        weights: Model | None = None,
        share_weights: bool = False,
        metadata: Mapping[str, str | None] | None = None,
        docs: bool = True,
        max_bytes: int | None = None,
        timeout: float | None = None,
    ) -> EditedModel:
        """Changes parts, names, sizes, types and weights of the model.

        The changes are made in the order of these arguments, and this model
        stays as it is.

        What no argument names stays as it is in the file.

        Args:
            extract: values that become the inputs, with their inferred types,
                and values that become the outputs; an empty list stands for the
                inputs or outputs of the model.
            add_outputs: values that become outputs too.
            remove_outputs: outputs that are none any more; what only they need
                goes.
            rename: new names of inputs, outputs or values, by the old ones.
            rename_dims: new names of symbols of sizes, by the old ones.
            values: constants in the place of inputs, as for `gradus.Model.run`.
            defaults: defaults of inputs; `None` takes the one that an input
                has.
            input_shapes: sizes that the model declares of inputs.
            dynamic: sizes of inputs that are opened, numbers and names:
                constants that were sizes become expressions of them.
            sizes: with `dynamic`, what a number of a node is, where several
                sizes fit, by the name of the node.
            dims: symbols of sizes, and the numbers in their place.
            input_types: element types that runs give, with a Cast after each
                input; or a triple of the type, the factor and the summand
                (`None`, a number, or one for each channel) that make images of
                bytes what the model reads.
            output_types: element types that runs return, with a Cast before
                each output.
            layouts: axes of inputs and outputs in another order, with a
                Transpose next to each: `"NHWC"` where the model has N and C
                first, else `"HW->WH"`.
            floats: `"float16"` or `"bfloat16"`: weights and nodes of that type,
                where runs show what that loses; inputs and outputs keep theirs.
            keep: with `floats`, nodes that stay in float32, by their names or
                those of values that they compute.
            max_error: with `floats`, the largest difference of an output, as a
                part of its largest magnitude; few nodes with which it holds
                stay in float32. Without it, only those that overflow do.
            inputs: with `floats`, inputs of the run, as for
                `gradus.Model.run`; others are random.
            embed: put all weights into the model.
            strip_weights: leave out weights of at least 1,024 bytes, and have
                their types, shapes and digests.
            weights: a model that has weights that were left out, by name.
            share_weights: keep equal weights once.
            metadata: entries of the metadata; `None` removes one.
            docs: keep texts that document parts of the model, and properties of
                nodes and values.
            max_bytes: maximum bytes of values at one time; by default the limit
                of the model.
            timeout: seconds after which the call fails.

        Returns:
            A model, whose `notes` say what each edit did, and whose
            `conditions` say which inputs it takes.

        Raises:
            UsageError: if a name is not known, or taken.
            GraphError: if the edited model contradicts itself, with the node.
            UnsupportedError: if the model is not one of ONNX.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> edited = model.edit(extract=([], ["phase"]), dims={"batch": 1})
            >>> print(edited.inputs["tokens"], list(edited.outputs))
            int64[1, seq] ['phase']
        """
        edits: list[tuple[str, str, Any]] = []
        if extract is not None:
            edits.append(("extract", "", (list(extract[0]), list(extract[1]))))
        edits += [("add_output", name, None) for name in add_outputs]
        edits += [("remove_output", name, None) for name in remove_outputs]
        named: list[tuple[str, Mapping[str, Any] | None]] = [
            ("rename", rename),
            ("rename_dim", rename_dims),
            ("set", values),
            ("default", defaults),
            ("input_shape", input_shapes),
            ("dim", dims),
            ("input_type", {name: _scaled(of) for name, of in (input_types or {}).items()}),
            ("output_type", output_types),
            ("layout", layouts),
        ]
        edits += [(kind, name, value) for kind, all in named[:5] for name, value in (all or {}).items()]
        if dynamic:
            edits.append(("dynamic", "", (list(dynamic.items()), list((sizes or {}).items()))))
        edits += [(kind, name, value) for kind, all in named[5:] for name, value in (all or {}).items()]
        if floats is not None:
            edits.append(("float16", "", (floats, list(keep), max_error, list((inputs or {}).items()))))
        switches = [("embed", embed), ("strip_weights", strip_weights), ("share_weights", share_weights)]
        edits += [(kind, "", None) for kind, wanted in switches if wanted]
        if weights is not None:
            edits.append(("weights", "", weights._native))
        edits += [("metadata", key, value) for key, value in (metadata or {}).items()]
        if not docs:
            edits.append(("no_docs", "", None))
        return EditedModel(*self._native._edit(edits, (max_bytes, None, timeout)))

    def generalize(
        self,
        *others: Model,
        dynamic: Mapping[str, Sequence[Any]] | None = None,
        sizes: Mapping[str, str] | None = None,
        max_bytes: int | None = None,
        timeout: float | None = None,
    ) -> EditedModel:
        """Makes one model for the sizes of several exports of one network.

        The models are aligned node by node; constants that differ become
        expressions of the sizes of inputs. The result is proved, or compared by
        runs, to be each model at its sizes.

        Args:
            *others: exports of the network at other sizes.
            dynamic: sizes of inputs, numbers and names; the others are open
                where they differ.
            sizes: what a number of a node is, where several sizes fit, by the
                name of the node.
            max_bytes: maximum bytes of values at one time; by default the limit
                of the model.
            timeout: seconds after which the call fails.

        Returns:
            A model, whose `notes` say what was changed and compared, and whose
            `conditions` say which sizes it takes.

        Raises:
            UsageError: if a name is not known.
            GraphError: if the models differ in more than sizes, if no
                expression fits, or if several do.
            UnsupportedError: if a model is not one of ONNX.

        Example:
            >>> import gradus
            >>> first = gradus.load("examples/fixed_1x4.onnx")
            >>> second = gradus.load("examples/fixed_2x6.onnx")
            >>> shapes = {"x": ["batch", "seq", 8]}
            >>> print(first.generalize(second, dynamic=shapes).outputs["y"])
            float32[batch, seq, 2, 4]
        """
        shapes, nodes = list((dynamic or {}).items()), list((sizes or {}).items())
        natives = [other._native for other in others]
        return EditedModel(*self._native._generalize(natives, shapes, nodes, (max_bytes, None, timeout)))

    def join(
        self, second: Model, links: Mapping[str, str], *, keep: Sequence[str] = (), prefix: str = "second/"
    ) -> EditedModel:
        """Makes the model that runs this one, and another on what it returns.

        Inputs of one name are one input; other names that both models have get
        a prefix in the second.

        Args:
            second: the model that goes on.
            links: outputs of this model, each with the input of the second that
                it is.
            keep: linked outputs that stay outputs.
            prefix: the beginning of new names in the second model.

        Returns:
            The joined model.

        Raises:
            UsageError: if a link names no output or no input, or their types
                differ.
            UnsupportedError: if the models have other operator sets.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> first, second = model.split(["positions"])
            >>> links = {name: name for name in second.inputs}
            >>> list(first.join(second, links).outputs)
            ['position_ids', 'token_count', 'phase']
        """
        native, notes = self._native._join(second._native, list(links.items()), list(keep), prefix)
        return EditedModel(native, notes, [])

    def split(self, *at: Sequence[str]) -> list[EditedModel]:
        """Parts the model in two or more, which joined again are the whole.

        The first part goes up to some values, the next goes on from there.

        What else a part reads of those before passes too: the first part has it
        among its outputs.

        Args:
            *at: the values of a cut; each cut after the first parts the rest.

        Returns:
            The parts, one more than cuts.

        Raises:
            UsageError: if a value is not known, is none that a node computes,
                or nothing follows from the values.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> [list(part.inputs) for part in model.split(["positions"])]
            [['tokens'], ['positions', 'seq_float']]
        """
        parts = self._native._split([list(cut) for cut in at])
        return [EditedModel(native, notes, []) for native, notes, _ in parts]

    def fold(
        self,
        dims: Mapping[str, int] | None = None,
        input_shapes: Mapping[str, Sequence[Any]] | None = None,
        *,
        max_constant: int = 1 << 20,
        declare: bool = True,
        verify: bool | str | None = None,
        prove: bool = False,
        values: Mapping[str, Any] | None = None,
        level: str = "exact",
        rules: Sequence[str] = (),
        no_rules: Sequence[str] = (),
        keep_weights: bool = False,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> FoldedModel:
        """Makes a smaller model by computing what does not depend on the inputs.

        Values that are known become constants, and the nodes that computed them
        are removed. The folded model takes the same inputs, except for sizes
        that are fixed here.

        Args:
            dims: symbols of the inputs' shapes, and the numbers they are fixed
                to.
            input_shapes: shapes of inputs by name that they are fixed to.
            max_constant: maximum bytes of a constant that is added.
            declare: write the types of values that nodes compute into the
                model.
            verify: prove that outputs are the same for all inputs and sizes, up
                to level `exact`, and compare the others in runs on random
                inputs: their bits up to level `exact`, types and shapes above.
                `None` takes for each as long as folding and half a second;
                `True` up to 30 seconds, runs all outputs, and raises if no run
                could be compared; `False` does neither. `"onnxruntime"` also
                compares the outputs that ONNX Runtime gives, without its
                optimisations, of a model in a file, and lists those that
                differ as `report.differing`.
            prove: take whatever time the proof needs.
            values: inputs of these runs by name; others are random.
            level: `shapes` for shape arithmetic alone, `exact` for rules that
                keep every bit, `fuse` also for rules that may change the last
                bits of floats.
            rules: rules of higher levels to apply.
            no_rules: rules not to apply.
            keep_weights: do not compute weights: runtimes may pack constant
                ones, and choose another kernel.
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
            A model, whose `report` lists the nodes that were removed, and why
            nodes that compute shapes remain.

        Raises:
            UnsupportedError: if the model is of Paddle, or `verify=True` could
                not compare outputs.
            UsageError: if a symbol, an input or a rule has no such name.
            GraphError: if the models differ where they are compared.
            LimitError: if the call exceeds a limit.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> folded = model.fold({"batch": 1, "seq": 4})
            >>> folded.report.nodes  # Three nodes hold the constant outputs.
            (6, 3)
            >>> print(folded.inputs["tokens"])
            int64[1, 4]
        """
        if isinstance(verify, str) and verify != "onnxruntime":
            raise UsageError.mismatch("the runtime that verifies", f'"{verify}"', "onnxruntime")
        limits = (max_bytes, max_work, timeout)
        sizes = _sizes(dims, input_shapes, ranges, nonempty, assume)
        native, report = self._native._fold(
            sizes,
            max_constant,
            declare,
            (None if verify is None else bool(verify), prove, dict(values or {})),
            level,
            list(rules),
            list(no_rules),
            keep_weights,
            limits,
        )
        report["kept"] = [Kept(*kept) for kept in report["kept"]]
        if isinstance(verify, str):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "folded.onnx")
                native.save(path, False)
                _, differing = self._native._verify_in(load(path)._native, verify, sizes)
            report["differing"] = [OutputCheck(*output) for output in differing]
        return FoldedModel(native, FoldReport(**report))

    def convert(
        self,
        to: str,
        *,
        dims: Mapping[str, int] | None = None,
        input_shapes: Mapping[str, Sequence[Any]] | None = None,
        opset: int | None = None,
        runtime: str | None = None,
        stateful: bool = False,
        states: Mapping[str, str] | None = None,
        verify: bool | None = None,
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
    ) -> ConvertedModel:
        """Converts the model to another standard, or to another operator set.

        Names of inputs and outputs are kept. Nodes that no output needs are
        left out. `docs/convert.md` lists the conversion of each operator.

        Args:
            to: `"onnx"` or `"openvino"`; models of Paddle can become either.
            dims: symbols of the inputs' shapes, and the numbers they are fixed
                to.
            input_shapes: shapes of inputs by name that they are fixed to.
            opset: the version of ONNX's operator set; by default 21, or where
                it lacks what a node needs, the newest that released runtimes
                load.
            runtime: the program that will run the model, `"onnxruntime"` or
                `"openvino"`: without `opset`, the newest set in which it runs
                every node. Types that it lacks are avoided.
            stateful: to OpenVINO, make variables of the inputs
                `past_key_values.*` and the outputs `present.*`.
            states: to OpenVINO, inputs that become variables, and the outputs
                that are their next values.
            verify: prove that outputs are the same for all inputs and sizes,
                from ONNX to ONNX, and compare the others in runs on random
                inputs: the bits of outputs that exact nodes compute, and types
                of others. `None` takes for each as long as the conversion and
                half a second; `True` up to 30 seconds, runs all outputs, and
                raises if no run could be compared; `False` does neither.
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
            A model, whose `report` names the nodes that are not kept bit for
            bit.

        Raises:
            UnsupportedError: if the other standard has no operator for a node,
                the runtime does not run one, the model is of that standard
                already, or `verify=True` could not compare outputs.
            UsageError: if a standard, operator set, runtime or symbol is
                unknown.
            GraphError: if outputs differ.
            LimitError: if the call exceeds a limit.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> converted = model.convert("openvino")
            >>> converted.report.exact, converted.report.nodes
            (True, 6)
            >>> converted.run({"tokens": [[101, 2023, 2003, 102]]})["phase"]
            array([0.  , 0.25, 0.5 , 0.75], dtype=float32)
        """
        limits = (max_bytes, max_work, timeout)
        pairs = (stateful, list((states or {}).items()))
        sizes = _sizes(dims, input_shapes, ranges, nonempty, assume)
        native, report = self._native._convert(to, sizes, opset, runtime, pairs, verify, limits)
        report["notes"] = [ConversionNote(*note) for note in report["notes"]]
        return ConvertedModel(native, ConversionReport(**report))

    def check(
        self,
        other: Model,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        values: Mapping[str, Any] | None = None,
        runs: int = 5,
        seed: int = 1,
        prove: bool = True,
    ) -> CheckReport:
        """Runs this model and another on the same random inputs.

        All outputs are compared bit for bit: by a proof or, without one, in
        runs. Open dimensions get sizes that the
        model takes: the smallest, the largest, then random ones. Floats are
        from -1 to 1, and in every third run zeros, ones, large and small
        numbers; integers are 0 and 1, or what a node looks up or chooses a
        branch by. Inputs and outputs correspond by name, or else by position.

        Args:
            other: the model to compare.
            dims: numbers for symbols of the inputs' shapes, by name.
            shapes: shapes of inputs by name, in place of the declared ones.
            values: inputs by name that are the same in all runs.
            runs: the number of runs that are compared.
            seed: the seed of the random inputs.
            prove: take up to 10 seconds to prove outputs the same for all
                inputs and sizes: no run compares these.

        Returns:
            A report, which is true if nothing differs.

        Raises:
            GraphError: if inputs or outputs do not correspond.
            GradusError: if a model fails in a run.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> report = model.check(model.convert("openvino"), prove=False)
            >>> bool(report), report.runs
            (True, 5)
        """
        report = self._native._check(
            other._native, _sizes(dims, shapes), dict(values or {}), runs, seed, None, prove, None
        )
        report["outputs"] = [OutputCheck(*output) for output in report["outputs"]]
        return CheckReport(**report)

    def prove(
        self,
        other: Model,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        seconds: float = 30,
        seed: int = 1,
        certificate: bool = False,
        up_to: Literal["bits", "order", "rounding"] = "bits",
    ) -> ProofReport:
        """Proves that another model returns the same bits for all inputs.

        The proof covers all inputs and sizes that both models take; where there
        is none, runs look for inputs for which the outputs differ. Outputs are
        compared by name; all NaNs are the same.

        Args:
            other: the model to compare.
            dims: numbers for symbols of the inputs' shapes, by name.
            shapes: shapes of inputs by name, in place of the declared ones.
            seconds: the time of the runs that look for a difference.
            seed: the seed of the random inputs of these runs.
            certificate: whether the report has the steps of a proof, for
                `gradus.verify_proof`.
            up_to: what equal outputs may differ in: nothing, the order of
                sums, or rounding of floats.

        Returns:
            A report, which is true if the models are proved to be the same.

        Raises:
            UsageError: if a symbol or an input has no such name.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/heads.onnx")
            >>> model.prove(model.fold()).verdict
            'equivalent'
        """
        report = _native._prove((self._native, other._native), _sizes(dims, shapes), (seconds, seed, certificate, up_to))
        return _proof(report)

    def lint(
        self,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        select: Sequence[str] = (),
        ignore: Sequence[str] = (),
        runtimes: Sequence[str] = (),
        max_peak: int | None = None,
        max_parameters: int | None = None,
    ) -> list[Finding]:
        """Finds what is wrong in the model, or surprises those who ship it.

        The model is not run. A rule that cannot be asked is a `UserWarning`.
        `docs/lint.md` lists all rules.

        Args:
            dims: numbers for symbols of the inputs' shapes, by name.
            shapes: shapes of inputs by name, in place of the declared ones.
            select: codes or names of rules, or beginnings of codes (`"GR4"`);
                by default all rules.
            ignore: codes or names of rules that are left out.
            runtimes: runtimes that must run the model: `"onnxruntime"`,
                `"openvino"`.
            max_peak: maximum bytes of constants, inputs and values at one time.
            max_parameters: maximum elements of the constants.

        Returns:
            The findings, by the code of their rule.

        Raises:
            UsageError: if a rule, a runtime or a symbol has no such name.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/baked.onnx")
            >>> [finding.message for finding in model.lint()]
            ['the model runs only if batch == 1']
        """
        rules, limits = (list(select), list(ignore)), (max_peak, max_parameters)
        found = _native._lint(self._native, (_sizes(dims, shapes), rules, list(runtimes), limits))
        return [Finding(*finding) for finding in found]

    def fix(self, *, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> Model:
        """Mends findings of `Model.lint` without changing a bit of a result.

        `docs/lint.md` says which rules are mended. Outputs are proved to be the
        same, or compared in runs where there is no proof.

        Args:
            select: codes or names of rules, or beginnings of codes (`"GR2"`);
                by default all rules.
            ignore: codes or names of rules that are left out.

        Returns:
            The model that has fewer findings; this one if nothing is mended.

        Raises:
            UsageError: if a rule has no such name.
            UnsupportedError: if outputs could neither be proved to be the same
                nor compared.

        Example:
            >>> import gradus
            >>> gradus.load("examples/heads.onnx").fix().lint()
            []
        """
        rules = (list(select), list(ignore))
        native = _native._fix(self._native, (_sizes(None, None), rules, [], (None, None)))
        return self if native is None else Model(native)

    def check_in(
        self,
        runtime: str | Runnable,
        other: Model | None = None,
        dims: Mapping[str, int] | None = None,
        *,
        shapes: Mapping[str, Sequence[Any]] | None = None,
        values: Mapping[str, Any] | None = None,
        runs: int = 5,
        seed: int = 1,
        save_case: str | os.PathLike[str] | None = None,
    ) -> RuntimeReport:
        """Runs a model in a runtime, and compares outputs and each node's results.

        The runtime computes the outputs as it does for any caller. It runs once
        more with all values asked for: each node's results are compared with
        the exact ones for the inputs that the runtime gave the node.

        Args:
            runtime: `"onnxruntime"`, `"openvino"`, or `"paddle"` for programs
                of Paddle, which must be installed; `"cmd:"` and a command line
                with `{model}`, `{inputs}` and `{outputs}`, as of
                `gradus check --with`; or an object: its method
                `run(path, inputs, names)` returns the values of the names, or
                `None` for each that it does not show. Its attribute
                `reads_file` is false if the model need not be in a file.
            other: the model that the runtime runs, opened from a file; by
                default this one.
            dims: numbers for symbols of the inputs' shapes, by name.
            shapes: shapes of inputs by name, in place of the declared ones.
            values: inputs by name that are the same in all runs.
            runs: the number of runs that are compared.
            seed: the seed of the random inputs.
            save_case: a folder for the first node beyond its bound:
                `model.onnx`, and its failing inputs as `inputs.npz`.

        Returns:
            A report, which is true if no output differs; its nodes are sorted
            by their label and by their error, relative to the bound, the
            worst first.

        Raises:
            UnsupportedError: if the runtime is not installed or does not run
                the model, or the model is not in a file.
            UsageError: if the runtime is unknown.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/heads.onnx")
            >>> report = model.check_in("onnxruntime")
            >>> bool(report), len(report.nodes)
            (True, 14)
        """
        if isinstance(runtime, str):
            must_be_known(runtime, RUNTIMES)
        second = (other or self)._native
        report = self._native._check(
            second, _sizes(dims, shapes), dict(values or {}), runs, seed, runtime, False, save_case
        )
        report["outputs"] = [OutputCheck(*output) for output in report["outputs"]]
        report["nodes"] = [NodeCheck(node, OutputCheck(*value), *rest) for node, value, *rest in report["nodes"]]
        return RuntimeReport(**report)

    def save(self, path: str | os.PathLike[str], *, keep_names: bool = False) -> None:
        """Writes the model as a file of its standard.

        The standard is ONNX, or OpenVINO IR (`.xml` with `.bin`). The old file
        or the new one is there at every moment, complete. What folding did not
        change is written byte for byte as it was read. Files of constants are
        copied next to `m.onnx` as `m.onnx.data`, `m.onnx.2.data`, …, unless
        they are there. Of a model made by `gradus.Graph`, nodes that no output
        needs are left out.

        Args:
            path: the file.
            keep_names: copy files of constants under the names that the model
                gives them, which its author chose.

        Raises:
            FileError: if a file cannot be written, or another one has the name
                of a file of constants.
            UnsupportedError: if the model is of Paddle, or a node of
                `gradus.Graph.logspace` and its kin needs what only a run knows.
            GraphError: if the type of an input or output is not known.

        Example:
            >>> import gradus, os, tempfile
            >>> model = gradus.load("examples/heads.onnx").fold()
            >>> path = os.path.join(tempfile.mkdtemp(), "heads.onnx")
            >>> model.save(path)
            >>> gradus.load(path)
            <Model (x) -> (y), 2 nodes>
        """
        self._native.save(path, keep_names)

    def to_bytes(self) -> bytes:
        """Returns the bytes of the ONNX file that `gradus.Model.save` writes.

        Constants in other files stay there.

        Returns:
            The bytes of the file.

        Raises:
            UnsupportedError: if the model is not of ONNX.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> gradus.load(model.to_bytes())
            <Model (tokens) -> (position_ids, phase, token_count), 6 nodes>
        """
        return self._native.to_bytes()

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

    def run(
        self,
        inputs: Mapping[str, Any] | None = None,
        outputs: Sequence[str] | None = None,
        *,
        max_bytes: int | None = None,
        max_work: int | None = None,
        timeout: float | None = None,
        expand_functions: bool = False,
        seed: int = 0,
        accumulate: Literal["float64", "float32", "exact"] = "float64",
        ranges: Mapping[str, tuple[int, int | None]] | None = None,
        nonempty: bool = False,
        assume: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Runs the model as far as the wanted values need.

        Args:
            inputs: arrays, tensors that speak DLPack, or numbers and lists, by
                name; a list of those for a sequence, and a dict for a map.
                Numbers and lists of Python take the declared element type.
            outputs: names of the values to return; by default the outputs.
            max_bytes: maximum bytes of values at one time; by default the limit
                of the model.
            max_work: maximum elements that nodes read, write and multiply; by
                default the limit of the model.
            timeout: seconds after which the run fails.
            expand_functions: run operators by the bodies by which their
                standard defines them.
            seed: the seed of operators that draw random numbers and have none
                of their own, from 0 to 2**64 - 1.
            accumulate: how products of matrices, convolutions and reductions of
                floats are added: in float64 in the order of the elements; in
                float32 in blocks of 256 terms, which is faster and has the same
                bits on every processor; or without error.
            ranges: by symbol, the smallest and the largest number that is
                assumed; `None` for no largest.
            nonempty: assume that no size of an input is 0.
            assume: conditions on symbols that are assumed: `"h % 32 == 0"`.

        Returns:
            Arrays by name; lists of them for sequences, `None` for empty
            optionals.

        Raises:
            UsageError: if an input or a value has no such name.
            GradusError: if a node fails, with its place.

        Example:
            >>> import gradus
            >>> model = gradus.load("examples/positions.onnx")
            >>> model.run({"tokens": [[101, 2023, 2003, 102]]})["phase"]
            array([0.  , 0.25, 0.5 , 0.75], dtype=float32)
        """
        wanted = None if outputs is None else list(outputs)
        return self._native.run(
            dict(inputs or {}),
            wanted,
            max_bytes=max_bytes,
            max_work=max_work,
            timeout=timeout,
            expand_functions=expand_functions,
            seed=seed,
            accumulate=accumulate,
            assumed=(dict(ranges or {}), nonempty, list(assume)),
        )

    def __reduce__(self) -> tuple[Any, ...]:
        # The reader's limits apply to what it reads, so those of the model are left out.
        made = {key: value for key, value in vars(self).items() if key != "_native"}
        with tempfile.TemporaryDirectory() as folder:
            self.save(os.path.join(folder, _FILES[self.standard]))
            files = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
        return _unpickled, (type(self), self.standard, files, made)

    def __repr__(self) -> str:
        return repr(self._native)

    def _repr_html_(self) -> str:
        sides = {"input": self.inputs, "output": self.outputs}
        rows = ([side, name, str(of)] for side, values in sides.items() for name, of in values.items())
        return _html.table(["", "name", "type"], rows, repr(self))


# By standard, the name of the file that is opened, in a folder of its own.
_FILES = {"onnx": "model.onnx", "openvino": "model.xml", "paddle": "model.json"}


_Sizes: TypeAlias = tuple[
    dict[str, int], dict[str, Any], tuple[dict[str, tuple[int, int | None]], bool, list[str]]
]


def _sizes(
    dims: Mapping[str, int] | None,
    shapes: Mapping[str, Sequence[Any]] | None,
    ranges: Mapping[str, tuple[int, int | None]] | None = None,
    nonempty: bool = False,
    assume: Sequence[str] = (),
) -> _Sizes:
    """Sizes of inputs, as native methods take them."""
    return dict(dims or {}), dict(shapes or {}), (dict(ranges or {}), nonempty, list(assume))


def _unpickled(cls: type[Model], standard: str, files: dict[str, bytes], made: dict[str, Any]) -> Model:
    model = cls.__new__(cls)
    vars(model).update(made, _native=_native._load_files(_FILES[standard], files, (None, None, None)))
    return model


class ConvertedModel(Model):
    """The result of `gradus.Model.convert`: a model, and a report.

    Attributes:
        report: the report of the conversion.
    """

    def __init__(self, native: _native.Model, report: ConversionReport) -> None:
        super().__init__(native)
        self.report: ConversionReport = report


class EditedModel(Model):
    """The result of `gradus.Model.edit` and its like: a model, and notes.

    Attributes:
        notes: what each edit did, a sentence each.
        conditions: conditions of the inputs under which the model runs: the
            node, and the condition.
    """

    def __init__(self, native: _native.Model, notes: list[str], conditions: list[tuple[str, str]]) -> None:
        super().__init__(native)
        self.notes = notes
        self.conditions = conditions


class FoldedModel(Model):
    """The result of `gradus.Model.fold`: a model, and a report.

    Attributes:
        report: the report of the folding.
    """

    def __init__(self, native: _native.Model, report: FoldReport) -> None:
        super().__init__(native)
        self.report: FoldReport = report


def load(
    source: str | os.PathLike[str] | bytes | Any,
    *,
    max_bytes: int | None = None,
    max_work: int | None = None,
    timeout: float | None = None,
) -> Model:
    """Opens a model.

    Args:
        source: the path of an ONNX model, an OpenVINO IR (`.xml`, with its
            `.bin`) or a Paddle program, which is mapped and not read; the
            bytes of a model; an `onnx.ModelProto`; or an `onnx_ir.Model` or
            `torch.onnx.ONNXProgram`, whose large constants are copied once.
        max_bytes: maximum bytes of values at one time, read or computed; by
            default 4 GiB.
        max_work: maximum elements that nodes read, write and multiply; by
            default 10^12.
        timeout: seconds after which reading fails.

    Returns:
        The model.

    Raises:
        FileError: if the file cannot be read.
        FormatError: if the bytes are not a model.
        GraphError: if the graph is not well formed.
        UnsupportedError: if the format is not supported.

    Example:
        >>> import gradus
        >>> model = gradus.load("examples/positions.onnx")
        >>> print(model.inputs["tokens"])
        int64[batch, seq]
    """
    limits = (max_bytes, max_work, timeout)
    if _ir.is_ir(source):
        return Model(_native._load_files(_FILES["onnx"], _ir.files_of(source), limits))
    return Model(_native._load(source, limits))


def _opened(source: Any) -> Model:
    return source if isinstance(source, Model) else load(source)


def _proof(report: dict[str, Any]) -> ProofReport:
    report["outputs"], report["laws"] = dict(report["outputs"]), dict(report["laws"])
    return ProofReport(**report)


def _scaled(of: str | tuple[str, Any, Any]) -> tuple[str, list[float], list[float]]:
    """An element type with the factors and summands of an image."""
    name, scale, offset = (of, None, None) if isinstance(of, str) else of
    numbers = [[] if of is None else [float(number) for number in np.ravel(of)] for of in (scale, offset)]
    return str(name), numbers[0], numbers[1]


def exactly(value: Any, dtype: np.dtype[Any]) -> np.ndarray[Any, Any] | None:
    """Numbers and lists of Python as an array of a type; nothing if an integer type does not hold them."""
    plain = np.asarray(value)
    try:
        made = np.asarray(value, dtype)
    except (OverflowError, ValueError):
        return None
    # Floats are rounded; whole numbers are as they are, or not at all.
    whole = dtype.kind in "iu"
    return made if not whole or np.array_equal(made, plain) else None
