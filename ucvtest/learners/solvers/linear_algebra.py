"""Linear algebra for thousands of small systems at once, the batch as the minor axis.

Elimination is written out in elementary operations: LAPACK calls inside a jitted
graph can deadlock XLA on the CPU, and are slower for systems this small.
"""

import numpy as np

from ucvtest.common.float64 import jax, jnp

SINGULAR = 1e-10
"""Share of a diagonal element below which the rest of it, the other columns eliminated, is
rounding error of sums of products."""

CAREFUL = 1e-6
"""Pivots below this share of their diagonal element lose more than eight digits."""

CONSTANT = 1e-14
"""Share of the mean square up to which a variance is a rounding error."""

CANCELLED = 1e-7
"""Share of the mean square up to which a variance has lost too many digits."""

RANK = 1e-11
"""Share of the largest singular value below which a direction is rounding error."""

UNROLLED = 4
"""Most columns of matrices that are inverted without a loop: more would take long to compile."""

BLOCK = 8
"""Pivots eliminated in one loop before the matrices shrink, at least."""

MOST_BLOCKS = 3
"""Each is compiled separately: 20 unrolled columns are not faster, and need ten seconds more."""


def products(matrix: np.ndarray) -> np.ndarray:
    """Products of all pairs of columns i <= j, shape (n, p (p + 1)/2)."""
    i, j = np.triu_indices(matrix.shape[1])
    return matrix[:, i] * matrix[:, j]


def divisor(mean_square: jax.Array, mean: jax.Array) -> jax.Array:
    """Variances of about centred columns (p, R) to divide by.

    One for a constant column, as in scikit-learn's StandardScaler; NaN where the difference of the
    two would lose more than eight digits.
    """
    variance = mean_square - mean**2
    constant = variance <= CONSTANT * mean_square
    exact = variance > CANCELLED * mean_square
    return jnp.where(constant, 1.0, jnp.where(exact, variance, jnp.nan))


def principal_components(features: np.ndarray) -> np.ndarray:
    """As many columns as the rank, for the same |b| and the same fitted values."""
    left, singular, _ = np.linalg.svd(features, full_matrices=False)
    is_nonzero = singular > RANK * singular[0]
    return left[:, is_nonzero] * singular[is_nonzero]


def penalty_weights(
    x: jax.Array,
    weight: jax.Array,
    lam: float,
    unit: jax.Array,
    mean_scale: bool,
    standardize: bool,
) -> jax.Array:
    """Weights of the squared coefficients, (p, R) or (p, 1), of features (n, p) in standard units.

    `unit` (p,) is what the features were divided by; learning sets have the weights (n, R).
    """
    size = weight.sum(axis=0)
    total = lam * jnp.where(mean_scale, size, 1.0)
    if not standardize:
        return total / unit[:, None] ** 2
    mean = jnp.einsum("np,nr->pr", x, weight, precision="highest") / size
    mean_square = jnp.einsum("np,nr->pr", x**2, weight, precision="highest") / size
    return total * divisor(mean_square, mean)


def symmetric(packed: jax.Array, size: int) -> jax.Array:
    """Symmetric matrices (size, size, R) from the pairs i <= j (size (size + 1)/2, R)."""
    i, j = np.triu_indices(size)
    position = np.zeros((size, size), dtype=int)
    position[i, j] = position[j, i] = np.arange(len(i))
    return packed[position]


def quadratic_form(matrices: jax.Array) -> jax.Array:
    """Coefficients of `products` in x'Ax, shape (p (p + 1)/2, R), for symmetric A (p, p, R)."""
    i, j = np.triu_indices(matrices.shape[0])
    return matrices[i, j] * np.where(i == j, 1.0, 2.0)[:, None]


def times_vectors(matrices: jax.Array, vectors: jax.Array) -> jax.Array:
    """Products A v (q, R) for many matrices A (q, p, R) and vectors v (p, R).

    One column after the other: a sum over the middle axis is left to a library by XLA on the
    CPU, which takes ten times as long.
    """

    def add(j: jax.Array, total: jax.Array) -> jax.Array:
        return total + matrices[:, j] * vectors[j]

    zero = jnp.zeros((matrices.shape[0], matrices.shape[2]), matrices.dtype)
    return jax.lax.fori_loop(0, matrices.shape[1], add, zero)


