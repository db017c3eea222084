"""Simulations with a known answer."""

from ucvtest.fold_simulation import (
    FoldCovarianceSimulation,
    HoldOutSimulation,
    fold_covariance,
    hold_out,
    population_sampler,
    regression_sampler,
)

__all__ = [
    "FoldCovarianceSimulation",
    "HoldOutSimulation",
    "fold_covariance",
    "hold_out",
    "population_sampler",
    "regression_sampler",
]
