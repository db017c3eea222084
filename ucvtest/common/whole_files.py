"""Files that are written whole or not at all: the old file stays until then."""

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def write_whole(path: str | os.PathLike[str], data: str | bytes) -> None:
    """Write text (as UTF-8) or bytes to a file; the old file stays until all is on the disk.

    Raises
    ------
    OSError
        If the file cannot be written; the old one is then unchanged.
    """
    with replacing(path) as temporary_path:
        temporary_path.write_bytes(data.encode() if isinstance(data, str) else data)


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A new file in the same folder, with the same ending, that replaces a file once written.

    Pipes and devices are written directly, as is a file in a folder in which no other can be made.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target
        return
    temporary_path = target.with_name(f".{target.stem[:100]}-{secrets.token_hex(6)}{target.suffix}")
    try:
        if not _makes_file(temporary_path):
            yield target
            return
        if target.exists():
            os.chmod(temporary_path, stat.S_IMODE(target.stat().st_mode))
        yield temporary_path
        _to_disk(temporary_path)
        temporary_path.replace(target)
    except BaseException as error:
        with suppress(OSError):
            temporary_path.unlink()
        if isinstance(error, OSError):
            # The user does not know the temporary file.
            error.filename, error.filename2 = str(path), None
        raise
    with suppress(OSError):
        # Some systems cannot open a folder.
        _to_disk(target.parent)


def _makes_file(path: Path) -> bool:
    """Make an empty file, if its folder allows it."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except PermissionError:
        return False
    return True


def _to_disk(path: Path) -> None:
    """Flush everything written to the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
