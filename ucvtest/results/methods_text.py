"""The analysis, in a paragraph for the methods section of a paper."""

import math
from importlib.metadata import version
from typing import Any

from ucvtest.metrics.recorded import known_metric
from ucvtest.results.citations import papers_behind
from ucvtest.results.result import TestResult
from ucvtest.stats.interval_rules import ChangedUnits

INTERVALS = {
    "binomial": "Clopper and Pearson's exact one",
    "paired binomial": "the one that agrees with the exact test (Fay and Lumbard)",
    "effective binomial": "Korn and Graubard's, with an effective number of rows",
    "wilson": "Wilson's",
    "plus four": "that of Agresti and Coull, with four observations added",
    "added observations": "Student's t with observations added (Agresti and Min)",
    "hall": "Hall's, with the skewness taken out",
    "log t": "Student's t on the scale of the logarithm",
    "logit t": "Student's t on the logit scale",
    "t on a scale": "Student's t on a scale on which the metric is nearer to normal",
    "root": "the roots of the limits of the squared metric",
    "logit t with added observations": "Student's t on the logit scale, with a quarter of a "
    "positive and of a negative observation added above all and below all",
    "stabilised t": "Student's t on the scale on which the standard error does not move with the "
    "estimate (Tibshirani)",
}
"""By the kind of a result's rule."""

LOSSES = {"zero_one": "zero-one", "auc": "AUC (no loss but a ranking)"}

SCHEMES = {
    "repeated": "repeated cross-validation",
    "bootstrap": "the bootstrap",
    "kfold": "cross-validation",
    "leave_one_out": "leave-one-out cross-validation",
}

LABELINGS = {
    "analytic": "all permutations of the labels, in closed form",
    "exact": "all different permutations of the labels",
}


def methods_text(result: TestResult) -> str:
    """The sentences that this result gives rise to, in a fixed order."""
    clusters, seed = "", result.settings.get("rng")
    if "n_groups" in result.diagnostics:
        clusters = (
            f"Observations came in {result.diagnostics['n_groups']} clusters, which were the units "
            "of counting and of learning and test sets."
        )
    seeded = f", random numbers from seed {seed}" if isinstance(seed, int) else ""
    sentences = [
        _question(result),
        _estimand(result),
        *(note for note in result.notes if note.endswith(("was left out.", "were left out."))),
        clusters,
        _resampling(result),
        _uncertainty(result),
        _hypothesis(result),
        f"Computed by ucvtest {version('ucvtest')} [@ucvtest]{seeded}.",
    ]
    return " ".join(sentence for sentence in sentences if sentence)


def _question(result: TestResult) -> str:
    settings = result.settings
    first, second = settings.get("learner"), settings.get("other")
    # As pandoc reads citations, with the keys of the BibTeX entries.
    keys = "; ".join(f"@{paper.key}" for paper in papers_behind([result]))
    cited = f" [{keys}]" if keys else ""
    method_clause = (
        f"on {result.n_obs} observations by the following method: {result.method}{cited}."
    )
    loss = settings.get("loss") or settings.get("metric")
    if loss == "accuracy" and result.better == "higher":
        measure = "accuracy"
    elif _ranks_pairs(loss) or result.better == "higher":
        measure = "AUC" if "AUC" in result.estimand else "score"
    else:
        measure = "error rate" if loss in ("zero_one", "error") else "expected loss"
    if second is None:
        return f"The {measure} of {first} was estimated {method_clause}"
    plural = {"expected loss": "expected losses", "accuracy": "accuracies"}.get(
        measure, f"{measure}s"
    )
    return f"The {plural} of {first} (first) and {second} (second) were compared {method_clause}"


def _estimand(result: TestResult) -> str:
    contrast = ""
    if result.settings.get("other") is not None:
        contrast_word = "over" if result.contrast == "ratio" else "minus"
        contrast = f" (first {contrast_word} second)"
    loss = result.settings.get("loss")
    loss_clause = ""
    if loss is not None and not _ranks_pairs(loss):
        kind = "score" if result.better == "higher" else "loss"
        loss_clause = f"; the {kind} is {LOSSES.get(loss, loss)}"
    return f"The estimand is the {result.estimand}{contrast}{loss_clause}."


