"""What people type into a shell."""

import base64
import json
import re
import shlex
import unicodedata

import numpy as np
import pandas as pd
import pytest
from typer.main import get_command
from typer.testing import CliRunner

import ucvtest as uv
from ucvtest import cli
from ucvtest.cli.catalogue import EXAMPLE
from ucvtest.cli.names import complete_learner, complete_test, listed_learners, listed_metrics
from ucvtest.data.files import read_table

TABLE = pd.read_csv(EXAMPLE)
RNG = np.random.default_rng(3)


def typed(line, **options):
    return CliRunner().invoke(cli.app, shlex.split(line), **options)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    TABLE.to_csv("example.csv", index=False)
    return tmp_path


def few_patients():
    """Twelve patients with 50 rows each, whose rows are right or wrong together."""
    patient = np.repeat(np.arange(12), 50)
    truth = RNG.integers(2, size=600)
    wrong = np.isin(patient, [0, 1]), np.isin(patient, [2, 3, 4])
    rules = {name: np.where(each, 1 - truth, truth) for name, each in zip("no", wrong, strict=True)}
    return pd.DataFrame({"patient": patient, "died": truth, **rules})


def test_gate_counts_patients_and_not_their_rows(folder):
    few_patients().to_csv("visits.csv", index=False)
    gate = "gate visits.csv --target died --scores n,o --margin 0.05"
    assert typed(gate).exit_code == 0
    grouped = typed(f"{gate} --groups patient -q")
    assert grouped.exit_code == 3
    assert grouped.stdout.startswith("It is undecided")
    assert len(grouped.stdout.splitlines()) < 5
    answer = json.loads(typed(f"{gate} --groups patient --json -").stdout)
    losses = uv.Losses.from_predictions("died", pd.read_csv("visits.csv"), groups="patient")
    expected = uv.McNemarTest.from_losses(losses, "n", "o").fit().noninferiority(0.05)
    assert answer["pvalue"] == pytest.approx(expected.pvalue)


def test_models_with_the_same_predictions_are_undecided(folder):
    table = pd.DataFrame({"y": [0, 1] * 10, "a": [0, 1] * 10, "b": [0, 1] * 10})
    table.to_csv("same.csv", index=False)
    found = typed("gate same.csv --target y --scores a,b --margin 0.01")
    assert found.exit_code in (0, 3)
    helped = typed("gate --help").stdout
    assert ("whose predictions are the same" in " ".join(helped.split())) == (found.exit_code == 3)


def test_missing_rows_are_left_out(folder):
    table = few_patients().astype({"n": float})
    table.loc[3, "n"] = np.nan
    table.to_csv("gaps.csv", index=False)
    call = "gaps.csv --target died --scores n,o"
    assert typed(f"predictions {call}").exit_code == 2
    for command in (f"predictions {call}", f"gate {call} --margin 0.1"):
        found = typed(f"{command} --missing drop -q")
        assert found.exit_code in (0, 3)
        assert "1 rows with missing values are left out" in found.stderr


@pytest.mark.parametrize(
    ("commands", "words"),
    [
        (
            "compare plan select",
            "metrics of one class, such as f1, need it unless labels are 0 and",
        ),
        ("predictions gate", "row for correct and for metrics such as f1 and accuracy, otherwise"),
    ],
)
def test_help_says_which_metrics_decide(commands, words):
    for command in commands.split():
        helped = typed(f"{command} --help", terminal_width=10_000).stdout
        assert words in " ".join(helped.split())


MISSING = (
    "in CSV and Excel files, empty fields and words such as NA, None and null count as missing"
)


