"""Polynomials as in Magdon-Ismail and Mertsalov (2011): Figure 3, Tables 3 and 4.

y = f(x) + sigma e, x uniform on [-1, 1], f a sum of Legendre polynomials, sigma^2 uniform on
(0, 1]. Order selection: n = 100. Selection of lambda: n = 15, order 5, all coefficients penalised
as in the paper. The out-of-sample error is exact, because Legendre polynomials are orthogonal.

The paper says neither how f is drawn nor which models are compared. Here f has degree 1 to
--target, all equally likely, with independent normal coefficients of standard deviation --signal,
or with --unit scaled so that the variance of f(x) is 1 on average; orders are 0 to --orders, and
lambda/n is 0, 0.02, ..., --penalties. `--settings` goes through many such settings.
"""

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure
from numpy.polynomial.legendre import legvander

import ucvtest as uv

kernel = uv.kernels.permutation

RIDGE_ORDER, STEP, BATCH = 5, 0.02, 1000
DRAWN = 20
"""Batches whose medians figure 3 shows."""
ESTIMATES = ("LOO-CV", "Perm.", "VC", "FPE")
# Regret in %, and the mean order or lambda/n.
TABLE_3 = {
    "order": ((540, 185, 508, 9560), (9.29, 7.21, 5.56, 11.42)),
    "lambda": ((18.8, 5.96, 3.50, 51.3), (23.1, 9.57, 125, 18.1)),
}
TABLE_4 = (0.44, 0.39, 0.42, 0.87)


@dataclass(frozen=True)
class Setting:
    """How targets are drawn, and which models are chosen from."""

    signal: float = 1.0
    unit: bool = False
    target: int = 10
    orders: int = 30
    penalties: float = 3.0

    @property
    def lambdas(self) -> np.ndarray:
        """Every lambda/n."""
        return STEP * np.arange(round(self.penalties / STEP) + 1)

    def __str__(self) -> str:
        scale = "unit variance" if self.unit else f"signal {self.signal:g}"
        return (
            f"{scale}, targets to {self.target}, orders to {self.orders}, "
            f"lambda/n to {self.penalties:g}"
        )


@dataclass(frozen=True, eq=False)
class Problems:
    """Features and responses (B, n), target coefficients (B, D + 1), noise variances (B,)."""

    x: np.ndarray
    y: np.ndarray
    coefficients: np.ndarray
    variance: np.ndarray

    @classmethod
    def draw(
        cls, rng: np.random.Generator, n_problems: int, n: int, setting: Setting
    ) -> "Problems":
        """Draw some."""
        powers = np.arange(setting.target + 1)
        degree = rng.integers(1, setting.target + 1, size=(n_problems, 1))
        coefficients = rng.normal(size=(n_problems, len(powers))) * (powers <= degree)
        if setting.unit:
            # E f^2 given the degree; the constant adds nothing to what is to be learnt.
            coefficients /= np.sqrt(((powers <= degree) / (2 * powers + 1)).sum(1, keepdims=True))
        variance = 1 - rng.random(n_problems)
        x = rng.uniform(-1, 1, size=(n_problems, n))
        noise = np.sqrt(variance)[:, None] * rng.normal(size=x.shape)
        coefficients = setting.signal * coefficients
        target = np.einsum("bnk,bk->bn", legvander(x, setting.target), coefficients)
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


def fits_by_order(problems: Problems, setting: Setting) -> Fits:
    """Least squares; the orders share one factorisation."""
    n = problems.y.shape[1]
    q, r = np.linalg.qr(legvander(problems.x, setting.orders))
    projected = np.einsum("bnk,bn->bk", q, problems.y)
    # Leading parts of a triangular matrix are inverted by those of its inverse.
    inverse = np.linalg.inv(r)
    residual, leverage = problems.y.copy(), np.zeros_like(problems.y)
    fitted = np.zeros_like(projected)
    for size in range(setting.orders + 1):
        residual = residual - q[:, :, size] * projected[:, size, None]
        leverage = leverage + q[:, :, size] ** 2
        fitted = fitted + inverse[:, :, size] * projected[:, size, None]
        # The constant is among the polynomials, so S 1 = 1 and all elements sum to n.
        found = problems.estimates(residual, leverage, np.full(len(fitted), n))
        yield found, problems.true_error(fitted)


