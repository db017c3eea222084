"""The parts of docstrings in numpydoc's form."""

import re
from inspect import cleandoc


def sections(text: str) -> dict[str, str]:
    """The sections of a docstring by their titles; the text before the first stands at ""."""
    summary, *titled = re.split(r"^(\w+)\n---+\n", cleandoc(text), flags=re.MULTILINE)
    texts = map(str.strip, titled[1::2])
    return {"": summary.strip(), **dict(zip(titled[::2], texts, strict=True))}


def parameters(section: str) -> dict[str, str]:
    """What stands behind each name: its type and its description."""
    described = {}
    for paragraph in re.split(r"\n(?=\S)", section):
        header = re.split(r" : |\n", paragraph, maxsplit=1)[0]
        for name in header.split(", "):
            described[name.strip("*")] = paragraph[len(header) :]
    return described
