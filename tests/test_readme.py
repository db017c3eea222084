"""The Python code of the README runs as it stands, from top to bottom."""

import re
from pathlib import Path
from typing import Any

import ucvtest as uv

README = Path(__file__).resolve().parents[1] / "README.md"


def test_python_blocks_run() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```$", README.read_text(), flags=re.M | re.S)
    assert len(blocks) >= 2
    namespace: dict[str, Any] = {}
    try:
        for block in blocks:
            exec(block, namespace)
    finally:
        uv.autolog(disable=True)
    assert namespace["result"].status == "ok"


def test_commands_of_the_readme_exist() -> None:
    makefile = README.with_name("Makefile").read_text()
    targets = set(re.findall(r"\bmake ([a-z]+)", README.read_text()))
    assert targets
    assert [target for target in targets if f"\n{target}:" not in makefile] == []
