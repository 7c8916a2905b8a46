"""Bytes of texts in any encoding to UTF-8, block by block."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from softmodes._sources.raw import Bytes

_BLOCK = 1 << 20
_ENOUGH = 8  # letters of another script
_SAMPLE = 1 << 15  # bytes of lines beyond ASCII that an encoding is guessed by

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # begins as the mark of UTF-16 does
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\r\f\x1b"))
_BEYOND_ASCII = re.compile(rb"[^\r\n]*[\x80-\xff][^\r\n]*[\r\n]*")
_LETTERS = [bytes([letter]) for letter in b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"]
# What stands between two letters of a word and is neither ASCII, a small letter nor a mark that
# joins words.
_SMALL = "ß-öø-ÿāăąćčďđēěęģīķĺľłńňņōőœŕřśšşţťūůűųźžżșț"
_JOINS = "\u2018\u2019\u2013\u2014\u2026\xa0\xad\xb7"
_INSIDE_WORDS = re.compile(rf"(?<=[^\W\d_])[^\x00-\x7f{_SMALL}{_JOINS}](?=[a-z{_SMALL}])")
_LATIN = ("cp1252", "cp1250", "mac_roman", "cp850")
# Those that tables come in; a guess among all that exist is right less often.
_OTHER_SCRIPTS = [
    *("cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "koi8_r", "cp866"),
    *("cp932", "euc_jp", "gb18030", "big5", "euc_kr", "cp1250", "cp1252"),
]


class Utf8Blocks:
    """The blocks of a file as UTF-8, in order.

    Without a mark and unless told, a file is UTF-8 for as long as its bytes are. Up to the first
    byte beyond ASCII most encodings agree: only there another one is guessed.

    Attributes
    ----------
    encoding
        What was found so far.
    """

    def __init__(self, raw: Bytes, encoding: str | None, label: str) -> None:
        self._raw, self._label = raw, label
        self._asked = encoding is not None
        self._first = raw.read(_BLOCK)
        codec, n_skipped = _codec_of(self._first, encoding)
        self._first = self._first[n_skipped:]
        if codec == "utf-8" and not self._asked:
            _refuse_binary(self._first, label)
        self.encoding = encoding or _without_order(codec)
        plain = codecs.lookup(codec).name == "utf-8"
        self._decoder = None if plain else codecs.getincrementaldecoder(codec)()
        self._rest = b""  # bytes of a character that goes on in the next block
        self._ascii = True  # all so far
        self._lines = 1

    def __iter__(self) -> Iterator[bytes]:
        block = self._first
        while block:
            yield self._as_utf8(block, final=False)
            self._lines += block.count(b"\n")
            block = self._raw.read(_BLOCK)
        yield self._as_utf8(b"", final=True)

    def _as_utf8(self, block: bytes, final: bool) -> bytes:
        if self._decoder is not None:
            return self._decoded(block, final)
        if not self._rest and block.isascii():
            return block
        block = self._rest + block
        try:
            _, n_whole = codecs.utf_8_decode(block, "strict", final)
        except UnicodeDecodeError as error:
            if self._asked or not (self._ascii and block[: error.start].isascii()):
                raise self._mixed(error) from None
            self.encoding, self._rest = guess(block), b""
            self._decoder = codecs.getincrementaldecoder(self.encoding)()
            return self._decoded(block, final)
        self._ascii = False
        self._rest = block[n_whole:]
        return block[:n_whole]

    def _decoded(self, block: bytes, final: bool) -> bytes:
        assert self._decoder is not None
        try:
            return self._decoder.decode(block, final).encode("utf-8")
        except UnicodeDecodeError as error:
            raise self._mixed(error) from None

    def _mixed(self, error: UnicodeDecodeError) -> ValueError:
        line = self._lines + bytes(error.object[: error.start]).count(b"\n")
        found = bytes(error.object[error.start : error.start + 1])
        why = "was asked for" if self._asked else "all lines before it are"
        return ValueError(
            f"{self._label}, line {line:,}: the byte 0x{found.hex()} is not {self.encoding}, which "
            f'{why}. Save the file in one encoding, or pass it, such as encoding="cp1252".'
        )


def guess(sample: bytes) -> str:
    r"""Return the likely encoding of bytes that are not UTF-8.

    Examples
    --------
    >>> guess("Stadt\nMünchen\nKöln\n".encode("latin-1"))
    'cp1252'
    """
    foreign = _beyond_ascii(sample)
    latin = min(_LATIN, key=lambda name: _misplaced(foreign, name))  # of equal ones the first
    letters = sum(map(foreign.count, _LETTERS))
    n_high = sum(byte > 127 for byte in foreign)
    is_latin = n_high < max(letters, _ENOUGH)
    return latin if is_latin else _of_other_scripts(foreign) or latin


def _beyond_ascii(sample: bytes) -> bytes:
    """Return lines with bytes beyond ASCII, which alone tell something."""
    lines, size = [], 0
    for found in _BEYOND_ASCII.finditer(sample):
        lines.append(found[0])
        size += len(found[0])
        if size > _SAMPLE:
            break
    return b"".join(lines)[: 2 * _SAMPLE]


def _misplaced(foreign: bytes, encoding: str) -> int:
    """Count signs inside of words, capitals too, that an encoding would read there."""
    return len(_INSIDE_WORDS.findall(foreign.decode(encoding, "replace")))


def _of_other_scripts(foreign: bytes) -> str | None:
    """Return what charset-normalizer reads, where it is there and reads something."""
    try:
        from charset_normalizer import from_bytes
    except ImportError:
        return None
    best = from_bytes(foreign, cp_isolation=_OTHER_SCRIPTS).best()
    return None if best is None else str(best.encoding)


def _codec_of(first: bytes, asked: str | None) -> tuple[str, int]:
    """Return the codec of a file that begins so, and the length of its mark."""
    marks = ((name, len(mark)) for mark, name in _MARKS if first.startswith(mark))
    found, n_skipped = next(marks, (_without_mark(first) or "utf-8", 0))
    if asked is None:
        return found, n_skipped
    codec = codecs.lookup(asked).name
    if codec in (found, _without_order(found)) or codec == f"{found}-sig":
        return found, n_skipped
    # Without a mark these are written by most programs in this order.
    return f"{codec}-le" if codec in ("utf-16", "utf-32") else codec, 0


def _without_order(codec: str) -> str:
    """Return the name of UTF-16 and UTF-32 without the order of bytes."""
    return codec.removesuffix("-le").removesuffix("-be")


def _without_mark(first: bytes) -> str | None:
    """Return UTF-16 where every other byte is mostly zero, as in texts with Western letters."""
    first = first[: len(first) // 2 * 2]
    even, odd = first[::2].count(0), first[1::2].count(0)
    enough = len(first) // 2 * 0.4
    if odd > enough and not even:
        return "utf-16-le"
    return "utf-16-be" if even > enough and not odd else None


def _refuse_binary(first: bytes, label: str) -> None:
    if len(first) - len(first.translate(None, _CONTROLS)) > len(first) * 0.02:
        raise ValueError(
            f"{label} holds no text: it looks like an image, a program, or other binary data. Pass "
            "a table: CSV, Parquet, Arrow, Excel (.xlsx) or SPSS (.sav)."
        )