def test_words_that_count_as_missing_are_named_by_column(folder):
    region = np.where(np.arange(60) % 2, "EU", "NA")
    guess = np.where(np.arange(60) % 15, region, "")
    pd.DataFrame({"region": region, "guess": guess, "x": RNG.normal(size=60)}).to_csv("na.csv")
    hint = "if NA in region is a label, write it as another word"
    call = "--target region --scores guess --missing"
    columns = "Error: columns with missing values: region, guess; leave out their rows with"
    refused = typed(f"predictions na.csv {call} raise").stderr
    wrong = ", or count them as wrong with --missing wrong if a model ended in an error"
    assert refused == f"{columns} --missing drop{wrong}; {MISSING}; {hint}\n"
    left_out = "32 rows with missing values are left out (30 in region, 32 in guess)"
    for command in (f"predictions na.csv {call} drop", f"gate na.csv {call} drop --margin 0.1"):
        shown = typed(command.replace("guess", "guess,x") if "gate" in command else command)
        assert f"Warning: {left_out}; {MISSING}; {hint}.\n" in shown.stderr
    learning = "na.csv --target region --learner lda --drop guess"
    for command in (f"compare {learning}", f"select {learning}", f"plan {learning} --width 0.1"):
        assert f"--missing drop; {MISSING}; {hint}\n" in typed(command).stderr
    pd.DataFrame({"y": ["NA", "null"] * 9, "a": 0}).to_csv("all.csv")
    lost = typed("predictions all.csv --target y --scores a --missing drop").stderr
    assert "every row has a missing value in one of the used columns (18 in y)" in lost
    assert "if NA or null in y is a label" in lost


def test_rows_without_a_label_are_left_out_by_the_recommended_test(folder):
    TABLE.assign(ill=TABLE["ill"].where(TABLE.index > 1)).to_csv("gaps.csv", index=False)
    learning = "--target ill --learner lda --drop model_a,model_b --json -"
    TABLE[2:].to_csv("whole.csv", index=False)
    found = typed(f"compare gaps.csv {learning} --missing drop")
    assert "(2 in ill)" in found.stderr
    expected = typed(f"compare whole.csv {learning}")
    assert json.loads(found.stdout)["pvalue"] == json.loads(expected.stdout)["pvalue"]


def test_repeated_folds_have_a_column_of_their_own(folder):
    y = RNG.integers(2, size=40)
    rounds = []
    for again in range(2):
        fold = RNG.permutation(np.arange(40) % 4)
        rules = {name: np.where(RNG.random(40) < 0.2, 1 - y, y) for name in "pq"}
        rounds.append(pd.DataFrame({"y": y, "fold": fold, "again": again, **rules}))
    pd.concat(rounds).to_csv("rounds.csv", index=False)
    call = "rounds.csv --target y --scores p,q --fold fold"
    found = typed(f"predictions {call} --repeat again --test corrected_t --json -")
    losses = uv.Losses.from_predictions(
        y,
        {name: np.stack([each[name] for each in rounds]) for name in "pq"},
        fold=np.stack([each["fold"] for each in rounds]),
    )
    expected = uv.CorrectedTTest.from_losses(losses, "p", "q").fit()
    assert json.loads(found.stdout)["pvalue"] == pytest.approx(expected.pvalue)
    other = "predictions rounds.csv --target y --scores p,q --repeat again"
    assert "--repeat does not apply without --fold" in typed(other).stderr


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("compare", "groups missing quiet alpha alternative"),
        ("predictions", "groups fold repeat missing quiet alpha alternative"),
        ("gate", "groups fold repeat missing quiet alpha"),
        ("select", "groups missing quiet"),
        ("columns", "groups missing quiet alternative"),
        ("plan", "groups missing quiet alpha"),
    ],
)
def test_commands_have_the_options_that_they_can_use(command, options):
    (parameters,) = (
        {param.name for param in each.params}
        for name, each in get_command(cli.app).commands.items()
        if name == command
    )
    assert set(options.split()) <= parameters


