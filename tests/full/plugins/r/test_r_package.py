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

import numpy as np
import pytest
from ucvtest_r.__main__ import main

import ucvtest as uv
from tests.support.compiling import quickly
from tests.support.paths import ROOT
from tests.support.processes import finished
from tests.support.r_session import (
    LABELS,
    PACKAGE,
    SAMPLE,
    RSession,
    run_command,
    run_r_together,
)
from tests.support.scripts import script

pytestmark = [pytest.mark.requires_r, pytest.mark.seconds(300, reason="sessions and scripts of R")]


def test_2000_round_trips_leave_the_memory_flat(r: RSession) -> None:
    printed = r("""
        resident <- function() {
          status <- readLines("/proc/self/status")
          as.numeric(gsub("[^0-9]", "", grep("VmRSS", status, value = TRUE))) / 1024
        }
        result <- ustat_test(x, y, "lda", n_pairs = 300)
        round_trips <- function(n) for (i in seq_len(n)) {
          confint(result, level = 0.9)
          try(ucvtest:::call_python("summary", json = "{", conf_level = 0.9), silent = TRUE)
        }
        constant <- function(x, y, xnew) rep(y[1], nrow(xnew))
        use <- function(n) {
          round_trips(n)
          started <- proc.time()
          fits <- ustat_test(x, y, constant, n_pairs = n)$n_fits
          seconds <- sum((proc.time() - started)[c("user.self", "sys.self")])
          gc(full = TRUE)
          c(resident(), seconds / fits, fits)
        }
        cat(replicate(4, use(300)))
    """)
    memory, seconds, calls = np.array(printed.split(), float).reshape(4, 3).T
    assert sum(calls) >= 2000
    # MiB; a leak shows in each part, an allocator that returns memory late in some.
    assert min(np.diff(memory)) < 3
    assert min(seconds) < 0.01  # about 0.0003; of the processor, which others may use too


def test_gctorture(r: RSession) -> None:
    # A garbage collection at every hundredth allocation frees whatever is not protected.
    printed = r("""
        constant <- function(x, y, xnew) rep(y[1], nrow(xnew))
        expected <- { set.seed(1); ustat_test(x[1:20, ], y[1:20], constant, "lda", n_pairs = 5) }
        invisible(gctorture2(100))
        set.seed(1)
        tortured <- ustat_test(x[1:20, ], y[1:20], constant, "lda", n_pairs = 5)
        failing <- function(x, y, xnew) stop("nothing")
        broken <- tryCatch(ustat_test(x, y, failing), error = conditionMessage)
        invisible(gctorture(FALSE))
        cat(identical(tortured$estimate, expected$estimate), broken)
    """)
    assert printed.endswith("TRUE learner failing failed on split 1: nothing")


# A call that announces ten minutes, and then lets R go on.
SLOW = """
    slow <- "
from types import SimpleNamespace
from ucvtest.evaluation.slow_fits import announce_duration
from ucvtest_r.functions import FUNCTIONS
from ucvtest_r.learners import call_r
def slow(then):
    words = 'fit(max_seconds=) ends in time'
    announce_duration(SimpleNamespace(), '9 fits are left', 600.0, words)
    call_r(then)
FUNCTIONS['slow'] = slow
"
    invisible(ucvtest_available())
    invisible(.Call(getNamespace("ucvtest")$C_start_python, "", "", slow))
    slow <- function() invisible(ucvtest:::call_python(
        "slow", then = ucvtest:::guarded(function() { message("it goes on"); 1 })))
"""


def test_what_takes_long_is_said_in_words_of_r_while_it_goes_on(r: RSession) -> None:
    r(SLOW)
    said = "ucvtest: 9 fits are left: about 10 minutes. max_seconds = of a test ends in time"
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


