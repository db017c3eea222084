"""Resampling designs by name, and the structure of designs that have been drawn.

A named design says what to draw; `draw` gives a `Design`, whose rows are the learning sets in a
documented order. Functions such as `folds_of` read the structure off a drawn design.
"""

from ucvtest.designs.adapters import as_design
from ucvtest.designs.design import Design
from ucvtest.designs.scheme_base import NamedDesign
from ucvtest.designs.schemes import (
    DisjointSets,
    HoldOut,
    KFold,
    LeavePairOut,
    NestedKFold,
    RandomSplits,
    SplitHalves,
)
from ucvtest.designs.structure import (
    disjoint_sets_of,
    folds_of,
    halves_of,
    n_folds_of,
    nested_folds_of,
    pairs_of,
    random_splits_of,
)

__all__ = [
    "Design",
    "DisjointSets",
    "HoldOut",
    "KFold",
    "LeavePairOut",
    "NamedDesign",
    "NestedKFold",
    "RandomSplits",
    "SplitHalves",
    "as_design",
    "disjoint_sets_of",
    "folds_of",
    "halves_of",
    "n_folds_of",
    "nested_folds_of",
    "pairs_of",
    "random_splits_of",
]
