"""Faults that are planted in a copy of the package, one at a time: does a test of core notice?

``python -m tests.nightly.mutants`` plants all of them, and ``... mutants Wald jackknife`` those
whose names contain one of the words. It prints the test that noticed first, and ends with status 1
if a fault lives. Each changes one sign, bound, constant or term of the numbers that users read.
Whoever mends a fault that no test had noticed adds it here.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from tests.support.paths import ROOT

VALUES = "tests/core/values/"


class Mutant(NamedTuple):
    """A line of the package, what becomes of it, and the files whose tests should notice."""

    name: str
    path: str
    line: str
    becomes: str
    files: tuple[str, ...]


def _mutant(name: str, path: str, line: str, becomes: str, *files: str) -> Mutant:
    return Mutant(
        name, f"ucvtest/{path}", line, becomes, tuple(f"{VALUES}{each}" for each in files)
    )


USTATISTIC = ("kernels/test_ustatistic.py", "methods/ustatistic/test_ustatistic.py")
INTERVALS = ("stats/test_intervals.py",)
FEW_FITS = ("kernels/test_few_fits.py",)
EXACT = ("stats/test_exact.py",)
METRICS = ("metrics/test_values_of_metrics.py",)
INFLUENCE = ("kernels/test_influence.py",)
SEVERAL_CLASSES = ("kernels/test_auc_several_classes.py",)
CLUSTERS = ("methods/classical/test_clusters.py",)
FIVE_BY_TWO = ("methods/classical/test_five_by_two.py",)
PAIR_OUT = ("kernels/test_leave_pair_out.py", "methods/leave_pair_out/test_leave_pair_out.py")

MUTANTS = [
    _mutant(
        *("level of the Wald interval", "stats/wald.py"),
        *(
            "half_width = distribution.isf(alpha / 2) * se",
            "half_width = distribution.isf(alpha) * se",
        ),
        *INTERVALS,
    ),
    _mutant(
        *("first-order factor of the jackknife", "stats/jackknife.py"),
        *("(n - m) ** 2", "(n - m + 1) ** 2", *USTATISTIC),
    ),
    _mutant(
        *("pair effects of one class in the midpoint", "kernels/ustatistic/rows.py"),
        *("g + 1, 0)) / 2, 0.0)", "g + 1, 0)) / 4, 0.0)", *SEVERAL_CLASSES),
    ),
    _mutant(
        *("pair effects less those of single ones", "kernels/ustatistic/rows.py"),
        *("np.divide(g, n - 2,", "np.divide(g, n - 1,", *USTATISTIC),
    ),
    _mutant(
        *("linear part of the unbiased variance", "kernels/ustatistic/unbiased.py"),
        *('"product", "pairs") + linear', '"product", "pairs")'),
        *USTATISTIC,
    ),
    _mutant(
        *("error of clipping", "kernels/ustatistic/contrasts.py"),
        *("return float(np.sqrt(np.mean((moved", "return 0.5 * float(np.sqrt(np.mean((moved"),
        *USTATISTIC,
    ),
    _mutant(
        *("sign of the slope", "kernels/ustatistic/slopes.py"),
        *("np.where(first > 0, -(n - m) / 2 * third", "np.where(first > 0, (n - m) / 2 * third"),
        "kernels/test_slopes.py",
    ),
    _mutant(
        *("degrees of freedom of what the means explain", "kernels/ustatistic/few.py"),
        *("(n_rounds + 2) / (n_rounds - 2)", "(n_rounds + 1) / (n_rounds - 2)", *FEW_FITS),
    ),
    _mutant(
        *("observations with full weight", "kernels/ustatistic/few.py"),
        *(
            "FULL_WEIGHT_UNITS, LEAST_WEIGHT = 300",
            "FULL_WEIGHT_UNITS, LEAST_WEIGHT = 400",
            *FEW_FITS,
        ),
    ),
    _mutant(
        *("chance that one observation decides", "kernels/ustatistic/few.py"),
        *("MOST_CHANCE = 0.01", "MOST_CHANCE = 0.05", *FEW_FITS),
    ),
    _mutant(
        *("covariance of placements within clusters", "stats/influence.py"),
        *("parts = [math.sqrt(whole) *", "parts = [math.sqrt(whole / 2) *", *CLUSTERS),
    ),
    _mutant(
        *("counts of the telling", "stats/melded.py"),
        "np.where(negative, telling + 1, telling), n_obs - telling + ~negative",
        "np.where(negative, telling, telling + 1), n_obs - telling + negative",
        *EXACT,
    ),
    _mutant(
        *("upper limit of Clopper and Pearson", "stats/exact.py"),
        "high = float(betaincinv(k + 1, n - k, 1 - high_tail))",
        "high = float(betaincinv(k, n - k, 1 - high_tail))",
        *EXACT,
    ),
    _mutant(
        *("effective number of Korn and Graubard", "stats/shares.py"),
        *("self.variance * ratio**2", "self.variance * ratio", "stats/test_shares.py"),
    ),
    _mutant(
        *("correction of the skewness", "stats/pivots.py"),
        *("second**1.5 * math.sqrt(n * (n - 1)) / (n - 2)", "second**1.5", *INTERVALS),
    ),
    _mutant(
        *("spread of the four added", "stats/pivots.py"),
        "spread = n**2 * variance + 1 + 4 * n * (estimate - 0.5) ** 2 / n_with_added",
        "spread = n**2 * variance + 1",
        *INTERVALS,
    ),
    _mutant(
        *("most that a scale is bent", "stats/pivots.py"),
        *("MOST_BENT = 0.26", "MOST_BENT = 0.30", "stats/test_variance_stabilised.py"),
    ),
    _mutant(
        *("adjusted p-values of draws", "stats/simultaneous.py"),
        *("(count + 1) / (self.n_draws + 1)", "count / self.n_draws", "stats/test_simultaneous.py"),
    ),
    _mutant(
        *("noise of influence values", "kernels/influence/estimate.py"),
        *("return self._variance(noise) * k / (k - 1)", "return self._variance(noise)"),
        *INFLUENCE,
    ),
    _mutant(
        *("noise of shares", "kernels/influence/sums.py"),
        *("learnt * n / max(n - 1, 1)", "learnt", *INFLUENCE),
    ),
    _mutant(
        *("largest admissible variance", "kernels/fold_covariance/__init__.py"),
        "at_zero + largest_gamma - lambda1",
        "at_zero + largest_gamma",
        "kernels/test_fold_covariance.py",
    ),
    _mutant(
        *("tolerance of ties, leave-pair-out", "kernels/leave_pair_out/pair_counts.py"),
        *("TIE = 1e-11", "TIE = 0.0", *PAIR_OUT),
    ),
    _mutant(
        *("wrong pairs, leave-pair-out", "kernels/leave_pair_out/pair_counts.py"),
        *("n_wrong = counted & (difference < -tolerance)",),
        *("n_wrong = counted & (difference > tolerance)", *PAIR_OUT),
    ),
    _mutant(
        *("slope of Matthews' correlation", "metrics/confusion.py"),
        *("(true[down] / a + predicted[across] / b)", "(true[down] / b + predicted[across] / a)"),
        *METRICS,
    ),
    _mutant(
        *("gradient of weighted averages", "metrics/confusion.py"),
        *(
            "(counted * (values - value[..., None]), total)",
            "(counted * (values - value[..., None]), 1.0)",
        ),
        *METRICS,
    ),
    _mutant(
        *("gradient by an imaginary step", "metrics/moments.py"),
        *("np.imag(moved) / steps", "np.imag(moved) / (2 * steps)", *METRICS),
    ),
    _mutant(
        *("standard error of many pairs", "methods/classical/many_pairs.py"),
        *("variance + 0.0", "2.0 * variance"),
        "comparison/test_many_learners.py",
    ),
    _mutant(
        *("F of Alpaydin", "methods/classical/five_by_two.py"),
        *(
            "spread = 2 * float(variances[0].sum())",
            "spread = float(variances[0].sum())",
            *FIVE_BY_TWO,
        ),
    ),
    _mutant(
        *("degrees of freedom of McNemar's test in clusters", "methods/classical/mcnemar.py"),
        *("df=clusters.n_groups - 1.0", "df=float(clusters.n_groups)", *CLUSTERS),
    ),
    _mutant(
        *("variance of means of clusters", "stats/influence.py"),
        *("(values - means[:, None]) / values.shape[1]", "values / values.shape[1]"),
        *CLUSTERS,
    ),
    _mutant(
        *("share of overlap of Nadeau and Bengio", "methods/classical/corrected_t.py"),
        *("(1 / means.shape[1] + ratio)", "(1 / means.shape[1] + ratio / 2)"),
        "methods/classical/test_corrected_t.py",
    ),
    _mutant(
        *("observations with the midpoint", "methods/ustatistic/sizes.py"),
        *("n >= FEW_OBS and", "n > FEW_OBS and", USTATISTIC[1]),
    ),
    _mutant(
        *("covariance of permuted labels", "stats/cluster_permutation.py"),
        *("between = -values.var()", "between = values.var()", "stats/test_cluster_permutation.py"),
    ),
    _mutant(
        *("DeLong's variance", "stats/influence.py"),
        *("np.sqrt(factors)[strata] *", "1.0 *"),
        "methods/classical/test_delong.py",
    ),
    _mutant(
        *("nested cross-validation: noise of folds", "stats/nested_cross_validation.py"),
        "[losses.var(ddof=1) / len(losses) for",
        "[losses.var(ddof=1) for",
        "methods/classical/test_nested_cross_validation.py",
    ),
    _mutant(
        *("clusters of linearised metrics", "stats/influence.py"),
        *("int(self.clusters.max()) + 1", "int(self.clusters.max()) + 2"),
        "methods/classical/test_metrics_of_rules.py",
    ),
]


def copy_of_project(folder: Path) -> None:
    """The package and its tests; the rest is only read."""
    ignored = shutil.ignore_patterns("__pycache__")
    for name in ("ucvtest", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for path in ROOT.iterdir():
        if path.name not in ("ucvtest", "tests", ".git", "build"):
            (folder / path.name).symlink_to(path)


def noticed_by(mutant: Mutant, folder: Path) -> str:
    """The first test that fails, or nothing."""
    path = folder / mutant.path
    text = path.read_text(encoding="utf-8")
    if text.count(mutant.line) < 1:
        raise SystemExit(f"{mutant.name}: {mutant.path} has no {mutant.line!r}")
    path.write_text(text.replace(mutant.line, mutant.becomes), encoding="utf-8")
    plugins = [str(ROOT / "mlflow_plugin"), str(ROOT / "r_bridge")]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), *plugins])}
    try:
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", *mutant.files],
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
        )
    finally:
        path.write_text(text, encoding="utf-8")
    found = re.search(r"^(?:FAILED|ERROR) \S*?([\w/]+\.py\S*)", done.stdout, re.M)
    if done.returncode not in (0, 1) or (done.returncode and not found):
        raise SystemExit(done.stdout + done.stderr)
    return found[1] if found else ""


def main() -> None:
    """Plant those that are asked for."""
    words = sys.argv[1:]
    chosen = [each for each in MUTANTS if not words or any(word in each.name for word in words)]
    alive = 0
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        copy_of_project(folder)
        for mutant in chosen:
            before = sum(os.times()[2:4])
            start = time.monotonic()
            killer = noticed_by(mutant, folder)
            spent = sum(os.times()[2:4]) - before
            alive += not killer
            print(
                f"{mutant.name:<52}{killer or 'LIVES'}  {spent:.1f} s of processor, "
                f"{time.monotonic() - start:.0f} s",
                flush=True,
            )
    print(f"{len(chosen) - alive} of {len(chosen)} noticed")
    sys.exit(bool(alive))


if __name__ == "__main__":
    main()
