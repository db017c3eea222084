"""Learners of R by name, by every loss, against each package's own predict() by hand.

The data have factors, text, missing values, and a response of three classes.
"""

from pathlib import Path

import pytest

from tests.support.r_session import run_command

pytestmark = [pytest.mark.requires_r, pytest.mark.seconds(120, reason="a script of R")]

SCRIPT = Path(__file__).with_name("by_hand.R")

EVERYWHERE = (
    "MASS::lda",
    "rpart",
    "naiveBayes",
    "multinom",
    "glmnet(s = 0.05)",
    "cv.glmnet",
    "train",
)
OF_LABELS = ("zero_one", "log", "brier")
OF_NUMBERS = ("squared", "absolute")
CASES = [
    *(
        ("Origin", name, loss)
        for name in (*EVERYWHERE, "MASS::qda", "glm", "gam")
        for loss in OF_LABELS
    ),
    *(("Origin", name, loss) for name in ("knn3", "ranger") for loss in OF_LABELS),
    *(("DriveTrain", name, loss) for name in EVERYWHERE for loss in OF_LABELS),
    *(("DriveTrain", name, loss) for name in ("knn3", "ranger") for loss in ("log", "brier")),
    *((target, "svm", "zero_one") for target in ("Origin", "DriveTrain")),
    *(
        ("Price", name, loss)
        for name in ("lm", "rpart", "gam", "ranger", "svm", "glmnet(s = 0.05)")
        for loss in OF_NUMBERS
    ),
]
"""Response, learner and loss: two classes, three classes, and numbers."""


@pytest.fixture(scope="module")
def printed(r_environment: dict[str, str]) -> dict[tuple[str, ...], tuple[float, float]]:
    """Of every case how far the losses are from those by hand, and their mean."""
    # Other packages ask the system for the time zone, which containers do not have.
    lines = run_command(["Rscript", SCRIPT], env=r_environment | {"TZ": "UTC"}).splitlines()
    cells = [line.split("|") for line in lines if line.count("|") == 4]
    return {tuple(names): (float(apart), float(mean)) for *names, apart, mean in cells}


@pytest.mark.parametrize("case", CASES, ids=" ".join)
def test_losses_are_those_of_predict_by_hand(
    printed: dict[tuple[str, ...], tuple[float, float]], case: tuple[str, str, str]
) -> None:
    apart, mean = printed[case]
    assert mean > 0
    assert apart < 1e-10 * max(mean, 1)


def test_no_case_is_left_out(printed: dict[tuple[str, ...], tuple[float, float]]) -> None:
    assert set(printed) == set(CASES)
    assert len(CASES) > 30
