"""The element types that OpenVINO's nodes admit, found by making them of inputs without a known shape."""

import itertools
import random

import openvino
from openvino.utils.node_factory import NodeFactory

# Element types, as OpenVINO and Gradus name them.
TYPES = {
    "boolean": "Bool", "string": "String", "i4": "I4", "i8": "I8", "i16": "I16", "i32": "I32", "i64": "I64", "u2": "U2", "u4": "U4",
    "u8": "U8", "u16": "U16", "u32": "U32", "u64": "U64", "f16": "F16", "bf16": "BF16", "f32": "F32", "f64": "F64", "f8e4m3": "F8E4M3FN",
    "f8e5m2": "F8E5M2", "f8e8m0": "F8E8M0", "f4e2m1": "F4E2M1",
}  # fmt: skip
# Types of inputs that some node of nearly every operator has.
USUAL = ("f32", "i64", "boolean", "u8", "i32")
# Assignments drawn against what was found: one that OpenVINO takes and the table refuses opens the
# inputs that it differs in.
DRAWS = 300


class Node:
    """An operator of a set, and what it says of types."""

    def __init__(self, opset: str, name: str):
        self.factory, self.name, self.asked = NodeFactory(opset), name, {}

    def takes(self, types: tuple[str, ...]) -> bool:
        """Whether a node can be made of inputs of these types."""
        if types not in self.asked:
            dynamic = openvino.PartialShape.dynamic()
            inputs = [openvino.op.Parameter(getattr(openvino.Type, each), dynamic) for each in types]
            try:
                self.factory.create(self.name, inputs, {})
                self.asked[types] = True
            except RuntimeError:
                self.asked[types] = False
        return self.asked[types]


def replaced(types: tuple[str, ...], places, by: str) -> tuple[str, ...]:
    return tuple(by if i in places else each for i, each in enumerate(types))


def start(node: Node, count: int) -> tuple[str, ...] | None:
    """Types of the inputs that the operator takes."""
    tries = itertools.chain(itertools.product(USUAL[:3], repeat=count), itertools.product(USUAL, repeat=count))
    return next((types for types in itertools.islice(tries, 20000) if node.takes(types)), None)


def admitted(opset: str, name: str, arities: list[str]) -> list[tuple[str, list[str]]] | None:
    """For each input the variable that it shares with others, empty if it shares none, and the types that it admits.

    `None` if no node could be made.
    """
    node = Node(opset, name)
    # A repeated input is made twice; trailing inputs that may be left out are, if the node cannot
    # be made with them.
    places = [i for i, arity in enumerate(arities) for _ in range(1 + (arity == "Many"))]
    known = len(places)
    while (base := start(node, known)) is None:
        known -= 1
        if known <= 0 or arities[places[known]] != "Optional":
            return None
    alone = [{each for each in TYPES if node.takes(replaced(base, {i}, each))} for i in range(known)]
    variable = tied(node, base, alone)
    opened(node, alone, variable)
    found = []
    for i in range(len(arities)):
        at = places.index(i)
        found.append((variable[at], sorted(alone[at], key=list(TYPES).index)) if at < known else ("", list(TYPES)))
    return found


def tied(node: Node, base: tuple[str, ...], alone: list[set[str]]) -> list[str]:
    """The variables of inputs: those that change their type only together share one, and the types of all."""
    variable = [""] * len(base)
    for size in range(len(base), 1, -1):
        for group in itertools.combinations(range(len(base)), size):
            if any(variable[i] for i in group) or len({base[i] for i in group}) > 1:
                continue
            joint = {each for each in TYPES if node.takes(replaced(base, group, each))}
            changed = [replaced(base, group, each) for each in joint - {base[group[0]]}]
            if any(not any(node.takes(replaced(types, {i}, base[i])) for i in group) for types in changed):
                letter = "TUVW"[len(set(filter(None, variable)))]
                for i in group:
                    variable[i], alone[i] = letter, joint
    return variable


def opened(node: Node, alone: list[set[str]], variable: list[str]) -> None:
    """Opens inputs whose types depend on one another in another way than by being equal."""
    draw = random.Random(1)
    for _ in range(DRAWS):
        types = [draw.choice(list(TYPES)) if draw.random() < 0.3 else draw.choice(sorted(each)) for each in alone]
        for letter in set(filter(None, variable)):
            if draw.random() < 0.7:
                group = [i for i, each in enumerate(variable) if each == letter]
                types = list(replaced(tuple(types), group, types[group[0]]))
        if not node.takes(tuple(types)):
            continue
        for i, each in enumerate(types):
            others = {types[j] for j, letter in enumerate(variable) if letter and letter == variable[i]}
            if each not in alone[i] or len(others) > 1:
                alone[i], variable[i] = set(TYPES), ""
