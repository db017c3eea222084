"""Compiled programs of the command line stay in the user's cache folder."""

import os
import sys
import warnings
from pathlib import Path

import pytest

from tests.support.compiling import environment_of_users
from tests.support.processes import finished
from ucvtest.cli import catalogue, compiled


def environment_after(monkeypatch: pytest.MonkeyPatch, before: dict[str, str]) -> dict[str, str]:
    environment = dict(before)
    monkeypatch.setattr(os, "environ", environment)
    with warnings.catch_warnings():
        compiled.keep_compiled_programs()
    return environment


def test_the_folder_is_private_and_has_a_name_for_machine_and_versions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    found = environment_after(monkeypatch, {"XDG_CACHE_HOME": str(tmp_path)})
    folder = Path(found[compiled.FOLDER])
    assert folder.parent == tmp_path / "ucvtest"
    assert folder.stat().st_mode & 0o077 == 0
    assert found["JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES"] == "none"
    for name in ("version", "_processor"):
        with monkeypatch.context() as other:
            other.setattr(compiled, name, lambda *_: "another")
            there = environment_after(other, {"XDG_CACHE_HOME": str(tmp_path)})
        assert there[compiled.FOLDER] != str(folder)


@pytest.mark.parametrize("folder", ["", "/somewhere/else"])
def test_settings_of_the_user_stay(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = {"XDG_CACHE_HOME": str(tmp_path)}
    before = {**home, compiled.FOLDER: folder}
    assert environment_after(monkeypatch, before) == before
    least = "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"
    assert environment_after(monkeypatch, {**home, least: "2"})[least] == "2"


def test_without_a_folder_that_is_the_users_alone_nothing_is_kept(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    before = {"XDG_CACHE_HOME": str(tmp_path)}
    folder = Path(environment_after(monkeypatch, before)[compiled.FOLDER])
    folder.chmod(0o777)
    assert environment_after(monkeypatch, before) == before
    file = tmp_path / "file"
    file.touch()
    before = {"XDG_CACHE_HOME": str(file)}
    assert environment_after(monkeypatch, before) == before


def test_a_command_leaves_its_programs_there(tmp_path: Path) -> None:
    environment = {
        name: value for name, value in environment_of_users().items() if not name.startswith("JAX_")
    }
    words = "--target ill --learner lda --other knn:3 --test corrected_t --drop model_a,model_b -q"
    done = finished(
        [sys.executable, "-m", "ucvtest", "compare", catalogue.EXAMPLE, *words.split()],
        env=environment | {"XDG_CACHE_HOME": str(tmp_path)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    (folder,) = (tmp_path / "ucvtest").iterdir()
    assert list(folder.iterdir())
