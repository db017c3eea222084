"""A worker that is killed costs its fits another try, and changes no number."""

import os
import random

import joblib
import numpy as np
import pytest

import ucvtest as uv
from tests.support.samples import breast_cancer

SAMPLE = breast_cancer(60, 3)
X, Y = SAMPLE.matrix, SAMPLE.response

pytestmark = pytest.mark.seconds(60, reason="starts three processes, which import for themselves")


class Fatal:
    """The side of a mean; ends its process once, where the folder of a mark is given."""

    def __init__(self, folder=None):
        self.folder = folder

    def __call__(self, X_train, y_train, X_test):
        if self.folder is not None and not (self.folder / "died").exists():
            (self.folder / "died").touch()
            os._exit(9)
        return (X_test[:, 0] > X_train[:, 0].mean()).astype(int)


@pytest.fixture
def cluster():
    distributed = pytest.importorskip("distributed")
    # Its scheduler draws from the global generators, in threads of this process.
    before = random.getstate(), np.random.get_state()  # noqa: NPY002
    made = distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
    )
    with made, distributed.Client(made), joblib.parallel_config(backend="dask"):
        yield
    random.setstate(before[0])
    np.random.set_state(before[1])  # noqa: NPY002


@pytest.mark.usefixtures("cluster")
def test_dask_gives_the_fits_of_a_killed_worker_to_another(tmp_path):
    design = uv.designs.KFold(6, n_repeats=2)
    expected = uv.evaluate({"rule": Fatal()}, X, Y, design, rng=0, n_jobs=1)
    path = tmp_path / "run"
    found = uv.evaluate({"rule": Fatal(tmp_path)}, X, Y, design, rng=0, checkpoint=path)
    assert (tmp_path / "died").exists()
    np.testing.assert_array_equal(found.values, expected.values)
    again = uv.evaluate({"rule": Fatal(tmp_path)}, X, Y, design, rng=0, checkpoint=path)
    np.testing.assert_array_equal(again.values, expected.values)
