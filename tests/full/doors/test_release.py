"""The files that whoever publishes needs agree with the project: workflows, recipe, paper."""

import importlib.util
import os
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

import ucvtest as uv
from tests.support.paths import ROOT
from tests.support.processes import finished
from tests.support.scripts import script
from ucvtest.advice.calibration import calibration_table

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
try_distributions = script(".ci/try_distributions.py")


def jobs_of(path: Path) -> dict[str, Any]:
    return yaml.safe_load(path.read_text())["jobs"]


def steps_of(path: Path) -> list[dict[str, Any]]:
    return [step for job in jobs_of(path).values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_commands_of_workflows_exist(path: Path) -> None:
    commands = [step["run"] for step in steps_of(path) if "run" in step]
    for command in commands:
        first, *words = command.split()
        if first == "make":
            assert words[0] in TARGETS
        else:
            assert (ROOT / (words[0] if first == "python" else first)).is_file(), command
    assert commands


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_jobs_of_workflows_can_run(path: Path) -> None:
    workflow = yaml.safe_load(path.read_text())
    # YAML takes the word "on" for a truth value.
    assert {"name", True, "permissions", "jobs"} <= set(workflow)
    jobs = jobs_of(path)
    for job in jobs.values():
        needed = job.get("needs", [])
        assert set([needed] if isinstance(needed, str) else needed) <= set(jobs)
        assert "runs-on" in job
        for name in re.findall(r"\bmatrix\.(\w+)", str(job)):
            assert name in job["strategy"]["matrix"]
    for step in steps_of(path):
        assert ("uses" in step) != ("run" in step)
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@(v\d+|release/v\d+)", step["uses"])


def test_extras_are_tried_one_by_one() -> None:
    (command,) = (
        step["run"]
        for step in steps_of(ROOT / ".github" / "workflows" / "nightly.yml")
        if "try_distributions" in step.get("run", "")
    )
    extras = set(PROJECT["optional-dependencies"]) - {"all"}
    assert set(try_distributions.EXTRAS) == extras
    # That of R needs R, which the job on R has.
    assert set(command.split()[3:]) == extras - {"r"}


def test_pages_install_what_exists() -> None:
    extras = set(PROJECT["optional-dependencies"])
    named = 0
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*/*.md")]:
        text = page.read_text()
        for found in re.findall(r"pip install '(?:\.|ucvtest)\[(.*?)\]'", text):
            assert set(found.split(",")) <= extras, page
            named += 1
        for version in re.findall(r"ucvtest-([\d.]+)-py3", text):
            assert version == uv.__version__
    start = (ROOT / "docs" / "start" / "index.md").read_text()
    assert [name for name in extras if f"| `{name}` |" not in start] == []
    assert named >= 5


def test_the_recipe_has_the_requirements_of_the_project() -> None:
    text = (ROOT / "recipe" / "meta.yaml").read_text()
    recipe = yaml.safe_load(re.sub(r"^\{%.*%\}$", "", text, flags=re.M).replace("{{", "(("))
    python, *others = recipe["requirements"]["run"]
    assert python.startswith("python >=")
    assert sorted(each.replace(" ", "") for each in others) == sorted(PROJECT["dependencies"])
    (entry,) = recipe["build"]["entry_points"]
    assert entry == "ucvtest = {ucvtest}".format(**PROJECT["scripts"])
    assert recipe["about"]["summary"] == PROJECT["description"]


def test_local_hooks_call_what_setup_installs() -> None:
    (repository,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert repository["repo"] == "local"
    tools = {hook["entry"].split()[0] for hook in repository["hooks"]}
    assert tools == {f".venv/bin/{name}" for name in ("ruff", "lint-imports", "mypy", "python")}
    for name in ("ruff", "mypy"):
        assert importlib.util.find_spec(name)


def test_the_paper_cites_what_its_bibliography_has() -> None:
    text = (ROOT / "paper" / "paper.md").read_text()
    entries = re.findall(r"^@\w+\{(\w+),", (ROOT / "paper" / "paper.bib").read_text(), re.M)
    assert sorted(entries) == sorted(set(re.findall(r"@(\w+)", text)))
    body = text.split("---\n", 2)[2]
    assert len(body.split()) < 1000


def test_coverage_in_the_paper_is_that_of_the_table() -> None:
    table = calibration_table()
    said = []
    for name in ("naive_t", "corrected_t", "ustatistic"):
        cells = table[(table["procedure"] == name) & (table["target"] == "difference")]
        sums = cells.groupby("problem")[["covered", "answered"]].sum()
        share = 100 * sums["covered"] / sums["answered"]
        said.append((f"{share.mean():.1f}", f"{share.min():.1f}", len(share)))
    words = " ".join((ROOT / "paper" / "paper.md").read_text().split())
    for mean, lowest, _ in said:
        assert re.search(rf"{mean}% \((?:lowest problem )?{lowest}%\)", words), (mean, lowest)
    assert "run: {}, {} and {} of them".format(*(n for *_, n in said)) in words


ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
EXAMPLE = ROOT / "examples" / "github_actions" / "gate.yml"


def ask(folder: Path, command: str, inputs: dict[str, Any]) -> tuple[int, str, str, str]:
    """Exit status, log, summary and output of the action's step, with this ``ucvtest``."""
    (step,) = (step for step in ACTION["runs"]["steps"] if step.get("id") == "gate")
    values = {name: each.get("default", "") for name, each in ACTION["inputs"].items()} | inputs
    given = {
        variable: str(values[re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", text)[1]])  # type: ignore[index]
        for variable, text in step["env"].items()
    }
    (folder / "ucvtest").write_text(f"#!/bin/sh\n{command}\n")
    (folder / "ucvtest").chmod(0o755)
    files = {name: str(folder / name) for name in ("GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY")}
    # As GitHub runs it.
    done = finished(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
        cwd=folder,
        env=os.environ | given | files | {"PATH": f"{folder}:{os.environ['PATH']}"},
    )
    summary, output = (
        Path(files[name]).read_text() if Path(files[name]).exists() else ""
        for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT")
    )
    return done.returncode, done.stdout, summary, output


@pytest.mark.parametrize(
    ("status", "undecided", "expected", "said"),
    [
        (0, "notice", 0, ""),
        (1, "notice", 1, "::error"),
        (3, "notice", 0, "::notice"),
        (3, "fail", 1, "::error"),
        (4, "notice", 4, "::error"),
        (2, "notice", 2, "::error"),
    ],
)
def test_the_action_is_red_if_the_new_model_is_worse(
    status: int, undecided: str, expected: int, said: str, tmp_path: Path
) -> None:
    inputs = {"file": "a b.csv", "scores": "new,old", "margin": 0.02, "undecided": undecided}
    inputs |= {"options": "--groups patient --metric 'fbeta(2)'"}
    command = f'for word; do echo "<$word>"; done; exit {status}'
    found, log, summary, output = ask(tmp_path, command, inputs)
    assert found == expected
    words = ["gate", "a b.csv", "--scores", "new,old", "--margin", "0.02"]
    words += ["--groups", "patient", "--metric", "fbeta(2)"]
    shown = "\n".join(f"<{word}>" for word in words)
    assert log.startswith(shown)
    assert re.findall("::[a-z]+", log)[:1] == ([said] if said else [])
    decision = {0: "pass", 1: "fail", 3: "undecided", 4: "spent"}.get(status)
    assert output == (f"decision={decision}\n" if decision else "")
    assert (shown in summary) == (decision is not None)


def test_the_example_uses_the_action(tmp_path: Path) -> None:
    (inputs,) = (step["with"] for step in steps_of(EXAMPLE) if "ucvtest" in step.get("uses", ""))
    assert inputs.keys() <= ACTION["inputs"].keys()
    required = {name for name, each in ACTION["inputs"].items() if each.get("required")}
    assert required <= inputs.keys()
    # Twelve patients, whose rows are right or wrong together, decide nothing.
    patient = np.repeat(np.arange(12), 50)
    y = np.arange(600) % 2
    wrong = {"new": patient < 2, "old": (patient > 1) & (patient < 5)}
    columns = {name: np.where(each, 1 - y, y) for name, each in wrong.items()}
    pd.DataFrame({"patient": patient, "y": y, **columns}).to_csv(tmp_path / "holdout.csv")
    command = f'exec "{sys.executable}" -m ucvtest "$@"'
    found, log, summary, output = ask(tmp_path, command, inputs)
    assert (found, output) == (0, "decision=undecided\n"), log
    assert "### Gate: undecided" in summary
    assert (tmp_path / "gate.html").exists()


def test_inputs_of_the_action_are_explained() -> None:
    page = (ROOT / "docs" / "tutorials" / "gate.md").read_text()
    for name, each in ACTION["inputs"].items():
        assert each["description"]
        assert f"| `{name}` |" in page
