"""What pages and docstrings say of the committed studies is what their tables contain."""

import math

import pandas as pd
import pytest

import ucvtest as uv
from tests.support.paths import ROOT
from ucvtest.methods.ustatistic.interval import R2_IS_SHORT


def table(name: str) -> pd.DataFrame:
    return pd.read_csv(ROOT / "studies" / f"{name}.csv")


def share(cells: pd.DataFrame) -> float:
    """The percentage of the answers of all cells that contain the true value."""
    return float((cells["coverage"] * cells["answered"]).sum() / cells["answered"].sum())


def least(n: int) -> float:
    """95% less 2.5 binomial standard errors."""
    return 0.95 - 2.5 * math.sqrt(0.95 * 0.05 / n)


def test_simultaneous_intervals_and_best_sets_hold_together() -> None:
    cells = table("intervals/many_learners")
    many, few = cells[cells["pairs"] == 400], cells[cells["pairs"] == 10]
    assert len(many) == 18
    assert (many["joint coverage"] >= least(500)).all()
    assert (many["best in set"] >= least(500)).all()
    assert (many["no answer"] == 0).all()
    assert (many["contradicted"] == 0).all()
    assert few["data sets"].sum() == 1200
    page = (ROOT / "docs" / "validation" / "studies-intervals.md").read_text(encoding="utf-8")
    mean, worst = few["joint coverage"].mean(), few["joint coverage"].min()
    text = " ".join(page.split())
    assert f"data sets this is {mean:.1%}" in text
    assert f"and {worst:.1%} in the worst setting" in text


def test_metrics_in_the_ustatistic_test_are_covered_as_pages_say() -> None:
    cells = table("intervals/metrics_of_learners")
    page, method, limits = (
        " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())
        for name in (
            "validation/studies-intervals.md",
            "methods/ustatistic-metrics.md",
            "validation/limitations.md",
        )
    )
    of_classes = ["f1", "mcc", "balanced_accuracy"]
    docstring = " ".join(str(uv.UStatisticTest.__doc__).split())

    def covered(metrics: list[str], target: str) -> tuple[list[str], float]:
        rows = cells[cells["metric"].isin(metrics) & (cells["target"] == target)]
        worst = min(share(part) for _, part in rows.groupby(["metric", "fits", "problem"]))
        return [f"{share(part):.1f}" for _, part in rows.groupby("fits")], worst

    for words, metrics, target in (
        ("F1, MCC, balanced accuracy of one learner", of_classes, "one"),
        ("their differences", of_classes, "difference"),
        ("R2 of one learner", ["r2"], "one"),
        ("RMSE of one learner", ["rmse"], "one"),
        ("differences of R2 and RMSE", ["r2", "rmse"], "difference"),
    ):
        (few, many), worst = covered(metrics, target)
        assert f"| {words} | {few} | {many} | {worst:.1f} |" in page
        assert f"{few}% and {many}%" in method
        if "RMSE" not in words:
            assert f"{few}% and {many}%" in docstring
        if metrics == of_classes:
            assert f"({worst:.0f}% in the worst problem)" in method or f"({worst:.0f}%)" in method
    for metric, n_problems in (("f1", 32), ("r2", 6)):
        rows = cells[(cells["metric"] == metric) & (cells["target"] == "one")]
        assert rows["problem"].nunique() == n_problems
        assert f"({rows.groupby('fits')['samples'].sum().unique().item()} samples)" in page
    r2 = cells[(cells["metric"] == "r2") & (cells["target"] == "one")]
    of_r2 = f"{share(r2):.0f}% of"
    assert of_r2 in limits
    assert of_r2 in R2_IS_SHORT
    ridge = r2[r2["problem"] == "ridge"]
    assert f"`ridge`, has {share(ridge):.1f}%" in page
    classes_of_one = cells[cells["metric"].isin(of_classes) & (cells["target"] == "one")]
    too_low = -(classes_of_one["bias"] / classes_of_one["sd"]).mean()
    assert f"too low: by {too_low:.2f}".replace("0.", ".") in page
    # Metrics of labels hold their level in each size.
    answers = cells[cells["metric"].isin(of_classes)]
    for _, part in answers.groupby(["metric", "target", "fits", "n"]):
        assert share(part) >= 100 * least(1400)


