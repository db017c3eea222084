import numpy as np
import pytest

from ucvtest.evaluation.problem import Problem


class TestOutput:
    """A question about no loss says what its learners predict."""

    X, y = np.random.default_rng(0).normal(size=(24, 2)), np.arange(24) % 2

    def test_there_is_no_loss_then(self):
        test = Problem.of(self.X, self.y, "lda", output="score")
        assert test.loss is None
        assert test.output == "score"
        assert test.sample.n_classes == 2

    def test_otherwise_the_loss_decides(self):
        assert Problem.of(self.X, self.y, "lda", loss="log").output == "probability"
        assert Problem.of(self.X, self.X[:, 0], "ridge:1").output == "number"

    def test_refused(self):
        with pytest.raises(ValueError) as error:
            Problem.of(self.X, self.y, "lda", output="rank")
        assert str(error.value) == (
            "output='rank' is unknown: use one of label, number, probability, score"
        )
        with pytest.raises(ValueError) as error:
            Problem.of(self.X, self.X[:, 0], "lda", output="score")
        assert str(error.value) == (
            "y must contain class labels for this test, but it contains real values"
        )
