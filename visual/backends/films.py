"""Animated GIF with one frame per moment; a frame contains the shapes visible at its moment."""

import io
from collections.abc import Iterable, Iterator
from dataclasses import replace

import numpy as np

from lab.progress import pause, progress_bar
from visual.backends.svg import HOLD, durations
from visual.backends.typeset import to_png
from visual.scene.shapes import Group, Scene, Shape


def frames(scene: Scene) -> Iterator[Scene]:
    """Return one scene per moment, with the shapes that are visible at this moment."""
    return (replace(scene, shapes=tuple(_visible(m, scene.shapes))) for m in scene.moments)


def _visible(moment: int, shapes: Iterable[Shape]) -> Iterator[Shape]:
    for shape in shapes:
        if not isinstance(shape, Group):
            yield shape
        elif (shape.step or 0) <= moment and (shape.until is None or moment < shape.until):
            yield replace(shape, shapes=tuple(_visible(moment, shape.shapes)))


def to_gif(scene: Scene, scale: float = 1.0) -> bytes:
    """Return an animated GIF with the 256 most frequent colors of the final frame.

    `scale` is the number of pixels per CSS pixel. Pillow would select colors that change white.
    """
    from PIL import Image

    codes = []
    for frame in progress_bar(frames(scene), "frames", "frame", len(scene.moments)):
        pause()
        rgb = Image.open(io.BytesIO(to_png(frame, scale))).convert("RGB")
        codes.append(np.asarray(rgb, "int32") @ (1 << 16, 1 << 8, 1))
    colors, counts = np.unique(codes[-1], return_counts=True)
    palette = colors[np.argsort(counts)[::-1][:256]]
    painted = [Image.fromarray(_nearest(frame, palette)) for frame in codes]
    for image in painted:
        image.putpalette(_parts(palette).astype("uint8").tobytes())
    times = [durations(len(painted))[0]] * (len(painted) - 1) + [HOLD]
    film = io.BytesIO()
    more = {"save_all": True, "append_images": painted[1:], "duration": times}
    painted[0].save(film, "GIF", loop=0, optimize=False, **more)
    return film.getvalue()


def _nearest(codes: np.ndarray, palette: np.ndarray) -> np.ndarray:
    """Return for every pixel the index of the nearest color of a palette."""
    colors, places = np.unique(codes, return_inverse=True)
    apart = np.square(_parts(colors)[:, None] - _parts(palette)).sum(axis=2)
    return apart.argmin(axis=1).astype("uint8")[places].reshape(codes.shape)


def _parts(codes: np.ndarray) -> np.ndarray:
    """Return the red, green, and blue of each color code, along a new final axis."""
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=-1)
