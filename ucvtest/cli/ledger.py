"""``ucvtest ledger``: the file of a gate that may be asked often on the same rows."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ucvtest.cli.predictions import Rules
from ucvtest.cli.report import Printed

if TYPE_CHECKING:
    from ucvtest.ledger.ledger import Ledger


@dataclass(frozen=True, kw_only=True)
class _OfFile(Printed):
    """A ledger in a file.

    Parameters
    ----------
    path : LEDGER.jsonl
        The file of the ledger.
    """

    path: Path

    @property
    def _ledger(self) -> "Ledger":
        from ucvtest.ledger.ledger import Ledger

        return Ledger(self.path)


@dataclass(frozen=True, kw_only=True)
class Open(_OfFile, Rules):
    r"""Begin a ledger, once for rows whose true values nobody but the gate has.

    --scores names the column of the model in use. From then on ucvtest gate --ledger answers with
    one bit, and the probability of ever passing a model that is not better (or that is worse by the
    margin) is at most --alpha, however many are asked about.

    Parameters
    ----------
    alpha
        The probability of ever passing a model that should not pass.
    stake
        The share of the budget that an ask stakes.

    Examples
    --------
    ucvtest ledger open gate.jsonl holdout.csv --target died --scores old
    """

    alpha: float = 0.05
    stake: float = 0.05

    def run(self) -> None:
        """Write the first line."""
        if len(self.names) > 1:
            raise ValueError(f"--scores must name the model in use alone, got {self.scores!r:.60}")
        state = self._ledger.open(self.losses(), alpha=self.alpha, stake=self.stake)
        self.tell(state.to_dict, [state.verdict], lambda: f"Chain: {state.chain}")


@dataclass(frozen=True, kw_only=True)
class Show(_OfFile):
    r"""Print the rest of a ledger: asks, promotions, budget, next level.

    All of it follows from the answers, so it may be published.

    Parameters
    ----------
    difference
        Print the power to find this difference of error rates by the next ask too.
    discordant
        With --difference: the share of rows on which one model is right and the other wrong, as
        known from other data.

    Examples
    --------
    ucvtest ledger show gate.jsonl --difference 0.05 --discordant 0.15
    """

    difference: float | None = None
    discordant: float | None = None

    def run(self) -> None:
        """Print it."""
        state = self._ledger.show(self.difference, self.discordant)
        self.tell(state.to_dict, [state.verdict], lambda: f"Chain: {state.chain}")


@dataclass(frozen=True, kw_only=True)
class Close(_OfFile, Rules):
    r"""End a ledger, and print the numbers behind its answers.

    Nothing can be asked afterwards. --scores names the column of any model.

    Examples
    --------
    ucvtest ledger close gate.jsonl holdout.csv --target died --scores old
    """

    def run(self) -> None:
        """Print the table."""
        table = self._ledger.close(self.losses())
        rows = json.loads(table.to_json(orient="records"))
        self.tell(lambda: {"asks": rows}, ["The ledger is closed."], table.to_string)


LEDGER_COMMANDS = {"open": Open, "show": Show, "close": Close}
