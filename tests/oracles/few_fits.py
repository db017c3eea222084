"""The variance from few fits, in the notation of its derivation: sums written out one by one."""

from itertools import product

import numpy as np
from scipy import stats


def few_fits(losses, rounds, g):
    """Estimate, variance, noise E and degrees of freedom.

    `losses[r][j][t]` at t of the rule learnt on the set `rounds[r][j]`, a round's sets disjoint.
    """
    n, n_rounds, q = len(losses[0][0]), len(rounds), len(rounds[0])
    m, everyone = g + 1, range(n)
    y = np.empty((n_rounds, n))
    for r, i in product(range(n_rounds), everyone):
        testing = [j for j in range(q) if i not in rounds[r][j]]
        y[r, i] = np.mean([losses[r][j][i] for j in testing])
    u = [np.mean(y[r]) for r in range(n_rounds)]
    estimate = np.mean(u)
    e = sum((one - estimate) ** 2 for one in u) / (n_rounds - 1)
    delta = [np.mean(y[:, i]) for i in everyone]
    x = [one - estimate for one in delta]
    ms = sum((y[r, i] - u[r] - x[i]) ** 2 for r, i in product(range(n_rounds), everyone))
    ms /= (n_rounds - 1) * (n - 1)
    a0 = sum(one**2 for one in x) / (n * (n - 1))
    a = max(a0 - ms / (n_rounds * n), a0 / 5)

    fits, expected = [], []
    for r in range(n_rounds):
        others = [(n_rounds * delta[i] - y[r, i]) / (n_rounds - 1) for i in everyone]
        phi, known = [], []
        for j in range(q):
            tested = [i for i in everyone if i not in rounds[r][j]]
            phi.append(np.mean([losses[r][j][i] for i in tested]))
            known.append(np.mean([others[i] for i in tested]) - np.mean(others))
        fits.extend(phi - np.mean(phi))
        expected.extend(known - np.mean(known))
    omega = g * n / (n - g) ** 2
    kappa = (g * (n - g) / (n - m)) ** 2 / (g * n)
    nu = omega * ms / (n * (n_rounds - 1))
    f = n_rounds * (q - 1) - 1
    slope = np.dot(expected, fits) / np.dot(expected, expected)
    s2 = sum((one - slope * by) ** 2 for one, by in zip(fits, expected, strict=True)) / f
    s2 = max(s2 - slope**2 * nu, s2 / 5)
    gamma = slope / max(omega * a / (omega * a + nu), 1 / 2)

    t0 = a * (1 - (gamma - 1) * g / (n - m)) ** 2
    s = kappa * s2
    t = max(t0 - s / f, t0 / 2)
    w = min(max(n / 300, 1 / 3), 1)
    v = t + (1 - w) * max(s - e, 0) + w * s**2 / (s + e)
    turned = np.reshape(np.array(fits) - (1 + (n - m) / g) * np.array(expected), (n_rounds, q))
    rho2 = decided([sum(one**2) for one in turned], u)
    v = (1 - rho2) * v + rho2 * (t0 + s)
    df = 1 / (1 / (n - 1) + (1 - (t0 / (t0 + s)) ** 2) / f)
    return estimate, v, e, df, t0 + s


def decided(contrasts, means):
    """Amemiya's adjusted R^2 of the squared contrasts of rounds on their means, at least 0."""
    r = np.corrcoef(contrasts, means)[0, 1]
    return max(1 - (1 - r**2) * (len(means) + 2) / (len(means) - 2), 0)


def one_decides(losses, rounds, g):
    """What one learnt observation explains of fits within rounds, and its F test times n."""
    n, n_rounds, q = len(losses[0][0]), len(rounds), len(rounds[0])
    everyone, tested = range(n), [[set(range(n)) - one for one in sets] for sets in rounds]
    y = np.array(
        [
            [np.mean([losses[r][j][i] for j in range(q) if i in tested[r][j]]) for i in everyone]
            for r in range(n_rounds)
        ]
    )
    fits, learnt = [], []
    for r in range(n_rounds):
        others = np.delete(y, r, axis=0).mean(axis=0)
        phi = [np.mean([losses[r][j][i] for i in tested[r][j]]) for j in range(q)]
        left = [one - np.mean([others[i] for i in tested[r][j]]) for j, one in enumerate(phi)]
        fits.extend(phi - np.mean(phi))
        learnt.extend(left - np.mean(left))
    fits, learnt = np.array(fits), np.array(learnt)
    explained = []
    for i in everyone:
        has = np.array([[i in one for one in sets] for sets in rounds], dtype=float)
        x = (has - has.mean(axis=1, keepdims=True)).ravel()
        explained.append((learnt @ x) ** 2 / (x @ x))
    f = n_rounds * (q - 1) - 1
    largest = max(explained)
    statistic = largest / ((learnt @ learnt - largest) / f)
    return largest / (fits @ fits), n * stats.f.sf(statistic, 1, f)


def few_fits_ratio(first, other, rounds, g):
    """Of log(U1/U2): the ratio, and V, E, df of D_L(t) = L1_L(t)/U1 - L2_L(t)/U2."""
    u1, u2 = (few_fits(losses, rounds, g)[0] for losses in (first, other))
    linear = [
        [np.asarray(one) / u1 - np.asarray(two) / u2 for one, two in zip(*of_round, strict=True)]
        for of_round in zip(first, other, strict=True)
    ]
    _, v, e, df, _ = few_fits(linear, rounds, g)
    return u1 / u2, v, e, df
