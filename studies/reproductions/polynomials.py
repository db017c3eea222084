"""Polynomials as in Magdon-Ismail and Mertsalov (2011): Figures 3 and 6, Tables 3 and 4.

y = f(x) + sigma e, x uniform on [-1, 1], f a sum of Legendre polynomials, sigma^2 uniform on
(0, 1]. Order selection: n = 100. Selection of lambda: n = 15, order 5, all coefficients penalised
as in the paper. The out-of-sample error is exact, because Legendre polynomials are orthogonal.

The paper says neither how f is drawn nor which models are compared. That was found from what does
not depend on heavy tails (docs/validation/reproductions/permutation.md): independent normal
coefficients, scaled so that E f(x)^2 is 1 on average; degrees 1 to 10 for lambda, 1 to 24 for
orders, all equally likely; orders to 24; and penalties lambda of X'X + lambda I from 0 to 300, what
the paper calls lambda/N.
"""

import argparse
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from numpy.polynomial.legendre import legvander

import ucvtest as uv

kernel = uv.kernels.permutation

RIDGE_ORDER, BATCH = 5, 1000
DRAWN = 20
"""Batches whose medians figure 3 shows."""
ESTIMATES = ("LOO-CV", "Perm.", "VC", "FPE")
# Regret in %, or without lambda = 0 as a fraction; and the mean order or penalty.
TABLE_3 = {
    "order": ((540, 185, 508, 9560), (9.29, 7.21, 5.56, 11.42)),
    "lambda": ((18.8, 5.96, 3.50, 51.3), (23.1, 9.57, 125, 18.1)),
}
TABLE_4 = (0.44, 0.39, 0.42, 0.87)
DEGREES, ORDERS, RIDGE_DEGREES = 24, 24, 10
"""The highest of f and of the models for order selection, and of f for the choice of lambda."""
PENALTIES = np.r_[0.0, np.geomspace(0.007, 300, 159)]
"""Each some 7% above the one before; and 0."""


@dataclass(frozen=True, eq=False)
class Problems:
    """Features and responses (B, n), target coefficients (B, D + 1), noise variances (B,)."""

    x: np.ndarray
    y: np.ndarray
    coefficients: np.ndarray
    variance: np.ndarray

    @classmethod
    def draw(cls, rng: np.random.Generator, n_problems: int, n: int, degrees: int) -> "Problems":
        """Targets of degree 1 to `degrees`, with E f^2 = 1 on average."""
        powers = np.arange(degrees + 1)
        degree = rng.integers(1, degrees + 1, size=(n_problems, 1))
        coefficients = rng.normal(size=(n_problems, len(powers))) * (powers <= degree)
        coefficients /= np.sqrt(((powers <= degree) / (2 * powers + 1)).sum(1, keepdims=True))
        variance = 1 - rng.random(n_problems)
        x = rng.uniform(-1, 1, size=(n_problems, n))
        noise = np.sqrt(variance)[:, None] * rng.normal(size=x.shape)
        target = np.einsum("bnk,bk->bn", legvander(x, degrees), coefficients)
        return cls(x, target + noise, coefficients, variance)

    def true_error(self, fitted: np.ndarray) -> np.ndarray:
        """Out-of-sample error of Legendre coefficients (B, K): E L_i^2 = 1/(2i + 1)."""
        size = max(fitted.shape[1], self.coefficients.shape[1])
        difference = np.zeros((len(fitted), size))
        difference[:, : fitted.shape[1]] = fitted
        difference[:, : self.coefficients.shape[1]] -= self.coefficients
        return self.variance + (difference**2 / (2 * np.arange(size) + 1)).sum(axis=1)

    def estimates(
        self, residual: np.ndarray, leverage: np.ndarray, total: np.ndarray
    ) -> dict[str, np.ndarray]:
        """Estimates of a linear smoother on all data sets; total sums all its elements."""
        n = self.y.shape[1]
        e_in, degrees = (residual**2).mean(axis=1), leverage.sum(axis=1)
        return {
            "LOO-CV": kernel.leave_one_out(residual, leverage),
            "Perm.": e_in + kernel.smoother_optimism(self.y.var(axis=1), degrees, total, n),
            "VC": kernel.vc_penalty(e_in, degrees, n),
            "FPE": kernel.final_prediction_error(e_in, degrees, n),
        }


