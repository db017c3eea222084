"""Curves with bands: ROC, precision-recall, calibration and decision curves.

Curves are of fixed rules, of out-of-fold predictions, or of learners; of one, or of two and their
difference; of independent rows or of clusters. Each has intervals for one point, and for all points
at once.
"""

from ucvtest.curves.band import Band
from ucvtest.curves.calibration import calibration
from ucvtest.curves.decision import decision
from ucvtest.curves.precision_recall import precision_recall
from ucvtest.curves.result import Curve
from ucvtest.curves.roc import roc

__all__ = ["Band", "Curve", "calibration", "decision", "precision_recall", "roc"]
