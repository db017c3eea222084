"""The R package in one running R session that this file talks to, and in scripts."""

import os
import re
import shutil
import signal
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ucvtest_r.__main__ import main

import ucvtest as uv
from tests.support.cells import repeated
from tests.support.compiling import quickly
from tests.support.paths import ROOT
from tests.support.processes import finished
from tests.support.r_session import (
    LABELS,
    PACKAGE,
    SAMPLE,
    RSession,
    run_r_together,
)
from tests.support.scripts import script

pytestmark = [pytest.mark.requires_r, pytest.mark.seconds(300, reason="sessions and scripts of R")]


# A call that announces ten minutes, and then lets R go on.
SLOW = """
    slow <- "
from types import SimpleNamespace
from ucvtest.evaluation.slow_fits import announce_duration
from ucvtest_r.functions import FUNCTIONS
from ucvtest_r.learners import call_r
from ucvtest_r.reading import READERS
def slow(then):
    words = 'max_seconds of a test ends in time'
    announce_duration(SimpleNamespace(), '9 fits are left', 600.0, words)
    call_r(then)
FUNCTIONS['slow'] = slow
READERS['then'] = lambda function: function
"
    invisible(ucvtest_available())
    invisible(.Call(getNamespace("ucvtest")$C_start_python, "", "", slow))
    slow <- function() invisible(ucvtest:::call_python(
        "slow", then = ucvtest:::guarded(function() { message("it goes on"); 1 })))
"""


def test_what_takes_long_is_said_in_words_of_r_while_it_goes_on(r: RSession) -> None:
    r(SLOW)
    said = "ucvtest: 9 fits are left: about 10 minutes. max_seconds of a test ends in time"
    assert r("slow()") == f"{said}\nit goes on"
    # Handlers get it afterwards, as Python hides them; who wants silence has it.
    logged = r(
        "withCallingHandlers(slow(), message = function(m) cat('log:', conditionMessage(m)))"
    )
    assert logged == f"{said}\nit goes on\nlog: {said}"
    for quiet in ("suppressMessages", "suppressWarnings"):
        assert r(f"{quiet}(slow())") == "it goes on"


LONG_JITTED = "ustat_test(x, y, 'lda', 'knn:3', n_pairs = 1e7)"
LONG_IN_R = "ustat_test(x, y, function(x, y, xnew) Sys.sleep(3600))"
# Of few fits those that are done would answer.
LONG_MANY = (
    "ustat_test(x, y, function(x, y, xnew) rep(y[1], nrow(xnew)), n_pairs = 1e6, "
    "variance = 'clipped')"
)


@pytest.mark.parametrize("call", [LONG_JITTED, LONG_IN_R, LONG_MANY])
def test_ctrl_c_interrupts_a_fit_and_the_session_survives(r: RSession, call: str) -> None:
    r("invisible(ustat_test(x, y, 'lda', 'knn:3', n_pairs = 300))")
    r.send(f"""
        cat("\\nstarted\\n")
        cat(tryCatch({call}, interrupt = function(condition) class(condition)))
    """)
    r.wait_for("started")
    time.sleep(1)
    r.process.send_signal(signal.SIGINT)
    # Had the fits come to their end, this would be a result.
    assert r.wait_for(r.END).split() == ["interrupt", "condition"]
    # How long all fits would have taken may be said only now.
    assert r("cat(class(ustat_test(x, y, 'lda', n_pairs = 300)))").endswith("ucvtest htest")


def test_an_interrupt_that_nobody_catches_ends_the_call_only(r: RSession) -> None:
    r.send(f"cat('\\nstarted\\n'); {LONG_MANY}")
    r.wait_for("started")
    time.sleep(1)
    r.process.send_signal(signal.SIGINT)
    assert "Error" not in r.wait_for(r.END)
    assert r("cat(1 + 1)") == "2"


def test_entering_python_twice_leaves_ctrl_c_to_r(r: RSession) -> None:
    r("""
        native <- function(name) getNamespace("ucvtest")[[name]]
        invisible({
            .Call(native("C_enter_python"))
            .Call(native("C_enter_python"))
            .Call(native("C_leave_python"))
        })
    """)
    r.send("cat('\nstarted\n'); tryCatch(Sys.sleep(20), interrupt = function(e) cat('caught'))")
    r.wait_for("started")
    time.sleep(0.5)
    r.process.send_signal(signal.SIGINT)
    assert r.wait_for(r.END) == "caught"


