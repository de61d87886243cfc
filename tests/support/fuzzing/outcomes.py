"""Permitted outcomes of a call: a result, or an error with a message of one sentence."""

import os
import re
from collections import Counter
from functools import partial
from itertools import islice
from random import Random

import pytest

import lab

SEEDS = range(int(os.environ.get("FUZZ", "4")))
LONGEST = 600  # characters of a sentence, which may list allowed values


class Mute:
    """An object whose ``repr`` raises an error."""

    def __repr__(self):
        raise RuntimeError("no repr")

    __str__ = __repr__


def check_sentence(message):
    """Raise AssertionError unless the message is one readable line."""
    assert message.strip(), "empty message"
    assert len(message.splitlines()) == 1, message
    assert len(message) < LONGEST, message
    assert message.isprintable(), ascii(message)
    assert "Traceback" not in message, message


def message_of(call, kind=lab.LabError):
    """Return the message of the error that a call raises, after a check of its form."""
    with pytest.raises(kind) as caught:
        call()
    check_sentence(str(caught.value))
    return str(caught.value)


def error_test(*cases, kind=lab.errors.ArgumentError, longest=LONGEST, matches=re.search):
    """Return a test of calls: the message of each error is a sentence and matches all patterns.

    A case is (call, *patterns) or (call, kind, *patterns).
    """
    cases = [
        (call, *rest) if isinstance(rest[0], type) else (call, kind, *rest) for call, *rest in cases
    ]

    @pytest.mark.parametrize(("call", "kind", "patterns"), [(c, k, p) for c, k, *p in cases])
    def test(call, kind, patterns):
        message = message_of(call, kind)
        assert [pattern for pattern in patterns if not matches(pattern, message)] == [], message
        assert len(message) < longest, message

    return test


# Each case lists words of the message instead of patterns.
words_test = partial(error_test, kind=lab.LabError, matches=lambda words, text: words in text)


def count_outcomes(calls, seed, times):
    """Return the numbers of results and of errors of random calls.

    `calls` maps a `Random` to pairs of a function and its description. Raises AssertionError with
    the description if a function raises an error other than `LabError`, or a `LabError` whose
    message is not one readable line.
    """
    counts = Counter(results=0, errors=0)
    for call, description in islice(calls(Random(seed)), times):
        try:
            call()
            counts["results"] += 1
        except Exception as error:
            try:
                if not isinstance(error, lab.LabError):
                    raise
                check_sentence(str(error))
            except Exception:
                raise AssertionError(f"{type(error).__name__} of {description!a:.300}") from error
            counts["errors"] += 1
    return counts
