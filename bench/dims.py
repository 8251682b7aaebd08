"""dims.py CASES [--every N] [--engines gradus,sympy,…]: what engines of symbolic dimensions answer to conditions of sizes.

CASES is crates/dims/tests/cases.jsonl; --every takes each Nth case. An engine that is not installed is left out, but for
Gradus, whose command GRADUS names. Printed is a table of Markdown: of the cases that hold, and of those that fail, the
share that an engine answers so; wrong answers; and the seconds of processors that it takes. Packages:

    pip install sympy onnx-shape-inference onnxruntime

SymPy gets symbols that are integers from 0 on, and its answer is the truth value of the simplified relation, or the sign
of the simplified difference. What is assumed cannot be told to it, nor to the two that stand on it: an answer without it is
one with it. onnx-shape-inference knows whether two dimensions are equal: what its simplification makes one expression.
ONNX Runtime's script compares expressions by SymPy's truth values of `x <= y` and its forms, and for equality by the simplified difference.
An engine that takes more than --seconds for a case does not answer it.
"""

import argparse
import importlib.metadata
import json
import operator
import os
import re
import resource
import signal
import subprocess

SIGN = re.compile(r"^(.*?) (==|!=|<=|>=|<|>) (.*)$")
SIGNS = {"==": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge, "<": operator.lt, ">": operator.gt}
# Signs of the difference of both sides by which a relation is decided, each with the answer.
DIFFERENCES = {
    "==": [("is_zero", True, "true"), ("is_zero", False, "false")],
    "!=": [("is_zero", False, "true"), ("is_zero", True, "false")],
    "<=": [("is_nonpositive", True, "true"), ("is_positive", True, "false")],
    ">=": [("is_nonnegative", True, "true"), ("is_negative", True, "false")],
    "<": [("is_negative", True, "true"), ("is_nonnegative", True, "false")],
    ">": [("is_positive", True, "true"), ("is_nonpositive", True, "false")],
}


class OutOfTime(Exception):
    """A case takes too long."""


def out_of_time(*_):
    raise OutOfTime


def gradus():
    """The command, asked case by case."""
    command = os.environ.get("GRADUS", "gradus")

    def answer(case):
        assume = [part for condition in case["assume"] for part in ("--assume", condition)]
        found = subprocess.run([command, "dim", case["condition"], *assume, "--json"], capture_output=True, text=True)
        return json.loads(found.stdout)["answer"]

    version = subprocess.run([command, "--version"], capture_output=True, text=True).stdout.split()[1]
    return f"Gradus {version}", answer


def expressions(sympy, condition):
    """Both sides and the sign between them, with symbols that are integers from 0 on."""
    symbols = {name: sympy.Symbol(name, integer=True, nonnegative=True) for name in "abcd"}
    left, sign, right = SIGN.match(condition).groups()
    names = {**symbols, "min": sympy.Min, "max": sympy.Max}
    return sympy.sympify(left, locals=names), sign, sympy.sympify(right, locals=names)


def truth(sympy, relation):
    """The answer that a relation is, if it is one."""
    return {True: "true", False: "false"}.get(bool(relation)) if relation in (sympy.true, sympy.false) else None


def sympy_engine():
    """SymPy, by its simplification and its assumptions."""
    import sympy

    made = {"==": sympy.Eq, "!=": sympy.Ne, "<=": sympy.Le, ">=": sympy.Ge, "<": sympy.Lt, ">": sympy.Gt}

    def answer(case):
        left, sign, right = expressions(sympy, case["condition"])
        relation = made[sign](left, right)
        found = truth(sympy, relation) or truth(sympy, sympy.simplify(relation))
        if found is None:
            difference = sympy.simplify(left - right)
            signs = (text for name, wanted, text in DIFFERENCES[sign] if getattr(difference, name) is wanted)
            found = next(signs, None)
        return found or "unknown"

    return f"SymPy {sympy.__version__}", answer


def onnx_shape_inference():
    """The equality of two dimensions of onnx-shape-inference."""
    from onnx_shape_inference import _symbolic_shapes as engine

    def answer(case):
        left, sign, right = SIGN.match(case["condition"]).groups()
        if sign not in ("==", "!="):
            return "unknown"
        left, right = (engine.parse_symbolic_expression(side) for side in (left, right))
        difference = engine.simplify_expression(left - right)
        if not difference.is_number:
            return "unknown"
        return "true" if (difference == 0) == (sign == "==") else "false"

    return f"onnx-shape-inference {importlib.metadata.version('onnx-shape-inference')}", answer


def onnxruntime_script():
    """The comparisons of symbolic_shape_infer.py."""
    import sympy

    def holds(forms):
        for form in forms:
            try:
                return bool(form())
            except TypeError:
                continue
        return None

    def less_equal(x, y):
        return holds([lambda: x <= y, lambda: y >= x, lambda: -x >= -y, lambda: -y <= -x, lambda: y - x >= 0])

    def answer(case):
        left, sign, right = expressions(sympy, case["condition"])
        if sign in ("==", "!="):
            difference = sympy.simplify(left - right)
            found = difference == 0 if difference.is_number else None
        else:
            found = less_equal(left, right) if sign in ("<=", ">") else less_equal(right, left)
        if found is None:
            return "unknown"
        return "true" if found == (sign in ("==", "<=", ">=")) else "false"

    return f"symbolic_shape_infer of ONNX Runtime {importlib.metadata.version('onnxruntime')}", answer


ENGINES = {
    "gradus": gradus,
    "sympy": sympy_engine,
    "onnx-shape-inference": onnx_shape_inference,
    "onnxruntime": onnxruntime_script,
}


def seconds() -> float:
    """Seconds of processors until now, those of commands too."""
    own, commands = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + commands.ru_utime + commands.ru_stime


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--engines", default=",".join(ENGINES))
    parser.add_argument("--seconds", type=float, default=1)
    args = parser.parse_args()
    with open(args.cases, encoding="utf-8") as lines:
        cases = [json.loads(line) for line in list(lines)[:: args.every]]
    signal.signal(signal.SIGALRM, out_of_time)
    total = {answer: sum(case["answer"] == answer for case in cases) for answer in ("true", "false")}
    print(f"{len(cases)} cases: {total['true']} hold, {total['false']} fail\n")
    print("| engine | true, proved | false, told | wrong | seconds |\n|---|---|---|---|---|")
    for name in args.engines.split(","):
        try:
            title, answer = ENGINES[name]()
        except ImportError:
            continue
        right, wrong, begin = {"true": 0, "false": 0}, 0, seconds()
        for case in cases:
            signal.setitimer(signal.ITIMER_REAL, args.seconds)
            try:
                found = answer(case)
            except OutOfTime:
                found = "unknown"
            except Exception:  # An engine that fails does not answer.
                found = "unknown"
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if found == case["answer"]:
                right[found] += 1
            elif found != "unknown":
                wrong += 1
        shares = (f"{100 * right[of] / max(total[of], 1):.1f} %" for of in ("true", "false"))
        print(f"| {title} | {' | '.join(shares)} | {wrong} | {seconds() - begin:.0f} |", flush=True)


if __name__ == "__main__":
    main()
