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
    """A value of a graph that is not computed yet.

    `+`, `-`, `*` and an integer index add operators to the graph.

    Attributes:
        graph: its graph.
        name: its name.
    """

    __array_ufunc__ = None  # So that operators between arrays and values come here.

    def __init__(self, graph: Graph, name: str) -> None:
        self.graph: Graph = graph
        self.name: str = name

    @property
    def type(self) -> Type:
        """The type and shape, as far as they are known."""
        return self.graph._builder._type(self.name)

    @property
    def dtype(self) -> str | None:
        """The name of the element type; `None` if unknown."""
        of = self.type
        return of.dtype if isinstance(of, TensorType) else None

    @property
    def shape(self) -> tuple[int | Dim | str | None, ...] | None:
        """The sizes: integers, and expressions of the inputs' symbols."""
        of = self.type
        return of.shape if isinstance(of, TensorType) else None

    @property
    def elements(self) -> tuple[int | Dim, ...] | None:
        """The elements of a small integer tensor, as far as they are known."""
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

    Each method adds a node and returns its output. Types and shapes are
    inferred at once, so that the line that has an error raises it. Inputs
    of methods are values of the graph, or whatever makes an array, which
    becomes a constant. An error that inference finds is raised as a
    `gradus.errors.GradusError` that names the node. Source of the
    operators: ONNX.

    Args:
        opset: the version of ONNX's operator set. By default the lowest
            from 21 on that has the operators and types of the graph, which
            current runtimes read.

    Example:
        >>> import gradus, numpy as np
        >>> g = gradus.Graph()
        >>> x = g.input("x", "float32", ["N", 3])
        >>> positions = g.range(0, g.shape(x)[0], 1)
        >>> print(positions.type)
        int64[N]
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
        """Adds an input.

        Args:
            name: its name.
            dtype: its element type.
            shape: its sizes: numbers; names, or expressions of names; `None`
                for any. `None` in place of the list stands for any rank.

        Returns:
            The input.

        Raises:
            GraphError: if the graph has a value of that name.
            DTypeError: if the element type is unknown.
            ArgumentError: if a size is negative.
            FormatError: if an expression cannot be read.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.input("y", "int64", ["n", "m + 1"]).type)
            int64[n, m + 1]
        """
        self._builder._input(name, dtype, None if shape is None else list(shape))
        self._names.add(name)
        return Symbolic(self, name)

    def constant(self, value: Any, dtype: Any = None, name: str | None = None) -> Symbolic:
        """Adds a constant.

        Args:
            value: an array, a tensor that speaks DLPack, numbers or lists of
                them.
            dtype: the element type; `None` stands for that of the array.
            name: the name of the value.

        Returns:
            The constant.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.constant([1, 2, 3]).type)
            int64[3]
        """
        array = as_array(value)
        if dtype is not None:
            array = array.astype(np.dtype(dtype))
        name = name or self._name("constant")
        self._builder._constant(name, array)
        self._names.add(name)
        return Symbolic(self, name)

    def apply(self, operator: str, *inputs: Any, **attributes: Any) -> Symbolic:
        """Adds any operator of ONNX that has one output.

        Args:
            operator: its name.
            *inputs: values, or whatever makes an array; `None` for one that is
                left out.
            **attributes: attributes by name.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.apply("Softmax", x, axis=-1).type)
            float32[n, 3]
        """
        return self._node(operator, inputs, attributes)

    # Sequences

    def range(self, start: Any, limit: Any, delta: Any = 1) -> Symbolic:
        """Adds Range of ONNX: `start`, `start + delta`, … before `limit`.

        Args:
            start: a scalar.
            limit: a scalar of the same type, which is not an element.
            delta: a scalar of the same type, not zero.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.range(0, g.shape(x)[0], 2).type)
            int64[(n + 1)//2]
        """
        return self._node("Range", self._alike(start, limit, delta), {})

    def linspace(self, start: Any, stop: Any, num: Any = 50, endpoint: bool = True, *, dtype: Any = "float64") -> Symbolic:
        """Adds `num` samples at equal distances, as `gradus.linspace`.

        Args:
            start: the first end, a scalar.
            stop: the other end, a scalar.
            num: the number of samples, a number or a scalar.
            endpoint: include `stop` as the last sample.
            dtype: the element type.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.linspace(0, 1, g.shape(x)[0]).type)
            float64[n]
        """
        return self._space("LinSpace", [start, stop, num], endpoint, dtype)

    def logspace(
        self, start: Any, stop: Any, num: Any = 50, endpoint: bool = True, base: Any = 10.0, *, dtype: Any = "float64"
    ) -> Symbolic:
        """Adds powers of `base`, as `gradus.logspace`.

        Args:
            start: the first exponent, a scalar.
            stop: the last exponent, a scalar.
            num: the number of samples, a number or a scalar.
            endpoint: include `stop` as the last exponent.
            base: the base, a scalar.
            dtype: the element type.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.logspace(0, 3, 4, dtype="int64").type)
            int64[4]
        """
        return self._space("LogSpace", [start, stop, num, base], endpoint, dtype)

    def geomspace(self, start: Any, stop: Any, num: Any = 50, endpoint: bool = True, *, dtype: Any = "float64") -> Symbolic:
        """Adds samples with equal quotients, as `gradus.geomspace`.

        Args:
            start: the first end, a scalar.
            stop: the other end, a scalar.
            num: the number of samples, a number or a scalar.
            endpoint: include `stop` as the last sample.
            dtype: the element type.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.geomspace(1, 8, 4).type)
            float64[4]
        """
        return self._space("GeomSpace", [start, stop, num], endpoint, dtype)

    # Shapes

    def shape(self, x: Any, start: int = 0, end: int | None = None) -> Symbolic:
        """Adds Shape of ONNX: the sizes of axes.

        Args:
            x: a value, or whatever makes an array.
            start: the first axis; a negative one counts from the end.
            end: the axis after the last one; `None` stands for the rank.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> g.shape(x).elements
            (Dim("n"), 3)
        """
        window = {} if (start, end) == (0, None) else {"start": start}
        return self._node("Shape", [x], window if end is None else {"start": start, "end": end})

    def size(self, x: Any) -> Symbolic:
        """Adds Size of ONNX: the number of elements, a scalar.

        Args:
            x: a value, or whatever makes an array.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> g.size(x).elements
            (Dim("3*n"),)
        """
        return self._node("Size", [x], {})

    def reshape(self, x: Any, shape: Any, *, allowzero: bool = False) -> Symbolic:
        """Adds Reshape of ONNX: the same elements in another shape.

        Args:
            x: a value, or whatever makes an array.
            shape: the sizes, -1 for one that follows from the others.
            allowzero: let 0 mean a size of 0, and not that of the same axis.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.reshape(x, [-1]).type)
            float32[3*n]
        """
        return self._node("Reshape", [x, self._integers(shape)], {"allowzero": int(allowzero)} if allowzero else {})

    def expand(self, x: Any, shape: Any) -> Symbolic:
        """Adds Expand of ONNX: broadcasts to a shape.

        Args:
            x: a value, or whatever makes an array.
            shape: the sizes.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.expand(x, [2, 1, 3]).type)
            float32[2, n, 3]
        """
        return self._node("Expand", [x, self._integers(shape)], {})

    def squeeze(self, x: Any, axes: Any = None) -> Symbolic:
        """Adds Squeeze of ONNX: removes axes of size 1.

        Args:
            x: a value, or whatever makes an array.
            axes: the axes; `None` stands for all of size 1.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.squeeze(g.unsqueeze(x, [0]), [0]).type)
            float32[n, 3]
        """
        return self._node("Squeeze", [x] if axes is None else [x, self._integers(axes)], {})

    def unsqueeze(self, x: Any, axes: Any) -> Symbolic:
        """Adds Unsqueeze of ONNX: inserts axes of size 1.

        Args:
            x: a value, or whatever makes an array.
            axes: their indices in the result.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.unsqueeze(x, [0, 3]).type)
            float32[1, n, 3, 1]
        """
        return self._node("Unsqueeze", [x, self._integers(axes)], {})

    def concat(self, values: Sequence[Any], axis: int = 0) -> Symbolic:
        """Adds Concat of ONNX: joins values along an axis.

        Args:
            values: values of one type and rank.
            axis: the axis.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.concat([x, x], axis=1).type)
            float32[n, 6]
        """
        return self._node("Concat", self._alike(*values), {"axis": axis})

    def gather(self, x: Any, indices: Any, axis: int = 0) -> Symbolic:
        """Adds Gather of ONNX: selects slices by their indices.

        Args:
            x: a value, or whatever makes an array.
            indices: integers of any shape; negative ones count from the end.
            axis: the axis along which is selected.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.gather(x, [0, 2], axis=1).type)
            float32[n, 2]
        """
        return self._node("Gather", [x, self._integers(indices)], {"axis": axis} if axis else {})

    def slice(self, x: Any, starts: Any, ends: Any, axes: Any = None, steps: Any = None) -> Symbolic:
        """Adds Slice of ONNX: selects a range of each axis.

        Args:
            x: a value, or whatever makes an array.
            starts: the first index of each axis.
            ends: the index after the last one.
            axes: the axes; `None` stands for the first ones.
            steps: the distances of indices; `None` stands for 1.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.slice(x, [0], [2], axes=[1]).type)
            float32[n, 2]
        """
        bounds = [self._integers(each) for each in (starts, ends)]
        further = [None if each is None else self._integers(each) for each in (axes, steps)]
        while further and further[-1] is None:
            further.pop()
        return self._node("Slice", [x, *bounds, *further], {})

    def transpose(self, x: Any, perm: Sequence[int] | None = None) -> Symbolic:
        """Adds Transpose of ONNX: permutes axes.

        Args:
            x: a value, or whatever makes an array.
            perm: the axis of `x` for each axis of the result; `None` reverses
                them.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.transpose(x).type)
            float32[3, n]
        """
        return self._node("Transpose", [x], {} if perm is None else {"perm": list(perm)})

    def constant_of_shape(self, shape: Any, value: Any = None) -> Symbolic:
        """Adds ConstantOfShape of ONNX: a tensor filled with one value.

        Args:
            shape: the sizes.
            value: the value; `None` stands for 0 of float32.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.constant_of_shape(g.shape(x), 1).type)
            int64[n, 3]
        """
        value = None if value is None else np.atleast_1d(as_array(value))
        return self._node("ConstantOfShape", [self._integers(shape)], {} if value is None else {"value": value})

    def reduce_prod(self, x: Any, axes: Any = None, *, keepdims: bool = True) -> Symbolic:
        """Adds ReduceProd of ONNX: products along axes.

        Args:
            x: a value, or whatever makes an array.
            axes: the axes; `None` stands for all.
            keepdims: keep the axes, with size 1.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.reduce_prod(x, [1], keepdims=False).type)
            float32[n]
        """
        inputs = [x] if axes is None else [x, self._integers(axes)]
        return self._node("ReduceProd", inputs, {"keepdims": int(keepdims)})

    def cast(self, x: Any, to: Any) -> Symbolic:
        """Adds Cast of ONNX: converts to another element type.

        Args:
            x: a value, or whatever makes an array.
            to: the element type.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.cast(x, "int8").type)
            int8[n, 3]
        """
        return self._node("Cast", [x], {"to": _native._onnx_type(to)})

    def add(self, a: Any, b: Any) -> Symbolic:
        """Adds Add of ONNX: sums.

        Args:
            a: a value, or whatever makes an array.
            b: another, of the same type; both are broadcast.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.add(x, 1.0).type)
            float32[n, 3]
        """
        return self._binary("Add", a, b)

    def sub(self, a: Any, b: Any) -> Symbolic:
        """Adds Sub of ONNX: differences.

        Args:
            a: a value, or whatever makes an array.
            b: another, of the same type; both are broadcast.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.sub(x, 1.0).type)
            float32[n, 3]
        """
        return self._binary("Sub", a, b)

    def mul(self, a: Any, b: Any) -> Symbolic:
        """Adds Mul of ONNX: products.

        Args:
            a: a value, or whatever makes an array.
            b: another, of the same type; both are broadcast.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.mul(x, 2.0).type)
            float32[n, 3]
        """
        return self._binary("Mul", a, b)

    def div(self, a: Any, b: Any) -> Symbolic:
        """Adds Div of ONNX: quotients, of integers rounded toward zero.

        Args:
            a: a value, or whatever makes an array.
            b: another, of the same type; both are broadcast.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.div(x, 2.0).type)
            float32[n, 3]
        """
        return self._binary("Div", a, b)

    def mod(self, a: Any, b: Any, *, fmod: bool = False) -> Symbolic:
        """Adds Mod of ONNX: remainders.

        Args:
            a: a value, or whatever makes an array.
            b: another, of the same type; both are broadcast.
            fmod: give remainders the sign of the dividend, and not of the
                divisor.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> g.mod(g.shape(x)[0], 8).elements
            (Dim("n - 8*(n//8)"),)
        """
        return self._node("Mod", self._alike(a, b), {"fmod": int(fmod)} if fmod else {})

    def min(self, *values: Any) -> Symbolic:
        """Adds Min of ONNX: the smallest of the elements at each index.

        Args:
            *values: values of one type, which are broadcast.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> g.min(g.shape(x)[0], 512).elements
            (Dim("min(n, 512)"),)
        """
        return self._node("Min", self._alike(*values), {})

    def max(self, *values: Any) -> Symbolic:
        """Adds Max of ONNX: the largest of the elements at each index.

        Args:
            *values: values of one type, which are broadcast.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> g.max(g.shape(x)[0], 1).elements
            (Dim("max(n, 1)"),)
        """
        return self._node("Max", self._alike(*values), {})

    def where(self, condition: Any, a: Any, b: Any) -> Symbolic:
        """Adds Where of ONNX: one of two elements at each index.

        Args:
            condition: booleans.
            a: elements where the condition is true.
            b: elements where it is false, of the same type.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.where(g.equal(x, 0.0), 1.0, x).type)
            float32[n, 3]
        """
        return self._node("Where", [condition, *self._alike(a, b)], {})

    def equal(self, a: Any, b: Any) -> Symbolic:
        """Adds Equal of ONNX: equality of elements.

        Args:
            a: a value, or whatever makes an array.
            b: another, of the same type; both are broadcast.

        Returns:
            The output of the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> print(g.equal(x, 0.0).type)
            bool[n, 3]
        """
        return self._binary("Equal", a, b)

    # The whole

    @property
    def opset(self) -> int:
        """The version of ONNX's operator set in which the graph is written."""
        return self._builder.opset

    @property
    def assumptions(self) -> list[tuple[str, str]]:
        """Assumptions under which the shapes hold: the node, and a sentence."""
        return self._builder.assumptions

    def model(self, outputs: Sequence[Symbolic]) -> Model:
        """Makes a model with some outputs.

        Args:
            outputs: values of the graph.

        Returns:
            A model, to infer, run or save.

        Raises:
            UsageError: if a value is of another graph.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> g.model([g.mul(x, x)])
            <Model (x) -> (Mul_0), 1 nodes>
        """
        return Model(self._builder._model([self._own(value) for value in outputs]))

    def _repr_html_(self) -> str:
        # The facts about all values that nodes make.
        outputs = [Symbolic(self, name) for name in self._unread]
        return self.infer(outputs)._repr_html_() if outputs else "<p>no nodes</p>"

    def infer(self, outputs: Sequence[Symbolic], dims: Mapping[str, int] | None = None) -> Inference:
        """Infers the type and shape of every value.

        Args:
            outputs: the outputs of the graph.
            dims: numbers for symbols of the inputs' shapes, by name.

        Returns:
            The inference, as `gradus.Model.infer` returns it.

        Raises:
            UsageError: if a symbol has no such name.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "float32", ["n", 3])
            >>> y = g.transpose(x)
            >>> print(g.infer([y], {"n": 4})[y.name])
            float32[3, 4]
        """
        return self.model(outputs).infer(dims)

    def run(self, inputs: Mapping[str, Any], outputs: Sequence[Symbolic]) -> list[Any]:
        """Computes outputs for some inputs.

        Args:
            inputs: arrays, or numbers and lists, by name of an input.
            outputs: values of the graph.

        Returns:
            An array for each output.

        Raises:
            GradusError: if a node fails, with the node.

        Example:
            >>> import gradus
            >>> g = gradus.Graph()
            >>> x = g.input("x", "int64", ["n"])
            >>> g.run({"x": [1, 2]}, [x * x])
            [array([1, 4])]
        """
        results = self.model(outputs).run(inputs, [value.name for value in outputs])
        return [results[value.name] for value in outputs]

    def save(self, path: str | os.PathLike[str], outputs: Sequence[Symbolic] | None = None) -> None:
        """Writes the graph as an ONNX file, which other programs read.

        ONNX has no operators for `gradus.Graph.linspace`,
        `gradus.Graph.logspace` and `gradus.Graph.geomspace`. Where everything
        that they need is known before the run, they are written as constants,
        bit for bit.

        Args:
            path: the file: the old one or the new one is there at every moment,
                complete.
            outputs: the outputs of the model; by default all values of nodes
                that no other node reads.

        Raises:
            UnsupportedError: if such a node needs what only a run knows; it is
                named.
            GraphError: if the element type of an input or output is not known.
            FileError: if the file cannot be written.
            UsageError: if there is no output.

        Example:
            >>> import gradus, os, tempfile
            >>> g = gradus.Graph(opset=21)
            >>> x = g.input("x", "int64", ["N"])
            >>> power = g.logspace(0, 1, 4, base=1000, dtype="int64")[2]
            >>> y = g.mul(x, power)
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
