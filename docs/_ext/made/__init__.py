"""What the pages show and nobody types: tables, pictures and lists, from the package itself.

`write_all` writes into ``docs/_generated``, ``docs/reference/names`` and ``docs/r/help``, which git
ignores. Pages include the parts by name.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from made.files import Folder

__all__ = ["write_all"]

ROOT = Path(__file__).resolve().parents[3]

WRITTEN = ("start", "choose", "tutorials", "validation", "mlflow", "develop")
"""Folders of pages that are written by hand alone."""


def write_all(docs: Path) -> None:
    """Write all parts, unless nothing that they are made of has changed."""
    stamp = docs / "_generated" / "made-of.txt"
    digest = _digest(_sources())
    if stamp.exists() and stamp.read_text() == digest:
        return
    # Slow imports, which a build without changes does without.
    from made import (
        advice,
        architecture,
        designs,
        gallery,
        literature,
        llms,
        methods,
        reference,
        rhelp,
        studies,
    )

    parts = Folder(docs / "_generated")
    literature.write(parts)
    methods.write(parts)
    advice.write(parts)
    designs.write(parts)
    gallery.write(parts)
    studies.write(parts, ROOT)
    architecture.write(parts, ROOT)
    reference.write(parts, Folder(docs / "reference" / "names"))
    rhelp.write(Folder(docs / "r" / "help"), ROOT)
    llms.write(Folder(parts.path / "extra"), docs)
    stamp.write_text(digest)


def _sources() -> list[Path]:
    patterns = {
        "ucvtest": ("*.py", "*.pyi", "*.csv", "*.json", "*.toml"),
        "mlflow_plugin": ("*.py",),
        "r_bridge": ("*.py", "*.Rd", "*.Rmd", "NAMESPACE"),
        "studies": ("*.csv", "calibration/*.py"),
        "docs/_ext": ("*.py", "*.md"),
        # Their titles are in llms.txt.
        **dict.fromkeys((f"docs/{folder}" for folder in WRITTEN), ("*.md",)),
    }
    found: set[Path] = {ROOT / "pyproject.toml"}
    for folder, names in patterns.items():
        for name in names:
            found |= set((ROOT / folder).rglob(name))
    return sorted(found)


def _digest(paths: Iterable[Path]) -> str:
    known = hashlib.sha256()
    for path in paths:
        known.update(str(path.relative_to(ROOT)).encode())
        known.update(path.read_bytes())
    return known.hexdigest()
