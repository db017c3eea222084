"""Tables in files: delimited text in any of the usual forms, JSON, Excel, parquet, feather."""

import bz2
import gzip
import io
import json
import lzma
import sys
import warnings
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

STDIN = "-"
"""Stands for the standard input instead of a path."""

MISSING_WORDS = "missing_words"
"""Key in `attrs` of a table from delimited text: what stands for missing values, by column."""

SEPARATORS = (",", ";", "\t", "|")

COMPRESSED = {b"\x1f\x8b": gzip, b"BZh": bz2, b"\xfd7zXZ": lzma}
"""Modules that unpack files with these first bytes."""

DECIMAL_COMMA = r"\s*[-+]?\d+(,\d+)?([eE][-+]?\d+)?\s*"


def read_table(source: str | Path, sep: str | None = None) -> "pd.DataFrame":
    """The table in a file, or in the standard input for "-".

    Accepted are delimited text with a header, JSON lines or an array of records, the first sheet of
    an Excel file, parquet and feather. Text may be compressed (gz, bz2, xz) and is in UTF-8, UTF-16
    or Latin-1. Its separator is found in the header; with semicolons, numbers may have decimal
    commas. Empty fields and words such as NA, None and null are missing values, as in pandas.

    Raises
    ------
    ValueError
        If the file contains no table.
    OSError, ImportError
        If the file cannot be opened, or the package that reads it is not installed.
    """
    if str(source) != STDIN and Path(source).is_dir():
        raise ValueError(f"{Path(source)} is a folder: name a file")
    file_bytes = sys.stdin.buffer.read() if str(source) == STDIN else Path(source).read_bytes()
    name = "standard input" if str(source) == STDIN else str(source)
    for magic, module in COMPRESSED.items():
        if file_bytes.startswith(magic):
            try:
                file_bytes = module.decompress(file_bytes)
            except (OSError, EOFError, lzma.LZMAError) as error:
                raise ValueError(f"{name} is damaged: {error}") from None
            break
    if file_bytes.startswith(b"PAR1"):
        table = _parquet(file_bytes, name)
    elif file_bytes.startswith((b"ARROW1", b"FEA1")):
        table = _feather(file_bytes, name)
    elif file_bytes.startswith(b"PK\x03\x04"):
        table = _spreadsheet(file_bytes, name)
    else:
        text = _decoded(file_bytes, name)
        is_json = text.lstrip()[:1] in ("{", "[")
        table = _records(text, name) if is_json else _delimited(text, sep, name)
    if not len(table):
        raise ValueError(f"{name} has a header and no rows")
    return table


def without_row_numbers(table: "pd.DataFrame") -> "pd.DataFrame":
    """The table without a nameless column of row numbers, as pandas writes to CSV.

    Raises
    ------
    ValueError
        If a nameless column contains anything else.
    """
    nameless = [name for name in table.columns if str(name).startswith("Unnamed: ")]
    for name in nameless:
        if table[name].tolist() != list(range(len(table))):
            raise ValueError(f"a column has no name ({name!r}): name it, or drop it")
    return table.drop(columns=nameless)


def _parquet(file_bytes: bytes, name: str) -> "pd.DataFrame":
    import pandas as pd

    if find_spec("pyarrow") is None and find_spec("fastparquet") is None:
        raise ImportError(f"{name} is a parquet file, which needs pyarrow: pip install pyarrow")
    try:
        return pd.read_parquet(io.BytesIO(file_bytes))
    except Exception as error:  # each library raises its own errors
        raise ValueError(f"{name} is a damaged parquet file: {error}") from None


def _feather(file_bytes: bytes, name: str) -> "pd.DataFrame":
    import pandas as pd

    if find_spec("pyarrow") is None:
        raise ImportError(f"{name} is a feather file, which needs pyarrow: pip install pyarrow")
    try:
        return pd.read_feather(io.BytesIO(file_bytes))
    except Exception as error:  # the library raises its own errors
        raise ValueError(f"{name} is a damaged feather file: {error}") from None


