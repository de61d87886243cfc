"""Scenes and their texts: shortened texts, and the output for Jupyter."""

import visual
from lab.loops import gallery
from visual.scene.shapes import Arrow, Scene, shortened, text_width


def test_texts_are_shortened_to_their_room():
    assert shortened("short", 100, 12) == "short"
    cut = shortened("a very long name indeed", 60, 12)
    assert cut.endswith("…")
    assert text_width(cut, 12) <= 60


def test_jupyter_gets_a_picture_and_text():
    scene = visual.tapes(gallery.loops["square"].trace())
    bundle = scene._repr_mimebundle_()
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "step 0" in bundle["text/plain"]
    assert isinstance(scene, Scene)
    assert any(isinstance(s, Arrow) for s in scene.walk())