def test_concordances_of_learners_are_covered_as_the_page_says() -> None:
    found = table("intervals/concordance_of_learners_in_short")
    page = (ROOT / "docs" / "validation" / "studies-intervals.md").read_text(encoding="utf-8")
    text = " ".join(page.split())
    numbers = found.groupby(["test", "target"])["samples"].sum()
    assert f"Over all {numbers.unique().item()} samples" in text
    cells = table("intervals/concordance_of_learners")

    of_target = {key: share(part) for key, part in cells.groupby("target")}
    assert min(of_target.values()) >= 93
    words = "{one:.1f}% of the intervals of one learner and {difference:.1f}%"
    assert words.format(**of_target) in text
    for test, part in cells.groupby("test"):
        one, two = (share(part[part["target"] == target]) for target in ("one", "difference"))
        assert f"| `{test}` | {one:.1f}% | {two:.1f}% |" in text
    weak = found.loc[found["coverage"].idxmin()]
    assert f"The lowest cell over all problems has {weak['coverage']}% ({weak['mc_se']})" in text
    assert f"of a single problem has {found['worst'].min()}%" in text


def test_every_problem_that_misses_has_its_reason() -> None:
    found = table("planning/problems").merge(table("planning/reasons"), on="problem")
    misses = ~found["se"].between(0.9, 1.15) | (found["se_within"] < 0.75)
    assert (found["why"].notna() == misses).all()


def test_the_documentation_of_plan_has_the_numbers_of_its_study() -> None:
    found, text = table("planning/problems"), " ".join(str(uv.plan.__doc__).split())
    right = found["se"].between(0.9, 1.15)
    for use, words in (
        ("chosen on", "{} of the {} problems that were used to choose the rule"),
        ("held out", "{} of {} that were not used for any choice"),
        ("fresh", "{} of {} new ones"),
    ):
        part = right[found["use"] == use]
        assert words.format(part.sum(), len(part)) in text
    assert f"{found['se_within'].mean():.0%} of single pilots" in text


@pytest.mark.parametrize("name", ["planning/planning", "planning/problems"])
def test_the_study_of_planning_has_its_problems(name: str) -> None:
    assert set(table(name)["use"]) == {"chosen on", "held out", "fresh"}
    assert table(name)["problem"].nunique() == 27


def test_the_page_on_folds_has_the_numbers_of_aucs_near_one() -> None:
    found = table("intervals/cv_auc")
    assert (found["samples"] == 1000).all()
    near = found[(found["n"] == 40) & (found["auc"] == 0.96)]
    near = near[near["test"] == "cross_validation_wald"].set_index(["target", "repeats"])
    page = " ".join((ROOT / "docs/methods/cross_validation_wald.md").read_text().split())

    def whole(name: str, *cell: object) -> list[int]:
        values = near.loc[cell, name]
        values = 100 - values / 10 if name == "answered" else values
        return [round(value) for value in sorted(values)]

    assert whole("answered", "one", 1) == whole("answered", "one", 5) == [0, 0]
    assert set(whole("of_these_rules", "one", 1) + whole("of_these_rules", "one", 5)) <= {99, 100}
    assert "intervals contained the true value in 99% for one AUC" in page
    once, repeated = whole("answered", "difference", 1), whole("answered", "difference", 5)
    assert f"in {once[0]}% of the samples with 5 folds and in {once[1]}% with 10" in page
    others = "contained the true value in {} and {}% of the others"
    assert others.format(*whole("of_these_rules", "difference", 1)) in page
    told = f"With five repeats there was no answer in {repeated[0]} and {repeated[1]}%"
    assert told in page
    assert whole("of_these_rules", "difference", 5) == [98, 98]
    assert "the true value was contained in 98%" in page


def test_intervals_of_out_of_fold_aucs_hold_where_there_are_answers() -> None:
    found = table("intervals/cv_auc")
    ours = found[found["test"] == "cross_validation_wald"]
    assert (ours["of_these_rules"] >= 93).all()
    one = ours[ours["target"] == "one"]
    assert (one["of_these_rules"] >= 95).all()
    assert (one["answered"] == one["samples"]).all()


