"""Makers of random graphs of mixed ONNX operators, made value by value: each node is run by ONNX Runtime before it is kept.

`made(seed)` returns a model and its inputs. A node is kept if ONNX Runtime takes it alone, with its optimiser off, so that what
is drawn at random need not be known to be right. Numbers are small multiples of 1/4, of which sums and products are exact in any
order; values downstream of other floats, which every program rounds in its own way, are `loose`, and nothing that jumps reads them.
"""

import collections

import numpy as np
import onnx
from onnx import TypeProto, helper, numpy_helper

from execution import session
from node_makers import Random

IR_VERSION = 10
OPSETS = (18, 20, 21, 22)
# Sizes of inputs, by name; most axes have the same size, as views of equal shapes hide the most.
SYMBOLS = {"n": 2, "m": 2, "k": 3}
NODES = (4, 16)
FLOATS = ("float32", "float32", "float32", "float64", "float16")
TYPES = (*FLOATS, *FLOATS, "int64", "int64", "int32", "int8", "uint8", "bool", "str")
# Elements of one value; larger ones are not kept.
ELEMENTS = 400
# Sums of products of numbers up to this, in quarters, are exact in float32.
EXACT = 64
WORDS = ["", "a", "ß", "two words"]
MAKERS: list = []


class Rejected(Exception):
    """Nothing that can be made of the values that are there."""


def maker(weight, steps=False):
    """Enters a function of a graph that returns an operator, its inputs and attributes, into the table. `steps`: small changes of
    floats may become large ones, so it reads no loose values."""

    def add(function):
        MAKERS.append((weight, function, steps))
        return function

    return add


def small(array) -> bool:
    """Whether sums of products of the numbers are exact in any order."""
    if array.dtype.kind != "f":
        return True
    wide = array.astype(np.float64)
    wide = wide[np.isfinite(wide)]
    return bool(np.all(wide * 4 == np.round(wide * 4)) and np.all(np.abs(wide) <= EXACT))


def type_of(text: str) -> TypeProto:
    """The type that ONNX Runtime names, such as `seq(tensor(float))`."""
    kind, inner = text[:-1].split("(", 1)
    if kind == "seq":
        return helper.make_sequence_type_proto(type_of(inner))
    code = onnx.TensorProto.DataType.Value({"double": "DOUBLE"}.get(inner, inner.upper()))
    return helper.make_tensor_type_proto(code, None)


def free_names(graph) -> list[str]:
    """The values that a graph reads and does not define."""
    own = {x.name for x in graph.input} | {x.name for x in graph.initializer}
    found = {}
    for node in graph.node:
        inner = [name for x in node.attribute if x.HasField("g") for name in free_names(x.g)]
        found |= {name: None for name in [*node.input, *inner] if name and name not in own}
        own |= set(node.output)
    return [*found, *(x.name for x in graph.output if x.name not in own and x.name not in found)]


def is_loose(graph) -> bool:
    """Whether a graph has an operator whose results may be rounded in several ways."""
    inner = [x.g for node in graph.node for x in node.attribute if x.HasField("g")]
    return any(node.op_type in LOOSE | SUMS for node in graph.node) or any(map(is_loose, inner))