def test_lists_have_commas():
    assert listed_learners(["lda,knn:3", "elastic_net:0.1,0.5,logistic"]) == [
        *("lda", "knn:3", "elastic_net:0.1,0.5", "logistic"),
    ]
    assert listed_learners(["ridge:1,scale=mean"]) == ["ridge:1,scale=mean"]
    assert listed_metrics(["f1,mcc", "fbeta(2),recall"]) == ["f1", "mcc", "fbeta(2)", "recall"]
    assert complete_learner("lo") == ["logistic"]
    assert complete_test("corr") == ["corrected_t"]


def test_a_ratio_is_recommended_as_in_python(folder):
    line = "compare example.csv --target ill --learner lda --other majority --contrast ratio"
    found = json.loads(typed(f"{line} --loss log --drop model_a,model_b --json -").stdout)
    data = TABLE.drop(columns=["ill", "model_a", "model_b"]), TABLE["ill"]
    expected = uv.compare(*data, ["lda", "majority"], loss="log", contrast="ratio", rng=0).result()
    assert found["estimate"] == pytest.approx(expected.estimate, rel=1e-12)
    assert (found["n_fits"], found["notes"][-1]) == (expected.n_fits, expected.notes[-1])


def test_a_report_is_one_page_with_its_picture(folder):
    found = typed(
        "compare example.csv --target ill --learner logistic --other knn:3 --drop model_a,model_b "
        "--test CorrectedTTest --report page.html"
    )
    assert found.exit_code == 0
    assert "Report: page.html" in found.stdout
    page = (folder / "page.html").read_text()
    (picture,) = re.findall(r'src="data:image/png;base64,([^"]+)"', page)
    assert base64.b64decode(picture).startswith(b"\x89PNG")
    assert "Nadeau" in page
    assert "without a number behind it is the default of its package" in page
    assert not re.findall(r'(?:src|href)="http', page)


@pytest.mark.parametrize(
    "options",
    [
        *("", "--loss log --learners 1", "--about rules", "--loss auc"),
        *("--metric f1", "--metric 'fbeta(2)' --about rules", "--metric accuracy --about rules"),
    ],
)
def test_what_advise_prints_can_be_typed(folder, options):
    said = typed(f"advise --n 60 --fits 40 {options}").stdout.splitlines()[0]
    line = said.removeprefix("ucvtest ").partition("   (")[0]
    line = line.replace("FILE", "example.csv").replace("COLUMN", "ill").replace("A", "lda", 1)
    line = line.replace(" B", " knn:3") + " --drop model_a,model_b --pos-label yes -q"
    assert typed(line).exit_code == 0


def test_select_and_plan_take_groups(folder):
    table = TABLE.assign(ward=np.arange(len(TABLE)) // 2).drop(columns=["model_a", "model_b"])
    table.to_csv("wards.csv", index=False)
    chosen = typed(
        "select wards.csv --target ill --learner knn:3 --learner lda --criterion kfold "
        "--groups ward -q"
    )
    assert chosen.stdout.startswith("Chosen by kfold")
    planned = typed("plan wards.csv --target ill --learner lda --width 0.3 --groups ward -q")
    assert planned.exit_code == 0


FORMS = {
    "a.txt": lambda table, path: table.to_csv(path, sep="|", index=False),
    "a.jsonl": lambda table, path: table.to_json(path, orient="records", lines=True),
    "a.json": lambda table, path: table.to_json(path, orient="records"),
    "a.feather": lambda table, path: table.to_feather(path),
    "a.xlsx": lambda table, path: table.to_excel(path, index=False),
}
NEEDED = {"a.feather": "pyarrow", "a.xlsx": "openpyxl"}


@pytest.mark.parametrize("name", FORMS)
def test_files_of_other_forms(tmp_path, name):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    FORMS[name](TABLE, tmp_path / name)
    assert read_table(tmp_path / name).to_numpy().tolist() == TABLE.to_numpy().tolist()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"y": [0, 1]}', "'y' contains arrays or objects"),
        ("[1, 2]", "JSON without records"),
        ('{"y": 1', "looks like JSON but contains neither"),
        ('{"y": 1, "y": 2}', "has 'y' twice in one object"),
        ('[{"y": {"a": 1}, "y.a": 2}]', "has 'y.a' twice in one object"),
        ('{"a": [{"y": 1}], "b": {"c": [{"y": 1}]}}', r"\(a, b.c\): name one by --sheet"),
    ],
)
def test_json_of_another_shape_is_refused_for_what_it_is(tmp_path, text, said):
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(ValueError, match=said):
        read_table(tmp_path / "a.json")


