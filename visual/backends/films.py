"""Moving pictures: one frame a moment, in which nothing is seen of what has not happened yet.

GIF and WebP are put together by Pillow, MP4 by ffmpeg where it is installed.
"""

import io
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

import numpy as np

from lab.errors import ArgumentError, shortened
from lab.progress import counted, pause
from visual.scene.formats import HOLD, PACE, content, register
from visual.scene.shapes import Group, Scene, Shape


def frames(scene: Scene) -> Iterator[Scene]:
    """The picture at each of its moments, as far as things have come."""
    for moment in scene.moments:
        yield replace(scene, shapes=tuple(_until(moment, scene.shapes)))


def _until(moment: int, shapes: Iterable[Shape]) -> Iterator[Shape]:
    """The shapes without those of later moments."""
    for shape in shapes:
        if not isinstance(shape, Group):
            yield shape
        elif shape.step is None or shape.step <= moment:
            yield replace(shape, shapes=tuple(_until(moment, shape.shapes)))


def _images(scene: Scene, scale: float) -> Iterator[bytes]:
    """All frames as PNG; who waits sees how far it is."""
    count = len(scene.moments)
    for frame in counted(frames(scene), "frames", "frame", count):
        pause()
        yield content(".png", frame, scale)


def to_gif(scene: Scene, scale: float = 1.0) -> bytes:
    """The frames, in the 256 most frequent colours of the last one, which has them all.

    Pillow's own way to a palette changes even white.
    """
    from PIL import Image

    rgb = [Image.open(io.BytesIO(png)).convert("RGB") for png in _images(scene, scale)]
    codes = [np.asarray(image, "int32") @ (1 << 16, 1 << 8, 1) for image in rgb]
    found, counts = np.unique(codes[-1], return_counts=True)
    palette = found[np.argsort(counts)[::-1][:256]]
    images = [Image.fromarray(_nearest(frame, palette)) for frame in codes]
    for image in images:
        image.putpalette(_parts(palette).astype("uint8").tobytes())
    return _joined(images, "GIF", optimize=False)


def _nearest(codes: np.ndarray, palette: np.ndarray) -> np.ndarray:
    """For every pixel the number of the colour of a palette that is like its own."""
    found, places = np.unique(codes, return_inverse=True)
    apart = np.square(_parts(found)[:, None] - _parts(palette)).sum(axis=2)
    return apart.argmin(axis=1).astype("uint8")[places].reshape(codes.shape)


def _parts(codes: np.ndarray) -> np.ndarray:
    """Red, green and blue of colours."""
    return np.stack([codes >> 16, codes >> 8 & 255, codes & 255], axis=-1)


def to_webp(scene: Scene, scale: float = 1.0) -> bytes:
    """The frames, each exactly as its PNG."""
    from PIL import Image

    images = [Image.open(io.BytesIO(png)).convert("RGB") for png in _images(scene, scale)]
    return _joined(images, "WEBP", lossless=True)


def _joined(images, form: str, **options: bool) -> bytes:  # type: ignore[no-untyped-def]
    first, *others = images
    times = [PACE] * len(others) + [HOLD]
    made = io.BytesIO()
    first.save(made, form, save_all=True, append_images=others, duration=times, loop=0, **options)
    return made.getvalue()


def to_mp4(scene: Scene, scale: float = 1.0) -> bytes:
    """The frames as H.264, which every browser plays; it has even numbers of pixels."""
    program = which("ffmpeg")
    assert program is not None  # whoever writes a file has checked it
    pngs = [*_images(scene, scale)]
    pngs += [pngs[-1]] * (HOLD // PACE - 1)
    size = "pad=ceil(iw/2)*2:ceil(ih/2)*2,format=yuv420p"
    with TemporaryDirectory() as folder:
        path = Path(folder) / "walk.mp4"
        read = ["-f", "image2pipe", "-framerate", f"{1000 / PACE:g}", "-c:v", "png", "-i", "-"]
        wrote = ["-vf", size, "-c:v", "libx264", "-r", "25", "-movflags", "+faststart", str(path)]
        command = [program, "-y", "-loglevel", "error", *read, *wrote]
        done = subprocess.run(command, input=b"".join(pngs), capture_output=True, check=False)
        if done.returncode or not path.exists():
            said = shortened(done.stderr.decode(errors="replace").strip() or "it said nothing")
            raise ArgumentError(f"ffmpeg could not make an .mp4 of the frames: {said}")
        return path.read_bytes()


register(".gif", to_gif)
register(".webp", to_webp)
register(".mp4", to_mp4)