class Graph:
    """A graph that is being made, and the value of everything in it for one set of inputs."""

    def __init__(self, random, opset, outer=None):
        self.r, self.opset, self.outer = random, opset, outer
        self.values = dict(outer.values) if outer else {}
        self.types = dict(outer.types) if outer else {}
        self.loose = set(outer.loose) if outer else set()
        self.count = outer.count if outer else [0]
        self.inputs, self.nodes, self.constants, self.own = [], [], [], []

    def fresh(self, what="v") -> str:
        self.count[0] += 1
        return f"{what}{self.count[0]}"

    def array(self, dtype, shape):
        """Small numbers, now and then with zeros of either sign, NaN or infinity among them."""
        rng = self.r.rng
        if dtype == "str":
            return rng.choice(np.array(WORDS, object), size=shape) if shape else np.array(self.r.pick(WORDS), object)
        if dtype == "bool":
            return np.asarray(rng.integers(2, size=shape), bool)
        low, high = (0, 7) if dtype == "uint8" else (-4, 5)
        array = np.asarray(rng.integers(low, high, size=shape), dtype)
        if array.dtype.kind == "f":
            array = np.asarray(array * rng.choice([1, 0.25, 0.5], size=shape), dtype)
            if self.r.flag(0.2):
                special = rng.choice([-0.0, 0.0, 1.0, np.nan, np.inf, -np.inf], size=shape)
                array = np.where(rng.random(shape) < 0.3, special, array).astype(dtype)
        return array

    def define(self, name, value, kind):
        self.values[name], self.types[name] = value, kind
        self.own.append(name)
        return name

    def const(self, value, dtype=None) -> str:
        """A constant, as an initializer or a node."""
        array = np.array(value, np.dtype(object if dtype == "str" else dtype) if dtype else None)
        name = self.fresh("c")
        tensor = numpy_helper.from_array(array, name)
        if self.r.flag(0.3):
            self.nodes.append(helper.make_node("Constant", [], [name], value=tensor))
        else:
            self.constants.append(tensor)
        self.values[name], self.types[name] = array, helper.make_tensor_type_proto(tensor.data_type, None)
        return name

    def ints(self, *values) -> str:
        return self.const(np.array(values, np.int64))

    def tensors(self, kinds="fiubO", rank=0, wanted=lambda _: True, steps=False) -> list[str]:
        """Names of tensors of these kinds of types, in the order in which they were made."""
        return [
            name
            for name, value in self.values.items()
            if isinstance(value, np.ndarray) and value.dtype.kind in kinds and value.ndim >= rank and wanted(value)
            and name[0] != "c" and not (steps and name in self.loose)
        ]

    def choose(self, names) -> str:
        """One of the names, more often a late one."""
        if not names:
            raise Rejected
        return self.r.pick(names[-4:] if self.r.flag(0.6) else names)

    def tensor(self, kinds="fiubO", rank=0, wanted=lambda _: True) -> str:
        return self.choose(self.tensors(kinds, rank, wanted))

    def like(self, name, wanted=lambda _: True) -> str:
        """A tensor of the type of another; more often one of its shape."""
        value = self.values[name]
        names = self.tensors(wanted=lambda x: x.dtype == value.dtype and wanted(x))
        same = [other for other in names if self.values[other].shape == value.shape]
        return self.choose(same if same and self.r.flag(0.7) else names)

    def shape(self, name) -> tuple:
        return self.values[name].shape

    def sizes(self, shape) -> str:
        """A list of sizes: a constant, or one that is computed from the shapes of values."""
        if not shape or self.r.flag(0.5):
            return self.ints(*shape)
        parts = []
        for size in shape:
            of = [(x, axis) for x in self.tensors() for axis, s in enumerate(self.shape(x)) if s == size]
            if of and self.r.flag(0.7):
                name, axis = self.r.pick(of)
                whole = self.step("Shape", [name], {"start": axis, "end": axis + 1} if self.r.flag() else {})
                if len(self.values[whole]) != 1:
                    whole = self.step("Gather", [whole, self.ints(axis)], {})
                parts.append(whole)
            else:
                parts.append(self.ints(size))
        return self.step("Concat", parts, {"axis": 0}) if len(parts) > 1 else parts[0]

    def step(self, operator, inputs, attributes, outputs=1) -> str:
        """Adds a node that ONNX Runtime takes; returns its first output."""
        while inputs and not inputs[-1]:
            inputs = inputs[:-1]
        names = [self.fresh() for _ in range(outputs)]
        node = helper.make_node(operator, inputs, names, **attributes)
        inner = [name for x in node.attribute if x.HasField("g") for name in free_names(x.g)]
        read = list(dict.fromkeys(name for name in [*inputs, *inner] if name))
        infos = [onnx.ValueInfoProto(name=name, type=self.types[name]) for name in read]
        tensors = [] if inner else [x for x in self.all_constants() if x.name in read]
        given = [info for info in infos if info.name not in {x.name for x in tensors}]
        graph = helper.make_graph([node], "node", given, [onnx.ValueInfoProto(name=name) for name in names], tensors)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)], ir_version=IR_VERSION)
        try:
            runs = session(model.SerializeToString(), optimised=False)
            found = runs.run(names, {info.name: self.values[info.name] for info in given})
        except Exception as error:
            raise Rejected from error
        found = [np.asarray(x) if isinstance(x, np.generic) else x for x in found]
        if any(isinstance(x, np.ndarray) and x.size > ELEMENTS for x in found):
            raise Rejected
        self.nodes.append(node)
        loose = any(name in self.loose for name in read) or operator in LOOSE
        if operator in SUMS:
            # Within a loop, later values may be larger.
            arrays = [self.values[name] for name in read if isinstance(self.values[name], np.ndarray)]
            loose |= self.outer is not None or not all(map(small, arrays))
        loose |= any(is_loose(x.g) for x in node.attribute if x.HasField("g"))
        # ONNX Runtime computes chains of some operators of float16 in float32.
        loose |= operator not in MOVES and any(isinstance(x, np.ndarray) and x.dtype == np.float16 for x in found)
        for name, value, info in zip(names, found, runs.get_outputs(), strict=True):
            self.define(name, value, type_of(info.type))
            floats = isinstance(value, list) or value.dtype.kind == "f"
            if loose and floats:
                self.loose.add(name)
        return names[0]

    def all_constants(self):
        return [*self.constants, *(self.outer.all_constants() if self.outer else [])]

    def grow(self, steps: int):
        """Adds up to so many nodes, of makers by their weight."""
        weights = np.array([weight for weight, *_ in MAKERS], float)
        for _ in range(steps):
            _, make, jumps = MAKERS[self.r.rng.choice(len(MAKERS), p=weights / weights.sum())]
            state = len(self.nodes), len(self.constants), len(self.own)
            try:
                operator, inputs, attributes, *outputs = make(self)
                if jumps and any(name in self.loose for name in inputs):
                    raise Rejected
                self.step(operator, list(inputs), attributes, *outputs)
            except Rejected:
                self.forget(*state)

    def forget(self, nodes, constants, own):
        """Takes back what a maker added before it was rejected."""
        for name in self.own[own:]:
            del self.values[name], self.types[name]
        del self.nodes[nodes:], self.constants[constants:], self.own[own:]

    def inner(self, names_and_values, steps) -> "Graph":
        """A graph within a node, with inputs of its own."""
        graph = Graph(self.r, self.opset, self)
        for name, like, value in names_and_values:
            graph.inputs.append(onnx.ValueInfoProto(name=name, type=like))
            graph.define(name, value, like)
            if value.dtype.kind == "f":
                # Later iterations may bring other numbers than this one.
                graph.loose.add(name)
        graph.grow(steps)
        return graph

    def proto(self, outputs):
        infos = [onnx.ValueInfoProto(name=name, type=self.types[name]) for name in outputs]
        return helper.make_graph(self.nodes, "body", self.inputs, infos, self.constants)


