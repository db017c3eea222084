"""Metrics that are no means, in the notation of their derivation, written out to be read.

T(w) is a function of weights of observations; its linearised value is l_i = T + n dT/dw_i at
w = 1/n. P[k, l] is the share of observations of class k that are predicted as l, c the means of
parts; G = df/dP. Rules: R1 two right and two wrong are added, R2 one right and one wrong to a
difference, R3 the jackknife of h(f), R4 quarters of observations beyond all scores.
"""

import numpy as np
from scipy.stats import t

# ---------------------------------------------------------------- functions of the confusion matrix


def ratio(N, D):
    """<N, P>/<D, P>, and its gradient (N - T D)/<D, P>."""

    def f(P):
        T = (N * P).sum() / (D * P).sum()
        return T, (N - T * D) / (D * P).sum()

    return f


def hit(C, k):
    return np.array([[float(i == k == j) for j in range(C)] for i in range(C)])


def row(C, k):
    return np.array([[float(i == k)] * C for i in range(C)])


def column(C, k):
    return row(C, k).T


def precision(C=2, k=1):
    return ratio(hit(C, k), column(C, k))


def recall(C=2, k=1):
    return ratio(hit(C, k), row(C, k))


def f_beta(C=2, k=1, beta=1.0):
    b = beta**2
    return ratio((1 + b) * hit(C, k), b * row(C, k) + column(C, k))


def jaccard(C=2, k=1):
    return ratio(hit(C, k), row(C, k) + column(C, k) - hit(C, k))


def net_benefit(q):
    return ratio(hit(2, 1) - q / (1 - q) * np.array([[0, 1], [0, 0]]), np.ones((2, 2)))


def accuracy(C=2):
    return ratio(np.eye(C), np.ones((C, C)))


def macro(one, C):
    def f(P):
        T, G = zip(*(one(C, k)(P) for k in range(C)), strict=True)
        return sum(T) / C, sum(G) / C

    return f


def weighted(one, C):
    """sum_k P_k. F_k / sum P, whose weights are estimated too."""

    def f(P):
        found = [(P[k].sum(), *one(C, k)(P)) for k in range(C)]
        T = sum(r * F for r, F, _ in found) / P.sum()
        G = sum(r * g + F * row(C, k) for k, (r, F, g) in enumerate(found))
        return T, (G - T) / P.sum()

    return f


def micro_f1(C, labels):
    return ratio(2 * sum(hit(C, k) for k in labels), sum(row(C, k) + column(C, k) for k in labels))


def g_mean(C=2):
    def f(P):
        R, G = zip(*(recall(C, k)(P) for k in range(C)), strict=True)
        T = np.prod(R) ** (1 / C)
        return T, T / C * sum(g / r for r, g in zip(R, G, strict=True))

    return f


def mcc(C=2):
    def f(P):
        r, c = P.sum(1), P.sum(0)
        A, B = 1 - r @ r, 1 - c @ c
        T = (np.trace(P) - r @ c) / np.sqrt(A * B)
        G = np.array([[float(k == m) - c[k] - r[m] for m in range(C)] for k in range(C)])
        H = np.array([[r[k] / A + c[m] / B for m in range(C)] for k in range(C)])
        return T, G / np.sqrt(A * B) + T * H

    return f


def kappa(C=2, power=0):
    W = np.array([[abs(k - m) ** power if k != m else 0 for m in range(C)] for k in range(C)])

    def f(P):
        r, c = P.sum(1), P.sum(0)
        O, E = (W * P).sum(), r @ W @ c  # noqa: E741
        return 1 - O / E, -(W - O / E * ((W @ c)[:, None] + (r @ W)[None])) / E

    return f


# ------------------------------------------------------------ functions of moments


def error_and_response(y, p):
    return np.stack([(y - p) ** 2, y, y**2], -1)


def products(y, p):
    return np.stack([y, p, y**2, p**2, y * p], -1)


def r2(c):
    return 1 - c[0] / (c[2] - c[1] ** 2)


def pearson(c):
    return (c[4] - c[0] * c[1]) / np.sqrt((c[2] - c[0] ** 2) * (c[3] - c[1] ** 2))


def ccc(c):
    return 2 * (c[4] - c[0] * c[1]) / (c[2] + c[3] - 2 * c[0] * c[1])


def log_skill(c):
    return 1 + c[0] / (c[1] * np.log(c[1]) + (1 - c[1]) * np.log(1 - c[1]))


SCALES = {
    "log": (np.log, np.exp),
    "log1m": (lambda T: -np.log1p(-T), lambda u: 1 - np.exp(-u)),
    "fisher": (np.arctanh, np.tanh),
}
"""h of R3, and the way back; both rise."""


