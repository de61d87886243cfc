"""The widths of texts in the fonts of all pictures, DejaVu Sans and DejaVu Sans Mono.

PDF and PNG contain these fonts; an SVG also names narrower fonts, for computers without DejaVu. The
font files are part of matplotlib, but this module does not import matplotlib.
"""

from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np

SANS = "'DejaVu Sans',Arial,sans-serif"
MONO = "'DejaVu Sans Mono',Menlo,Consolas,monospace"
EM = 2048  # units per em of DejaVu
MONO_WIDTH = 1233 / EM
UNKNOWN = EM  # the width of a character from another font, such as an ideograph


def folder() -> Path:
    """Return the folder of the font files."""
    (package,) = find_spec("matplotlib").submodule_search_locations  # type: ignore[union-attr,misc]
    return Path(package) / "mpl-data" / "fonts" / "ttf"


@lru_cache(maxsize=8192)  # pictures measure the same texts repeatedly
def text_width(content: str, size: float, mono: bool = False, bold: bool = False) -> float:
    """Return the width of `content` in pixels, without kerning, in a font of `size` pixels."""
    widths = advances(bold)
    if mono:
        known = advances(bold, mono=True)
        units = sum(known.get(letter) or widths.get(letter, UNKNOWN) for letter in content)
    else:
        units = sum(widths.get(letter, UNKNOWN) for letter in content)
    return units * size / EM


@cache
def advances(bold: bool = False, mono: bool = False) -> dict[str, int]:
    """Return the advance width of each character of a font, in units per em.

    The widths are in the tables `cmap` and `hmtx` of the font file. For format 4 of `cmap`, see
    https://learn.microsoft.com/typography/opentype/spec/cmap.
    """
    name = f"DejaVuSans{'Mono' if mono else ''}{'-Bold' if bold else ''}.ttf"
    data = (folder() / name).read_bytes()

    def words(offset: int, count: int = 1, form: str = ">u2") -> list[int]:
        return np.frombuffer(data, form, count, offset).tolist()

    entries = range(12, 12 + 16 * words(4)[0], 16)
    tables = {data[entry : entry + 4]: words(entry + 8, form=">u4")[0] for entry in entries}
    (count,) = words(tables[b"hhea"] + 34)
    widths = words(tables[b"hmtx"], 2 * count)[::2]
    cmap = tables[b"cmap"]
    starts = [cmap + words(cmap + 8 + 8 * n, form=">u4")[0] for n in range(words(cmap + 2)[0])]
    start = next(start for start in starts if words(start) == [4])
    segments = words(start + 6)[0] // 2
    arrays = [start + 14 + skip + 2 * segments * n for n, skip in enumerate((0, 2, 2, 2))]
    advance_of = {}
    for n, (last, first, delta, offset) in enumerate(
        zip(*(words(array, segments) for array in arrays), strict=True)
    ):
        codes = range(first, last + 1)
        glyphs = words(arrays[3] + 2 * n + offset, len(codes)) if offset else codes
        for code, glyph in zip(codes, glyphs, strict=True):
            number = (glyph + delta) % 65536
            if number and code < 0xFFFF:
                advance_of[chr(code)] = widths[min(number, count - 1)]
    return advance_of