# Operators whose results every program rounds in its own way, and those that sum products.
LOOSE = set("Exp Tanh Sigmoid Erf Softmax Log Pow LayerNormalization ReduceMean ReduceL2 Mean GlobalAveragePool Gelu".split())
MOVES = set("Transpose Reshape Identity Slice Concat Split Gather Expand Tile Squeeze Unsqueeze Flatten SequenceConstruct".split())
SUMS = set("MatMul Gemm Einsum ReduceSum ReduceProd CumSum Conv Sum ReduceSumSquare".split())


def defined(array) -> bool:
    """Whether there is an order of all elements, and a largest one."""
    return array.size > 0 and not np.isnan(array).any() if array.dtype.kind == "f" else array.size > 0


def permutation(r, rank):
    """A permutation; more often one that is its own inverse."""
    perm = list(range(rank))
    if r.flag(0.7):
        a, b = r.int(0, rank - 1), r.int(0, rank - 1)
        perm[a], perm[b] = perm[b], perm[a]
        return perm
    return [int(axis) for axis in r.rng.permutation(rank)]


@maker(9)
def transpose(g):
    x = g.tensor(rank=2)
    return "Transpose", [x], {"perm": permutation(g.r, len(g.shape(x)))}


BINARY = "Add Add Add Sub Mul Mul Div Max Min".split()


@maker(12)
def binary(g):
    a = g.tensor("fi")
    b = g.like(a)
    return g.r.pick(BINARY), [a, b] if g.r.flag() else [b, a], {}


