"""Docstrings follow one convention: Google's sections, with the parameters and the fields that there are."""

import ast
import dataclasses
import doctest
import importlib
import inspect
import os
import pathlib
import pkgutil
import re
import textwrap

import pytest

import gradus

PACKAGE = pathlib.Path(gradus.__file__).parent
STUBS = PACKAGE / "_native.pyi"

#: Columns of a docstring: `help()` indents those of methods by 8, and shows 80.
WIDTH = 72
SECTIONS = ("Args", "Attributes", "Returns", "Raises", "Example")
MODULES = ["gradus"] + sorted(
    each.name
    for each in pkgutil.walk_packages(gradus.__path__, "gradus.")
    if not any(part.startswith("_") for part in each.name.split("."))
)


def public():
    """Names and values of the public modules, and of the functions and classes that they list, with their members."""
    seen = set()
    for module in map(importlib.import_module, MODULES):
        yield module.__name__, module
        for name in getattr(module, "__all__", ()):
            value = getattr(module, name)
            if not (callable(value) or inspect.isclass(value)) or id(value) in seen:
                continue
            seen.add(id(value))
            yield f"{module.__name__}.{name}", value
            if inspect.isclass(value):
                for member, of in members(value).items():
                    of = of if is_property(of) else getattr(value, member)
                    if not member.startswith("_") and (callable(of) or is_property(of)):
                        yield f"{module.__name__}.{name}.{member}", of


def members(kind):
    """The members of a class, with those of bases that the package keeps to itself."""
    inner = [base for base in kind.__mro__ if base.__module__.startswith("gradus._")]
    return {name: of for each in [*reversed(inner), kind] for name, of in vars(each).items()}


def is_property(value):
    return isinstance(value, property) or inspect.isgetsetdescriptor(value)


def sections(text):
    """The lines of each section, and those before the first one as `""`."""
    found, title = {"": []}, ""
    for line in text.splitlines():
        if line.rstrip(":") in SECTIONS and line.endswith(":"):
            title = line[:-1]
            found[title] = []
        else:
            found[title].append(line)
    return found


def entries(lines):
    """The names of the entries of a section, in their order."""
    return [line.split(":")[0].strip() for line in lines if re.match(r" {4}\S", line)]


def parameters(value):
    """The parameters of a function or a class, with the stars of those that collect others."""
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    found = inspect.signature(value).parameters.values()
    return [stars.get(each.kind, "") + each.name for each in found if each.name not in ("self", "cls")]


def fields(kind):
    """The public attributes of a class that are set in each instance."""
    if dataclasses.is_dataclass(kind):
        return [field.name for field in dataclasses.fields(kind)]
    if hasattr(kind, "_fields"):
        return list(kind._fields)
    if issubclass(kind, BaseException):
        return ["kind", *set_in("__init__", kind)] if "__init__" in vars(kind) else []
    return set_in("__init__", kind)


def set_in(method, kind):
    """The public attributes that a method of a class in Python sets, in their order."""
    found = vars(kind).get(method)
    if not inspect.isfunction(found):
        return []
    tree = ast.parse(textwrap.dedent(inspect.getsource(found)))
    targets = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store))
    ordered = sorted(targets, key=lambda node: (node.lineno, node.col_offset))
    return list(dict.fromkeys(node.attr for node in ordered if not node.attr.startswith("_")))


def faults(name, value):
    """The rules that a docstring breaks."""
    text = inspect.cleandoc(value.__doc__ or "")
    if not text:
        return ["no docstring"]
    found = sections(text)
    summary = text.split("\n\n")[0]
    is_class, is_function = inspect.isclass(value), callable(value) and not inspect.isclass(value)
    wrong = []
    if "\n" in summary or not re.match(r"[A-Z`].*[.]$", summary):
        wrong.append(f"the summary is no sentence in one line: {summary!r}")
    wrong += [f"{len(line)} columns, expected at most {WIDTH}: {line}" for line in text.splitlines() if len(line) > WIDTH]
    if re.search(r":\w+:`|``", text):
        wrong.append("markup of Sphinx, expected Markdown")
    if [title for title in found if title] != [title for title in SECTIONS if title in found]:
        wrong.append(f"sections are {list(found)[1:]}, expected the order {SECTIONS}")
    for entry in entries(found.get("Raises", [])):
        if not re.fullmatch(r"\w+(Error|Exception)", entry):
            wrong.append(f"Raises has the entry {entry!r}, expected an exception")
    if is_function:
        given, wanted = entries(found.get("Args", [])), parameters(value)
        if given != wanted:
            wrong.append(f"Args are {given}, expected {wanted}")
        if "Example" not in found:
            wrong.append("no example")
        if "Returns" not in found and returns(name, value):
            wrong.append("no section Returns")
    if is_class:
        for member, of in members(value).items():
            shown = member.startswith("__") or not member.startswith("_")
            if shown and any(len(line) > WIDTH for line in inspect.cleandoc(of.__doc__ or "").splitlines()):
                wrong.append(f"{member} has a line of more than {WIDTH} columns")
        given, wanted = entries(found.get("Attributes", [])), fields(value)
        if given != wanted:
            wrong.append(f"Attributes are {given}, expected {wanted}")
    return wrong


