"""The command line: what people type and what comes of it, row by row; then what no row can say.

Numbers at this door are in tests/core/doors/questions.py.
"""

import gzip
import json
import re
import shlex
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from typer.main import get_command
from typer.testing import CliRunner

import ucvtest as uv
from ucvtest import cli
from ucvtest.advice.advise import Goal
from ucvtest.advice.configured_tests import About
from ucvtest.cli import catalogue, compare, report, select
from ucvtest.cli.files import LossName, Sample
from ucvtest.comparison.comparison import Correction
from ucvtest.data.files import read_table
from ucvtest.learners.adapters.coerce import SHORT_NAMES
from ucvtest.learners.adapters.named import DEFAULTS
from ucvtest.methods.permutation.criteria import Criterion
from ucvtest.methods.registry import TESTS, class_named
from ucvtest.methods.ustatistic.interval import IntervalName
from ucvtest.methods.ustatistic.options import Variance
from ucvtest.metrics.means import LOSSES
from ucvtest.results.fields import Contrast
from ucvtest.stats.wald import ALTERNATIVES

TABLE = pd.read_csv(catalogue.EXAMPLE)
FEATURES = ["age", "pressure", "marker", "dose"]
CSV = TABLE.to_csv(index=False)
PLAIN = TABLE[[*FEATURES, "ill"]]
GAPS = PLAIN.assign(dose=PLAIN["dose"].where(~PLAIN.index.isin([3, 9])))
SEX = PLAIN.assign(sex=np.where(PLAIN["age"] > 58, "f", "m").astype(object))


def of_labels() -> pd.DataFrame:
    """Labels by rules that are right to a known extent, and scores."""
    row = np.arange(120)
    truth = np.array(["sick", "well"])[row % 2]
    wrong = {"old": row < 12, "new": (row >= 4) & (row < 12), "bad": row < 60}
    rules = {
        name: np.where(each, truth[::-1], np.tile(truth[:2], 60)) for name, each in wrong.items()
    }
    well = truth == "well"
    return pd.DataFrame(
        {"truth": truth, **rules, "score": 0.9 * well + 0.001 * row, "row": 0.8 * well - row / 500}
    )


def of_cases() -> pd.DataFrame:
    case = np.arange(40) % 2 == 0
    score = np.arange(40) % 7 + 6.0 * case
    truth = np.where(case, "case", "control")
    return pd.DataFrame({"truth": truth, "new": score, "old": np.arange(40) % 11})


def of_one_model() -> pd.DataFrame:
    rng, truth = np.random.default_rng(0), np.arange(40) % 2
    score = rng.uniform(0.1, 0.9, size=40)
    return pd.DataFrame({"truth": truth, "new": score, "old": score, "a": truth, "b": truth})


GAPS_OF_TEXT = SEX.assign(sex=SEX["sex"].where(~SEX.index.isin([3, 9])))
FILES = {
    "example.csv": TABLE,
    "plain.csv": PLAIN,
    "gaps.csv": GAPS,
    "texts.csv": SEX,
    "textgaps.csv": GAPS_OF_TEXT,
    "names.csv": PLAIN.assign(name=[f"patient {place}" for place in range(60)]),
    "numbers.csv": PLAIN.assign(ill=(PLAIN["ill"] == "yes").astype(int)),
    "small.csv": PLAIN.iloc[:12],
    "folds.csv": TABLE.assign(part=np.arange(60) % 5),
    "wide.csv": pd.DataFrame([[0] * 10], columns=list("abcdefghij")),
    "labels.csv": of_labels(),
    "cases.csv": of_cases(),
    "same.csv": of_one_model(),
    "turned.csv": TABLE.assign(ill2=TABLE["ill"], ill3=TABLE["ill"].iloc[::-1].to_numpy()),
    "iris.csv": load_iris(as_frame=True).frame.iloc[::3].set_axis([*"abcd", "species"], axis=1),
    "amounts.csv": load_diabetes(as_frame=True).frame[:100],
}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    for name, table in FILES.items():
        table.to_csv(folder / name, index=False)
    PLAIN.to_csv(folder / "numbered.csv")
    (folder / "bars.txt").write_text(CSV.replace(",", "~"))
    (folder / "tabs.txt").write_text(CSV.replace(",", "\t"))
    return folder


