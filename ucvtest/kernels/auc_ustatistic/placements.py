"""The jitted sums over learning sets: rankings of tested observations, and their residuals.

Axes: D learners, K blocks, B rows of a block in a call, n observations, positives before negatives.
"""

from ucvtest.common.float64 import in_float64, jax, jit, jnp

Pair = tuple[jax.Array, jax.Array]
"""An array for the positives, and one for the negatives."""


@in_float64
@jit
def rank_sums(scores: Pair, learnt: Pair, is_row: jax.Array, tested: Pair) -> dict[str, jax.Array]:
    """Twice the sums of psi over the tested pairs, as integers, and the moments of the rows.

    `scores` (D, K, B, n_c) and `learnt` (K, B, n_c) of the classes; `is_row` (K, B) is False for
    padding rows of a call; `tested` (D, K, B, r_c) are the scores of tested observations only.
    `counts1` and `counts0` (D, K, B, r_c) are sums over the other class, `pairs` (D, K, n1, n0)
    sums over the rows of each block; the others are those of `Moments`.
    """
    n1, n0 = (class_array.shape[-1] for class_array in learnt)
    # A row, or a call of at most 2**13 rows, counts no further than twice its length.
    kind = jnp.int16 if 2 * max(n1, n0) < 2**15 else jnp.int32
    # Comparisons with NaN are False, which leaves out untested observations.
    rows = [
        jnp.moveaxis(jnp.where(class_array | ~is_row[..., None], jnp.nan, class_scores), 2, 0)
        for class_array, class_scores in zip(learnt, scores, strict=True)
    ]
    of_class = [jnp.moveaxis(class_array, 2, 0) for class_array in tested]

    def twice_psi(positive: jax.Array, negative: jax.Array) -> jax.Array:
        s1, s0 = positive[..., :, None], negative[..., None, :]
        # Comparisons, not differences: infinite scores have none.
        return (s1 > s0).astype(kind) + (s1 >= s0).astype(kind)

    def add_row(pairs: jax.Array, row: tuple[jax.Array, ...]) -> tuple[jax.Array, Pair]:
        # Sums along rows and columns take longer than those over rows: of a quarter of the pairs.
        pair_counts = twice_psi(*row[2:])
        sums = pair_counts.sum(-1, dtype=kind), pair_counts.sum(-2, dtype=kind)
        return pairs + twice_psi(*row[:2]), sums

    zero_counts = jnp.zeros((*rows[0].shape[1:3], n1, n0), kind)
    pairs, counts = jax.lax.scan(add_row, zero_counts, (rows[0], rows[1], of_class[0], of_class[1]))
    counts1, counts0 = (
        jnp.moveaxis(class_array, 0, 2) * is_row[..., None] for class_array in counts
    )
    w = jnp.concatenate(learnt, axis=-1).astype(float) * is_row[..., None]
    total = counts1.sum(-1, dtype=jnp.int32).astype(float)
    # Whole numbers, exact in single precision.
    single = w.astype(jnp.float32)
    return {
        "counts1": counts1,
        "counts0": counts0,
        "pairs": pairs,
        "n_rows": is_row.sum(1),
        "learnt": w.sum(1),
        "together": jnp.einsum("kbi,kbj->kij", single, single),
        "total": total.sum(2),
        "learnt_total": jnp.einsum("dkb,kbi->dki", total, w),
    }


def _twice_psi(positive: jax.Array, negative: jax.Array) -> jax.Array:
    """Twice psi of all pairs of a positive and a negative row."""
    s1, s0 = positive[..., :, None], negative[..., None, :]
    return (s1 > s0).astype(jnp.float64) + (s1 >= s0)


@in_float64
@jit
def cluster_rank_sums(
    scores: Pair, learnt: Pair, is_row: jax.Array, shares: Pair, offset: jax.Array
) -> dict[str, jax.Array]:
    """The sums of `rank_sums` for clusters of one class, whose psi is a mean over pairs of rows.

    `scores` (D, K, B, N_c) of rows, `learnt` (K, B, G_c) and `shares` (N_c, G_c) of clusters;
    `offset` (D, G1, G0) is added to psi of every pair of clusters. `counts1` and `counts0` are
    (D, K, B, G_c).
    """
    tested = [(~class_array & is_row[..., None]).astype(float) for class_array in learnt]

    def add_row(pairs: jax.Array, row: tuple[jax.Array, ...]) -> tuple[jax.Array, Pair]:
        psi = jnp.einsum("dkij,ia,jb->dkab", _twice_psi(*row[:2]), *shares) + 2 * offset[:, None]
        psi *= row[2][..., :, None] * row[3][..., None, :]
        return pairs + psi, (psi.sum(-1), psi.sum(-2))

    moved = (
        *(
            jnp.moveaxis(jnp.where(jnp.isnan(class_scores), 0.0, class_scores), 2, 0)
            for class_scores in scores
        ),
        *(jnp.moveaxis(class_array, 1, 0) for class_array in tested),
    )
    zero_counts = jnp.zeros((*moved[0].shape[1:3], shares[0].shape[1], shares[1].shape[1]))
    pairs, counts = jax.lax.scan(add_row, zero_counts, moved)
    counts1, counts0 = (jnp.moveaxis(class_array, 0, 2) for class_array in counts)
    w = jnp.concatenate(learnt, axis=-1).astype(float) * is_row[..., None]
    total, single = counts1.sum(-1), w.astype(jnp.float32)
    return {
        "counts1": counts1,
        "counts0": counts0,
        "pairs": pairs,
        "n_rows": is_row.sum(1),
        "learnt": w.sum(1),
        "together": jnp.einsum("kbi,kbj->kij", single, single),
        "total": total.sum(2),
        "learnt_total": jnp.einsum("dkb,kbi->dki", total, w),
    }