def solve_positive_definite(
    matrices: jax.Array,
    right: jax.Array,
    singular: float = SINGULAR,
    count: jax.Array | None = None,
    least_pivot: jax.Array | float = 0.0,
) -> jax.Array:
    """Solve A X = B, without pivoting, for many symmetric positive definite A (q, q, R).

    B is (q, m, R). NaN where a pivot does not exceed the share `singular` of its diagonal element,
    or `least_pivot` (R,). From row and column `count` on only the diagonal is not zero: there is
    nothing to eliminate, and a system that is filled up costs hardly more.
    """
    size = matrices.shape[0]
    diagonal = jnp.diagonal(matrices, axis1=0, axis2=1).T
    remaining_system = jnp.concatenate([matrices, right], axis=1)
    pivots, rows = [], []
    step = max(BLOCK, -(-size // MOST_BLOCKS))
    for first_column in range(0, size, step):
        n_left = None if count is None else count - first_column
        remaining_system, block_pivots, block_rows = _eliminate(
            remaining_system, min(step, size - first_column), n_left
        )
        pivots.append(block_pivots)
        rows.append(block_rows)
    regular = (jnp.concatenate(pivots) > jnp.maximum(singular * diagonal, least_pivot)).all(axis=0)
    return jnp.where(regular, _substitute(rows, size), jnp.nan)


def invert_positive_definite(
    matrices: jax.Array, singular: float = SINGULAR
) -> tuple[jax.Array, jax.Array]:
    """Invert many symmetric positive definite matrices, by sweeping one pivot after the other.

    Inverses (q, q, R) and logarithms of determinants (R,); NaN as in the solution.
    """
    size = matrices.shape[0]
    diagonal = jnp.diagonal(matrices, axis1=0, axis2=1).T
    sweep_all = _sweep_unrolled if size <= UNROLLED else _sweep_in_a_loop
    negative, pivots = sweep_all(matrices)
    regular = (pivots > singular * diagonal).all(axis=0)
    log_determinant = jnp.log(jnp.where(regular, pivots, 1.0)).sum(axis=0)
    return jnp.where(regular, -negative, jnp.nan), jnp.where(regular, log_determinant, jnp.nan)


def _sweep_in_a_loop(matrices: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The negative inverses (q, q, R), and the pivots (q, R)."""

    def sweep(k: jax.Array, carry: tuple[jax.Array, jax.Array]) -> tuple[jax.Array, jax.Array]:
        swept, pivots = carry
        pivot = swept[k, k]
        row = swept[k] / pivot
        swept = swept - swept[:, k][:, None] * row
        # Row and column k of the swept matrix; it stays symmetric.
        swept = swept.at[k].set(row).at[:, k].set(row).at[k, k].set(-1.0 / pivot)
        return swept, pivots.at[k].set(pivot)

    start_state = (matrices, jnp.ones_like(matrices[0]))
    swept: tuple[jax.Array, jax.Array] = jax.lax.fori_loop(0, matrices.shape[0], sweep, start_state)
    return swept


def _sweep_unrolled(matrices: jax.Array) -> tuple[jax.Array, jax.Array]:
    """The same, of the lower triangle only and without a loop."""
    size = matrices.shape[0]
    swept = {(i, j): matrices[i, j] for i in range(size) for j in range(i + 1)}
    pivots = []
    for k in range(size):
        pivot = swept[k, k]
        pivots.append(pivot)
        column = [swept[max(i, k), min(i, k)] for i in range(size)]
        row = [column_entry / pivot for column_entry in column]
        for i, j in swept:
            if i == j == k:
                swept[i, j] = -1.0 / pivot
            elif k in (i, j):
                swept[i, j] = row[j if i == k else i]
            else:
                swept[i, j] = swept[i, j] - column[i] * row[j]
    rows = [[swept[max(i, j), min(i, j)] for j in range(size)] for i in range(size)]
    return jnp.stack([jnp.stack(row) for row in rows]), jnp.stack(pivots)


def _eliminate(
    remaining_system: jax.Array, count: int, n_left: jax.Array | None
) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Eliminate the first columns: what remains, the pivots, and the rows divided by them."""
    n_steps = count if n_left is None else jnp.clip(n_left, 0, count)
    index = jnp.arange(remaining_system.shape[0])[:, None]

    def step(k: jax.Array, block: jax.Array) -> jax.Array:
        row = block[k] / block[k, k]
        factors = jnp.where(index > k, block[:, k], 0.0)
        return block - factors[:, None] * row

    remaining_system = jax.lax.fori_loop(0, n_steps, step, remaining_system)
    head = remaining_system[:count]
    pivots = jnp.diagonal(head[:, :count], axis1=0, axis2=1).T
    return remaining_system[count:, count:], pivots, head / pivots[:, None]


def _substitute(blocks: list[jax.Array], size: int) -> jax.Array:
    """Back substitution through the unit upper triangular rows of `_eliminate`."""
    right = blocks[0].shape[1] - size
    solved = jnp.zeros((0, right, blocks[0].shape[2]), blocks[0].dtype)
    for rows in reversed(blocks):
        count = rows.shape[0]
        block = jnp.concatenate([jnp.zeros((count, *solved.shape[1:]), solved.dtype), solved])
        solved_rows = rows[:, : block.shape[0]]

        def step(
            t: jax.Array,
            block: jax.Array,
            rows: jax.Array = rows,
            solved_rows: jax.Array = solved_rows,
        ) -> jax.Array:
            k = rows.shape[0] - 1 - t
            value = rows[k, block.shape[0] :] - (solved_rows[k][:, None] * block).sum(axis=0)
            return block.at[k].set(value)

        # Rows not yet solved are zero, so the diagonal's one does not count them.
        solved = jax.lax.fori_loop(0, count, step, block)
    return solved
