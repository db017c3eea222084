"""``ucvtest gate``: whether a new model may take the place of an old one, as an exit status."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from ucvtest.cli.errors import show_warning
from ucvtest.cli.page import as_page
from ucvtest.cli.predictions import Rules, default_test
from ucvtest.cli.report import Printed, check_margin
from ucvtest.common.notes import Note
from ucvtest.common.whole_files import write_whole

if TYPE_CHECKING:
    from ucvtest.ledger.ledger import GateDecision
    from ucvtest.results.margins import Decision
    from ucvtest.results.result import TestResult

EXIT_STATUS: "dict[Decision | GateDecision, int]" = {
    "pass": 0,
    "fail": 1,
    "undecided": 3,
    "not shown": 3,
    "spent": 4,
}
"""2 is for errors, as everywhere."""


@dataclass(frozen=True, kw_only=True)
class Gate(Rules, Printed):
    r"""Let a new model pass if it is not worse than the old one by a margin.

    Both models are fixed, and have predicted the same observations. Error rates are compared by
    McNemar's exact test, AUCs by DeLong's, other losses, and metrics such as F1, by the paired t
    test. Rows of one patient or one document are not independent: name their column in --groups, as
    many rows of few patients otherwise pass by chance. Exit status 0: the new model is noninferior.
    1: the whole interval lies beyond the margin. 3: undecided, as too few observations leave it,
    and two models whose predictions are the same. 2: an error.

    A gate on the same rows may be asked often with --ledger alone: it then prints one bit, no
    number. Exit status 0: pass. 3: not shown. 4: the ledger is spent, so collect new rows.

    Parameters
    ----------
    scores : NEW,OLD
        Columns with the predictions of both models; with --model, their names.
    margin
        By how much the new model may be worse, in units of the loss or metric; with --ledger, 0
        asks whether it is better.
    alpha
        Level of the one-sided test.
    report : FILE.html
        Write everything as one page, with the picture inside.
    ledger : LEDGER.jsonl
        The file of ucvtest ledger open. --scores may then name the new model alone, as the
        predictions of the current one are kept.
    stake
        With --ledger: the share of its budget to stake. [default: as the ledger was opened]

    Examples
    --------
    ucvtest gate holdout.csv --target died --scores new,old --margin 0.02
    ucvtest gate holdout.csv --target died --scores new,old --margin 0.05 \
        --metric mcc
    ucvtest gate visits.csv --target died --scores new,old --margin 0.05 \
        --groups patient
    ucvtest gate answers.csv --model model --item question \
        --value correct --scores new,old --loss correct --margin 0.05
    ucvtest gate holdout.csv --target days --event died --scores new,old \
        --margin 0.05 --metric harrell
    ucvtest gate holdout.csv --target died --scores new --margin 0 \
        --ledger gate.jsonl
    """

    margin: float
    alpha: float = 0.05
    report: Path | None = None
    ledger: Path | None = None
    stake: float | None = None

    def run(self) -> None:
        """Judge, and print the answer; the exit status says it too."""
        if self.ledger is not None:
            self._ask(self.ledger)
        if self.stake is not None:
            raise ValueError("--stake is for --ledger: leave it out")
        check_margin(self.margin, self.alpha)
        names = self.names
        if len(names) != 2 or names[0] == names[1]:
            raise ValueError(
                f"--scores must name two columns, as in new,old; got {self.scores!r:.60}"
            )
        losses = self.losses()

        from ucvtest import __version__
        from ucvtest.methods.registry import TESTS

        cls: Any = TESTS[default_test(losses, 2, of_folds=self.fold is not None)]
        test = cls.from_losses(losses, *names, group_weight=self.group_weight)
        result: TestResult = test.fit()
        judged = result.noninferiority(self.margin, alpha=self.alpha)
        for note in result.notes:
            if isinstance(note, Note) and note.importance > 1:
                show_warning(note)
        if self.report is not None:
            write_whole(self.report, as_page(result, 2 * self.alpha, judged.verdict))
        self.tell(
            lambda: {**judged.to_dict(), "n_obs": result.n_obs, "ucvtest": __version__},
            [judged.verdict],
            judged.summary(with_verdict=False).as_text,
        )
        raise typer.Exit(EXIT_STATUS[judged.decision])

    def _ask(self, path: Path) -> None:
        """The same with a ledger, which says one bit."""
        if self.report is not None or self.alpha != Gate.alpha or self.group_weight == "group":
            raise ValueError(
                "--report, --alpha and --group-weight group do not apply with --ledger: it has its "
                "own level, prints no number, and counts rows"
            )
        if len(self.names) > 2:
            raise ValueError(f"--scores must name one column or two, got {self.scores!r:.60}")
        from ucvtest.ledger.ledger import Ledger

        answer = Ledger(path).ask(self.losses(), *self.names, margin=self.margin, stake=self.stake)
        self.tell(answer.to_dict, [answer.verdict], lambda: f"Chain: {answer.chain}")
        raise typer.Exit(EXIT_STATUS[answer.decision])
