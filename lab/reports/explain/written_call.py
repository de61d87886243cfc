"""The call of `scan` as it stands in a source file: what the step names, and what it is passed.

PyTensor notes which line made a variable.  Where that line is still there, the call on it tells
the names of the step's arguments and those of what is handed to them; elsewhere nothing is told.
"""

import ast
import linecache
import re
from collections.abc import Sequence
from dataclasses import dataclass

Frame = tuple[str, int, str, str]  # file, line, function, and the line's text
PASSED = ("fn", "sequences", "outputs_info", "non_sequences")
NOTED = re.compile(r"_(t|t[mp]\d+|prev|previous|last|old)$")  # when it is from: x_t, x_tm1


@dataclass(frozen=True)
class WrittenCall:
    """The names of a step's arguments, and for each the name of what is passed, if it has one."""

    step: str
    names: tuple[str, ...]
    passed: tuple[str | None, ...]

    @property
    def misplaced(self) -> dict[str, int]:
        """Arguments that bear the name of what is passed to another, and where that one stands."""
        found = {}
        for place, name in enumerate(self.names):
            there = [n for n, p in enumerate(self.passed) if p in (name, NOTED.sub("", name))]
            if there and place not in there:
                found[name] = there[0]
        return found


def written_call(stacks: Sequence[Sequence[Frame]]) -> WrittenCall | None:
    """The call of `scan` on the innermost of these lines that has one; None if it cannot be read.

    A line that no longer reads as it did when the variable was made is not believed.
    """
    for file, number, _, text in (frame for stack in stacks for frame in reversed(stack)):
        lines = linecache.getlines(file)
        if number > len(lines) or lines[number - 1].strip() != (text or "").strip():
            continue
        try:
            tree = ast.parse("".join(lines))
        except (SyntaxError, ValueError, RecursionError):  # as of magics in a notebook
            continue
        calls = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Call) and _last_name(node.func) == "scan"
            if node.lineno <= number <= (node.end_lineno or 0)
        ]
        if calls:
            return _read(max(calls, key=lambda call: call.lineno), tree)
    return None


def _last_name(node: ast.AST | None) -> str | None:
    """``a`` and ``self.a`` have the name a; nothing else has one."""
    return getattr(node, "id", None) or getattr(node, "attr", None)


def _read(call: ast.Call, tree: ast.AST) -> WrittenCall | None:
    if any(isinstance(node, ast.Starred) for node in ast.walk(call)):
        return None
    given = dict(zip(PASSED, call.args, strict=False))
    given |= {word.arg: word.value for word in call.keywords if word.arg}
    arguments = _arguments(given.get("fn"), call, tree)
    kinds = [given.get(kind) for kind in PASSED[1:]]
    passed = [name for kind in kinds for entry in _entries(kind) for name in _taps(entry)]
    if arguments is None or len(arguments) != len(passed):
        return None
    return WrittenCall(_last_name(given["fn"]) or "the step", arguments, tuple(passed))


def _arguments(fn: ast.AST | None, call: ast.Call, tree: ast.AST) -> tuple[str, ...] | None:
    """The names of the arguments of a lambda, or of the function that has its name where it is."""
    found = [fn.args] if isinstance(fn, ast.Lambda) else []
    if isinstance(fn, ast.Name):
        around = [  # modules, and the functions that the call is in
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Module)
            or (
                isinstance(node, ast.FunctionDef)
                and node.lineno < call.lineno <= (node.end_lineno or 0)
            )
        ]
        named = (
            [s.args for s in scope.body if isinstance(s, ast.FunctionDef) and s.name == fn.id]
            for scope in around[::-1]
        )
        found = next(filter(None, named), [])
    if len(found) != 1 or found[0].vararg or found[0].kwonlyargs:
        return None
    return tuple(argument.arg for argument in found[0].posonlyargs + found[0].args)


def _entries(node: ast.AST | None) -> list[ast.AST]:
    if isinstance(node, ast.List | ast.Tuple):
        return [*node.elts]
    return [] if node is None or _is_none(node) else [node]


def _is_none(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _taps(entry: ast.AST) -> list[str | None]:
    """The name of what is passed, once for each of its taps; None if it has none."""
    words: dict[object, ast.AST] = {}
    if isinstance(entry, ast.Dict):
        keys = (key.value if isinstance(key, ast.Constant) else None for key in entry.keys)
        words = dict(zip(keys, entry.values, strict=True))
    elif isinstance(entry, ast.Call) and _last_name(entry.func) == "dict":
        words = {word.arg: word.value for word in entry.keywords}
    elif _is_none(entry):
        return []  # an output that feeds nothing back
    taps = words.get("taps")
    count = len(taps.elts) if isinstance(taps, ast.List | ast.Tuple) else 1
    named = words.get("input", words.get("initial", None if words else entry))
    return [_last_name(named)] * count
