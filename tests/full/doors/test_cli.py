"""The command line: real runs on a small real data set, and what it says to bad input."""

import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from typer.testing import CliRunner

import ucvtest as uv
from ucvtest import cli
from ucvtest.cli import compare, errors, options
from ucvtest.comparison.comparison import Correction
from ucvtest.learners.adapters.coerce import SHORT_NAMES
from ucvtest.methods import registry
from ucvtest.methods.ustatistic.interval import IntervalName
from ucvtest.methods.ustatistic.options import Variance
from ucvtest.metrics.means import LOSSES
from ucvtest.results.fields import Contrast
from ucvtest.stats.wald import ALTERNATIVES

pytestmark = pytest.mark.seconds(
    40, reason="starts processes, which import and compile for themselves"
)

FEATURES = ["mean_radius", "mean_texture", "mean_smoothness"]
# Just enough fits for a p-value: these tests look at the wiring, not at the estimates.
QUICK = ["--learn-size", "12", "--n-pairs", "600"]


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    data = load_breast_cancer(as_frame=True)
    frame = data.frame.rename(columns=lambda name: name.replace(" ", "_"))
    frame["diagnosis"] = data.target_names[data.target]
    return frame.loc[50:109, [*FEATURES, "diagnosis"]]


@pytest.fixture
def csv(table: pd.DataFrame, tmp_path: Path) -> Path:
    path = tmp_path / "wdbc.csv"
    table.to_csv(path, index=False)
    return path


def run(path: Path, *options: str, target: str = "diagnosis", learner: str = "lda") -> Any:
    arguments = ["compare", str(path), "--target", target, "--learner", learner, *options]
    return CliRunner().invoke(cli.app, arguments)


def run_to_json(path: Path, *options: str) -> uv.TestResult:
    file = path.with_suffix(".json")
    outcome = run(path, "--other", "knn:3", *QUICK, "--json", str(file), *options)
    assert outcome.exit_code == 0, outcome.output
    return uv.TestResult.from_dict(json.loads(file.read_text()))


def test_verdict_comes_first_then_the_summary(csv: Path) -> None:
    outcome = run(csv, "--other", "knn:3", *QUICK)
    assert outcome.exit_code == 0, outcome.output
    verdict, _, summary = outcome.stdout.partition("\n\n")
    assert "95% interval" in verdict
    assert "when learning from" in summary
    assert " notes: --notes" in summary
    # The verdict has been said.
    assert "Verdict" not in summary


def test_the_auc_of_one_learner_and_of_two(csv: Path, table: pd.DataFrame) -> None:
    here = run_to_json(csv, "--test", "ustatistic", "--loss", "auc")
    data = table[FEATURES], table["diagnosis"].to_numpy()
    there = uv.UStatisticTest(*data, "lda", "knn:3", loss="auc", learn_size=12)
    assert here.conf_int() == there.fit(n_pairs=600, rng=0).conf_int()
    outcome = run(csv, "--test", "ustatistic", "--loss", "auc", "--n-pairs", "300")
    assert outcome.exit_code == 0, outcome.output
    assert "AUC when learning from" in " ".join(outcome.stdout.split())


def test_the_auc_of_three_classes(tmp_path: Path) -> None:
    frame = load_iris(as_frame=True).frame.iloc[::3]
    frame.columns = ["a", "b", "c", "d", "species"]
    path = tmp_path / "iris.csv"
    frame.to_csv(path, index=False)
    auc = ("--test", "ustatistic", "--loss", "auc", "--n-pairs", "120")
    outcome = run(path, *auc, target="species")
    assert outcome.exit_code == 0, outcome.output
    assert "AUC of 3 classes (Hand and Till)" in " ".join(outcome.stdout.split())
    outcome = run(path, *auc, "--pos-label", "1", target="species", learner="knn:3")
    assert "AUC of class 1 against the rest" in " ".join(outcome.stdout.split())
    outcome = run(path, "--test", "delong", "--loss", "auc", "--other", "knn:3", target="species")
    assert outcome.exit_code == 2
    assert "UStatisticTest, which estimates Hand and Till's AUC" in outcome.output


