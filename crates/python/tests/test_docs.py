"""What is documented is so: docstrings, stubs, and the package's README."""

import ast
import doctest
import importlib
import inspect
import pathlib
import pkgutil
import re

import pytest
from conftest import ROOT

import gradus

MODULES = sorted(each.name for each in pkgutil.walk_packages(gradus.__path__, "gradus.") if each.name != "gradus._native")
PACKAGE = pathlib.Path(gradus.__file__).parent


@pytest.mark.parametrize("module", MODULES)
def test_examples_of_docstrings(module):
    results = doctest.testmod(importlib.import_module(module))
    assert results.failed == 0


NATIVE = ["arange", "linspace", "logspace", "geomspace"]


def stubs():
    return ast.parse((PACKAGE / "_native.pyi").read_text())


def test_examples_of_the_native_functions():
    runner, finder = doctest.DocTestRunner(), doctest.DocTestParser()
    for name in NATIVE:
        documented = getattr(gradus, name).__doc__
        for part in ("Args:", "Returns:", "Raises:", "Example:"):
            assert part in documented, (name, part)
        test = finder.get_doctest(documented, {"gradus": gradus}, name, None, 0)
        assert test.examples
        runner.run(test)
    assert runner.failures == 0


def documented():
    """The functions and methods that have documents, by their names."""
    for module in MODULES + ["gradus._native"]:
        for name, value in vars(importlib.import_module(module)).items():
            members = vars(value).items() if inspect.isclass(value) else [("", value)]
            for member, function in members:
                function = getattr(function, "__func__", function)
                if callable(function) and not name.startswith("_") and not member.startswith("_") and function.__doc__:
                    yield f"{module}.{name}.{member}".rstrip("."), function


def section(text: str, title: str) -> list[str]:
    """The entries of a section of a document: its lines that are indented once."""
    lines = inspect.cleandoc(text).splitlines()
    if f"{title}:" not in lines:
        return []
    rest = lines[lines.index(f"{title}:") + 1 :]
    body = rest[: next((i for i, line in enumerate(rest) if line and not line.startswith(" ")), len(rest))]
    return [line.strip() for line in body if re.match(r" {4}\S", line)]


def test_documents_have_an_entry_for_each_parameter_and_each_error():
    wrong, count = [], 0
    for name, function in documented():
        text = inspect.cleandoc(function.__doc__)
        if re.search(r"^(Args|Returns|Raises|Example): *\S", text, re.M) and "gradus._native" in name:
            wrong.append(f"{name}: a section begins on the line of its title")
        if any(not re.match(r"(\w+, )*\w+(Error|Exception): ", entry) for entry in section(text, "Raises")):
            wrong.append(f"{name}: Raises has an entry without an error")
        if any(re.search(r"[.;] \w+Error: ", entry) for entry in section(text, "Raises")):
            wrong.append(f"{name}: Raises has two entries in a line")
        entries = section(text, "Args")
        if not entries:
            continue
        count += 1
        named = {each.lstrip("*") for entry in entries for each in entry.partition(":")[0].split(", ")}
        taken = {each for each in inspect.signature(function).parameters if each != "self"}
        taken = taken - {"start_or_stop"} | ({"start"} if "start_or_stop" in taken else set())
        options = {each.name for each in inspect.signature(function).parameters.values() if each.kind is each.VAR_KEYWORD}
        # Some parameters are there for those who pass them to another program.
        if (taken - named and "others" not in named) or (named - taken - {"others"} and not options):
            wrong.append(f"{name}: Args are {sorted(named)}, expected {sorted(taken)}")
    assert count > 20
    assert not wrong, "\n".join(wrong)


def test_stubs_name_what_there_is():
    native = gradus._native
    stubbed = {}
    for node in stubs().body:
        if isinstance(node, ast.FunctionDef):
            stubbed[node.name] = [a.arg for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]]
        elif isinstance(node, ast.ClassDef):
            stubbed[node.name] = sorted(
                each.name for each in node.body if isinstance(each, ast.FunctionDef) and not each.name.startswith("__")
            )
        elif isinstance(node, ast.AnnAssign):
            if node.target.id == "__version__":  # The others are names of types.
                stubbed[node.target.id] = None
    public = {name for name in dir(native) if not name.startswith("__") or name == "__version__"}
    assert set(stubbed) == public
    for name in public:
        found = getattr(native, name)
        if inspect.isclass(found):
            members = sorted(each for each in vars(found) if not each.startswith("__"))
            assert stubbed[name] == members, name
        elif callable(found):
            assert stubbed[name] == list(inspect.signature(found).parameters), name


def test_the_readme():
    readme = (ROOT / "crates/python/README.md").read_text()
    blocks = re.findall(r"```pycon\n(.*?)```", readme, re.DOTALL)
    assert blocks
    runner, parser = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE), doctest.DocTestParser()
    names = {}
    for i, block in enumerate(blocks):
        test = parser.get_doctest(block, names, f"README {i}", "README.md", 0)
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.tries >= 10 and runner.failures == 0
