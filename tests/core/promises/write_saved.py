"""Write one small file of each kind that users save: python -m tests.core.promises.write_saved.

The files in `saved` are those of 0.1.0. They are written again only where a format gets a new
version, into a folder of its own: `test_saved.py` asserts that later versions read these.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from ucvtest_mlflow.records import Record

import ucvtest as uv

SAVED = Path(__file__).parent / "saved"


def rules() -> uv.Losses:
    """Three fixed rules for the labels of 24 observations in 12 groups."""
    y = np.arange(24) % 2
    wrong = {"a": (0, 5), "b": (1, 5, 8, 13), "c": (2, 3, 9, 14, 17, 20)}
    guesses = {
        name: np.where(np.isin(np.arange(24), rows), 1 - y, y) for name, rows in wrong.items()
    }
    return uv.Losses.from_predictions(y, guesses)


def scores() -> uv.Losses:
    """Scores of three rules, by which they rank observations."""
    y = np.arange(24) % 2
    noise = [np.sin(np.arange(24) * (rule + 2)) for rule in range(3)]
    ranked = {f"rule {rule}": y + each for rule, each in enumerate(noise)}
    return uv.Losses.from_predictions(y, ranked, loss="auc")


def resampled() -> uv.Losses:
    """Losses of two learners in groups of two rows, on four folds."""
    testing = np.arange(24) // 6 == np.arange(4)[:, None]
    costs = np.abs(np.sin(np.arange(2 * 24).reshape(2, 24)))
    values = np.repeat(costs[:, None], 4, axis=1)
    return uv.Losses.from_arrays(
        values, ~testing, learners=["a", "b"], groups=np.repeat(np.arange(12), 2)
    )


def saved() -> dict[str, Any]:
    """What is written, by the name of the file."""
    fixed, cross_validated = rules(), resampled()
    x = np.sin(np.arange(48).reshape(24, 2) + 0.25 * (np.arange(24) % 2)[:, None])
    hold_out = uv.HoldOutTest.from_losses(fixed, "a", "b").fit()
    several = uv.compare_losses(fixed, "hold_out", correction="simultaneous")
    ranked = uv.compare_losses(scores(), "delong")
    return {
        "result": hold_out,
        # Its picture has hundreds of points; those of the plan show what pictures are.
        "result_bayesian": replace(
            uv.BayesianTTest.from_losses(cross_validated).fit(rope=0.01), pictures={}
        ),
        "result_mcnemar": uv.McNemarTest.from_losses(fixed, "a", "b").fit(),
        "joint_result": uv.DeLongTest.joint(scores()),
        "comparison": several,
        "comparison_joint": ranked,
        "equivalence": hold_out.equivalence(-0.2, 0.2),
        "noninferiority": hold_out.noninferiority(0.2),
        "plan": uv.plan(fixed, None, "a", "b", difference=0.1, n=[50, 100]),
        "selection": uv.select_model(
            x, np.arange(24) % 2, ["lda", "knn:3"], n_permutations=3, rng=0
        ),
        "losses": cross_validated,
        "losses_of_rules": scores(),
        "record": Record(hold_out, "file:///nowhere", id="1", created=0, log_plots=False),
    }


def without_seconds(data: Any) -> Any:
    """Times that differ from run to run, as zero."""
    if isinstance(data, Mapping):
        return {
            name: 0.0 if name == "elapsed" and isinstance(each, float) else without_seconds(each)
            for name, each in data.items()
        }
    return [without_seconds(each) for each in data] if isinstance(data, list) else data


if __name__ == "__main__":
    SAVED.mkdir(exist_ok=True)
    for name, each in saved().items():
        text = json.dumps(each.to_dict()) if isinstance(each, uv.Losses) else each.to_json()
        (SAVED / f"{name}.json").write_text(json.dumps(without_seconds(json.loads(text))) + "\n")
        if isinstance(each, uv.Losses):
            each.save(SAVED / f"{name}.npz")
