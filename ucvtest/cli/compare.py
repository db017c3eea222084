"""``ucvtest compare``: one learner, two, or a table of several."""

from collections.abc import Sequence
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ucvtest.cli import options
from ucvtest.cli.errors import one_line_errors
from ucvtest.cli.files import as_label, read
from ucvtest.cli.report import show

if TYPE_CHECKING:
    import pandas as pd

    from ucvtest.comparison.comparison import Comparison
    from ucvtest.comparison.specs import TestSpec
    from ucvtest.results.result import TestResult


def compare(
    data: options.DataArgument,
    target: options.TargetOption,
    learner: Annotated[
        str,
        typer.Option(
            help="First learner, for example lasso:0.08.", autocompletion=options.complete_learner
        ),
    ],
    other: Annotated[
        list[str] | None,
        typer.Option(
            help="Second learner; repeatable, for a table of all pairs. Without it, the error of "
            "the first is estimated.",
            autocompletion=options.complete_learner,
        ),
    ] = None,
    test: Annotated[
        str,
        typer.Option(
            help="Which test; the names are listed below. [default: the one that is recommended "
            "for this number of observations, learners and loss]",
            autocompletion=options.complete_test,
        ),
    ] = "",
    tests: Annotated[
        str | None,
        typer.Option(
            metavar="recommended|NAME,NAME,...", help="Several tests instead, in one table."
        ),
    ] = None,
    correction: Annotated[
        options.CorrectionName,
        typer.Option(
            metavar="NAME",
            help="How p-values of several pairs are adjusted: holm, bonferroni, sidak, "
            "holm-sidak, simes-hochberg, hommel, fdr_bh, fdr_by, simultaneous or none. With "
            "simultaneous, their intervals are adjusted too, by their correlation, and the best "
            "set is printed.",
        ),
    ] = "holm",
    baseline: Annotated[
        str | None,
        typer.Option(help="Learner with which all others are compared. [default: all pairs]"),
    ] = None,
    learn_size: Annotated[
        str | None,
        typer.Option(
            metavar="N|N,N,...",
            help="Observations to learn from, for the test ustatistic; with --loss auc also one "
            "number for each class in sorted order, the positive class last. [default: half of "
            "them, less one]",
        ),
    ] = None,
    loss: options.LossOption = None,
    scoring: options.ScoringOption = None,
    metric: options.MetricsOption = None,
    pos_label: options.LabelOption = None,
    null_value: Annotated[
        float | None,
        typer.Option(
            help="Value to test against. [default: 0 for two learners, 1 for their ratio, none "
            "for one]"
        ),
    ] = None,
    contrast: Annotated[
        options.ContrastName,
        typer.Option(
            help="Compare expected losses by their difference or, with ustatistic, by their ratio "
            "(squared, absolute and log losses), which is 1 for equal learners."
        ),
    ] = "difference",
    alternative: options.AlternativeOption = "two-sided",
    margin: Annotated[
        float | None,
        typer.Option(
            help="Say whether the first learner is worse by less than this (a ratio above 1 with "
            "--contrast ratio); of one learner, than --null-value."
        ),
    ] = None,
    variance: Annotated[
        options.VarianceName, typer.Option(help="Variance estimate of ustatistic.")
    ] = "auto",
    interval: Annotated[
        options.IntervalName,
        typer.Option(
            help="Interval of ustatistic; for one learner the default depends on the loss."
        ),
    ] = "auto",
    n_pairs: Annotated[
        str,
        typer.Option(
            metavar="auto|exact|N",
            help="Pairs of learning sets of ustatistic: as many as --tol needs, all there are, or "
            "a number.",
        ),
    ] = "auto",
    tol: Annotated[
        float, typer.Option(help="Relative Monte-Carlo error at which --n-pairs auto stops.")
    ] = 0.05,
    max_fits: Annotated[
        int | None, typer.Option(help="Model fits after which --n-pairs auto stops in any case.")
    ] = None,
    max_seconds: Annotated[
        float | None,
        typer.Option(
            help=(
                "Approximate limit in seconds, for the recommended test, for a test that draws, or "
                "for several tests. Tests that draw use fewer draws; the printed number repeats "
                "the result. Designs of several tests are refused if they take longer."
            )
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help=(
                "Keep finished results of several tests or pairs of learners; after an interrupt "
                "the same command continues from there."
            ),
        ),
    ] = None,
    folds: Annotated[
        int | None, typer.Option(help="Folds of tests that cross-validate, named by --test.")
    ] = None,
    repeats: Annotated[int | None, typer.Option(help="How many times these are drawn.")] = None,
    splits: Annotated[
        int | None, typer.Option(help="Random splits of tests that have them.")
    ] = None,
    test_fraction: Annotated[
        float | None, typer.Option(help="Share of observations that a split tests.")
    ] = None,
    stratify: Annotated[
        bool | None,
        typer.Option("--stratify/--no-stratify", help="Keep the classes in proportion."),
    ] = None,
    alpha: options.AlphaOption = 0.05,
    seed: options.SeedOption = 0,
    groups: options.GroupsOption = None,
    group_weight: options.GroupWeightOption = "group",
    drop: options.DropOption = None,
    sep: options.SepOption = None,
    sheet: options.SheetOption = None,
    one_hot: options.OneHotOption = False,
    missing: options.MissingOption = "raise",
    plot: options.PlotOption = None,
    json: options.JsonOption = None,
    report: options.ReportOption = None,
    quiet: options.QuietOption = False,
    notes: options.NotesOption = False,
    methods_text: options.MethodsTextOption = False,
    mlflow: Annotated[bool, typer.Option("--mlflow", help="Log the result to MLflow.")] = False,
) -> None:
    """Test whether one learner is better than another on one small data set.

    Models are fitted to parts of the data and tested on the observations left out. Which
    test is run depends on the number of observations, the loss and how many learners there
    are: the one that a calibration study recommends, and a note says why. --test names
    another, --tests several, which are then fitted once for each different design.
    Without --other, the error of one learner and its confidence interval. The verdict is
    the first line; estimates are the first learner minus the second, so that a negative
    one favours the first (with --loss auc or --scoring a positive one).

    \b
    Tests:
    {tests}

    \b
    Learners:
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

    \b
    Examples:
      ucvtest compare colon.csv --target tumour \\
          --learner lasso:0.08 --other lasso:0.5 --learn-size 26
      ucvtest compare wine.csv --target cultivar --learner lda
      ucvtest compare wine.csv --target cultivar --learner lda --other knn:5 \\
          --other majority --tests recommended
      ucvtest compare wine.csv --target cultivar --learner lda --other knn:5 \\
          --other majority --baseline majority --correction simultaneous
      ucvtest compare heart.csv --target died --pos-label yes --loss log \\
          --learner lda --other knn:7 --groups patient_id --plot heart.png
    """  # noqa: D301  (\b is Click's mark for lines that keep their breaks)
    with one_line_errors(compare):
        options.check_options(alpha, plot, json, report)
        is_single = other is None and null_value is None
        options.check_margin(margin, alpha, contrast, is_single=is_single)
        other = None if other is None else options.listed_learners(other)
        metric = None if metric is None else options.listed_metrics(metric)
        ustatistic_options = {
            "--learn-size": options.parse_sizes(learn_size),
            "--variance": variance,
            "--interval": interval,
            "--n-pairs": options.parse_pairs(n_pairs),
            "--tol": tol,
            "--max-fits": max_fits,
        }
        metric_options = {"--loss": loss, "--scoring": scoring, "--metric": metric}
        named_twice = [option for option, name in metric_options.items() if name]
        if len(named_twice) > 1:
            raise ValueError(f"{' and '.join(named_twice)} exclude each other: pass one of them")
        several = metric is not None and len(metric) > 1
        if several and other is None:
            raise ValueError("several --metric are for learners that are compared: add --other")
        test = options.method_name(test)
        of_one_learner = options.is_of_one_learner(test)
        specs_by_label = (
            {} if of_one_learner else options.named_tests(test, tests, ustatistic_options)
        )
        if margin is not None:
            options.check_margin_of([test] if of_one_learner else specs_by_label)
        sizes = (folds, repeats, splits, test_fraction, stratify)
        specs_by_label = options.with_designs(
            specs_by_label, dict(zip(options.DESIGN_OPTIONS, sizes, strict=True))
        )
        if contrast == "ratio":
            specs_by_label = options.of_ratios(specs_by_label, learners=1 + len(other or []))
        X, y, labels = read(
            data,
            target,
            drop or [],
            groups,
            sep=sep,
            sheet=sheet,
            one_hot=one_hot,
            missing=missing,
        )

        import ucvtest as uv
        from ucvtest.learners.adapters.coerce import PATHS
        from ucvtest.metrics.scorers import chosen_loss

        if mlflow:
            uv.autolog()
        learners = [learner, *(other or [])]
        metric_or_loss = chosen_loss(loss, scoring, metric[0] if metric and not several else None)
        shared_arguments: dict[str, Any] = {
            **({"metric": metric} if several else {"loss": metric_or_loss}),
            "alternative": alternative,
            "pos_label": as_label(pos_label, y),
        }
        if contrast != "difference":
            shared_arguments["contrast"] = contrast
        if missing != "raise":
            shared_arguments["missing"] = missing
        if groups is not None:
            shared_arguments |= {"groups": labels, "group_weight": group_weight}
        elif group_weight != "group":
            raise ValueError("--group-weight does not apply without --groups")
        are_paths = any(name.partition(":")[0] in PATHS for name in learners)
        as_table = several or tests is not None or len(learners) > 2 or are_paths
        options.check_together(as_table, learners, null_value, correction, baseline)
        result_or_comparison: TestResult | Comparison
        if checkpoint is not None and not as_table:
            raise ValueError(
                "--checkpoint keeps results of several tests (--tests) or pairs of learners, but "
                "this is a single test with fast learners: leave it out"
            )
        if of_one_learner:
            result_or_comparison = _run_alone(
                test, X, y, learners, shared_arguments, seed, max_seconds
            )
        elif as_table:
            adjusted = None if correction == "none" else correction
            chosen_tests = specs_by_label or options.RECOMMENDED
            result_or_comparison = uv.compare(
                *(X, y, learners, chosen_tests),
                **shared_arguments,
                correction=adjusted,
                baseline=baseline,
                rng=seed,
                max_seconds=max_seconds,
                checkpoint=checkpoint,
            )
        else:
            result_or_comparison = _run_test(
                specs_by_label, X, y, learners, null_value, shared_arguments, seed, max_seconds
            )
        files = {"plot": plot, "json": json, "report": report}
        show(
            result_or_comparison,
            alpha,
            files,
            margin,
            quiet=quiet,
            notes=notes,
            methods_text=methods_text,
        )


