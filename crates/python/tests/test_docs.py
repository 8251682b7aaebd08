"""What is documented is so: docstrings, stubs, and the package's README."""

import ast
import doctest
import importlib
import importlib.util
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


def stubs():
    return ast.parse((PACKAGE / "_native.pyi").read_text())


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


def pages():
    """The pages of the site that show Python, by their path."""
    found = ((page, page.read_text()) for page in sorted((ROOT / "docs").rglob("*.md")))
    return {str(page.relative_to(ROOT)): text for page, text in found if "```pycon\n" in text}


def installed(block: str) -> bool:
    """True if the packages that a block imports are there: those of other tools may not be."""
    names = re.findall(r"^>>> (?:from|import) (.+)$", block, re.M)
    words = (each.split(" import")[0].split(" as ")[0].strip() for name in names for each in name.split(","))
    return all(importlib.util.find_spec(word.split(".")[0]) for word in words if word.isidentifier() or "." in word)


@pytest.mark.parametrize("page", pages())
def test_the_pages(page):
    runner, parser = doctest.DocTestRunner(), doctest.DocTestParser()
    blocks = re.findall(r"```pycon\n(.*?)```", pages()[page], re.DOTALL)
    names = {}
    for i, block in enumerate(filter(installed, blocks)):
        test = parser.get_doctest(block, names, f"{page} {i}", page, 0)
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.tries and runner.failures == 0
