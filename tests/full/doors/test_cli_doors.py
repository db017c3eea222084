"""Every subcommand with good and bad files: exit statuses, messages, and what is printed."""

import gzip
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
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
from ucvtest.cli import catalogue, select
from ucvtest.cli.files import read
from ucvtest.data.files import read_table
from ucvtest.learners.adapters.coerce import SHORT_NAMES
from ucvtest.learners.adapters.named import DEFAULTS
from ucvtest.methods.permutation.criteria import Criterion
from ucvtest.methods.registry import TESTS

pytestmark = pytest.mark.seconds(
    40, reason="starts processes, which import and compile for themselves"
)

TABLE = pd.read_csv(catalogue.EXAMPLE)
FEATURES = ["age", "pressure", "marker", "dose"]
DROP = ["--drop", "model_a", "--drop", "model_b"]
QUICK = ["--learner", "lda", "--other", "knn:3", "--test", "corrected_t"]


def run(*arguments: Any, **options: Any) -> Any:
    return CliRunner().invoke(cli.app, [str(each) for each in arguments], **options)


def compare(path: Any, *options: str, target: str = "ill", **more: Any) -> Any:
    return run("compare", path, "--target", target, *QUICK, *options, **more)


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


CSV = TABLE.to_csv(index=False)
PLAIN = TABLE[[*FEATURES, "ill"]]


def parquet(table: pd.DataFrame, path: Path) -> bytes:
    table.to_parquet(path)
    return path.read_bytes()


FORMS = {
    "comma.csv": lambda path: CSV,
    "semicolon.csv": lambda path: TABLE.to_csv(index=False, sep=";"),
    "decimal.csv": lambda path: TABLE.to_csv(index=False, sep=";", decimal=","),
    "tab.tsv": lambda path: TABLE.to_csv(index=False, sep="\t"),
    "latin.csv": lambda path: CSV.replace("dose", "größe").encode("latin-1"),
    "bom.csv": lambda path: CSV.encode("utf-8-sig"),
    "utf16.csv": lambda path: CSV.encode("utf-16"),
    "packed.csv.gz": lambda path: gzip.compress(CSV.encode()),
    "table.parquet": lambda path: parquet(TABLE, path),
}


