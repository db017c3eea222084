"""The variance of an AUC from few fits, in the notation of its derivation: sums written out."""

from itertools import combinations, permutations, product

import numpy as np

from tests.oracles.few_fits import decided


def psi(scores, i, j):
    """Whether i is ranked above j, ties by half."""
    return float(scores[i] > scores[j]) + 0.5 * float(scores[i] == scores[j])


def few_fits_of_auc(scores, rounds, classes):
    """Of a sum of AUCs: `scores[s][r][j][t]` with sign s at t of the rule of `rounds[r][j]`.

    `classes` are the positives and the negatives.
    """

    def value(r, j, tested):
        return sum(sign * psi(each[r][j], *tested) for sign, each in scores.items())

    return few_fits_of_kernel(value, rounds, classes)


def few_fits_of_classes(scores, rounds, classes, v):
    """Of several classes: `scores[s][r][j][t][c]`, and v_cd the weight of c above d."""
    pairs = [(c, d) for c, d in permutations(range(len(classes)), 2) if v[c][d]]

    def value(r, j, tested):
        return sum(
            sign * v[c][d] * psi([one[c] for one in each[r][j]], tested[c], tested[d])
            for sign, each in scores.items()
            for c, d in pairs
        )

    return few_fits_of_kernel(value, rounds, classes)


def few_fits_of_clusters(scores, rounds, classes, rows, weight):
    """Of clusters k of one class each, with the rows `rows[k]`; classes and sets have clusters.

    psi(k, l) is divided by the mean of C(k, l) over all pairs of clusters. Where C varies, the AUC
    theta is a ratio, and psi + theta (1 - C) its linear part.
    """
    w = {k: 1 / len(rows[k]) if weight == "group" else 1.0 for k in range(len(rows))}
    total = {k: w[k] * len(rows[k]) for k in w}
    means = [np.mean([total[k] for k in c]) for c in classes]

    def pair(each, k, m):
        all_pairs = sum(psi(each, i, j) for i, j in product(rows[k], rows[m]))
        return w[k] * w[m] * all_pairs / np.prod(means)

    def count(k, m):
        return total[k] * total[m] / np.prod(means)

    theta = {}
    for sign, each in scores.items():
        right = compared = 0.0
        for r, of_round in enumerate(rounds):
            for j, learnt in enumerate(of_round):
                for both in product(*([i for i in c if i not in learnt] for c in classes)):
                    right += pair(each[r][j], *both)
                    compared += count(*both)
        theta[sign] = right / compared

    def value(r, j, tested):
        return sum(
            sign * (pair(each[r][j], *tested) + theta[sign] * (1 - count(*tested)))
            for sign, each in scores.items()
        )

    return few_fits_of_kernel(value, rounds, classes)


def losses_of_mixed_clusters(scores, rounds, rows, positive, weight):
    """D_L(k) of clusters with rows of both classes, NaN where learnt from; `scores[r][j][t]`.

    h(k, l) = theta + (psi(k, l) + psi(l, k) - theta C)/mean C.
    """
    n = len(rows)
    by_class = [
        ([i for i in of_k if positive[i]], [i for i in of_k if not positive[i]]) for of_k in rows
    ]

    def w(k, c):
        return 1 / len(by_class[k][c]) if weight == "group" else 1.0

    def both(k, m, each):
        """psi(k, m) + psi(m, k); C where nothing is ranked."""
        return sum(
            w(a, 0) * w(b, 1) * (1.0 if each is None else psi(each, i, j))
            for a, b in ((k, m), (m, k))
            for i, j in product(by_class[a][0], by_class[b][1])
        )

    mean_count = np.mean([both(k, m, None) for k, m in combinations(range(n), 2)])
    right = compared = 0.0
    for r, of_round in enumerate(rounds):
        for j, learnt in enumerate(of_round):
            for k, m in combinations([k for k in range(n) if k not in learnt], 2):
                right += both(k, m, scores[r][j])
                compared += both(k, m, None)
    theta = right / compared

    def h(r, j):
        return lambda k, m: (
            theta + (both(k, m, scores[r][j]) - theta * both(k, m, None)) / (mean_count)
        )

    return [
        [losses_of_kernel(h(r, j), n, learnt) for j, learnt in enumerate(of_round)]
        for r, of_round in enumerate(rounds)
    ]


