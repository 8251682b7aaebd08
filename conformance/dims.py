"""dims.py OUT [COUNT] [SEED]: conditions of sizes for engines that decide them, one a line.

A line is JSON: {"condition": text, "assume": [text, ...], "answer": "true" or "false", "counterexample": {name: size}}. Names
are sizes, integers from 0 on. The counterexample of what is false was found by enumeration; "true" means that none is
among all sizes from 0 to 40, and that `gradus dim` found a proof: GRADUS names the command. Conditions that it does not
decide are left out and counted, and an answer of its that enumeration contradicts ends the script. `//` and `%` round
down, as in Python; where a condition or an assumption divides by zero, it says nothing: such sizes are no counterexample.
Python needs numpy. bench/dims.py asks other engines.
"""

import json
import os
import random
import subprocess
import sys

import numpy as np

NAMES = "abcd"
LAST = 40
OPERATORS = ("+", "-", "*", "//", "%", "min", "max")
SIGNS = ("==", "!=", "<=", ">=", "<", ">")


def tree(rng: random.Random, depth: int):
    """A random expression: a number, a name, or an operator and its operands."""
    if depth == 0 or rng.random() < 0.25:
        return rng.randrange(9) if rng.random() < 1 / 3 else rng.choice(NAMES)
    return rng.choice(OPERATORS), tree(rng, depth - 1), tree(rng, depth - 1)


def text(of) -> str:
    """The expression as it is written."""
    if not isinstance(of, tuple):
        return str(of)
    operator, a, b = of[0], text(of[1]), text(of[2])
    return f"{operator}({a}, {b})" if operator in ("min", "max") else f"({a} {operator} {b})"


def value(of, sizes, defined):
    """The values at all sizes; `defined` becomes false where a divisor is zero."""
    if isinstance(of, int):
        return np.int64(of)
    if isinstance(of, str):
        return sizes[of]
    a, b = value(of[1], sizes, defined), value(of[2], sizes, defined)
    if of[0] in ("//", "%"):
        defined &= np.asarray(b) != 0
        b = np.where(np.asarray(b) == 0, 1, b)
        return a // b if of[0] == "//" else a % b
    return {"+": np.add, "-": np.subtract, "*": np.multiply, "min": np.minimum, "max": np.maximum}[of[0]](a, b)


def names(of) -> set[str]:
    """The names in an expression."""
    if isinstance(of, tuple):
        return names(of[1]) | names(of[2])
    return {of} if isinstance(of, str) else set()


class Condition:
    """Two random expressions and a sign between them."""

    def __init__(self, rng: random.Random) -> None:
        self.sides = tree(rng, rng.randrange(1, 4)), tree(rng, rng.randrange(3))
        self.sign = rng.choice(SIGNS)

    def __str__(self) -> str:
        return f"{text(self.sides[0])} {self.sign} {text(self.sides[1])}"

    def names(self) -> set[str]:
        return names(self.sides[0]) | names(self.sides[1])

    def holds(self, sizes, shape):
        """Where it is defined, and where it holds."""
        defined = np.ones(shape, bool)
        a, b = (value(side, sizes, defined) for side in self.sides)
        compared = {"==": a == b, "!=": a != b, "<=": a <= b, ">=": a >= b, "<": a < b, ">": a > b}[self.sign]
        return defined, np.broadcast_to(compared, shape)


def counterexample(condition: Condition, given: list[Condition]) -> dict[str, int] | bool:
    """The first sizes at which the condition fails; else whether any sizes meet what is given."""
    used = sorted(condition.names().union(*(other.names() for other in given)))
    shape = (LAST + 1,) * len(used)
    axes = np.ix_(*(np.arange(LAST + 1, dtype=np.int64),) * len(used)) if used else ()
    sizes = dict(zip(used, axes))
    meets = np.ones(shape, bool)
    for other in given:
        defined, holds = other.holds(sizes, shape)
        meets &= defined & holds
    defined, holds = condition.holds(sizes, shape)
    meets = meets & defined
    failing = np.argwhere(meets & ~holds)
    if len(failing):
        return {name: int(at) for name, at in zip(used, failing[0])}
    return bool(meets.any())


def decide(condition: Condition, given: list[Condition]) -> dict:
    """The answer of the command."""
    arguments = [part for other in given for part in ("--assume", str(other))]
    command = [os.environ.get("GRADUS", "gradus"), "dim", str(condition), *arguments, "--json"]
    return json.loads(subprocess.run(command, capture_output=True, text=True).stdout)


def main() -> None:
    """Writes the cases."""
    out, count, seed = sys.argv[1], int((sys.argv[2:] or ["10000"])[0]), int((sys.argv[3:] or ["1"])[0])
    rng = random.Random(seed)
    written, left_out = 0, 0
    with np.errstate(all="ignore"), open(out, "w", encoding="utf-8") as file:
        while written < count:
            condition, given = Condition(rng), [Condition(rng) for _ in range(rng.randrange(2))]
            found = counterexample(condition, given)
            if found is False:
                continue  # Nothing is said at any of these sizes.
            answer = decide(condition, given)
            if answer["answer"] == "unknown":
                left_out += 1
                print("not decided:", condition, *(f"given {other}" for other in given), file=sys.stderr)
                continue
            wanted = "true" if found is True else "false"
            beyond = answer["answer"] == "false" and max(answer["counterexample"].values(), default=0) > LAST
            if answer["answer"] != wanted and not beyond:
                sys.exit(f"wrong: {condition} given {[str(other) for other in given]}: {answer}, {found}")
            if beyond:
                found = answer["counterexample"]
            case = {"condition": str(condition), "assume": [str(other) for other in given], "answer": answer["answer"]}
            if found is not True:
                case["counterexample"] = found
            file.write(json.dumps(case, separators=(",", ":")) + "\n")
            written += 1
    print(f"{written} cases, {left_out} not decided")


if __name__ == "__main__":
    main()
