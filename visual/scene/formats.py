"""Write pictures as files: the suffix selects the format, and files are written atomically.

Each backend registers the function that writes its format.
"""

import math
import os
import sys
from collections.abc import Callable, Sequence
from errno import EACCES, EINVAL
from numbers import Real
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE, S_ISREG
from typing import Any

from lab.errors import ArgumentError, argument_error, listing, quote
from visual.retired import RETIRED_FORMATS, refuse_retired

MOVING = (".gif",)
SUFFIXES = (".svg", ".pdf", ".png", *MOVING, ".html", ".txt", ".dot")
PACE, HOLD = 800, 3000  # the milliseconds of a moment, and of the last moment
MOST_PIXELS, LONGEST_SIDE = 100_000_000, 65_000  # a larger image would need too much memory
MOST_SIDE = 1e12  # pixels; an error message reports no larger side
SMALLEST_SCALE = 0.1  # text is illegible at a smaller scale
# Flags for a new file: opening fails if the name exists, as a file or as a link.
NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL
NEW |= getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)  # on POSIX; on Windows


Writer = Callable[..., str | bytes]
_WRITERS: dict[str, Writer] = {}


def register(suffix: str, write: Writer) -> None:
    """Register `write`, which returns the content of a file with this suffix for a scene."""
    _WRITERS[suffix] = write


def content(suffix: str, picture: object, *options: object) -> Any:
    """Return the content of a file with this suffix, as its backend writes it."""
    return _WRITERS[suffix](picture, *options)


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return `path` as a Path; raise ArgumentError for a value of another type."""
    if not isinstance(path, str | os.PathLike):
        raise argument_error("path", path, "expected the name of a file, such as 'tape.svg'.")
    return Path(path)


def as_report(path: str | os.PathLike[str], suffixes: Sequence[str], reason: str) -> Path:
    """Return `path` as a Path; raise ArgumentError with this reason for other suffixes."""
    place = as_path(path)
    if place.suffix.lower() not in suffixes:
        raise argument_error("path", str(place), f"{reason}.")
    _check_folder(place)
    return place


def _check_folder(path: Path) -> None:
    if not os.path.isdir(path.parent):  # False also for invalid names
        raise argument_error("path", str(path), f"folder {quote(str(path.parent))} does not exist.")


def check_path(path: Path, animate: bool = False) -> None:
    """Raise ArgumentError if `path` cannot be a picture, or with `animate` cannot be a film."""
    suffix = path.suffix.lower()
    refuse_retired(suffix, RETIRED_FORMATS, "format {}")
    if suffix not in SUFFIXES:
        raise argument_error(
            "path", str(path), f"the suffix selects the format and can be {listing(SUFFIXES)}."
        )
    if animate and suffix not in (".svg", *MOVING):
        raise argument_error(
            "animate", animate, f"expected a .svg or .gif file, got {quote(str(path))}."
        )
    _check_folder(path)


def check_scale(scale: float, width: float = 1.0, height: float = 1.0) -> None:
    """Raise ArgumentError unless an image of `width` by `height` can be drawn at `scale`."""
    if (
        not isinstance(scale, Real)
        or isinstance(scale, bool)
        or not abs(scale) <= sys.float_info.max
    ):
        raise argument_error("scale", scale, "expected a number, such as 2 for twice the size.")
    if scale < SMALLEST_SCALE:
        raise argument_error("scale", scale, f"expected a number of {SMALLEST_SCALE} or more.")
    across, down = (math.ceil(min(side * scale, MOST_SIDE)) for side in (width, height))
    if across * down > MOST_PIXELS or max(across, down) > LONGEST_SIDE:
        side = min(LONGEST_SIDE / max(width, height), math.sqrt(MOST_PIXELS / (width * height)))
        raise ArgumentError(
            f"scale = {quote(scale)} would make {across:,} by {down:,} pixels; this picture can "
            f"have a scale of up to {math.floor(side * 100) / 100:g}, or any size as .svg or .pdf."
        )


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write `content` to a new file in the same folder, then move the new file to `path`.

    If `path` is a link, its target is replaced. The new file gets the permissions of an existing
    file before it gets content. Raises ArgumentError if the file cannot be written.
    """
    data = content.encode(errors="replace") if isinstance(content, str) else content
    try:
        target = Path(os.path.realpath(path))
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None and not (mode & 0o222 and os.access(target, os.W_OK)):
            raise OSError(EACCES, "the file is read-only")
        if mode is not None and not S_ISREG(mode):
            raise OSError(EINVAL, "not a regular file")
        part = target.with_name(f".{token_hex(8)}.part")
        descriptor = os.open(part, NEW, 0o666 if mode is None else S_IMODE(mode))
        try:
            with open(descriptor, "wb") as file:
                if mode is not None:  # the umask may have removed permissions
                    os.chmod(descriptor if os.chmod in os.supports_fd else part, S_IMODE(mode))
                file.write(data)
            os.replace(part, target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise ArgumentError(f"path = {quote(str(path))} cannot be written: {reason}.") from error
    return path