def test_methods_text_comes_last_with_its_references(csv: Path) -> None:
    options = ("--other", "knn:3", "--test", "corrected_t")
    shown = run(csv, *options, "--methods-text").stdout
    plain = run(csv, *options).stdout
    _, words = shown.split("\nMethods\n")
    assert "were compared" in words
    assert "[nadeau2003]" in words
    assert "\nReferences\n" in words
    assert "Methods" not in plain
    both = run(csv, "--other", "knn:3", "--tests", "corrected_t,mcnemar", "--methods-text").stdout
    assert " ".join(both.split()).count("Computed by ucvtest") == 2
    assert "[mcnemar1947]" in both


def test_result_is_that_of_python(csv: Path, table: pd.DataFrame) -> None:
    here = run_to_json(csv)
    there = uv.UStatisticTest(
        table[FEATURES], table["diagnosis"].to_numpy(), "lda", "knn:3", learn_size=12
    ).fit(n_pairs=600, rng=0)
    assert here.estimate == there.estimate
    assert here.variance == there.variance
    assert here.pvalue == there.pvalue


def test_compressed_file(csv: Path, table: pd.DataFrame) -> None:
    compressed = csv.with_name("wdbc.csv.gz")
    table.to_csv(compressed, index=False)
    assert run_to_json(compressed).estimate == run_to_json(csv).estimate


def test_one_learner(csv: Path) -> None:
    outcome = run(csv, *QUICK)
    assert outcome.exit_code == 0, outcome.output
    assert outcome.stdout.startswith("The ")
    assert "1 more note: --notes" in outcome.stdout
    assert "Notes:" in run(csv, *QUICK, "--notes").stdout


@pytest.mark.parametrize(
    "options",
    [
        ["--learn-size", "14"],
        ["--loss", "log"],
        ["--null-value", "0.1"],
        ["--alternative", "less"],
        ["--variance", "jackknife"],
        ["--n-pairs", "601"],
        ["--seed", "2"],
        ["--drop", "mean_radius"],
    ],
    ids=lambda options: options[0],
)
def test_option_changes_the_result(csv: Path, options: list[str]) -> None:
    columns = ["estimate", "se", "pvalue", "conf_low", "conf_high"]
    default, changed = (
        run_to_json(csv, *extra).summary_frame()[columns] for extra in ([], options)
    )
    assert default.notna().all(axis=None)
    assert not default.equals(changed)


def test_positive_class_is_matched_as_written(csv: Path) -> None:
    assert run_to_json(csv).settings["pos_label"] == "malignant"
    assert run_to_json(csv, "--pos-label", "benign").settings["pos_label"] == "benign"


def test_numeric_label_from_the_command_line(csv: Path, table: pd.DataFrame) -> None:
    numbered = table.assign(diagnosis=(table["diagnosis"] == "malignant").astype(int))
    numbered.to_csv(csv, index=False)
    assert run_to_json(csv, "--pos-label", "0").settings["pos_label"] == 0


