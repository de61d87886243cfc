"""Pictures as a page that needs no kernel: the stepper in it walks through them."""

from visual.backends.page import document, in_script, region
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
        f"{''.join(map(_framed, pictures))}</div>\n<script type='module'>{STEPPER}</script>\n"
    )


def _framed(picture: Scene) -> str:
    return picture.framed().removesuffix("</div>") + f"{_stories(picture)}</div>"


def _section(picture: Scene, number: int) -> str:
    """A picture in a frame that scrolls; what scrolls must be reachable by keyboard."""
    inside = picture.svg() + _stories(picture)
    return frame(inside, picture.title if number else "Picture")


def _stories(picture: Scene) -> str:
    """What a page tells of a number that is clicked, as data beside the picture."""
    from visual.widgets.stories import of_all  # needs the engine, which a picture alone does not

    told = of_all(picture) if isinstance(picture, Scene) else {}
    return (
        f'<script type="application/json" data-stories>{in_script(told)}</script>' if told else ""
    )


def _twin(picture: Scene) -> str:
    title = f"As text: {picture.title}"
    told = region(title, picture.text())
    return f"<details><summary>{text(title)}</summary>\n{told}</details>"


register(".html", to_page)
