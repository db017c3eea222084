"""What the README tells people to type works."""

import re
import subprocess
import sys
from pathlib import Path

from tests.support.paths import ROOT
from ucvtest.methods.registry import TESTS

README = ROOT / "README.md"
LONGEST = 150


def test_it_is_one_document() -> None:
    assert len(README.read_text().splitlines()) <= LONGEST


def test_python_code_runs_from_top_to_bottom(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), flags=re.M | re.S)
    assert len(blocks) >= 2
    code = "\n".join([*blocks, "assert result.status == 'ok', result.status"])
    finished = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stderr


def test_every_test_is_listed_with_its_page() -> None:
    rows = re.findall(
        r"^\| \[.*?\]\(docs/methods/(\w+)\.md\) .*?\| `(\w+)`", README.read_text(), re.M
    )
    assert dict(rows) == {name: cls.__name__ for name, cls in TESTS.items()}


def test_links_lead_to_files() -> None:
    targets = re.findall(r"\]\((?!https?:)([^)#\s]+)", README.read_text())
    assert [target for target in targets if not (ROOT / target).exists()] == []


def test_named_targets_exist() -> None:
    makefile = README.with_name("Makefile").read_text()
    targets = set(re.findall(r"\bmake ([a-z]+)", README.read_text()))
    assert {"demo", "test"} <= targets
    assert [target for target in targets if f"\n{target}:" not in makefile] == []
