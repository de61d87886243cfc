"""Pictures as a page that needs no kernel: the stepper in it walks through them."""

from visual.backends.page import document, region
from visual.backends.page import picture as frame
from visual.backends.svg import text
from visual.scene.formats import register
from visual.scene.shapes import Scene
from visual.widgets.module import STEPPER, style


def to_page(*pictures: Scene, words: str = "") -> str:
    """The page of a picture, or of several that are linked: they show the same moment.

    It has the title, the description, the picture, and its text twin.  Pictures with moments
    can be walked through.  `words` are a report that stands below the pictures.
    """
    first = pictures[0]
    walked = any('data-moments="' in picture.svg()[:2000] for picture in pictures)
    sections = "\n".join(_section(picture, number) for number, picture in enumerate(pictures))
    root = (
        f'<div class="scantape" data-scantape data-whole>{sections}</div>' if walked else sections
    )
    body = f"<h1>{text(first.title)}</h1>\n<p>{text(first.description)}</p>\n{root}\n"
    if words:
        body += f"{region('In words', words)}\n"
    body += "\n".join(map(_twin, pictures))
    if not walked:
        return document(first.title, first.theme, body)
    return document(first.title, first.theme, body, STEPPER, style())


def fragment(*pictures: Scene, step: int | None = None) -> str:
    """Pictures that are walked through together from `step`, for a page that has more on it."""
    start = "" if step is None else f' data-at="{step}"'
    return (
        f"<style>{style()}</style>\n<div class='scantape' data-scantape data-whole{start}>"
        f"{''.join(map(Scene.framed, pictures))}</div>\n<script type='module'>{STEPPER}</script>\n"
    )


def _section(picture: Scene, number: int) -> str:
    """A picture in a frame that scrolls; what scrolls must be reachable by keyboard."""
    return frame(picture.svg(), picture.title if number else "Picture")


def _twin(picture: Scene) -> str:
    title = f"As text: {picture.title}"
    told = region(title, picture.text())
    return f"<details><summary>{text(title)}</summary>\n{told}</details>"


register(".html", to_page)
