"""Static graphs: made operator by operator, with shapes inferred as they are made."""

from __future__ import annotations

import itertools
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from . import _native
from ._dlpack import as_array
from ._inference import Inference, TensorType, Type
from ._models import Dim, Model
from .errors import DTypeError, UsageError

__all__ = ["Graph", "Symbolic"]

class Symbolic:
    """A value of a graph that is not computed yet. Arithmetic and indices of it are operators of the graph."""

    __array_ufunc__ = None  # So that operators between arrays and values come here.

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph = graph
        self.name = name

    @property
    def type(self) -> Type:
        """The type and shape of the value, as far as they are known."""
        return self.graph._builder._type(self.name)

    @property
    def dtype(self) -> str | None:
        """The name of the element type."""
        of = self.type
        return of.dtype if isinstance(of, TensorType) else None

    @property
    def shape(self) -> tuple[int | Dim | str | None, ...] | None:
        """The sizes: integers, and expressions of the inputs' symbols."""
        of = self.type
        return of.shape if isinstance(of, TensorType) else None

    @property
    def elements(self) -> tuple[int | Dim, ...] | None:
        """The elements of a small tensor of whole numbers, as far as they are known."""
        of = self.type
        return of.elements if isinstance(of, TensorType) else None

    def __repr__(self) -> str:
        return f"<{self.name}: {self.type}>"

    def __add__(self, other: Any) -> Symbolic:
        return self.graph._binary("Add", self, other)

    def __radd__(self, other: Any) -> Symbolic:
        return self.graph._binary("Add", other, self)

    def __sub__(self, other: Any) -> Symbolic:
        return self.graph._binary("Sub", self, other)

    def __rsub__(self, other: Any) -> Symbolic:
        return self.graph._binary("Sub", other, self)

    def __mul__(self, other: Any) -> Symbolic:
        return self.graph._binary("Mul", self, other)

    def __rmul__(self, other: Any) -> Symbolic:
        return self.graph._binary("Mul", other, self)

    def __getitem__(self, index: int) -> Symbolic:
        if not isinstance(index, int):
            raise UsageError("a value is indexed by a number; other parts are taken by gather and slice")
        return self.graph.gather(self, np.array(index, np.int64))


