"""R for tests: an environment in which it finds the package, and one running session."""

import subprocess
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tests.support.compiling import environment_of_users
from tests.support.paths import ROOT
from tests.support.processes import LIMIT, finished

PACKAGE = ROOT / "r_bridge" / "ucvtest"

# Two classes of 30, three features, the same in both languages.
SAMPLE = np.random.default_rng(7).normal(size=(60, 3)).round(3)
LABELS = np.where((SAMPLE[:, 0] + SAMPLE[:, 1] ** 2 > 0.7), "case", "control")

R_SAMPLE = f"""
x <- matrix(c({", ".join(map(str, SAMPLE.ravel(order="F")))}), ncol = 3)
y <- c({", ".join(f'"{label}"' for label in LABELS)})
digits <- function(result) cat(sprintf("%.17g", c(
  result$estimate, result$stderr, result$statistic, result$p.value, result$conf.int,
  result$variance)), result$n_fits)
"""


def clean_environment() -> dict[str, str]:
    given = environment_of_users()
    kept = {name: value for name, value in given.items() if not name.startswith("R_")}
    return kept | {"UCVTEST_PYTHON": sys.executable, "LANGUAGE": "en", "LC_ALL": "C.UTF-8"}


def run_command(command: list, **options: Any) -> str:
    done = finished(command, **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


ONE_AFTER_ANOTHER = """
local({
  arguments <- commandArgs(TRUE)
  attached <- search()
  settings <- options()
  for (path in arguments[-(1:2)]) {
    name <- file.path(arguments[1], sub("[.]R$", "", basename(path)))
    printed <- file(paste0(name, ".txt"), "w")
    sink(printed)
    well <- tryCatch({
      source(path, local = new.env(parent = globalenv()), print.eval = TRUE)
      TRUE
    }, error = function(e) {
      cat("Error: ", conditionMessage(e), "\\n", sep = "")
      FALSE
    })
    sink()
    close(printed)
    # What a script attaches or sets, it does for itself.
    for (package in setdiff(search(), attached)) detach(package, character.only = TRUE)
    options(settings)
    if (!well) file.create(paste0(name, ".failed"))
  }
})
"""
"""Scripts in one process, each in an environment of its own."""


def run_r_together(
    paths: Sequence[Path], folder: Path, environment: dict[str, str]
) -> dict[str, tuple[bool, str]]:
    """Of scripts at their smallest size in one process: whether they succeed, and their output.

    They share the slowest part, the start of R and of Python.
    """
    driver = folder / "one_after_another.R"
    driver.write_text(ONE_AFTER_ANOTHER)
    run_command(["Rscript", driver, folder, "--quick", *paths], env=environment)
    return {
        name: (not (folder / f"{name}.failed").exists(), (folder / f"{name}.txt").read_text())
        for name in (path.stem for path in paths)
    }


class RSession:
    """One R process that evaluates code and says what it printed."""

    END = "<<end of output>>"

    def __init__(self, environment: dict[str, str], folder: Path) -> None:
        self.process = subprocess.Popen(
            ["R", "--vanilla", "--no-echo", "--no-readline", "--interactive"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            # A group of its own, so that an interrupt for R is none for the tests.
            start_new_session=True,
        )
        self.code = folder / "code.R"
        self("library(ucvtest)")

    def send(self, code: str) -> None:
        """Start to evaluate code, by way of a file, because R reads short lines only."""
        assert self.process.stdin is not None
        self.code.write_text(code)
        # One line, because R forgets a second one that it has read ahead.
        self.process.stdin.write(
            f"invisible(tryCatch(source('{self.code}', print.eval = TRUE), "
            "error = function(e) cat('Error:', conditionMessage(e)), "
            f"finally = cat('\\n{self.END}\\n')))\n"
        )
        self.process.stdin.flush()

    def wait_for(self, line: str) -> str:
        """Everything printed before a line; R is killed if that does not come."""
        assert self.process.stdout is not None
        printed = []
        watchdog = threading.Timer(LIMIT, self.process.kill)
        watchdog.start()
        try:
            for text in self.process.stdout:
                if text.strip() == line:
                    return "".join(printed).strip()
                printed.append(text)
        finally:
            watchdog.cancel()
        raise AssertionError(f"R ended, or printed no {line!r}:\n" + "".join(printed))

    def __call__(self, code: str) -> str:
        self.send(code)
        return self.wait_for(self.END)

    def close(self) -> int:
        """End R as a user does; the exit status."""
        self.process.communicate("q('no')\n", timeout=LIMIT)
        return self.process.returncode
