"""Programs that JAX has compiled, kept for the next command."""

import os
import platform
import sys
import warnings
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

FOLDER = "JAX_COMPILATION_CACHE_DIR"
"""What users set who have a folder of their own, and we where they have none."""

SETTINGS = {
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
    # XLA's own caches would be made of other files for every name of a folder.
    "JAX_PERSISTENT_CACHE_ENABLE_XLA_CACHES": "none",
}


def keep_compiled_programs() -> None:
    """Let JAX keep its programs in the user's cache folder; call it before JAX is imported.

    For the process of the command line, which is ours: in Python and R the process is the user's.
    A user's own settings stay as they are. Without a folder that this user alone can write to,
    nothing is kept.
    """
    if FOLDER in os.environ:
        return
    try:
        folder = _cache_home() / "ucvtest" / _machine_and_versions()
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not _is_private(folder):
            return
    except (OSError, RuntimeError):  # without a home there is no cache folder
        return
    os.environ[FOLDER] = str(folder)
    for name, value in SETTINGS.items():
        os.environ.setdefault(name, value)
    # A full disk, or a file that another command is writing: the program is compiled again.
    warnings.filterwarnings("ignore", message="Error (reading|writing) persistent compilation")


def _cache_home() -> Path:
    """Where programs of this user may keep what can be made again."""
    named = os.environ.get("XDG_CACHE_HOME", "")
    if os.path.isabs(named):
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32" and "LOCALAPPDATA" in os.environ:
        return Path(os.environ["LOCALAPPDATA"])
    return Path.home() / ".cache"


def _machine_and_versions() -> str:
    """A name that differs where a program may not run: homes are shared between machines."""
    versions = [f"{name} {version(name)}" for name in ("jax", "jaxlib", "ucvtest")]
    digest = blake2b("\n".join([_processor(), *versions]).encode(), digest_size=8)
    return f"compiled-{digest.hexdigest()}"


def _processor() -> str:
    """The model and features of the processor; elsewhere than on Linux the machine's name."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return f"{platform.machine()} {platform.node()}"
    first, *_ = text.partition("\n\n")
    fields = ("model name", "flags", "CPU part", "Features")
    lines = [line for line in first.splitlines() if line.startswith(fields)]
    return "\n".join([platform.machine(), *lines])


def _is_private(folder: Path) -> bool:
    """Whether nobody else can put a program there, which would run as this user."""
    if not os.access(folder, os.W_OK):
        return False
    status = folder.stat()
    return os.name != "posix" or (status.st_uid == os.getuid() and not status.st_mode & 0o022)
