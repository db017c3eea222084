"""llms.txt: the pages in one plain list, for programs that read in the place of people."""

import inspect
import re
from pathlib import Path

from made.files import Folder
from ucvtest.methods.registry import TESTS

FOLDERS = {
    "start": "Start",
    "choose": "Which test",
    "tutorials": "Tutorials",
    "validation": "Validation",
    "r": "R",
    "mlflow": "MLflow",
    "develop": "Development",
}

ABOUT = Path(__file__).with_suffix(".md")
"""What comes first."""


def write(extra: Folder, docs: Path) -> None:
    """The file, beside the pages."""
    parts = [ABOUT.read_text(encoding="utf-8"), "## Methods\n\n" + "\n".join(_methods())]
    for folder, title in FOLDERS.items():
        pages = sorted((docs / folder).glob("*.md"))
        pages += sorted((docs / folder / "reproductions").glob("*.md"))
        parts.append(f"## {title}\n\n" + "\n".join(_entry(docs, path) for path in pages))
    extra.text("llms.txt", "\n\n".join(part.strip() for part in parts) + "\n")


def _methods() -> list[str]:
    return [
        f"- [uv.{cls.__name__}](methods/{name}.html): {(inspect.getdoc(cls) or '').splitlines()[0]}"
        for name, cls in TESTS.items()
    ]


def _entry(docs: Path, path: Path) -> str:
    title = re.search(r"^# (.+)$", path.read_text(encoding="utf-8"), re.M)
    target = path.relative_to(docs).with_suffix(".html")
    return f"- [{title[1] if title else path.stem}]({target})"
