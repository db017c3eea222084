"""Files that change only when their text does, so that Sphinx builds anew what changed."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from matplotlib.figure import Figure

__all__ = ["Folder", "link", "markdown_table"]


class Folder:
    """A folder that is written to by name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)

    def text(self, name: str, text: str) -> None:
        """Write a text, unless the file holds it already."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

    def figure(self, name: str, figure: Figure) -> None:
        """Write a picture."""
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, dpi=130, bbox_inches="tight", metadata={"Software": None})

    def without_others(self, names: Iterable[str]) -> None:
        """Remove files of former builds."""
        kept = set(names)
        for path in self.path.iterdir():
            if path.is_file() and path.name not in kept:
                path.unlink()


def markdown_table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table, line by line."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(cells) + " |" for cells in lines) + "\n"


def link(test: str, text: str | None = None) -> str:
    """A link to the page of a method, by the short name of its test; "" for the page's title."""
    return f"[{test if text is None else text}](#method-{test.replace('_', '-')})"
