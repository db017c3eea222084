"""Processes that are killed while they ask leave one answer for every candidate."""

import sys
from pathlib import Path

import pytest

import ucvtest as uv
from tests.support.kills import MODELS, Y, answers_of_killed
from ucvtest.ledger.journal import Journal
from ucvtest.ledger.rows import Rows

pytestmark = [
    pytest.mark.skipif(sys.platform == "win32", reason="forks"),
    # Other tests may have loaded JAX, which the children do not use.
    pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called"),
]


def check(path: Path, rounds: int) -> None:
    """Every candidate that was heard of has one answer, which is that of the file."""
    losses = uv.Losses.from_predictions(Y, {"old": MODELS["old"]})
    uv.Ledger(path).open(losses, stake=0.001)
    heard = answers_of_killed(path, rounds)
    assert heard
    assert all(len(decisions) == 1 for decisions in heard.values())
    # A cut line at the end is left out; all others are whole and in order.
    journal = Journal(path)
    kinds = [line["kind"] for line in journal.lines[1:]]
    assert kinds[::2] == ["ask"] * len(kinds[::2])
    assert kinds[1::2] == ["answer"] * len(kinds[1::2])
    asked = [(line["new"], line["old"]) for line in journal.lines if line["kind"] == "ask"]
    assert len(set(asked)) == len(asked)
    in_file: dict[str, set[str]] = {}
    for (name, _), line in zip(asked, journal.lines[2::2], strict=False):
        in_file.setdefault(name, set()).add("pass" if line["pass"] else "not shown")
    for number, decisions in heard.items():
        rows = Rows.of(uv.Losses.from_predictions(Y, {"new": MODELS[number]}))
        assert decisions == in_file[rows.name(rows.content(0))]


@pytest.mark.seconds(20, reason="two processes ask for seconds")
def test_a_few_kills(tmp_path: Path) -> None:
    check(tmp_path / "gate.jsonl", 6)