def _ranks_pairs(name: Any) -> bool:
    """Whether the settings of a result name a metric that ranks, and no loss."""
    metric = known_metric(name)
    return metric is not None and metric.ranks_pairs


def _resampling(result: TestResult) -> str:
    if result.settings.get("source") == "predictions":
        return "Predictions were given, and no model was fitted."
    clauses, size = [_design(result)], result.settings.get("learn_size")
    # The size of the sample is what the estimate is about, and no set was learnt from.
    if size is not None and size != result.n_obs:
        clauses.append(f"learning-set size {_number(size)}")
    clauses = [clause for clause in clauses if clause]
    resampling_clause = f"Resampling: {', '.join(clauses)}; " if clauses else ""
    fits = f"{result.n_fits} model fit{'s' if result.n_fits != 1 else ''} in all."
    return f"{resampling_clause}{fits}"


def _design(result: TestResult) -> str:
    settings, numbers = result.settings, result.diagnostics
    if "design" in settings:
        return str(settings["design"])
    if settings.get("scheme") == "monte_carlo":
        return f"{numbers['n_repeats']} random test sets, each 1/{settings['n_folds']} of the data"
    if "scheme" in settings:
        folds = "" if settings["scheme"] == "bootstrap" else f" with {settings['n_folds']} folds"
        return f"{SCHEMES[settings['scheme']]}{folds}, {numbers['n_repeats']} repeats"
    if "n_folds" in settings:
        times = settings.get("n_repeats", 1)
        repeated = f", {times} times" if times != 1 else ""
        return f"{settings['n_folds']}-fold cross-validation{repeated}"
    if "n_permutations" in settings:
        number = settings["n_permutations"]
        n_drawn = numbers.get("n_drawn", number)
        early = (
            "" if n_drawn == number else f", of {number} at most, where a sequential test stopped"
        )
        return LABELINGS.get(number, f"{n_drawn} permutations of the labels{early}")
    if "n_pairs" in numbers:
        return f"{numbers['n_pairs']} pairs of random learning sets"
    return ""


def _uncertainty(result: TestResult) -> str:
    if math.isnan(result.se) and result.rule is None:
        return ""
    clauses = []
    variance = result.diagnostics.get("variance")
    if isinstance(variance, str):
        clauses.append(f"The variance estimate is {variance!r}")
    name = result.interval_name if result.interval_name != "interval" else "confidence interval"
    rule, interval_method = result.rule, ""
    if rule is not None:
        interval_method = INTERVALS[rule.rule.kind if isinstance(rule, ChangedUnits) else rule.kind]
        if result.reference == "normal":
            interval_method = interval_method.replace("Student's t", "normal")
    elif result.reference == "normal":
        interval_method = "normal"
    elif result.reference == "t":
        interval_method = f"Student's t with {_number(result.df)} degrees of freedom"
    if interval_method:
        clauses.append(f"the {name} is {interval_method}")
    error = result.diagnostics.get("mc_se_estimate", math.nan)
    if not math.isnan(error):
        clauses.append(f"the Monte-Carlo standard error of the estimate is {_number(error)}")
    joined_clauses = "; ".join(clauses)
    return f"{joined_clauses[:1].upper()}{joined_clauses[1:]}." if joined_clauses else ""


def _hypothesis(result: TestResult) -> str:
    if result.posterior is not None:
        rope = f" (half width {_number(result.posterior.rope)})" if result.posterior.rope else ""
        return (
            "Instead of a p-value there are posterior probabilities of the region of practical "
            f"equivalence{rope} and of its sides."
        )
    if math.isnan(result.pvalue):
        return "" if result.status == "ok" else f"There is no p-value: {result.status}."
    tested = result.null_hypothesis or f"the estimand is {_number(result.null_value)}"
    sided = {"two-sided": "two-sided", "less": "one-sided (below)", "greater": "one-sided (above)"}
    under = f", assuming {result.assumption}" if result.assumption else ""
    return f"The p-value is {sided[result.alternative]}, of the hypothesis that {tested}{under}."


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)