def test_learning_sets_by_class(csv: Path) -> None:
    found = run_to_json(csv, "--loss", "auc", "--learn-size", "9,11", "--n-pairs", "301")
    assert found.settings["learn_size_by_class"] == [9, 11]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("learn_size=(17, 11), or leave it out", "--learn-size 17,11, or leave it out"),
        ("pass loss='squared' or 'absolute'", "pass --loss squared or absolute"),
        (
            "raise learn_size >= 5, got learn_size=4: no",
            "raise --learn-size >= 5, got --learn-size 4: no",
        ),
        ("contrast must be one of a, b", "--contrast must be one of a, b"),
        ("loss and contrast must differ", "--loss and --contrast must differ"),
        ("the loss is a contrast", "the loss is a contrast"),
        ("column 'learn_size' of n_repeats=3", "column 'learn_size' of n_repeats=3"),
        ("use uv.InfluenceFunctionTest, which", "use --test influence, which"),
        ("use uv.LeavePairOutTest", "use uv.LeavePairOutTest"),
        ("and loss= is about means", "and --loss is about means"),
        ("an average, such as uv.metrics.f1('macro')", "an average, such as f1_macro"),
        (
            "such as uv.metrics.fbeta(2), your own by uv.metrics.Cells or uv.metrics.Moments, or x",
            "such as 'fbeta(2)', or x",
        ),
        ("use quicker learners, n_jobs, or more seconds", "use quicker learners, or more seconds"),
        ("a smaller x, more n_jobs, or y", "a smaller x, or y"),
        (
            "numbers in y and predictions, or pass y as pd.Categorical(y, [...], ordered=True)",
            "numbers in every column of labels",
        ),
        (
            "too few: name fewer in criteria, such as criteria=['permutation'], use more seconds",
            "too few: use more seconds",
        ),
        (
            "predictions['a b'] contains strings where numbers are needed, such as '1,5': convert "
            "them first, with .astype(float) if they are numbers written as text",
            "column a b contains strings where numbers are needed, such as '1,5': write numbers in "
            "the file, with one decimal mark and no separators of thousands",
        ),
        (
            "same type, for example from np.where(p > 0.5, 'x', 'y'), or 'log' for probabilities "
            "and 'auc' for scores",
            "same type, or --loss log for probabilities and --loss auc for scores",
        ),
    ],
)
def test_messages_in_options(text: str, expected: str) -> None:
    names = {
        "learn_size": "--learn-size",
        "loss": "--loss",
        "contrast": "--contrast",
        "test": "--test",
    }
    assert errors.in_options(text, names) == expected


def test_tolerance_and_max_fits_bound_the_work(csv: Path) -> None:
    loose = run_to_json(csv, "--n-pairs", "auto", "--tol", "0.2")
    tight = run_to_json(csv, "--n-pairs", "auto", "--tol", "0.05")
    capped = run_to_json(csv, "--n-pairs", "auto", "--tol", "0.05", "--max-fits", "4000")
    assert loose.n_fits < tight.n_fits
    assert capped.n_fits < tight.n_fits


def test_exact(csv: Path, table: pd.DataFrame) -> None:
    table.iloc[:12].to_csv(csv, index=False)
    outcome = run(csv, "--learn-size", "3", "--n-pairs", "exact", learner="nearest_centroid")
    assert outcome.exit_code == 0, outcome.output
    fits = next(line for line in outcome.stdout.splitlines() if "Model fits" in line)
    # All C(12, 3) learning sets, and none twice.
    assert "220" in fits


def test_alpha_is_the_level_of_interval_and_verdict(csv: Path) -> None:
    outcome = run(csv, "--other", "knn:3", *QUICK, "--alpha", "0.1")
    assert "at the 10% level" in outcome.stdout.replace("\n", " ")
    assert "90% low" in outcome.stdout


def test_plot(csv: Path, tmp_path: Path) -> None:
    path = tmp_path / "result.png"
    before = pyplot.get_fignums()
    outcome = run(csv, "--other", "knn:3", *QUICK, "--plot", str(path))
    assert outcome.stdout.endswith(f"Plot: {path}\n")
    assert path.read_bytes().startswith(b"\x89PNG")
    # Drawn without pyplot, whose backend may need a display.
    assert pyplot.get_fignums() == before


