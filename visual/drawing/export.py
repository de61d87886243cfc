"""Write all pictures of a derivative to a folder, with an index page."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from shutil import rmtree

from lab.errors import (
    ArgumentError,
    LabError,
    argument_error,
    check_choice,
    check_sequence,
    check_type,
    listing,
)
from lab.progress import progress_bar
from lab.traces.run import Values
from visual.backends.page import document
from visual.backends.page import picture as framed
from visual.backends.svg import text
from visual.drawing.catalogue import PICTURES, PictureKind
from visual.drawing.draw import split_options, study_of
from visual.drawing.study import Study
from visual.retired import RETIRED_FORMATS, refuse_retired
from visual.scene.formats import SUFFIXES, write_whole
from visual.scene.shapes import Scene
from visual.scene.theme import THEMES

FORMATS = tuple(suffix.removeprefix(".") for suffix in SUFFIXES)


def export(
    subject: object,
    folder: str | os.PathLike[str],
    formats: Iterable[str] = ("svg",),
    theme: str = "light",
    scale: float = 1.0,
    given: Values | None = None,
    **chosen: object,
) -> Path:
    """Write all pictures of a loop, a graph's derivative, or a PyMC model; return the index page.

    A missing `folder` is created if its parent exists. `formats` lists suffixes of `Scene.save`;
    only some pictures have .gif and .dot files. `scale` applies to PNG. `chosen` and `given` have
    the meaning that they have for `draw`. The page shows every picture, or the reason for its
    absence.

    Raises ArgumentError for an unknown format or theme, or a folder that cannot be created, and
    the first LabError if all pictures are impossible.
    """
    listed = [formats] if isinstance(formats, str) else formats
    listed = check_sequence("formats", listed, f"some of {listing(FORMATS)}")
    for name in listed:
        refuse_retired(f".{name}" if isinstance(name, str) else name, RETIRED_FORMATS, "format {}")
    formats = tuple(dict.fromkeys(check_choice("formats", name, FORMATS) for name in listed))
    if not formats:
        raise ArgumentError(f"formats = []: expected some of {listing(FORMATS)}.")
    THEMES[theme]  # raises ArgumentError for an unknown name
    check_type("folder", folder, (str, os.PathLike), "the name of a folder")
    choices, options = split_options(chosen)
    path, is_new = Path(folder), not os.path.exists(folder)
    try:
        path.mkdir(exist_ok=True)
    except (OSError, ValueError) as error:
        reason = f"cannot be created: {getattr(error, 'strerror', None) or error}."
        raise argument_error("folder", str(path), reason) from error
    try:
        files = _files(study_of(subject, given, choices), options, formats, theme, scale)
        return [write_whole(path / name, content) for name, content in files.items()][-1]
    except BaseException:
        if is_new:
            rmtree(path, ignore_errors=True)
        raise


def _files(
    study: Study, options: Mapping[str, object], formats: Iterable[str], theme: str, scale: float
) -> dict[str, str | bytes]:
    """Return the content of each file by its name; the index page is the last."""
    results: dict[PictureKind, Scene | LabError] = {}
    files: dict[str, str | bytes] = {}
    for kind in progress_bar(PICTURES.values(), "export", "picture"):
        try:
            picture = kind.draw(study, **options).themed(theme)
        except LabError as error:
            results[kind] = error
            continue
        results[kind] = picture
        for suffix in formats:
            if picture.can_be(f".{suffix}"):
                files[f"{kind.name}.{suffix}"] = picture.rendered(f".{suffix}", scale)
    reasons = [picture for picture in results.values() if isinstance(picture, LabError)]
    if len(reasons) == len(results):  # the loop or its options cause all errors
        raise reasons[0]
    files["index.html"] = _index(results, formats, theme)
    return files


def _index(
    results: Mapping[PictureKind, Scene | LabError], formats: Iterable[str], theme: str
) -> str:
    """Return the HTML page: a table of contents, then all pictures."""
    first = next(picture for picture in results.values() if not isinstance(picture, LabError))
    title = f"Pictures of {first.title.split(',')[0]}"
    contents = "".join(
        f'<li><a href="#{kind.name}">{kind.name}</a>: {text(kind.about)}</li>' for kind in results
    )
    sections = "".join(_section(kind, picture, formats) for kind, picture in results.items())
    body = f"<h1>{text(title)}</h1>\n<nav><ul>{contents}</ul></nav>\n{sections}"
    return document(title, THEMES[theme], body)


def _section(kind: PictureKind, picture: Scene | LabError, formats: Iterable[str]) -> str:
    head = f'<section id="{kind.name}"><h2>{kind.name}</h2>\n'
    if isinstance(picture, LabError):
        return f"{head}<p>Not drawn: {text(str(picture))}</p></section>\n"
    links = ", ".join(
        f'<a href="{kind.name}.{suffix}">{suffix}</a>'
        for suffix in formats
        if picture.can_be(f".{suffix}")
    )
    svg = framed(picture.svg(), f"Picture: {kind.name}")
    return f"{head}<p>{text(picture.description)} Files: {links}.</p>\n{svg}</section>\n"
