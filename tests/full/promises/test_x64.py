"""JAX's flag for double precision changes no number, because the package decides by itself."""

import json
import os
import sys

import jax
import numpy as np
import pytest

import ucvtest as uv
from tests.support.paths import ROOT
from tests.support.processes import finished

pytestmark = pytest.mark.seconds(
    40, reason="starts processes, which import and compile for themselves"
)

TESTS = {
    "ustatistic": (uv.UStatisticTest, {"n_pairs": 100}),
    "influence": (uv.InfluenceFunctionTest, {"n_repeats": 200}),
}


def numbers(name: str) -> list[str]:
    """The estimate and its variance, to the last bit."""
    cls, options = TESTS[name]
    rng = np.random.default_rng(6)
    y = rng.permutation(np.arange(27) % 2)
    X = rng.normal(size=(27, 2)) + 0.7 * y[:, None]
    result = cls(X, y, "lda", "ridge:1").fit(**options, rng=1)
    return [repr(result.estimate), repr(result.variance)]


def flag() -> bool:
    return bool(jax.config.jax_enable_x64)


@pytest.fixture(scope="module")
def found_elsewhere() -> tuple[bool, dict[str, list[str]]]:
    """The flag and the numbers of a process that has started with the other flag."""
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = finished(
        [sys.executable, "-m", "tests.full.promises.test_x64"],
        env=os.environ | {"JAX_ENABLE_X64": "0" if flag() else "1", "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stderr
    other, found = json.loads(done.stdout)
    return other, found


@pytest.mark.parametrize("name", TESTS)
def test_same_result_with_the_x64_flag_on_and_off(
    found_elsewhere: tuple[bool, dict[str, list[str]]], name: str
) -> None:
    other, found = found_elsewhere
    assert other != flag()
    assert found[name] == numbers(name)


if __name__ == "__main__":
    sys.stdout.write(json.dumps([flag(), {name: numbers(name) for name in TESTS}]))
