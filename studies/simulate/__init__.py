"""Simulations with a known answer."""

from studies.simulate.classes import best_auc, normal_classes
from studies.simulate.folds import (
    FoldCovarianceSimulation,
    HoldOutSimulation,
    fold_covariance,
    hold_out,
)
from studies.simulate.samplers import population_sampler, regression_sampler

__all__ = [
    "FoldCovarianceSimulation",
    "HoldOutSimulation",
    "best_auc",
    "fold_covariance",
    "hold_out",
    "normal_classes",
    "population_sampler",
    "regression_sampler",
]
