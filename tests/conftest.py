"""Fixtures that all tests share, and the promise that no test leaves a trace in global state."""

import gc
import importlib.util
import os
import random
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.linear_model  # noqa: F401  (with it comes rich, which once draws by random)

from tests.support.cells import sampled
from tests.support.compiling import compile_quickly
from tests.support.costs import Costs
from tests.support.paths import data_folder

compile_quickly()


def pytest_configure(config: pytest.Config) -> None:
    """Measure what tests cost."""
    config.pluginmanager.register(Costs(config), "costs")


@pytest.fixture
def rng() -> np.random.Generator:
    """A seeded generator, the same for every test."""
    return np.random.default_rng(20240)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the real data sets, which are not part of the project."""
    _require_data()
    return data_folder()


# Before pytest's own, which leaves out tests by their markers.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Take a sample of grids; start with what takes minutes; mark what uses the data."""
    items[:], left_out = sampled(items)
    config.hook.pytest_deselected(items=left_out)
    items.sort(key=lambda item: item.get_closest_marker("first") is None)
    for item in items:
        if "data_dir" in getattr(item, "fixturenames", ()):
            item.add_marker("requires_data")


# Before fixtures are made, which need the same things.
@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip what cannot run here."""
    if item.get_closest_marker("requires_r"):
        _require_r()
    if item.get_closest_marker("requires_data"):
        _require_data()


def _require_data() -> None:
    folder = data_folder()
    if not (folder / "colon.csv.gz").exists():
        pytest.skip(f"no data sets in {folder}: name their folder in UCVTEST_DATA")


def _require_r() -> None:
    """Skip a test where R or rpy2 is missing or unwanted, or fail it where UCVTEST_REQUIRE_R=1."""
    if os.environ.get("UCVTEST_WITHOUT_R") == "1":
        pytest.skip("nothing was set up for R, because UCVTEST_WITHOUT_R=1")
    missing = _missing_for_r()
    if missing and os.environ.get("UCVTEST_REQUIRE_R") == "1":
        pytest.fail(f"UCVTEST_REQUIRE_R=1, but {missing} is missing: run make setup")
    if missing:
        pytest.skip(f"{missing} is missing: run make setup")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Iterator[list[Any]]:
    """Look for no doctests below this folder, where every process would search in vain."""
    found = yield
    return [each for each in found if type(each) is pytest.Module]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect no garbage while modules are imported: all that they make stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """Spare the garbage collector the modules and tests that stay until the end anyway."""
    gc.collect()
    gc.freeze()


def _missing_for_r() -> str:
    if shutil.which("Rscript") is None:
        return "R"
    return "" if importlib.util.find_spec("rpy2") else "rpy2"


@pytest.fixture(autouse=True)
def global_state_unchanged() -> Iterator[None]:
    """Fail a test that moves a global random state or a JAX setting."""
    before = _global_state()
    yield
    after = _global_state()
    if "jax" in after and "jax" not in before:
        before["jax"] = after["jax"] | {"jax_enable_x64": _x64_by_environment()}
    changed = [name for name in after if after[name] != before[name]]
    assert not changed, f"the test changed global state: {', '.join(changed)}"


@pytest.fixture(autouse=True)
def nothing_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no test fail for the warning that fits take long: how long they take is chance."""
    if "ucvtest" in sys.modules:
        monkeypatch.setattr("ucvtest.evaluation.slow_fits.LONG_SECONDS", float("inf"))


def _global_state() -> dict[str, Any]:
    kind, key, *rest = np.random.get_state()  # noqa: NPY002  (read, so that nothing moves it)
    state = {"numpy.random": (kind, key.tobytes(), *rest), "random": random.getstate()}
    if "jax" in sys.modules:
        state["jax"] = dict(sys.modules["jax"].config.values)
    return state


def _x64_by_environment() -> bool:
    return os.environ.get("JAX_ENABLE_X64", "0").lower() in ("1", "true")