def fits_by_lambda(problems: Problems, setting: Setting) -> Fits:
    """Ridge regression; the penalties share one decomposition."""
    n = problems.y.shape[1]
    design = legvander(problems.x, RIDGE_ORDER)
    values, vectors = np.linalg.eigh(np.einsum("bni,bnj->bij", design, design))
    rotated = design @ vectors
    moment, total = np.einsum("bnk,bn->bk", rotated, problems.y), rotated.sum(axis=1)
    for lam in setting.lambdas * n:
        shrunk = 1 / (values + lam)
        fitted = np.einsum("bij,bj->bi", vectors, shrunk * moment)
        residual = problems.y - np.einsum("bnk,bk->bn", rotated, shrunk * moment)
        leverage = np.einsum("bnk,bk->bn", rotated**2, shrunk)
        found = problems.estimates(residual, leverage, (total**2 * shrunk).sum(axis=1))
        yield found, problems.true_error(fitted)


FITS = {"order": (fits_by_order, 100), "lambda": (fits_by_lambda, 15)}


def stacked(fits: Fits) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Estimates and out-of-sample errors (B, models)."""
    found, errors = zip(*fits, strict=True)
    return {name: np.stack([each[name] for each in found], 1) for name in ESTIMATES}, np.stack(
        errors, 1
    )


def one_batch(kind: str, number: int, size: int, setting: Setting) -> pd.DataFrame:
    """Choice and regret by each estimate, for each data set; and medians of all models."""
    fits, n = FITS[kind]
    problems = Problems.draw(np.random.default_rng([number, n]), size, n, setting)
    found, errors = stacked(fits(problems, setting))
    columns = {}
    for skip in (0, 1) if kind == "lambda" else (0,):
        least = errors[:, skip:].min(axis=1)
        for name, values in found.items():
            choice = skip + values[:, skip:].argmin(axis=1)
            columns[skip, name, "choice"] = choice
            columns[skip, name, "regret"] = 100 * (errors[np.arange(size), choice] / least - 1)
    frame = pd.DataFrame(columns)
    if number < DRAWN:
        frame.attrs["curves"] = {**found, "out-of-sample": errors}
    return frame


def simulate(
    kind: str, n_problems: int, setting: Setting, n_jobs: int
) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
    """All data sets, and the medians of the first ones."""
    sizes = [min(BATCH, n_problems - at) for at in range(0, n_problems, BATCH)]
    parts = Parallel(n_jobs=n_jobs)(
        delayed(one_batch)(kind, number, size, setting) for number, size in enumerate(sizes)
    )
    curves = [part.attrs.pop("curves") for part in parts[:DRAWN]]
    # Means of what is as heavy-tailed as least squares would show the tail alone.
    medians = {
        name: np.median(np.concatenate([each[name] for each in curves]), axis=0)
        for name in curves[0]
    }
    return pd.concat(parts, ignore_index=True), medians


def print_table(
    title: str, frame: pd.DataFrame, models: np.ndarray, papers: list[tuple[float, ...]]
) -> None:
    """Regrets and mean choices of a table, beside the paper's."""
    rows = []
    for place, name in enumerate(ESTIMATES):
        regret, choice = frame[name, "regret"], models[frame[name, "choice"]]
        row = {
            "estimate": name,
            "paper": f"{papers[0][place]:g}",
            "regret": f"{regret.mean():.4g} +- {regret.std() / len(regret) ** 0.5:.2g}",
            "median": f"{regret.median():.2f}",
            "above 100%": f"{(regret > 100).mean():.2%}",
            "mean choice": f"{choice.mean():.3f} +- {choice.std() / len(choice) ** 0.5:.2g}",
        }
        if len(papers) > 1:
            row["paper's"] = f"{papers[1][place]:g}"
        rows.append(row)
    print(f"\n{title}: {len(frame)} data sets")
    print(pd.DataFrame(rows).to_string(index=False))


def print_tables(n_problems: int, setting: Setting, n_jobs: int, plot: Path | None) -> None:
    """Tables 3 and 4, and Figure 3."""
    print(setting)
    curves = {}
    for kind in FITS:
        frame, curves[kind] = simulate(kind, n_problems, setting, n_jobs)
        models = setting.lambdas if kind == "lambda" else np.arange(setting.orders + 1)
        print_table(f"Table 3, {kind} (regret in %)", frame[0], models, [*TABLE_3[kind]])
        if kind == "lambda":
            print_table("Table 4, lambda without 0 (regret in %)", frame[1], models, [TABLE_4])
    if plot is not None:
        draw_figure_3(curves, setting, plot)


