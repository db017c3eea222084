"""Reads source and pages as text: `python .ci/lint` prints each line that is wrong."""

import sys

import imports
import names
import weight
import words

found = [line for part in (imports, names, words, weight) for line in part.findings()]
print(*found, sep="\n", end="\n" if found else "")
sys.exit(bool(found))