@pytest.fixture
def folder(files: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(files)
    return files


def typed(line: str, **more: Any) -> Any:
    return CliRunner().invoke(cli.app, shlex.split(line), **more)


def answer(line: str, **more: Any) -> Any:
    """What a command prints as JSON."""
    outcome = typed(f"{line} --json -", **more)
    assert outcome.exit_code in (0, 1, 3), outcome.output
    return json.loads(outcome.stdout)


ONE = "compare plain.csv --target ill --learner lda"
TWO = f"{ONE} --other knn:3"
QUICK = f"{TWO} --test corrected_t"
# Just enough fits for a p-value.
PAIRS = "--learn-size 12 --n-pairs 600"
AREAS = "--loss auc --pos-label yes"
RULES = "predictions example.csv --target ill"
SCORED = "--target ill --scores model_a,model_b"
BOTH = f"predictions example.csv {SCORED}"
GATE = "gate labels.csv --target truth --margin 0.05 --scores"
CASES = "gate cases.csv --target truth --scores new,old --loss auc --margin 0.1"
SELF = "gate same.csv --target truth --margin 0.001 --scores"
CHOOSE = "select plain.csv --target ill --learner lda --learner majority --permutations 5"
PLAN = "plan plain.csv --target ill --learner lda --other knn:3"

# A line, its exit status, and words that it prints.
DONE = [
    (f"{TWO} {PAIRS} -q", 0, "95% interval"),
    (f"{TWO} {PAIRS} --alpha 0.1", 0, "at the 10% level", "90% low"),
    (f"{TWO} {PAIRS} --margin 0.5", 0, "Noninferior: the first learner (lda) is not worse"),
    (f"{ONE} {PAIRS}", 0, "The ", "1 more note: --notes"),
    (f"{ONE} {PAIRS} --notes", 0, "Notes:"),
    # All C(12, 3) learning sets, and none twice.
    (
        "compare small.csv --target ill --learner nearest_centroid --learn-size 3 --n-pairs exact",
        0,
        "220",
    ),
    (f"{ONE} --test ustatistic --n-pairs 120 --loss auc --pos-label yes -q", 0, "AUC when"),
    (f"{ONE.replace('lda', 'ridge:1.0')} --test leave_pair_out -q", 0, "labels and features"),
    (f"{ONE.replace('lda', 'ridge:1.0')} --test permutation -q", 0, ""),
    (f"{ONE} --other lda --test corrected_t", 1, "could not be carried out"),
    (f"{QUICK} --one-hot --missing drop --notes".replace("plain", "textgaps"), 0, "2 observations"),
    (f"{TWO} --tests corrected_t,hold_out", 0, "At the 5% level", "of 2 learners by 2 tests"),
    (
        f"{TWO} --tests corrected_t,bayesian_t --margin 0.5",
        0,
        "corrected_t, lda and knn:3: Nonin",
        "bayesian_t, lda and knn:3: noninferiority is not a question for",
    ),
    (f"{TWO} --other majority {PAIRS} --correction simultaneous", 0, "learners (* best set of"),
    (
        "compare iris.csv --target species --learner lda --loss auc --n-pairs 120",
        0,
        "AUC of 3 classes (Hand and Till)",
    ),
    (
        "compare amounts.csv --target target --learner ridge:1.0 --other knn:5 --test corrected_t",
        0,
        "squared",
    ),
    (f"{RULES} --scores model_a {AREAS} -q", 0, ""),
    (f"{RULES} --scores model_a,model_b,age {AREAS} -q", 0, "delong"),
    (f"{BOTH} --loss brier --pos-label yes --weight age --groups age -q", 0, ""),
    (f"predictions bars.txt --sep '~' {SCORED} {AREAS} -q", 0, "is 0.023"),
    (f"predictions tabs.txt --sep tab {SCORED} {AREAS} -q", 0, "is 0.023"),
    (f"{GATE} new,old", 0, "Noninferior"),
    (f"{GATE} bad,old", 1, "Inferior"),
    (f"{GATE} old,new", 3, "It is undecided"),
    (f"{GATE} score,row --loss auc --pos-label well", 3, "Undecided"),
    (f"{CASES} --pos-label case", 0, "(positive class 'case')"),
    (f"{CASES} --pos-label control", 1, "Warning: An AUC below 0.5", "that class by --pos-label."),
    (f"{SELF} a,b", 3, ""),
    *((f"{SELF} new,old --loss {loss}", 3, "") for loss in ("auc", "brier", "log")),
]

# What is typed, and what is said about it before anything is fitted.
REFUSED = [
    (ONE.replace("plain", "wide"), "which has a, b, c, d, e, f, g, h and 2 more"),
    (ONE.replace("plain", "numbered"), "or leave it out with --drop 'Unnamed: 0'"),
    (f"{QUICK} --one-hot".replace("plain", "names"), "more than 20 different texts: name"),
    (f"{QUICK} --one-hot".replace("plain", "textgaps"), "columns with missing values: sex"),
    (f"{ONE} --pos-label x", "--pos-label x is not one of the labels 'no', 'yes'"),
    (f"{TWO} --contrast ratio --loss zero_one", "--contrast ratio is"),
    (f"{ONE} --variance asymptotic {AREAS}", "--variance asymptotic does not exist"),
    (f"{ONE} --learn-size 5,60 {AREAS}", "--learn-size 5,60 learns from 60 of"),
    (f"{ONE} --learn-size 5,6", "--learn-size must be an integer, got (5, 6)"),
    (f"{ONE} --test student", "test 'student' is unknown: use one of"),
    (f"{ONE} --test leave_pair_out --loss log", "is about the AUC: leave out --loss"),
    (
        f"{TWO} --test mcnemar --folds 5",
        "--folds does not apply to the test mcnemar: it has --test",
    ),
    (f"{TWO} --test five_by_two_t --folds 5", "5 repetitions of 2-fold cross-validation"),
    (f"{QUICK} --max-seconds 5", "--max-seconds does not apply to corrected_t"),
    (f"{ONE} --checkpoint a.json", "--checkpoint keeps results of several tests (--tests) or"),
    (f"{QUICK} --scoring f1", "pass --pos-label no or --pos-label yes"),
    (f"{QUICK} --scoring f1 --loss log", "--loss and --scoring exclude each other"),
    (f"{QUICK} --scoring f9", "scoring f9 is unknown"),
    (f"{TWO} --tests mcnemar --scoring f1", "is about --loss zero_one alone, got --scoring f1"),
    ("compare amounts.csv --target target --learner lda", "pass --loss squared or absolute"),
    (
        "compare iris.csv --target species --learner lda --other knn:3 --test delong --loss auc",
        "--test ustatistic, which estimates Hand and Till's AUC",
    ),
    (BOTH, "pass labels of the same type"),
    (f"{RULES} --scores age --pos-label yes --loss log", "probabilities lie between 0 and 1"),
    (f"{RULES} --scores age --loss auc", "pass --pos-label yes if high values mean 'yes'"),
    (f"{RULES} --scores age {AREAS} --test naive_t", "is not for fixed rules: use"),
    (f"{BOTH} {AREAS} --fold x", "--fold x: no such column"),
    (
        f"{BOTH} {AREAS} --fold part --test permutation".replace("example", "folds"),
        "is not for out-of-fold predictions: use one of",
    ),
    (
        "predictions turned.csv --target ill --scores ill2,ill3 --test mcnemar --weight age",
        "these losses are weighted: use --test hold_out",
    ),
    (f"{CHOOSE} --scoring f1", "--scoring f1 is one number for each test set"),
    (f"{CHOOSE} --max-seconds -1", "--max-seconds must be a finite number"),
    (f"{CHOOSE} --folds 9999 --criterion kfold", "--folds must lie between 2 and"),
    (PLAN, "one of --difference, --ratio and --width must be given"),
    ("example example.csv", "example.csv"),
]

# Options that go by another name elsewhere.
MISTYPED = [
    (f"{ONE} --seed -1", "Invalid value for '--seed'"),
    (f"{ONE} --random-state 1", "--seed"),
    (f"{ONE} --n-folds 1", "--folds"),
    (f"{ONE} --sample-weight 1", ""),
    (f"{CHOOSE} --rng 1", "--seed"),
    (f"{CHOOSE} --metric 1", "--scoring"),
    (f"{CHOOSE} --n_permutations 1", "--permutations"),
    (f"{BOTH} --sample-weight 1", "--weight"),
    (f"{PLAN} --random-seed 1", "--seed"),
]


@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("row", DONE, ids=lambda row: row[0])
def test_lines_do_what_they_say(folder: Path, row: tuple[Any, ...]) -> None:
    line, status, *said = row
    outcome = typed(line)
    assert outcome.exit_code == status, outcome.output
    printed = " ".join((outcome.stdout + outcome.stderr).split())
    assert [words for words in said if words not in printed] == []


PYTHON = re.compile(r"learn_size|max_fits|pos_label|n_pairs|\b(contrast|variance|loss|scoring)=")


@pytest.mark.parametrize("row", REFUSED, ids=lambda row: row[0])
def test_what_cannot_be_done_is_one_line_about_options(
    folder: Path, row: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_fits(*_: Any, **__: Any) -> None:
        raise AssertionError("something was fitted")

    monkeypatch.setattr("ucvtest.evaluation.evaluator.Evaluator.predict", no_fits)
    line, *said = row
    outcome = typed(line)
    assert (outcome.exit_code, outcome.stdout) == (2, "")
    assert outcome.stderr.startswith("Error: ")
    assert outcome.stderr.count("\n") == 1
    assert [words for words in said if words not in outcome.stderr] == []
    assert not PYTHON.search(outcome.stderr)


@pytest.mark.parametrize(("line", "meant"), MISTYPED)
def test_unknown_options_say_which_was_meant(folder: Path, line: str, meant: str) -> None:
    outcome = typed(line)
    assert outcome.exit_code == 2
    last = outcome.stderr.strip().splitlines()[-1]
    assert meant in last
    assert ("No such option" in last) == ("Invalid" not in meant)
    assert "stratify" not in last


# --------------------------------------------------------------------------------------- files


def packed(path: Path) -> bytes:
    return gzip.compress(CSV.encode())


def parquet(path: Path) -> bytes:
    pytest.importorskip("pyarrow")
    TABLE.to_parquet(path)
    return path.read_bytes()


FORMS = {
    "semicolon.csv": lambda path: TABLE.to_csv(index=False, sep=";").encode(),
    "decimal.csv": lambda path: TABLE.to_csv(index=False, sep=";", decimal=",").encode(),
    "tab.tsv": lambda path: TABLE.to_csv(index=False, sep="\t").encode(),
    "latin.csv": lambda path: CSV.replace("dose", "größe").encode("latin-1"),
    "bom.csv": lambda path: CSV.encode("utf-8-sig"),
    "utf16.csv": lambda path: CSV.encode("utf-16"),
    "packed.csv.gz": packed,
    "table.parquet": parquet,
}


@pytest.mark.parametrize("name", FORMS)
def test_good_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(FORMS[name](path))
    assert read_table(path).to_numpy().tolist() == TABLE.to_numpy().tolist()


DROP = "--drop model_a --drop model_b --learner lda"
COMMANDS = {
    "compare": f"{DROP} --other knn:3 --test corrected_t",
    "predictions": f"--scores model_a,model_b {AREAS}",
    "columns": f"{DROP} --fits 40 --block age",
    "select": f"{DROP} --learner majority --permutations 5",
    "plan": f"{DROP} --width 0.2 --n 100",
    "gate": f"--scores model_a,model_b {AREAS} --margin 0.1",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reads_every_form_and_the_standard_input(folder: Path, command: str) -> None:
    (folder / "latin.csv.gz").write_bytes(
        gzip.compress(TABLE.rename(columns={"dose": "größe"}).to_csv(sep=";").encode("latin-1"))
    )
    rest = f"--target ill {COMMANDS[command]}"
    numbered = "--drop 'Unnamed: 0' " if "--drop" in rest else ""
    answers = [
        answer(f"{command} example.csv {rest}"),
        answer(f"{command} latin.csv.gz {numbered}{rest}"),
        answer(f"{command} - {rest}", input=CSV),
    ]
    for each in answers:
        assert {"version", "ucvtest"} & set(each)
        # Results in a table of gains have seconds of their own.
        for name in ("elapsed", "uuid", "comparison"):
            each.pop(name, None)
    assert answers[0] == answers[1] == answers[2]


BAD = {
    "empty": (b"", "No columns to parse from file"),
    "header": (b"age,ill\n", "has a header and no rows"),
    "binary": (b"\x89\x00\x01\x02" * 20, "is neither a text file nor a parquet file"),
    "archive": (b"PK\x03\x04" + b"\x00" * 20, "is an archive but not an Excel file"),
    "damaged gz": (gzip.compress(b"age,ill\n1,0\n" * 50)[:20], "is damaged"),
    "damaged parquet": (b"PAR1 and no more", "parquet"),
    "wider rows": (b"age,ill\n1,2,3\n4,5,6\n", "rows with more values than its header has names"),
    "no target": (b"age,dose\n1,2\n3,4\n", "--target ill: no such column in"),
    "one class": (b"age,dose,ill\n1,2,0\n3,4,0\n", "y has one class only (0)"),
    "texts": (b"age,sex,ill\n1,f,0\n3,m,1\n", "columns that are not numeric: sex; encode them as"),
    "gaps": (b"age,dose,ill\n1,,0\n3,4,1\n", "missing values: dose; impute them, leave them out"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(tmp_path: Path, name: str) -> None:
    content, message = BAD[name]
    path = tmp_path / "bad.csv"
    path.write_bytes(content)
    of_learners = name in ("no target", "one class", "texts", "gaps")
    lines = ["compare {}", "select {}", "plan {} --width 0.1"]
    rules = ["predictions {} --scores a,b", "gate {} --scores a,b --margin 0.1"]
    for line in [f"{each} --learner lda" for each in lines] + rules * (not of_learners):
        outcome = typed(f"{line.format(path)} --target ill")
        assert (outcome.exit_code, outcome.stdout) == (2, "")
        assert message in outcome.stderr
        assert outcome.stderr.startswith("Error: ")
        assert outcome.stderr.count("\n") == 1


def test_what_is_not_installed_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "find_spec", lambda name: None)
    monkeypatch.setattr("ucvtest.data.files.find_spec", lambda name: None)
    assert "pip install 'ucvtest[plot]'" in typed(f"{ONE} --plot a.png").stderr
    (folder / "a.parquet").write_bytes(b"PAR1")
    assert "pip install pyarrow" in typed(ONE.replace("plain.csv", "a.parquet")).stderr


@pytest.mark.parametrize("learner", [KNeighborsClassifier(3), LinearDiscriminantAnalysis()])
def test_encoding_before_the_splits_is_that_of_a_pipeline(tmp_path: Path, learner: Any) -> None:
    """Also of a text that one row alone has, which the rules for this row have never seen."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60), "ward": rng.choice(["a", "b", "c"], 60)})
    table.loc[7, "ward"] = "once"
    table["ill"] = (table["x"] + (table["ward"] == "a") + rng.normal(size=60) > 0).astype(int)
    table.to_csv(tmp_path / "wards.csv", index=False)
    encoded, y, *_ = Sample(data=tmp_path / "wards.csv", target="ill", one_hot=True).read()
    encoder = OneHotEncoder(handle_unknown="ignore", drop="first", sparse_output=False)
    columns = make_column_transformer((encoder, ["ward"]), remainder="passthrough")
    before = uv.evaluate(learner, encoded, y, 10, rng=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        within = uv.evaluate(make_pipeline(columns, learner), table[["x", "ward"]], y, 10, rng=0)
    np.testing.assert_array_equal(before.values, within.values)


# ------------------------------------------------------------------------------------- answers


def check_same(found: dict[str, Any], expected: uv.TestResult) -> None:
    results = uv.TestResult.from_dict(found), expected
    np.testing.assert_equal(*((each.estimate, each.pvalue, each.conf_int()) for each in results))


def test_options_are_the_arguments_of_python(folder: Path) -> None:
    y = PLAIN["ill"].to_numpy()
    found = answer(
        f"{TWO} --learn-size 14 --loss log --null-value 0.1 --alternative less --variance jackknife"
        " --n-pairs 601 --seed 2 --drop age --pos-label no"
    )
    of_one = uv.UStatisticTest(
        *(PLAIN[FEATURES[1:]], y, "lda", "knn:3"),
        learn_size=14,
        loss="log",
        null_value=0.1,
        alternative="less",
        pos_label="no",
    )
    expected = of_one.fit(601, "jackknife", rng=2)
    check_same(found, expected)
    assert found["settings"] == json.loads(expected.to_json())["settings"]
    areas = f"{ONE} --loss auc --learn-size 9,11 --n-pairs 301"
    of_numbers = answer(f"{areas} --pos-label 0".replace("plain", "numbers"))["settings"]
    assert (of_numbers["learn_size_by_class"], of_numbers["pos_label"]) == ([9, 11], 0)
    loose, tight, capped = (
        answer(f"{TWO} --learn-size 12 {bounds}")["n_fits"]
        for bounds in ("--tol 0.2", "--tol 0.05", "--tol 0.05 --max-fits 4000")
    )
    assert loose < tight
    assert capped < tight


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ("--other knn:3", {"other": "knn:3"}),
        ("", {}),
        (
            "--other knn:3 --folds 5 --scoring f1 --pos-label yes",
            {"other": "knn:3", "design": 5, "scoring": "f1", "pos_label": "yes"},
        ),
    ],
)
def test_another_test_is_that_of_python(folder: Path, line: str, arguments: Any) -> None:
    expected = uv.CorrectedTTest(PLAIN[FEATURES], PLAIN["ill"].to_numpy(), "lda", **arguments)
    check_same(answer(f"{ONE} --test corrected_t {line}"), expected.fit(rng=0))


def test_designs(folder: Path) -> None:
    design = answer(f"{QUICK} --folds 5 --repeats 2 --stratify")["settings"]["design"]
    assert design == "stratified 5-fold cross-validation, 2 times"
    halves = answer(f"{TWO} --test hold_out --test-fraction 0.5")
    assert halves["diagnostics"]["n_tested"] == 30
    assert answer(f"{TWO} --test fold_covariance --folds 5 --repeats 3")["n_fits"] == 30
    lacking = f"{QUICK} --one-hot --missing drop".replace("plain", "textgaps")
    assert answer(lacking)["n_obs"] == 58


def test_folds_and_weights_of_rows(folder: Path) -> None:
    rows = {"y": TABLE["ill"], "predictions": TABLE[["model_a", "model_b"]], "pos_label": "yes"}
    losses = uv.Losses.from_predictions(**rows, loss="auc", fold=np.arange(60) % 5)
    parts = f"{BOTH} {AREAS} --fold part".replace("example", "folds")
    for more, cls in (
        ("", uv.CrossValidationWaldTest),
        ("--test corrected_t", uv.CorrectedTTest),
        ("--test delong", uv.DeLongTest),
    ):
        check_same(answer(f"{parts} {more}"), cls.from_losses(losses).fit())
    weighted = uv.Losses.from_predictions(**rows, loss="brier", sample_weight=TABLE["age"])
    found = answer(f"{BOTH} --loss brier --pos-label yes --weight age")
    check_same(found, uv.HoldOutTest.from_losses(weighted).fit())


def test_tables(folder: Path) -> None:
    line = f"{TWO} --tests corrected_t,ustatistic {PAIRS}"
    found = uv.Comparison.from_dict(answer(line))
    assert found.tests == ("corrected_t", "ustatistic")
    assert found.result("ustatistic").settings["learn_size"] == 12
    three = f"{TWO} --other majority"
    holm, plain = (
        uv.Comparison.from_dict(answer(f"{three} --test corrected_t {more}"))
        for more in ("", "--correction none")
    )
    assert len(holm.pairs) == 3
    assert plain.correction is None
    assert (holm.frame["pvalue"] == plain.frame["pvalue"]).all()
    together = f"{three} {PAIRS} --correction simultaneous --baseline majority"
    judged = uv.Comparison.from_dict(answer(together))
    assert judged.pairs == tuple((name, "majority") for name in judged.learners[:2])
    assert judged.best_set()


def test_recommended_tests(folder: Path) -> None:
    table = uv.Comparison.from_dict(answer(f"{ONE} --other majority --tests recommended"))
    assert class_named(uv.advise(60).test).method_name in table.tests
    outcome = typed(f"{ONE} --notes --json a.json")
    alone = uv.TestResult.from_dict(json.loads(Path("a.json").read_text()))
    assert alone.settings["test"] == class_named(uv.advise(60, learners=1).test).method_name
    assert "No test was named" in outcome.stdout
    assert "this is what advise() recommends for 60 observations, one learner" in alone.notes[-1]


def test_the_verdict_comes_first_and_the_words_for_a_paper_last(folder: Path) -> None:
    verdict, _, summary = typed(f"{TWO} {PAIRS}").stdout.partition("\n\n")
    assert "95% interval" in verdict
    assert "when learning from" in summary
    assert " notes: --notes" in summary
    assert "Verdict" not in summary
    assert "Methods" not in summary
    _, words = typed(f"{QUICK} --methods-text").stdout.split("\nMethods\n")
    assert "were compared" in words
    assert "\nReferences\n" in words
    assert "[nadeau2003]" in words
    both = typed(f"{TWO} --tests corrected_t,mcnemar --methods-text").stdout
    assert " ".join(both.split()).count("Computed by ucvtest") == 2
    assert "[mcnemar1947]" in both


def test_json_alone_or_in_a_file(folder: Path) -> None:
    found = answer(f"{QUICK} --margin 0.5")
    assert found["verdict"].startswith(("No evidence", "The "))
    assert found["ucvtest"] == uv.__version__
    result = uv.TestResult.from_dict(found)
    assert list(result.conf_int()) == found["conf_int"]
    assert found["noninferiority"]["decision"] == result.noninferiority(0.5).decision == "pass"
    assert typed(f"{QUICK} --json a.json").stdout.endswith("Result: a.json\n")
    assert json.loads(Path("a.json").read_text())["verdict"] == found["verdict"]
    gate = answer(f"{GATE} new,old")
    assert gate["decision"] == "pass"
    assert list(uv.NoninferiorityResult.from_dict(gate).conf_int) == gate["conf_int"]
    same = answer(f"{ONE} --other lda --test corrected_t")
    assert same["conf_int"] == [None, None]


PLANNED = f"{PLAN} --difference 0.1 --learn-size 12 --n 100 --n 200"


@pytest.mark.parametrize("line", [QUICK, f"{TWO} --tests corrected_t", CHOOSE, PLANNED])
def test_pictures(folder: Path, line: str) -> None:
    """Drawn without pyplot, whose backend may need a display."""
    before = pyplot.get_fignums()
    assert typed(f"{line} --plot {folder / 'a.png'}").exit_code == 0
    assert Path("a.png").read_bytes().startswith(b"\x89PNG")
    assert pyplot.get_fignums() == before


def test_plans_and_selections_are_those_of_python(folder: Path) -> None:
    data = PLAIN[FEATURES], PLAIN["ill"].to_numpy()
    there = uv.plan(*data, "lda", "knn:3", difference=0.1, learn_size=12, n=[100, 200], rng=0)
    assert uv.SamplePlan.from_dict(answer(PLANNED)).n_needed == there.n_needed
    assert there.verdict in " ".join(typed(PLANNED).stdout.split())
    kept = GAPS.dropna()
    line = f"{CHOOSE} --missing drop --scoring neg_log_loss".replace("plain", "gaps")
    found = answer(line)
    expected = uv.select_model(
        *(kept[FEATURES], kept["ill"], ["lda", "majority"]), loss="log", n_permutations=5, rng=0
    )
    # In the units of the score, of which greater is better.
    assert [-row["permutation"] for row in found["table"]] == pytest.approx(
        expected.table["permutation"].tolist(), rel=1e-9
    )
    assert found["best"] == expected.names[expected.choices["permutation"]]
    assert typed(f"{line} -q").stdout == f"Chosen by permutation: {found['best']}\n"


def test_seconds(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def allowed(problem: Any, learn_size: int, max_seconds: float, execution: Any) -> int:
        asked.append(max_seconds)
        return 600

    for module in ("comparison.budget", "methods.ustatistic.budget"):
        monkeypatch.setattr(f"ucvtest.{module}.decided_fits", allowed)
    rounds = [f"ucvtest.methods.permutation.{name}.rounds_within" for name in ("estimation",)]
    rounds.append("ucvtest.methods.permutation.criteria.rounds_within")
    for name in rounds:
        monkeypatch.setattr(name, lambda trials, max_seconds, what: 41)
    for line in (f"{TWO} --test ustatistic", f"{TWO} --variance jackknife"):
        settings = answer(f"{line} --max-seconds 5")["settings"]
        assert (settings["max_seconds"], settings["max_fits"]) == (5, 600)
    for line in (ONE, TWO):
        assert typed(f"{line} --max-seconds 5").exit_code == 0
    assert set(asked) == {5.0}
    settings = answer(f"{ONE} --test permutation --max-seconds 5")["settings"]
    assert (settings["max_seconds"], settings["n_permutations"]) == (5, 40)
    assert typed(f"{TWO} --tests corrected_t,hold_out --max-seconds 5").exit_code == 0
    refused = typed(f"{TWO} --tests corrected_t,nested_cross_validation --max-seconds 5").stderr
    assert "--max-seconds 5 allows about 600 fits, and the comparison by corr" in refused
    choose = CHOOSE.replace("--permutations 5", "--max-seconds")
    assert "which max_seconds = 60.0 allowed" in typed(f"{choose} 60").stdout
    for name in rounds:
        monkeypatch.setattr(name, lambda trials, max_seconds, what: 2)
    refused = typed(f"{choose} 0.01").stderr
    assert refused.startswith("Error: --max-seconds 0.01 allows about 2 fits of each learner")
    assert refused.endswith("rademacher: use quicker learners, or more seconds\n")


def test_checkpoints(folder: Path) -> None:
    line = f"{TWO} --other majority --test ustatistic --checkpoint kept --n-pairs"
    for _ in range(2):
        assert len(answer(f"{line} 400")["results"]) == 3
        assert len([*Path("kept").glob("*.json.gz")]) == 3
    assert "is of another call: tests differs" in typed(f"{line} 401").stderr


def test_the_switch_of_mlflow_turns_on_autologging(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    monkeypatch.setattr("ucvtest.autologging.autolog", lambda: calls.append("on"))
    assert typed(QUICK).exit_code == 0
    assert calls == []
    assert typed(f"{QUICK} --mlflow").exit_code == 0
    assert calls == ["on"]


@pytest.mark.filterwarnings("default")
def test_a_warning_is_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def warn(*_: Any, **__: Any) -> None:
        warnings.warn("look here", uv.UcvtestWarning, stacklevel=1)

    monkeypatch.setattr(report.Display, "show", warn)
    assert typed(QUICK).stderr == "Warning: look here\n"


# ---------------------------------------------------------------------------------------- help


def test_choices_are_those_of_the_library() -> None:
    assert get_args(LossName) == (*LOSSES, "auc")
    assert get_args(compare.CorrectionName) == (*get_args(Correction), "none")
    assert get_args(compare.AlternativeName) == ALTERNATIVES
    assert get_args(compare.ContrastName) == get_args(Contrast)
    assert set(get_args(compare.IntervalName)) == set(get_args(IntervalName))
    assert get_args(compare.VarianceName) == get_args(Variance)
    assert get_args(select.CriterionName) == get_args(Criterion)
    helped = typed("advise --help").stdout
    assert [each for each in (*get_args(Goal), *get_args(About)) if each not in helped] == []


def commands() -> list[str]:
    group: Any = get_command(cli.app)
    return sorted(group.commands)


@pytest.mark.parametrize("command", ["", *commands()])
def test_help(command: str) -> None:
    shown = typed(f"{command} --help", terminal_width=80).stdout
    assert [line for line in shown.splitlines() if len(line) > 80] == []
    assert typed(f"{command} -h", terminal_width=80).stdout == shown
    assert command in typed("-h").stdout
    assert command or "--install-completion" in shown


def test_help_teaches_and_lists_all_learners_and_tests() -> None:
    helped = typed("compare --help").stdout
    for taught in ("Examples:", "--learn-size", "favours the first", *SHORT_NAMES):
        assert taught in helped, taught
    listed = helped.partition("Tests:\n")[2].partition("\n\n")[0].splitlines()
    found = dict(line.split(maxsplit=1) for line in listed)
    assert found == {name: cls.in_short for name, cls in TESTS.items()}
    names = [line for line in typed("tests").stdout.splitlines() if not line.startswith(" ")]
    assert names == [name if cls.valid else f"{name} (not valid)" for name, cls in TESTS.items()]
    own, _, named = typed("learners").stdout.partition("\nWithout arguments,")
    assert [line.partition(":")[0] for line in own.splitlines()[::2]] == list(SHORT_NAMES)
    assert named.splitlines()[1::2] == list(DEFAULTS)


def test_advise() -> None:
    command, _, reasons = typed("advise --n 60 --loss log").stdout.partition("\n")
    said = str(uv.advise(60, loss="log")).replace("contrast='ratio'", "--contrast ratio")
    assert reasons == said.partition("\n")[2] + "\n"
    assert command.startswith(
        "ucvtest compare FILE --target COLUMN --learner A --other B --loss lo"
    )
    assert command.endswith("   (cannot promise: see the reasons)")


def test_the_example(tmp_path: Path) -> None:
    path = tmp_path / "e.csv"
    assert typed(f"example {path}").stdout == f"Written: {path}\n"
    assert typed(f"example {path} --force").exit_code == 0
    assert path.read_bytes() == catalogue.EXAMPLE.read_bytes()


def test_lines_are_as_long_as_the_terminal(folder: Path) -> None:
    narrow, wide = (
        typed(f"{QUICK} -q", env={"COLUMNS": str(columns)}).stdout for columns in (50, 200)
    )
    assert max(map(len, narrow.splitlines())) <= 48
    assert 60 < max(map(len, wide.splitlines())) <= 100


# ----------------------------------------------------------------------------------- processes


@pytest.mark.seconds(40, reason="starts processes, which import and compile for themselves")
def test_one_walk_in_processes_of_its_own(folder: Path) -> None:
    """What a shell sees: statuses, and streams that are apart; and each warning once."""
    rng = np.random.default_rng(0)
    rows = pd.DataFrame(np.repeat(rng.normal(size=(30, 3)), 2, axis=0), columns=list("abc"))
    rows.assign(y=np.repeat(rng.integers(0, 2, 30), 2)).to_csv("rows.csv", index=False)
    script = f"""
        ucv() {{ "{sys.executable}" -m ucvtest "$@"; echo "status $?"; }}
        ucv predictions - --target ill --scores model_a,model_b {AREAS} -q < example.csv
        ucv predictions no.csv --target ill --scores a
        ucv compare rows.csv --target y --learner lda --other nearest_centroid
        "{sys.executable}" -c "from ucvtest.cli import main; main()" --version
    """
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert re.findall(r"status \d", done.stdout) == ["status 0", "status 2", "status 0"]
    assert done.stdout.endswith(f"ucvtest {uv.__version__}\n")
    refused, warned = done.stderr.split("\n", 1)
    assert refused == "Error: there is no file no.csv"
    assert warned.lower().count("warning:") == 1, warned
