"""Pictures as data: what they refuse, and that they cannot change."""

import numpy as np
import pytest

from ucvtest.results.plot_data import Layer, Picture


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mark": "pie", "x": 1}, "mark='pie' is unknown"),
        ({"mark": "vertical", "x": 1, "role": "hero"}, "role='hero' is unknown"),
        ({"mark": "vertical", "y": 1}, "a layer of vertical needs x alone"),
        ({"mark": "horizontal", "x": 1}, "a layer of horizontal needs y alone"),
        ({"mark": "line", "x": [1, 2]}, "a layer of line needs x and y"),
        ({"mark": "bars", "x": [1, 2], "y": [1]}, r"x has shape \(2,\), y \(1,\)"),
    ],
)
def test_what_a_layer_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        Layer(**arguments)


def test_an_empty_picture_is_refused():
    with pytest.raises(ValueError, match="layers is empty"):
        Picture("x", "y", [])


def test_a_layer_keeps_a_copy_that_cannot_be_written():
    heights = np.array([1.0, 2.0])
    layer = Layer("bars", x=[0, 1], y=heights)
    heights[0] = 9.0
    assert layer.y[0] == 1.0
    with pytest.raises(ValueError, match="read-only"):
        layer.y[0] = 3.0
