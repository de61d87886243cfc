"""Build the site of all lessons: ``python notebooks/site --out site``.

The pages need no kernel, no server and no network.  A lesson that fails stops it, and is named.
"""

import argparse
import sys
import time
from pathlib import Path

from building import build
from lesson import SiteError
from reference import build_reference

LESSONS = Path(__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Build the site; 1 if a lesson stops it."""
    parser = argparse.ArgumentParser(prog="python notebooks/site", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("site"), help="the folder to write to")
    parser.add_argument("--lessons", type=Path, default=LESSONS, help="the folder of the lessons")
    parser.add_argument("--draft", action="store_true", help="allow links to unwritten lessons")
    parser.add_argument("--no-reference", action="store_true", help="leave out the reference")
    chosen = parser.parse_args(arguments)
    start = time.perf_counter()
    try:
        reference = "" if chosen.no_reference else build_reference(chosen.out)
        pages = build(chosen.lessons, chosen.out, reference, chosen.draft)
    except SiteError as error:
        print(f"The site was not built. {error}", file=sys.stderr)
        return 1
    took = time.perf_counter() - start
    largest = max(path.stat().st_size for path in pages)
    print(
        f"{len(pages)} pages in {took:.1f} s, the largest of {largest / 1e6:.2f} MB; "
        f"open {chosen.out / 'index.html'}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