@pytest.mark.parametrize("name", FORMS)
def test_good_files(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    written(path, FORMS[name](path))
    found = read_table(path)
    assert found.to_numpy().tolist() == TABLE.to_numpy().tolist()
    outcome = run("predictions", path, "--target", "ill", "--scores", "model_a,model_b", *AUC)
    assert outcome.exit_code == 0, outcome.output
    assert "is 0.023 (95% interval" in " ".join(outcome.stdout.split())


OF_YES = ["--loss", "auc", "--pos-label", "yes"]
AUC = [*OF_YES, "--quiet"]

COMMANDS = {
    "compare": [*DROP, *QUICK],
    "predictions": ["--scores", "model_a,model_b", *OF_YES],
    "select": [*DROP, "--learner", "lda", "--learner", "majority", "--permutations", "5"],
    "plan": [*DROP, "--learner", "lda", "--width", "0.2", "--n", "100"],
    "gate": ["--scores", "model_a,model_b", *OF_YES, "--margin", "0.1"],
}
TIMES = {"elapsed", "uuid"}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_reads_every_form(tmp_path: Path, command: str) -> None:
    answers = []
    for name in ("comma.csv", "semicolon.csv", "tab.tsv", "latin.csv", "packed.csv.gz"):
        path = written(tmp_path / name, FORMS[name](tmp_path / name))
        outcome = run(command, path, "--target", "ill", *COMMANDS[command], "--json", "-")
        assert outcome.exit_code == 0, outcome.output
        answer = json.loads(outcome.stdout)
        assert {"version", "ucvtest"} & set(answer)
        answers.append({key: value for key, value in answer.items() if key not in TIMES})
    assert all(answer == answers[0] for answer in answers)


def test_other_separators_and_the_standard_input(tmp_path: Path) -> None:
    path = written(tmp_path / "bar.txt", CSV.replace(",", "~"))
    rules = ["--target", "ill", "--scores", "model_a,model_b", *AUC]
    assert run("predictions", path, *rules, "--sep", "~").exit_code == 0
    assert "--target ill: no such column" in run("predictions", path, *rules).stderr
    assert "--sep must be one character" in run("predictions", path, *rules, "--sep", "ab").stderr
    assert run("predictions", "-", *rules, input=CSV).exit_code == 0
    tabs = written(tmp_path / "tab.txt", CSV.replace(",", "\t"))
    assert run("predictions", tabs, *rules, "--sep", "tab").exit_code == 0


BAD = {
    "empty": ("", "No columns to parse from file"),
    "header": ("age,ill\n", "has a header and no rows"),
    "binary": (
        b"\x89\x00\x01\x02" * 20,
        "is neither a text file nor a parquet file: save the table as CSV",
    ),
    "archive": (b"PK\x03\x04" + b"\x00" * 20, "is an archive but not an Excel file"),
    "damaged gz": (gzip.compress(b"age,ill\n1,0\n" * 50)[:20], "is damaged"),
    "damaged parquet": (b"PAR1 and no more", "parquet"),
    "wider rows": ("age,ill\n1,2,3\n4,5,6\n", "rows with more values than its header has names"),
    "no target": ("age,dose\n1,2\n3,4\n", "--target ill: no such column in"),
    "one class": ("age,dose,ill\n1,2,0\n3,4,0\n", "y has one class only (0)"),
    "texts": ("age,sex,ill\n1,f,0\n3,m,1\n", "columns that are not numeric: sex; encode them as"),
    "gaps": ("age,dose,ill\n1,,0\n3,4,1\n", "missing values: dose; impute them, leave them out"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(tmp_path: Path, name: str) -> None:
    content, message = BAD[name]
    path = written(tmp_path / "bad.csv", content)
    for outcome in (
        compare(path),
        run("select", path, "--target", "ill", "--learner", "lda"),
        run("plan", path, "--target", "ill", "--learner", "lda", "--width", "0.1"),
    ):
        assert outcome.exit_code == 2, outcome.output
        assert message in outcome.stderr
        assert outcome.stderr.startswith("Error: ")
        assert outcome.stderr.count("\n") == 1
        assert outcome.stdout == ""
    if name not in ("no target", "one class", "texts", "gaps"):
        for command in ("predictions", "gate"):
            more = ["--margin", "0.1"] if command == "gate" else []
            rules = ["--target", "ill", "--scores", "a,b", *more]
            assert message in run(command, path, *rules).stderr


def test_a_missing_file_and_parquet_without_a_reader(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "there is no file no.csv" in compare("no.csv").stderr
    monkeypatch.setattr("ucvtest.data.files.find_spec", lambda name: None)
    path = written(tmp_path / "a.parquet", b"PAR1")
    assert "is a parquet file, which needs pyarrow: pip install pyarrow" in compare(path).stderr


def test_texts_and_gaps_have_options(tmp_path: Path) -> None:
    table = PLAIN.assign(sex=np.where(TABLE["age"] > 58, "f", "m"))
    table.loc[[3, 9], "dose"] = np.nan
    path = written(tmp_path / "a.csv", table.to_csv(index=False))
    outcome = compare(path, "--one-hot", "--missing", "drop", "--notes")
    assert outcome.exit_code == 0, outcome.output
    assert "2 observations have missing values and were left out" in outcome.stdout
    many = PLAIN.assign(name=[f"patient {place}" for place in range(60)])
    path = written(tmp_path / "b.csv", many.to_csv(index=False))
    assert "more than 20 different texts: name" in compare(path, "--one-hot").stderr


@pytest.fixture
def plain(tmp_path: Path) -> Path:
    return written(tmp_path / "plain.csv", PLAIN.to_csv(index=False))


def test_a_text_that_lacks_is_not_another_one(tmp_path: Path) -> None:
    table = PLAIN.assign(sex=np.where(TABLE["age"] > 58, "f", "m").astype(object))
    table.loc[[3, 9], "sex"] = None
    path = written(tmp_path / "a.csv", table.to_csv(index=False))
    assert "columns with missing values: sex" in compare(path, "--one-hot").stderr
    outcome = compare(path, "--one-hot", "--missing", "drop", "--json", "-")
    assert json.loads(outcome.stdout)["n_obs"] == 58


def test_select_takes_scores_and_leaves_out_rows(tmp_path: Path) -> None:
    table = PLAIN.copy()
    table.loc[[3, 9], "dose"] = np.nan
    path = written(tmp_path / "a.csv", table.to_csv(index=False))
    options = ["--target", "ill", "--learner", "lda", "--learner", "knn:3", "--permutations", "5"]
    assert "missing values: dose" in run("select", path, *options).stderr
    more = ["--missing", "drop", "--scoring", "neg_log_loss", "--json", "-"]
    shown = json.loads(run("select", path, *options, *more).stdout)
    kept = table.dropna()
    expected = uv.select_model(
        *(kept[FEATURES], kept["ill"], ["lda", "knn:3"]), loss="log", n_permutations=5, rng=0
    )
    # In the units of the score, of which greater is better.
    assert [-row["permutation"] for row in shown["table"]] == pytest.approx(
        expected.table["permutation"].tolist(), rel=1e-9
    )
    assert shown["best"] == expected.names[expected.choices["permutation"]]
    refused = run("select", path, *options, "--missing", "drop", "--scoring", "f1")
    assert "--scoring f1 is one number for each test set" in refused.stderr


def test_folds_of_rows(tmp_path: Path) -> None:
    folds = np.arange(len(TABLE)) % 5
    path = written(tmp_path / "folds.csv", TABLE.assign(part=folds).to_csv(index=False))
    rules = ["--target", "ill", "--scores", "model_a,model_b", *OF_YES, "--fold"]
    losses = uv.Losses.from_predictions(
        *(TABLE["ill"], TABLE[["model_a", "model_b"]]), loss="auc", pos_label="yes", fold=folds
    )
    for more, cls in (
        ([], uv.CrossValidationWaldTest),
        (["--test", "corrected_t"], uv.CorrectedTTest),
        (["--test", "delong"], uv.DeLongTest),
    ):
        shown = json.loads(run("predictions", path, *rules, "part", *more, "--json", "-").stdout)
        assert shown["pvalue"] == cls.from_losses(losses).fit().pvalue
    several = run("predictions", path, *rules, "part", "--loss", "brier", "--json", "-")
    assert json.loads(several.stdout)["method"] == "Cross-validation Wald test"
    for arguments, message in (
        (["no"], "--fold no: no such column"),
        (["ill"], "--fold ill: that is the true response"),
        (["part", "--weight", "age"], "--weight is for means over observations"),
        (["part", "--test", "permutation"], "is not for out-of-fold predictions: use one of"),
    ):
        assert message in run("predictions", path, *rules, *arguments).stderr
    fixed = run("predictions", path, *rules[:-1], "--test", "corrected_t")
    assert "--test corrected_t is not for fixed rules" in fixed.stderr


def test_weights_of_rows(example: Path) -> None:
    rules = ["--target", "ill", "--scores", "model_a,model_b", "--loss", "brier"]
    rules += ["--pos-label", "yes"]
    outcome = run("predictions", example, *rules, "--weight", "age", "--json", "-")
    losses = uv.Losses.from_predictions(
        *(TABLE["ill"], TABLE[["model_a", "model_b"]]),
        loss="brier",
        pos_label="yes",
        sample_weight=TABLE["age"],
    )
    expected = uv.HoldOutTest.from_losses(losses).fit()
    assert json.loads(outcome.stdout)["pvalue"] == expected.pvalue
    assert (
        "--weight no: no such column"
        in run("predictions", example, *rules, "--weight", "no").stderr
    )
    grouped = run("predictions", example, *rules, "--weight", "age", "--groups", "age", "-q")
    assert grouped.exit_code == 0
    errors = ["--target", "ill", "--scores", "ill2,ill3", "--test", "mcnemar", "--weight", "age"]
    table = written(
        example.with_name("ill.csv"),
        TABLE.assign(ill2=TABLE["ill"], ill3=TABLE["ill"].iloc[::-1].to_numpy()).to_csv(
            index=False
        ),
    )
    assert "these losses are weighted: use HoldOutTest" in run("predictions", table, *errors).stderr


def test_two_options_for_one_thing(example: Path) -> None:
    options = ["--target", "ill", "--learner", "lda", "--loss", "log", "--scoring", "f1"]
    refused = run("select", example, *options)
    assert "--loss and --scoring exclude each other: pass one of them" in refused.stderr
    both = ["--target", "ill", "--learner", "lda", "--other", "majority", "--scoring", "f1"]
    refused = run("compare", example, *both, "--tests", "mcnemar")
    assert "is about --loss zero_one alone, got --scoring f1" in refused.stderr


@pytest.mark.parametrize("learner", [KNeighborsClassifier(3), LinearDiscriminantAnalysis()])
def test_encoding_before_the_splits_is_that_of_a_pipeline(tmp_path: Path, learner: Any) -> None:
    """Also of a text that one row alone has, which the rules for this row have never seen."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=60), "ward": rng.choice(["a", "b", "c"], 60)})
    table.loc[7, "ward"] = "once"
    table["ill"] = (table["x"] + (table["ward"] == "a") + rng.normal(size=60) > 0).astype(int)
    table.to_csv(tmp_path / "wards.csv", index=False)
    encoded, y, _ = read(tmp_path / "wards.csv", "ill", [], one_hot=True)
    encoder = OneHotEncoder(handle_unknown="ignore", drop="first", sparse_output=False)
    columns = make_column_transformer((encoder, ["ward"]), remainder="passthrough")
    before = uv.evaluate(learner, encoded, y, 10, rng=0)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Found unknown categories", UserWarning)
        within = uv.evaluate(make_pipeline(columns, learner), table[["x", "ward"]], y, 10, rng=0)
    np.testing.assert_array_equal(before.values, within.values)


def test_designs(plain: Path) -> None:
    def settings(*options: str) -> dict[str, Any]:
        outcome = compare(plain, "--json", "-", *options)
        assert outcome.exit_code == 0, outcome.output
        return json.loads(outcome.stdout)["settings"]

    given = settings("--folds", "5", "--repeats", "2", "--stratify")
    assert given["design"] == "stratified 5-fold cross-validation, 2 times"
    outcome = run("compare", plain, "--target", "ill", "--learner", "lda", "--folds", "5")
    assert "--folds needs the name of a test: add --test" in outcome.stderr
    parts = ["compare", plain, "--target", "ill", "--learner", "lda", "--other", "knn:3", "--test"]
    outcome = run(*parts, "mcnemar", "--folds", "5")
    assert "--folds does not apply to the test mcnemar: it has --test-fraction" in outcome.stderr
    outcome = run(*parts, "hold_out", "--test-fraction", "0.5", "--json", "-")
    assert json.loads(outcome.stdout)["diagnostics"]["n_tested"] == 30
    outcome = run(*parts, "fold_covariance", "--folds", "5", "--repeats", "3", "--json", "-")
    assert json.loads(outcome.stdout)["n_fits"] == 30
    outcome = run(*parts, "five_by_two_t", "--folds", "5")
    assert "accepts 5 repetitions of 2-fold cross-validation" in outcome.stderr


def test_all_sixteen_tests_are_known(plain: Path) -> None:
    one = ["compare", plain, "--target", "ill", "--learner", "ridge:1.0"]
    outcome = run(*one, "--test", "leave_pair_out", "--quiet")
    assert outcome.exit_code == 0, outcome.output
    assert "labels and features" in outcome.stdout.replace("\n", " ")
    outcome = run(*one, "--test", "permutation", "--quiet")
    assert outcome.exit_code == 0, outcome.output
    outcome = run(*one, "--test", "permutation", "--other", "lda")
    assert "--test permutation is about one learner: leave out --other" in outcome.stderr
    outcome = run(*one, "--test", "leave_pair_out", "--loss", "log")
    assert "is about the AUC: leave out --loss" in outcome.stderr
    listed = run("tests")
    assert [line for line in listed.stdout.splitlines() if not line.startswith(" ")] == [
        name if cls.valid else f"{name} (not valid)" for name, cls in TESTS.items()
    ]


def test_scores_of_scikit_learn(plain: Path) -> None:
    refused = compare(plain, "--scoring", "f1").stderr
    assert "pass --pos-label no or --pos-label yes, the class that it is about" in refused
    of_ill = ["--pos-label", "yes"]
    outcome = compare(plain, "--scoring", "f1", *of_ill, "--folds", "5", "--json", "-")
    assert outcome.exit_code == 0, outcome.output
    found = json.loads(outcome.stdout)
    expected = uv.CorrectedTTest(
        *(TABLE[FEATURES], TABLE["ill"], "lda", "knn:3"), design=5, scoring="f1", pos_label="yes"
    ).fit(rng=0)
    assert found["estimate"] == expected.estimate
    assert (
        "--loss and --scoring exclude each other"
        in compare(plain, "--scoring", "f1", "--loss", "log").stderr
    )
    assert "scoring 'f9' is unknown" in compare(plain, "--scoring", "f9").stderr.replace(
        "--scoring f9", "scoring 'f9'"
    )


def test_json_alone(plain: Path, tmp_path: Path) -> None:
    found = json.loads(compare(plain, "--json", "-").stdout)
    assert found["verdict"].startswith(("No evidence", "The "))
    assert len(found["conf_int"]) == 2
    assert found["ucvtest"] == uv.__version__
    result = uv.TestResult.from_dict(found)
    assert list(result.conf_int()) == found["conf_int"]
    file = tmp_path / "a.json"
    assert compare(plain, "--json", str(file)).stdout.endswith(f"Result: {file}\n")
    assert json.loads(file.read_text())["verdict"] == found["verdict"]
    table = run(
        *("compare", plain, "--target", "ill", *QUICK[:4], "--tests", "corrected_t", "--json", "-")
    )
    assert uv.Comparison.from_dict(json.loads(table.stdout)).tests == ("corrected_t",)


def test_quiet_says_the_verdict_alone(plain: Path) -> None:
    outcome = compare(plain, "--quiet")
    assert "=====" not in outcome.stdout
    assert "95% interval" in " ".join(outcome.stdout.split())


@pytest.mark.filterwarnings("default")
def test_a_test_that_could_not_be_carried_out_is_a_failure(plain: Path) -> None:
    same = ["--learner", "lda", "--other", "lda", "--test", "corrected_t"]
    outcome = run("compare", plain, "--target", "ill", *same)
    assert outcome.exit_code == 1
    assert "could not be carried out" in outcome.stdout
    found = json.loads(run("compare", plain, "--target", "ill", *same, "--json", "-").stdout)
    assert found["conf_int"] == [None, None]


# ----------------------------------------------------------------------------- predictions


@pytest.fixture
def example(tmp_path: Path) -> Path:
    path = tmp_path / "example.csv"
    outcome = run("example", path)
    assert outcome.stdout == f"Written: {path}\n"
    return path


def test_predictions_are_those_of_python(example: Path) -> None:
    rules = ["--target", "ill", "--scores", "model_a,model_b", "--json", "-", "--pos-label", "yes"]
    found = json.loads(run("predictions", example, *rules, "--loss", "auc").stdout)
    rows = TABLE.drop(columns=FEATURES)
    losses = uv.Losses.from_predictions("ill", rows, loss="auc", pos_label="yes")
    expected = uv.DeLongTest.from_losses(losses).fit()
    assert found["estimate"] == expected.estimate
    assert found["pvalue"] == expected.pvalue
    assert (found["n_obs"], found["n_fits"]) == (60, 0)
    log = json.loads(run("predictions", example, *rules, "--loss", "log").stdout)
    assert log["settings"]["test"] == "hold_out"
    grouped = run("predictions", example, *rules, "--loss", "auc", "--groups", "age")
    assert grouped.exit_code == 0, grouped.output
    assert json.loads(grouped.stdout)["n_obs"] < 60 or "group" in grouped.stdout


def test_one_rule_and_more_than_two(example: Path) -> None:
    one = run("predictions", example, "--target", "ill", "--scores", "model_a", *AUC)
    assert one.exit_code == 0, one.output
    more = run("predictions", example, "--target", "ill", "--scores", "model_a,model_b,age", *AUC)
    assert more.exit_code == 0, more.output
    assert "delong" in more.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--scores", "model_a,model_a"], "--scores must name different columns"),
        (["--scores", "model_a,ill"], "--scores ill: that is the target"),
        (["--scores", "model_a,c"], "--scores c: no such column in"),
        (["--scores", "model_a,model_b"], "pass labels of the same type"),
        (
            ["--scores", "age", *OF_YES, "--loss", "log"],
            "probabilities lie between 0 and 1",
        ),
        (["--scores", "age", "--loss", "auc"], "pass --pos-label yes if high values mean 'yes'"),
        (["--scores", "age", *OF_YES, "--test", "naive_t"], "is not for fixed rules: use"),
        (["--scores", "age", "--loss", "auc", "--groups", "x"], "--groups x: no such column"),
        (
            ["--scores", "age", "--loss", "auc", "--pos-label", "x"],
            "--pos-label x is not one of the",
        ),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_predictions_that_cannot_be_used(example: Path, options: list[str], message: str) -> None:
    outcome = run("predictions", example, "--target", "ill", *options)
    assert outcome.exit_code == 2
    assert message in outcome.stderr


# ------------------------------------------------------------------------ other subcommands


def test_the_example_is_not_replaced_unasked(example: Path) -> None:
    assert run("example", example).exit_code == 2
    assert run("example", example, "--force").exit_code == 0
    assert example.read_bytes() == catalogue.EXAMPLE.read_bytes()


def test_advise() -> None:
    outcome = run("advise", "--n", "60", "--loss", "log")
    said = str(uv.advise(60, loss="log")).replace("contrast='ratio'", "--contrast ratio")
    command, _, reasons = outcome.stdout.partition("\n")
    assert reasons == said.partition("\n")[2] + "\n"
    assert command == (
        "ucvtest compare FILE --target COLUMN --learner A --other B --loss log --test ustatistic "
        "--learn-size 29 --tol 0.2 --max-fits 10000   (cannot promise: see the reasons)"
    )
    assert "n must be at least 2, got 1" in run("advise", "--n", "1").stderr
    assert "--fits 5 is too few" in run("advise", "--n", "60", "--fits", "5").stderr


def test_select(plain: Path, tmp_path: Path) -> None:
    learners = ["--learner", "lda", "--learner", "majority"]
    parts = ["select", plain, "--target", "ill", *learners, "--permutations", "20"]
    picture = tmp_path / "a.png"
    outcome = run(*parts, "--json", "-", "--plot", picture)
    assert outcome.exit_code == 0, outcome.output
    found = json.loads(outcome.stdout)
    expected = uv.select_model(
        *(TABLE[FEATURES], TABLE["ill"], ["lda", "majority"]), n_permutations=20, rng=0
    )
    assert found["best"] == expected.best.name
    first = expected.table["permutation"][0]
    assert found["table"][0]["permutation"] == pytest.approx(first, rel=1e-14)
    assert picture.stat().st_size > 2000
    assert run(*parts, "--quiet").stdout == f"Chosen by permutation: {found['best']}\n"


def test_learners_are_listed() -> None:
    own, _, named = run("learners").stdout.partition("\nWithout arguments,")
    assert [line.partition(":")[0] for line in own.splitlines()[::2]] == list(SHORT_NAMES)
    assert named.splitlines()[1::2] == list(DEFAULTS)


def test_choices_are_those_of_the_library() -> None:
    assert get_args(select.CriterionName) == get_args(Criterion)
    helped = run("advise", "--help").stdout
    for choice in (*get_args(Goal), *get_args(About)):
        assert choice in helped


@pytest.mark.parametrize(
    "command",
    [
        *("compare", "doctor", "predictions", "advise", "select", "plan", "gate", "learners"),
        *("tests", "example"),
    ],
)
def test_help_by_one_letter(command: str) -> None:
    outcome = run(command, "-h")
    assert outcome.exit_code == 0
    assert outcome.stdout == run(command, "--help").stdout
    assert command in run("-h").stdout


def test_lines_are_as_long_as_the_terminal(plain: Path) -> None:
    narrow, wide = (
        compare(plain, "--quiet", env={"COLUMNS": str(columns)}).stdout for columns in (50, 200)
    )
    assert max(map(len, narrow.splitlines())) <= 48
    assert 60 < max(map(len, wide.splitlines())) <= 100


def commands() -> list[str]:
    group: Any = get_command(cli.app)
    return sorted(group.commands)


@pytest.mark.parametrize("command", ["", *commands()])
def test_help_fits_80_columns(command: str) -> None:
    shown = run(*command.split(), "--help", terminal_width=80).stdout
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def test_completion_is_offered() -> None:
    shown = run("--help").stdout
    assert "--install-completion" in shown


def test_one_walk_in_a_process_of_its_own(tmp_path: Path) -> None:
    """What a shell sees: statuses, and streams that are apart."""
    script = (
        "ucv() { " + f'"{sys.executable}" -m ucvtest "$@"; echo "status $?"; ' + "}\n"
        "ucv example e.csv\n"
        "ucv predictions - --target ill --scores model_a,model_b --loss auc --pos-label yes -q"
        " < e.csv\n"
        "ucv predictions no.csv --target ill --scores a\n"
    )
    finished = subprocess.run(
        ["sh", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert [line for line in finished.stdout.splitlines() if line.startswith("status")] == [
        "status 0",
        "status 0",
        "status 2",
    ]
    assert finished.stderr == "Error: there is no file no.csv\n"


@pytest.mark.parametrize(
    ("command", "option", "meant"),
    [
        ("compare", "--random-state", "--seed"),
        ("compare", "--n-folds", "--folds"),
        ("compare", "--sample-weight", ""),
        ("select", "--rng", "--seed"),
        ("select", "--metric", "--scoring"),
        ("select", "--n_permutations", "--permutations"),
        ("predictions", "--sample-weight", "--weight"),
        ("plan", "--random-seed", "--seed"),
    ],
)
def test_options_that_go_by_another_name_elsewhere(command: str, option: str, meant: str) -> None:
    outcome = run(command, "no.csv", "--target", "y", option, "1")
    assert outcome.exit_code == 2
    last = outcome.stderr.strip().splitlines()[-1]
    assert f"No such option: {option}" in last
    assert meant in last
    assert "stratify" not in last


def test_seconds_and_checkpoints(
    plain: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[float] = []

    def allowed(problem: Any, learn_size: int, max_seconds: float, execution: Any) -> int:
        asked.append(max_seconds)
        return 600

    for module in ("comparison.budget", "evaluation.time_budget"):
        monkeypatch.setattr(f"ucvtest.{module}.fits_within", allowed)
    start = ("compare", plain, "--target", "ill", "--learner", "lda", "--max-seconds", "5")
    pair = (*start, "--other", "knn:5", "--json", "-")
    assert run(*pair).exit_code == 0
    for option in (("--test", "ustatistic"), ("--variance", "jackknife")):
        settings = json.loads(run(*pair, *option).stdout)["settings"]
        assert (settings["max_seconds"], settings["max_fits"]) == (5, 600)
    assert run(*start).exit_code == 0
    assert set(asked) == {5.0}
    for module in ("estimation", "criteria"):
        name = f"ucvtest.methods.permutation.{module}.rounds_within"
        monkeypatch.setattr(name, lambda trials, max_seconds, what: 41)
    permuted = run(*start, "--test", "permutation", "--json", "-")
    settings = json.loads(permuted.stdout)["settings"]
    assert (settings["max_seconds"], settings["n_permutations"]) == (5, 40)
    outcome = run(*start, "--other", "knn:5", "--test", "corrected_t")
    assert outcome.exit_code == 2
    assert "--max-seconds does not apply to corrected_t, whose design fixes" in outcome.stderr
    outcome = run(*start, "--other", "knn:5", "--tests", "corrected_t,hold_out")
    assert outcome.exit_code == 0
    outcome = run(*start, "--other", "knn:5", "--tests", "corrected_t,nested_cross_validation")
    assert outcome.exit_code == 2
    assert "--max-seconds 5 allows about 600 fits, and the comparison by corr" in outcome.stderr
    select = ("select", plain, "--target", "ill", "--learner", "lda", "--learner", "knn:5")
    outcome = run(*select, "--max-seconds", "60")
    assert "n_permutations = " in outcome.stdout
    assert "which max_seconds = 60.0 allowed" in outcome.stdout
    outcome = run(*select, "--max-seconds", "-1")
    assert "--max-seconds must be a finite number" in outcome.stderr
    for module in ("estimation", "criteria"):
        name = f"ucvtest.methods.permutation.{module}.rounds_within"
        monkeypatch.setattr(name, lambda trials, max_seconds, what: 2)
    outcome = run(*select, "--max-seconds", "0.01")
    assert outcome.stderr == (
        "Error: --max-seconds 0.01 allows about 2 fits of each learner, too few for the criteria "
        "permutation, loo, kfold, rademacher: use quicker learners, or more seconds\n"
    )
    outcome = run(*select, "--folds", "9999", "--criterion", "kfold")
    assert outcome.stderr.startswith("Error: --folds must lie between 2 and")
    path = tmp_path / "kept.json"
    table = (*start[:6], "--other", "knn:5", "--other", "majority", "--checkpoint", str(path))
    outcome = run(*table, "--test", "ustatistic", "--n-pairs", "400", "--json", "-")
    assert outcome.exit_code == 0, outcome.stderr
    lines = path.read_text()
    assert lines.count('"result"') == 3
    again = run(*table, "--test", "ustatistic", "--n-pairs", "400", "--json", "-")
    for each in (outcome, again):
        assert len(json.loads(each.stdout)["results"]) == 3
    assert path.read_text() == lines
    outcome = run(*table, "--test", "ustatistic", "--n-pairs", "401")
    assert "is of another call: tests differs" in outcome.stderr
    outcome = run(*start[:6], "--checkpoint", str(path))
    assert "--checkpoint keeps results of several tests (--tests) or pairs of" in outcome.stderr
