"""The lessons of a built site on paper: a PDF of each beside its page, and all in ``course.pdf``.

    python notebooks/site/paper.py site

Chromium prints them, as a reader's own browser would; it must be installed.
"""

import os
import subprocess
import sys
from pathlib import Path
from shutil import which
from tempfile import TemporaryDirectory

import pypdfium2

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")


def papers(site: Path) -> Path:
    """Print all lessons; the file that has all of them.  SystemExit says what is missing."""
    pages = sorted(site.glob("[0-9]*.html")) or sys.exit(f"{site}: there are no lessons.")
    browser = next(filter(None, map(which, NAMES)), None) or sys.exit("There is no Chromium.")
    alone = ["--no-sandbox"] * (hasattr(os, "geteuid") and os.geteuid() == 0)  # as root
    course, whole = pypdfium2.PdfDocument.new(), site / "course.pdf"
    for page in pages:
        paper = page.with_suffix(".pdf")
        with TemporaryDirectory() as profile:
            told = (f"--user-data-dir={profile}", "--no-pdf-header-footer", *alone)
            command = [
                browser,
                "--headless",
                *told,
                f"--print-to-pdf={paper}",
                page.resolve().as_uri(),
            ]
            subprocess.run(command, check=True, capture_output=True)
        course.import_pages(pypdfium2.PdfDocument(paper))
    course.save(whole)
    return whole


if __name__ == "__main__":
    print(f"Print {papers(Path(sys.argv[1]))}")