@pytest.mark.parametrize("n_scripts", [1, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("workers", ["", WITH_WORKERS], ids=["alone", "with workers"])
def test_short_scripts_in_a_row_neither_crash_nor_hang(
    r_environment: dict[str, str], workers: str, n_scripts: int
) -> None:
    for _ in range(n_scripts):
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


def stub_package(folder: Path, name: str, version: str, code: str = "") -> str:
    """A library with a package of this name and version, and nothing but this code in it."""
    source = folder / "source" / name
    source.mkdir(parents=True)
    (source / "DESCRIPTION").write_text(
        f"Package: {name}\nVersion: {version}\nTitle: Stub\nDescription: Stub.\nLicense: none\n"
        "Author: nobody\nMaintainer: nobody <nobody@example.invalid>\n"
    )
    (source / "NAMESPACE").write_text('exportPattern(".")' if code else "")
    if code:
        (source / "R").mkdir()
        (source / "R" / "code.R").write_text(code)
    library = folder / "library"
    library.mkdir()
    run_command(["R", "CMD", "INSTALL", f"--library={library}", str(source)])
    return str(library)


MLR3_STUB = """
as_task_classif <- function(x, target) list(data = x, target = target)
lrn <- function() {
  self <- new.env()
  self$id <- "classif.lda"
  self$clone <- function(deep) {
    own <- lrn()
    own$train <- function(task, row_ids)
      own$fit <- MASS::lda(stats::reformulate(".", task$target), task$data[row_ids, ])
    own$predict <- function(task, row_ids) {
      found <- predict(own$fit, task$data[row_ids, ])
      list(response = found$class, prob = found$posterior)
    }
    own
  }
  structure(self, class = c("LearnerClassifLDA", "LearnerClassif", "Learner", "R6"))
}
"""


def test_learners_of_mlr3_go_by_their_documented_methods(
    r_environment: dict[str, str], tmp_path: Path
) -> None:
    # mlr3 is not in Debian: a package of its name with what is called of it.
    library = stub_package(tmp_path, "mlr3", "0.14.0", MLR3_STUB)
    code = """
        two <- droplevels(subset(iris, Species != "setosa"))
        run <- function(learner, formula = Species ~ Sepal.Width + Petal.Width, ...) {
          set.seed(1)
          found <- ucvtest::hold_out_test(formula, two, learner, ...)
          c(found$estimate, found$stderr)
        }
        for (loss in c("zero_one", "log"))
          cat(all.equal(run(mlr3::lrn(), loss = loss), run("MASS::lda", loss = loss)), "")
        # Neither the response nor a variable that the formula removes is a feature.
        some <- factor(Species) ~ . - Petal.Length
        risks <- function(learner) run(learner, some, loss = "log")
        cat(all.equal(risks(mlr3::lrn()), risks("MASS::lda")), "")
        cat(ucvtest::hold_out_test(two[1:2], two$Species, mlr3::lrn())$settings$learner)
    """
    libraries = f"{library}{os.pathsep}{r_environment['R_LIBS']}"
    printed = run_script(code, r_environment | {"R_LIBS": libraries})
    assert printed.endswith("TRUE TRUE TRUE classif.lda")


@pytest.mark.parametrize(
    ("version", "expected"),
    [
        (
            "1.28",
            "reticulate 1.28 is loaded, and before version 1.31 it cannot share a session with "
            "ucvtest: update reticulate, or restart R and do not load it",
        ),
        ("1.31", "ucvtest"),
    ],
)
def test_old_reticulates_are_refused(
    r_environment: dict[str, str], tmp_path: Path, version: str, expected: str
) -> None:
    library = stub_package(tmp_path, "reticulate", version)
    code = """
        loadNamespace("reticulate")
        result <- tryCatch(ucvtest::ustat_test(iris[51:90, 1:2], rep(1:2, 20), "lda", n_pairs = 20),
                           ucvtest_reticulate = conditionMessage)
        cat(if (is.list(result)) class(result)[1] else result)
    """
    libraries = f"{library}{os.pathsep}{r_environment['R_LIBS']}"
    assert run_script(code, r_environment | {"R_LIBS": libraries}).endswith(expected)


def test_a_newer_reticulate_shares_the_session(r_environment: dict[str, str]) -> None:
    found = run_script(
        "cat(tryCatch(as.character(packageVersion('reticulate')), error = function(e) 'none'))",
        r_environment,
    )
    if found == "none" or tuple(map(int, found.split(".")[:2])) < (1, 31):
        pytest.skip(f"needs reticulate 1.31 or newer, found {found}")
    code = """
        library(reticulate)
        result <- ucvtest::ustat_test(iris[51:90, 1:2], rep(1:2, 20), "lda", n_pairs = 20)
        sys <- import("sys")
        gc()
        cat(class(result)[1], nzchar(sys$version))
    """
    printed = run_script(code, r_environment | {"RETICULATE_PYTHON": sys.executable})
    assert printed.endswith("ucvtest TRUE")


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


@pytest.mark.parametrize("name", ["tidymodels", "mlr3"])
def test_packages_that_debian_lacks_agree(r_environment: dict[str, str], name: str) -> None:
    script = Path(__file__).with_name(f"{name}.R")
    packages = re.findall(r"library\((\w+)\)", script.read_text())
    wanted = ", ".join(f"'{package}'" for package in packages)
    there = run_command(
        ["Rscript", "-e", f"cat(all(sapply(c({wanted}), requireNamespace, quietly = TRUE)))"],
        env=r_environment,
    )
    if there != "TRUE":
        pytest.skip(f"{name} is not installed")
    assert f"{name} agrees" in run_command(["Rscript", script], env=r_environment)


print_blocks = script("docs/print_blocks.py")

VIGNETTES = {
    "ucvtest": "data:  mpg ~ wt + hp in mtcars",
    "from-other-packages": "lda minus logistic",
    "auc-with-few-patients": "leave-pair-out AUC",
}


def vignette(name: str) -> str:
    text = (PACKAGE / "vignettes" / f"{name}.Rmd").read_text()
    chunks = re.findall(
        r"^```\{r(?:, eval = [^\n]*)?\}\n(.*?)^```", text, flags=re.MULTILINE | re.DOTALL
    )
    assert chunks
    return "pdf(NULL)\n" + "\n".join(chunks)


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
    """Of vignettes, pages and examples: whether they end well, and what they print.

    What they show is R, so that they need not be compiled as for users; short scripts are.
    """
    folder = tmp_path_factory.mktemp("shown")
    code = {name: vignette(name) for name in VIGNETTES}
    code |= {name: code_of_page(name) for name in PAGES}
    for name, text in code.items():
        (folder / f"{name}.R").write_text(text)
    paths = [folder / f"{name}.R" for name in code]
    paths += [ROOT / "examples" / f"{name}.R" for name in ("r_session", "r_clinical_data")]
    return run_r_together(paths, folder, r_environment | quickly())


@pytest.mark.parametrize(("name", "expected"), VIGNETTES.items())
def test_vignettes_run(shown: dict[str, tuple[bool, str]], name: str, expected: str) -> None:
    well, printed = shown[name]
    assert well, printed
    assert expected in printed


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


def test_the_clinical_examples_run(shown: dict[str, tuple[bool, str]]) -> None:
    well, printed = shown["r_clinical_data"]
    assert well, printed
    assert "missing values in 4 rows (V6), which learner lda cannot use" in printed
    assert "logistic regression minus rpart::rpart" in printed


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


@pytest.mark.slow
def test_colon_script_reproduces_the_paper(r_environment: dict[str, str], data_dir: Path) -> None:
    script = PACKAGE / "inst" / "scripts" / "colon.R"
    printed = run_command(
        ["Rscript", script, "100"], env=r_environment | {"UCVTEST_DATA": str(data_dir)}
    )
    rows = re.findall(
        r"^(paper|ustat_test, by name|steps above, glmnet) +(\S+) +(\S+)", printed, re.M
    )
    by_name = {name: (float(delta), float(variance)) for name, delta, variance in rows}
    assert by_name["paper"] == (-0.14, 0.01)
    assert -0.175 < by_name["ustat_test, by name"][0] < -0.125
    assert 0.005 < by_name["ustat_test, by name"][1] < 0.0135
    assert abs(by_name["steps above, glmnet"][0] + 0.145) < 0.03
