"""``ucvtest compare``: one learner, two, or a table of several."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cache
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ucvtest.cli.errors import flag
from ucvtest.cli.files import LossName, Sample
from ucvtest.cli.names import listed_learners, listed_metrics, listed_tests
from ucvtest.cli.plan import parse_sizes
from ucvtest.cli.report import Display, check_margin
from ucvtest.data.groups import GroupWeight

if TYPE_CHECKING:
    from ucvtest.comparison.comparison import Comparison
    from ucvtest.comparison.specs import TestSpec
    from ucvtest.inference.question import DataQuestion
    from ucvtest.results.result import TestResult

AlternativeName = Literal["two-sided", "less", "greater"]
CorrectionName = Literal[
    "holm",
    "bonferroni",
    "sidak",
    "holm-sidak",
    "simes-hochberg",
    "hommel",
    "fdr_bh",
    "fdr_by",
    "simultaneous",
    "none",
]
ContrastName = Literal["difference", "ratio"]
VarianceName = Literal["auto", "midpoint", "clipped", "jackknife", "unbiased", "asymptotic", "few"]
IntervalName = Literal["auto", "wald", "stabilised", "plus_four", "hall", "hall_floor", "logit"]

RECOMMENDED = "recommended"

DESIGN = {
    "folds": "n_folds",
    "repeats": "n_repeats",
    "splits": "n_splits",
    "test_fraction": "test_fraction",
    "stratify": "stratify",
}
"""Options about designs, and what these call them."""


@dataclass(frozen=True, kw_only=True)
class Tested:
    """A hypothesis, and how p-values of several are adjusted.

    Parameters
    ----------
    null_value
        Value to test against.
    alternative
        What to show of the first minus the second: less that a loss or an error of the first is
        smaller; greater that the first is better where higher is better, as for auc, accuracy,
        marked answers and most metrics.
    correction : NAME
        How p-values of several pairs are adjusted: holm, bonferroni, sidak, holm-sidak,
        simes-hochberg, hommel, fdr_bh, fdr_by, simultaneous or none. With simultaneous, their
        intervals are adjusted too, by their correlation, and the best set is printed.
    """

    null_value: float | None = None
    alternative: AlternativeName = "two-sided"
    correction: CorrectionName = "holm"

    @property
    def adjusted(self) -> Any:
        """The correction as Python names it."""
        return None if self.correction == "none" else self.correction


@dataclass(frozen=True, kw_only=True)
class OfUStatistic:
    """Options of the test ustatistic alone.

    Parameters
    ----------
    learn_size : N|N,N,...
        Observations to learn from, for the test ustatistic; with --loss auc also one number for
        each class in sorted order, the positive class last. [default: half of them, less one]
    variance
        Variance estimate of ustatistic.
    interval
        Interval of ustatistic; for one learner the default depends on the loss.
    n_pairs : auto|exact|N
        Pairs of learning sets of ustatistic: as many as --tol needs, all there are, or a number.
    tol
        Relative Monte-Carlo error at which --n-pairs auto stops.
    max_fits
        Model fits after which --n-pairs auto stops in any case.
    """

    learn_size: str | None = None
    variance: VarianceName = "auto"
    interval: IntervalName = "auto"
    n_pairs: str = "auto"
    tol: float = 0.05
    max_fits: int | None = None


@dataclass(frozen=True, kw_only=True)
class OfDesigns:
    """Sizes of the design of a test.

    Parameters
    ----------
    folds
        Folds of tests that cross-validate, named by --test.
    repeats
        How many times these are drawn.
    splits
        Random splits of tests that have them.
    test_fraction
        Share of observations that a split tests.
    stratify
        Keep the classes in proportion.
    """

    folds: int | None = None
    repeats: int | None = None
    splits: int | None = None
    test_fraction: float | None = None
    stratify: bool | None = None


@dataclass(frozen=True, kw_only=True)
class Compare(Tested, Sample, OfUStatistic, OfDesigns, Display):
    r"""Test whether one learner is better than another on one small data set.

    Models are fitted to parts of the data and tested on the observations left out. Which test is
    run depends on the number of observations, the loss and how many learners there are: the one
    that a calibration study recommends, and a note says why. --test names another, --tests several,
    which are then fitted once for each different design. Without --other, the error of one learner
    and its confidence interval. The verdict is the first line; estimates are the first learner
    minus the second, so that a negative one favours the first (with --loss auc or --scoring a
    positive one).

    Parameters
    ----------
    learner
        First learner, for example lasso:0.08.
    other
        Second learner; repeatable, for a table of all pairs. Without it, the error of the first is
        estimated.
    test
        Which test; the names are listed above. [default: the one that is recommended for this
        number of observations, learners and loss]
    tests : recommended|NAME,NAME,...
        Several tests instead, in one table.
    baseline
        Learner with which all others are compared. [default: all pairs]
    scoring
        scikit-learn's name of a score instead of --loss, such as accuracy, f1 or r2: all numbers
        are then scores; greater is better.
    metric : NAME
        A metric that is not a mean of losses: f1, f1_macro, 'fbeta(2)', mcc, balanced_accuracy, r2
        and others, as in Python; repeatable, for a table of several that share the fits.
    null_value
        Value to test against. [default: 0 for two learners, 1 for their ratio, none for one]
    contrast
        Compare expected losses by their difference or, with ustatistic, by their ratio (squared,
        absolute and log losses), which is 1 for equal learners.
    margin
        Say whether the first learner is worse by less than this (a ratio above 1 with --contrast
        ratio); of one learner, than --null-value.
    max_seconds
        Approximate limit in seconds, for the recommended test, for a test that draws, or for
        several tests. Tests that draw use fewer draws; the printed number repeats the result.
        Designs of several tests are refused if they take longer.
    checkpoint : FOLDER
        Keep finished results of several tests or pairs of learners; after an interrupt the same
        command continues from there.
    group_weight
        Groups count the same each, or as many as their rows.
    mlflow
        Log the result to MLflow.

    Tests
    -----
    {tests}

    Learners
    --------
    lda, qda            linear and quadratic discriminant analysis
    nearest_centroid    the class with the nearest mean
    polynomial:3        polynomials of degree 3 of every feature
    gaussian_nb         naive Bayes with normal features
    knn:5               5 nearest neighbours
    ridge:1.0           ridge regression, penalty 1.0; of 0/1 labels for classes
    kernel_ridge:1.0    kernel ridge regression; 1.0,kernel=rbf: Gaussian kernel
    logistic:0.1        logistic regression, ridge penalty
    logistic, svm       names alone, also ridge, lasso, elastic_net, knn and
                        random_forest: scikit-learn's estimators with their
                        defaults (ucvtest learners)
    lasso:0.08          logistic regression, lasso penalty 0.08 as in glmnet
    elastic_net:0.1,0.5 the same, half of the penalty 0.1 being ridge
    lasso_path:50       50 lassos, penalties from 0.5 to 0.005; also ridge_path
    majority            the most frequent class: the least a learner must beat
    cox:0.1             Cox regression, for survival times: in Python and R

    Examples
    --------
    ucvtest compare colon.csv --target tumour \
        --learner lasso:0.08 --other lasso:0.5 --learn-size 26
    ucvtest compare wine.csv --target cultivar --learner lda
    ucvtest compare wine.csv --target cultivar --learner lda --other knn:5 \
        --other majority --tests recommended
    ucvtest compare wine.csv --target cultivar --learner lda --other knn:5 \
        --other majority --baseline majority --correction simultaneous
    ucvtest compare heart.csv --target died --pos-label yes --loss log \
        --learner lda --other knn:7 --groups patient_id --plot heart.png
    """

    learner: str
    other: list[str] | None = None
    test: str = ""
    tests: str | None = None
    loss: LossName | None = None
    scoring: str | None = None
    metric: list[str] | None = None
    contrast: ContrastName = "difference"
    baseline: str | None = None
    margin: float | None = None
    max_seconds: float | None = None
    checkpoint: Path | None = None
    group_weight: GroupWeight = "group"
    mlflow: bool = False

    def run(self) -> None:
        """Fit, and print what the test finds."""
        from ucvtest.learners.adapters.coerce import PATHS

        learners = [self.learner, *listed_learners(self.other or ())]
        metrics = listed_metrics(self.metric or ())
        several = len(metrics) > 1
        specs = self._specs()
        are_paths = any(name.partition(":")[0] in PATHS for name in learners)
        as_table = several or self.tests is not None or len(learners) > 2 or are_paths
        self._check(specs, learners, as_table, several)
        data = self.read()

        import ucvtest as uv
        from ucvtest.inference.arguments import Ask
        from ucvtest.metrics.scorers import chosen_loss

        if self.mlflow:
            uv.autolog()
        loss = chosen_loss(self.loss, self.scoring, metrics[0] if metrics else None)
        about = {"loss": loss, "scoring": None}
        outcome: TestResult | Comparison
        if as_table:
            about |= {"loss": None, "metric": metrics} if several else {"metric": None}
            names = signature(uv.compare).parameters
            tests = {"tests": specs or RECOMMENDED, "correction": self.adjusted}
            outcome = uv.compare(**self.arguments(names, data, learners=learners, **tests, **about))
        else:
            run = self._of_one_learner if _is_of_one_learner(specs) else self._of_one_or_two
            ask = self.arguments(Ask.__annotations__, data, **about)
            outcome = run(next(iter(specs.values()), None), learners, ask)
        self.show(outcome, self.margin)

    def _typed(self, record: type) -> dict[str, Any]:
        """Options of a record that differ from their defaults."""
        values = {field.name: getattr(self, field.name) for field in fields(record)}
        defaults = {field.name: field.default for field in fields(record)}
        return {name: value for name, value in values.items() if value != defaults[name]}

    def _specs(self) -> "dict[str, Any]":
        """The tests by name, one of a single learner as its class; none if recommended."""
        from ucvtest.comparison.specs import TestSpec, as_specs
        from ucvtest.methods.registry import TESTS

        if self.test and self.tests is not None:
            raise ValueError("--test and --tests exclude each other: list all in --tests")
        own, sizes = self._typed(OfUStatistic), self._typed(OfDesigns)
        # Options of one test name it.
        default_name = "ustatistic" if own and self.tests is None else RECOMMENDED
        names = listed_tests(self.test or self.tests or default_name)
        if len(names) == 1 and names[0] in TESTS and not TESTS[names[0]].needs.compares:
            return {names[0]: TESTS[names[0]]}
        specs = {} if names == [RECOMMENDED] else as_specs(names)
        if own and "ustatistic" not in specs:
            raise ValueError(
                f"{flag(next(iter(own)))} belongs to the test ustatistic, which is not run"
            )
        if own:
            for name, parse in PARSED.items():
                if name in own:
                    own[name] = parse(own[name])
            specs["ustatistic"] = TestSpec.of("ustatistic", own)
        if sizes and not specs:
            raise ValueError(f"{flag(next(iter(sizes)))} needs the name of a test: add --test")
        return {label: _sized(label, spec, sizes) for label, spec in specs.items()}

    def _check(
        self, specs: "dict[str, Any]", learners: Sequence[str], as_table: bool, several: bool
    ) -> None:
        """Refuse options that mean nothing together, before the file is read."""
        from ucvtest.inference.needs import Traits, refuse
        from ucvtest.methods.registry import TESTS

        single = len(learners) == 1
        check_margin(self.margin, self.alpha, 1 if self.contrast == "ratio" else 0)
        if self.margin is not None and single and self.null_value is None:
            raise ValueError("--margin compares with something: add --other, or --null-value")
        without = [TESTS[name].needs.without for name in specs if name in TESTS]
        if (
            self.margin is not None
            and without
            and all("interval" in reasons for reasons in without)
        ):
            raise ValueError(
                f"--margin needs an interval, and the test {next(iter(specs))} "
                f"{without[0]['interval']}: use another --test, such as ustatistic"
            )
        if several and single:
            raise ValueError("several --metric are for learners that are compared: add --other")
        if self.contrast == "ratio" and single:
            raise ValueError("--contrast ratio compares learners: name another in --other")
        for label, spec in specs.items():
            if isinstance(spec, type):
                self._check_of_one_learner(spec, single)
            else:
                refuse(spec.cls.needs, Traits(contrast=self.contrast), label)
        if as_table and self.null_value is not None:
            raise ValueError("--null-value is for one test of one or two learners")
        if as_table and single:
            raise ValueError(
                "--tests compares learners: name another in --other, or use --test with one test "
                "for the error of the first"
            )
        if not as_table and self.baseline is not None:
            raise ValueError(
                "--baseline does not apply: the second learner is what the first is compared with"
            )
        if not as_table and self.correction != "holm":
            raise ValueError("--correction does not apply: there is one p-value")
        if not as_table and self.checkpoint is not None:
            raise ValueError(
                "--checkpoint keeps results of several tests (--tests) or pairs of learners, but "
                "this is a single test with fast learners: leave it out"
            )

    def _check_of_one_learner(self, cls: Any, single: bool) -> None:
        """Refuse what a test that compares nothing has no argument for."""
        if not single:
            raise ValueError(f"--test {cls.method_name} is about one learner: leave out --other")
        known = {*signature(cls).parameters, *signature(cls.fit).parameters}
        for name in self._typed(Tested) | self._typed(OfUStatistic) | self._typed(OfDesigns):
            if DESIGN.get(name, name) not in {*known, "correction"}:
                own = ", which has its own" if name == "alternative" else ""
                raise ValueError(f"{flag(name)} does not apply to --test {cls.method_name}{own}")

    def _of_one_learner(
        self, cls: Any, learners: Sequence[str], ask: Mapping[str, Any]
    ) -> "TestResult":
        """The result of a test that compares nothing."""
        from ucvtest.metrics.names import as_metric

        loss, ask = ask["loss"], {**ask}
        del ask["null_value"], ask["alternative"]
        if cls.needs.only_loss is not None:
            del ask["loss"]
            if loss is not None and not as_metric(loss, has_classes=True).ranks_pairs:
                raise ValueError(
                    f"--test {cls.method_name} is about the AUC: leave out --loss and --metric"
                )
        result: TestResult = cls(learner=learners[0], **ask).fit(
            rng=self.seed, max_seconds=self.max_seconds
        )
        return result

    def _of_one_or_two(
        self, spec: "TestSpec | None", learners: Sequence[str], ask: Mapping[str, Any]
    ) -> "TestResult":
        """The result of one test, by default the one that `uv.compare` recommends."""
        from ucvtest.common.execution import Execution
        from ucvtest.comparison.budget import Budget
        from ucvtest.comparison.default import recommended
        from ucvtest.comparison.planned_tests import own_arguments
        from ucvtest.methods.registry import TESTS

        if self.null_value is None and self.contrast == "ratio":
            ask = {**ask, "null_value": 1.0}

        named = dict(zip(("learner", "other"), learners, strict=False))

        # The same question where it is arguments twice, which warns of striking rows once.
        @cache
        def question_of(cls: Any) -> "DataQuestion":
            question: DataQuestion = cls.question_of(**named, **ask)
            return question

        default, limit = None, {}
        if spec is None:
            affordable = None
            if self.max_seconds is not None:
                budget = Budget(None, self.max_seconds, Execution.of(self.seed, None, None))
                affordable = budget.affordable([(learners[0], learners[-1])])
            default = recommended(
                lambda: question_of(TESTS["ustatistic"]).data("advice"),
                len(learners),
                ask["loss"],
                affordable=affordable,
                contrast=self.contrast,
            )
            spec = default.spec
        cls = spec.cls
        if self.max_seconds is not None and (default is None or default.advice is None):
            if "max_seconds" not in signature(cls.fit).parameters:
                raise ValueError(
                    f"--max-seconds does not apply to {spec.name}, whose design fixes the number "
                    "of fits: leave it out"
                )
            limit = {"max_seconds": self.max_seconds}
        own: dict[str, Any] = {**own_arguments(cls, self.contrast), **spec.constructor}
        result: TestResult = cls.about(question_of(cls), **own).fit(
            **{**spec.fit, **limit}, rng=self.seed
        )
        return default.noted(result) if default else result


def parse_pairs(pairs: str) -> int | str:
    """What `fit` takes as n_pairs."""
    if pairs in ("auto", "exact"):
        return pairs
    try:
        return int(pairs)
    except ValueError:
        raise ValueError(
            f"--n-pairs must be auto, exact or a whole number, got {pairs!r:.60}"
        ) from None


PARSED: Mapping[str, Callable[[str], Any]] = {"learn_size": parse_sizes, "n_pairs": parse_pairs}
"""Options that are texts and no arguments as they are."""


def _is_of_one_learner(specs: Mapping[str, Any]) -> bool:
    """Whether the test is one that compares nothing."""
    return any(isinstance(spec, type) for spec in specs.values())


def _sized(label: str, spec: "TestSpec", typed_sizes: Mapping[str, Any]) -> "TestSpec":
    """The test with a design that has the sizes that options name."""
    from ucvtest.comparison.specs import TestSpec

    if not typed_sizes:
        return spec
    cls: Any = spec.cls
    design = getattr(cls, "default_design", None)
    if design is None:
        known = {*signature(cls.__init__).parameters, *signature(cls.fit).parameters}
    else:
        known = {field.name for field in fields(design)}
    has = [flag(option) for option, name in DESIGN.items() if name in known]
    for option in typed_sizes:
        if flag(option) not in has:
            raise ValueError(
                f"{flag(option)} does not apply to the test {label}: it has "
                f"{', '.join(has) or 'no such option'}"
            )
    sizes = {DESIGN[option]: value for option, value in typed_sizes.items()}
    if design is not None:
        sizes = {"design": replace(design, **sizes)}
    return TestSpec.of(spec.test, {**spec.constructor, **spec.fit, **sizes})
