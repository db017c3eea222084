"""Weight: the lines of code of each room are at most those in pyproject.toml, ``[tool.weight]``.

The numbers only go down: docs/develop/weight.md.

    python .ci/lint/weight.py            the weight of each room, and its budget
    python .ci/lint/weight.py --lower    lower the budgets of rooms that have become lighter
"""

import ast
import io
import re
import subprocess
import sys
import tokenize
import tomllib
from collections import Counter
from pathlib import Path

from files import ROOT

PROJECT = ROOT / "pyproject.toml"
ROOMS_BELOW = ("ucvtest", "ucvtest/methods")
"""Folders whose own folders are rooms."""
PYTHON = ("ucvtest", "mlflow_plugin", "r_bridge", "tests", "studies")
"""Folders whose Python is weighed."""
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def code_lines(text: str) -> int:
    """Lines of Python with more than comments and docstrings."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        # Docstrings, and the strings that describe the constant above them.
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines.difference_update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def other_lines(text: str, comment: str) -> int:
    """Lines of a file that is not Python, without blank ones and comments."""
    return sum(not re.match(rf"\s*({comment}|$)", line) for line in text.splitlines())


def room_of(path: Path) -> str | None:
    """The room that a file is weighed with."""
    top = path.parts[0]
    if top == "r_bridge" and path.suffix == ".R":
        return "r_bridge, tests in R" if "tests" in path.parts else "r_bridge, R"
    if path.suffix == ".Rd":
        return "r_bridge, Rd"
    if path.suffix != ".py" or top not in (
        "ucvtest",
        "mlflow_plugin",
        "r_bridge",
        "tests",
        "studies",
    ):
        return None
    if top == "ucvtest":
        folder = path.parent
        while folder.parent.as_posix() not in ROOMS_BELOW and folder.as_posix() != "ucvtest":
            folder = folder.parent
        return folder.as_posix()
    return top


def weights() -> Counter[str]:
    """Code lines by room, of the files that git knows."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    found: Counter[str] = Counter()
    for name in listed.stdout.splitlines():
        path = Path(name)
        room = room_of(path)
        if room is None or not (ROOT / path).exists():
            continue
        text = (ROOT / path).read_text(encoding="utf-8")
        if path.suffix == ".py":
            found[room] += code_lines(text)
        else:
            found[room] += other_lines(text, "#" if path.suffix == ".R" else "%")
    return found


def findings() -> list[str]:
    """The rooms that are above their budget, as lines."""
    budgets = _budgets()
    return [
        f"{room}: {lines} lines of code, {budgets.get(room, 0)} in [tool.weight] of pyproject.toml"
        for room, lines in sorted(weights().items())
        if lines > budgets.get(room, 0)
    ]


def _budgets() -> dict[str, int]:
    settings = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    return dict(settings["tool"].get("weight", {}))


def main() -> None:
    """Print the weight of each room, or lower the budgets of those that have become lighter."""
    found, budgets = weights(), _budgets()
    if "--lower" in sys.argv[1:]:
        rows = {room: min(found[room], budgets.get(room, found[room])) for room in sorted(found)}
        table = "[tool.weight]\n" + "".join(f'"{room}" = {rows[room]}\n' for room in rows)
        text = PROJECT.read_text(encoding="utf-8")
        text = re.sub(r'\[tool\.weight\]\n("[^\n]*\n)*', table, text)
        PROJECT.write_text(text, encoding="utf-8")
    for room in sorted(found):
        print(f"{room:28}{found[room]:7}{budgets.get(room, 0):7}")
    package = sum(n for room, n in found.items() if room.startswith("ucvtest"))
    print(f"{'ucvtest in all':28}{package:7}")


if __name__ == "__main__":
    main()
