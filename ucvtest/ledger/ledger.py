"""`Ledger`: a gate that keeps a budget of errors, and publishes one bit an ask."""

import base64
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from ucvtest.common.checks import AtLeast, Level, check_format_version, check_number, named_options
from ucvtest.common.words import arg, excerpt
from ucvtest.ledger.journal import FORMAT, Journal, Line, locked
from ucvtest.ledger.rows import Rows, as_text, hidden
from ucvtest.losses.table import Losses
from ucvtest.planning.fixed_rules import McNemar
from ucvtest.stats.stakes import LEAST_LEVEL, budget_left

if TYPE_CHECKING:
    import pandas as pd

GateDecision = Literal["pass", "not shown", "spent"]

Margin = Annotated[float, AtLeast(0, 1)]
Stake = Annotated[float, AtLeast(LEAST_LEVEL, 1)]

VERSION = 1


@dataclass(frozen=True, kw_only=True)
class LedgerState:
    """The rest of a ledger. All of it follows from the answers so far.

    Parameters
    ----------
    n_obs : int
        Number of rows.
    alpha, stake : float
        The first budget, and the usual stake.
    n_asks, n_promotions : int
        Answers so far, and how many of them are a pass.
    budget : float
        The rest of `alpha`.
    level : float, optional
        Of the next ask with the usual stake; None if the ledger is closed.
    chain : str
        The hash of the last line. Whoever keeps it notices lines that were cut off the end.
    closed : bool
        Whether nothing can be asked any more.
    power : float, optional
        Of the next ask, at the difference that was passed to `Ledger.show`.
    """

    n_obs: int
    alpha: float
    stake: float
    n_asks: int
    n_promotions: int
    budget: float
    level: float | None
    chain: str
    closed: bool = False
    power: float | None = None

    @property
    def verdict(self) -> str:
        """The state in words."""
        return f"{'Closed' if self.closed else 'Open'} ledger of {self.n_obs} rows. {self._left}"

    @property
    def _left(self) -> str:
        level = "" if self.level is None else f"; next level {self.level:.3g}"
        power = "" if self.power is None else f", power {self.power:.2f}"
        return (
            f"Asks {self.n_asks}, promotions {self.n_promotions}; {self.budget:.3g} of the budget "
            f"of {self.alpha:g} left{level}{power}; chain {self.chain[:12]}."
        )

    def to_dict(self) -> dict[str, Any]:
        """A dictionary that `json.dumps` accepts, with the verdict."""
        return asdict(self) | {"verdict": self.verdict}


@dataclass(frozen=True, kw_only=True)
class GateAnswer(LedgerState):
    """One bit, and the rest of the ledger.

    Parameters
    ----------
    decision : {"pass", "not shown", "spent"}
        "spent": with any stake the level is too small for p-values, so nothing was looked at.
    claim : str
        What a pass shows.
    stored : bool
        Whether the answer was known before, and cost nothing.
    """

    decision: GateDecision
    claim: str
    stored: bool = False

    @property
    def passed(self) -> bool:
        """Whether it is a pass."""
        return self.decision == "pass"

    @property
    def verdict(self) -> str:
        """The answer in words."""
        if self.decision == "spent":
            return (
                "Spent: p-values are not known at so small levels, so nothing was looked at. "
                f"Collect new rows, and open another ledger with them. {self._left}"
            )
        words = "Pass: it is shown" if self.passed else "Not shown:"
        stored = " This answer is a stored one, at no cost." if self.stored else ""
        return f"{words} that {self.claim}.{stored} {self._left}"


