"""What is documented is so: docstrings, stubs, and the README."""

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


def test_the_readme_s_python_section():
    readme = (ROOT / "README.md").read_text()
    section = readme.split("## Python", 1)[1].split("\n## ", 1)[0]
    blocks = re.findall(r"```pycon\n(.*?)```", section, re.DOTALL)
    assert blocks
    runner, parser = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE), doctest.DocTestParser()
    names = {}
    for i, block in enumerate(blocks):
        test = parser.get_doctest(block, names, f"README {i}", "README.md", 0)
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.tries >= 10 and runner.failures == 0
