"""The area under the ROC curve."""

__all__ = ["AUC_NAME"]

AUC_NAME = "auc"
"""In the place of a loss: decision scores are kept, and the mean of a resample is its AUC."""
