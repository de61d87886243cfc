"""Pictures as files: the suffix names the format, and a file appears whole or not at all.

What a format looks like is a backend's affair, and every backend registers what it writes.
"""

import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from errno import EACCES, EINVAL
from html import escape
from numbers import Real
from pathlib import Path
from shutil import which
from stat import S_IMODE, S_ISREG
from typing import Any, Protocol

from lab.errors import ArgumentError, expect, listing, quoted, refused
from visual.scene.theme import Theme

MOVING = (".gif", ".webp", ".mp4")
SUFFIXES = (".svg", ".pdf", ".png", ".tex", *MOVING, ".html", ".txt", ".dot")
PACE, HOLD = 1000, 3000  # milliseconds that a moment is seen, and that the last one is
MOST_PIXELS, LONGEST_SIDE = 100_000_000, 65_000  # beyond, memory gives out
SMALLEST_SCALE = 0.1  # beneath, no letter is left
LARGEST = 1500  # a wider picture is never fitted to a page: its words would be too small


class Picture(Protocol):
    """What can be saved: a scene."""

    @property
    def width(self) -> float:
        """In CSS pixels."""

    @property
    def height(self) -> float:
        """In CSS pixels."""

    @property
    def zoom(self) -> float:
        """How many CSS pixels, 1/96 inch, one of `width` takes where it is printed."""

    @property
    def title(self) -> str:
        """What the picture shows, in a line."""

    @property
    def description(self) -> str:
        """The same for those who cannot see it."""

    @property
    def theme(self) -> Theme:
        """The colours."""

    @property
    def moments(self) -> Mapping[int, str]:
        """The moments through which it can be walked, and what they are called."""

    @property
    def dot(self) -> str:
        """The graph in Graphviz's language; empty if there is none."""

    def svg(self) -> str:
        """As an SVG document that stands alone."""

    def text(self) -> str:
        """As plain text."""

    def png(self, scale: float = 1.0) -> bytes:
        """As a PNG image."""


Writer = Callable[..., str | bytes]
_WRITERS: dict[str, Writer] = {}


def register(suffix: str, write: Writer) -> None:
    """Have `write` make the content of files with a suffix, from a scene; for .html, a picture.

    The scene does not know its backends: they tell here what they write.
    """
    _WRITERS[suffix] = write


def content(suffix: str, picture: Picture, *options: object) -> Any:
    """What stands in a file with this suffix, a text or bytes, as its backend writes it."""
    return _WRITERS[suffix](picture, *options)


def save(
    picture: Picture, path: str | os.PathLike[str], scale: float = 1.0, animate: bool = False
) -> Path:
    """Write `picture` to `path` in the format that the suffix names; see `Scene.save`."""
    path = as_path(path)
    check_path(path, expect("animate", animate, bool, "True or False"))
    suffix = path.suffix.lower()
    if (animate and not _can_move(picture)) or not can_be(picture, suffix):
        others = listing(s for s in SUFFIXES if can_be(picture, s))
        reason = "moving pictures are made of those that have steps to walk through."
        if suffix == ".dot":
            reason = (
                ".dot exists only for pictures laid out by Graphviz, the step graph and the "
                "genealogy."
            )
        raise refused("path", str(path), f"this picture can be {others}; {reason}")
    return write_whole(path, rendered(picture, suffix, scale, animate))


def can_be(picture: Picture, suffix: str) -> bool:
    """Whether there is such a file of a picture: not all have a graph, or steps."""
    if suffix == ".dot":
        return bool(picture.dot)
    return suffix not in MOVING or _can_move(picture)


def _can_move(picture: Picture) -> bool:
    return len(picture.moments) > 1


def rendered(
    picture: Picture, suffix: str, scale: float = 1.0, animate: bool = False
) -> str | bytes:
    """What stands in the file of a picture that has this suffix."""
    check_scale(scale)
    if suffix == ".dot":
        return picture.dot
    options: tuple[float, ...] = (animate,) if suffix == ".svg" else ()
    if suffix in (".png", *MOVING):
        check_scale(scale, picture.width * picture.zoom, picture.height * picture.zoom)
        options = (scale,)
    found = content(suffix, picture, *options)
    assert isinstance(found, str | bytes)
    return found


def summary(picture: Picture, parts: str) -> str:
    """A picture in a line: what it shows, its size, and what it consists of."""
    size = f"{picture.width:g} by {picture.height:g}"
    return f"{type(picture).__name__}({quoted(picture.title)}, {size}, {parts})"