RULES = pd.DataFrame({"y": np.arange(40) % 2})
RULES["new"] = np.round(0.3 * RULES["y"] + 0.7 * np.random.default_rng(8).random(40), 3)
RULES["old"] = np.round(np.random.default_rng(9).random(40), 3)
TEXT = RULES.to_csv(index=False)
COMMAS = RULES.to_csv(index=False, sep=";", decimal=",")

HABITS = {
    "a hint of Excel": "sep=;\n" + COMMAS,
    "a comment": "# run 17, of May\n" + TEXT,
    "a title and a blank line": "Run 17;;\n\n" + COMMAS,
    "tabs and decimal commas": COMMAS.replace(";", "\t"),
    "commas in quotes": RULES.astype(str).replace(r"\.", ",", regex=True).to_csv(index=False),
    "blank rows at the end": COMMAS + ";;\n;;\n",
    "blanks around names": TEXT.replace("y,new,old", "y , new , old"),
    "percentages": (RULES[["new", "old"]] * 100).round(1).astype(str).add("%")
    .assign(y=RULES["y"]).to_csv(index=False),
    "percentages with commas": (RULES[["new", "old"]] * 100).round(1).astype(str).add(" %")
    .replace(r"\.", ",", regex=True).assign(y=RULES["y"]).to_csv(index=False, sep=";"),
    "a column that is not read": RULES.assign(z=1, w=2).to_csv(index=False).replace("z,w", "z,z"),
}  # fmt: skip


@pytest.mark.parametrize("content", HABITS.values(), ids=HABITS)
@pytest.mark.filterwarnings("always:.*(blank rows|percentages)")
def test_habits_of_spreadsheets_do_not_change_an_answer(folder, content):
    (folder / "a.csv").write_text(content)
    found = typed("predictions a.csv --target y --scores new,old --loss squared --json -")
    assert found.exit_code == 0, found.stderr
    losses = uv.Losses.from_predictions("y", RULES, loss="squared")
    expected = uv.HoldOutTest.from_losses(losses).fit()
    answer = json.loads(found.stdout)
    assert (answer["estimate"], answer["n_obs"]) == (pytest.approx(expected.estimate), 40)
    assert ("are read as shares, 12.5% as 0.125" in found.stderr) == ("%" in content)
    assert ("2 blank rows at the end are left" in found.stderr) == content.endswith(";;\n")


NAMES_IN_FILES = {
    "a column twice": (TEXT.replace("y,new,old", "y,new,new"), "2 columns of this name"),
    "thousands or thousandths": ('y,new\n1,"1,234"\n0,"5,678"\n', "contains strings"),
    "blanks": (TEXT.replace(",", "  "), "add --sep ' '"),
    "a row for each model": ("model,y,z\nnew,1,1\nold,1,0\n", "needs --model model"),
}


@pytest.mark.parametrize(("content", "said"), NAMES_IN_FILES.values(), ids=NAMES_IN_FILES)
def test_what_to_do_about_names_in_files(folder, content, said):
    (folder / "a.csv").write_text(content)
    found = typed("predictions a.csv --target y --scores new --loss squared")
    assert found.exit_code == 2
    assert said in found.stderr


def test_columns_between_blanks_and_accents_in_two_ways(folder):
    aligned = TEXT.replace(",", "   ").replace("new", unicodedata.normalize("NFD", "modèle"))
    (folder / "a.txt").write_text(aligned)
    typed_names = [unicodedata.normalize(form, "modèle") for form in ("NFC", "NFD")]
    for name in typed_names:
        line = f"predictions a.txt --target y --scores {name},old --loss auc -q --sep ' '"
        assert typed(line).exit_code == 0


