"""Losses by name, and tables of losses on the resamples of one design."""

from ucvtest.data.output import Output
from ucvtest.metrics.loss import LOSSES, Loss, as_loss, losses_where_tested, matrix_loss

__all__ = ["LOSSES", "Loss", "Output", "as_loss", "losses_where_tested", "matrix_loss"]
