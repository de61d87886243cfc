"""Write all pictures of a derivative to a folder, with an index page."""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from shutil import rmtree

from lab.errors import LabError, argument_error, check_choice, check_sequence, check_type, listing
from lab.gradients.decisions import scan_names
from lab.progress import progress_bar
from lab.traces.run import Values
from visual.backends import page
from visual.backends.svg import text
from visual.drawing.catalogue import PICTURES
from visual.drawing.draw import split_options
from visual.drawing.study import Study, study_of
from visual.retired import RETIRED_FORMATS, refuse_retired
from visual.scene.formats import SUFFIXES, write_whole
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
    """Write all pictures of a loop, a derivative, or a PyMC model; return the path of the index.

    A missing `folder` is created if its parent exists. `formats` contains formats of `Scene.save`,
    such as "svg"; only some pictures can be saved as "gif" or "dot". `scale` applies to PNG and
    GIF. `chosen` and `given` are arguments of `draw`. The index page shows every picture, or the
    reason why it cannot be drawn.

    Raises ArgumentError for an unknown format or theme, and for a folder that cannot be created. If
    no picture can be drawn, raises the LabError of the first picture.
    """
    listed = [formats] if isinstance(formats, str) else formats
    listed = check_sequence("formats", listed, f"some of {listing(FORMATS)}")
    for name in listed:
        refuse_retired(f".{name}" if isinstance(name, str) else name, RETIRED_FORMATS, "format {}")
    formats = tuple(dict.fromkeys(check_choice("formats", name, FORMATS) for name in listed))
    if not formats:
        raise argument_error("formats", [], f"expected some of {listing(FORMATS)}.")
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
        files = _files(study_of(subject, given, **choices), options, formats, theme, scale)
        return [write_whole(path / name, content) for name, content in files.items()][-1]
    except BaseException:
        if is_new:
            rmtree(path, ignore_errors=True)
        raise


def _files(
    study: Study, options: Mapping[str, object], formats: Iterable[str], theme: str, scale: float
) -> dict[str, str | bytes]:
    """Return a dictionary from file names to contents; the final file is the index page."""
    files: dict[str, str | bytes] = {}
    kinds, sections, errors = PICTURES.values(), list[str](), list[LabError]()
    for kind in progress_bar(kinds, "export", "picture"):
        try:
            picture = kind.draw(study, **options).themed(theme)
        except LabError as error:
            errors.append(error)
            section = f"<p>Not drawn: {text(str(error))}</p>"
        else:
            names = {s: f"{kind.name}.{s}" for s in formats if picture.can_be(f".{s}")}
            files |= {name: picture.rendered(f".{s}", scale) for s, name in names.items()}
            links = ", ".join(f'<a href="{name}">{suffix}</a>' for suffix, name in names.items())
            svg = page.picture(picture.svg(), f"Picture: {kind.name}")
            section = f"<p>{text(picture.description)} Files: {links}.</p>\n{svg}"
        head = f'<section id="{kind.name}"><h2>{kind.name}</h2>\n'
        sections.append(f"{head}{section}</section>\n")
    if len(errors) == len(kinds):  # the loop or its options caused all errors
        raise errors[0]
    title = f"Pictures of {scan_names(study.scans)[0]}"
    items = (f'<li><a href="#{k.name}">{k.name}</a>: {text(k.about)}</li>' for k in kinds)
    nav = f"<h1>{text(title)}</h1>\n<nav><ul>{''.join(items)}</ul></nav>\n"
    files["index.html"] = page.document(title, THEMES[theme], nav + "".join(sections))
    return files
