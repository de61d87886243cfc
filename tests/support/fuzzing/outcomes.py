"""What may become of what was made up: a result, or a refusal in one sentence; and nothing else."""

import os
from collections import Counter
from random import Random

import lab

SEEDS = range(int(os.environ.get("FUZZ", "4")))
LONGEST = 600  # characters of a sentence; it may list what there is


def check_sentence(told):
    """Raise AssertionError for what is not said in one line that a person can read."""
    assert told.strip(), "nothing is said"
    assert len(told.splitlines()) == 1, told
    assert len(told) < LONGEST, told
    assert told.isprintable(), ascii(told)
    assert "Traceback" not in told, told


def refusal(call):
    """What is said if a call is refused, empty if it is not; whatever else happens is raised."""
    try:
        call()
    except lab.LabError as error:
        told = str(error)
        check_sentence(told)
        return told
    return ""


def tried(makers, seed, times):
    """How many of the random calls gave a result, and how many were refused.

    A maker gets a `Random`, and makes a call and what it is about; of the makers one is chosen
    for each call.  What a call is about is told where it is neither.
    """
    chance, found = Random(seed), Counter(done=0, refused=0)
    for _ in range(times):
        call, about = chance.choice(makers)(chance)
        try:
            found["refused" if refusal(call) else "done"] += 1
        except Exception as error:
            raise AssertionError(f"{type(error).__name__} of {about!a}") from error
    return found
