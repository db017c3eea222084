"""Numbers in README and pages are what committed tables and commands say."""

import re
import sys

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import ucvtest as uv
from tests.support.paths import ROOT
from ucvtest.advice.calibration import LIMITS, calibration_table

sys.path.insert(0, str(ROOT / "examples"))
import demo
from calibrating.report import END, START, page_section, tables
from calibration import DRAWS

DOCS = ROOT / "docs"


def words(text: str) -> str:
    """Without line breaks."""
    return " ".join(text.split())


def text_of(page: str) -> str:
    return words((DOCS / page).read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def section() -> str:
    text = (DOCS / "validation" / "calibration.md").read_text(encoding="utf-8")
    return text.partition(START)[2].partition(END)[0]


def test_readme_shows_what_the_demo_says() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    drawn = np.random.default_rng(0).choice(len(y), demo.N_PATIENTS, replace=False)
    test = uv.UStatisticTest(
        *(X[drawn], y[drawn], "lda", "gaussian_nb"),
        learn_size=demo.LEARN_SIZE,
        pos_label=demo.MALIGNANT,
    )
    shown = re.findall(r"^```text\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
    assert words(shown[0]) == f"Verdict: {test.fit(rng=0).verdict}"


def test_the_page_on_calibration_is_that_of_the_table(section: str) -> None:
    """All but the words on the advice, which the next test has."""
    missing = [part for part in tables(calibration_table()) if part.strip() not in section]
    assert missing == []


@pytest.mark.slow
def test_the_page_on_calibration_is_that_of_the_table_and_the_advice(section: str) -> None:
    assert section.strip() == page_section(calibration_table(), DRAWS).strip()


def test_limits_of_the_advice() -> None:
    said = f"at least {LIMITS.mean:.0%} on average and {LIMITS.lowest:.0%} in the worst problem"
    assert said in text_of("choose/index.md")


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
