"""R gives the answers of a ledger that the other doors give on the same file."""

from pathlib import Path

import pytest

from tests.support.ledgers import TABLE, answers_in_python
from tests.support.r_session import RSession

pytestmark = [pytest.mark.requires_r, pytest.mark.seconds(120, reason="a session of R")]

SCRIPT = """
    local({
      d <- read.csv("%s")
      ledger <- gate_ledger("%s")
      ledger$open(prediction_losses(d$y, d["old"]), stake = 0.2)
      answers <- list(
        ledger$ask(prediction_losses(d$y, d["same"])),
        ledger$ask(prediction_losses(d$y, d[c("old", "new")]), "new", "old"),
        ledger$ask(prediction_losses(d$y, d["best"]), 1, margin = 0.02))
      for (each in answers) cat(each$decision, sprintf("%%.17g", each$budget), "", sep = "|")
      cat(ledger$show()$n_promotions, nrow(ledger$close(prediction_losses(d$y, d["old"]))))
    })
"""


def test_the_answers_of_a_ledger(r: RSession, tmp_path: Path) -> None:
    TABLE.to_csv(tmp_path / "holdout.csv", index=False)
    told = r(SCRIPT % (tmp_path / "holdout.csv", tmp_path / "r.jsonl")).split("|")
    answers = [(told[k], float(told[k + 1])) for k in (0, 2, 4)]
    assert answers == answers_in_python(tmp_path)
    assert told[6].split() == ["2", "3"]