@maker(5)
def with_constant(g):
    a = g.tensor("fi")
    value = g.values[a]
    shape = g.r.pick([(), (1,), (1,) * value.ndim, value.shape])
    number = g.r.pick([0, 1, -1, 2, -0.0]) if value.dtype.kind == "f" else g.r.pick([0, 1, 2])
    c = g.const(np.full(shape, number, value.dtype))
    return g.r.pick(BINARY), [a, c] if g.r.flag() else [c, a], {}


@maker(2)
def pair_with_own_transpose(g):
    x = g.tensor("fi", rank=2)
    turned = g.step("Transpose", [x], {"perm": permutation(g.r, len(g.shape(x)))})
    return g.r.pick(BINARY), [x, turned] if g.r.flag() else [turned, x], {}


def view(g, x):
    """A node that views a value in another shape or order, and the inputs and attributes of one that takes it back."""
    shape = g.shape(x)
    if g.r.flag(0.6) and len(shape) > 1:
        perm = permutation(g.r, len(shape))
        back = [int(axis) for axis in np.argsort(perm)]
        return g.step("Transpose", [x], {"perm": perm}), lambda y: ("Transpose", [y], {"perm": back})
    if g.r.flag():
        other = [int(np.prod(shape[:1])), -1] if g.r.flag() and np.prod(shape) else [*shape, 1]
        sizes = g.sizes(list(shape))
        return g.step("Reshape", [x, g.ints(*other)], {}), lambda y: ("Reshape", [y, sizes], {})
    axis = g.ints(g.r.pick([0, -1]))
    return g.step("Unsqueeze", [x, axis], {}), lambda y: ("Squeeze", [y, axis], {})


@maker(16)
def region(g):
    """Operators of elements between a view and its inverse, some of which read views of each other."""
    x = g.tensor("fi", rank=1, wanted=lambda x: x.dtype in (np.float32, np.int64))
    first, back = view(g, x)
    turn = permutation(g.r, len(g.shape(first))) if len(g.shape(first)) > 1 else []
    if g.nodes[-1].op_type == "Transpose" and g.r.flag(0.8):
        turn = g.nodes[-1].attribute[0].ints
    inside = [g.step(g.r.pick(["Neg", "Abs"]), [first], {})]
    for _ in range(g.r.int(1, 3)):
        a, b = inside[-1], g.r.pick(inside)
        if turn and g.r.flag(0.6):
            b = g.step("Transpose", [b], {"perm": turn})
        elif g.r.flag(0.3):
            b = g.like(a)
        if g.r.flag(0.2):
            inside.append(g.step(g.r.pick(["Neg", "Abs", "Identity"]), [b], {}))
        else:
            inside.append(g.step(g.r.pick(BINARY), [a, b] if g.r.flag() else [b, a], {}))
    fits = [name for name in inside if g.shape(name) == g.shape(first)]
    return back(fits[-1])


@maker(5)
def unary(g):
    return g.r.pick("Neg Abs Sqrt Identity Identity Reciprocal".split()), [g.tensor("fi")], {}


@maker(1)
def relu(g):
    # ONNX Runtime has it of integers in some operator sets only.
    return "Relu", [g.tensor("f")], {}


@maker(2, steps=True)
def unary_that_jumps(g):
    return g.r.pick("Floor Ceil Round Sign IsNaN".split()), [g.tensor("f")], {}


@maker(2)
def function(g):
    return g.r.pick("Exp Tanh Sigmoid Erf Softmax".split()), [g.tensor("f")], {}


@maker(2)
def clip(g):
    x = g.tensor("fi")
    bounds = [g.const(np.array(value, g.values[x].dtype)) if g.r.flag(0.8) else "" for value in (g.r.pick([0, 1]), g.r.pick([1, 3]))]
    return "Clip", [x, *bounds], {}


@maker(3, steps=True)
def compare(g):
    a = g.tensor("fiO")
    return g.r.pick("Equal Less Greater LessOrEqual GreaterOrEqual".split()), [a, g.like(a)], {}


@maker(3)
def logic(g):
    a = g.tensor("b")
    return ("Not", [a], {}) if g.r.flag(0.4) else (g.r.pick("And Or Xor".split()), [a, g.like(a)], {})


@maker(3)
def where(g):
    a = g.tensor("fiO")
    return "Where", [g.tensor("b"), a, g.like(a)], {}