def test_sheets_and_rows_above_a_header(folder):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter("a.xlsx") as book:
        pd.DataFrame({"notes": ["of May"]}).to_excel(book, sheet_name="cover", index=False)
        pd.DataFrame([["Run 17"]]).to_excel(book, sheet_name="data", index=False, header=False)
        RULES.to_excel(book, sheet_name="data", index=False, startrow=2)
    line = "predictions a.xlsx --target y --scores new,old --loss auc -q"
    assert "its sheets are cover, data: name one by --sheet" in typed(line).stderr
    assert (
        "--sheet dat is not in a.xlsx, which has cover, data" in typed(f"{line} --sheet dat").stderr
    )
    RULES.to_csv("a.csv", index=False)
    expected = typed(line.replace("xlsx", "csv")).stdout
    assert typed(f"{line} --sheet data").stdout == expected
    with pytest.raises(ValueError, match="read another sheet"):
        uv.Losses.from_predictions("y", "a.xlsx", loss="auc")


def marks_of_two(n=60):
    rng = np.random.default_rng(4)
    return pd.DataFrame({"new": rng.random(n) < 0.8, "old": rng.random(n) < 0.6}).astype(int)


def test_answers_that_ended_in_an_error_are_left_out_or_wrong(folder):
    marks = marks_of_two(200).astype(float)
    marks["new"] = (marks["old"] - (marks.index < 12)).abs()
    marks.loc[marks.index[marks["old"] == 1][-60:], "new"] = np.nan
    marks.to_csv("a.csv", index=False)
    marks.fillna(0).to_csv("b.csv", index=False)
    labels = pd.DataFrame({"y": np.where(marks.index % 3 == 0, "b", "a")})
    for name in marks:
        other = labels["y"].map({"a": "b", "b": "a"})
        labels[name] = labels["y"].where(marks[name] == 1, other).where(marks[name].notna())
    labels.to_csv("c.csv", index=False)
    asked = "--scores new,old --margin 0.1 -q"
    for options in ("a.csv --loss correct", "c.csv --target y"):
        line = f"gate {options} {asked}"
        refused = typed(line)
        assert "--missing drop, or count them as wrong with --missing wrong if" in refused.stderr
        counted = typed(f"{line} --missing wrong --json -")
        assert "missing answers count as wrong (60 in new)" in counted.stderr
        expected = json.loads(typed(f"gate b.csv --loss correct {asked} --json -").stdout)
        answer = json.loads(counted.stdout)
        assert answer["decision"] == expected["decision"] == "fail"
        assert abs(answer["estimate"]) == pytest.approx(abs(expected["estimate"]))
        assert typed(f"{line} --missing drop").exit_code == 0
    refused = typed("predictions a.csv --scores new,old --loss score --missing wrong")
    assert "--missing wrong is for answers that are right or wrong" in refused.stderr


def test_marks_that_are_words(folder):
    marks_of_two().to_csv("a.csv", index=False)
    marks_of_two().replace({1: "C", 0: "I"}).to_csv("b.csv", index=False)
    line = "--scores new,old --loss correct -q"
    assert "as in --pos-label" in typed(f"predictions b.csv {line}").stderr
    named = typed(f"predictions b.csv {line} --pos-label C")
    assert "C counts as right, and as wrong: I" in named.stderr
    assert named.stdout == typed(f"predictions a.csv {line}").stdout
    assert (
        "--pos-label D is not among the marks"
        in typed(f"predictions b.csv {line} --pos-label D").stderr
    )


