"""The colors, the line, and the hatch of each role in the themes light, dark, and print.

Roles also differ for color-blind readers. In print, roles differ in lightness, line, or hatch.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from types import MappingProxyType

from lab.errors import Registry


class Role(StrEnum):
    """The meaning of a box. The value is the term and the definition in a legend.

    A picture can replace the definition, but all legends use the same term for the same look. In
    plain text, the pair of `brackets` around the text of a box marks the role.
    """

    word: str
    meaning: str
    brackets: str

    INPUT = "input", "passed to the loop", "()"
    SEED = "seed", "direct gradient of the cost", "<>"
    INTERMEDIATE = "intermediate", "computed, used later", "  "
    UNNEEDED = "unused", "does not affect the result", "``"
    WAITING = "pending", "still zero or empty", ".."
    PRESERVED = "preserved", "read, unchanged", "=="
    OVERWRITTEN = "overwritten", "read, then replaced", "**"
    RESTORED = "restored", "written back (↺)", "=*"
    NEW = "new", "just computed, or a result", "[]"
    SPENT = "done", "not used again", ",,"
    UNWRITTEN = "uninitialized", "memory without a value", "??"
    READ = "saved", "value read by this step", "||"
    RESULT = "result", "used outside this Scan", "[]"
    REUSED = "reused", "forward result, not recomputed", "{}"
    BACKWARD = "backward", "computed in the backward pass", "//"
    UNDEFINED = "undefined", "no derivative rule", "!!"
    UNTRACED = "untraced", "not recorded on the tape", "%%"
    WRONG = "wrong", "differs from the correct value", "##"
    PANEL = "group", "parts that belong together", "  "
    FIRST = "first", "from the first input", "##"
    SECOND = "second", "from the second input", "++"
    THIRD = "third", "from the third input", "^^"

    def __new__(cls, word: str, meaning: str, brackets: str) -> "Role":
        """Return the role with this term, this meaning, and these brackets in plain text."""
        role = str.__new__(cls, f"{word}: {meaning}")
        role._value_ = f"{word}: {meaning}"
        role.word, role.meaning, role.brackets = word, meaning, brackets
        return role


# The edge of a box, and the lines in a box that distinguish roles in print without color.
LineStyle = StrEnum("LineStyle", ["PLAIN", "HEAVY", "DOUBLE", "DASHED", "DOTTED", "BARE"])
Hatch = StrEnum("Hatch", ["NONE", "RISING", "LEVEL", "UPRIGHT", "CROSSED"])
LEGIBLE = 4.5  # the lowest contrast of a text with its background (WCAG 2.1, 1.4.3)


@dataclass(frozen=True)
class Look:
    """The colors, the edge, and the hatch of a role. Only the theme print has hatches."""

    fill: str
    stroke: str
    text: str
    line: LineStyle = LineStyle.PLAIN
    hatch: Hatch = Hatch.NONE


@dataclass(frozen=True)
class Theme:
    """All colors of a picture, and the looks of its roles."""

    name: str
    background: str
    text: str
    muted: str
    arrow: str
    looks: Mapping[Role, Look]

    def look(self, role: Role, faded: bool = False) -> Look:
        """Return the look of a role, or its paler look if `faded`."""
        look = self.looks[role]
        return _washed(look, self.background) if faded else look


# For each role: line, hatch in print, then fill, stroke, and text in light, dark, and print.
TABLE = """
input        plain  rising #dbeafe #2563eb #1e3a8a #1e3a8a #60a5fa #dbeafe #ffffff #000000 #000000
seed         plain  none #fee2e2 #dc2626 #7f1d1d #7f1d1d #f87171 #fee2e2 #a8a8a8 #000000 #000000
intermediate plain  none #ffffff #6b7280 #1f2937 #111827 #9ca3af #f3f4f6 #ffffff #000000 #000000
unneeded     dotted none #ffffff #a7afbb #6b7280 #111827 #4b5563 #9ca3af #ffffff #aaaaaa #666666
waiting      dashed none #ffffff #6b7280 #6b7280 #111827 #9ca3af #9ca3af #ffffff #555555 #555555
preserved    double none #d1fae5 #047857 #064e3b #064e3b #34d399 #d1fae5 #ffffff #000000 #000000
overwritten  heavy  none #fed7aa #c2410c #431407 #7c2d12 #fb923c #ffedd5 #dddddd #000000 #000000
restored     dashed none #d1fae5 #c2410c #064e3b #064e3b #fb923c #d1fae5 #ffffff #000000 #000000
new          heavy  none #ffffff #1f2937 #1f2937 #111827 #e5e7eb #f3f4f6 #ffffff #000000 #000000
spent        plain  none #e5e7eb #9ca3af #4b5563 #1f2937 #4b5563 #b6bcc6 #d6d6d6 #aaaaaa #333333
unwritten    dotted level #e8edf3 #475569 #475569 #253146 #8595ab #b6bcc6 #ffffff #555555 #000000
read         plain  none #eff6ff #1d4ed8 #1e3a8a #172554 #93c5fd #dbeafe #ececec #777777 #000000
result       double rising #dbeafe #1d4ed8 #1e3a8a #1e3a8a #93c5fd #dbeafe #ffffff #000000 #000000
reused       dashed level #a5f3fc #155e75 #164e63 #164e63 #22d3ee #cffafe #ffffff #000000 #000000
backward     dotted rising #d9f99d #3f6212 #365314 #23360b #84cc16 #ecfccb #ffffff #333333 #000000
undefined    heavy  crossed #fce7f3 #be185d #831843 #831843 #f472b6 #fce7f3 #ffffff #000000 #000000
untraced     dotted crossed #f3e8ff #7e22ce #581c87 #3b0764 #c084fc #f3e8ff #ffffff #000000 #000000
wrong        plain  none #be123c #881337 #ffffff #fb7185 #fecdd3 #4c0519 #7f1d1d #000000 #ffffff
panel        bare   none #f6f7f9 #f6f7f9 #1f2937 #1b2434 #1b2434 #e5e7eb #f4f4f4 #f4f4f4 #000000
first        plain  upright #5eead4 #0f766e #042f2e #0f766e #2dd4bf #f0fdfa #ffffff #000000 #000000
second       double upright #fef3c7 #b45309 #5c2d0a #4d3305 #fbbf24 #fef3c7 #ffffff #000000 #000000
third        dashed upright #ede9fe #6d28d9 #4c1d95 #3a2071 #a78bfa #ede9fe #ffffff #000000 #000000
"""
HATCHING = "#8c8c8c"  # hatch lines, light enough to read text over them
# The colors of negative and positive numbers in strips and heat maps, the same in every theme.
NEGATIVE, POSITIVE = "#d21ec3", "#87875a"
SHADES = 16  # the number of shades of each of these colors


def contrast(first: str, second: str) -> float:
    """Return the contrast ratio of two ``#rrggbb`` colors, 1 to 21 (WCAG 2.1, 1.4.3)."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(color: str) -> float:
    channels = [value / 255 for value in bytes.fromhex(color[1:])]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _theme(name: str, number: int, background: str, text: str, muted: str, arrow: str) -> Theme:
    """Return a theme. `number` selects the three colors of a role in each row of `TABLE`."""
    looks = {}
    for row in TABLE.strip().splitlines():
        role, line, hatch, *colors = row.split()
        fill, stroke, letters = colors[3 * number : 3 * number + 3]
        own = Hatch(hatch) if name == "print" else Hatch.NONE
        looks[Role[role.upper()]] = Look(fill, stroke, letters, LineStyle(line), own)
    return Theme(name, background, text, muted, arrow, MappingProxyType(looks))


