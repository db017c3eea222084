"""The Python side of the R package: R calls it, and R functions serve as learners."""
