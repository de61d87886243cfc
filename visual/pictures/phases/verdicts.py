"""The role and the legend text of each verdict of a derivation."""

from collections.abc import Collection, Mapping

from lab.gradients.record import Verdict
from visual.scene.theme import Role

LOOKS: Mapping[Verdict, tuple[Role, str]] = {
    Verdict.NOTED: (Role.PANEL, ""),
    Verdict.ABSENT: (Role.UNNEEDED, ""),
    Verdict.READ: (Role.READ, "value read by this step"),
    Verdict.REUSED: (Role.REUSED, "forward result, not recomputed"),
    Verdict.ACCUMULATED: (Role.PRESERVED, "read, unchanged"),
    Verdict.OVERWRITTEN: (Role.OVERWRITTEN, "read, then replaced"),
    Verdict.CLEARED: (Role.SPENT, "cleared"),
    Verdict.SUMMED: (Role.INTERMEDIATE, "sum over the steps"),
    Verdict.PER_STEP: (Role.INTERMEDIATE, "a value per step"),
    Verdict.CONNECTED: (Role.RESULT, "receives a gradient"),
    Verdict.ZERO: (Role.UNNEEDED, "zero gradient"),
    Verdict.DISCONNECTED: (Role.UNNEEDED, "disconnected, no gradient"),
    Verdict.UNDEFINED: (Role.UNDEFINED, "no derivative rule"),
    Verdict.UNTRACED: (Role.UNTRACED, "not recorded on the tape"),
}


def legend_of(verdicts: Collection[Verdict]) -> dict[Role, str]:
    """Return the legend texts of the roles of some verdicts; verdicts of a role share a text."""
    legend = dict[Role, str]()
    for verdict, (role, text) in LOOKS.items():
        if verdict in verdicts and text:
            legend[role] = f"{legend[role]}, or {text}" if role in legend else text
    return legend