def test_mlflow_switch_turns_on_autologging(csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    monkeypatch.setattr("ucvtest.autologging.autolog", lambda: calls.append("on"))
    assert run(csv, *QUICK).exit_code == 0
    assert calls == []
    assert run(csv, *QUICK, "--mlflow").exit_code == 0
    assert calls == ["on"]


def test_choices_are_those_of_the_library() -> None:
    assert get_args(options.LossName) == (*LOSSES, "auc")
    assert get_args(options.CorrectionName) == (*get_args(Correction), "none")
    assert get_args(options.AlternativeName) == ALTERNATIVES
    assert get_args(options.ContrastName) == get_args(Contrast)
    assert set(get_args(options.IntervalName)) == set(get_args(IntervalName))
    assert get_args(options.VarianceName) == get_args(Variance)


def test_both_names_of_the_command_and_its_version() -> None:
    for command in (["-m", "ucvtest"], ["-c", "from ucvtest.cli import main; main()"]):
        finished = subprocess.run(
            [sys.executable, *command, "--version"], capture_output=True, text=True, check=True
        )
        assert finished.stdout == f"ucvtest {uv.__version__}\n"


def test_help_teaches() -> None:
    outcome = CliRunner().invoke(cli.app, ["compare", "--help"])
    assert outcome.exit_code == 0
    for taught in ("Examples:", "--learn-size", "favours the first", *SHORT_NAMES):
        assert taught in outcome.stdout, taught


def test_amounts_are_recognised_as_everywhere(tmp_path):
    """Many whole numbers are amounts for a regressor, and refused where nothing decides."""
    path = tmp_path / "diabetes.csv"
    frame = load_diabetes(as_frame=True).frame[:100]
    frame.to_csv(path, index=False)
    outcome = run(path, "--other", "majority", target="target")
    assert outcome.exit_code == 2
    assert (
        "different whole numbers in 100 observations: pass --loss squared or absolute"
        in outcome.stderr
    )
    outcome = run(path, "--other", "knn:5", *QUICK, target="target", learner="ridge:1.0")
    assert outcome.exit_code == 0, outcome.output
    assert "squared" in outcome.stdout


@pytest.mark.filterwarnings("default")
def test_warning_is_one_line(csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(*_: Any, **__: Any) -> None:
        warnings.warn("look here", uv.UcvtestWarning, stacklevel=1)

    monkeypatch.setattr(compare, "show", warn)
    assert run(csv, *QUICK).stderr == "Warning: look here\n"


class TestErrors:
    """Bad input ends with exit status 2 and one line that says what to do."""

    @staticmethod
    def check(outcome: Any, message: str) -> None:
        assert outcome.exit_code == 2
        assert outcome.stderr == f"Error: {message}\n"
        assert outcome.stdout == ""

    def test_no_such_file(self) -> None:
        self.check(run(Path("no.csv")), "there is no file no.csv")

    def test_empty_file(self, tmp_path: Path) -> None:
        path = tmp_path / "empty.csv"
        path.touch()
        self.check(run(path), f"{path}: No columns to parse from file")

    def test_no_such_target(self, csv: Path) -> None:
        self.check(
            run(csv, target="died"),
            f"--target died: no such column in {csv}, which has mean_radius, mean_texture, "
            "mean_smoothness, diagnosis",
        )

    def test_many_columns_are_not_all_listed(self, tmp_path: Path) -> None:
        path = tmp_path / "wide.csv"
        pd.DataFrame([[0] * 10], columns=list("abcdefghij")).to_csv(path, index=False)
        self.check(
            run(path, target="z"),
            f"--target z: no such column in {path}, which has a, b, c, d, e, f, g, h and 2 more",
        )

    def test_no_such_column_to_drop(self, csv: Path) -> None:
        self.check(
            run(csv, "--drop", "age"),
            f"--drop age: no such column in {csv}, which has mean_radius, mean_texture, "
            "mean_smoothness, diagnosis",
        )

    def test_target_dropped(self, csv: Path) -> None:
        self.check(run(csv, "--drop", "diagnosis"), "--drop diagnosis: that is the target")

    def test_nothing_left(self, csv: Path) -> None:
        drops = [part for name in FEATURES for part in ("--drop", name)]
        self.check(run(csv, *drops), f"{csv} has no column left to learn from")

    def test_row_numbers(self, csv: Path, table: pd.DataFrame) -> None:
        table.to_csv(csv)
        self.check(
            run(csv),
            f"{csv} has a column without a name, perhaps row numbers: name it in the file, or "
            "leave it out with --drop 'Unnamed: 0'",
        )

    def test_text_columns(self, csv: Path, table: pd.DataFrame) -> None:
        table.assign(sex="f", ward="B").to_csv(csv, index=False)
        self.check(
            run(csv),
            "columns that are not numeric: sex, ward; encode them as numbers, by --one-hot for "
            "example, or leave them out with --drop",
        )

    def test_missing_values(self, csv: Path, table: pd.DataFrame) -> None:
        table.assign(mean_radius=table["mean_radius"].where(table.index != 53)).to_csv(
            csv, index=False
        )
        self.check(
            run(csv),
            "columns with missing values: mean_radius; impute them, leave them out with --drop, or "
            "their rows with --missing drop; in CSV and Excel files, empty fields and words such "
            "as NA, None and null count as missing",
        )

    def test_pairs(self, csv: Path) -> None:
        self.check(
            run(csv, "--n-pairs", "many"),
            "--n-pairs must be auto, exact or a whole number, got 'many'",
        )

    def test_alpha(self, csv: Path) -> None:
        self.check(
            run(csv, "--alpha", "1"),
            "--alpha must lie between 0 and 1, got 1.0: use 0.05 for 95%",
        )

    def test_plot_format(self, csv: Path) -> None:
        self.check(
            run(csv, "--plot", "result.txt"), "--plot must end in .png, .pdf, .svg, got result.txt"
        )

    def test_plot_without_matplotlib(self, csv: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(options, "find_spec", lambda name: None)
        self.check(
            run(csv, "--plot", "result.png"),
            "--plot needs matplotlib: pip install 'ucvtest[plot]'",
        )

    def test_seed(self, csv: Path) -> None:
        outcome = run(csv, "--seed", "-1")
        assert outcome.exit_code == 2
        # The rest is in typer's words.
        assert "Invalid value for '--seed'" in outcome.stderr

    def test_folder_of_an_output(self, csv: Path) -> None:
        self.check(
            run(csv, "--json", "no/such/result.json"),
            "--json no/such/result.json: the folder no/such does not exist",
        )

    def test_unknown_positive_class(self, csv: Path) -> None:
        self.check(
            run(csv, "--pos-label", "yes"),
            "--pos-label yes is not one of the labels 'benign', 'malignant'",
        )

    @pytest.mark.parametrize(
        ("extra", "message"),
        [
            (
                ["--other", "knn:3", "--contrast", "ratio", "--loss", "zero_one"],
                "--contrast ratio is",
            ),
            (["--variance", "asymptotic", "--loss", "auc"], "--variance asymptotic does not exist"),
            (["--learn-size", "99"], "--learn-size must lie between"),
            (
                ["--learn-size", "5,60", "--loss", "auc"],
                "--learn-size 5,60 learns from 60 of",
            ),
            (["--learn-size", "5,6"], "--learn-size must be an integer, got (5, 6)"),
            (["--learn-size", "5,x"], "--learn-size must be a whole number or, with --loss auc,"),
            (["--tol", "0"], "--tol must"),
        ],
        ids=lambda value: " ".join(value) if isinstance(value, list) else "",
    )
    def test_options_have_their_own_names(self, csv: Path, extra: list[str], message: str) -> None:
        outcome = run(csv, *extra)
        assert outcome.exit_code == 2
        assert message in outcome.stderr
        for name in ("learn_size", "contrast=", "variance=", "loss="):
            assert name not in outcome.stderr

    def test_error_of_the_library(self, csv: Path) -> None:
        outcome = run(csv, learner="oracle")
        assert outcome.exit_code == 2
        assert outcome.stderr.startswith("Error: ")
        assert "oracle" in outcome.stderr
        assert outcome.stderr.count("\n") == 1


# --------------------------------------------------------------------------- other tests, tables


def table_to_json(path: Path, *options: str) -> uv.Comparison:
    file = path.with_suffix(".json")
    outcome = run(path, "--json", str(file), *options)
    assert outcome.exit_code == 0, outcome.output
    return uv.Comparison.from_dict(json.loads(file.read_text()))


def test_another_test_for_two_learners_and_for_one(csv: Path, table: pd.DataFrame) -> None:
    X, y = table[FEATURES], table["diagnosis"].to_numpy()
    for others in (["knn:3"], []):
        file = csv.with_suffix(".json")
        options = [option for name in others for option in ("--other", name)]
        outcome = run(csv, "--test", "corrected_t", "--json", str(file), *options)
        assert outcome.exit_code == 0, outcome.output
        here = uv.TestResult.from_dict(json.loads(file.read_text()))
        there = uv.CorrectedTTest(X, y, "lda", *others).fit(rng=0)
        assert (here.estimate, here.se) == (there.estimate, there.se)


def test_table_of_tests(csv: Path, table: pd.DataFrame) -> None:
    options = ["--tests", "corrected_t,ustatistic", "--other", "knn:3", *QUICK]
    found = table_to_json(csv, *options)
    assert found.tests == ("corrected_t", "ustatistic")
    assert found.result("ustatistic").settings["learn_size"] == 12
    outcome = run(csv, *options)
    verdict, _, tables = outcome.stdout.partition("\n\n")
    assert verdict.startswith("At the 5% level")
    assert "Comparison of 2 learners by 2 tests" in tables
    assert "Verdict" not in tables


def test_table_of_pairs(csv: Path) -> None:
    others = ["--other", "knn:3", "--other", "majority", "--test", "corrected_t"]
    holm = table_to_json(csv, *others)
    assert len(holm.pairs) == 3
    plain = table_to_json(csv, *others, "--correction", "none")
    assert plain.correction is None
    assert (holm.frame["pvalue"] == plain.frame["pvalue"]).all()


def test_a_table_of_learners_judged_together(csv: Path) -> None:
    others = ["--other", "knn:3", "--other", "majority", *QUICK]
    together = ["--correction", "simultaneous", "--baseline", "majority"]
    found = table_to_json(csv, *others, *together)
    assert found.pairs == tuple((name, "majority") for name in found.learners[:2])
    assert found.best_set()
    outcome = run(csv, *others, *together)
    assert "learners (* best set of" in outcome.stdout
    told = " ".join(outcome.stdout.split())
    assert "the best one is among" in told or "is the best" in told


def test_recommended_tests(csv: Path) -> None:
    n_obs = len(pd.read_csv(csv))
    found = table_to_json(csv, "--tests", "recommended", "--other", "majority")
    assert registry.class_named(uv.advise(n_obs).test).method_name in found.tests
    file = csv.with_suffix(".json")
    outcome = run(csv, "--json", str(file), "--notes")
    assert outcome.exit_code == 0, outcome.output
    alone = uv.TestResult.from_dict(json.loads(file.read_text()))
    advised = uv.advise(n_obs, learners=1).test
    assert alone.settings["test"] == registry.class_named(advised).method_name
    assert "No test was named" in outcome.stdout
    assert "this is what advise() recommends for 60 observations, one learner" in alone.notes[-1]
    assert run_to_json(csv).settings["test"] == "ustatistic"
    areas = table_to_json(csv, "--tests", "recommended", "--other", "knn:3", "--loss", "auc")
    assert areas.settings["loss"] == "auc"


def test_picture_of_a_table(csv: Path, tmp_path: Path) -> None:
    picture = tmp_path / "all.png"
    outcome = run(csv, "--tests", "corrected_t", "--other", "knn:3", "--plot", str(picture))
    assert outcome.exit_code == 0, outcome.output
    assert picture.stat().st_size > 5000


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--test", "student"], "test 'student' is unknown: use one of"),
        (["--test", "corrected_t", "--tests", "recommended"], "exclude each other"),
        (["--test", "corrected_t", "--learn-size", "12"], "--learn-size belongs to the test usta"),
        (["--tests", "corrected_t", "--tol", "0.1"], "--tol belongs to the test ustatistic"),
        (["--tests", "corrected_t", "--null-value", "0.1"], "--null-value is for one test"),
        (["--correction", "hommel"], "--correction does not apply"),
        (["--other", "knn:3", "--baseline", "lda"], "--baseline does not apply"),
        (["--tests", "corrected_t"], "--tests compares learners: name another in --other"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_that_do_not_go_together(csv: Path, options: list[str], message: str) -> None:
    outcome = run(csv, *options)
    assert outcome.exit_code == 2
    assert message in outcome.stderr


def test_every_test_is_listed() -> None:
    helped = CliRunner().invoke(cli.app, ["compare", "--help"]).stdout
    listed = helped.partition("Tests:\n")[2].partition("\n\n")[0].splitlines()
    found = dict(line.split(maxsplit=1) for line in listed)
    assert found == {name: cls.in_short for name, cls in registry.TESTS.items()}


@pytest.fixture
def predictions(tmp_path: Path) -> Path:
    truth = ["sick", "well"] * 60
    flipped = {"sick": "well", "well": "sick"}
    frame = pd.DataFrame(
        {
            "truth": truth,
            "old": [flipped[y] if i < 12 else y for i, y in enumerate(truth)],
            "new": [flipped[y] if 4 <= i < 12 else y for i, y in enumerate(truth)],
            "bad": [flipped[y] if i < 60 else y for i, y in enumerate(truth)],
            "score": [0.9 * (y == "well") + 0.001 * i for i, y in enumerate(truth)],
            "other_score": [0.8 * (y == "well") - 0.002 * i for i, y in enumerate(truth)],
        }
    )
    path = tmp_path / "predictions.csv"
    frame.to_csv(path, index=False)
    return path


def run_gate(path: Path, scores: str, *options: str, margin: str = "0.05") -> Any:
    command = ["gate", str(path), "--target", "truth", "--scores", scores, "--margin", margin]
    return CliRunner().invoke(cli.app, [*command, *options])


@pytest.mark.parametrize(
    ("scores", "options", "status", "word"),
    [
        ("new,old", (), 0, "Noninferior"),
        ("bad,old", (), 1, "Inferior"),
        ("old,new", (), 3, "It is undecided"),
        ("score,other_score", ("--loss", "auc", "--pos-label", "well"), 3, "Undecided"),
    ],
)
def test_the_gate_says_by_its_status_what_it_found(predictions, scores, options, status, word):
    outcome = run_gate(predictions, scores, *options)
    assert outcome.exit_code == status, outcome.output
    assert outcome.stdout.startswith(word)


def test_the_gate_does_not_guess_the_positive_class(tmp_path: Path) -> None:
    case = np.arange(40) % 2 == 0
    score, path = np.arange(40) % 7 + 6.0 * case, tmp_path / "cases.csv"
    table = {"truth": np.where(case, "case", "control"), "new": score, "old": np.arange(40) % 11}
    pd.DataFrame(table).to_csv(path, index=False)

    def asked(*options: str) -> Any:
        names = ["--target", "truth", "--scores", "new,old", "--loss", "auc", "--margin", "0.1"]
        return CliRunner().invoke(cli.app, ["gate", str(path), *names, *options])

    untold = asked()
    assert untold.exit_code == 2
    assert "pass --pos-label control if high values mean 'control'" in untold.stderr
    told = asked("--pos-label", "case")
    assert (told.exit_code, told.stderr) == (0, "")
    assert "(positive class 'case')" in " ".join(told.stdout.split())
    turned = asked("--pos-label", "control")
    assert turned.exit_code == 1
    assert turned.stderr.startswith("Warning: An AUC below 0.5, with its whole interval, was found")
    assert turned.stderr.endswith("name that class by --pos-label.\n")


@pytest.mark.parametrize("loss", ["zero_one", "auc", "brier", "log"])
def test_a_model_against_itself_leaves_it_open(tmp_path, loss):
    rng = np.random.default_rng(0)
    score = np.arange(40) % 2 if loss == "zero_one" else rng.uniform(0.1, 0.9, size=40)
    frame = pd.DataFrame({"truth": np.arange(40) % 2, "new": score, "old": score})
    frame.to_csv(tmp_path / "same.csv", index=False)
    outcome = run_gate(tmp_path / "same.csv", "new,old", "--loss", loss, margin="0.001")
    assert outcome.exit_code == 3, outcome.output


def test_the_gate_prints_json_alone(predictions):
    found = json.loads(run_gate(predictions, "new,old", "--json", "-").stdout)
    assert found["decision"] == "pass"
    assert {"verdict", "conf_int", "version", "pvalue", "margin", "n_obs"} <= set(found)
    again = uv.NoninferiorityResult.from_dict(found)
    assert list(again.conf_int) == found["conf_int"]


@pytest.mark.parametrize(
    ("scores", "options", "message"),
    [
        ("new", (), "--scores must name two columns"),
        ("new,none", (), "--scores none: no such column"),
        ("new,old", ("--margin", "0"), "--margin must be above 0, got 0.0"),
        ("new,old", ("--alpha", "0.5"), "--alpha must be below 0.5 with --margin"),
    ],
)
def test_the_gate_refuses_in_the_language_of_the_command(predictions, scores, options, message):
    outcome = run_gate(predictions, scores, *options)
    assert outcome.exit_code == 2
    assert message in outcome.stderr


def test_a_margin_on_a_comparison(csv: Path) -> None:
    file = csv.with_suffix(".json")
    outcome = run(csv, "--other", "knn:3", *QUICK, "--margin", "0.5", "--json", str(file))
    assert outcome.exit_code == 0, outcome.output
    assert "Noninferior: the first learner (lda) is not worse" in " ".join(outcome.stdout.split())
    written = json.loads(file.read_text())
    assert written["noninferiority"]["decision"] == "pass"
    assert uv.TestResult.from_dict(written).noninferiority(0.5).decision == "pass"
    table = run(csv, "--other", "knn:3", "--tests", "corrected_t,bayesian_t", "--margin", "0.5")
    told = " ".join(table.stdout.split())
    assert "corrected_t, lda and knn:3: Noninferior" in told
    assert "bayesian_t, lda and knn:3: noninferiority is not a question for" in told
    refused = run(csv, "--margin", "0.1")
    assert "--margin compares with something: add --other, or --null-value" in refused.stderr


@pytest.mark.parametrize("asked", [("--test", "five_by_two_f"), ("--tests", "bayesian_t")])
def test_a_margin_that_no_test_can_judge_is_refused_before_the_fits(csv, asked, monkeypatch):
    def no_fits(*_: Any, **__: Any) -> None:
        raise AssertionError("something was fitted")

    monkeypatch.setattr("ucvtest.evaluation.evaluator.Evaluator.predict", no_fits)
    refused = run(csv, "--other", "knn:3", *asked, "--margin", "0.1")
    assert refused.exit_code == 2
    assert f"--margin needs an interval, and the test {asked[1]}" in refused.stderr
    assert "use another --test, such as ustatistic" in refused.stderr


def test_a_plan_from_the_shell(csv: Path, table: pd.DataFrame, tmp_path: Path) -> None:
    command = ["plan", str(csv), "--target", "diagnosis", "--learner", "lda", "--other", "knn:3"]
    picture = tmp_path / "plan.png"
    asked = ["--difference", "0.1", "--learn-size", "12", "--n", "100", "--n", "200"]
    outcome = CliRunner().invoke(cli.app, [*command, *asked, "--plot", str(picture)])
    assert outcome.exit_code == 0, outcome.output
    data = table[FEATURES], table["diagnosis"].to_numpy()
    there = uv.plan(*data, "lda", "knn:3", difference=0.1, learn_size=12, n=[100, 200], rng=0)
    assert there.verdict in " ".join(outcome.stdout.split())
    assert picture.exists()
    printed = CliRunner().invoke(cli.app, [*command, *asked, "--json", "-"])
    assert uv.SamplePlan.from_dict(json.loads(printed.stdout)).n_needed == there.n_needed
    refused = CliRunner().invoke(cli.app, command)
    assert refused.exit_code == 2
    assert "one of --difference, --ratio and --width must be given" in refused.stderr
    by_class = CliRunner().invoke(cli.app, [*command, "--width", "0.2", "--learn-size", "5,6"])
    assert "--learn-size must be an integer, got (5, 6)" in by_class.stderr


def test_rows_that_repeat_are_warned_of_once(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(np.repeat(rng.normal(size=(30, 3)), 2, axis=0), columns=list("abc"))
    path = tmp_path / "rows.csv"
    rows.assign(y=np.repeat(rng.integers(0, 2, 30), 2)).to_csv(path, index=False)
    learners = ("--learner", "lda", "--other", "nearest_centroid")
    command = [sys.executable, "-m", "ucvtest", "compare", str(path), "--target", "y", *learners]
    finished = subprocess.run(command, capture_output=True, text=True, check=False)
    assert finished.returncode == 0, finished.stderr
    assert finished.stderr.lower().count("warning:") == 1, finished.stderr
