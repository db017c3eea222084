"""McNemar, DeLong, Bayle et al. and Bates et al. literally: loops over plain lists.

Nothing here is fast. Only math and itertools, SciPy's quadrature for melded intervals, and NumPy's
generalised inverse for several AUCs.
"""

from itertools import pairwise
from math import comb, sqrt

import numpy as np
from scipy import integrate, stats

# ------------------------------------------------------------------------------- McNemar


def mcnemar_exact(b, c, alternative):
    """The chance of b heads in b + c throws of a fair coin, or of something more extreme."""
    chance = [comb(b + c, k) / 2 ** (b + c) for k in range(b + c + 1)]
    tails = {"less": sum(chance[: b + 1]), "greater": sum(chance[b:])}
    tails["two-sided"] = min(1.0, 2 * min(tails.values()))
    return tails[alternative]


# -------------------------------------------------------------------------------- DeLong


def psi(x, y):
    """Below equation 1: a positive's score x and a negative's score y."""
    return 1.0 if x > y else 0.5 if x == y else 0.0


def delong(labels, columns):
    """AUCs, equation 2, and their covariance matrix S10/m + S01/n, equations 3 to 6."""
    v10, v01, theta = [], [], []
    for scores in columns:
        xs = [s for s, label in zip(scores, labels, strict=True) if label == 1]
        ys = [s for s, label in zip(scores, labels, strict=True) if label == 0]
        m, n = len(xs), len(ys)
        theta.append(sum(psi(x, y) for x in xs for y in ys) / (m * n))
        v10.append([sum(psi(x, y) for y in ys) / n for x in xs])
        v01.append([sum(psi(x, y) for x in xs) / m for y in ys])

    def covariance(v, r, s, size):
        products = [(v[r][i] - theta[r]) * (v[s][i] - theta[s]) for i in range(size)]
        return sum(products) / (size - 1)

    k = len(columns)
    s = [
        [covariance(v10, i, j, m) / m + covariance(v01, i, j, n) / n for j in range(k)]
        for i in range(k)
    ]
    return theta, s


def delong_joint(labels, columns):
    """Equation 5 with L = (1, -1, 0, ...), (1, 0, -1, ...), ...: chi-square, and its df."""
    theta, s = delong(labels, columns)
    k = len(columns)
    contrasts = [
        [1.0] + [-1.0 if place == j else 0.0 for place in range(1, k)] for j in range(1, k)
    ]
    of_contrasts = [sum(row[r] * theta[r] for r in range(k)) for row in contrasts]
    matrix = [
        [sum(a[r] * s[r][t] * b[t] for r in range(k) for t in range(k)) for b in contrasts]
        for a in contrasts
    ]
    df = int(np.linalg.matrix_rank(matrix, tol=1e-12, hermitian=True))
    inverse = np.linalg.pinv(matrix, rcond=1e-8, hermitian=True)
    return float(of_contrasts @ inverse @ of_contrasts), df


# ------------------------------------------------------- Bayle, Bayle, Janson and Mackey


def bayle(h, fold):
    """The estimate and both variance estimates of sqrt(n) times its error.

    h[i] is the loss (difference) h_n(Z_i, Z_B) of the rule learnt without the fold of i. Where
    folds differ in size, those of the within-fold variance count by their size.
    """
    n, k = len(h), max(fold) + 1
    r_hat = 0.0
    for i in range(n):
        r_hat += h[i] / n
    out = 0.0
    for i in range(n):
        out += (h[i] - r_hat) ** 2 / n
    within = 0.0
    for j in range(k):
        members = [i for i in range(n) if fold[i] == j]
        mean = sum(h[i] for i in members) / len(members)
        s = sum((h[i] - mean) ** 2 for i in members)
        within += len(members) / n * s / (len(members) - 1)
    return r_hat, {"all_pairs": out, "within_fold": within}


# ---------------------------------------------------------- Bates, Hastie and Tibshirani


def nested_cross_validation(loss_without, fold, n_repeats):
    """Algorithm 1, and the bias correction.

    ``loss_without(r, i, folds)`` is the loss at observation i of the rule learnt without those
    folds of repetition r; ``fold[r][i]`` the fold of observation i there.
    """
    es, a_list, b_list, ordinary = [], [], [], []
    n, k = len(fold[0]), max(fold[0]) + 1
    for r in range(n_repeats):
        members = [[i for i in range(n) if fold[r][i] == j] for j in range(k)]
        for j in range(k):
            e_in = []
            for inner in range(k):
                if inner != j:
                    e_in += [loss_without(r, i, {j, inner}) for i in members[inner]]
            e_out = [loss_without(r, i, {j}) for i in members[j]]
            mean_in, mean_out = sum(e_in) / len(e_in), sum(e_out) / len(e_out)
            a_list.append((mean_in - mean_out) ** 2)
            spread = sum((e - mean_out) ** 2 for e in e_out) / (len(e_out) - 1)
            b_list.append(spread / len(e_out))
            es += e_in
            ordinary += e_out
    mse = sum(a_list) / len(a_list) - sum(b_list) / len(b_list)
    err_ncv, err_cv = sum(es) / len(es), sum(ordinary) / len(ordinary)
    deviation = sqrt(sum((e - err_ncv) ** 2 for e in es) / (len(es) - 1))
    naive = deviation / sqrt(n)
    rescaled = (k - 1) / k * mse
    se = sqrt(max(rescaled, 0.0))
    return {
        "err_ncv": err_ncv,
        "err_cv": err_cv,
        "mse": mse,
        "naive_se": naive,
        "se": max(naive, min(se, sqrt(k) * naive)),
        "estimate": err_ncv - (1 + (k - 2) / k) * (err_ncv - err_cv),
    }


# ------------------------------------------------- intervals that agree with McNemar's test


def melded_below(b, c, n, delta):
    """Fay and Lumbard (2021): the confidence distribution of lower ends for paired proportions.

    The probability of psi (2 theta - 1) <= delta, where theta has the lower confidence distribution
    of the share of b in b + c, and psi the lower one of the share of b + c in n where it multiplies
    a positive number, the upper one where a negative: by adaptive quadrature.
    """
    m = b + c
    theta = stats.beta(b, c + 1)
    psi = stats.beta(m + 1, n - m) if delta < 0 else stats.beta(m, n - m + 1)

    def inside(share):
        return psi.pdf(share) * theta.cdf((1 + delta / share) / 2)

    middle = [psi.ppf(q) for q in (1e-6, 0.5, 1 - 1e-6)]
    points = sorted({abs(delta), 1.0, *(p for p in middle if abs(delta) < p < 1)})
    total = sum(
        integrate.quad(inside, *part, epsabs=1e-11, limit=200)[0] for part in pairwise(points)
    )
    return total + (psi.cdf(delta) if delta > 0 else 0)