# ------------------------------------------------------------------------------------------- ranks


def average_precision(y, s, w):
    """Sum over thresholds v of the precision A_v/B_v times the step a_v/pi in recall; influence."""
    w = w / w.sum()
    pi = w[y == 1].sum()
    thresholds = sorted(set(s), reverse=True)
    a = {v: w[(s == v) & (y == 1)].sum() for v in thresholds}
    B = {v: w[s >= v].sum() for v in thresholds}
    p = {v: w[(s >= v) & (y == 1)].sum() / B[v] for v in thresholds}
    T = sum(a[v] * p[v] for v in thresholds) / pi
    influence = [
        y_i * (p[s_i] - T)
        + y_i * sum(a[v] / B[v] for v in thresholds if v <= s_i)
        - sum(a[v] * p[v] / B[v] for v in thresholds if v <= s_i)
        for y_i, s_i in zip(y, s, strict=True)
    ]
    return T, np.array(influence) / pi


def partial_auc(y, s, w, f):
    """Area under the polygon through (FPR, TPR) at all thresholds, from 0 to f, over f."""
    thresholds = sorted(set(s), reverse=True)
    x = [0.0] + [w[(s >= v) & (y == 0)].sum() / w[y == 0].sum() for v in thresholds]
    h = [0.0] + [w[(s >= v) & (y == 1)].sum() / w[y == 1].sum() for v in thresholds]
    at = sorted({f, *(each for each in x if each < f)})
    area = 0.0
    for low, high in zip([0.0, *at], at, strict=False):
        middle = (low + high) / 2
        # The last corner at or before the middle, as the curve may rise at one place.
        k = max(i for i in range(len(x)) if x[i] <= middle)
        part = (middle - x[k]) / (x[k + 1] - x[k])
        area += (high - low) * (h[k] + part * (h[k + 1] - h[k]))
    return area / f


# --------------------------------------------------------------------------------- standard errors


def variance(l, groups=None):  # noqa: E741
    """sum (l - T)^2/(n (n - 1)); clusters: G/(G - 1) sum_g (sum_{i in g} (l_i - T))^2/n^2."""
    d = l - l.mean()
    n = len(d)
    if groups is None:
        return (d**2).sum() / (n * (n - 1))
    sums = [d[groups == g].sum() for g in set(groups)]
    G = len(sums)
    return G / (G - 1) * sum(S**2 for S in sums) / n**2


def n_effective(l, groups):  # noqa: E741
    """n v_plain/v_cluster in [1, n]; the number of clusters where nothing varies."""
    if groups is None:
        return len(l)
    v = variance(l, groups)
    return min(max(len(l) * variance(l) / v, 1), len(l)) if v > 0 else len(set(groups))


def table_of(codes, C):
    """Shares of the cells (true, predicted), or (true, first, second)."""
    P = np.zeros((C,) * len(codes))
    for cell in zip(*codes, strict=True):
        P[cell] += 1 / len(codes[0])
    return P


def two_right_two_wrong(C):
    wrong = C * (C - 1)
    return np.array([[2 / C if k == m else 2 / wrong for m in range(C)] for k in range(C)])


def one_right_one_wrong(C):
    """Both right, the first, the second, both wrong: 1/2 each, over y and wrong labels."""
    added = np.zeros((C, C, C))
    for k in range(C):
        for a in range(C):
            for b in range(C):
                added[k, a, b] = 0.5 / C / (1 if a == k else C - 1) / (1 if b == k else C - 1)
    return added


def joint(f):
    """The difference as a function of P[y, a, b]."""

    def d(P):
        (Ta, Ga), (Tb, Gb) = f(P.sum(2)), f(P.sum(1))
        return Ta - Tb, Ga[:, :, None] - Gb[:, None]

    return d


def with_added(f, codes, C, low, high, alpha=0.05, groups=None, several=None):
    """R1 of one learner, R2 of two: `codes` are (y, predicted) or (y, first, second).

    With several classes the variance v(l) of R1 is the geometric mean of those of l and of what the
    metric changes by when a row is left out, and t has Satterthwaite's degrees of freedom.
    """
    several = len(codes) == 2 and (C > 2 if several is None else several)
    f, added = (
        (f, two_right_two_wrong(C)) if len(codes) == 2 else (joint(f), one_right_one_wrong(C))
    )
    P = table_of(codes, C)
    T, G = f(P)
    here = T + G[codes] - (P * G).sum()
    n, df = (
        n_effective(here, groups),
        len(set(groups if groups is not None else range(len(here)))) - 1,
    )
    m = n + added.sum()
    Q = (n * P + added) / m
    T, G = f(Q)
    l = G - (Q * G).sum()  # noqa: E741
    spread = variance(l[codes], groups)
    if several:
        changes = []
        for cell in zip(*codes, strict=True):
            less = m * Q
            h = min(1, n * P[cell])
            less[cell] -= h
            changes.append((m - h) / h * (T - f(less / (m - h))[0]))
        spread = np.sqrt(spread * variance(np.array(changes), groups))
        if groups is None:
            apart = l[codes] - l[codes].mean()
            df = min(df, 2 * n / ((apart**4).mean() / (apart**2).mean() ** 2 - 1))
    v = n**2 * spread + n * (P * l).sum() ** 2 + (added * l**2).sum()
    half = t.ppf(1 - alpha / 2, df) * np.sqrt(v) / m
    return max(T - half, low), min(T + half, high)


