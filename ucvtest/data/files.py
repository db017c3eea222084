"""Tables in files: delimited text in any of the usual forms, JSON, Excel, parquet, feather."""

import bz2
import csv
import gzip
import io
import json
import lzma
import re
import sys
import unicodedata
import warnings
import zipfile
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ucvtest.common.exceptions import warn_caller
from ucvtest.common.words import arg

if TYPE_CHECKING:
    import pandas as pd

STDIN = "-"
"""Stands for the standard input instead of a path."""

MISSING_WORDS = "missing_words"
"""Key in `attrs` of a table from delimited text: what stands for missing values, by column."""

SHEETS = "sheets"
"""Key in `attrs` of a table from an Excel file: the names of all sheets."""

SEPARATORS = (",", ";", "\t", "|")

WHITESPACE = r"\s+"
"""The separator of columns that are aligned by spaces."""

MOST_ABOVE = 30
"""Rows among which the header is looked for."""

SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\r?\n', re.IGNORECASE)
"""The first line of text files that Excel writes for itself."""

COMPRESSED = {b"\x1f\x8b": gzip, b"BZh": bz2, b"\xfd7zXZ": lzma}
"""Modules that unpack files with these first bytes."""

DECIMAL_COMMA = r"\s*[-+]?\d+(,\d+)?([eE][-+]?\d+)?\s*"

NO_THOUSANDS = r"\s*[-+]?(0,\d+|\d+,(\d{1,2}|\d{4,}))([eE]|\s|$)"
"""A number that only a decimal comma explains: 1,234 may be one thousand."""

PERCENT_SIGN = r"(?<=\d)\s*%\s*$"


