"""What a workbench hands to the browser as a file."""

import re

from lab.errors import ArgumentError, listing
from visual.page import to_page
from visual.pictures import Picture

FORMATS = ("svg", "pdf", "png", "html")
SCALE = 2.0
LONGEST = 80  # letters of a file's name


def file_of(picture: Picture, title: str, suffix: str) -> tuple[str, bytes]:
    """The name, made of a title, and the content of a picture as a file."""
    if suffix not in FORMATS:
        raise ArgumentError(f"save = {suffix!r:.20}: the formats are {listing(FORMATS)}.")
    if suffix == "pdf":
        content = picture.pdf()
    elif suffix == "png":
        content = picture.png(SCALE)
    else:
        content = (picture.svg() if suffix == "svg" else to_page(picture)).encode()
    name = "-".join(re.findall(r"\w+", title))[:LONGEST] or "picture"
    return f"{name}.{suffix}", content
