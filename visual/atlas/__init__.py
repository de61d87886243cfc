"""Pictures drawn beforehand, to choose from without Python.

Start with `grid`: what a page offers, checked.  `atlas` draws it, `page` packs the pictures and
writes the page, and ``atlas.js`` with ``form.js`` shows them there.
"""
