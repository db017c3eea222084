"""What the README tells people to type works."""

import re
import subprocess
import sys
from pathlib import Path

import ucvtest as uv
from tests.support.paths import ROOT
from ucvtest.learners.adapters.coerce import SHORT_NAMES

README = ROOT / "README.md"


def test_python_code_runs_from_top_to_bottom(tmp_path: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), flags=re.M | re.S)
    assert len(blocks) >= 2
    code = "\n".join([*blocks, "assert result.status == 'ok', result.status"])
    finished = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True
    )
    assert finished.returncode == 0, finished.stderr


def test_every_learner_is_listed() -> None:
    listed = re.findall(r"^\| `(\w+)[:\d.,]*` \| `uv\.learners\.", README.read_text(), flags=re.M)
    assert sorted(listed) == sorted(SHORT_NAMES)


def test_designs_that_tests_admit_are_listed() -> None:
    public = {name: getattr(uv, name) for name in uv.__all__}
    admits = {name: each.admits for name, each in public.items() if hasattr(each, "admits")}
    rows = re.findall(r"^\| `(\w+)` \| ([^|]*) \|$", README.read_text(), flags=re.M)
    assert dict(rows) == admits


def test_named_targets_exist() -> None:
    makefile = README.with_name("Makefile").read_text()
    targets = set(re.findall(r"\bmake ([a-z]+)", README.read_text()))
    assert {"demo", "test"} <= targets
    assert [target for target in targets if f"\n{target}:" not in makefile] == []