def returns(name, value):
    """True if a function returns something, as its annotation says or the stubs do."""
    if hasattr(value, "__annotations__"):
        return value.__annotations__.get("return") not in (None, "None")
    stub = [node for node in ast.walk(ast.parse(STUBS.read_text())) if getattr(node, "name", "") == name.rsplit(".")[-1]]
    return any(ast.unparse(node.returns) != "None" for node in stub)


def test_docstrings_follow_the_convention():
    wrong, count = [], 0
    for name, value in public():
        count += 1
        if inspect.ismodule(value) or is_property(value):
            rules = [rule for rule in faults(name, value) if "Attributes" not in rule]
        else:
            rules = faults(name, value)
        wrong += [f"{name}: {rule}" for rule in rules]
    assert count > 200
    assert not wrong, "\n".join(wrong)


def native():
    """The functions and members of the compiled module that have docstrings, by their names in the stubs."""
    for name, value in vars(gradus._native).items():
        if name.startswith("_"):
            continue
        yield name, value
        if inspect.isclass(value):
            yield from ((f"{name}.{member}", getattr(value, member)) for member in vars(value) if not member.startswith("_"))


def test_examples_of_compiled_functions():
    runner, parser = doctest.DocTestRunner(), doctest.DocTestParser()
    for name, value in native():
        runner.run(parser.get_doctest(value.__doc__ or "", {"gradus": gradus}, name, None, 0))
    assert runner.tries > 20 and runner.failures == 0


def with_docstrings(source):
    """The stubs with the docstrings of the compiled module, which editors and the site read: the first overload has it."""
    rows, texts = source.splitlines(), {name: value.__doc__ for name, value in native() if value.__doc__}
    places = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            places.setdefault(node.name, node)
            for each in getattr(node, "body", []):
                if isinstance(each, ast.FunctionDef):
                    places.setdefault(f"{node.name}.{each.name}", each)
    for name, node in sorted(places.items(), key=lambda item: -item[1].lineno):
        if name not in texts:
            continue
        first, pad = node.body[0], " " * (node.col_offset + 4)
        quoted = inspect.cleandoc(texts[name]).splitlines()
        block = [f'{pad}"""{quoted[0]}', *((pad + line).rstrip() for line in quoted[1:])]
        block = [f'{block[0]}"""'] if len(block) == 1 else [*block, f'{pad}"""']
        has = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
        if has:
            rows[first.lineno - 1 : first.end_lineno] = block
        elif isinstance(node, ast.ClassDef):
            rows[first.lineno - 1 - len(first.decorator_list) : first.lineno - 1 - len(first.decorator_list)] = block
        else:  # The body is `...`, at the end of the signature's last line.
            line = rows[first.lineno - 1]
            rows[first.lineno - 1 : first.lineno] = [line[: first.col_offset].rstrip() + line[first.end_col_offset :], *block]
    return "\n".join(rows) + "\n"


def test_stubs_have_the_docstrings_of_the_compiled_module():
    written, wanted = STUBS.read_text(), with_docstrings(STUBS.read_text())
    if written != wanted and os.environ.get("GRADUS_WRITE_DOCUMENTS"):
        STUBS.write_text(wanted)
    elif written != wanted:
        pytest.fail("_native.pyi has other docstrings; GRADUS_WRITE_DOCUMENTS=1 writes them into the imported package")
