"""Numbers in README and pages are what committed tables and commands say."""

import re
from pathlib import Path

import numpy as np
import pytest

import ucvtest as uv
from studies.calibration.report import END, START, page_section, tables
from studies.reproductions import influence
from studies.reproductions.published_influence import PUBLISHED
from tests.support.paths import ROOT
from tests.support.scripts import script
from ucvtest.advice.calibration import LEAST_MEAN, WEAK, calibration_table

pytestmark = pytest.mark.seconds(400, reason="whole scripts, compiled as for users")

print_again = script("docs/print_again.py")

DOCS = ROOT / "docs"


def words(text: str) -> str:
    """Without line breaks."""
    return " ".join(text.split())


def text_of(page: str) -> str:
    return words((DOCS / page).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def section() -> str:
    text = (DOCS / "validation" / "calibration-tables.md").read_text(encoding="utf-8")
    return text.partition(START)[2].partition(END)[0]


def test_the_page_on_calibration_is_that_of_the_table(section: str) -> None:
    """All but the words on the advice, which the next test has."""
    missing = [part for part in tables(calibration_table()) if part.strip() not in section]
    assert missing == []


@pytest.mark.slow
def test_the_page_on_calibration_is_that_of_the_table_and_the_advice(section: str) -> None:
    assert section.strip() == page_section(calibration_table()).strip()


def test_limits_of_the_advice() -> None:
    page = text_of("choose/index.md")
    assert f"below {LEAST_MEAN:.0%} on average" in page
    assert f"below {WEAK:.0%} are named" in page


def test_the_smallest_sample_that_rejects_whatever_the_learner() -> None:
    found = re.search(
        r"cannot reject at 5% in balanced samples below (\d+) obs",
        text_of("methods/leave_pair_out.md"),
    )
    assert found
    half = int(found[1]) // 2
    critical = uv.codes.critical_values(0.05, [half - 1, half], [half - 1, half], "supremum")
    at = np.diag(np.asarray(critical, dtype=float))
    assert at[0] < 0 <= at[1]


def test_published_standard_errors_are_those_that_the_script_compares_with() -> None:
    text = (DOCS / "validation" / "reproductions" / "influence.md").read_text(encoding="utf-8")
    sections = re.findall(
        r"^## Tables? \d and \d: (\d+) in a class$(.*?)(?=^## )", text, re.M | re.S
    )
    assert [n for n, _ in sections][:2] == ["20", "10"]
    for n, section in sections:
        published = PUBLISHED[int(n)]
        lines = re.findall(r"^\| (?:LDA|QDA), .*\|$", section, re.M)
        rows = [re.split(r" (?<!\\)\| ", line.strip("| ")) for line in lines]
        columns = influence.columns(int(n))
        assert len(rows) == len(columns)
        for column, *cells in rows:
            learner, p, k = column.split(", ")
            place = columns.index((learner.lower(), int(p), int(k)))
            shown = [cell.rpartition(" \\| .")[2] for cell in cells]
            names = ("sd", "influence", "adhoc_2")
            assert shown == [published[name].split()[place] for name in names], column


def without_seconds(text: str) -> list[str]:
    """Word by word; what a machine does to times is no number of the page."""
    return re.sub(r"\b[\d.]+ s\b|Seconds:\s*[\d.]+", "", text).split()


def again(name: str, folder: Path) -> None:
    path = print_again.FOLDER / f"{name}.txt"
    _, _, kept = path.read_text(encoding="utf-8").partition("\n")
    found = print_again.printed(folder, *print_again.command_of(path))
    assert without_seconds(found) == without_seconds(kept)


def test_what_quick_commands_printed_is_what_they_print(tmp_path: Path) -> None:
    again("sequential", tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", ["colon"])
def test_what_other_commands_printed_is_what_they_print(
    name: str, tmp_path: Path, data_dir: Path
) -> None:
    again(name, tmp_path)


def test_printed_texts_are_shown_and_their_scripts_exist() -> None:
    paths = [path for room in ("methods", "validation") for path in (DOCS / room).rglob("*.md")]
    pages = "".join(path.read_text(encoding="utf-8") for path in paths)
    for path in sorted(print_again.FOLDER.glob("*.txt")):
        assert (ROOT / print_again.command_of(path)[0]).exists()
        assert f"printed/{path.name}" in pages


INCLUDED = re.compile(r"^```\{literalinclude\} (?:\.\./)?printed/(\S+)$", re.M)
FENCE = re.compile(r"^`{3}.*?^`{3}$", re.M | re.S)
NOT_PROSE = re.compile(r"^:{3}[^\n]*$|`[^`]*`|\]\([^)]*\)", re.M)
DECIMAL = re.compile(r"(?<![\w.])(\d*\.\d+)(?:e([+-]\d+)| x 10\^(\d+))?(?![\w.]*\w)")
REPRODUCTIONS = sorted((DOCS / "validation" / "reproductions").glob("*.md"))


def decimals(text: str) -> set[tuple[str, int]]:
    """Numbers with a point, without the zero before it, and the power of ten behind it."""
    return {
        (digits.lstrip("0"), int(printed or typeset or 0))
        for digits, printed, typeset in DECIMAL.findall(text)
    }


@pytest.mark.parametrize("page", REPRODUCTIONS, ids=lambda page: page.stem)
def test_numbers_of_reproductions_stand_in_what_the_page_shows_as_printed(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    names = INCLUDED.findall(text)
    assert names
    paths = [print_again.FOLDER / name for name in names]
    # Settings stand in the scripts; what ended studies printed has no command.
    paths += [ROOT / print_again.command_of(p)[0] for p in paths if p.parent == print_again.FOLDER]
    printed = "\n".join(path.read_text(encoding="utf-8") for path in paths)
    prose = NOT_PROSE.sub("", FENCE.sub("", text))
    # A fence that is not seen to end would take what follows along.
    assert prose.count("\n#") == text.count("\n#")
    assert decimals(prose) - decimals(printed) == set()


def test_what_no_interval_can_cover_is_said_as_printed_and_in_the_table() -> None:
    shown = (print_again.FOLDER / "unseen_rows.txt").read_text(encoding="utf-8")
    blocks = re.findall(
        r"n = (\d+), rules learnt from (\d+).*?it can cover at most ([\d.]+)%", shown, re.S
    )
    usual = re.findall(r"such rows, it covers ([\d.]+%)", shown)
    assert f"more than {blocks[0][2]}%" in text_of("validation/calibration.md")
    of_the_others = f"and {usual[0]} if it covers 95% of the samples that have such rows"
    assert of_the_others in text_of("validation/calibration.md")
    assert "{}, {} and {}".format(*usual) in text_of("validation/studies-few-fits.md")
    table = calibration_table()
    rows = table[(table["problem"] == "held_spam") & (table["target"] == "difference")]
    said = []
    for n_obs, learn_size, most in blocks:
        names = rows["procedure"].isin(["ustatistic", "ustatistic_third"])
        at = rows[names & (rows["n_obs"] == int(n_obs)) & (rows["learn_size"] == int(learn_size))]
        (share,) = at["covered"] / at["answered"]
        assert share < float(most) / 100
        said.append(f"{share:.1%}")
    assert "{}, {} and {}".format(*said) in text_of("validation/studies-few-fits.md")