@maker(4, steps=True)
def cast(g):
    to = g.r.pick("FLOAT DOUBLE FLOAT16 INT64 INT32 BOOL FLOAT INT8".split())
    # Floats beyond the range of an integer have no meaning there.
    x = g.tensor("fib", wanted=lambda x: "INT" not in to or x.dtype.kind != "f" or bool(np.all(np.abs(x) < 100)))
    return "Cast", [x], {"to": getattr(onnx.TensorProto, to)}


@maker(8)
def reshape(g):
    x = g.tensor()
    shape = list(g.shape(x))
    if g.r.flag(0.5) and len(shape) > 1:
        at = g.r.int(0, len(shape) - 2)
        shape[at : at + 2] = [shape[at] * shape[at + 1]]
    elif shape and g.r.flag(0.5):
        at = g.r.int(0, len(shape) - 1)
        shape[at : at + 1] = [1, shape[at]] if g.r.flag() else [shape[at], 1]
    else:
        shape = [int(size) for size in g.r.rng.permutation(shape)]
    if shape and g.r.flag(0.4):
        at = g.r.int(0, len(shape) - 1)
        wanted = [0 if i < len(g.shape(x)) and g.shape(x)[i] == size and g.r.flag() else size for i, size in enumerate(shape)]
        return "Reshape", [x, g.ints(*[*wanted[:at], -1, *wanted[at + 1 :]])], {}
    return "Reshape", [x, g.sizes(shape)], {}


@maker(4)
def squeeze(g):
    x = g.tensor(wanted=lambda x: 1 in x.shape)
    axes = [axis for axis, size in enumerate(g.shape(x)) if size == 1]
    return "Squeeze", [x, g.ints(g.r.pick(axes)) if g.r.flag(0.9) else ""], {}


@maker(4)
def unsqueeze(g):
    x = g.tensor()
    return "Unsqueeze", [x, g.ints(g.r.axis(len(g.shape(x)) + 1))], {}


@maker(1)
def flatten(g):
    x = g.tensor("fi", rank=1)
    return "Flatten", [x], {"axis": g.r.int(0, len(g.shape(x)))}


@maker(4)
def expand(g):
    x = g.tensor()
    shape = [g.r.int(1, 3) if size == 1 else size for size in g.shape(x)]
    return "Expand", [x, g.sizes([g.r.pick([1, 2]), *shape] if g.r.flag(0.3) else shape)], {}


@maker(5)
def cut(g):
    x = g.tensor(rank=1)
    axis = g.r.axis(len(g.shape(x)))
    bounds = [g.r.pick([0, 1, -1, -2]), g.r.pick([1, 2, -1, 2**62]), axis, g.r.pick([1, 1, 1, 2, -1])]
    if bounds[3] < 0:
        bounds[:2] = [-1, -(2**62)]
    return "Slice", [x, *(g.ints(value) for value in bounds)], {}


@maker(5)
def concat(g):
    x = g.tensor(rank=1)
    shape, axis = g.shape(x), g.r.axis(len(g.shape(x)))
    fits = lambda y: y.ndim == len(shape) and np.delete(y.shape, axis).tolist() == np.delete(shape, axis).tolist()  # noqa: E731
    return "Concat", [x, *(g.like(x, fits) for _ in range(g.r.int(0, 2)))], {"axis": axis}


@maker(3)
def split(g):
    x = g.tensor("fiO", rank=1, wanted=lambda x: max(x.shape) > 1)
    axis = g.choose([axis for axis, size in enumerate(g.shape(x)) if size > 1])
    size = g.shape(x)[axis]
    first = g.r.int(0, size)
    return "Split", [x, g.ints(first, size - first)], {"axis": axis}, 2


@maker(4)
def gather(g):
    x = g.tensor(rank=1, wanted=lambda x: x.size > 0)
    # ONNX Runtime 1.32 copies the first string of each slice alone.
    axis = len(g.shape(x)) - 1 if g.values[x].dtype == object else g.r.axis(len(g.shape(x)))
    top = g.shape(x)[axis]
    shape = g.r.pick([(), (1,), (2,), (top,)])
    return "Gather", [x, g.const(g.r.rng.integers(-top, top, size=shape).astype(np.int64))], {"axis": axis}