def draw_figure_3(curves: dict[str, dict[str, np.ndarray]], setting: Setting, path: Path) -> None:
    """Median estimates beside the median out-of-sample error."""
    figure = Figure(figsize=(9, 3.6), layout="constrained")
    axes = figure.subplots(1, 2)
    for ax, (kind, medians) in zip(axes, curves.items(), strict=True):
        first = kind == "lambda"
        x = setting.lambdas if first else np.arange(setting.orders + 1)
        for name, median in medians.items():
            style = {"color": "black", "linewidth": 2} if name == "out-of-sample" else {}
            finite = np.where(np.isfinite(median), median, np.nan)
            ax.plot(x[first:], finite[first:], label=name, **style)
        ax.set_xlabel("lambda/n, order 5, n = 15" if first else "polynomial order, n = 100")
        ax.set_yscale("log")
    axes[0].set_ylabel("median over data sets")
    axes[1].legend(frameon=False)
    figure.savefig(path, dpi=110)


def print_settings(n_problems: int, n_jobs: int, *, quick: bool) -> None:
    """Mean orders, and table 4, in many settings: what does not hang on heavy tails."""
    signals = [(0.3, False), (1.0, True)] if quick else [
        (0.2, False), (0.3, False), (0.5, False), (1.0, False), (2.0, False), (1.0, True)
    ]  # fmt: skip
    rows = []
    for (signal, unit), target in product(signals, (10,) if quick else (5, 10, 15, 20)):
        setting = Setting(signal, unit, target)
        by_order, _ = simulate("order", n_problems, setting, n_jobs)
        by_lambda, _ = simulate("lambda", n_problems, setting, n_jobs)
        row = {"f": "unit" if unit else f"{signal:g}", "degree": target}
        row |= {f"order {name}": f"{by_order[0][name, 'choice'].mean():.2f}" for name in ESTIMATES}
        for name in ESTIMATES:
            regret = by_lambda[1][name, "regret"]
            error = regret.std() / len(regret) ** 0.5
            row[f"regret {name}"] = f"{regret.mean():.2f} +- {error:.2f}"
        rows.append(row)
    published = {"order": TABLE_3["order"][1], "regret": TABLE_4}
    paper = {
        f"{what} {name}": f"{value}"
        for what, values in published.items()
        for name, value in zip(ESTIMATES, values, strict=True)
    }
    print(f"\nMean order (Table 3), regret without lambda = 0 (Table 4): {n_problems} data sets")
    print(pd.DataFrame([*rows, {"f": "paper", "degree": "?"} | paper]).to_string(index=False))


def select_on_one_sample(plot: Path | None) -> None:
    """The same with `select_model`, on one data set."""
    problems = Problems.draw(np.random.default_rng(7), 1, 60, Setting())
    learners = [uv.learners.polynomial(order) for order in range(1, 16)]
    selection = uv.select_model(problems.x.T, problems.y[0], learners, rng=0)
    errors = []
    for order in range(1, 16):
        fitted = np.linalg.lstsq(legvander(problems.x[0], order), problems.y[0], rcond=None)[0]
        errors.append(problems.true_error(fitted[None])[0])
    print(f"\nOne data set, n = 60\n{selection}")
    regret = selection.regret(errors)
    print("Regret:", ", ".join(f"{name} {value:.1%}" for name, value in regret.items()))
    if plot is not None:
        figure = Figure(figsize=(6.4, 4.2), layout="constrained")
        ax = selection.plot(figure.subplots())
        ax.plot(selection.complexity, errors, color="black", label="out-of-sample")
        ax.set_yscale("log")
        figure.savefig(plot.with_stem(f"{plot.stem}_one"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a few seconds, no conclusions")
    parser.add_argument(
        "--problems", type=int, default=1_000_000, help="data sets, as in the paper"
    )
    parser.add_argument("--signal", type=float, default=1.0, help="sd of the coefficients of f")
    parser.add_argument("--unit", action="store_true", help="f of variance 1 on average")
    parser.add_argument("--target", type=int, default=10, help="highest degree of f")
    parser.add_argument("--orders", type=int, default=30, help="highest order that is fitted")
    parser.add_argument("--penalties", type=float, default=3.0, help="largest lambda/n")
    parser.add_argument("--settings", action="store_true", help="many settings instead of one")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--plot", type=Path, help="file for Figure 3")
    arguments = parser.parse_args()
    start = time.perf_counter()
    n_problems = 50 if arguments.quick else arguments.problems
    if arguments.settings:
        print_settings(n_problems, arguments.n_jobs, quick=arguments.quick)
    else:
        setting = Setting(
            arguments.signal,
            arguments.unit,
            arguments.target,
            arguments.orders,
            arguments.penalties,
        )
        print_tables(n_problems, setting, arguments.n_jobs, arguments.plot)
        select_on_one_sample(arguments.plot)
    print(f"\n{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
