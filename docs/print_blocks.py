"""Run the blocks of R, Python and shell that pages show, and write what they print below each.

    python docs/print_blocks.py               # README, and all pages with such blocks
    python docs/print_blocks.py docs/r/index.md

Executed notebooks show their output by themselves. A fence ```text right below a block is its
output, which this script replaces. Cards of the front page have no room for output. Shell blocks
get new output only where they have some, because README is short.
"""

import contextlib
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]

BLOCK = re.compile(
    r"^```(?P<language>r|python|console|\{code-cell\} python)\n(?::.*\n)*(?P<code>.*?)^```\n"
    r"(?P<shown>\n```text\n(?P<output>.*?)^```\n)?",
    re.M | re.S,
)
NUMBER = re.compile(r"(?<![\w.])-?(?:\d+\.?\d*|\.\d+)(?:e[-+]\d+)?(?![\w])")
SECONDS = re.compile(r"Seconds:\s*[\d.]+|\b[\d.]+ (?:s|seconds)\b")
BANNER = re.compile(r"^\S+ Evaluation completed\.$.*?MLflow UI\.$\n*", re.M | re.S)
"""What MLflow prints of a run, whose name is drawn."""

BEGINNING = "<<block {}>>"
WIDTH = 90
"""Of what R prints, and of sentences."""


class Block(NamedTuple):
    """Code of a page, and the output that the page shows."""

    language: str
    code: str
    output: str | None


def blocks_of(text: str) -> list[Block]:
    """Those of R, Python and shell, also of notebooks, in the order of the page."""
    return [
        Block(each["language"].rpartition(" ")[2], each["code"], each["output"])
        for each in BLOCK.finditer(text)
    ]


def numbers_in(output: str) -> list[str]:
    """All but seconds, which differ from run to run; words may change, numbers may not."""
    return NUMBER.findall(SECONDS.sub("", BANNER.sub("", output)))


def script_of_r(codes: list[str]) -> str:
    """One script that prints what each block prints, with a line before it."""
    lines = ["pdf(NULL)", f"options(width = {WIDTH})", "own <- environment()"]
    for number, code in enumerate(codes):
        packages = sorted(set(re.findall(r"\b(\w+)::", code)))
        there = " && ".join(f'requireNamespace("{name}", quietly = TRUE)' for name in packages)
        text = f'r"----({code})----"'
        lines += [
            f'cat("{BEGINNING.format(number)}\\n")',
            f"if ({there or 'TRUE'}) source(exprs = parse(text = {text}, keep.source = FALSE), "
            "local = own, print.eval = TRUE)",
        ]
    return "\n".join(lines)


def outputs_of(printed: str, number: int) -> list[str]:
    """What such a script printed, block by block."""
    found = []
    for each in range(number):
        _, _, printed = printed.partition(f"{BEGINNING.format(each)}\n")
        output = printed.partition(BEGINNING.format(each + 1))[0]
        found.append(tidied(output))
    return found


def tidied(output: str) -> str:
    """Sentences in lines of the page's width, and nothing behind a line."""
    lines = BANNER.sub("", output).strip("\n").split("\n")
    wrapped = [_wrapped(line) if len(line) > WIDTH + 10 else [line] for line in lines]
    return "\n".join(line.rstrip() for part in wrapped for line in part or [""])


def _wrapped(line: str) -> list[str]:
    indent = "    " if line.startswith("  - ") else ""
    return textwrap.wrap(line, WIDTH, subsequent_indent=indent)


def printed_by_r(codes: list[str]) -> list[str]:
    """Each block's output, in one session."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "blocks.R")
        path.write_text(script_of_r(codes), encoding="utf-8")
        done = subprocess.run(
            ["Rscript", "--vanilla", str(path)],
            cwd=folder,
            env=os.environ | {"LANGUAGE": "en", "LC_ALL": "C.UTF-8"},
            capture_output=True,
            text=True,
        )
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return outputs_of(done.stdout, len(codes))


def printed_by_python(codes: list[str]) -> list[str]:
    """Each block's output, in one namespace and a folder with the tables of the tutorials.

    MLflow keeps its runs in this folder. Ray is left out, because it starts servers.
    """
    os.environ["MPLBACKEND"] = "Agg"
    found, namespace = [], {"__name__": "blocks"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        os.environ["MLFLOW_TRACKING_URI"] = f"sqlite:///{folder}/mlflow.db"
        for table in (ROOT / "docs" / "tutorials").glob("*.csv"):
            shutil.copy(table, folder)
        for code in codes:
            if "ray.init()" in code:
                found.append("")
                continue
            with contextlib.redirect_stdout(io.StringIO()) as printed:
                exec(compile(code, "block", "exec"), namespace)
            found.append(tidied(printed.getvalue()))
    return found


def commands_in(code: str) -> list[list[str]]:
    """The commands of a shell block, without their name."""
    lines = code.replace("\\\n", " ").splitlines()
    return [shlex.split(line)[2:] for line in lines if line.startswith("$ ucvtest ")]


def printed_by_shell(codes: list[str]) -> list[str]:
    """Each block's output, in a folder of its own."""
    found = []
    for code in codes:
        with tempfile.TemporaryDirectory() as folder:
            outputs = [
                subprocess.run(
                    [sys.executable, "-m", "ucvtest", *words],
                    cwd=folder,
                    stdout=subprocess.PIPE,
                    text=True,
                ).stdout
                for words in commands_in(code)
            ]
        found.append(tidied("".join(outputs)))
    return found


def with_outputs(text: str) -> str:
    """The page again, with what its blocks print now."""
    blocks = blocks_of(text)
    outputs: dict[int, str] = {}
    runs = {"r": printed_by_r, "python": printed_by_python, "console": printed_by_shell}
    for language, run in runs.items():
        places = [
            place
            for place, each in enumerate(blocks)
            if each.language == language and not (language == "console" and each.output is None)
        ]
        if places:
            printed = run([blocks[place].code for place in places])
            outputs |= dict(zip(places, printed, strict=True))
    numbers = iter(range(len(blocks)))

    def replaced(block: re.Match[str]) -> str:
        output = outputs.get(next(numbers), "")
        if "code-cell" in block["language"]:
            return block[0]
        itself = f"```{block['language']}\n{block['code']}```\n"
        return f"{itself}\n```text\n{output}\n```\n" if output else itself

    return BLOCK.sub(replaced, text)


def main() -> None:
    """Write the pages that are named, or all."""
    paths = [Path(name) for name in sys.argv[1:]]
    everywhere = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*/*.md"))]
    for path in paths or everywhere:
        text = path.read_text(encoding="utf-8")
        if re.search(r"^```(r|python|console)$", text, re.M):
            print(path, flush=True)
            # A process for each, because autologging stays on.
            if path in paths and len(paths) == 1:
                path.write_text(with_outputs(text), encoding="utf-8")
            else:
                subprocess.run([sys.executable, __file__, str(path)], check=True)


if __name__ == "__main__":
    main()
