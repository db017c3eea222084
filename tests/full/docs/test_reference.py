"""The reference is for users: one line for each name, and nothing of the frame around a fit."""

import inspect
import re
import sys

import pytest

import ucvtest as uv
from tests.support.paths import ROOT
from ucvtest.methods.registry import TESTS

sys.path.insert(0, str(ROOT / "docs" / "_ext"))
from made import reference as made_reference
from made.files import Folder

LONGEST = 100


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    parts, names = (Folder(tmp_path_factory.mktemp(each)) for each in ("parts", "names"))
    made_reference.write(parts, names)
    return parts.path, names.path


def test_every_name_has_one_line(written):
    parts, names = written
    lists = (parts / "reference.md").read_text()
    lines = dict(re.findall(r"^\| \[`\w+`\]\(names/(.+)\.rst\) \| (.*) \|$", lists, re.M))
    assert set(lines) == {path.stem for path in names.iterdir()}
    odd = {name: line for name, line in lines.items() if not 3 < len(line) <= LONGEST}
    assert odd == {}
    assert [name for name, line in lines.items() if not line.endswith(".")] == []


def test_members_of_public_classes_have_one_line():
    odd = []
    for name in uv.__all__:
        value = getattr(uv, name)
        if not inspect.isclass(value):
            continue
        for member, own in vars(value).items():
            if member.startswith("_") or not (callable(own) or isinstance(own, property)):
                continue
            line = (inspect.getdoc(own) or "").partition("\n")[0]
            if not (line.endswith(".") and len(line) <= LONGEST):
                odd.append(f"{name}.{member}: {line}")
    assert odd == []


def test_pages_of_tests_show_what_users_call_and_not_the_frame(written):
    _, names = written
    for cls in TESTS.values():
        (hidden,) = re.findall(
            r":exclude-members: (.*)$", (names / f"ucvtest.{cls.__name__}.rst").read_text(), re.M
        )
        shown = {each for each in dir(cls) if not each.startswith("_")} - set(hidden.split(", "))
        assert {"fit", "from_losses", "from_formula", "learners", "loss", "n_obs"} <= shown
        assert [each for each in shown if re.match("takes_|check_|needs_|question", each)] == []
        assert len(shown) <= 26, cls
