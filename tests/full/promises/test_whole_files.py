"""Every file is written beside and renamed: a full disk costs the new one, never the old one."""

import ast
import errno
import os
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import ucvtest as uv
from tests.support.paths import ROOT
from ucvtest.cli import app
from ucvtest.common import whole_files
from ucvtest.common.whole_files import replacing, write_whole

GOOD = b"what was there before"
TRUTH = np.arange(40) % 2
LOSSES = uv.Losses.from_predictions(TRUTH, {"a": TRUTH[::-1], "b": np.arange(40) // 2 % 2})
RESULT = uv.HoldOutTest.from_losses(LOSSES).fit()
COMPARISON = uv.compare_losses(LOSSES, "hold_out")


@pytest.fixture
def full_disk(monkeypatch):
    """A disk that takes the name of a file, and no more."""

    def full(handle):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(whole_files.os, "fsync", full)


WRITERS = {
    "losses.npz": LOSSES.save,
    "losses.json": LOSSES.save,
    "result.png": lambda path: RESULT.save_plot(path, dpi=20),
    "comparison.svg": lambda path: COMPARISON.save_plot(path, dpi=20),
    "result.pdf": lambda path: RESULT.save_plot(path, dpi=20),
}


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize(("name", "write"), WRITERS.items(), ids=WRITERS)
def test_a_full_disk_leaves_what_was_there(tmp_path, name, write):
    path = tmp_path / name
    path.write_bytes(GOOD)
    with pytest.raises(OSError, match="No space left"):
        write(path)
    assert path.read_bytes() == GOOD
    assert [file.name for file in tmp_path.iterdir()] == [name]


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


@pytest.mark.usefixtures("full_disk")
def test_the_shell_leaves_what_was_there(tmp_path):
    data, path = tmp_path / "example.csv", tmp_path / "found.json"
    path.write_bytes(GOOD)
    rows = ["ill,a,b", *(f"{k % 2},{k % 2},{k // 2 % 2}" for k in range(40))]
    data.write_text("\n".join(rows))
    outcome = run(
        *("predictions", data, "--target", "ill", "--scores", "a,b", "--pos-label", "1"),
        *("--json", path),
    )
    assert outcome.exit_code == 2, outcome.output
    assert "No space left on device: " in outcome.output
    assert "found.json" in outcome.output
    assert path.read_bytes() == GOOD
    outcome = run("example", data, "--force")
    assert outcome.exit_code == 2
    assert data.read_text().startswith("ill,a,b")


def interrupted(path):
    with replacing(path) as beside:
        beside.write_bytes(b"hal")
        assert beside.suffix == path.suffix
        raise KeyboardInterrupt


def test_a_writer_that_fails_half_way_leaves_what_was_there(tmp_path):
    path = tmp_path / "losses.npz"
    path.write_bytes(GOOD)
    with pytest.raises(KeyboardInterrupt):
        interrupted(path)
    assert path.read_bytes() == GOOD
    assert list(tmp_path.iterdir()) == [path]


def test_links_rights_and_devices_stay_what_they_are(tmp_path):
    path, link = tmp_path / "real.txt", tmp_path / "link.txt"
    path.write_bytes(GOOD)
    path.chmod(0o640)
    link.symlink_to(path)
    write_whole(link, "new")
    assert link.is_symlink()
    assert path.read_text() == "new"
    assert path.stat().st_mode & 0o777 == 0o640
    write_whole(os.devnull, "anything")
    assert not Path(os.devnull).is_file()
    write_whole(tmp_path / "first.txt", "é")
    assert (tmp_path / "first.txt").read_bytes() == "é".encode()


def test_a_folder_that_takes_no_new_file_still_has_its_old_one_written(tmp_path, monkeypatch):
    path = tmp_path / "old.txt"
    path.write_bytes(GOOD)

    def refusing(*_):
        raise PermissionError

    monkeypatch.setattr(whole_files.os, "open", refusing)
    with replacing(path) as beside:
        assert beside == path


def test_a_picture_without_an_ending_gets_one(tmp_path):
    RESULT.save_plot(tmp_path / "picture", dpi=20)
    (found,) = tmp_path.iterdir()
    assert found.name == "picture.png"
    assert found.read_bytes().startswith(b"\x89PNG")


ALONE = {
    "ucvtest/common/whole_files.py",
    # It pickles in order to hash, and saves nothing.
    "ucvtest/common/digest.py",
    # A file that only grows, and repairs a line that was cut.
    "ucvtest/ledger/journal.py",
}
WRITING = {"write_text", "write_bytes", "savefig", "savez", "savez_compressed", "save", "to_csv"}


def test_nothing_else_writes_files():
    found = []
    for file in sorted((ROOT / "ucvtest").rglob("*.py")):
        name = str(file.relative_to(ROOT))
        text = file.read_text()
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, ast.Call) or name in ALONE:
                continue
            called = getattr(node.func, "attr", getattr(node.func, "id", ""))
            modes = [each.value for each in node.args if isinstance(each, ast.Constant)]
            opens = called == "open" and any(str(mode)[:1] in "wxa" for mode in modes)
            if not (opens or called in WRITING):
                continue
            written = ast.unparse(node)
            if "temporary_path" not in written and "(file," not in written:
                found.append(f"{name}:{node.lineno} {called}")
    assert not found