def jackknife_on_scale(f, parts, scale, alpha=0.05, groups=None):
    """R3: rows, or clusters, are left out one by one."""
    h, back = SCALES[scale]
    groups = np.arange(len(parts)) if groups is None else groups
    J = np.array([h(f(parts[groups != g].mean(0))) for g in sorted(set(groups))])
    m = len(J)
    half = t.ppf(1 - alpha / 2, m - 1) * np.sqrt((m - 1) / m * ((J - J.mean()) ** 2).sum())
    middle = h(f(parts.mean(0)))
    return back(middle - half), back(middle + half)


def with_quarters(influence, y, s, alpha=0.05, groups=None):
    """R4: T and influence values with quarters of observations added; logit, Welch's df."""
    top, bottom = max(s) + 1, min(s) - 1
    labels, S = np.r_[y, 1, 0, 1, 0], np.r_[s, top, top, bottom, bottom]
    w = np.r_[np.ones(len(y)), np.full(4, 0.25)]
    T, d = influence(labels, S, w)
    if groups is None:
        V, df = welch(
            [
                ((w[labels == c] * d[labels == c] ** 2).sum() / w.sum() ** 2)
                * ((y == c).sum() + 0.5)
                / ((y == c).sum() - 0.5)
                for c in (0, 1)
            ],
            [max((y == c).sum() - 1, 1) for c in (0, 1)],
        )
    else:
        sums = [d[: len(y)][groups == g].sum() for g in set(groups)]
        G = len(sums)
        V = (G / (G - 1) * sum(x**2 for x in sums) + (0.25 * d[-4:] ** 2).sum()) / w.sum() ** 2
        df = G - 1
    z, half = np.log(T / (1 - T)), t.ppf(1 - alpha / 2, df) * np.sqrt(V) / (T * (1 - T))
    return 1 / (1 + np.exp(-z + half)), 1 / (1 + np.exp(-z - half))


def difference_of_ranks(influence, y, a, b, alpha=0.05):
    """l^a - l^b, with class factors n_c/(n_c - 1) and Welch's df."""
    w = np.ones(len(y))
    (Ta, da), (Tb, db) = influence(y, a, w), influence(y, b, w)
    n = [(y == c).sum() for c in (0, 1)]
    parts = [n[c] / (n[c] - 1) * ((da - db)[y == c] ** 2).sum() / len(y) ** 2 for c in (0, 1)]
    V, df = welch(parts, [each - 1 for each in n])
    half = t.ppf(1 - alpha / 2, df) * np.sqrt(V)
    return Ta - Tb, Ta - Tb - half, Ta - Tb + half


def welch(v, df):
    """The sum, and its degrees of freedom."""
    return sum(v), sum(v) ** 2 / sum(x**2 / k for x, k in zip(v, df, strict=True))


# ------------------------------------------------------------------------------------------- bias


def second_order_bias(f, parts, step=1e-3):
    """1/2 tr(Hess f V), V the covariance matrix of the means of parts; Hessian by differences."""
    c, k = parts.mean(0), parts.shape[1]
    e = np.eye(k) * step
    hessian = [
        [
            sum(s * u * f(c + s * e[i] + u * e[j]) for s in (1, -1) for u in (1, -1))
            / (4 * step**2)
            for j in range(k)
        ]
        for i in range(k)
    ]
    V = np.cov(parts.T).reshape(k, k) / len(parts)
    return 0.5 * np.trace(np.array(hessian) @ V)


def by_weights(f, n, places=None, h=1e-5):
    """T + n dT/dw_i by central differences of a weighted statistic, of all i or of some."""
    found = []
    for i in range(n) if places is None else places:
        up, down = np.ones(n), np.ones(n)
        up[i] += h
        down[i] -= h
        found.append((f(up) - f(down)) / (2 * h) * n)
    return f(np.ones(n)) + np.array(found)
