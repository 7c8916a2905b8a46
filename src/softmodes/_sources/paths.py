"""Files by their paths: one, several, a folder, a pattern, or standard input."""

from __future__ import annotations

import glob
import os
import zipfile
from collections.abc import Callable, Sequence
from typing import Any

from softmodes._files import AnyPath, checked_source
from softmodes._sources.csv import CsvSource
from softmodes._sources.raw import STDIN, ZIP, first_bytes
from softmodes._sources.reading import Reading
from softmodes._sources.source import Source
from softmodes._text import short_repr

Opener = Callable[[str, Reading], Source]


def open_path(
    path: AnyPath | Sequence[AnyPath],
    reading: Reading | None = None,
    *,
    name: str = "path",
    **options: Any,
) -> Source:
    r"""Open files for reading in order; their first lines are looked at.

    Parameters
    ----------
    path : str, os.PathLike or a sequence of them
        A file, a folder, a pattern such as "waves/*.csv", or "-" for standard input. The files of
        a folder or a pattern are read in the order of their names.
    reading : Reading or None, default=None
        How to read.
    name : str, default="path"
        What errors call the path: the parameter that it came from.
    **options
        The parameters of `Reading`, where no `reading` is given.

    Returns
    -------
    Source
        The rows of all files, one after the other.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from softmodes._sources.whole import read_whole
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("city;n\nBern;1\nUlm;NA\n")
    >>> source = open_path(path)
    >>> read_whole(source).to_pydict()
    {'city': ['Bern', 'Ulm'], 'n': [1, None]}
    >>> source.told
    ('2 rows, 2 columns. semicolon, utf-8. "NA" read as missing (1 cell).',)
    """
    reading = Reading(**options) if reading is None else reading
    paths, left_out = _expanded(path, name)
    sources = [_opener(one)(one, reading) for one in paths]
    if len(sources) == 1 and not left_out:
        return sources[0]
    from softmodes._sources.several import several

    return several(paths, sources, reading, left_out)


# --- which files ---------------------------------------------------------------------------------


def files_of(path: AnyPath | Sequence[AnyPath]) -> list[str]:
    """Return the files that a path, a folder, a pattern or a list of them means."""
    return _expanded(path, "path")[0]


def _expanded(path: AnyPath | Sequence[AnyPath], name: str) -> tuple[list[str], list[str]]:
    """Return the files that are meant, and those of a folder that are not."""
    if not isinstance(path, list | tuple):
        return _files_of(path, name)
    if not path:
        raise ValueError(f"{name}={short_repr(path)} has no file. Pass the path of at least one.")
    found = [_files_of(one, name) for one in path]
    return [file for files, _ in found for file in files], [
        out for _, more in found for out in more
    ]


def _files_of(path: Any, name: str) -> tuple[list[str], list[str]]:
    given = os.fspath(path) if isinstance(path, str | os.PathLike) else path
    if given == STDIN:
        return [STDIN], []
    if isinstance(given, str) and given and "\0" not in given:
        if os.path.isdir(given):
            return _in_folder(given, name)
        if glob.has_magic(given) and not os.path.exists(given):
            return _matching(given, name), []
    return [checked_source(path, name)], []


def _matching(pattern: str, name: str) -> list[str]:
    files = sorted(file for file in glob.glob(pattern, recursive=True) if not os.path.isdir(file))
    if not files:
        raise FileNotFoundError(
            f"{name}={short_repr(pattern)} matches no file. Pass a pattern that does, in quotes; "
            f"paths start from {os.getcwd()!r}."
        )
    return files


def _in_folder(folder: str, name: str) -> tuple[list[str], list[str]]:
    """Return the tables in a folder, and other files there; hidden ones are neither."""
    with os.scandir(folder) as entries:
        found = sorted((one.name, one.is_dir()) for one in entries)
    _refuse_parts(folder, [file for file, is_folder in found if is_folder], name)
    visible = [file for file, is_folder in found if file[0] not in "._" and not is_folder]
    files = [file for file in visible if _ending(file) in _FOUND_IN_FOLDERS]
    if not files:
        raise FileNotFoundError(
            f"{name}={short_repr(folder)} is a folder without tables. Pass the path of a file, or "
            f"a folder of files that end with {_ENDINGS}."
        )
    return [os.path.join(folder, file) for file in files], [f for f in visible if f not in files]


