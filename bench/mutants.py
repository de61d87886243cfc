"""Insert small faults into the code and measure the share of faults that the tests notice.

    make mutants                                  # a sample of every package
    make mutants COUNT=40 PACKAGES=lab/traces     # a larger sample of one package

A fault replaces an expression: it inverts a comparison, replaces a sum by a difference, adds 1 to a
constant or to the bound of a slice, negates a condition, or removes an argument or a result. The
tests run in a copy of the repository with the fault until a test fails. The test files that have
the name of the faulty file or import it run first, then the tests of its package, and finally other
tests of `lab` or `visual`. A fault is noticed if a test or an import fails within a number of
processor seconds. Processor seconds do not depend on other processes.
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
from typing import Any

ROOT = Path(__file__).parent.parent
PACKAGES = (
    "lab/scans",
    "lab/gradients",
    "lab/traces",
    "lab/equations",
    "lab/eager",
    "visual/layout",
)
SECONDS = {"lab": 30, "visual": 240}  # per fault; tests of `visual` draw many pictures
FILES = 12  # test files per fault
EVERY = "test_every_scene.py"  # tests all packages of `visual`
MEMORY = 8 * 2**30  # bytes; a fault could allocate more and more memory
PASSED = (0, -signal.SIGXCPU)  # all tests passed, or all tests that ran before the time limit
SWAPS: dict[type[ast.AST], type[ast.AST]] = {
    **{ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq},
    **{ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot},
    **{ast.IsNot: ast.Is, ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div},
    **{ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.And: ast.Or, ast.Or: ast.And},
}
SKIPPED = (ast.Raise, ast.JoinedStr)  # errors; f-strings, whose positions differ in Python 3.11
UNREAD = {"annotation", "returns", "decorator_list", "type_comment"}


@dataclass(frozen=True)
class Fault:
    """An expression of a file, from byte `start` to byte `end`, and its replacement."""

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
    """Yield each replaceable expression in a node, with a faulty replacement."""
    test = getattr(node, "test", None)
    if isinstance(test, ast.expr) and not isinstance(node, ast.Assert):
        yield test, f"not ({ast.unparse(test)})"
    match node:
        case ast.Compare(left, [op], [right]):
            swapped = ast.Compare(left, [SWAPS[type(op)]()], [right])
            yield node, ast.unparse(swapped)
        case ast.BinOp(left, op, right) if type(op) in SWAPS:
            yield node, ast.unparse(ast.BinOp(left, SWAPS[type(op)](), right))
        case ast.BoolOp(op, values):
            yield node, ast.unparse(ast.BoolOp(SWAPS[type(op)](), values))
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
    """Yield all nodes except annotations, decorators, raise statements, and f-strings."""
    yield tree
    for name, value in ast.iter_fields(tree):
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not isinstance(child, SKIPPED) and name not in UNREAD:
                yield from nodes(child)


def faults(root: Path, package: str) -> list[Fault]:
    """Return all possible faults in the files of a package."""
    result = []
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
                result.append(Fault(name, old.lineno, start, end, ast.unparse(old), new))
    return result


def nearest(root: Path, path: str) -> list[str]:
    """Return the test files to run for a fault in a file, the nearest first."""
    module = Path(path)
    dotted = ".".join(module.with_suffix("").parts)
    own = Path("tests") / module.parent
    while not (root / own).is_dir():  # for a package without tests, use its parent
        own = own.parent

    def distance(test: Path) -> tuple[bool, bool, int]:
        named = module.stem in test.stem or dotted in test.read_text(encoding="utf-8")
        named |= test.name == EVERY
        return not named, own not in test.relative_to(root).parents, test.stat().st_size

    tests = sorted((root / "tests" / module.parts[0]).rglob("test_*.py"), key=distance)
    return [test.relative_to(root).as_posix() for test in tests[:FILES]]


def notice(copy: Path, path: str, source: bytes, tests: list[str], seconds: float) -> bool:
    """Return whether a test fails within the processor seconds if `source` replaces a file."""

    def limit() -> None:
        signal.signal(signal.SIGINT, signal.SIG_DFL)  # a background job would ignore SIGINT
        resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))

    file = copy / path
    before, stale = file.read_bytes(), Path(importlib.util.cache_from_source(str(file)))
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
    options: dict[str, Any] = {"cwd": copy, "capture_output": True, "preexec_fn": limit}
    options["env"] = {**os.environ, "PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"}
    options["env"] |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}  # faster; no test needs a plugin
    options["env"] |= {"HYPOTHESIS_PROFILE": "mutants"}  # do not shrink a failing example
    try:
        stale.unlink(missing_ok=True)  # Python would use this cache for equal size and time
        file.write_bytes(source)
        return subprocess.run(command, timeout=20 * seconds, **options).returncode not in PASSED
    except subprocess.TimeoutExpired:  # the faulty code waits without using the processor
        return True
    finally:
        file.write_bytes(before)
        stale.unlink(missing_ok=True)


def measure(root: Path, package: str, count: int, seconds: float, seed: int) -> list[Fault]:
    """Print the share of noticed faults in a package; return the faults that no test noticed."""
    possible, missed = faults(root, package), []
    sample = random.Random(f"{seed} {package}").sample(possible, min(count, len(possible)))
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".*", "*.egg-info"))
        first = sample[0].path
        if notice(copy, first, (root / first).read_bytes(), nearest(root, first), seconds):
            raise SystemExit(f"{package}: the tests fail without a fault.")
        for fault in sample:
            faulty = fault.applied((root / fault.path).read_bytes())
            noticed = notice(copy, fault.path, faulty, nearest(root, fault.path), seconds)
            print("noticed " if noticed else "survived", fault, file=sys.stderr, flush=True)
            missed += [] if noticed else [fault]
    share = 1 - len(missed) / len(sample)
    counts = f"{len(sample) - len(missed)} of {len(sample)}"
    print(f"| `{package}` | {len(possible)} | {counts} | {share:.0%} |", flush=True)
    return missed


def main() -> None:
    """Measure the packages that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("packages", nargs="*", default=PACKAGES, help=f"default: {PACKAGES}")
    parser.add_argument("--count", type=int, default=20, help="faults per package (default: 20)")
    parser.add_argument("--seed", type=int, default=1, help="choice of the faults (default: 1)")
    parser.add_argument("--seconds", type=int, help=f"per fault (default: {SECONDS})")
    parser.add_argument("--root", type=Path, default=ROOT, help="repository (default: this one)")
    chosen = parser.parse_args()
    print("| package | possible faults | noticed | share |\n|---|---|---|---|", flush=True)
    missed = []
    for package in chosen.packages:
        seconds = chosen.seconds or SECONDS[Path(package).parts[0]]
        missed += measure(chosen.root, package, chosen.count, seconds, chosen.seed)
    print("\nNot noticed:", *(missed or ["none"]), sep="\n")


if __name__ == "__main__":
    main()
