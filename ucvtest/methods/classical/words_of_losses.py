"""What losses on a design tell of a test, in words: its estimand, and notes."""

import numpy as np

from ucvtest.common.notes import Note
from ucvtest.data.groups import Clusters
from ucvtest.inference.notes import OF_EXPECTED_PARTS, one_class_and_tie_notes
from ucvtest.losses.table import LossDifference
from ucvtest.methods.classical.survival_of_rules import turned_risks

LOSSES_OF_CLASSES = ("zero_one", "log")


def notes_on_losses(observed: LossDifference, clusters: Clusters | None) -> list[str]:
    """Notes on means of parts, ties, classes that were not learnt, and predictions turned round.

    Rows that are sorted by class leave learning sets without some classes.
    """
    losses, design, notes = observed.losses, observed.design, list[str]()
    if losses.metric.linearised and design.n_resamples > 1:
        notes.append(OF_EXPECTED_PARTS)
    if observed.diagnostics:
        notes += one_class_and_tie_notes(observed.diagnostics)
    if losses.target is not None and losses.loss in LOSSES_OF_CLASSES and design.learns:
        unlearnt = np.zeros(design.n_resamples, dtype=bool)
        for code in np.unique(losses.target):
            members = losses.target == code
            tested, learnt = design.testing[:, members], design.learning[:, members]
            unlearnt |= tested.any(axis=1) & ~learnt.any(axis=1)
        if unlearnt.any():
            resamples = f"{unlearnt.sum()} of {len(unlearnt)} resamples"
            absent = f"In {resamples} a tested class does not occur in the learning set"
            text = (
                f"{absent}, so it cannot be predicted. If rows are sorted, shuffle them "
                "(shuffle=True); if a class is rare, use a stratified splitter."
            )
            notes.append(Note(text, f"{absent}."))
    return notes + (turned_risks(observed, clusters) if losses.metric.of_survival else [])