def losses_of_kernel(h, n, learnt):
    """D(k) of a symmetric kernel of two observations that are tested, NaN where learnt from.

    To first order h(k, l) = U + sum_L lambda + h_k + h_l. The mean over pairs is that of a loss
    with effects 2 h_k, and of the placement of k, the mean of h over pairs with k, (r - 2)/(r - 1)
    of h_k is above the mean.
    """
    tested = [k for k in range(n) if k not in learnt]
    r = len(tested)
    phi = np.mean([h(k, m) for k, m in combinations(tested, 2)])
    losses = np.full(n, np.nan)
    for k in tested:
        placement = np.mean([h(min(k, m), max(k, m)) for m in tested if m != k])
        losses[k] = phi + 2 * (r - 1) / (r - 2) * (placement - phi)
    return losses


def few_fits_of_kernel(value, rounds, classes):
    """Estimate, variance, noise E, degrees of freedom, and T0 + S.

    `value(r, j, tested)` is the kernel of the rule learnt on the set `rounds[r][j]`, the sets of a
    round disjoint, at one tested observation of each class.
    """
    n_rounds, q = len(rounds), len(rounds[0])
    sets = list(product(range(n_rounds), range(q)))
    phi, placed = np.zeros((n_rounds, q)), {}
    for r, j in sets:
        shown = [[i for i in c if i not in rounds[r][j]] for c in classes]
        table = {tested: value(r, j, tested) for tested in product(*shown)}
        phi[r, j] = np.mean(list(table.values()))
        for c, of_class in enumerate(shown):
            for i in of_class:
                placed[r, j, i] = np.mean([x for tested, x in table.items() if tested[c] == i])

    f = n_rounds * (q - 1) - 1
    known, turned = np.zeros((2, n_rounds, q))
    parts = []
    for c in classes:
        n = len(c)
        g = len(set(c) & set(rounds[0][0]))
        m = g + 1
        y = {}
        for r, i in product(range(n_rounds), c):
            y[r, i] = np.mean([placed[r, j, i] for j in range(q) if i not in rounds[r][j]])
        u = [np.mean([y[r, i] for i in c]) for r in range(n_rounds)]
        delta = {i: np.mean([y[r, i] for r in range(n_rounds)]) for i in c}
        x = {i: delta[i] - np.mean(list(delta.values())) for i in c}
        ms = sum((y[r, i] - u[r] - x[i]) ** 2 for r, i in product(range(n_rounds), c))
        ms /= (n_rounds - 1) * (n - 1)
        a0 = sum(one**2 for one in x.values()) / (n * (n - 1))
        omega = g * n / (n - g) ** 2
        parts.append(
            {
                "n": n,
                "a": max(a0 - ms / (n_rounds * n), a0 / 5),
                "omega": omega,
                "nu": omega * ms / (n * (n_rounds - 1)),
                "k": g / (n - m),
                "kappa": (g * (n - g) / (n - m)) ** 2 / (g * n),
            }
        )
        for r, j in sets:
            others = {i: (n_rounds * delta[i] - y[r, i]) / (n_rounds - 1) for i in c}
            tested = [i for i in c if i not in rounds[r][j]]
            shown = np.mean([others[i] for i in tested]) - np.mean(list(others.values()))
            known[r, j] += shown
            turned[r, j] += (1 + (n - m) / g) * shown

    fits = (phi - phi.mean(axis=1, keepdims=True)).ravel()
    expected = (known - known.mean(axis=1, keepdims=True)).ravel()
    slope = np.dot(expected, fits) / np.dot(expected, expected)
    s2 = sum((one - slope * by) ** 2 for one, by in zip(fits, expected, strict=True)) / f
    nu = sum(p["nu"] for p in parts)
    s2 = max(s2 - slope**2 * nu, s2 / 5)
    signal = sum(p["omega"] * p["a"] for p in parts)
    gamma = slope / max(signal / (signal + nu), 1 / 2)
    t0 = sum(p["a"] * (1 - (gamma - 1) * p["k"]) ** 2 for p in parts)
    s = max(p["kappa"] for p in parts) * s2
    u = phi.mean(axis=1)
    e = sum((one - u.mean()) ** 2 for one in u) / (n_rounds - 1)
    n = sum(p["n"] for p in parts)
    w = min(max(n / 300, 1 / 3), 1)
    v = max(t0 - s / f, t0 / 2) + (1 - w) * max(s - e, 0) + w * s**2 / (s + e)
    contrasts = phi - turned - (phi - turned).mean(axis=1, keepdims=True)
    rho2 = decided((contrasts**2).sum(axis=1), u)
    v = (1 - rho2) * v + rho2 * (t0 + s)
    total = sum(p["a"] for p in parts)
    welch = total**2 / sum(p["a"] ** 2 / (p["n"] - 1) for p in parts)
    df = 1 / (1 / welch + (1 - (t0 / (t0 + s)) ** 2) / f)
    return u.mean(), v, e, df, t0 + s