def test_the_page_on_metrics_has_the_numbers_of_fixed_rules() -> None:
    found = table("intervals/metrics_of_rules")
    assert (found["samples"] >= 594).all()
    page = (ROOT / "docs" / "choose" / "metrics.md").read_text(encoding="utf-8")
    several, numbers = ("three", "five", "eight_uneven"), ("normal", "tailed", "skewed")
    clusters = tuple(f"clusters_{number}" for number in (10, 20, 50))
    of_two = tuple({*found["problem"]} - {*several, *numbers, *clusters})
    for line, problems in {
        "two classes | 30 to 200": of_two,
        "numbers | 30 to 200": numbers,
        "clusters of six rows | 60 to 300": clusters,
    }.items():
        cells = found[found["problem"].isin(problems) & (found["rarest"] >= 5)]
        told = []
        for target in ("one", "difference"):
            covered = cells.loc[cells["target"] == target, "coverage"]
            assert covered.min() >= 92
            told.append(f"{covered.mean():.1f}%, {covered.min():.1f}%")
        assert f"{line} | {' | '.join(told)} |" in page
    apart = found[found["problem"].isin(several) & (found["rarest"] >= 5)]
    covered = apart["coverage"]
    assert set(apart["target"]) == {"difference"}
    assert f" | {covered.mean():.1f}%, {covered.min():.1f}% |\n| of numbers" in page


def test_the_page_on_folds_has_the_numbers_of_metrics() -> None:
    found = table("intervals/metrics_of_folds")
    page = (ROOT / "docs" / "methods" / "cross_validation_wald.md").read_text(encoding="utf-8")
    text = " ".join(page.split())
    assert f"{found['samples'].min()} to {found['samples'].max()} samples a cell" in text
    of_one, problem = found["target"] == "one", found["problem"]
    weak = problem.isin(["weak_numbers", "noise", "weak_probabilities"])
    signal = problem.isin(["numbers", "probabilities"])
    of_labels = ~weak & ~signal
    of_roots = found["metric"] == "rmse"
    relative = found["metric"].isin(["r2", "brier_skill"])

    def covered(cells: pd.Series) -> tuple[str, str]:
        percentages = found.loc[cells, "coverage"]
        return f"{percentages.mean():.1f}%", f"{percentages.min():.1f}%"

    told = (
        ("in {} of the samples on average and {} in the worst cell", of_labels & of_one),
        ("differences in {} and {}", of_labels & ~of_one),
        ("value in {} on average and {} in the worst cell. For R2", of_roots & of_one),
        ("of one learner it was {} and {} if", relative & signal & of_one),
        ("signal, and {} and {} if", relative & weak & of_one),
        ("For differences it was {} and {},", signal & ~of_one),
        (", and {} and {}. Rules", weak & ~of_one),
    )
    for words, cells in told:
        assert words.format(*covered(cells)) in text


def test_the_page_on_metrics_has_the_numbers_of_ranks() -> None:
    found = table("intervals/ranks_of_rules")
    page = (ROOT / "docs" / "choose" / "metrics.md").read_text(encoding="utf-8")
    text = " ".join(page.split())
    one, two = (found[found["target"] == each].coverage for each in ("one", "difference"))
    assert f"{one.mean():.1f}% on average over {len(one)} cells" in text
    assert f"{one.min():.1f}% in the worst" in text
    assert f"{two.mean():.1f}% and {two.min():.1f}% for differences" in text
    assert (one >= 95).all()


def test_the_page_on_intervals_has_the_numbers_of_weighted_rows() -> None:
    found = table("intervals/weighted_errors")
    page = (ROOT / "docs" / "validation" / "studies-intervals.md").read_text(encoding="utf-8")
    text = " ".join(page.split())
    uneven = found[found["spread"] > 0]
    of_one, squared = uneven["target"] == "one", uneven["problem"] == "squared"
    two = uneven[~of_one]["coverage"]
    assert f"differences had {two.mean():.1f}% on average and {two.min():.1f}% in the worst" in text
    rates = uneven[of_one & uneven["problem"].isin(["errors", "alike"])]
    assert f"The error rate of one rule has at least {rates.coverage.min():.1f}%" in text
    short = uneven[of_one & squared]["coverage"]
    assert f"at {short.min():.1f} to {short.max():.1f}%" in text
    equal = found[(found["problem"] == "squared") & (found["spread"] == 0)]
    assert f"it has {equal[equal['target'] == 'one'].coverage.mean():.1f}%" in text