def test_conditions_of_r_and_python(r: RSession) -> None:
    # The package's own tests say more; these are the two directions.
    assert r("ustat_test(x, y, function(...) stop('nothing learnt'))") == (
        "Error: learner R function failed on split 1: nothing learnt"
    )
    caught = r("tryCatch(ustat_test(x, y, 'lda', learn_size = 59), python_ValueError = print)")
    with pytest.raises(ValueError) as error:
        uv.UStatisticTest(SAMPLE, LABELS, "lda", learn_size=59)
    call = 'ustat_test(x, y, "lda", learn_size = 59)'
    assert caught == f"<python_ValueError in {call}: {error.value}>"


def test_environment_of_r_stays_as_it_was(r: RSession) -> None:
    assert r("cat(ucvtest_available())") == "TRUE"
    # What rpy2 sets for an R that it starts itself; the rest would reach worker processes.
    names = ["R_SESSION_INITIALIZED", "PYTHON_SESSION_INITIALIZED", "LD_LIBRARY_PATH"]
    assert r(f"cat(Sys.getenv(c({str(names)[1:-1]})))").strip() == ""


def run_script(code: str, environment: dict[str, str]) -> str:
    done = finished(["Rscript", "-e", code], env=environment)
    return done.stdout + done.stderr


START_USE_EXIT = """
    library(ucvtest)
    x <- as.matrix(iris[51:100, 1:2])
    constant <- function(x, y, xnew) rep(y[1], nrow(xnew))
    result <- ustat_test(x, rep(1:2, 25), constant, n_pairs = 5)
    cat(result$n_fits)
"""

# What a learner of scikit-learn with n_jobs=2 would leave behind.
WITH_WORKERS = """
    .Call(ucvtest:::C_start_python, "", "", "import joblib; joblib.Parallel(2)(
        joblib.delayed(abs)(number) for number in range(4))")
"""