def _spreadsheet(file_bytes: bytes, name: str) -> "pd.DataFrame":
    """The first sheet of an Excel file, which is an archive of certain members."""
    import pandas as pd

    try:
        with zipfile.ZipFile(io.BytesIO(file_bytes)) as archive:
            known = "xl/workbook.xml" in archive.namelist()
    except zipfile.BadZipFile:
        known = False
    if not known:
        raise ValueError(f"{name} is an archive but not an Excel file: save the table as CSV")
    if find_spec("openpyxl") is None:
        raise ImportError(
            f"{name} is an Excel file, which needs openpyxl: pip install 'ucvtest[excel]', or save "
            "the table as CSV"
        )
    try:
        return pd.read_excel(io.BytesIO(file_bytes), engine="openpyxl")
    except Exception as error:  # the library raises its own errors
        raise ValueError(f"{name} is a damaged Excel file: {error}") from None


def _records(text: str, name: str) -> "pd.DataFrame":
    """JSON lines, or an array of records."""
    import pandas as pd

    try:
        if text.lstrip().startswith("["):
            rows = json.loads(text)
        else:
            rows = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise ValueError(
            f"{name} looks like JSON but contains neither lines of records nor an array of them: "
            f"{error}"
        ) from None
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(
            f"{name} is JSON without records: write one object for each row, "
            '{"column": value, ...}'
        )
    nested = next((k for row in rows for k, x in row.items() if isinstance(x, (dict, list))), None)
    if nested is not None:
        raise ValueError(
            f"{name}: {nested!r:.60} contains arrays or objects, but a row has one value in each "
            "column: write one record for each observation"
        )
    return pd.DataFrame(rows)


def _decoded(file_bytes: bytes, name: str) -> str:
    if file_bytes.startswith((b"\xff\xfe", b"\xfe\xff")):
        return file_bytes.decode("utf-16", errors="replace")
    if b"\0" in file_bytes:
        raise ValueError(f"{name} is neither a text file nor a parquet file: save the table as CSV")
    try:
        return file_bytes.decode("utf-8-sig")
    except UnicodeDecodeError:
        return file_bytes.decode("latin-1")


def _delimited(table_text: str, sep: str | None, name: str) -> "pd.DataFrame":
    import pandas as pd

    separator = _separator_of(table_text) if sep is None else sep

    def read(**options: Any) -> "pd.DataFrame":
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                io.StringIO(table_text),
                sep=separator,
                index_col=False,
                low_memory=False,
                **options,
            )

    try:
        table = read()
        if separator == ";" and _has_decimal_commas(table):
            table = read(decimal=",")
        places = [place for place, (_, column) in enumerate(table.items()) if _may_lose(column)]
        texts = read(usecols=places, dtype=str, keep_default_na=False) if places else table[[]]
        table.attrs[MISSING_WORDS] = {
            name: text_column[table[name].isna()].unique().tolist()
            for name, text_column in texts.items()
        }
        return table
    except pd.errors.ParserWarning:
        raise ValueError(f"{name} has rows with more values than its header has names") from None
    except ValueError as error:  # errors of pandas do not name the file
        raise ValueError(f"{name}: {error}") from None


def _may_lose(column: "pd.Series[Any]") -> bool:
    """Whether texts of a column may be words that count as missing values."""
    is_missing = column.isna()
    return bool(is_missing.any() and (column.dtype.kind not in "iufb" or is_missing.all()))


def _separator_of(table_text: str) -> str:
    """The separator that occurs most often in the header outside quotes."""
    header = next((line for line in table_text.splitlines() if line.strip()), "")
    outside = "".join(header.split('"')[::2])
    return max(SEPARATORS, key=outside.count)


def _has_decimal_commas(table: "pd.DataFrame") -> bool:
    texts = (column.dropna() for _, column in table.select_dtypes(exclude="number").items())
    return any(
        len(text_column) > 0
        and text_column.astype(str).str.fullmatch(DECIMAL_COMMA).all()
        and text_column.astype(str).str.contains(",").any()
        for text_column in texts
    )
