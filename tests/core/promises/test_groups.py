"""Public kernels name the unit of resampling, or say why they cannot allow for it."""

import inspect

import numpy as np
import pytest

from ucvtest import kernels

Y = np.arange(6) // 3
PAIRS = np.array([np.eye(6)[i] + np.eye(6)[j] for i in range(3) for j in range(3, 6)])
ORDER = np.array([np.roll(np.arange(10), shift) for shift in range(10)])
FIRST, SECOND = ORDER < 3, (ORDER >= 3) & (ORDER < 6)

LEARNT = np.tile(np.array([np.roll(np.eye(3)[0], k) for k in range(3)]), (8, 2))

CALLS = {
    "auc_ustatistic.from_scores": (np.tile([2.0, 4, 6, 1, 3, 5], (24, 1)), LEARNT, Y == 0),
    "fold_covariance.hold_out": (np.arange(4.0), np.array([0, 0, 1, 1])),
    "fold_covariance.moments": (np.arange(4.0), np.array([0, 0, 1, 1])),
    "fold_covariance.moments_by_row": (np.arange(4.0), np.array([0, 0, 1, 1])),
    "influence.auc": (np.tile(Y * 1.0, (9, 1)), PAIRS, Y),
    "influence.error": (np.tile(Y * 1.0, (6, 1)), np.eye(6)),
    "leave_pair_out.errors": (np.eye(4), np.array([0, 1, 0, 1])),
    "leave_pair_out.nearest_neighbour_errors": (
        np.array([[1, 2], [0, 2], [3, 1], [2, 1]]),
        np.array([[0, 0, 1, 1]], dtype=bool),
    ),
    "leave_pair_out.smoother_errors": (np.eye(4) / 2, np.array([[0, 0, 1, 1]], dtype=bool)),
    "permutation.generalization": (np.zeros((1, 3)), np.zeros((1, 3)), np.zeros(3)),
    "ustatistic.from_pairs": (*np.zeros((2, 10, 10)), FIRST, SECOND),
}

ABOUT_NUMBERS = {
    "fold_covariance.admissible_variances",
    "fold_covariance.eigenvalues",
    "fold_covariance.mean_fold_size",
    "fold_covariance.variance_given_rho",
    "influence.ad_hoc_variances",
    "permutation.complexity_bound",
    "permutation.effective_degrees",
    "permutation.error_bound",
    "permutation.final_prediction_error",
    "permutation.leave_one_out",
    "permutation.smoother_complexity",
    "permutation.smoother_optimism",
    "permutation.vc_penalty",
}
"""Functions of sizes, moments and fits, which see no observations to resample."""


def kernel(name):
    module, function = name.split(".")
    return getattr(getattr(kernels, module), function)


def test_every_public_kernel_is_listed():
    public = {
        f"{module}.{name}"
        for module in kernels.__all__
        for name in getattr(kernels, module).__all__
        if callable(getattr(getattr(kernels, module), name)) and name[0].islower()
    }
    assert public == CALLS.keys() | ABOUT_NUMBERS


@pytest.mark.parametrize("name", CALLS)
def test_groups_are_the_last_keyword(name):
    last = list(inspect.signature(kernel(name)).parameters.values())[-1]
    assert (last.name, last.default, last.kind) == ("groups", None, last.KEYWORD_ONLY)


OF_MEANS = (
    "fold_covariance.hold_out",
    "fold_covariance.moments",
    "fold_covariance.moments_by_row",
    "ustatistic.from_pairs",
)
"""Their losses of groups are the means of those of rows."""

REFUSED = ("leave_pair_out.nearest_neighbour_errors", "leave_pair_out.smoother_errors")
TAKEN = tuple(name for name in CALLS if name not in REFUSED)


@pytest.mark.parametrize("name", TAKEN)
def test_groups_of_one_row_change_nothing(name):
    expected = kernel(name)(*CALLS[name])
    single = np.arange(len(np.transpose(CALLS[name][0])))[::-1]
    np.testing.assert_equal(kernel(name)(*CALLS[name], groups=single), expected)


@pytest.mark.parametrize("name", OF_MEANS)
def test_groups_have_the_means_of_their_rows(name):
    rng, index = np.random.default_rng(0), np.repeat(np.arange(10)[::-1], np.arange(10) % 3 + 1)
    sizes, sets, shape = np.bincount(index), [np.arange(10) // 2], (1, len(index))
    if name == "ustatistic.from_pairs":
        sets, shape = [FIRST, SECOND], (2, 10, len(index))
    losses = rng.normal(size=shape)
    means = np.apply_along_axis(lambda row: np.bincount(index, row) / sizes, -1, losses)
    expected = kernel(name)(*means, *sets)
    found = kernel(name)(*losses, *(each[..., index] for each in sets), groups=index)
    assert found.keys() == expected.keys()
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value, rtol=1e-9)
    divided = [rng.permuted(each[..., index], axis=-1) for each in sets]
    with pytest.raises(ValueError, match="divides a group"):
        kernel(name)(*losses, *divided, groups=index)


@pytest.mark.parametrize("name", REFUSED)
def test_groups_are_refused(name):
    expected = kernel(name)(*CALLS[name])
    np.testing.assert_equal(kernel(name)(*CALLS[name], groups=None), expected)
    with pytest.raises(
        ValueError, match=r"groups= is not supported here, as .* use LeavePairOutTest"
    ):
        kernel(name)(*CALLS[name], groups=np.arange(len(CALLS[name][0])))