@in_float64
@jit
def mixed_rank_sums(scores: Pair, learnt: jax.Array, weights: Pair) -> jax.Array:
    """Of each row and tested cluster the sums of psi over the others (D, B, G).

    `scores` (D, B, N_c), `weights` (N_c, G); `learnt` (B, G) is of clusters.
    """
    first, second = weights
    # Rows of one cluster are not a pair.
    different_clusters = 1.0 - (first > 0).astype(float) @ (second > 0).astype(float).T

    def of_row(_: None, row: tuple[jax.Array, ...]) -> tuple[None, jax.Array]:
        *scored, is_tested = row
        psi = _twice_psi(*scored) / 2 * different_clusters
        # Sums over the rows first: psi of every pair of clusters would cost G times as much.
        positive = (psi @ (second @ is_tested)) @ first
        negative = ((first @ is_tested) @ psi) @ second
        return None, (positive + negative) * is_tested

    tested = (~learnt).astype(float)
    moved = (
        jnp.moveaxis(jnp.where(jnp.isnan(class_scores), 0.0, class_scores), 1, 0)
        for class_scores in scores
    )
    _, placed = jax.lax.scan(of_row, None, (*moved, tested))
    return jnp.moveaxis(placed, 0, 1)


@in_float64
@jit
def least_squares(gram: jax.Array, response: jax.Array) -> jax.Array:
    """Solutions (D, n) of smallest length, by conjugate gradients.

    Learning sets of one size leave directions open; the system is well conditioned otherwise. On
    JAX's threads: those of BLAS would go on spinning for a tenth of a second in their way.
    """
    enough = 1e-24 * (response**2).sum(-1)

    State = tuple[jax.Array, jax.Array, jax.Array, jax.Array, jax.Array]

    def going_on(state: State) -> jax.Array:
        return (state[0] < 10 * len(gram)) & (state[4] > enough).any()

    def step(state: State) -> State:
        number, solution, residual, direction, square = state
        image = direction @ gram
        curvature = (direction * image).sum(-1)
        size = jnp.where(square > enough, square / jnp.where(curvature > 0, curvature, 1.0), 0.0)
        solution += size[:, None] * direction
        residual -= size[:, None] * image
        new_square = (residual**2).sum(-1)
        ratio = jnp.where(square > 0, new_square / jnp.where(square > 0, square, 1.0), 0.0)
        return number + 1, solution, residual, residual + ratio[:, None] * direction, new_square

    start_state = (
        jnp.zeros((), int),
        jnp.zeros_like(response),
        response,
        response,
        (response**2).sum(-1),
    )
    return jax.lax.while_loop(going_on, step, start_state)[1]


@in_float64
@jit
def residual_sums(
    counts: Pair,
    learnt: Pair,
    is_row: jax.Array,
    tested: Pair,
    additive: tuple[jax.Array, Pair, Pair],
) -> dict[str, jax.Array]:
    """Sums of X = psi - A over the rows of each block, up to the terms that `Residuals` adds.

    `counts` are those of `rank_sums`, `tested` the numbers of tested observations, `additive`
    contains U (D,), and by class the coefficients lambda of learnt and d of tested observations,
    (D, n_c).
    """
    centre, learning, testing = additive
    weight = is_row.astype(float)
    w = [class_array * weight[..., None] for class_array in learnt]
    t = [weight[..., None] - class_array for class_array in w]
    fit = centre[:, None, None] * weight + sum(
        jnp.einsum("kbi,di->dkb", class_array, class_effects)
        for class_array, class_effects in zip(w, learning, strict=True)
    )
    # Mean d of the tested ones of a class.
    mean = [
        jnp.einsum("kbi,di->dkb", class_array, class_effects) / r
        for class_array, class_effects, r in zip(t, testing, tested, strict=True)
    ]
    class_shares = [
        (
            counts[c] / (2.0 * tested[1 - c])
            - t[c] * ((fit + mean[1 - c])[..., None] + testing[c][:, None, None, :])
        )
        / tested[c]
        for c in (0, 1)
    ]
    xbar = class_shares[0].sum(-1)
    inside = [xbar[..., None] * class_array for class_array in w]
    # The remainder of psi where both are tested, without the part of sums over rows.
    mixed = class_shares[1] + (xbar - fit / (tested[0] * tested[1]))[..., None] * w[1]
    halves = [
        class_effects / 2 + class_array
        for class_effects, class_array in zip(inside, class_shares, strict=True)
    ]
    return {
        "rows": xbar,
        "xbar": xbar.sum(2),
        "own": jnp.concatenate(
            [
                (class_effects + class_array).sum(2)
                for class_effects, class_array in zip(inside, class_shares, strict=True)
            ],
            axis=-1,
        ),
        "of_positives": _product(w[0], jnp.concatenate([halves[0], mixed], axis=-1)),
        "of_negatives": _product(w[1], jnp.concatenate([halves[1], class_shares[0]], axis=-1)),
        "fit": fit.sum(2),
        "learnt_fit": jnp.concatenate(
            [jnp.einsum("dkb,kbi->dki", fit, class_array) for class_array in w], axis=-1
        ),
    }


def _product(left_rows: jax.Array, right_rows: jax.Array) -> jax.Array:
    return jnp.einsum("kbi,dkbj->dkij", left_rows, right_rows)
