"""PDF and PNG, for which matplotlib is loaded when one of them is asked for."""

from visual.scene.formats import register
from visual.scene.shapes import Scene


def _pdf(scene: Scene) -> bytes:
    from visual.backends.mpl import to_pdf

    return to_pdf(scene)


def _png(scene: Scene, scale: float) -> bytes:
    from visual.backends.mpl import to_png

    return to_png(scene, scale)


register(".pdf", _pdf)
register(".png", _png)