class Graph:
    """A graph that is made operator by operator.

    Every method adds a node and returns its output. Types and shapes are inferred at once, so that what cannot be right is
    raised by the line that says it. Inputs of methods are values of the graph, or whatever makes an array: a constant.

    Args:
        opset: the version of ONNX's operator set. Without it, the lowest from 21 on that has the operators and types of the
            graph, which current runtimes read.

    Example:
        >>> import gradus
        >>> g = gradus.Graph()
        >>> x = g.input("x", "float32", ["N", 3])
        >>> positions = g.range(0, g.shape(x)[0], 1)
        >>> print(positions.type)
        int64[N]
        >>> import numpy as np
        >>> g.run({"x": np.zeros((4, 3), np.float32)}, [positions])
        [array([0, 1, 2, 3])]
    """

    def __init__(self, opset: int | None = None) -> None:
        self._builder = _native.GraphBuilder(opset)
        self._count = itertools.count()
        self._names: set[str] = set()
        #: Outputs of nodes that no node reads, in order.
        self._unread: dict[str, None] = {}

    # Values

    def input(self, name: str, dtype: Any, shape: Sequence[int | str | Dim | None] | None = None) -> Symbolic:
        """An input.

        Args:
            name: its name.
            dtype: its element type.
            shape: its sizes: numbers; names or expressions of names; ``None`` for any. ``None`` in place of the list stands
                for any number of them.

        Raises:
            GraphError: if there is a value of that name.
            DTypeError, ArgumentError, FormatError: if type or shape is none.
        """
        self._builder._input(name, dtype, None if shape is None else list(shape))
        self._names.add(name)
        return Symbolic(self, name)

    def constant(self, value: Any, dtype: Any = None, name: str | None = None) -> Symbolic:
        """A constant: an array, a tensor that speaks DLPack, numbers or lists of them."""
        array = as_array(value)
        if dtype is not None:
            array = array.astype(np.dtype(dtype))
        name = name or self._name("constant")
        self._builder._constant(name, array)
        self._names.add(name)
        return Symbolic(self, name)

    def apply(self, operator: str, *inputs: Any, **attributes: Any) -> Symbolic:
        """Any operator of ONNX with one output, by its name, with its inputs (``None`` for one that is left out) and attributes."""
        return self._node(operator, inputs, attributes)

    # Sequences

    def range(self, start: Any, limit: Any, delta: Any = 1) -> Symbolic:
        """``start``, ``start + delta``, … while short of ``limit`` (ONNX Range): three scalars of one type."""
        return self._node("Range", self._alike(start, limit, delta), {})

    def linspace(self, start: Any, stop: Any, num: Any = 50, endpoint: bool = True, *, dtype: Any = "float64") -> Symbolic:
        """``num`` samples at equal distances, as :func:`gradus.linspace` gives them."""
        return self._space("LinSpace", [start, stop, num], endpoint, dtype)

    def logspace(
        self, start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, *, dtype: Any = "float64"
    ) -> Symbolic:
        """Powers of ``base``, as :func:`gradus.logspace` gives them."""
        return self._space("LogSpace", [start, stop, num, base], endpoint, dtype)

    def geomspace(self, start: Any, stop: Any, num: Any = 50, endpoint: bool = True, *, dtype: Any = "float64") -> Symbolic:
        """A geometric sequence, as :func:`gradus.geomspace` gives it."""
        return self._space("GeomSpace", [start, stop, num], endpoint, dtype)

    # Shapes

    def shape(self, x: Any, start: int = 0, end: int | None = None) -> Symbolic:
        """The sizes of axes ``start`` to ``end`` (ONNX Shape)."""
        window = {} if (start, end) == (0, None) else {"start": start}
        return self._node("Shape", [x], window if end is None else {"start": start, "end": end})

    def size(self, x: Any) -> Symbolic:
        """The number of elements (ONNX Size)."""
        return self._node("Size", [x], {})

    def reshape(self, x: Any, shape: Any, *, allowzero: bool = False) -> Symbolic:
        """The same elements under another shape (ONNX Reshape)."""
        return self._node("Reshape", [x, self._integers(shape)], {"allowzero": int(allowzero)} if allowzero else {})

    def expand(self, x: Any, shape: Any) -> Symbolic:
        """Broadcast to a shape (ONNX Expand)."""
        return self._node("Expand", [x, self._integers(shape)], {})

    def squeeze(self, x: Any, axes: Any = None) -> Symbolic:
        """Without axes of size 1 (ONNX Squeeze)."""
        return self._node("Squeeze", [x] if axes is None else [x, self._integers(axes)], {})

    def unsqueeze(self, x: Any, axes: Any) -> Symbolic:
        """With new axes of size 1 (ONNX Unsqueeze)."""
        return self._node("Unsqueeze", [x, self._integers(axes)], {})

    def concat(self, values: Sequence[Any], axis: int = 0) -> Symbolic:
        """One behind the other along an axis (ONNX Concat)."""
        return self._node("Concat", self._alike(*values), {"axis": axis})

    def gather(self, x: Any, indices: Any, axis: int = 0) -> Symbolic:
        """The parts at some indices (ONNX Gather)."""
        return self._node("Gather", [x, self._integers(indices)], {"axis": axis} if axis else {})

    def slice(self, x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Symbolic:
        """The parts between indices (ONNX Slice)."""
        bounds = [self._integers(each) for each in (starts, ends)]
        further = [None if each is None else self._integers(each) for each in (axes, steps)]
        while further and further[-1] is None:
            further.pop()
        return self._node("Slice", [x, *bounds, *further], {})

    def transpose(self, x: Any, perm: Sequence[int] | None = None) -> Symbolic:
        """With axes in another order (ONNX Transpose)."""
        return self._node("Transpose", [x], {} if perm is None else {"perm": list(perm)})

    def constant_of_shape(self, shape: Any, value: Any = None) -> Symbolic:
        """A tensor filled with a value (ONNX ConstantOfShape)."""
        value = None if value is None else np.atleast_1d(as_array(value))
        return self._node("ConstantOfShape", [self._integers(shape)], {} if value is None else {"value": value})

    def reduce_prod(self, x: Any, axes: Any = None, *, keepdims: bool = True) -> Symbolic:
        """Products along axes (ONNX ReduceProd)."""
        inputs = [x] if axes is None else [x, self._integers(axes)]
        return self._node("ReduceProd", inputs, {"keepdims": int(keepdims)})

    def cast(self, x: Any, to: Any) -> Symbolic:
        """Converted to another element type (ONNX Cast)."""
        return self._node("Cast", [x], {"to": _native._onnx_type(to)})

    def add(self, a: Any, b: Any) -> Symbolic:
        """Sums (ONNX Add)."""
        return self._binary("Add", a, b)

    def sub(self, a: Any, b: Any) -> Symbolic:
        """Differences (ONNX Sub)."""
        return self._binary("Sub", a, b)

    def mul(self, a: Any, b: Any) -> Symbolic:
        """Products (ONNX Mul)."""
        return self._binary("Mul", a, b)

    def div(self, a: Any, b: Any) -> Symbolic:
        """Quotients; of integers toward zero (ONNX Div)."""
        return self._binary("Div", a, b)

    def mod(self, a: Any, b: Any, *, fmod: bool = False) -> Symbolic:
        """Remainders, with the sign of the divisor (ONNX Mod); of the dividend if ``fmod``."""
        return self._node("Mod", self._alike(a, b), {"fmod": int(fmod)} if fmod else {})

    def min(self, *values: Any) -> Symbolic:
        """The smallest, element by element (ONNX Min)."""
        return self._node("Min", self._alike(*values), {})

    def max(self, *values: Any) -> Symbolic:
        """The largest, element by element (ONNX Max)."""
        return self._node("Max", self._alike(*values), {})

    def where(self, condition: Any, a: Any, b: Any) -> Symbolic:
        """One of two, element by element (ONNX Where)."""
        return self._node("Where", [condition, *self._alike(a, b)], {})

    def equal(self, a: Any, b: Any) -> Symbolic:
        """Elementwise equality (ONNX Equal)."""
        return self._binary("Equal", a, b)

    # The whole

    @property
    def opset(self) -> int:
        """The version of ONNX's operator set that the graph is written in."""
        return self._builder.opset

    @property
    def assumptions(self) -> list[tuple[str, str]]:
        """Assumptions under which the shapes hold: the node that needs it, and a sentence."""
        return self._builder.assumptions

    def model(self, outputs: Sequence[Symbolic]) -> Model:
        """The graph as a model with these outputs, to be inferred, run or saved."""
        return Model(self._builder._model([self._own(value) for value in outputs]))

    def _repr_html_(self) -> str:
        # The facts about all values that nodes make.
        outputs = [Symbolic(self, name) for name in self._unread]
        return self.infer(outputs)._repr_html_() if outputs else "<p>no nodes</p>"

    def infer(self, outputs: Sequence[Symbolic], dims: Mapping[str, int] | None = None) -> Inference:
        """Infers the type and shape of every value, as :meth:`Model.infer` says."""
        return self.model(outputs).infer(dims)

    def run(self, inputs: Mapping[str, Any], outputs: Sequence[Symbolic]) -> list[Any]:
        """The values of these outputs for these inputs.

        Raises:
            GradusError: of the kind that fits, with the node.
        """
        results = self.model(outputs).run(inputs, [value.name for value in outputs])
        return [results[value.name] for value in outputs]

    def save(self, path: str | os.PathLike[str], outputs: Sequence[Symbolic] | None = None) -> None:
        """Writes the graph as an ONNX file, which other programs read.

        ONNX has no operators for :meth:`linspace`, :meth:`logspace` and :meth:`geomspace`. Where all that they need is known
        before the run, they are written as the constants that they are, bit for bit.

        Args:
            path: the file: the old one or the new one is there at every moment, whole.
            outputs: the outputs of the model; if none are given, all values of nodes that no other node reads.

        Raises:
            UnsupportedError: if such a node needs what only a run knows; it is named.
            GraphError: if the element type of an input or output is not known.
            FileError: if the file cannot be written.
            UsageError: if there is no output.

        Example:
            >>> import gradus, os, tempfile
            >>> g = gradus.Graph(opset=21)
            >>> x = g.input("x", "int64", ["N"])
            >>> y = g.mul(x, g.logspace(0, 1, 4, base=1000, dtype="int64")[2])
            >>> path = os.path.join(tempfile.mkdtemp(), "m.onnx")
            >>> g.save(path, [y])
            >>> gradus.load(path).run({"x": [1, 2]})[y.name]
            array([100, 200])
        """
        if outputs is None:
            outputs = [Symbolic(self, name) for name in self._unread]
        if not outputs:
            raise UsageError("cannot save the graph: it has no nodes, expected at least one")
        self.model(outputs).save(path)

    # How nodes are made

    def _own(self, value: Symbolic) -> str:
        if value.graph is not self:
            raise UsageError(f'"{value.name}" is a value of another graph')
        return value.name

    def _name(self, what: str) -> str:
        while True:
            name = f"{what}_{next(self._count)}"
            if name not in self._names:
                return name

    def _value(self, x: Any, dtype: Any = None) -> Symbolic:
        return x if isinstance(x, Symbolic) else self.constant(x, dtype)

    def _integers(self, x: Any) -> Symbolic:
        """Axes, indices and shapes are of int64; those that are partly values of the graph become one."""
        if isinstance(x, list | tuple) and any(isinstance(each, Symbolic) for each in x):
            parts = [self._integers(each) for each in x]
            return self.concat([self.reshape(part, [1]) if part.shape == () else part for part in parts])
        if isinstance(x, Symbolic):
            return x
        array = as_array(x)
        if array.size and array.dtype.kind not in "iu":
            raise DTypeError.mismatch(f"{x!r}", f"of {array.dtype}", "integers")
        return self.constant(array, np.int64)

    def _alike(self, *values: Any) -> list[Symbolic]:
        """Numbers of Python take the type of the values they go with; if there are none, NumPy's."""
        typed = [v.dtype for v in values if isinstance(v, Symbolic)]
        weak = [isinstance(v, bool | int | float | complex) for v in values]
        typed += [str(as_array(v).dtype) for v, w in zip(values, weak, strict=True) if not w and not isinstance(v, Symbolic)]
        dtype = typed[0] if typed else np.result_type(*(type(v) for v in values))
        return [
            self._value(v, _native._dtype(dtype)) if w else self._value(v) for v, w in zip(values, weak, strict=True)
        ]

    def _binary(self, operator: str, a: Any, b: Any) -> Symbolic:
        return self._node(operator, self._alike(a, b), {})

    def _space(self, operator: str, inputs: list[Any], endpoint: bool, dtype: Any) -> Symbolic:
        attributes = {"dtype": _native._dtype_name(dtype), "endpoint": int(endpoint)}
        return self._node(operator, [self._value(x) for x in inputs], attributes, own=True)

    def _node(self, operator: str, inputs: Sequence[Any], attributes: dict[str, Any], own: bool = False) -> Symbolic:
        names = [None if x is None else self._own(self._value(x)) for x in inputs]
        name = self._name(operator)
        self._builder._node(operator, own, names, [name], attributes)
        self._names.add(name)
        for read in filter(None, names):
            self._unread.pop(read, None)
        self._unread[name] = None
        return Symbolic(self, name)