def test_a_row_for_each_model_and_item(folder):
    wide = marks_of_two().assign(question=np.arange(60) // 2, epoch=np.arange(60) % 2)
    wide.to_csv("wide.csv", index=False)
    long = wide.melt(["question", "epoch"], ["new", "old"], "model", "correct")
    long.sample(frac=1, random_state=0).to_csv("long.csv", index=False)
    records = {"results": {"prompts": [{"raw": "?"}], "results": long.to_dict("records")}}
    (folder / "long.json").write_text(json.dumps(records, indent=1))
    line = "--scores new,old --loss correct --groups question -q"
    expected = typed(f"predictions wide.csv {line}").stdout
    columns = "--model model --value correct --item"
    for file in ("long.csv", "long.json --sheet results.results"):
        found = typed(f"predictions {file} {line} {columns} question,epoch")
        assert found.stdout == expected
    refused = typed(f"predictions long.csv {line} {columns} question").stderr
    assert "several rows for question" in refused
    assert "as in --item question,epoch" in refused
    long[1:].to_csv("part.csv", index=False)
    assert (
        "missing values: new"
        in typed(f"predictions part.csv {line} {columns} question,epoch").stderr
    )
    long.assign(ward=np.arange(120)).to_csv("wards.csv", index=False)
    other = typed(
        f"predictions wards.csv {line} {columns} question,epoch".replace(
            "groups question", "groups ward"
        )
    )
    assert "ward differs between rows of one item" in other.stderr
    assert "--item is missing" in typed(f"predictions long.csv {line} --model model").stderr
    assert (
        "no such model in model, which has"
        in typed(f"predictions long.csv --scores a --loss correct {columns} question,epoch").stderr
    )


def test_only_named_columns_are_read(folder):
    marks = marks_of_two()
    rows = [{**row, "doc": {"q": [1]}, "resps": [["x"]]} for row in marks.to_dict("records")]
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, rows)))
    marks.to_csv("a.csv", index=False)
    line = "--scores new,old --loss correct -q"
    found = typed(f"predictions a.jsonl {line}")
    assert found.stdout == typed(f"predictions a.csv {line}").stdout
    assert (
        "'doc.q' contains arrays" in typed("predictions a.jsonl --scores doc.q --loss score").stderr
    )
    assert "contains arrays" in typed("compare a.jsonl --target new --learner lda --one-hot").stderr
    with pytest.raises(ValueError, match="contains arrays or objects"):
        uv.Losses.from_correct("a.jsonl")


def test_gains_of_columns_are_those_of_python(folder):
    line = (
        "columns example.csv --target ill --learner lda --drop model_a,model_b --fits 40 --json -"
    )
    data = TABLE.drop(columns=["ill", "model_a", "model_b"]), TABLE["ill"]
    first, *rest = data[0].columns
    found = uv.ColumnGains.from_dict(json.loads(typed(line).stdout))
    assert found.frame.equals(uv.columns(*data, "lda", fits=40, rng=0).frame)
    added = typed(f"{line} --base {first} --block both={','.join(rest)}")
    expected = uv.columns(*data, "lda", {"both": rest}, [first], fits=40, rng=0)
    assert uv.ColumnGains.from_dict(json.loads(added.stdout)).frame.equals(expected.frame)


def test_a_base_of_no_columns_and_columns_whose_names_say_something_else(folder):
    """A column called none, and one with a comma in its name."""
    table = TABLE[["age", "dose", "marker", "ill"]].rename(columns={"age": "none", "dose": "a,b"})
    table.to_csv("odd.csv", index=False)
    line = "columns odd.csv --target ill --learner lda --fits 8 --block marker --json -"
    for base, columns in {"none": ["none"], "''": [], "a,b": ["a,b"]}.items():
        assert json.loads(typed(f"{line} --base {base}").stdout)["base"] == columns
    assert "--base: 'a' is not a column" in typed(f"{line} --base a,b,none").stderr
    found = typed(f"{line} --base none --drop model_a,model_b".replace("odd", "example"))
    assert json.loads(found.stdout)["base"] == []
