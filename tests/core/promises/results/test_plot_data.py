"""Pictures as data: what they refuse, and that they cannot change."""

import numpy as np
import pytest

from ucvtest.results.plot_data import Layer, Picture


def test_what_a_layer_and_a_picture_refuse():
    for arguments in (
        {"mark": "pie", "x": 1},
        {"mark": "vertical", "x": 1, "role": "hero"},
        {"mark": "vertical", "y": 1},
        {"mark": "horizontal", "x": 1},
        {"mark": "line", "x": [1, 2]},
        {"mark": "bars", "x": [1, 2], "y": [1]},
    ):
        with pytest.raises(ValueError, match=r"is unknown|needs|shape"):
            Layer(**arguments)
    with pytest.raises(ValueError, match="layers"):
        Picture("x", "y", [])


def test_a_layer_keeps_a_copy_that_cannot_be_written():
    heights = np.array([1.0, 2.0])
    layer = Layer("bars", x=[0, 1], y=heights)
    heights[0] = 9.0
    assert layer.y[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        layer.y[0] = 3.0
