"""All problems of the calibration study."""

from functools import cache

from studies.calibration.auc_problems import MAKERS as OF_AUC
from studies.calibration.benchmark_problems import MAKERS as OF_BENCHMARK
from studies.calibration.first_problems import MAKERS as FIRST
from studies.calibration.held_out_problems import MAKERS as HELD_OUT
from studies.calibration.problem import Problem
from studies.calibration.unstable_problems import MAKERS as UNSTABLE
from studies.data import DataMissing


@cache
def problems() -> dict[str, Problem]:
    """All problems by name; without the real data sets where their folder is missing."""
    found = {}
    for make in (*FIRST, *HELD_OUT, *UNSTABLE, *OF_AUC, *OF_BENCHMARK):
        try:
            problem = make()
        except DataMissing as error:
            print(f"left out: {make.__name__}: {error}")
            continue
        found[problem.name] = problem
    return found
