"""The command line in a real terminal: its width, completion by the tabulator key, Ctrl-C."""

import os
import signal
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.support.processes import LIMIT
from ucvtest.cli import catalogue

pexpect = pytest.importorskip("pexpect", reason="needs pexpect: pip install pexpect")

# The child becomes another program at once, so that threads of this one do it no harm.
pytestmark = [
    pytest.mark.seconds(60, reason="starts processes, which import and compile for themselves"),
    pytest.mark.filterwarnings(r"ignore:os\.fork\(\) was called:RuntimeWarning"),
    pytest.mark.filterwarnings(r"ignore:.*multi-threaded, use of fork:DeprecationWarning"),
]

UCVTEST = Path(sys.executable).parent / "ucvtest"
FILE = f"{catalogue.EXAMPLE} --target ill --drop model_a --drop model_b"
PROMPT = "ready> "
SIZES = ("COLUMNS", "LINES")


def terminal(command: str, columns: int) -> Any:
    # What others say of the width would count for more than the terminal's own.
    environment = {key: text for key, text in os.environ.items() if key not in SIZES}
    return pexpect.spawn(
        command,
        encoding="utf-8",
        timeout=LIMIT,
        dimensions=(40, columns),
        env=environment,
        # A job in the background ignores Ctrl-C, and what it starts would too.
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),
    )


def printed(command: str, columns: int) -> list[str]:
    child = terminal(f"{sys.executable} -m ucvtest {command}", columns)
    text = str(child.read())
    child.close()
    assert child.exitstatus == 0, text
    return text.splitlines()


@pytest.mark.parametrize("columns", [44])
def test_text_fits_the_terminal(columns: int) -> None:
    rules = (
        f"{catalogue.EXAMPLE} --target ill --scores model_a,model_b --loss auc -q --pos-label yes"
    )
    longest = max(map(len, printed(f"predictions {rules}", columns)))
    assert columns - 12 < longest <= columns - 2


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Any]:
    started = tmp_path / "rc"
    lines = [
        f"PS1='{PROMPT}'",
        f"PATH={UCVTEST.parent}:$PATH",
        "bind 'set bell-style none'",
        "bind 'set enable-bracketed-paste off'",
    ]
    started.write_text("\n".join(lines) + "\n")
    child = terminal(f"bash --noprofile --rcfile {started} -i", 200)
    child.expect_exact(PROMPT)
    yield child
    child.close(force=True)


@pytest.mark.skipif(not UCVTEST.exists(), reason="ucvtest is not installed as a command")
def test_the_tabulator_key_completes_commands_and_options(shell: Any) -> None:
    shell.sendline('eval "$(ucvtest --show-completion bash)"')
    shell.expect_exact(PROMPT)
    shell.send("ucvtest predi\t")
    shell.expect_exact("predictions ")
    shell.send("--null-v\t")
    shell.expect_exact("--null-value ")


def test_ctrl_c_ends_it_with_one_word(shell: Any) -> None:
    endless = f"select {FILE} --learner knn:3 --learner knn:5 --permutations 3000000"
    shell.sendline(f"{sys.executable} -m ucvtest {endless}; echo status $?")
    shell.expect("select_model")
    shell.sendintr()
    shell.expect(r"status (\d+)")
    assert shell.match[1] == "130"
    assert "Traceback" not in shell.before
