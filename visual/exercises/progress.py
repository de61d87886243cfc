"""Results of questions and tasks, stored in a file next to the notebook.

    >>> load()["1: the tape of cubes"]
    AnswerRecord(tries=2, points=2, done=True)

The file is ``scantape-progress.json``, or the file that SCANTAPE_PROGRESS names. Pages store the
same data in the browser, and a reader can save the data as such a file.
"""

import csv
import io
import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from operator import attrgetter
from pathlib import Path

from filelock import FileLock

from lab.errors import ArgumentError, first_line, quote
from visual.scene.formats import write_whole

FILE, MOST = "scantape-progress.json", 2  # the file name, and the maximum points per question
MOST_TRIES = 1_000_000
WAIT = 10  # the maximum time to wait for the lock of another kernel, in seconds
FORMULA = tuple("=+-@\t\r")  # spreadsheets execute cells that start with these characters


@dataclass(frozen=True)
class AnswerRecord:
    """The wrong tries at a question, the points, and whether the question is finished.

    Raises ValueError for invalid values, because a file or a page can contain such values.
    """

    tries: int = 0
    points: int = 0
    done: bool = False

    def __post_init__(self) -> None:
        if [*map(type, (self.tries, self.points, self.done))] != [int, int, bool]:
            raise ValueError("expected integers for tries and points, and a boolean for done")
        if not 0 <= self.tries <= MOST_TRIES or not 0 <= self.points <= MOST:
            raise ValueError(f"expected 0 to {MOST_TRIES:,} tries and 0 to {MOST} points")


def path() -> Path:
    """Return the path of the file with the results."""
    return Path(os.environ.get("SCANTAPE_PROGRESS") or FILE)


def load(file: Path | None = None) -> dict[str, AnswerRecord]:
    """Return the records of a file by question; by default, of the results file if it exists.

    Raises ArgumentError for an unreadable or invalid file, and for a missing `file`.
    """
    try:
        answers = json.loads((file or path()).read_text(encoding="utf-8"))["answers"]
        return {str(name): AnswerRecord(**data) for name, data in answers.items()}
    except FileNotFoundError:
        if file is None:
            return {}
        raise ArgumentError(f"{quote(str(file))}: no such file.") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        name, expected = quote(str(file or path())), f"expected the content of {FILE}"
        raise ArgumentError(f"{name}: {expected}: {first_line(error)}.") from error


def save(records: Mapping[str, AnswerRecord], removed: Collection[str] = ()) -> None:
    """Merge `records` into the file, and delete the questions `removed`.

    A finished question stays finished with its best score, even if another kernel answers the
    question again. A hidden lock file in the same folder protects reading and writing. Raises
    ArgumentError for an invalid file, and if another process holds the lock for 10 seconds.
    """
    file = path()
    try:
        lock = FileLock(file.with_name(f".{file.name}.lock")).acquire(timeout=WAIT)
    except (OSError, ValueError) as error:  # the Timeout of FileLock is an OSError
        raise ArgumentError(f"{quote(str(file))} cannot be locked: {first_line(error)}") from error
    with lock:
        before = load()
        after = {name: record for name, record in before.items() if name not in removed}
        for name, record in records.items():
            rank = attrgetter("done", "points", "tries")
            after[name] = max(record, after.get(name, record), key=rank)
        if after != before:
            data = {"scantape": 1, "answers": {n: asdict(record) for n, record in after.items()}}
            write_whole(file, json.dumps(data, indent=1, ensure_ascii=False))


def score_table(files: Iterable[Path]) -> tuple[str, list[str]]:
    """Return the scores in the files as a CSV table, and the error of each unreadable file."""
    out, problems = io.StringIO(), list[str]()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("file", "points", "answered", "wrong tries", "problem"))
    for file in files:
        cells = [str(file)]
        try:
            records = load(file).values()
            points = sum(record.points for record in records if record.done)
            tries = sum(record.tries for record in records)
            cells += [str(points), str(sum(record.done for record in records)), str(tries), ""]
        except ArgumentError as error:
            problems.append(str(error))
            cells += ["", "", "", str(error)]
        rows.writerow(f"'{text}" if text.startswith(FORMULA) else text for text in cells)
    return out.getvalue(), problems