class Ledger:
    r"""A promotion gate that may be asked many times on the same rows.

    Assumption: nobody but this gate has seen the labels of the rows, and no number that was
    computed from them (an accuracy, a p-value, a list of wrong rows) is known to anybody. H0 of an
    ask: the candidate is not better than the baseline; with a `margin`, it is worse than the
    current or the first baseline by this margin or more. Under this assumption the probability that
    a candidate ever passes for which H0 is true is at most `alpha`. Candidates, baselines, margins
    and stakes may be chosen in any way from earlier answers; their number does not matter.

    Parameters
    ----------
    path : path
        The file of the ledger, JSON lines. Rows have one ledger: a second one for the same rows
        would spend their budget twice, and cannot be noticed.

    Notes
    -----
    An ask stakes a share q of the budget, and is a test at the level q times the budget. A pass
    leaves q of the budget, any other answer 1 - q. This is a tree of answers, in which the budget
    of a question bounds the probability of a false pass at it or later. It needs p-values that are
    right at very small levels, for every question by itself:

    * right-or-wrong answers: McNemar's exact test; with a margin, Fay and Lumbard's (compared with
      enumerations down to 1e-10);
    * the same in clusters: sign flips of the sums of clusters, exact if the models could change
      places in every cluster. It does not notice a rare disaster that is in no cluster of these
      rows;
    * F1, precision, MCC, balanced accuracy and other metrics of two classes: exact if the models
      could change places in every row;

    Everything else is refused: the AUC, means of losses, margins with clusters or with F1. Below a
    budget of 1e-12 the ledger is spent.

    In clusters, and with F1 and its like, H0 is narrower than "not better": the models could change
    places. `alpha` is for this H0 only. Two models may have equal F1 and unlike errors, one with
    more finds and more alarms. In 1500 simulated tests of such models the level was .056 instead of
    .05, and .005 instead of .0025.

    Each line of the file has the hash of the line before. Lines that were changed, moved or taken
    out, and other rows, are refused. Lines that were cut off the end cannot be seen: keep the
    `chain` of the last answer elsewhere, such as in the log of a build. An ask is written before
    the test, and its answer before it is returned. If the process is killed between, the same
    candidate goes on with its ask, and another one makes it "not shown". Where models err is
    in the file too, hidden from all who do not have the labels.

    References
    ----------
    A. Blum, M. Hardt (2015), The Ladder: a reliable leaderboard for machine learning competitions,
    ICML. P. Nakkiran, J. Blasiok (2018), The Generic Holdout, arXiv 1809.05596. J. Feng, G.
    Pennello, N. Petrick, B. Sahiner, R. Pirracchio, A. Gossmann (2022), Sequential algorithmic
    modification with test data reuse, UAI.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import numpy as np
    >>> import ucvtest as uv
    >>> y = np.arange(400) % 2
    >>> old = np.where(np.arange(400) % 5 == 0, 1 - y, y)
    >>> new = np.where(np.arange(400) % 20 == 0, 1 - y, y)
    >>> losses = uv.Losses.from_predictions(y, {"new": new, "old": old})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     ledger = uv.Ledger(Path(folder, "gate.jsonl"))
    ...     state = ledger.open(losses, "old")
    ...     answer = ledger.ask(losses, "new")
    >>> answer.decision, answer.n_asks, round(answer.budget, 6)
    ('pass', 1, 0.0025)
    """

    def __init__(self, path: str | PathLike[str]) -> None:
        if not isinstance(path, (str, PathLike)):
            raise ValueError(f"{arg('path')} must be the name of a file, got {excerpt(path)}")
        self.path = Path(path)

    def __repr__(self) -> str:
        return f"Ledger({str(self.path)!r})"

    @named_options
    def open(
        self, losses: Losses, baseline: Any = None, *, alpha: Level = 0.05, stake: Stake = 0.05
    ) -> LedgerState:
        """Begin, once for the rows.

        Parameters
        ----------
        losses : Losses
            Predictions, or marked answers, of the model in use for rows that only this gate has.
        baseline : str or int, optional
            This model; not needed if there is no other.
        alpha : float
            The probability of ever passing a candidate for which H0 is true.
        stake : float
            The usual share of the budget that an ask stakes, at most 1. With few asks, of
            candidates that were screened on other data, 0.3 finds more.

        Returns
        -------
        LedgerState

        Raises
        ------
        ValueError
            If the file exists, or no p-value of such losses is right far out.
        """
        rows = Rows.of(losses)
        if baseline is None and len(losses.learners) > 1:
            raise ValueError(
                f"{arg('baseline')} is missing: name the model in use, one of "
                f"{', '.join(losses.learners)}"
            )
        content = rows.content(baseline or 0)
        opening: Line = {"n_obs": rows.n, "rows": rows.fingerprint, "baseline": rows.name(content)}
        with locked(self.path, new=True) as journal:
            if journal.lines:
                raise ValueError(
                    f"{self.path} exists, and rows have one ledger: go on with it, or name another "
                    "file for new rows"
                )
            kept = as_text(hidden(content, rows.key(opening), opening["baseline"]))
            opening |= {"alpha": float(alpha), "stake": float(stake), "kept": kept}
            journal.append(kind="open", format=FORMAT, version=VERSION, **opening)
            return _History(journal).state()

    @named_options
    def ask(
        self,
        losses: Losses,
        candidate: Any = 0,
        baseline: Any = None,
        *,
        margin: Margin = 0.0,
        stake: Stake | None = None,
    ) -> GateAnswer:
        """Whether a candidate may be promoted; a pass makes it the baseline.

        Parameters
        ----------
        losses : Losses
            The candidate on the rows with which the ledger was opened, in the same order.
        candidate : str or int
        baseline : str or int, optional
            The current baseline, if `losses` has it. It may be left out, as its answers are kept.
            It should not be run again: the answers of a model that differ from one run to the next
            are another model's. An older baseline is refused, because a candidate that is better
            than that one may be worse than the current one. The candidate that has just passed may
            be asked about again with the baseline before it.
        margin : float, optional
            By how much the candidate may be worse, in units of the loss. It is compared with the
            current and with the first baseline, as margins would otherwise add up. By default 0:
            the candidate has to be better.
        stake : float, optional
            The share of the budget to stake, at most 1.

        Returns
        -------
        GateAnswer
            The same predictions get the stored answer, which costs nothing.

        Raises
        ------
        ValueError
            If the question has no p-value that is right far out, rows are others, or the file was
            changed.
        """
        rows = Rows.of(losses, margin)
        new, claim = rows.content(candidate), losses.learners[losses.number_of(candidate)]
        if margin:
            claim += f" is worse by less than {margin:g} than the current and the first baseline"
        else:
            claim += " is better than the baseline"
        with locked(self.path) as journal:
            history = _History(journal)
            key = history.key(rows)
            named = None if baseline is None else rows.name(rows.content(baseline))
            question: Line = {"new": rows.name(new), "metric": rows.metric, "margin": float(margin)}
            question["old"] = history.baseline(named, question["new"])
            stored = history.stored(question)
            if stored is not None:
                return history.answer("pass" if stored else "not shown", claim, stored=True)
            history.settle(question)
            if history.pending:
                stake = history.pending["stake"]
            stake = float(stake or history.opening["stake"])
            budget = budget_left(history.opening["alpha"], history.stakes)
            if budget < LEAST_LEVEL:
                return history.answer("spent", claim)
            level = stake * budget
            if level < LEAST_LEVEL:
                # Above the least one, so that it is large enough in two digits.
                usable = min(1.0, 1.1 * LEAST_LEVEL / budget)
                raise ValueError(
                    f"{arg('stake')} must be {usable:.2g} or more, got {stake:g}: p-values are not "
                    f"known below the level {LEAST_LEVEL:g}"
                )
            if not history.pending:
                kept = as_text(hidden(new, key, question["new"]))
                journal.append(kind="ask", stake=stake, level=level, kept=kept, **question)
            passed = _History(journal).pvalue(question, rows, key) <= level
            journal.append(kind="answer", **{"pass": passed})
            return _History(journal).answer("pass" if passed else "not shown", claim)

    @named_options
    def show(self, difference: float | None = None, discordant: float | None = None) -> LedgerState:
        """The rest of the ledger: all of it follows from the answers, so it may be published.

        Parameters
        ----------
        difference : float, optional
            Of error rates: the power to find it by the next ask is shown too.
        discordant : float, optional
            The share of rows on which one of two models is right and the other wrong, for this
            power. It is known from other data, not from these rows.

        Returns
        -------
        LedgerState
        """
        if difference is not None or discordant is not None:
            check_number("discordant", discordant, low=0.0, high=1.0)
            check_number("difference", difference, low=0.0, high=discordant or 0.0)
        with locked(self.path) as journal:
            state = _History(journal).state()
        if difference is None or discordant is None or state.level is None:
            return state
        test = McNemar(discordant, math.nan, discordant, discordant)
        # The power at this level of the one-sided test is that of the two-sided test at twice it.
        power = test.power(state.n_obs, difference, 2 * state.level) if state.level else 0.0
        return replace(state, power=power)

    @named_options
    def close(self, losses: Losses) -> "pd.DataFrame":
        """End the ledger, and only then read the numbers behind its answers.

        Parameters
        ----------
        losses : Losses
            Any model on the rows with which the ledger was opened.

        Returns
        -------
        DataFrame
            A row for each ask: decision, margin, metric, level and p-value (if the metric is that
            of `losses`); error rates of candidate and baseline. Estimates of candidates that
            passed are too good, as they were chosen by these rows.
        """
        import pandas as pd

        rows = Rows.of(losses)
        with locked(self.path) as journal:
            history = _History(journal)
            key = history.key(rows)
            history.settle({})
            table = [history.numbers(line, rows, key) for line in history.answers]
            journal.append(kind="close")
        return pd.DataFrame(table, index=pd.RangeIndex(1, len(table) + 1, name="ask"))


