"""The cells of a lesson, run one after another in a namespace of its own, without a kernel."""

import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from lesson import Cell, Lesson, SiteError
from traitlets.config import Config

# What depends on the machine that builds the site, and not on the lesson.
OF_THE_MACHINE = ("could not link to a BLAS",)


@dataclass(frozen=True)
class Printed:
    """Text that a cell printed, or the error that it was to show."""

    text: str
    is_error: bool = False


@dataclass(frozen=True, eq=False)
class Shown:
    """An object that a cell showed: its last expression, or what `display` was given."""

    value: object


Output = Printed | Shown


@dataclass
class _Outputs:
    """What a cell has shown so far; as a file, it takes what is printed."""

    made: list[Output] = field(default_factory=list)

    def write(self, text: str) -> int:
        last = self.made[-1] if self.made else None
        if isinstance(last, Printed):
            self.made.pop()
        before = last.text if isinstance(last, Printed) else ""
        kept = _written_over(before + text) if "\r" in text else before + text
        if kept:
            self.made.append(Printed(kept))
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""

    def isatty(self) -> bool:
        return False

    def show(self, *values: object) -> None:
        self.made += map(Shown, values)

    def warned(
        self, message: Warning | str, category: type[Warning], *_: object, **__: object
    ) -> None:
        if not any(words in str(message) for words in OF_THE_MACHINE):
            self.write(f"{category.__name__}: {message}\n")


def _written_over(text: str) -> str:
    """What is left of lines that go back to their beginning, such as a progress bar."""
    *lines, last = text.split("\n")
    return "\n".join(
        [*(line.rstrip("\r").rpartition("\r")[2] for line in lines), last.rpartition("\r")[2]]
    )


class _Silent(DisplayHook):
    """Keeps the value of the last expression and prints nothing of it."""

    def __call__(self, result: object = None) -> None:
        if result is not None and not self.quiet():
            self.fill_exec_result(result)


class _Shell(InteractiveShell):
    displayhook_class = _Silent

    def showtraceback(self, *_: object, **__: object) -> None:
        """The error is reported by who runs the cell."""

    showsyntaxerror = showtraceback


def run(lesson: Lesson) -> dict[int, tuple[Output, ...]]:
    """What every cell of code shows, by its number.

    SiteError names the cell that fails.  A cell with the tag `raises-exception` must fail, and
    shows its error.
    """
    with _shell() as shell:
        return {cell.number: _run(cell, lesson, shell) for cell in lesson.cells if cell.is_code}


@contextmanager
def _shell() -> Iterator[InteractiveShell]:
    """A shell in an empty folder: lessons save files, and read none."""
    before = Path.cwd()
    config = Config(
        {"HistoryManager": {"enabled": False}, "InteractiveShell": {"colors": "nocolor"}}
    )
    with tempfile.TemporaryDirectory() as folder:
        shell = _Shell(config=config, ipython_dir=folder, user_ns={})
        work = Path(folder) / "work"
        work.mkdir()
        os.chdir(work)
        try:
            yield shell
        finally:
            os.chdir(before)
            shell.restore_sys_module_state()


def _run(cell: Cell, lesson: Lesson, shell: InteractiveShell) -> tuple[Output, ...]:
    outputs = _Outputs()
    shell.user_ns["display"] = outputs.show
    streams = sys.stdout, sys.stderr
    sys.stdout = sys.stderr = outputs
    try:
        with warnings.catch_warnings():
            warnings.showwarning = outputs.warned
            warnings.simplefilter("default")
            for quiet in (DeprecationWarning, PendingDeprecationWarning, ResourceWarning):
                warnings.simplefilter("ignore", quiet)
            result = shell.run_cell(cell.source, store_history=True)  # else `;` hides nothing
    finally:
        sys.stdout, sys.stderr = streams
    error = result.error_before_exec or result.error_in_exec
    words = f"{type(error).__name__}: {error}"
    if error and not cell.may_fail:
        raise SiteError(f"{lesson.path.name}, cell {cell.number}: {words}\n\n{cell.source}")
    if cell.may_fail:
        if not error:
            raise SiteError(f"{lesson.path.name}, cell {cell.number}: it should fail, and did not.")
        outputs.made.append(Printed(words, is_error=True))
    if result.result is not None:
        outputs.show(result.result)
    return tuple(outputs.made)
