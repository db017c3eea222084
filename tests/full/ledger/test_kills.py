"""Processes that are killed while they ask leave one answer for every candidate."""

import sys
from pathlib import Path

import pytest

import ucvtest as uv
from tests.support.kills import MODELS, Y, answers_of_killed
from ucvtest.ledger.journal import Journal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks")


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
    for number, decisions in heard.items():
        new = uv.Losses.from_predictions(Y, {"new": MODELS[number], "old": MODELS["old"]})
        answer = uv.Ledger(path).ask(new, "new", "old")
        assert answer.stored
        assert decisions == {answer.decision}


@pytest.mark.seconds(20, reason="two processes ask for seconds")
def test_a_few_kills(tmp_path: Path) -> None:
    check(tmp_path / "gate.jsonl", 6)
