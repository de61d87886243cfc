"""How the decisions of a derivation look, and how a legend explains them."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from lab.derivation import Verdict
from visual.theme import Role

LOOKS: Mapping[Verdict, Role] = MappingProxyType(
    {
        Verdict.NOTED: Role.PANEL,
        Verdict.ABSENT: Role.SPENT,
        Verdict.READ: Role.READ,
        Verdict.REUSED: Role.REUSED,
        Verdict.ACCUMULATED: Role.PRESERVED,
        Verdict.OVERWRITTEN: Role.OVERWRITTEN,
        Verdict.CLEARED: Role.SPENT,
        Verdict.SUMMED: Role.INTERMEDIATE,
        Verdict.PER_STEP: Role.INTERMEDIATE,
        Verdict.CONNECTED: Role.INPUT,
        Verdict.ZERO: Role.SPENT,
        Verdict.DISCONNECTED: Role.UNNEEDED,
        Verdict.UNDEFINED: Role.UNDEFINED,
        Verdict.UNTRACED: Role.UNTRACED,
    }
)
WORDS: Mapping[Verdict, str] = MappingProxyType(
    {
        Verdict.READ: "a forward value is read again",
        Verdict.REUSED: "a forward result is reused",
        Verdict.ACCUMULATED: "accumulates: added to what is there",
        Verdict.OVERWRITTEN: "overwritten: nothing is added",
        Verdict.CLEARED: "cleared",
        Verdict.ZERO: "zero",
        Verdict.CONNECTED: "connected: a gradient arrives",
        Verdict.DISCONNECTED: "disconnected: no gradient",
        Verdict.UNDEFINED: "undefined: no derivative is known",
        Verdict.UNTRACED: "untraced: no record to go back through",
    }
)


def legend_of(verdicts: Iterable[Verdict]) -> dict[Role, str]:
    """The words for every look that occurs; those that look the same share a line."""
    used, told = set(verdicts), dict[Role, str]()
    for verdict in Verdict:
        if verdict in used and verdict in WORDS:
            role, words = LOOKS[verdict], WORDS[verdict]
            told[role] = f"{told[role]}, or {words}" if role in told else words
    return told
