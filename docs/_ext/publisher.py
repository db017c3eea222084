"""Where the source is published: one address for "edit", "source" and the link in the head.

It is the entry ``Source`` of ``[project.urls]`` in pyproject.toml, or the environment variable
``UCVTEST_SOURCE``, which the workflow of the pages sets to the repository that builds them. Without
either, pages have no such links.
"""

import importlib
import inspect
import os
import tomllib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sphinx.application import Sphinx

BRANCH = "main"
MADE = ("reference/names/", "r/help/")
"""Pages that are made of the package cannot be edited."""


class Publisher:
    """The settings of Sphinx and its theme that depend on the address."""

    def __init__(self, root: Path) -> None:
        self._root = root

    @cached_property
    def address(self) -> str:
        """Of the repository, without a slash at its end; "" if nobody has published it."""
        project = tomllib.loads((self._root / "pyproject.toml").read_text())["project"]
        named = os.environ.get("UCVTEST_SOURCE") or project.get("urls", {}).get("Source", "")
        return named.rstrip("/")

    @property
    def extensions(self) -> list[str]:
        """Sphinx' extension that makes the links to the source, and this module."""
        return ["sphinx.ext.linkcode", "publisher"] if self.address else []

    @property
    def theme_options(self) -> dict[str, Any]:
        """Options of the theme."""
        if not self.address:
            return {"secondary_sidebar_items": ["page-toc"]}
        icon = {"name": "Source", "url": self.address, "icon": "fa-solid fa-code"}
        return {
            "icon_links": [icon],
            "use_edit_page_button": True,
            "secondary_sidebar_items": ["page-toc"],
            # At the end: a sidebar for "edit" alone would narrow pages without a list of headings.
            "article_footer_items": ["edit-this-page", "prev-next"],
        }

    @property
    def html_context(self) -> dict[str, str]:
        """What the theme makes the address of "edit" of."""
        if not self.address:
            return {}
        template = f"{self.address}/edit/{BRANCH}/docs/{{{{ file_name }}}}"
        return {"edit_page_url_template": template}

    def source_of(self, domain: str, info: dict[str, str]) -> str | None:
        """Where an object of Python is defined; None if it has no lines of its own."""
        if domain != "py" or not info["module"]:
            return None
        value: Any = importlib.import_module(info["module"])
        for name in info["fullname"].split("."):
            value = getattr(value, name, None)
        if isinstance(value, property):
            value = value.fget
        try:
            path = Path(inspect.getsourcefile(inspect.unwrap(value)) or "").resolve()
            lines, first = inspect.getsourcelines(inspect.unwrap(value))
            place = path.relative_to(self._root)
        except (TypeError, OSError, ValueError):
            return None
        last = first + len(lines) - 1
        return f"{self.address}/blob/{BRANCH}/{place}#L{first}-L{last}"


def without_edit(
    _app: "Sphinx", page: str, _template: str, context: dict[str, Any], _doctree: Any
) -> None:
    """Take "edit" from pages that are made of the package."""
    if page.startswith(MADE):
        context["theme_use_edit_page_button"] = False


def setup(app: "Sphinx") -> dict[str, bool]:
    """Tell Sphinx of it."""
    app.connect("html-page-context", without_edit)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