@maker(2)
def gather_elements(g):
    x = g.tensor("fi", rank=1, wanted=lambda x: x.size > 0)
    axis = g.r.axis(len(g.shape(x)))
    indices = g.r.rng.integers(0, g.shape(x)[axis], size=g.shape(x)).astype(np.int64)
    if g.r.flag():
        return "GatherElements", [x, g.const(indices)], {"axis": axis}
    # Each place once: what several writers leave is not said.
    indices = np.argsort(g.r.rng.random(g.shape(x)), axis=axis).astype(np.int64)
    return "ScatterElements", [x, g.const(indices), g.like(x, lambda y: y.shape == g.shape(x))], {"axis": axis}


@maker(2)
def tile(g):
    x = g.tensor()
    return "Tile", [x, g.ints(*(g.r.pick([1, 1, 2]) for _ in g.shape(x)))], {}


@maker(3)
def pad(g):
    x = g.tensor("fi", rank=1)
    amounts = [g.r.pick([0, 0, 0, 1, -1]) for _ in range(2 * len(g.shape(x)))]
    mode = g.r.pick(["constant", "constant", "edge", "reflect"])
    return "Pad", [x, g.ints(*(amounts if mode == "constant" else map(abs, amounts)))], {"mode": mode}


@maker(4)
def reduce(g):
    x = g.tensor("fi", wanted=defined)
    name = g.r.pick("ReduceSum ReduceSum ReduceMax ReduceMin ReduceProd ReduceMean ReduceL2".split())
    axes = sorted({g.r.axis(len(g.shape(x))) % len(g.shape(x)) for _ in range(g.r.int(1, 2))}) if g.shape(x) else []
    return name, [x, g.ints(*axes) if axes and g.r.flag(0.9) else ""], {"keepdims": g.r.int(0, 1)}


@maker(2, steps=True)
def order(g):
    x = g.tensor("fi", rank=1, wanted=defined)
    axis = g.r.axis(len(g.shape(x)))
    if g.r.flag():
        return g.r.pick(["ArgMax", "ArgMin"]), [x], {"axis": axis, "keepdims": g.r.int(0, 1)}
    return "TopK", [x, g.ints(g.r.int(0, min(2, g.shape(x)[axis])))], {"axis": axis, "largest": g.r.int(0, 1)}, 2


@maker(2)
def cumulated(g):
    x = g.tensor("fi", rank=1)
    flags = {"exclusive": g.r.int(0, 1), "reverse": g.r.int(0, 1)}
    return "CumSum", [x, g.const(np.array(g.r.axis(len(g.shape(x))), np.int64))], flags


@maker(5)
def product(g):
    a = g.tensor("f", rank=1)
    inner = g.shape(a)[-1]
    b = g.like(a, lambda y: y.ndim >= 1 and y.shape[-2 if y.ndim > 1 else 0] == inner)
    return "MatMul", [a, b], {}


@maker(2)
def gemm(g):
    a = g.tensor("f", wanted=lambda x: x.ndim == 2)
    b = g.like(a, lambda y: y.ndim == 2)
    flags = {"transA": g.r.int(0, 1), "transB": g.r.int(0, 1), "alpha": g.r.pick([1.0, 0.5]), "beta": g.r.pick([1.0, 0.0, 2.0])}
    # ONNX Runtime does not read what a factor of 0 takes away, be it infinite or NaN.
    added = lambda y: flags["beta"] != 0 or np.isfinite(y).all()  # noqa: E731
    return "Gemm", [a, b, g.like(a, added) if g.r.flag() else ""], flags


@maker(1)
def einsum(g):
    a = g.tensor("f", wanted=lambda x: x.ndim == 2)
    return "Einsum", [a, g.like(a, lambda y: y.ndim == 2)], {"equation": g.r.pick(["ij,jk->ik", "ij,kj->ki", "ij,ij->ij", "ij,ji->", "ij,ij->j"])}


@maker(4)
def shape_of(g):
    x = g.tensor()
    return ("Size", [x], {}) if g.r.flag(0.2) else ("Shape", [x], {"start": g.r.int(0, 1)} if g.r.flag(0.3) else {})