@cache
def _washed(look: Look, background: str) -> Look:
    """Return a paler look with a legible text."""
    fill = mixed(look.fill, background, 0.6)
    paler = (mixed(look.text, background, share) for share in (0.5, 0.4, 0.3, 0.2, 0.1, 0.0))
    letters = next((text for text in paler if contrast(text, fill) >= LEGIBLE), look.text)
    return Look(fill, mixed(look.stroke, background, 0.5), letters, look.line)


def mixed(start: str, end: str, share: float) -> str:
    """Return the mix of two ``#rrggbb`` colors, with the fraction `share` of the color `end`."""
    pairs = zip(bytes.fromhex(start[1:]), bytes.fromhex(end[1:]), strict=True)
    return "#" + bytes(round(a + (b - a) * share) for a, b in pairs).hex()


LIGHT = _theme("light", 0, "#ffffff", text="#1f2937", muted="#6b7280", arrow="#9a3412")
DARK = _theme("dark", 1, "#111827", text="#e5e7eb", muted="#9ca3af", arrow="#fdba74")
PRINT = _theme("print", 2, "#ffffff", text="#000000", muted="#444444", arrow="#000000")
THEMES = Registry("theme", {theme.name: theme for theme in (LIGHT, DARK, PRINT)})


def heat_color(value: float, theme: Theme) -> str:
    """Return the color of a value from -1 to 1, or of nan. Zero has the color of the background.

    Values have 2 · SHADES + 1 colors, so that an SVG has few paths of patches.
    """
    if value != value:  # nan
        return theme.muted
    level = round(max(-1.0, min(1.0, value)) * SHADES)
    return mixed(theme.background, POSITIVE if level > 0 else NEGATIVE, abs(level) / SHADES)


def shades(theme: Theme) -> list[str]:
    """Return the colors of all values from -1 to 1 in ascending order, then the color of nan."""
    shares = (level / SHADES for level in range(-SHADES, SHADES + 1))
    return [heat_color(share, theme) for share in (*shares, float("nan"))]
