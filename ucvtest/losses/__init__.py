"""Losses by name, and tables of losses on the resamples of one design."""

from ucvtest.data.output import Output
from ucvtest.metrics.loss import Loss, losses_where_tested
from ucvtest.metrics.matrix import matrix_loss
from ucvtest.metrics.means import LOSSES
from ucvtest.metrics.names import as_loss

__all__ = ["LOSSES", "Loss", "Output", "as_loss", "losses_where_tested", "matrix_loss"]