def _refuse_parts(folder: str, inner: list[str], name: str) -> None:
    """Refuse a folder whose files alone are not the table."""
    shown = short_repr(folder)
    for one in inner:
        if one == "_delta_log":
            raise ValueError(
                f"{name}={shown} is a table of Delta Lake, whose files hold rows that were deleted "
                "or replaced. Pass deltalake.DeltaTable(...).to_pyarrow_dataset(), or a DataFrame "
                "of Spark."
            )
        if "=" in one:
            raise ValueError(
                f"{name}={shown} is cut into folders by a column: {one!r}. Pass "
                f"pyarrow.dataset.dataset({shown}, partitioning='hive'), which has that column; or "
                f"{os.path.join(folder, '**', '*.parquet')!r} without it."
            )


# --- what kind of file ---------------------------------------------------------------------------


def _open_arrow(path: str, reading: Reading) -> Source:
    from softmodes._sources.arrow_file import ArrowFile

    return ArrowFile(path)


def _open_excel(path: str, reading: Reading) -> Source:
    from softmodes._sources.excel import ExcelSource

    return ExcelSource(path, reading)


def _open_statistics(path: str, reading: Reading) -> Source:
    from softmodes._sources.spss import LabelledSource

    return LabelledSource(path, reading)


_PACKINGS = (".gz", ".bz2", ".xz", ".zst", ".lz4", ".zip")
_TEXTS = (".csv", ".tsv", ".tab", ".psv")
_NAMED_TEXTS = (".txt", ".dat", ".data", ".asc", "")  # in a folder they may be anything
_BY_ENDING: dict[str, Opener] = {
    **dict.fromkeys((*_TEXTS, *_NAMED_TEXTS), CsvSource),
    **dict.fromkeys((".parquet", ".pq", ".arrow", ".feather", ".ipc"), _open_arrow),
    **dict.fromkeys((".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"), _open_excel),
    **dict.fromkeys((".sav", ".zsav", ".por", ".dta", ".sas7bdat"), _open_statistics),
}
_FOUND_IN_FOLDERS = frozenset(_BY_ENDING).difference(_NAMED_TEXTS)
_ENDINGS = ".csv, .tsv, .txt (.gz), .parquet, .arrow, .xlsx, .sav or .dta"
# What a file is by its first bytes, whatever its ending says.
_BY_CONTENT: dict[bytes, Opener] = {
    b"PAR1": _open_arrow,
    b"ARROW1": _open_arrow,
    b"\xd0\xcf\x11\xe0": _open_excel,
    b"$FL2": _open_statistics,
    b"$FL3": _open_statistics,
}


def _opener(path: str) -> Opener:
    if path == STDIN:
        return CsvSource
    start = first_bytes(path)
    for magic, opener in _BY_CONTENT.items():
        if start.startswith(magic):
            return opener
    if start.startswith(ZIP) and _is_workbook(path):
        return _open_excel
    ending = _ending(path)
    if ending not in _BY_ENDING:
        raise ValueError(
            f"{path} has an unknown ending, {ending!r}. Pass a file that ends with {_ENDINGS}."
        )
    return _BY_ENDING[ending]


def _ending(path: str) -> str:
    """Return the ending of a file's name in small letters, without that of its packing."""
    stem, ending = os.path.splitext(os.path.basename(path).lower())
    return os.path.splitext(stem)[1] if ending in _PACKINGS else ending


def _is_workbook(path: str) -> bool:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
    except (OSError, zipfile.BadZipFile):
        return False
    return any(name.startswith("xl/") or name == "content.xml" for name in names)