Fits = Iterator[tuple[dict[str, np.ndarray], np.ndarray]]
"""Estimates and out-of-sample errors (B,), model after model."""


def fits_by_order(problems: Problems, orders: int) -> Fits:
    """Least squares; the orders share one factorisation."""
    n = problems.y.shape[1]
    q, r = np.linalg.qr(legvander(problems.x, orders))
    projected = np.einsum("bnk,bn->bk", q, problems.y)
    # Leading parts of a triangular matrix are inverted by those of its inverse.
    inverse = np.linalg.inv(r)
    residual, leverage = problems.y, np.zeros_like(problems.y)
    fitted = np.zeros_like(projected)
    for size in range(orders + 1):
        residual = residual - q[:, :, size] * projected[:, size, None]
        leverage = leverage + q[:, :, size] ** 2
        fitted = fitted + inverse[:, :, size] * projected[:, size, None]
        # The constant is among the polynomials, so S 1 = 1 and all elements sum to n.
        found = problems.estimates(residual, leverage, np.full(len(fitted), n))
        yield found, problems.true_error(fitted)


def fits_by_lambda(problems: Problems, penalties: Iterable[float]) -> Fits:
    """Ridge regression; the penalties share one decomposition."""
    design = legvander(problems.x, RIDGE_ORDER)
    values, vectors = np.linalg.eigh(np.einsum("bni,bnj->bij", design, design))
    rotated = design @ vectors
    moment, total = np.einsum("bnk,bn->bk", rotated, problems.y), rotated.sum(axis=1)
    squares = rotated**2
    for penalty in penalties:
        shrunk = 1 / (values + penalty)
        fitted = np.einsum("bij,bj->bi", vectors, shrunk * moment)
        residual = problems.y - np.einsum("bnk,bk->bn", rotated, shrunk * moment)
        leverage = np.einsum("bnk,bk->bn", squares, shrunk)
        found = problems.estimates(residual, leverage, (total**2 * shrunk).sum(axis=1))
        yield found, problems.true_error(fitted)


