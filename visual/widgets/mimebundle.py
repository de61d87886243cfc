"""What a cell shows of a widget besides itself: a page with a script, images, and plain text.

JupyterLab shows the widget where its kernel is; a front end without one takes what it knows.
"""

import os
import sys
from base64 import b64encode
from contextlib import suppress

from visual.scene.shapes import Scene


def in_notebook() -> bool:
    """Whether the code that runs was sent to a kernel, whose pages can show widgets.

    SCANTAPE_STATIC=1 says that they cannot: what is shown will be read when the kernel has ended.
    """
    if "IPython" not in sys.modules or os.environ.get("SCANTAPE_STATIC") == "1":
        return False
    from IPython import get_ipython

    return hasattr(get_ipython(), "kernel")


def still(html: str, text: str, picture: Scene | None) -> dict[str, str]:
    """What is seen without a kernel; `html` brings its script, `picture` is for who shows none."""
    return {"text/html": html, **images(picture), "text/plain": text}


def images(picture: Scene | None) -> dict[str, str]:
    """A picture as nbconvert and viewers of notebooks take it: SVG, and PNG in base64."""
    if picture is None:
        return {}
    made = {"image/svg+xml": picture.svg()}
    with suppress(ImportError):  # Python in a browser has nothing that writes a PNG
        made["image/png"] = b64encode(picture.png()).decode()
    return made
