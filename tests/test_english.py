"""Plain technical English: patterns that native editors rewrite are rare in code and documents.

The test measures rates per 1,000 words, not single words: a listed word can be correct.
JAX, NumPy, and matplotlib have 4 to 7 such patterns in 1,000 words.
"""

import ast
import io
import re
import tokenize

import pytest
from sites import ROOT

LIMIT = 12  # patterns per 1,000 words
PARTS = {
    "lab": ("lab",),
    "visual": ("visual",),
    "lessons": ("notebooks",),
    "documents": ("README.md", "GUIDE.md", "CONTRIBUTING.md", "CHANGELOG.md", "binder/README.md"),
    "bench": ("bench",),
    "tests": ("tests",),
}
PATTERNS = (ROOT / "tests" / "golden" / "dialect.txt").read_text(encoding="utf-8").splitlines()
DIALECT = {
    name: re.compile(rf"\b(?:{one})\b", re.IGNORECASE)
    for name, one in (line.split(": ", 1) for line in PATTERNS)
}
WORD = re.compile(r"[A-Za-z][A-Za-z'’]*")
FENCE = re.compile(r"^(`{3,}|~{3,})(.*?)\n(.*?)^\1", re.MULTILINE | re.DOTALL)


def prose_of_python(source):
    """Return the comments, docstrings, and strings of at least four words."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    pieces = [token.string[1:] for token in tokens if token.type == tokenize.COMMENT]
    inner = set()  # parts of f-strings; `ast.walk` yields an f-string before its parts
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            inner.update(map(id, ast.walk(node)))
            values = (part.value if isinstance(part, ast.Constant) else "X" for part in node.values)
            pieces.append("".join(map(str, values)))
        elif (
            isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inner
        ):
            pieces.append(re.sub(r"^\s*>>>.*", "", node.value, flags=re.MULTILINE))
    return [piece for piece in pieces if len(re.findall(r"[A-Za-z]{2,}", piece)) >= 4]


def prose_of_markdown(source):
    """Return the text of a page without its code, and the prose in its executed cells."""
    cells = [body for _, info, body in FENCE.findall(source) if "{code" in info]
    text = FENCE.sub("", re.sub(r"\A---\n.*?\n---\n", "", source, flags=re.DOTALL))
    pieces = [re.sub(r"\]\([^)]*\)|`[^`]*`|<[^>]*>", " ", text)]
    for cell in cells:
        code = re.sub(r"^[:%!].*$", "", cell, flags=re.MULTILINE)
        pieces += prose_of_python(code)
    return pieces


def prose(path):
    source = path.read_text(encoding="utf-8")
    return (prose_of_markdown if path.suffix == ".md" else prose_of_python)(source)


def matches(pieces):
    """Return (number of words, all matches with the words around them)."""
    words, hits = 0, []
    for piece in pieces:
        words += len(WORD.findall(piece))
        for name, pattern in DIALECT.items():
            for match in pattern.finditer(piece):
                around = piece[max(0, match.start() - 30) : match.end() + 30]
                hits.append(f"{name}: …{' '.join(around.split())}…")
    return words, hits


def files(part):
    for name in PARTS[part]:
        path = ROOT / name
        if path.is_file():
            yield path
        else:
            yield from sorted(p for s in ("*.py", "*.md") for p in path.rglob(s))


@pytest.mark.parametrize("part", PARTS)
def test_dialect_is_rare(part):
    words, hits = matches(piece for path in files(part) for piece in prose(path))
    assert words > 500
    rate = 1000 * len(hits) / words
    assert rate <= LIMIT, f"{rate:.1f} per 1,000 words, for example {hits[:: len(hits) // 20]}"


BAD = '''
def found(told):
    """What is told of a step: those that stand beside what the loop makes of its own."""
    # So there is no gradient by x, of which nobody knows at first what becomes of it.
    return f"{told}: it is given what the last one says to whom it may be handed over"
'''
GOOD = '''
def describe_step(event):
    """Return one line for each slot that the event reads or overwrites."""
    # The gradient with respect to x is zero here because no later step reads x.
    return f"{event}: expected an array with one entry for each step"
'''


def test_the_measure_recognizes_bad_text():
    words, hits = matches(prose_of_python(BAD))
    assert len(hits) > 12
    assert len(hits) / words > 0.2
    assert matches(prose_of_python(GOOD))[1] == []
    markdown = f"# A page\n\nNobody is told.\n\n```python\n{BAD}\n```\n"
    assert len(matches(prose_of_markdown(markdown))[1]) == 3  # code on a page is not prose
    cell = markdown.replace("```python", "```{code-cell} ipython3")
    assert len(matches(prose_of_markdown(cell))[1]) == 3 + len(hits)