class _History:
    """The opening, asks and answers of a journal."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.opening = journal.lines[0]
        check_format_version(str(journal.path), self.opening.get("version"), VERSION)
        self.pending: Line | None = None
        """The ask that has no answer, because a kill came between."""
        self.answers: list[Line] = []
        """The others, with their answers."""
        for line in journal.lines[1:]:
            if line["kind"] == "ask":
                self.pending = line
            elif self.pending is not None:
                self.answers.append(self.pending | {"pass": line["pass"]})
                self.pending = None

    @property
    def stakes(self) -> list[tuple[bool, float]]:
        """Answers and their stakes."""
        return [(line["pass"], line["stake"]) for line in self.answers]

    @property
    def baselines(self) -> list[str]:
        """Names of the baselines so far, the current one last."""
        return [self.opening["baseline"], *(line["new"] for line in self.answers if line["pass"])]

    @property
    def closed(self) -> bool:
        """Whether numbers are known."""
        return bool(self.journal.lines[-1]["kind"] == "close")

    def key(self, rows: Rows) -> bytes:
        """The key that hides contents; refused if the ledger is closed, or rows are others."""
        if self.closed:
            raise ValueError(
                f"{self.journal.path} is closed, as its numbers are known: open another ledger "
                "with new rows"
            )
        return rows.key(self.opening)

    def baseline(self, name: str | None, new: str) -> str:
        """The name of the baseline of an ask, which is the current one; other names are refused."""
        # A candidate that has just passed is asked about again, against the baseline of then.
        before = [baseline for baseline in self.baselines if baseline != new]
        default = [new, *before][-1]
        if name not in (None, default, self.baselines[-1]):
            raise ValueError(
                f"{arg('baseline')} has other predictions than the current baseline, which is the "
                "last candidate that passed, or the first one: leave it out, as those are kept"
            )
        return name or default

    def stored(self, question: Mapping[str, Any]) -> bool | None:
        """The answer that is known without looking at the rows."""
        for line in self.answers:
            if _is_about(line, question):
                return bool(line["pass"])
        # No model is better than itself.
        return False if question["new"] == question["old"] and not question["margin"] else None

    def settle(self, question: Mapping[str, Any]) -> None:
        """Answer an ask that a kill has ended by "not shown", unless it is this one."""
        if self.pending and not _is_about(self.pending, question):
            self.journal.append(kind="answer", killed=True, **{"pass": False})
            self.answers.append(self.pending | {"pass": False})
            self.pending = None

    def content(self, name: str, key: bytes) -> bytes:
        """Where a model errs that was a baseline, or was asked about."""
        lines = [*self.answers, *([self.pending] if self.pending else [])]
        kept = {self.opening["baseline"]: self.opening["kept"]}
        kept |= {line["new"]: line["kept"] for line in lines}
        return hidden(base64.b64decode(kept[name]), key, name)

    def pvalue(self, question: Mapping[str, Any], rows: Rows, key: bytes) -> float:
        """Of an ask; with a margin the larger one of two, so that margins do not add up."""
        new, margin = self.content(question["new"], key), question["margin"]
        baselines = {question["old"], self.baselines[0]} if margin else {question["old"]}
        return max(rows.pvalue(new, self.content(old, key), margin) for old in baselines)

    def numbers(self, line: Line, rows: Rows, key: bytes) -> dict[str, Any]:
        """The numbers of an ask, once the ledger is closed."""
        new, old = (rows.where(self.content(line[role], key)).mean() for role in ("new", "old"))
        pvalue = self.pvalue(line, rows, key) if line["metric"] == rows.metric else math.nan
        numbers = {"pvalue": pvalue, "candidate_error": float(new), "baseline_error": float(old)}
        decision = "pass" if line["pass"] else "not shown"
        asked_for = {name: line[name] for name in ("margin", "metric", "level")}
        return {"decision": decision, **asked_for, **numbers}

    def state(self) -> LedgerState:
        """The state. An ask without an answer has lost its stake, unless it is gone on with."""
        alpha, stake = self.opening["alpha"], self.opening["stake"]
        pending = [(False, self.pending["stake"])] if self.pending else []
        budget = budget_left(alpha, [*self.stakes, *pending])
        return LedgerState(
            n_obs=self.opening["n_obs"],
            alpha=alpha,
            stake=stake,
            n_asks=len(self.answers) + len(pending),
            n_promotions=len(self.baselines) - 1,
            budget=budget,
            level=None if self.closed else stake * budget,
            chain=self.journal.head,
            closed=self.closed,
        )

    def answer(self, decision: GateDecision, claim: str, *, stored: bool = False) -> GateAnswer:
        """The bit with the state."""
        return GateAnswer(**asdict(self.state()), decision=decision, claim=claim, stored=stored)


def _is_about(line: Line, question: Mapping[str, Any]) -> bool:
    """Whether an ask is this one."""
    return all(line[name] == question.get(name) for name in ("new", "old", "metric", "margin"))
