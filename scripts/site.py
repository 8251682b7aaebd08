"""What the documentation site adds to MkDocs: links from names in backticks, and the stubs of the compiled module.

mkdocs.yml names this file twice: as a hook of MkDocs, and as an extension of griffe, which reads the Python sources.
"""

import pathlib
import re

import griffe

ROOT = pathlib.Path(__file__).parent.parent

#: Code in a page that is a public name of the package (not gradus.toml), or a file of docs/.
_CODE = re.compile(r"<code>(gradus(?!\.toml)(?:\.\w+)+|docs/[\w/-]+\.md)(\(\))?</code>")
_SKIPPED = re.compile(r"<(a|h[1-6]|pre|svg)\b.*?</\1>", re.DOTALL)


def on_page_content(html, page, **_):
    """Makes links of names: `gradus.Model.infer` leads to the reference, `docs/fold.md` to its page."""

    def link(match):
        name, call = match.groups(default="")
        if name.startswith("docs/"):
            folder = pathlib.PurePosixPath(page.file.src_uri).parent
            depth = "../" * (len(folder.parts) + (page.file.name != "index"))
            target = name.removeprefix("docs/").removesuffix(".md")
            if not (ROOT / name).exists():
                raise FileNotFoundError(f"{page.file.src_uri}: {name} is no page")
            return f'<a href="{depth}{target}/"><code>{name}</code></a>'
        return f'<autoref identifier="{name}"><code>{name}{call}</code></autoref>'

    made, at = [], 0
    for skipped in _SKIPPED.finditer(html):
        made += [_CODE.sub(link, html[at : skipped.start()]), skipped.group()]
        at = skipped.end()
    return "".join([*made, _CODE.sub(link, html[at:])])


class Stubs(griffe.Extension):
    """Shows functions that the stubs give as overloads, by the first one, and examples."""

    def on_instance(self, *, obj, **_):
        # griffe knows examples by their plural alone.
        if not obj.is_alias and obj.docstring:
            obj.docstring.value = obj.docstring.value.replace("\nExample:\n", "\nExamples:\n")

    def on_class_members(self, *, cls, **_):
        # griffe takes the parameters of a class from its __init__.
        if "__new__" in cls.members:
            cls.set_member("__init__", cls.members["__new__"])
        # Who calls the others is the package itself.
        if "__init__" in cls.members and (not cls.docstring or "Args:\n" not in cls.docstring.value):
            cls.del_member("__init__")

    def on_module_members(self, *, mod, **_):
        for name, overloads in mod.overloads.items():
            if name not in mod.members and overloads:
                mod.set_member(name, overloads[0])
