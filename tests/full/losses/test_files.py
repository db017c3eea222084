"""Files and dictionaries of losses from elsewhere: their size and their types are not trusted."""

import io
import json
import math
import tracemalloc
import zipfile

import numpy as np
import pytest

import ucvtest as uv


def stored():
    return uv.Losses.from_arrays(
        np.zeros((2, 2, 3)), [[1, 1, 0], [0, 1, 1]], loss="auc", y=[1, 0, 1]
    ).to_dict()


def repacked(path, **changes):
    """An archive of small losses, with some of its members replaced by bytes."""
    uv.Losses.from_arrays(np.zeros((2, 2)), np.eye(2)).save(path)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()} | changes
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return path


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def peak_of(call):
    """The memory that a call which must raise ValueError needs, and the message."""
    tracemalloc.start()
    try:
        with pytest.raises(ValueError) as error:
            call()
        return tracemalloc.get_traced_memory()[1], str(error.value)
    finally:
        tracemalloc.stop()


def test_a_small_archive_of_large_arrays_is_refused_before_it_is_read(tmp_path):
    huge = npy(np.zeros((1, 2**24), dtype=bool))
    path = repacked(tmp_path / "a.npz", **{"learning.npy": huge, "testing.npy": huge})
    assert path.stat().st_size < 2**16
    peak, message = peak_of(lambda: uv.Losses.load(path, max_bytes=2**25))
    assert peak < 2**22
    assert "a.npz needs 335" in message
    assert "more than max_bytes=33554432: pass a larger max_bytes" in message
    # With leave it is read, and found to be nonsense.
    with pytest.raises(ValueError, match=r"a\.npz contains no losses that can be used"):
        uv.Losses.load(path, max_bytes=2**26)


@pytest.mark.parametrize("name", ["learning", "testing", "means", "values", "target", "groups"])
def test_an_array_of_a_wrong_shape_is_refused_before_it_is_read(tmp_path, name):
    kind = bool if name in ("learning", "testing") else np.int64
    path = repacked(tmp_path / "a.npz", **{f"{name}.npy": npy(np.zeros((2, 2**22), kind))})
    peak, message = peak_of(lambda: uv.Losses.load(path))
    assert peak < 2**22
    assert message.startswith("a.npz contains no losses that can be used: ")
    assert "has shape (2, 4194304)" in message or "learning has (2, 4194304)" in message


def test_the_limit_is_one_gibibyte(tmp_path):
    # A sparse file: its name says how large it is, and nothing of it is read.
    for name, size in (("a.npz", 2**30), ("a.json", 2**27)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size + 1)
        peak, message = peak_of(lambda name=name: uv.Losses.load(tmp_path / name))
        assert peak < 2**22
        assert "max_bytes=1073741824" in message


def test_a_header_that_promises_more_than_there_is(tmp_path):
    lie = npy(np.zeros((1, 2))).replace(b"(1, 2)", b"(9, 2)")
    path = repacked(tmp_path / "a.npz", **{"means.npy": lie})
    with pytest.raises(ValueError, match=r"means has more or fewer bytes than its shape \(9, 2\)"):
        uv.Losses.load(path)


@pytest.mark.parametrize(
    ("name", "array"),
    [
        ("words", np.array(3)),
        ("words", np.array("[" * 100_000)),
        ("words", np.array("{")),
        ("learning", np.eye(2)),
        ("testing", np.array("x")),
        ("testing", np.array([[True]])),
        ("means", np.array([["x"]])),
        ("means", np.array([[1 + 1j, 0]])),
        ("values", np.zeros(2, dtype=[("a", float)])),
        ("target", np.zeros(2, dtype="datetime64[s]")),
        ("groups", np.array([0.5, 1])),
        ("groups", np.array([[0], [1]])),
    ],
)
def test_archives_with_wrong_types_are_refused(tmp_path, name, array):
    path = repacked(tmp_path / "a.npz", **{f"{name}.npy": npy(array)})
    with pytest.raises(ValueError):
        uv.Losses.load(path)


def test_archives_in_unusual_forms_are_refused(tmp_path):
    path = tmp_path / "a.npz"
    for content in (
        b"",
        b"\x93NUMPY",
        b"\x93NUMPY\x02\x00",
        b"\x93NUMPY\x01\x00\xff\xff{",
        b"x" * 99,
    ):
        repacked(path, **{"means.npy": content})
        with pytest.raises(ValueError, match=r"a\.npz is not an \.npz file of plain arrays"):
            uv.Losses.load(path)
    repacked(path)
    whole = bytearray(path.read_bytes())
    # The bit of the directory that says that a member is encrypted.
    whole[whole.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(whole)
    with pytest.raises(ValueError, match=r"a\.npz is not an \.npz file of plain arrays"):
        uv.Losses.load(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as file:
        file.writestr("means.npy", npy(np.zeros((1, 2))))
    with pytest.raises(ValueError, match="means is compressed in an unusual way"):
        uv.Losses.load(path)


WRONG = [
    None,
    True,
    3,
    -1.5,
    "x",
    b"x",
    [],
    [[]],
    [None],
    ["x"],
    [["x"]],
    [[True]],
    {},
    {"a": 1},
    [{}],
]


@pytest.mark.parametrize("name", sorted(set(stored()) - {"format"}))
def test_wrong_types_in_dictionaries_are_value_errors(name):
    for wrong in [*WRONG, [[[0.0]]], math.nan, 10**400, [10**400], [[10**400] * 2] * 2]:
        data = stored() | {name: wrong}
        if data == stored():
            continue
        try:
            found = uv.Losses.from_dict(data)
        except ValueError:
            continue
        assert json.dumps(found.to_dict(), allow_nan=False), (name, wrong)
