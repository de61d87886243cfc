"""Insert small faults into the engine and measure the share that its tests notice.

    make mutants                                   # a sample of every package
    python bench/mutants.py --count 40 lab/traces  # a larger sample of one package

A fault replaces one expression of one file: a comparison is flipped, a sum becomes a difference, a
constant is off by one, a condition is negated, an argument or a result is lost, the bound of a
slice moves.  Each one is put into a copy of the repository.  The tests of the package run first,
until one fails; the rest of `tests/lab` follows, for a limited number of processor seconds.  A file
that cannot be imported, or that runs three times as long as without a fault, counts as noticed.
Limits are processor seconds, because seconds on a clock depend on what else the machine does.
"""

import argparse
import ast
import importlib.util
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
PACKAGES = ("lab/scans", "lab/gradients", "lab/traces", "lab/equations")
MEMORY = 8 * 2**30  # bytes; a fault may allocate without end
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq},
    **{ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot},
    **{ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div},
    **{ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.And: ast.Or, ast.Or: ast.And},
}
SKIPPED = (ast.Raise, ast.JoinedStr)  # wording of errors; positions in f-strings differ in 3.11
UNREAD = {"annotation", "returns", "decorator_list", "type_comment"}


@dataclass(frozen=True)
class Fault:
    """One expression of a file, from byte `start` to byte `end`, and what replaces it."""

    path: str
    line: int
    start: int
    end: int
    before: str
    after: str

    def applied(self, source: bytes) -> bytes:
        """Return the source with the fault."""
        return source[: self.start] + f"({self.after})".encode() + source[self.end :]

    def __str__(self) -> str:
        return f"{self.path}:{self.line}  {self.before}  →  {self.after}"


