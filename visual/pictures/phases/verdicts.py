"""The role and the legend text of every decision of a derivation."""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from lab.gradients.record import Verdict
from visual.scene.theme import Role

LOOKS: Mapping[Verdict, Role] = MappingProxyType(
    {
        Verdict.NOTED: Role.PANEL,
        Verdict.ABSENT: Role.UNNEEDED,
        Verdict.READ: Role.READ,
        Verdict.REUSED: Role.REUSED,
        Verdict.ACCUMULATED: Role.PRESERVED,
        Verdict.OVERWRITTEN: Role.OVERWRITTEN,
        Verdict.CLEARED: Role.SPENT,
        Verdict.SUMMED: Role.INTERMEDIATE,
        Verdict.PER_STEP: Role.INTERMEDIATE,
        Verdict.CONNECTED: Role.RESULT,
        Verdict.ZERO: Role.UNNEEDED,
        Verdict.DISCONNECTED: Role.UNNEEDED,
        Verdict.UNDEFINED: Role.UNDEFINED,
        Verdict.UNTRACED: Role.UNTRACED,
    }
)
WORDS: Mapping[Verdict, str] = MappingProxyType(
    {
        Verdict.READ: "value read by this step",
        Verdict.REUSED: "forward result, not recomputed",
        Verdict.ACCUMULATED: "read, unchanged",
        Verdict.OVERWRITTEN: "read, then replaced",
        Verdict.ABSENT: "not there",
        Verdict.CLEARED: "cleared",
        Verdict.SUMMED: "summed over the steps",
        Verdict.PER_STEP: "one at every step",
        Verdict.ZERO: "zero",
        Verdict.CONNECTED: "a gradient arrives",
        Verdict.DISCONNECTED: "disconnected, without a gradient",
        Verdict.UNDEFINED: "no derivative is known",
        Verdict.UNTRACED: "no record to go back through",
    }
)


def legend_of(verdicts: Iterable[Verdict]) -> dict[Role, str]:
    """Return the legend texts of the roles that occur; equal roles share a text."""
    used, legend = set(verdicts), dict[Role, str]()
    for verdict in Verdict:
        if verdict in used and verdict in WORDS:
            role, words = LOOKS[verdict], WORDS[verdict]
            legend[role] = f"{legend[role]}, or {words}" if role in legend else words
    return legend
