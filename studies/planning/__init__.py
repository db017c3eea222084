"""Does `uv.plan` predict what other sample sizes give? run.py runs it."""
