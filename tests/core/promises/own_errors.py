"""Which exceptions are the package's own."""

import linecache


def is_own(error: BaseException) -> bool:
    """Whether a statement of the package itself raised it."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    assert last is not None
    file = last.tb_frame.f_code.co_filename
    line = linecache.getline(file, last.tb_lineno).strip()
    return (
        ("ucvtest/" in file or "ucvtest_mlflow/" in file)
        and "/tests/" not in file
        and line.startswith("raise ")
    )
