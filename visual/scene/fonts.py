"""The widths of texts in the fonts of all pictures, DejaVu Sans and DejaVu Sans Mono.

PDF and PNG contain these fonts. An SVG also names narrower fonts, for computers without DejaVu. The
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
    known = advances(bold, mono=True) if mono else {}
    units = sum(known.get(letter) or widths.get(letter, UNKNOWN) for letter in content)
    return units * size / EM


@cache
def advances(bold: bool = False, mono: bool = False) -> dict[str, int]:
    """Return the advance width of each character of a font, in units per em.

    The widths are in the tables `cmap` and `hmtx` of the font file. For format 12 of `cmap`, see
    https://learn.microsoft.com/typography/opentype/spec/cmap.
    """
    name = f"DejaVuSans{'Mono' if mono else ''}{'-Bold' if bold else ''}.ttf"
    data = (folder() / name).read_bytes()

    def integers(offset: int, count: int, form: str = ">u4") -> list[int]:
        return np.frombuffer(data, form, count, offset).tolist()

    entries = range(12, 12 + 16 * integers(4, 1, ">u2")[0], 16)
    tables = {data[entry : entry + 4]: integers(entry + 8, 1)[0] for entry in entries}
    (count,) = integers(tables[b"hhea"] + 34, 1, ">u2")
    widths = integers(tables[b"hmtx"], 2 * count, ">u2")[::2]
    cmap = tables[b"cmap"]
    offsets = integers(cmap + 4, 2 * integers(cmap + 2, 1, ">u2")[0])[1::2]
    start = next(cmap + at for at in offsets if integers(cmap + at, 1, ">u2") == [12])
    ranges = np.reshape(integers(start + 16, 3 * integers(start + 12, 1)[0]), (-1, 3)).tolist()
    return {
        chr(code): widths[min(glyph + code - first, count - 1)]
        for first, last, glyph in ranges
        for code in range(first, last + 1)
    }
