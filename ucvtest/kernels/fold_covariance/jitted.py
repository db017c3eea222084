"""The jitted moments of losses, within folds and between them."""

from functools import partial

from ucvtest.common.float64 import in_float64, jax, jit, jnp


@in_float64
@partial(jit, static_argnames="n_folds")
def moments_of_rows(losses: jax.Array, codes: jax.Array, n_folds: int) -> dict[str, jax.Array]:
    """losses, folds (R, n), folds from 0 to n_folds - 1; each of them occurs in every row."""
    n = losses.shape[1]

    def by_fold(values: jax.Array) -> jax.Array:
        def sums(row: jax.Array, code: jax.Array) -> jax.Array:
            return jax.ops.segment_sum(row, code, num_segments=n_folds)

        return jax.vmap(sums)(values, codes)

    size = by_fold(jnp.ones_like(losses))
    total = by_fold(losses)
    squares, fold_square_sums = (losses**2).sum(1), (total**2).sum(1)
    size_squares = (size**2).sum(1)
    mean = losses.mean(1)
    fold_mean = total / size
    residual = losses - jnp.take_along_axis(fold_mean, codes, axis=1)
    # Folds of one observation contain no pairs, and rounding would make 0/0 infinite.
    pairs = jnp.where(n == n_folds, jnp.nan, 1.0)
    lambda1 = pairs * (residual**2).sum(1) / max(n - n_folds, 1)
    between = (size * (fold_mean - mean[:, None]) ** 2).sum(1) / (n_folds - 1)
    # One for folds of the same size, and then the mean square between folds is lambda_2.
    weight = size_squares * (n_folds - 1) / (n**2 - size_squares)
    size_correction = jnp.where(weight == 1.0, 0.0, (weight - 1.0) * (between - lambda1))
    return {
        "mean": mean,
        "s1": squares / n,
        "s2": pairs * (fold_square_sums - squares) / (size_squares - n),
        "s3": (total.sum(1) ** 2 - fold_square_sums) / (n**2 - size_squares),
        "lambda1": lambda1,
        "lambda2": between + size_correction,
    }
