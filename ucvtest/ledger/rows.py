"""The rows that a ledger is about: how it recognizes them, and p-values of questions about them.

No message has a number that depends on labels.
"""

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ucvtest.common.words import arg
from ucvtest.losses.linearised import CLASSES
from ucvtest.losses.table import Losses
from ucvtest.stats.exact import PairedCounts
from ucvtest.stats.swaps import row_swaps, sign_flips

ERRORS = "zero_one"
"""The name of right and wrong answers, from wherever they come."""

FAR_OUT = "a ledger needs p-values that are right at 1e-6, and there are none of the {}: {}"
T = "Student's t can be wrong there by a factor of hundreds"
DELONG = "DeLong's was compared with simulations down to 1e-4 only, and promotions lead below"


@dataclass(frozen=True, eq=False)
class Rows:
    """The rows of a table of losses, and where models err.

    Parameters
    ----------
    losses : Losses
    metric : str
        The name of the loss or metric.
    errors : ndarray of bool, shape (L, n)
    """

    losses: Losses
    metric: str
    errors: np.ndarray

    @classmethod
    def of(cls, losses: Losses, margin: float = 0.0) -> "Rows":
        """Read losses; refused unless p-values about them, and this margin, are right far out."""
        design, metric, values = losses.design, losses.in_losses.metric, losses.predictions
        name = losses.loss
        if design.learns or design.n_resamples > 1:
            raise ValueError(
                "a ledger is about finished models and one set of rows that they have not seen, "
                "but these models were learnt in folds: pass predictions for such rows"
            )
        if values is not None and metric.of_cells and len(losses.settings.get(CLASSES, ())) == 2:
            assert losses.target is not None
            values = np.abs(values - losses.target)
        elif metric.counts_errors:
            name, values = ERRORS, losses.in_losses.known_values
        else:
            reason = DELONG if metric.ranks_pairs else T
            raise ValueError(
                f"{FAR_OUT.format(metric.in_words, reason)}. Take right-or-wrong answers, "
                f"{arg('loss', ERRORS)}, or a metric of two classes, such as F1"
            )
        if not np.isin(values, (0, 1)).all():
            raise ValueError(
                "some predictions are undecided between two classes, which is neither right nor "
                "wrong: use a rule that decides ties"
            )
        rows = cls(losses, name, values.astype(bool))
        if rows.grouped and name != ERRORS:
            raise ValueError(
                f"{FAR_OUT.format(metric.in_words, T)} with {arg('groups')}. Take right-or-wrong "
                f"answers, {arg('loss', ERRORS)}"
            )
        if margin and (rows.grouped or name != ERRORS):
            raise ValueError(
                f"{arg('margin')} must be 0 for {'rows in groups' if rows.grouped else name}, got "
                f"{margin:g}. The exact test there is about models that are equally good: ask "
                "whether the new model is better"
            )
        return rows

    @property
    def n(self) -> int:
        """Their number."""
        return self.losses.design.n_obs

    @property
    def grouped(self) -> bool:
        """Whether a cluster has several rows."""
        groups = self.losses.groups
        return groups is not None and int(groups.max()) + 1 < self.n

    @property
    def labels(self) -> bytes:
        """The numbers of the true labels."""
        target = self.losses.target
        return b"" if target is None else bytes(target.astype("<i8").tobytes())

    @property
    def fingerprint(self) -> str:
        """The same for the same rows in the same order, with the same clusters."""
        groups = self.losses.groups if self.grouped else None
        clusters = b"" if groups is None else groups.astype("<i8").tobytes()
        return _digest(str(self.n).encode(), clusters, self.labels)

    def content(self, learner: Any) -> bytes:
        """Where a model errs."""
        return bytes(np.packbits(self.errors[self.losses.number_of(learner)]).tobytes())

    def name(self, content: bytes) -> str:
        """The same for the same answers to these rows."""
        return _digest(self.fingerprint.encode(), content)

    def key(self, opening: Mapping[str, Any]) -> bytes:
        """The key that hides contents: the labels, or the answers of the first baseline.

        Refused if the ledger was opened with other rows.
        """
        contents = map(self.content, range(len(self.errors)))
        same = [content for content in contents if self.name(content) == opening["baseline"]]
        if self.fingerprint != opening["rows"] or not (self.labels or same):
            column = "" if self.labels else ", with a column for the first baseline"
            raise ValueError(
                f"these are not the {opening['n_obs']} rows, in the same order and groups and with "
                f"the same positive class, with which the ledger was opened: pass those{column}"
            )
        return self.labels or same[0]

    def where(self, content: bytes) -> np.ndarray:
        """The errors (n,) of a model, 0 or 1."""
        bits = np.unpackbits(np.frombuffer(content, np.uint8), count=self.n)
        return np.asarray(bits.astype(int))

    def pvalue(self, new: bytes, old: bytes, margin: float) -> float:
        """Of the hypothesis that the new model is worse by the margin or more; of 0, not better."""
        first, second, losses = self.where(new), self.where(old), self.losses
        if self.metric != ERRORS:
            function, sign = losses.function_of_means, 1 if losses.greater_is_better else -1
            assert losses.target is not None
            target = losses.target.astype(int)
            labels = (np.abs(target - errors) for errors in (first, second))
            return row_swaps(lambda tables: sign * function.values(tables), target, *labels)
        if self.grouped:
            assert losses.groups is not None
            return sign_flips(np.bincount(losses.groups, second - first))
        only_first, only_second = int((first > second).sum()), int((second > first).sum())
        return PairedCounts(only_first, only_second, self.n).pvalue(margin, "less")


def hidden(content: bytes, key: bytes, name: str) -> bytes:
    """Content that cannot be read without the key; of hidden content, the content."""
    stream = hashlib.shake_256(key + name.encode()).digest(len(content))
    return bytes(byte ^ other for byte, other in zip(content, stream, strict=True))


def as_text(content: bytes) -> str:
    """Bytes in a line of JSON."""
    return base64.b64encode(content).decode()


def _digest(*parts: bytes) -> str:
    return hashlib.sha256(b"\n".join(part.hex().encode() for part in parts)).hexdigest()[:32]