def changes(node: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """Yield the expressions in a node that can be replaced, each with a faulty replacement."""
    test = getattr(node, "test", None)
    if isinstance(test, ast.expr) and not isinstance(node, ast.Assert):
        yield test, f"not ({ast.unparse(test)})"
    match node:
        case ast.Compare(left, [op], [right]):
            swapped = ast.Compare(left, [SWAPS[type(op)]()], [right])  # type: ignore[list-item]
            yield node, ast.unparse(swapped)
        case ast.BinOp(left, op, right) if type(op) in SWAPS:
            yield node, ast.unparse(ast.BinOp(left, SWAPS[type(op)](), right))  # type: ignore[arg-type]
        case ast.BoolOp(op, values):
            yield node, ast.unparse(ast.BoolOp(SWAPS[type(op)](), values))  # type: ignore[arg-type]
        case ast.Constant(bool(value)):
            yield node, str(not value)
        case ast.Constant(int(value) | float(value)):
            yield node, repr(value + 1)
        case ast.UnaryOp(ast.USub() | ast.Not(), operand):
            yield node, ast.unparse(operand)
        case ast.Return(ast.expr() as value) if not isinstance(value, ast.Constant):
            yield value, "None"
        case ast.Call(function, arguments, keywords):
            for n in range(len(keywords)):
                rest = [*keywords[:n], *keywords[n + 1 :]]
                yield node, ast.unparse(ast.Call(function, arguments, rest))
            if len(arguments) > 1:
                yield node, ast.unparse(ast.Call(function, arguments[:-1], keywords))
        case ast.Slice(lower, upper):
            for bound in filter(None, (lower, upper)):
                yield bound, f"{ast.unparse(bound)} + 1"
        case ast.comprehension(ifs=[condition, *_]):
            yield condition, f"not ({ast.unparse(condition)})"


def nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that run when the package works: no annotations, and no wording of errors."""
    yield tree
    for name, value in ast.iter_fields(tree):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, SKIPPED) and name not in UNREAD:
                yield from nodes(child)


def faults(root: Path, package: str) -> list[Fault]:
    """Return all faults that can be put into the files of a package."""
    found = []
    for path in sorted((root / package).rglob("*.py")):
        source = path.read_bytes()
        starts = [0]
        for line in source.splitlines(keepends=True):
            starts.append(starts[-1] + len(line))
        for node in nodes(ast.parse(source)):
            for old, new in changes(node):
                assert old.end_lineno is not None
                assert old.end_col_offset is not None
                start = starts[old.lineno - 1] + old.col_offset
                end = starts[old.end_lineno - 1] + old.end_col_offset
                name = path.relative_to(root).as_posix()
                found.append(Fault(name, old.lineno, start, end, ast.unparse(old), new))
    return found


def run(copy: Path, arguments: list[str], seconds: float) -> tuple[int, float]:
    """Run tests until one fails; return the exit status and the processor seconds used."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 2))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

    def used() -> float:
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        return usage.ru_utime + usage.ru_stime

    before = used()
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"}
    options = {"cwd": copy, "env": environment, "capture_output": True, "preexec_fn": limit}
    try:
        status = subprocess.run(command, timeout=60 * seconds, **options).returncode
    except subprocess.TimeoutExpired:  # it waits for ever, without using the processor
        status = 1
    return status, used() - before


class Tests:
    """The tests of one package, and how long they take without a fault."""

    def __init__(self, copy: Path, package: str, rest_seconds: float) -> None:
        self.copy, self.rest_seconds = copy, rest_seconds
        self.own = package.replace("lab/", "tests/lab/", 1)
        others = sorted(path for path in (copy / "tests/lab").iterdir() if path.name[0] not in "._")
        names = [path.relative_to(copy).as_posix() for path in others]
        near = {package.replace("lab/", "tests/lab/", 1) for package in PACKAGES}
        names.sort(key=lambda name: name not in near)
        self.rest = [name for name in names if name != self.own]
        status, self.seconds = run(copy, [self.own], 3600)
        if status:
            raise SystemExit(f"{self.own}: the tests fail without a fault (status {status}).")

    def notice(self, path: str, faulty: bytes) -> bool:
        """Return whether a test fails when the file has this source."""
        file = self.copy / path
        source = file.read_bytes()
        stale = Path(importlib.util.cache_from_source(str(file)))
        try:
            stale.unlink(missing_ok=True)  # the same size and second would be taken for the same
            file.write_bytes(faulty)
            status, _ = run(self.copy, [self.own], 3 * self.seconds + 10)
            if status == 0 and self.rest and self.rest_seconds:
                status, _ = run(self.copy, self.rest, self.rest_seconds)
                status = 0 if status == -signal.SIGXCPU else status
            return status != 0
        finally:
            file.write_bytes(source)
            stale.unlink(missing_ok=True)


def measure(root: Path, package: str, count: int, rest_seconds: float, seed: int) -> list[Fault]:
    """Print the line of a package and return the faults that no test noticed."""
    known = faults(root, package)
    sample = random.Random(f"{seed} {package}").sample(known, min(count, len(known)))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".*", "*.egg-info"))
        tests = Tests(copy, package, rest_seconds)
        missed = []
        for fault in sample:
            faulty = fault.applied((root / fault.path).read_bytes())
            noticed = tests.notice(fault.path, faulty)
            print("noticed " if noticed else "survived", fault, file=sys.stderr, flush=True)
            missed += [] if noticed else [fault]
    share = 1 - len(missed) / len(sample)
    told = f"{len(sample) - len(missed)} of {len(sample)}"
    print(f"| `{package}` | {len(known)} | {told} | {share:.0%} |", flush=True)
    return missed


def main() -> None:
    """Measure the packages that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("packages", nargs="*", default=PACKAGES, help=f"default: {PACKAGES}")
    parser.add_argument("--count", type=int, default=20, help="faults per package (default: 20)")
    parser.add_argument("--seed", type=int, default=1, help="choice of the faults (default: 1)")
    told = "processor seconds for the tests of other packages (default: 45)"
    parser.add_argument("--rest", type=float, default=45, metavar="SECONDS", help=told)
    parser.add_argument("--root", type=Path, default=ROOT, help="repository (default: this one)")
    chosen = parser.parse_args()
    print("| package | possible faults | noticed | share |\n|---|---|---|---|", flush=True)
    missed = []
    for package in chosen.packages:
        missed += measure(chosen.root, package, chosen.count, chosen.rest, chosen.seed)
    print("\nNot noticed:", *(missed or ["none"]), sep="\n")


if __name__ == "__main__":
    main()
