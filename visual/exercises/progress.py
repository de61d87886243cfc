"""What a person has answered: kept in a file beside the notebook, collected by a lecturer.

    >>> kept("1: the tape of cubes")
    Answered(tries=2, points=2, done=True)

The file is ``scantape-progress.json``, or what SCANTAPE_PROGRESS names.  Pages keep the same in the
browser, and save it as the same file; ``scantape score`` makes a table of many of them.
"""

import csv
import io
import json
import os
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from filelock import FileLock

from lab.errors import ArgumentError, first_line, quote
from visual.scene.formats import write_whole

FILE, MOST = "scantape-progress.json", 2
MOST_TRIES = 1_000_000
WAIT = 10  # seconds for another kernel that writes
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet executes a cell that begins with these


@dataclass(frozen=True)
class Answered:
    """The wrong tries at a question, whether it is done with, and for how many points."""

    tries: int = 0
    points: int = 0
    done: bool = False


def path() -> Path:
    """Where it is kept."""
    return Path(os.environ.get("SCANTAPE_PROGRESS") or FILE)


def load(file: Path, is_optional: bool = True) -> dict[str, Answered]:
    """Read the answers of a file, by questions.  ArgumentError if it holds anything else.

    A missing file has no answers, unless it is not `is_optional`: then it is an ArgumentError.
    """
    try:
        told = json.loads(file.read_text(encoding="utf-8"))["answers"]
        return {str(name): as_answered(one) for name, one in told.items()}
    except FileNotFoundError:
        if is_optional:
            return {}
        raise ArgumentError(f"{quote(str(file))}: there is no such file.") from None
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ArgumentError(
            f"{quote(str(file))}: expected what {FILE} holds: {first_line(error)}."
        ) from error


def as_answered(told: Mapping[str, object]) -> Answered:
    """What is told of one question; TypeError or ValueError for anything else."""
    one = Answered(**told)  # type: ignore[arg-type]  # looked at here
    whole = (isinstance(n, int) and not isinstance(n, bool) for n in (one.tries, one.points))
    if not all(whole) or not isinstance(one.done, bool):
        raise ValueError("tries and points are whole numbers, done is true or false")
    if not 0 <= one.tries <= MOST_TRIES or not 0 <= one.points <= MOST:
        raise ValueError(f"tries are 0 to {MOST_TRIES:,}, points 0 to {MOST}")
    return one


def kept(name: str) -> Answered:
    """What was answered to a question."""
    return load(path()).get(name, Answered())


def keep(answers: Mapping[str, Answered], without: Collection[str] = ()) -> None:
    """Merge `answers` into the file and remove the questions `without`.

    Several kernels may write: a lock, in a hidden file in the same folder, is held from reading to
    writing.  Raises ArgumentError if another process holds the lock for more than 10 seconds.
    """
    file = path()
    try:
        with FileLock(file.with_name(f".{file.name}.lock"), timeout=WAIT):
            before = load(file)
            after = {n: one for n, one in {**before, **answers}.items() if n not in without}
            if after != before:
                told = {name: asdict(one) for name, one in after.items()}
                stored = {"scantape": 1, "answers": told}
                write_whole(file, json.dumps(stored, indent=1, ensure_ascii=False))
    except (OSError, ValueError) as error:  # a Timeout is an OSError
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(f"{quote(str(file))} cannot be locked: {first_line(error)}") from error


@dataclass(frozen=True)
class Scores:
    """The points of each file as CSV; `problems` holds the reason for each unreadable file."""

    csv: str
    problems: tuple[str, ...]


def table(files: Iterable[Path]) -> Scores:
    """Points, answers and wrong tries of each file; a file that cannot be read has none."""
    out, problems = io.StringIO(), list[str]()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("file", "points", "answered", "wrong tries", "problem"))
    for file in files:
        try:
            found = load(file, is_optional=False).values()
        except ArgumentError as error:
            problems.append(str(error))
            rows.writerow((_cell(str(file)), "", "", "", _cell(str(error))))
            continue
        done = [one for one in found if one.done]
        points, tries = sum(one.points for one in done), sum(one.tries for one in found)
        rows.writerow((_cell(str(file)), points, len(done), tries, ""))
    return Scores(out.getvalue(), tuple(problems))


def _cell(text: str) -> str:
    """A text as a spreadsheet shows it: an apostrophe keeps it from being read as a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text
