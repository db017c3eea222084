"""A device that the user has chosen among several does the work alone."""

import pytest

from tests.full.learners.jitted.test_devices import run_on

pytestmark = pytest.mark.seconds(60, reason="starts processes, which import for themselves")


def test_a_chosen_device_works_alone():
    on_third = run_on(4, "chosen")
    assert on_third["used"] == 0
    assert on_third["found"] == run_on(1)["found"]
