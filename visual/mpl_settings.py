"""How matplotlib is set up while it draws for us: by its own defaults and ours.

What a person has changed in matplotlib's settings stays untouched and changes no picture.
"""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib

GROUPS = (
    "agg. axes. figure. font. grid. hatch. image. legend. lines. markers. mathtext. patch. path. "
    "pdf. savefig. svg. text. xaxis. xtick. yaxis. ytick."
)
OURS: dict[str, Any] = {
    "font.family": ["DejaVu Sans"],
    "pdf.fonttype": 42,  # letters as TrueType, whole, to be selected and searched
    "svg.fonttype": "none",  # letters as letters
    "svg.hashsalt": "scantape",
    "text.hinting": "none",  # letters as wide as in SVG
    "text.parse_math": False,
}


@contextmanager
def settings() -> Iterator[None]:
    """Matplotlib's defaults and ours, for as long as something is drawn."""
    groups = tuple(GROUPS.split())
    defaults = {k: v for k, v in matplotlib.rcParamsDefault.items() if k.startswith(groups)}
    with warnings.catch_warnings():
        # Among the defaults are settings that a later matplotlib will no longer have.
        warnings.simplefilter("ignore", matplotlib.MatplotlibDeprecationWarning)
        # A letter that no font has is drawn as a box with its number, as in a browser.
        warnings.filterwarnings("ignore", message="Glyph", category=UserWarning)
        with matplotlib.rc_context(defaults | OURS):
            yield


def metadata(title: str, description: str) -> dict[str, str | None]:
    """What a PDF says about itself, the date excepted: the same picture gives the same bytes."""
    return {
        "Title": title,
        "Subject": description,
        "Creator": "Scantape",
        "CreationDate": None,
    }