def stacked(fits: Fits) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Estimates and out-of-sample errors (B, models)."""
    found, errors = zip(*fits, strict=True)
    return {name: np.stack([each[name] for each in found], 1) for name in ESTIMATES}, np.stack(
        errors, 1
    )


def choices(
    found: dict[str, np.ndarray], errors: np.ndarray, first: int = 0
) -> dict[tuple[str, str], np.ndarray]:
    """Choice and regret by each estimate among the models from the first one on."""
    part = errors[:, first:]
    least, at, columns = part.min(axis=1), np.arange(len(errors)), {}
    for name, values in found.items():
        choice = values[:, first:].argmin(axis=1)
        columns[name, "choice"] = first + choice
        columns[name, "regret"] = part[at, choice] / least - 1
    return columns


def chosen(kind: str, number: int, size: int) -> list[pd.DataFrame]:
    """Choices of one batch, from all models and, of penalties, from all but 0; and medians."""
    rng = np.random.default_rng([number, kind == "order"])
    if kind == "order":
        problems = Problems.draw(rng, size, 100, DEGREES)
        found, errors = stacked(fits_by_order(problems, ORDERS))
    else:
        problems = Problems.draw(rng, size, 15, RIDGE_DEGREES)
        found, errors = stacked(fits_by_lambda(problems, PENALTIES))
    frames = [
        pd.DataFrame(choices(found, errors, first))
        for first in ((0, 1) if kind == "lambda" else (0,))
    ]
    if number < DRAWN:
        frames[0].attrs["curves"] = {**found, "out-of-sample": errors}
    return frames


def simulate(
    kind: str, n_problems: int, n_jobs: int
) -> tuple[list[pd.DataFrame], dict[str, np.ndarray]]:
    """All data sets, and the medians of the first ones."""
    sizes = [min(BATCH, n_problems - at) for at in range(0, n_problems, BATCH)]
    parts = Parallel(n_jobs=n_jobs)(
        delayed(chosen)(kind, number, size) for number, size in enumerate(sizes)
    )
    curves = [part[0].attrs.pop("curves") for part in parts[:DRAWN]]
    # Means of values with tails as heavy as for least squares would only show the tail.
    medians = {
        name: np.median(np.concatenate([each[name] for each in curves]), axis=0)
        for name in curves[0]
    }
    return [pd.concat(each, ignore_index=True) for each in zip(*parts, strict=True)], medians


def mean_of(values: pd.Series | np.ndarray) -> str:
    """Mean and its Monte-Carlo error."""
    return f"{values.mean():.4g} +- {values.std() / len(values) ** 0.5:.2g}"


def print_table(
    title: str, frame: pd.DataFrame, models: np.ndarray, papers: list[tuple[float, ...]]
) -> None:
    """Regrets and mean choices of a table, next to the paper's."""
    rows = []
    for place, name in enumerate(ESTIMATES):
        regret, choice = frame[name, "regret"], models[frame[name, "choice"]]
        row = {
            "estimate": name,
            "regret": mean_of(regret),
            "paper": f"{papers[0][place]:g}",
            "median": f"{regret.median():.3f}",
            "above 1": f"{(regret > 1).mean():.2%}",
            "mean choice": mean_of(choice),
        }
        if len(papers) > 1:
            row["paper's"] = f"{papers[1][place]:g}"
        rows.append(row)
    print(f"\n{title}: {len(frame)} data sets")
    print(pd.DataFrame(rows).to_string(index=False))


MODELS = {"order": np.arange(ORDERS + 1), "lambda": PENALTIES}


def print_tables(n_problems: int, n_jobs: int, plot: Path | None) -> None:
    """Tables 3 and 4, and Figure 3."""
    curves = {}
    for kind, models in MODELS.items():
        frames, curves[kind] = simulate(kind, n_problems, n_jobs)
        print_table(f"Table 3, {kind}", frames[0], models, [*TABLE_3[kind]])
        if kind == "lambda":
            print_table("Table 4, lambda without 0", frames[1], models, [TABLE_4])
    if plot is not None:
        draw_figure_3(curves, plot)


def draw_figure_3(curves: dict[str, dict[str, np.ndarray]], path: Path) -> None:
    """Median estimates next to the median out-of-sample error."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes = figure.subplots(1, 2)
    titles = "polynomial order, n = 100", "penalty of order 5, n = 15"
    for ax, x, medians, title in zip(axes, MODELS.values(), curves.values(), titles, strict=True):
        first = int(title.startswith("penalty"))
        for name, median in medians.items():
            style = {"color": "black", "linewidth": 2} if name == "out-of-sample" else {}
            finite = np.where(np.isfinite(median), median, np.nan)
            ax.plot(x[first:], finite[first:], label=name, **style)
        ax.set_xlabel(title)
        ax.set_yscale("log")
    axes[1].set_xscale("log")
    axes[0].set_ylabel("median over data sets")
    axes[1].legend(frameon=False)
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few seconds, no conclusions")
    parser.add_argument("--problems", type=int, default=1_000_000, help="as many as the paper has")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--plot", type=Path, help="file for Figure 3")
    arguments = parser.parse_args()
    start = time.perf_counter()
    print_tables(50 if arguments.quick else arguments.problems, arguments.n_jobs, arguments.plot)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