@maker(2)
def filled(g):
    # The result of a constant shape and of one that is computed.
    x = g.tensor(wanted=lambda x: x.size < 40)
    dtype = g.r.pick(["float32", "int64", "bool"])
    value = numpy_helper.from_array(np.array([g.r.pick([0, 1, -1])], dtype))
    return "ConstantOfShape", [g.sizes(list(g.shape(x)))], {"value": value}


@maker(2)
def counted(g):
    x = g.tensor(rank=1)
    size = g.step("Size", [x], {})
    return "Range", [g.const(np.array(g.r.int(0, 1), np.int64)), size, g.const(np.array(g.r.int(1, 2), np.int64))], {}


@maker(1, steps=True)
def found(g):
    return g.r.pick([("NonZero", [g.tensor("fib", rank=1)], {}), ("Compress", [g.tensor("fib", rank=1), g.const(np.array([True, False, True]))], {"axis": 0})])


@maker(3, steps=True)
def quantized(g):
    x = g.tensor("f", wanted=lambda x: x.dtype == np.float32 and not np.isnan(x).any())
    kind = g.r.pick(["uint8", "int8"])
    scale, zero = g.const(np.array(g.r.pick([0.25, 0.5, 1]), np.float32)), g.const(np.array(g.r.int(0, 3), kind))
    codes = g.step("QuantizeLinear", [x, scale, zero], {})
    return ("Identity", [codes], {}) if g.r.flag(0.2) else ("DequantizeLinear", [codes, scale, zero], {})


@maker(1, steps=True)
def windows(g):
    x = g.tensor("f", wanted=lambda x: x.ndim == 4 and x.dtype == np.float32 and defined(x))
    if g.r.flag():
        return "MaxPool", [x], {"kernel_shape": [g.r.int(1, 2), g.r.int(1, 2)], "ceil_mode": g.r.int(0, 1), "strides": [g.r.int(1, 2)] * 2}
    channels = g.shape(x)[1]
    weights = g.const(g.r.rng.integers(-2, 3, size=(g.r.int(1, 3), channels, g.r.int(1, 2), 1)).astype(np.float32))
    return "Conv", [x, weights], {"pads": [0, 0, g.r.int(0, 1), 0]}


@maker(2)
def of_text(g):
    x = g.tensor("O")
    kind = g.r.int(0, 2)
    return [("StringConcat", [x, g.like(x)], {}), ("Identity", [x], {}), ("Equal", [x, g.like(x)], {})][kind]


@maker(2)
def sequence(g):
    x = g.tensor("fi", rank=1)
    if g.r.flag():
        return "SplitToSequence", [x, g.const(np.array(1, np.int64)) if g.r.flag() else ""], {"axis": 0, "keepdims": 1}
    return "SequenceConstruct", [g.like(x) for _ in range(g.r.int(1, 3))], {}


@maker(4)
def of_sequence(g):
    name = g.choose([name for name, value in g.values.items() if isinstance(value, list) and value])
    items = g.values[name]
    at = g.const(np.array(g.r.int(-len(items), len(items) - 1), np.int64))
    kind = g.r.pick("SequenceAt SequenceAt SequenceLength SequenceInsert SequenceErase ConcatFromSequence ConcatFromSequence".split())
    if kind == "SequenceInsert":
        return kind, [name, g.tensor("fi", wanted=lambda x: x.dtype == items[0].dtype), at], {}
    if kind == "ConcatFromSequence":
        return kind, [name], {"axis": 0, "new_axis": g.r.int(0, 1)}
    return kind, [name] if kind == "SequenceLength" else [name, at], {}


def ends(g, body, like=None) -> str:
    """A value that ends a body, of the type and if possible the shape of another; one of the body's own."""
    own = [name for name in body.own if isinstance(body.values[name], np.ndarray) and name[0] != "c"]
    if like is not None:
        own = [name for name in own if body.values[name].dtype == like.dtype]
        own = [name for name in own if body.values[name].shape == like.shape] or own
    name = body.choose(own)
    # ONNX Runtime overwrites a counter that is an output of the body itself.
    return body.step("Abs", [name], {}) if name in {x.name for x in body.inputs} and body.values[name].dtype != bool else name


def another(body, first) -> str:
    """A value that ends a body, beside the first: ONNX Runtime overwrites one that does so twice."""
    name = ends(body, body)
    return body.step("Identity", [name], {}) if name == first else name


