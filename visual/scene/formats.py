"""Write pictures to files atomically. The suffix of a file selects the format.

`visual.backends.writers` adds the functions that write the formats.
"""

import math
import os
from collections.abc import Callable, Sequence
from errno import EACCES, EINVAL
from functools import partial
from pathlib import Path
from secrets import token_hex
from stat import S_IMODE, S_ISREG
from typing import Any

from lab.errors import argument_error, is_finite_number, listing, quote
from visual.retired import RETIRED_FORMATS, refuse_retired

SUFFIXES = (".svg", ".pdf", ".png", ".gif", ".html", ".txt", ".dot")
MOST_PIXELS, LONGEST_SIDE = 100_000_000, 65_000  # a larger image would need too much memory
MOST_SIDE = 1e12  # pixels; a larger side is reported as this number
SMALLEST_SCALE = 0.1  # text is illegible at a smaller scale

# For each suffix, a function that returns the content of a file from a scene, a scale, and a
# Boolean that is True for a moving picture.
WRITERS: dict[str, Callable[[Any, float, bool], str | bytes]] = {}


def as_path(path: str | os.PathLike[str]) -> Path:
    """Return `path` as a Path. Raises ArgumentError for a value of another type."""
    if not isinstance(path, str | os.PathLike):
        raise argument_error("path", path, "expected the name of a file, such as 'tape.svg'.")
    return Path(path)


def report_path(path: str | os.PathLike[str], suffixes: Sequence[str], reason: str) -> Path:
    """Return a Path. Raises ArgumentError for a wrong suffix, a folder, or a missing parent."""
    place, folder = as_path(path), quote(str(as_path(path).parent))
    if place.suffix.lower() not in suffixes:
        raise argument_error("path", str(path), f"{reason}.")
    if not os.path.isdir(place.parent):  # False also for invalid names
        is_file = os.path.exists(place.parent)
        reason = f"{folder} is not a folder" if is_file else f"folder {folder} does not exist"
        raise argument_error("path", str(path), f"{reason}.")
    if os.path.isdir(place):
        raise argument_error("path", str(path), "expected the name of a file, got a folder.")
    return place


def picture_path(path: str | os.PathLike[str], animate: bool) -> Path:
    """Return `path` as a Path, if its suffix is a format of pictures and its folder exists.

    With `animate`, only .svg and .gif are allowed. Raises ArgumentError for all other paths.
    """
    suffix = as_path(path).suffix.lower()
    refuse_retired(suffix, RETIRED_FORMATS, "format {}")
    if animate and suffix in SUFFIXES and suffix not in (".svg", ".gif"):
        expected = f"expected a .svg or .gif file, got {quote(str(path))}."
        raise argument_error("animate", animate, expected)
    reason = f"the suffix selects the format and can be {listing(SUFFIXES)}"
    return report_path(path, SUFFIXES, reason)


def check_scale(scale: float, width: float = 1.0, height: float = 1.0) -> None:
    """Raise ArgumentError unless `scale` is possible for an image of `width` by `height` pixels."""
    if not is_finite_number(scale) or scale < SMALLEST_SCALE:
        raise argument_error("scale", scale, f"expected a number of {SMALLEST_SCALE} or more.")
    across, down = (math.ceil(min(side * scale, MOST_SIDE)) for side in (width, height))
    if across * down > MOST_PIXELS or max(across, down) > LONGEST_SIDE:
        side = min(LONGEST_SIDE / max(width, height), math.sqrt(MOST_PIXELS / (width * height)))
        fix = f"Use at most {math.floor(side * 100) / 100:g}, or save a .svg or .pdf file."
        why = f"the image would have {across:,} by {down:,} pixels. {fix}"
        raise argument_error("scale", scale, why)


def write_whole(path: Path, content: str | bytes) -> Path:
    """Write `content` to a new file in the same folder, then move the new file to `path`.

    If `path` is a link, the new file replaces the target of the link. If the file exists, the new
    file receives the permissions of this file before its content. Raises ArgumentError if the file
    cannot be written.
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
        permissions = 0o666 if mode is None else S_IMODE(mode)
        new = partial(os.open, mode=permissions)
        file = open(part, "xb", opener=new)  # noqa: SIM115  # outside `try`, which removes the file
        try:
            with file:
                if mode is not None:  # the umask may have removed permissions
                    os.chmod(file.fileno() if os.chmod in os.supports_fd else part, permissions)
                file.write(data)
            os.replace(part, target)
        except BaseException:
            part.unlink(missing_ok=True)
            raise
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise argument_error("path", str(path), f"cannot be written: {reason}.") from error
    return path