@pytest.mark.parametrize("workers", ["", WITH_WORKERS], ids=["alone", "with workers"])
def test_short_scripts_in_a_row_neither_crash_nor_hang(
    r_environment: dict[str, str], workers: str
) -> None:
    for _ in range(repeated(5)):
        done = finished(["Rscript", "-e", START_USE_EXIT + workers], env=r_environment)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("10")


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SADeprecationWarning")
@pytest.mark.filterwarnings("ignore:unclosed database:ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_autolog_logs_to_the_store_of_python(r_environment: dict[str, str], tmp_path: Path) -> None:
    mlflow = pytest.importorskip("mlflow")
    store = f"sqlite:///{tmp_path}/mlflow.db"
    code = f"""
        library(ucvtest)
        refused <- function(expr) conditionMessage(tryCatch(expr, error = identity))
        stopifnot(grepl("disable must be TRUE or FALSE, got 'mlflow'", refused(autolog("mlflow"))))
        # Python has started, and reads no environment again.
        Sys.setenv(MLFLOW_TRACKING_URI = "{store}")
        autolog(silent = TRUE)
        two <- droplevels(subset(iris, Species != "setosa"))
        set.seed(1)
        logged <- ustat_test(Species ~ ., two, "lda", n_pairs = 300)
        autolog(disable = TRUE)
        unlogged <- ustat_test(Species ~ ., two, "lda", n_pairs = 300)
        cat(format(logged$estimate, digits = 17))
    """
    done = finished(
        ["Rscript", "-e", code],
        env=r_environment | {"MLFLOW_TRACKING_URI": f"sqlite:///{tmp_path}/other.db"},
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    (run,) = mlflow.MlflowClient(store).search_runs(["0"])
    estimate = run.data.metrics["ucvtest.lda.zero_one.ustatistic/estimate"]
    assert estimate == float(done.stdout.split()[-1])


FAKE_PYTHON = """#!/bin/sh
echo "$@" >> '{log}'
case "$1 $2" in
  "-m venv") mkdir -p "$3/bin" && cp "$0" "$3/bin/python";;
  "-m pip") exit {pip_status};;
  *) exec '{python}' "$@";;
esac
"""


@pytest.mark.parametrize("pip_status", [0, 1])
def test_install_python_makes_an_environment(
    r_environment: dict[str, str], tmp_path: Path, pip_status: int
) -> None:
    log, fake = tmp_path / "log", tmp_path / "python"
    fake.write_text(FAKE_PYTHON.format(log=log, python=sys.executable, pip_status=pip_status))
    fake.chmod(0o755)
    code = f"""
        folder <- file.path('{tmp_path}', 'environment')
        path <- ucvtest::install_python(folder, '{fake}', pip_options = '--no-deps')
        cat(path)
    """
    printed = run_script(code, r_environment)
    calls = [line for line in log.read_text().splitlines() if line.startswith("-m")]
    assert calls == [f"-m venv {tmp_path}/environment", "-m pip install --no-deps ucvtest[r]"]
    python = f"{tmp_path}/environment/bin/python"
    if pip_status == 0:
        assert printed == f'{python}To use it: options(ucvtest.python = "{python}")\n'
    else:
        assert "the packages could not be installed: see the messages above" in printed


def test_install_python_takes_a_wheel_with_what_r_needs(
    r_environment: dict[str, str], tmp_path: Path
) -> None:
    log, fake, wheel = tmp_path / "log", tmp_path / "python", tmp_path / "ucvtest-0.1.0.whl"
    fake.write_text(FAKE_PYTHON.format(log=log, python=sys.executable, pip_status=0))
    fake.chmod(0o755)
    wheel.touch()
    run_script(
        f"ucvtest::install_python('{tmp_path}/environment', '{fake}', '{wheel}')", r_environment
    )
    assert f"-m pip install {wheel}[r]" in log.read_text().splitlines()


def test_install_python_refuses_an_unusable_python(
    r_environment: dict[str, str], tmp_path: Path
) -> None:
    printed = run_script(f"ucvtest::install_python(python = '{tmp_path}/nowhere')", r_environment)
    assert printed.partition("Calls:")[0] == (
        f'Error in ucvtest::install_python(python = "{tmp_path}/nowhere") : \n'
        "  ucvtest needs Python 3.11 or newer with a shared library:\n"
        f"  {tmp_path}/nowhere does not exist\n"
        "Name one in install_python(python = ).\n"
    )


def test_a_missing_rpy2_is_said_in_r(r_environment: dict[str, str], tmp_path: Path) -> None:
    # The Python is there, but what it imports is broken, which only starting it can show.
    broken = tmp_path / "rpy2" / "rinterface"
    broken.mkdir(parents=True)
    (tmp_path / "rpy2" / "__init__.py").touch()
    (broken / "__init__.py").write_text("raise ImportError('undefined symbol: R_getVar')")
    path = os.pathsep.join([str(tmp_path), r_environment.get("PYTHONPATH", "")])
    printed = run_script(
        "tryCatch(ucvtest::ustat_test(iris[51:90, 1:2], rep(1:2, 20), 'lda'),"
        " ucvtest_python_missing = function(e) cat(conditionMessage(e)))",
        r_environment | {"PYTHONPATH": path},
    )
    assert re.fullmatch(
        rf"ucvtest did not start in {sys.executable}:\n  ImportError: rpy2 does not fit R version "
        r"[0-9.]+ \(undefined symbol: R_getVar\): with R before 4\.5 run  pip install .*",
        printed.partition("Traceback")[0],
    )


print_blocks = script("docs/print_blocks.py")


PAGES = {
    str(page.relative_to(ROOT)).replace("/", "_").removesuffix(".md"): page
    for page in [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs").glob("*/*.md")),
    ]
    if re.search(r"^```r$", page.read_text(), re.M)
}
STABLE = {"MASS", "survival"}
"""Packages whose numbers do not change with their version."""


def blocks_of_page(name: str) -> list[Any]:
    blocks = print_blocks.blocks_of(PAGES[name].read_text())
    return [each for each in blocks if each.language == "r"]


def code_of_page(name: str) -> str:
    """Blocks with a package that is not there are left out."""
    return print_blocks.script_of_r([each.code for each in blocks_of_page(name)])


@pytest.fixture(scope="module")
def shown(
    r_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[bool, str]]:
    """Of pages and an example: whether they end well, and what they print.

    What they show is R, so that they need not be compiled as for users; short scripts are.
    """
    folder = tmp_path_factory.mktemp("shown")
    code = {name: code_of_page(name) for name in PAGES}
    for name, text in code.items():
        (folder / f"{name}.R").write_text(text)
    paths = [folder / f"{name}.R" for name in code]
    paths.append(ROOT / "examples" / "r_session.R")
    return run_r_together(paths, folder, r_environment | quickly())


def test_the_session_of_the_examples_runs(shown: dict[str, tuple[bool, str]]) -> None:
    well, printed = shown["r_session"]
    assert well, printed
    assert "Picture: " in printed


def test_the_session_of_the_examples_uses_every_function() -> None:
    (exported,) = (
        set(re.findall(r"^export\((.*)\)$", (PACKAGE / "NAMESPACE").read_text(), re.MULTILINE)),
    )
    needs_network_or_store = {"install_python", "autolog", "ucvtest_available"}
    code = (ROOT / "examples" / "r_session.R").read_text()
    used = set(re.findall(r"\b[a-z_]\w*\b", code))
    assert exported - needs_network_or_store - used == set()


@pytest.mark.parametrize("name", PAGES)
def test_the_code_of_readme_and_pages_prints_what_they_show(
    shown: dict[str, tuple[bool, str]], name: str
) -> None:
    well, printed = shown[name]
    assert well, printed
    blocks = blocks_of_page(name)
    for block, output in zip(blocks, print_blocks.outputs_of(printed, len(blocks)), strict=True):
        if block.output is not None and set(re.findall(r"\b(\w+)::", block.code)) <= STABLE:
            expected = print_blocks.numbers_in(block.output)
            assert print_blocks.numbers_in(output) == expected, "python docs/print_blocks.py"


def test_the_script_that_fails_is_named(r_environment: dict[str, str], tmp_path: Path) -> None:
    texts = {
        "bad": "library(tools)\nprint(1)\nstop('no')",
        "good": "cat('package:tools' %in% search(), commandArgs(TRUE)[2], exists('own'))",
    }
    texts["bad"] = f"own <- 1\n{texts['bad']}"
    for name, text in texts.items():
        (tmp_path / f"{name}.R").write_text(text)
    found = run_r_together([tmp_path / f"{name}.R" for name in texts], tmp_path, r_environment)
    assert found == {"bad": (False, "[1] 1\nError: no\n"), "good": (True, "FALSE --quick FALSE")}


def test_the_wheel_gets_the_r_package_and_nothing_that_a_compiler_left() -> None:
    project = tomllib.loads((PACKAGE.parents[1] / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    left_behind = [path for path in PACKAGE.rglob("*") if path.suffix in (".o", ".so")]
    sources = [path for path in PACKAGE.rglob("*") if path.is_file()]
    covered = {
        path
        for path in sources
        if any(path.is_relative_to(PACKAGE.parents[1] / each) for each in included)
    }
    assert covered == set(sources) - set(left_behind)
    assert all(
        to == each.replace("r_bridge/ucvtest", "ucvtest_r/r_package")
        for each, to in included.items()
    )


def test_installing_without_r_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(["install"]) == 1
    assert capsys.readouterr().err == "R was not found on the PATH: install R 4.2 or newer\n"


def test_installation_remembers_its_python(r_environment: dict[str, str]) -> None:
    forgotten = {
        name: value
        for name, value in r_environment.items()
        if name not in ("UCVTEST_PYTHON", "VIRTUAL_ENV", "RETICULATE_PYTHON")
    }
    bare = forgotten | {"PATH": "/usr/bin:/bin"}
    printed = run_script(
        "cat(ucvtest::ucvtest_available(), ucvtest:::find_python()$executable)", bare
    )
    assert printed.split() == ["TRUE", sys.executable]


def test_a_library_inside_a_virtual_environment_finds_its_python(
    r_environment: dict[str, str], tmp_path: Path
) -> None:
    library = tmp_path / "lib" / "R"
    shutil.copytree(Path(r_environment["R_LIBS"]) / "ucvtest", library / "ucvtest")
    python = tmp_path / "bin" / "python"
    python.parent.mkdir()
    python.touch()
    named = ("UCVTEST_PYTHON", "VIRTUAL_ENV", "RETICULATE_PYTHON")
    bare = {name: value for name, value in r_environment.items() if name not in named}
    printed = run_script("cat(ucvtest:::python_candidates()[1])", bare | {"R_LIBS": str(library)})
    assert printed == str(python)


def test_a_python_that_was_named_is_the_only_one(
    r_environment: dict[str, str], tmp_path: Path
) -> None:
    naked = tmp_path / "python"
    naked.write_text(f'#!/bin/sh\nexec "{sys.executable}" -E -S "$@"\n')
    naked.chmod(0o755)
    printed = run_script(
        "x <- matrix(0, 9, 2); ucvtest::ustat_test(x, 1:9, 'lda')",
        r_environment | {"UCVTEST_PYTHON": str(naked)},
    )
    assert printed.partition("Calls:")[0] == (
        'Error in ucvtest::ustat_test(x, 1:9, "lda") : \n'
        "  ucvtest needs a Python with the package 'ucvtest[r]':\n"
        f"  {naked} is missing ucvtest, ucvtest_r, rpy2: run  '{naked}' -m pip install 'ucvtest[r]'"
        "  or  ucvtest::install_python()  in R\n"
        "Name the Python to use in options(ucvtest.python = ) or the environment variable "
        "UCVTEST_PYTHON.\n"
    )
