"""The widths of texts in the fonts of all pictures, DejaVu Sans and DejaVu Sans Mono.

PDF and PNG contain these fonts. An SVG also names narrower fonts, for computers without DejaVu. The
font files are part of matplotlib, but this module does not import matplotlib.
"""

from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from fontTools.ttLib import TTFont

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
    return sum(known.get(letter) or widths.get(letter, UNKNOWN) for letter in content) * size / EM


@cache
def advances(bold: bool = False, mono: bool = False) -> dict[str, int]:
    """Return the advance width of each character of a font, in units per em."""
    name = f"DejaVuSans{'Mono' if mono else ''}{'-Bold' if bold else ''}.ttf"
    with TTFont(folder() / name) as font:
        widths = font["hmtx"].metrics
        return {chr(code): widths[glyph][0] for code, glyph in font.getBestCmap().items()}
