"""The files that whoever publishes needs agree with the project: workflows, recipe, paper."""

import importlib.util
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import ucvtest as uv
from tests.support.paths import ROOT
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
