"""The code in README and pages runs as it stands there, block after block of a page."""

import re
import shlex
import shutil
import sys
from pathlib import Path

import matplotlib
import pytest
import sklearn.datasets  # noqa: F401  (its first import moves the global random state)
from typer.main import get_command
from typer.testing import CliRunner

from tests.support.clock import ticking as ticking
from tests.support.compiling import environment_of_users
from tests.support.paths import ROOT
from tests.support.processes import finished
from tests.support.scripts import script
from ucvtest.cli import app

pytestmark = pytest.mark.seconds(400, reason="whole pages, compiled as for users")

print_blocks = script("docs/print_blocks.py")

DOCS = ROOT / "docs"
MADE = {"_build", "_ext", "_generated", "help"}
PAGES = [
    ROOT / "README.md",
    *sorted(path for path in DOCS.rglob("*.md") if not MADE & set(path.relative_to(DOCS).parts)),
]
PYTHON = re.compile(r"^```(?:\{code-cell\} )?python\n((?::.*\n)*)(.*?)^```$", re.M | re.S)
SAID = re.compile(r'# "\.\.\. (.*) \.\.\."$', re.M)
"""Part of what a line prints, in the comment behind it."""

TYPED = re.compile(r"^(?:    |\$ )(ucvtest \w(?:\\\n|[^\n])*)", re.M)
INLINE = re.compile(r"`(ucvtest \w[^`]*)`")

matplotlib.use("Agg")


def blocks_of(page: Path) -> list[str]:
    return [code for _, code in PYTHON.findall(page.read_text(encoding="utf-8"))]


def joined(page: Path) -> str:
    return "\n".join(blocks_of(page))


def named(pages: list[Path]) -> list[str]:
    return [str(page.relative_to(ROOT)) for page in pages]


WITH_CODE = [page for page in PAGES if blocks_of(page)]
OF_MLFLOW = [page for page in WITH_CODE if re.search("import mlflow|autolog", joined(page))]
OF_R = [page for page in WITH_CODE if "ucvtest_r" in joined(page)]
PLAIN = [page for page in WITH_CODE if page not in {*OF_MLFLOW, *OF_R}]
NOTEBOOK = "---\nfile_format: mystnb"
AS_TEXT = [
    page
    for page in WITH_CODE
    if not page.read_text().startswith(NOTEBOOK) and page != DOCS / "index.md"
]
"""Pages on which each output stands below its block.

Notebooks show theirs by themselves, and the cards of the front page have no room for any.
"""

OF_SECONDS = [page for page in PLAIN if "max_seconds=" in joined(page)]


def shown(page: Path) -> list[str]:
    """The numbers of the outputs below the blocks of Python."""
    blocks = print_blocks.blocks_of(page.read_text(encoding="utf-8"))
    outputs = [each.output or "" for each in blocks if each.language == "python"]
    return print_blocks.numbers_in("\n".join(outputs))


def run(page: Path) -> None:
    """All blocks of a page, in one namespace; of Ray's, which takes long to start, the grammar."""
    from matplotlib import pyplot

    namespace = {"__name__": page.stem}
    try:
        for code in blocks_of(page):
            compiled = compile(code, str(page), "exec")
            if "ray.init()" not in code:
                exec(compiled, namespace)
    finally:
        pyplot.close("all")


@pytest.mark.parametrize("page", PLAIN, ids=named(PLAIN))
def test_python_runs_and_prints_what_comments_say(
    page: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    monkeypatch.chdir(tmp_path)
    for table in page.parent.glob("*.csv"):
        shutil.copy(table, tmp_path)
    if page in OF_SECONDS:
        # How many fits there is time for is then the same on every machine.
        request.getfixturevalue("ticking")
    run(page)
    printed = capsys.readouterr().out
    assert [said for said in SAID.findall(joined(page)) if said not in printed] == []
    if page in AS_TEXT:
        assert print_blocks.numbers_in(printed) == shown(page), "python docs/print_blocks.py"


def test_python_with_mlflow_runs(tmp_path: Path) -> None:
    """In a store of its own, and a process of its own, because autologging stays on."""
    code = "\n".join(f"exec({joined(page)!r}, {{}}); print('<<{page}>>')" for page in OF_MLFLOW)
    store = {"MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path}/mlflow.db", "MPLBACKEND": "Agg"}
    done = finished([sys.executable, "-c", code], cwd=tmp_path, env=environment_of_users() | store)
    assert done.returncode == 0, done.stderr
    rest = done.stdout
    for page in OF_MLFLOW:
        printed, _, rest = rest.partition(f"<<{page}>>")
        if page in AS_TEXT:
            assert print_blocks.numbers_in(printed) == shown(page), page


@pytest.mark.parametrize("page", OF_R, ids=named(OF_R))
@pytest.mark.requires_r
def test_python_with_r_runs(page: Path) -> None:
    run(page)


def test_consoles_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What README and pages type into a shell, in one folder for each block."""
    found = 0
    for page in PAGES:
        blocks = print_blocks.blocks_of(page.read_text(encoding="utf-8"))
        of_shell = [each for each in blocks if each.language == "console"]
        for number, block in enumerate(of_shell):
            folder = tmp_path / f"{page.stem}-{number}"
            folder.mkdir()
            monkeypatch.chdir(folder)
            printed = ""
            for words in print_blocks.commands_in(block.code):
                done = CliRunner().invoke(app, words)
                # The gate answers by its exit status; 2 is an error.
                assert done.exit_code in ({0, 1, 3} if words[0] == "gate" else {0}), words
                printed += done.stdout
                found += 1
            if block.output is not None:
                expected = print_blocks.numbers_in(block.output)
                assert print_blocks.numbers_in(printed) == expected, page
    assert found >= 3


def test_commands_can_be_parsed() -> None:
    """Also those that name files of the reader's own."""
    group = get_command(app)
    commands = {
        " ".join(command.replace("\\\n", " ").split())
        for page in PAGES
        for pattern in (TYPED, INLINE)
        for command in pattern.findall(page.read_text(encoding="utf-8"))
    }
    parsed = 0
    for words in map(shlex.split, sorted(commands)):
        command = group.commands[words[1]]
        if len(words) > 2 and "FILE" not in words and "--help" not in words:
            command.make_context(words[1], words[2:])
            parsed += 1
    assert parsed >= 8


def test_no_block_of_python_is_left_out() -> None:
    assert {*PLAIN, *OF_MLFLOW, *OF_R} == set(WITH_CODE)
    assert len(PLAIN) >= 12
    # The page's language is named, so that a block is not left out for want of a word.
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert not re.findall(r"^```(?:py|python3|pycon)$", text, re.M), page
    assert sys.version_info >= (3, 11)
