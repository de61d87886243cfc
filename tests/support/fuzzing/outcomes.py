"""Permitted outcomes of a call: a result, or an error with a message of one sentence."""

import os
import re
from collections import Counter
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


def check_sentence(told):
    """Raise AssertionError unless the message is one readable line."""
    assert told.strip(), "empty message"
    assert len(told.splitlines()) == 1, told
    assert len(told) < LONGEST, told
    assert told.isprintable(), ascii(told)
    assert "Traceback" not in told, told


def message_of(call, kind=lab.LabError):
    """Return the message of the error that a call raises, after a check of its form."""
    with pytest.raises(kind) as caught:
        call()
    check_sentence(str(caught.value))
    return str(caught.value)


def error_test(*cases, kind=lab.errors.ArgumentError):
    """Return a test of calls: each raises an error whose message is a sentence and matches.

    A case is (call, message) or (call, kind, message).
    """
    cases = [case if len(case) == 3 else (case[0], kind, case[1]) for case in cases]

    @pytest.mark.parametrize(("call", "kind", "message"), cases)
    def test(call, kind, message):
        assert re.search(message, message_of(call, kind))

    return test


def words_test(*cases, longest=LONGEST):
    """Return a test of calls: the message of each contains the words of its case, literally.

    A case is (call, *words) or (call, kind, *words).
    """

    @pytest.mark.parametrize(("call", "words"), [(call, words) for call, *words in cases])
    def test(call, words):
        kind, *words = words if isinstance(words[0], type) else (lab.LabError, *words)
        message = message_of(call, kind)
        assert [part for part in words if part not in message] == [], message
        assert len(message) < longest, message

    return test


def tried(calls, seed, times):
    """Return the numbers of results and of errors of random calls.

    `calls` takes a `Random` and yields functions, each with its description. If a function raises
    another error than `LabError`, the description is part of an AssertionError.
    """
    found = Counter(done=0, refused=0)
    for call, about in islice(calls(Random(seed)), times):
        try:
            call()
            found["done"] += 1
        except Exception as error:
            try:
                if not isinstance(error, lab.LabError):
                    raise
                check_sentence(str(error))
            except Exception:
                raise AssertionError(f"{type(error).__name__} of {about!a:.300}") from error
            found["refused"] += 1
    return found
