"""The R package beside others, under torture, over thousands of calls; vignettes and papers."""

import os
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.full.plugins.r.test_r_package import run_script
from tests.support.compiling import quickly
from tests.support.paths import ROOT
from tests.support.r_session import PACKAGE, RSession, run_command, run_r_together

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


@pytest.fixture(scope="module")
def shown(
    r_environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, tuple[bool, str]]:
    """Of vignettes and an example: whether they end well, and what they print."""
    folder = tmp_path_factory.mktemp("shown")
    for name in VIGNETTES:
        (folder / f"{name}.R").write_text(vignette(name))
    paths = [folder / f"{name}.R" for name in VIGNETTES]
    paths.append(ROOT / "examples" / "r_clinical_data.R")
    return run_r_together(paths, folder, r_environment | quickly())


@pytest.mark.parametrize(("name", "expected"), VIGNETTES.items())
def test_vignettes_run(shown: dict[str, tuple[bool, str]], name: str, expected: str) -> None:
    well, printed = shown[name]
    assert well, printed
    assert expected in printed


def test_the_clinical_examples_run(shown: dict[str, tuple[bool, str]]) -> None:
    well, printed = shown["r_clinical_data"]
    assert well, printed
    assert "missing values in 4 rows (V6), which learner lda cannot use" in printed
    assert "logistic regression minus rpart::rpart" in printed


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
