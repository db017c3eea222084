"""Eighty rounds of kills."""

import sys
from pathlib import Path

import pytest

from tests.full.ledger.test_kills import check

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="forks"),
    # Other tests may have loaded JAX, which the children do not use.
    pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called"),
]


@pytest.mark.seconds(200, reason="two processes ask in eighty rounds")
def test_eighty_rounds(tmp_path: Path) -> None:
    check(tmp_path / "gate.jsonl", 80)
