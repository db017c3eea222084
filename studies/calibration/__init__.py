"""Coverage and size of every test on many problems; run.py runs it."""
