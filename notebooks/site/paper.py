"""The lessons of a built site on paper: a PDF of each beside its page, and all in ``course.pdf``.

    python notebooks/site/paper.py site

Chromium prints them, as a reader's own browser would; it must be installed.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pypdfium2

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome", "msedge")


def papers(site: Path) -> Path:
    """Print all lessons; the file that has all of them.  SystemExit says what is missing."""
    pages = sorted(site.glob("[0-9]*.html"))
    browser = next(filter(None, map(shutil.which, NAMES)), None)
    if not pages or not browser:
        sys.exit(f"{site}: there are no lessons." if browser else "There is no Chromium to print.")
    course = pypdfium2.PdfDocument.new()
    for page in pages:
        paper = page.with_suffix(".pdf")
        _print(browser, page, paper)
        course.import_pages(pypdfium2.PdfDocument(paper))
    whole = site / "course.pdf"
    course.save(whole)
    return whole


def _print(browser: str, page: Path, paper: Path) -> None:
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0  # who needs another way to be safe
    with TemporaryDirectory() as profile:
        subprocess.run(
            [
                *(browser, "--headless", *["--no-sandbox"] * is_root, f"--user-data-dir={profile}"),
                *("--no-pdf-header-footer", f"--print-to-pdf={paper}", page.resolve().as_uri()),
            ],
            check=True,
            capture_output=True,
        )


if __name__ == "__main__":
    print(f"Print {papers(Path(sys.argv[1]))}")