def shown(picture: Picture) -> dict[str, str]:
    """What a notebook shows of a picture."""
    page, svg = framed(picture), picture.svg()
    if ' data-moments="' in svg[:2000]:  # a page can have a script that walks through them
        page = f'<div class="scantape" data-scantape data-whole>{page}</div>'
    return {"text/html": page, "image/svg+xml": svg, "text/plain": picture.text()}


def framed(picture: Picture) -> str:
    """A picture as HTML; a wide one scrolls instead of being cut off, and its tooltips show."""
    kind = f"{type(picture).__name__.lower()} {picture.theme.name}"
    size = " vast" if picture.width > LARGEST else ""
    return (
        f'<div class="picture {kind}{size}" role="group" tabindex="0" '
        f'aria-label="{escape(picture.title)}" style="overflow-x: auto">{picture.svg()}</div>'
    )


def as_path(path: str | os.PathLike[str]) -> Path:
    """`path` as a Path; ArgumentError if it is none."""
    if not isinstance(path, str | os.PathLike):
        raise refused("path", path, "expected the name of a file, such as 'tape.svg'.")
    return Path(path)


def as_report(path: str | os.PathLike[str], suffixes: Sequence[str], told: str) -> Path:
    """`path` as a Path; ArgumentError, by what is `told`, if its suffix is none of `suffixes`."""
    place = as_path(path)
    if place.suffix.lower() not in suffixes:
        raise refused("path", str(place), f"{told}.")
    _check_folder(place)
    return place


def _check_folder(path: Path) -> None:
    if not os.path.isdir(path.parent):  # which is false of what can be no name
        raise refused("path", str(path), f"there is no folder {quoted(str(path.parent))}.")


def check_path(path: Path, animate: bool = False) -> None:
    """Raise ArgumentError unless a picture can be written to `path`, and move if it is to."""
    if path.suffix.lower() not in SUFFIXES:
        raise refused(
            "path", str(path), f"the suffix tells the format and can be {listing(SUFFIXES)}."
        )
    if path.suffix.lower() == ".mp4" and which("ffmpeg") is None:
        raise ArgumentError(
            f"path = {quoted(str(path))}: .mp4 is made by ffmpeg, which is not installed; .gif, "
            ".webp and an .svg that is to animate need nothing."
        )
    if animate and path.suffix.lower() not in (".svg", *MOVING):
        raise ArgumentError(
            f"animate = True: {quoted(str(path))} cannot move; {listing(['.svg', *MOVING])} can."
        )
    _check_folder(path)


def check_scale(scale: float, width: float = 1.0, height: float = 1.0) -> None:
    """Raise ArgumentError unless an image of `width` by `height` can be drawn at `scale`."""
    if (
        not isinstance(scale, Real)
        or isinstance(scale, bool)
        or not abs(scale) <= sys.float_info.max
    ):
        raise refused("scale", scale, "expected a number, such as 2 for twice the size.")
    if scale < SMALLEST_SCALE:
        raise refused("scale", scale, f"expected a number of {SMALLEST_SCALE} or more.")
    across, down = math.ceil(width * scale), math.ceil(height * scale)
    if across * down > MOST_PIXELS or max(across, down) > LONGEST_SIDE:
        side = min(LONGEST_SIDE / max(width, height), math.sqrt(MOST_PIXELS / (width * height)))
        raise ArgumentError(
            f"scale = {quoted(scale)} would make {across:,} by {down:,} pixels; this picture can "
            "have a "
            f"scale of up to {math.floor(side * 100) / 100:g}, or any size as .svg or .pdf."
        )


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write `content` to a file beside `path` and move it there when it is complete.

    Of a link its target is written.  A file that is there keeps its permissions, and if they
    forbid to write it, it stays.
    """
    try:
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not (mode & 0o222 and os.access(target, os.W_OK)):
            raise OSError(EACCES, "it is read-only")
        if mode is not None and not S_ISREG(mode):
            raise OSError(EINVAL, "it is no plain file")
        part = target.with_name(f".{target.name[:99]}.{os.getpid()}.part")
        try:
            part.write_bytes(
                content.encode(errors="replace") if isinstance(content, str) else content
            )
            if mode is not None:
                part.chmod(S_IMODE(mode))
            part.replace(target)
        finally:
            part.unlink(missing_ok=True)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArgumentError(f"path = {quoted(str(path))} cannot be written: {reason}.") from error
    return path
