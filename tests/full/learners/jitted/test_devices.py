"""Several JAX devices: they share the batches, and the results stay what they are."""

import json
import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.seconds(
    60, reason="starts processes, which import and compile for themselves"
)

CODE = """
import json, sys
import jax, numpy as np
import ucvtest as uv
from ucvtest.evaluation.evaluator import Evaluator
from ucvtest.learners.adapters.coerce import as_learner
from ucvtest.data.sample import make_sample

used = set()
default_device = jax.default_device
jax.default_device = lambda device: used.add(str(device)) or default_device(device)
if sys.argv[1] == "chosen":
    jax.config.update("jax_default_device", jax.local_devices()[2])
rng = np.random.default_rng(0)
y = np.arange(40) % 2
X = rng.normal(size=(40, 3)) + y[:, None]
sample = make_sample(X, y, as_classes=True)
learning = rng.permuted(np.tile(np.arange(40) < 20, (4200, 1)), axis=1)
found = {}
for learner in ("lda", "knn:3"):
    evaluator = Evaluator(sample, as_learner(learner), "label")
    predicted = evaluator.predict(learning, ~learning, np.arange(4200))
    found[learner] = predicted.values[~learning].tolist(), dict(predicted.ties)
labels = rng.permuted(np.tile(y, (4200, 1)), axis=1)
evaluator = Evaluator(sample, as_learner("lda"), "score")
found["labels"] = evaluator.predict_labelings(labels, np.arange(4200)).values[::50].tolist()
result = uv.UStatisticTest(X, y, "lda", learn_size=15).fit(2000, rng=0)
found["test"] = [result.estimate, result.pvalue]
print(json.dumps({"devices": jax.local_device_count(), "used": len(used), "found": found}))
"""


def run_on(n_devices: int, chosen: str = "all") -> dict:
    flags = f"--xla_force_host_platform_device_count={n_devices}"
    finished = subprocess.run(
        [sys.executable, "-c", CODE, chosen],
        env=os.environ | {"XLA_FLAGS": flags, "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=True,
    )
    return json.loads(finished.stdout)


@pytest.fixture(scope="module")
def on_one() -> dict:
    return run_on(1)


def test_four_devices_share_the_batches_and_give_the_same_results(on_one):
    on_four = run_on(4)
    assert (on_one["devices"], on_one["used"]) == (1, 0)
    assert (on_four["devices"], on_four["used"]) == (4, 4)
    assert on_four["found"] == on_one["found"]
