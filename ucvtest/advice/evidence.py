"""Rows of the calibration table about one question, and their evidence on a procedure."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import bdtr

from ucvtest.advice.calibration import FEWEST_PROBLEMS, LEAST_MEAN, WEAK, Cell, Evidence, WeakCell
from ucvtest.advice.configured_tests import PROCEDURES, Procedure
from ucvtest.common.notes import Note
from ucvtest.common.words import arg
from ucvtest.metrics.base import Metric
from ucvtest.metrics.named import named_smooth_metric
from ucvtest.metrics.recorded import known_metric
from ucvtest.metrics.smooth import SmoothMetric

REFERENCE = {False: "corrected_t", True: "corrected_t_auc"}
"""Intervals are compared with those of this procedure: for losses, and for the AUC."""

NOMINAL = 0.95
"""Coverage that intervals should have."""


@dataclass(frozen=True, eq=False)
class CellsAbout:
    """Cells of the table about one kind of question, by procedure."""

    by_name: Mapping[str, list[Cell]]
    metric: Metric
    n_obs: int
    n_learners: int

    fewest_samples: ClassVar[int] = 50
    """Cells with fewer answers are not named as weak."""

    @classmethod
    def of(
        cls, all_cells: Sequence[Cell], metric: Metric, n_obs: int, n_learners: int
    ) -> "CellsAbout":
        """Those with the same loss, or of fewer than three problems with all like it."""
        losses = {cell.loss for cell in all_cells}
        if not metric.ranks_pairs:
            problems = {cell.problem for cell in all_cells if cell.loss == metric.name}
            is_alike = not metric.counts_errors and len(problems) < FEWEST_PROBLEMS
            losses = (
                {name for name in losses if _may_have_tails(name)} if is_alike else {metric.name}
            )
        cells = [cell for cell in _of_target(all_cells, n_learners) if cell.loss in losses]
        return cls(_by_procedure(cells), metric, n_obs, n_learners)

    @property
    def estimand(self) -> str:
        """What the intervals are for, where losses alone do not tell."""
        return ""

    @property
    def has_scale(self) -> bool:
        """Whether widths of all problems are on the same scale."""
        return self.metric.counts_errors or self.metric.ranks_pairs

    def near(self, name: str) -> list[Cell]:
        """Cells of a procedure at the sample sizes next to that which was asked about."""
        cells = self.by_name.get(name, [])
        sizes = {cell.n_obs for cell in cells}
        below = sorted(size for size in sizes if size <= self.n_obs)[-1:]
        above = sorted(size for size in sizes if size >= self.n_obs)[:1]
        return [cell for cell in cells if cell.n_obs in (*below, *above)]

    def evidence(self, names: Sequence[str]) -> list[Evidence]:
        """Evidence on the procedures that fit the sample."""
        return [
            self._of_one(PROCEDURES[name], cells)
            for name in names
            if (cells := self.near(name)) and PROCEDURES[name].fits(self.n_obs)
        ]

    def remarks(self, recommended: Evidence) -> list[str]:
        """How the study differs from the call that is recommended."""
        return []

    def remarks_on_weak(self, recommended: Evidence) -> list[str]:
        """What else to know of weak cells."""
        if self.n_learners == 1 or self.has_scale:
            return []
        return [
            "Differences of losses with tails fall short; ratios "
            f"({arg('contrast', 'ratio')}) do better."
        ]

    def doubts(self, recommended: Evidence) -> list[str]:
        """Why nothing can be promised by these cells, whatever their coverage at this size."""
        return []

    def _of_one(self, procedure: Procedure, cells: list[Cell]) -> Evidence:
        coverage = _coverage(cells)
        worst_problem = min(coverage, key=lambda name: coverage[name])
        nulls = [(cell.rejected, cell.tested) for cell in cells if cell.equal]
        rejected, tested = (sum(counts) for counts in zip(*nulls, strict=True)) if nulls else (0, 0)
        sizes = tuple(sorted({cell.n_obs for cell in cells}))
        reference = self.near(REFERENCE[self.metric.ranks_pairs])
        return Evidence(
            procedure=procedure.name,
            learn_size=procedure.learn_size(self.n_obs),
            n_fits=max(cell.n_fits for cell in cells),
            sizes=sizes,
            n_problems=len(coverage),
            n_samples=sum(cell.answered for cell in cells),
            coverage=_mean(coverage),
            lowest_coverage=coverage[worst_problem],
            worst=worst_problem,
            size=rejected / tested if tested else math.nan,
            width=relative_width(cells, reference),
            expected_width=self._expected_width(cells),
            weak=self._weak(cells),
            within=sizes[0] <= self.n_obs <= sizes[-1],
        )

    def _expected_width(self, cells: list[Cell]) -> float:
        """Widths fall with the root of the number of observations."""
        if not self.has_scale:
            return math.nan
        widths = [cell.width * math.sqrt(cell.n_obs / self.n_obs) for cell in cells]
        return float(np.exp(np.mean(np.log([width for width in widths if width > 0]))))

    def _weak(self, cells: list[Cell]) -> tuple[WeakCell, ...]:
        weak_cells = [
            WeakCell(cell.problem, cell.n_obs, coverage, cell.answered)
            for cell in self._large(cells)
            if (coverage := cell.covered / cell.answered) < WEAK
        ]
        return tuple(sorted(weak_cells, key=lambda cell: cell.coverage))

    def _large(self, cells: list[Cell]) -> list[Cell]:
        """Cells with enough samples to be named if they are weak."""
        return [cell for cell in cells if cell.answered >= self.fewest_samples]


@dataclass(frozen=True, eq=False)
class CellsAboutMetric(CellsAbout):
    """Cells about a metric such as F1, or about one of its kind that was studied.

    `studied` is the metric of the cells. `alike` names the metrics that it is the worst of, if it
    is not the metric that was asked about.
    """

    metric: SmoothMetric
    studied: SmoothMetric
    alike: tuple[str, ...]

    fewest_samples: ClassVar[int] = 40
    """Most cells have 50 samples, some of them without an answer."""

    @classmethod
    def of_metric(
        cls, all_cells: Sequence[Cell], metric: SmoothMetric, n_obs: int, n_learners: int
    ) -> "CellsAboutMetric":
        """Those about the metric, or of fewer than three problems about the worst of its kind.

        Raises
        ------
        ValueError
            If no metric of its kind was studied.
        """
        by_metric: dict[str, list[Cell]] = {}
        for cell in _of_target(all_cells, n_learners):
            by_metric.setdefault(cell.loss, []).append(cell)
        studied, alike = metric, []
        if len(_coverage(by_metric.get(metric.name, []))) < FEWEST_PROBLEMS:
            all_studied = filter(None, map(named_smooth_metric, by_metric))
            alike = [other for other in all_studied if _kind(other) == _kind(metric)]
            if not alike:
                raise ValueError(
                    f"{arg('metric', metric.name)} has no advice, because nothing like it was "
                    "studied"
                )
            studied = min(alike, key=lambda other: _mean(_coverage(by_metric[other.name])))
        cells = _by_procedure(by_metric[studied.name])
        names = tuple(other.name for other in alike)
        return cls(cells, metric, n_obs, n_learners, studied, names)

    @property
    def estimand(self) -> str:
        """What the intervals are for."""
        return f" for the {self.studied.in_words}"

    @property
    def has_scale(self) -> bool:
        """Whether the metric has a largest value, and is the one that was studied."""
        return math.isfinite(self.metric.limits[1]) and not self.alike

    def remarks(self, recommended: Evidence) -> list[str]:
        """How the study differs from the call that is recommended."""
        procedure = PROCEDURES[recommended.procedure]
        if procedure.about == "rules":
            return ["The problems are fixed rules, tested on a third of n observations."]
        if "tol" in procedure.options:
            return [
                "The study made all of these fits in every sample. This call stops as soon as the "
                "variance is known well enough."
            ]
        return []

    def remarks_on_weak(self, recommended: Evidence) -> list[str]:
        """How many cells would be weak by chance."""
        answered = [cell.answered for cell in self._large(self.near(recommended.procedure))]
        # Fewer than 90% of the samples.
        most_covered = [math.ceil(WEAK * count) - 1 for count in answered]
        by_chance = float(bdtr(most_covered, answered, NOMINAL).sum())
        if by_chance < 0.5:
            return []
        return [
            f"If all {len(answered)} cells had {NOMINAL:.0%}, about {by_chance:.0f} would be below "
            f"{WEAK:.0%} by chance."
        ]

    def doubts(self, recommended: Evidence) -> list[str]:
        """Another metric was studied, or all sample sizes together fall short.

        One size alone has too few samples for a promise.
        """
        doubts: list[str] = []
        if self.alike:
            alike = ", ".join(self.alike)
            unstudied = f"{self.metric.reported_name} was not studied."
            text = (
                f"{unstudied} These numbers are about {self.studied.name}, whose intervals were "
                f"worst among {alike}."
            )
            doubts.append(Note(text, f"{unstudied} Numbers are those of {self.studied.name}."))
        overall = _mean(_coverage(self.by_name[recommended.procedure]))
        if overall < LEAST_MEAN <= recommended.coverage:
            doubts.append(
                f"Over all sample sizes studied its intervals were right in {overall:.1%} of the "
                "samples."
            )
        return doubts


def _of_target(all_cells: Sequence[Cell], n_learners: int) -> list[Cell]:
    """Cells with answers about one learner, or about a difference."""
    target = "difference" if n_learners == 2 else "error"
    return [cell for cell in all_cells if cell.target == target and cell.answered]


def _by_procedure(cells: Sequence[Cell]) -> dict[str, list[Cell]]:
    by_name: dict[str, list[Cell]] = {}
    for cell in cells:
        by_name.setdefault(cell.procedure, []).append(cell)
    return by_name


def _coverage(cells: Sequence[Cell]) -> dict[str, float]:
    """The share of intervals with the true value, by problem."""
    answered, covered = Counter[str](), Counter[str]()
    for cell in cells:
        answered[cell.problem] += cell.answered
        covered[cell.problem] += cell.covered
    return {name: covered[name] / count for name, count in answered.items()}


def _mean(coverage: Mapping[str, float]) -> float:
    return sum(coverage.values()) / len(coverage)


def _may_have_tails(name: str) -> bool:
    """Whether the table means losses of any size by this name, and no shares of errors or pairs."""
    metric = known_metric(name)
    return metric is None or (metric.is_mean and not metric.counts_errors)


def _kind(metric: SmoothMetric) -> tuple[bool, bool]:
    """Metrics of confusion matrices are alike, and so are those of survival times, and all else."""
    return metric.of_cells, metric.of_survival


def relative_width(cells: Sequence[Cell], baseline_cells: Sequence[Cell]) -> float:
    """Widths over those of other cells with the same problem and size, geometric mean."""
    widths = {(cell.problem, cell.n_obs): cell.width for cell in baseline_cells}
    ratios = [
        cell.width / widths[cell.problem, cell.n_obs]
        for cell in cells
        if widths.get((cell.problem, cell.n_obs), 0) > 0 and cell.width > 0
    ]
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan
