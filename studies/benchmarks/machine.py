"""What every benchmark says of itself: versions and machine."""

import os
import platform

import jax
import numpy as np
import sklearn

import ucvtest


def versions() -> str:
    """One line."""
    return (
        f"ucvtest {ucvtest.__version__}, jax {jax.__version__}, scikit-learn "
        f"{sklearn.__version__}, NumPy {np.__version__}, Python {platform.python_version()}; "
        f"{platform.machine()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}"
    )