def _run_alone(
    test: str,
    X: "pd.DataFrame",
    y: Any,
    learners: Sequence[str],
    shared_arguments: dict[str, Any],
    seed: int,
    max_seconds: float | None,
) -> "TestResult":
    """A test that is about one learner."""
    from ucvtest.methods.registry import TESTS
    from ucvtest.metrics.names import as_metric

    if len(learners) > 1:
        raise ValueError(f"--test {test} is about one learner: leave out --other")
    if shared_arguments["alternative"] != "two-sided":
        raise ValueError(f"--alternative does not apply to --test {test}, which has its own")
    cls: Any = TESTS[test]
    loss = shared_arguments.pop("loss")
    shared = {name: value for name, value in shared_arguments.items() if name != "alternative"}
    if cls.needs.only_loss is None:
        shared["loss"] = loss
    elif loss is not None and not as_metric(loss, has_classes=True).ranks_pairs:
        raise ValueError(f"--test {test} is about the AUC: leave out --loss and --metric")
    result: TestResult = cls(X, y, *learners, **shared).fit(rng=seed, max_seconds=max_seconds)
    return result


def _run_test(
    specs_by_label: "dict[str, TestSpec]",
    X: "pd.DataFrame",
    y: Any,
    learners: Sequence[str],
    null_value: float | None,
    shared_arguments: dict[str, Any],
    seed: int,
    max_seconds: float | None,
) -> "TestResult":
    """One test of one learner or two; all tests understand `shared_arguments`."""
    from ucvtest.common.execution import Execution
    from ucvtest.comparison.budget import Budget
    from ucvtest.comparison.default import recommended
    from ucvtest.data.missing import complete_rows
    from ucvtest.data.rows import Reported
    from ucvtest.evaluation.problem import Problem

    shared = dict(shared_arguments)
    metric_or_loss = shared.pop("loss")
    class_arguments = {"contrast": shared.pop("contrast")} if "contrast" in shared else {}
    if null_value is None and class_arguments.get("contrast") == "ratio":
        null_value = 1.0
    default, spec = None, next(iter(specs_by_label.values()), None)
    if spec is None:
        affordable = None
        if max_seconds is not None:
            pair = (learners[0], learners[-1])
            budget = Budget(None, max_seconds, Execution.of(seed, None, None))
            affordable = budget.affordable([pair])
        names = ("pos_label", "group_weight")
        of_classes = {name: shared[name] for name in names if name in shared}

        def problem() -> Problem:
            missing = shared.get("missing", "raise")
            features, response, groups, _ = complete_rows(X, y, shared.get("groups"), missing)
            # The test that is made then warns about striking rows.
            return Problem.of(
                *(Reported(features), response, list(learners)),
                loss=metric_or_loss,
                groups=groups,
                **of_classes,
            )

        default = recommended(problem, len(learners), metric_or_loss, affordable=affordable)
        spec = default.spec
    fit = dict(spec.fit)
    cls: Any = spec.cls
    if max_seconds is not None and (default is None or default.advice is None):
        if "max_seconds" not in signature(cls.fit).parameters:
            raise ValueError(
                f"--max-seconds does not apply to {spec.name}, whose design fixes the number of "
                "fits: leave it out"
            )
        fit["max_seconds"] = max_seconds
    question = cls.question_of(
        X, y, *learners, null_value=null_value, loss=metric_or_loss, **shared
    )
    hypothesis_test = cls.about(question, **class_arguments, **spec.constructor)
    result: TestResult = hypothesis_test.fit(**fit, rng=seed)
    return default.noted(result) if default else result
