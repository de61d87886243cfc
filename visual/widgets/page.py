"""A picture as an HTML page: its title, its description, the picture, and its text twin."""

from visual.backends.page import document, picture, region
from visual.backends.svg import text
from visual.scene.formats import register
from visual.scene.shapes import Scene


def to_page(scene: Scene) -> str:
    """Return the page of a picture, without scripts and without links to other files."""
    title = f"As text: {scene.title}"
    return document(
        scene.title,
        scene.theme,
        f"<h1>{text(scene.title)}</h1>\n<p>{text(scene.description)}</p>\n{picture(scene.svg())}\n"
        f"<details><summary>{text(title)}</summary>\n{region(title, scene.text())}</details>",
    )


register(".html", to_page)