def read_table(
    source: str | Path,
    sep: str | None = None,
    *,
    sheet: str | None = None,
    columns: Iterable[str] = (),
) -> "pd.DataFrame":
    """The table in a file, or in the standard input for "-".

    Accepted are delimited text with a header, JSON lines or an array of records, Excel, parquet and
    feather. Text may be compressed (gz, bz2, xz) and is in UTF-8, UTF-16 or Latin-1. Its separator
    is found in the header. Numbers may have decimal commas, and percentages are read as shares.
    Empty fields and words such as NA, None and null are missing values, as in pandas. Names of
    columns are normalised (NFC), without blanks around them; a name that comes twice does so in the
    table.

    Parameters
    ----------
    source : str or Path
    sep : str, optional
        One character, or `WHITESPACE`.
    sheet : str, optional
        The sheet of an Excel file, by default the first. In JSON, the key of an array of records.
    columns : iterable of str
        Names in the header, which is the first row that has all of them; by default the first row.

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
    needed = {as_name(column) for column in columns}
    if file_bytes.startswith(b"PAR1"):
        table = _parquet(file_bytes, name)
    elif file_bytes.startswith((b"ARROW1", b"FEA1")):
        table = _feather(file_bytes, name)
    elif file_bytes.startswith(b"PK\x03\x04"):
        table = _spreadsheet(file_bytes, name, sheet, needed)
    else:
        text = unicodedata.normalize("NFC", _decoded(file_bytes, name))
        is_json = text.lstrip()[:1] in ("{", "[")
        table = _records(text, name, sheet) if is_json else _delimited(text, sep, name, needed)
    if not len(table):
        raise ValueError(f"{name} has a header and no rows")
    table.columns = [as_name(column) for column in table.columns]
    return table


def as_name(column: Any) -> Any:
    """The name of a column as it is looked up; accents may be written in two ways."""
    return unicodedata.normalize("NFC", column).strip() if isinstance(column, str) else column


def without_row_numbers(table: "pd.DataFrame") -> "pd.DataFrame":
    """The table without a nameless column of row numbers, as pandas writes to CSV.

    Raises
    ------
    ValueError
        If a nameless column contains anything else, or a column contains no single values.
    """
    nameless = [name for name in table.columns if str(name).startswith("Unnamed: ")]
    for name in nameless:
        if table[name].tolist() != list(range(len(table))):
            raise ValueError(
                f"a column has no name ({name!r}): name it, or drop it; a table on another sheet, "
                "or below other rows, is read by pandas (sheet_name=, skiprows=)"
            )
    refuse_nested(table)
    return table.drop(columns=nameless)


def refuse_nested(table: "pd.DataFrame", columns: Iterable[Any] | None = None) -> None:
    """Refuse columns with arrays or objects; by default all are looked at."""
    for name, column in table.items():
        if column.dtype != object or (columns is not None and name not in columns):
            continue
        if any(isinstance(value, (list, dict, np.ndarray)) for value in column):
            raise ValueError(
                f"{name!r:.60} contains arrays or objects, but a row has one value in each column: "
                "write one record for each observation"
            )


def _parquet(file_bytes: bytes, name: str) -> "pd.DataFrame":
    import pandas as pd

    if find_spec("pyarrow") is None and find_spec("fastparquet") is None:
        raise ImportError(f"{name} is a parquet file, which needs pyarrow: pip install pyarrow")
    try:
        table = pd.read_parquet(io.BytesIO(file_bytes))
    except Exception as error:  # each library raises its own errors
        raise ValueError(f"{name} is a damaged parquet file: {error}") from None
    for place, (_, column) in enumerate(table.items()):
        # Decimals of databases are numbers here.
        if column.dtype == object and pd.api.types.infer_dtype(column, skipna=True) == "decimal":
            table.isetitem(place, pd.to_numeric(column).to_numpy())
    return table


def _feather(file_bytes: bytes, name: str) -> "pd.DataFrame":
    import pandas as pd

    if find_spec("pyarrow") is None:
        raise ImportError(f"{name} is a feather file, which needs pyarrow: pip install pyarrow")
    try:
        return pd.read_feather(io.BytesIO(file_bytes))
    except Exception as error:  # the library raises its own errors
        raise ValueError(f"{name} is a damaged feather file: {error}") from None


def _spreadsheet(
    file_bytes: bytes, name: str, sheet: str | None, needed: set[str]
) -> "pd.DataFrame":
    """A sheet of an Excel file, which is an archive of certain members."""
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
        book = pd.ExcelFile(io.BytesIO(file_bytes), engine="openpyxl")
        sheets = [str(title) for title in book.sheet_names]
        chosen = sheets[0] if sheet is None else sheet
        if chosen in sheets:
            top = pd.read_excel(book, chosen, header=None, nrows=MOST_ABOVE, dtype=object)
            rows = top.where(top.notna(), "").to_numpy().tolist()
            above = _rows_above(rows, needed)
            table = pd.read_excel(book, chosen, skiprows=above)
    except Exception as error:  # the library raises its own errors
        raise ValueError(f"{name} is a damaged Excel file: {error}") from None
    if chosen not in sheets:
        raise ValueError(f"{arg('sheet', sheet)} is not in {name}, which has {', '.join(sheets)}")
    table = _with_names_twice(table, rows[above] if rows else [])
    table.attrs[SHEETS] = sheets
    return table


def _rows_above(rows: Sequence[Sequence[Any]], needed: set[str]) -> int:
    """How many rows there are above the header, which has all names that are needed."""
    for number, row in enumerate(rows):
        if needed and needed <= {as_name(cell) for cell in row}:
            return number
    return 0


def _with_names_twice(table: "pd.DataFrame", header: Sequence[Any]) -> "pd.DataFrame":
    """The table with the names of its header, where pandas has numbered repeated names."""
    names = [as_name(cell) for cell in header]
    if len(names) == table.shape[1]:
        table.columns = [
            name if name != "" and names.count(name) > 1 else column
            for name, column in zip(names, table.columns, strict=True)
        ]
    return table


def _records(text: str, name: str, sheet: str | None) -> "pd.DataFrame":
    """JSON lines, an array of records, or an object with such an array."""
    import pandas as pd

    twice: list[str] = []

    def flat(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        """An object, whose objects become columns such as "provider.id"."""
        record: dict[str, Any] = {}
        for key, value in pairs:
            inner = {f"{key}.{k}": x for k, x in value.items()} if isinstance(value, dict) else {}
            for column, cell in (inner or {key: value}).items():
                if as_name(column) in record:
                    twice.append(column)
                record[as_name(column)] = cell
        return record

    try:
        try:
            whole = json.loads(text, object_pairs_hook=flat)
        except json.JSONDecodeError:
            if text.lstrip().startswith("["):
                raise
            lines = filter(str.strip, text.splitlines())
            whole = [json.loads(line, object_pairs_hook=flat) for line in lines]
    except ValueError as error:
        raise ValueError(
            f"{name} looks like JSON but contains neither lines of records nor an array of them: "
            f"{error}"
        ) from None
    if twice:
        raise ValueError(f"{name} has {twice[0]!r:.60} twice in one object: rename one")
    rows = whole if isinstance(whole, list) else _array_of(whole, name, sheet)
    if not all(isinstance(row, dict) for row in rows):
        raise ValueError(
            f"{name} is JSON without records: write one object for each row, "
            '{"column": value, ...}'
        )
    return pd.DataFrame(rows)


def _array_of(whole: dict[str, Any], name: str, sheet: str | None) -> list[dict[str, Any]]:
    """The array of records in an object; without an array the object itself is a row."""
    import pandas as pd

    arrays = {
        key: value
        for key, value in whole.items()
        if isinstance(value, list) and value and all(isinstance(row, dict) for row in value)
    }
    if not arrays and sheet is None:
        refuse_nested(pd.DataFrame([whole]))
        return [whole]
    if sheet is None and len(arrays) == 1:
        return next(iter(arrays.values()))
    if sheet not in arrays:
        listed = ", ".join(arrays) or "none"
        raise ValueError(
            f"{name} has several arrays of records ({listed}): name one by --sheet in the shell, "
            "or pass a DataFrame of it"
            if sheet is None
            else f"{arg('sheet', sheet)} is not an array of records in {name}, which has {listed}"
        )
    return arrays[sheet]


def _decoded(file_bytes: bytes, name: str) -> str:
    if file_bytes.startswith((b"\xff\xfe", b"\xfe\xff")):
        return file_bytes.decode("utf-16", errors="replace")
    if b"\0" in file_bytes:
        raise ValueError(f"{name} is neither a text file nor a parquet file: save the table as CSV")
    try:
        return file_bytes.decode("utf-8-sig")
    except UnicodeDecodeError:
        return file_bytes.decode("latin-1")


def _delimited(table_text: str, sep: str | None, name: str, needed: set[str]) -> "pd.DataFrame":
    import pandas as pd

    hint = SEPARATOR_LINE.match(table_text)
    if hint:
        sep, table_text = sep or hint[1], table_text[hint.end() :]
    top = list(islice(io.StringIO(table_text), MOST_ABOVE))
    rows = [_cells(line, sep or _separator_of(line)) for line in top]
    above = _rows_above(rows, needed)
    table_text = table_text[sum(map(len, top[:above])) :]
    separator = _separator_of(table_text) if sep is None else sep
    table_text = _without_blank_end(table_text, separator, name)

    def read(**options: Any) -> "pd.DataFrame":
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)
            return pd.read_csv(
                io.StringIO(table_text), sep=separator, index_col=False, low_memory=False, **options
            )

    try:
        table = read()
        if any(_have_decimal_commas(texts, separator) for texts in _texts(table).values()):
            with_commas = read(decimal=",")
            if not set(_texts(with_commas)) - set(_texts(table)):
                table = with_commas
        places = []
        for place, (_, column) in enumerate(table.items()):
            is_missing = column.isna()
            # Texts of other columns may be words that count as missing values.
            is_number = column.dtype.kind in "iufb" and not is_missing.all()
            if is_missing.any() and not is_number:
                places.append(place)
        texts = read(usecols=places, dtype=str, keep_default_na=False) if places else table[[]]
        table.attrs[MISSING_WORDS] = {
            as_name(column): text_column[table[column].isna()].unique().tolist()
            for column, text_column in texts.items()
        }
        header = next((row for row in rows[above:] if any(row)), [])
        return _with_names_twice(_with_shares(table, separator, name), header)
    except pd.errors.ParserWarning:
        raise ValueError(
            f"{name} has rows with more values than its header has names; if there are lines above "
            "the header, remove them"
        ) from None
    except ValueError as error:  # errors of pandas do not name the file
        raise ValueError(f"{name}: {error}") from None


def _separator_of(table_text: str) -> str:
    """The separator that occurs most often in the header outside quotes."""
    header = next((line for line in table_text.splitlines() if line.strip()), "")
    outside = "".join(header.split('"')[::2])
    return max(SEPARATORS, key=outside.count)


def _cells(line: str, separator: str) -> list[str]:
    """The fields of a line; none of one that has no fields, such as the middle of a long text."""
    if separator == WHITESPACE:
        return line.split()
    try:
        return next(csv.reader([line], delimiter=separator), [])
    except csv.Error:
        return []


def _without_blank_end(table_text: str, separator: str, name: str) -> str:
    """Text without rows of empty fields at its end, which spreadsheets write."""
    n_filled = len(table_text.rstrip(f"{separator} \t\r\n"))
    last, *blank = table_text[n_filled:].splitlines(keepends=True) or [""]
    n_blank = sum(separator in line for line in blank)
    if not n_blank or separator == WHITESPACE:
        return table_text
    warn_caller(f"{name}: {n_blank} blank rows at the end are left out")
    return table_text[:n_filled] + last


def _have_decimal_commas(texts: "pd.Series[Any]", separator: str) -> bool:
    """Whether texts are numbers with decimal commas; 1,234 may be 1234 but for semicolons."""
    pattern = ".*," if separator == ";" else NO_THOUSANDS
    return bool(texts.str.fullmatch(DECIMAL_COMMA).all() and texts.str.match(pattern).any())


def _with_shares(table: "pd.DataFrame", separator: str, name: str) -> "pd.DataFrame":
    """The table with percentages as shares."""
    import pandas as pd

    shares = {}
    for place, texts in _texts(table).items():
        if texts.str.contains(PERCENT_SIGN).all():
            numbers = texts.str.replace(PERCENT_SIGN, "", regex=True)
            if _have_decimal_commas(numbers, separator):
                numbers = numbers.str.replace(",", ".")
            numbers = pd.to_numeric(numbers, errors="coerce")
            if numbers.notna().all():
                shares[place] = numbers.reindex(table.index) / 100
    if shares:
        listed = ", ".join(str(table.columns[place]) for place in shares)
        warn_caller(f"{name}: percentages in {listed} are read as shares, 12.5% as 0.125")
    for place, column in shares.items():
        table.isetitem(place, column.to_numpy())
    return table


def _texts(table: "pd.DataFrame") -> "dict[int, pd.Series[Any]]":
    """The values of columns of texts, by their places."""
    columns = {
        place: column.dropna().astype(str)
        for place, (_, column) in enumerate(table.items())
        if column.dtype.kind not in "iufb"
    }
    return {place: texts for place, texts in columns.items() if len(texts)}