@maker(4)
def choice(g):
    condition = g.r.pick(["input", "const", "computed"])
    flags = g.tensors("b", wanted=lambda x: x.shape == ())
    if condition == "const" or not flags:
        c = g.const(np.array(g.r.flag()))
    else:
        c = g.choose(flags)
    then = g.inner([], g.r.int(1, 3))
    result = ends(g, then)
    other = g.inner([], g.r.int(1, 3))
    fits = [name for name in other.values if isinstance(other.values[name], np.ndarray) and other.values[name].dtype == then.values[result].dtype]
    if not (fits := [name for name in fits if name[0] != "c"]):
        raise Rejected
    last = other.step("Identity", [other.choose(fits)], {})
    return "If", [c], {"then_branch": then.proto([result]), "else_branch": other.proto([last])}


@maker(4)
def loop(g):
    start = g.tensor("fi", wanted=lambda x: x.size < 50)
    counts = g.tensors("i", wanted=lambda x: x.shape == () and x.dtype == np.int64 and 0 <= x <= 3)
    count = g.choose(counts) if counts and g.r.flag() else g.const(np.array(g.r.int(0, 3), np.int64))
    scalar, flag = helper.make_tensor_type_proto(7, []), helper.make_tensor_type_proto(9, [])
    carried = g.fresh("x")
    body = g.inner([(g.fresh("i"), scalar, np.array(0, np.int64)), (go := g.fresh("g"), flag, np.array(True)), (carried, g.types[start], g.values[start])], g.r.int(1, 4))
    after = ends(g, body, g.values[start])
    again = body.step("Identity", [go], {})
    outputs = [again, after]
    # The text does not say the shape of the outputs of no iteration: nothing else reads these.
    if g.outer is None and g.r.flag():
        outputs.append(another(body, after))
    return "Loop", [count, g.const(np.array(True)) if g.r.flag() else "", start], {"body": body.proto(outputs)}, len(outputs) - 1


@maker(2)
def scan(g):
    start, over = g.tensor("fi", wanted=lambda x: x.size < 50), g.tensor("fi", rank=1, wanted=lambda x: x.shape[0] > 0)
    carried, part = g.fresh("x"), g.fresh("x")
    body = g.inner([(carried, g.types[start], g.values[start]), (part, g.types[over], g.values[over][0, ...])], g.r.int(1, 4))
    after = ends(g, body, g.values[start])
    outputs = [after, another(body, after)]
    return "Scan", [start, over], {"body": body.proto(outputs), "num_scan_inputs": 1}, 2


# Models


def made(seed: int):
    """A random model, its inputs, and the names of the outputs that are loose."""
    r = Random(seed)
    g = Graph(r, r.pick(OPSETS))
    for place in range(r.int(1, 3)):
        dtype = "float32" if not place else r.pick(TYPES)
        choice = r.pick([["n"], [2], ["n", "n", "m", "k", 1, 2, 2, 3]])
        dims = [r.pick(choice) for _ in range(r.pick([0, 1, 2, 2, 2, 2, 3, 4]))]
        array = g.array(dtype, [SYMBOLS.get(dim, dim) for dim in dims])
        code = onnx.TensorProto.STRING if dtype == "str" else helper.np_dtype_to_tensor_dtype(array.dtype)
        name = g.define(f"in{place}", array, helper.make_tensor_type_proto(code, None))
        g.inputs.append(helper.make_tensor_value_info(name, code, dims))
    g.grow(r.int(*NODES))
    read = collections.Counter(name for node in g.nodes for name in node.input)
    for node in g.nodes:
        read.update(name for x in node.attribute if x.HasField("g") for name in free_names(x.g))
    computed = [name for node in g.nodes for name in node.output if isinstance(g.values[name], np.ndarray)]
    leaves = [name for name in computed if not read[name]] or computed[-1:]
    outputs = leaves + [name for name in computed if read[name] and r.flag(0.1)]
    graph = helper.make_graph(g.nodes, "random", g.inputs, [onnx.ValueInfoProto(name=x, type=g.types[x]) for x in outputs], g.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", g.opset)], ir_version=IR_VERSION)
    return model, {info.name: g.values[info.name] for info in g.inputs}, sorted(g.loose & set(outputs))
