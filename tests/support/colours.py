"""How far colours are apart for an eye: CIE Lab, and what colour-blind eyes see.

Matrices: Machado, Oliveira & Fernandes, "A Physiologically-based Model for Simulation of Color
Vision Deficiency" (2009), severity 1.0; they apply to linear RGB.  Lab: CIE 15, D65.
"""

import numpy as np

EYES = {
    "usual": np.eye(3),
    "protan": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deutan": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
    "tritan": np.array(
        [
            [1.255528, -0.076749, -0.178779],
            [-0.078411, 0.930809, 0.147602],
            [0.004733, 0.691367, 0.303900],
        ]
    ),
}
XYZ = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)
WHITE = XYZ @ np.ones(3)


def lab_of(colour, eye="usual"):
    """L*, a*, b* of ``#rrggbb`` as an eye sees it."""
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    x, y, z = np.clip(XYZ @ np.clip(EYES[eye] @ linear, 0, 1), 0, None) / WHITE
    f = [t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29 for t in (x, y, z)]
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def apart(first, second):
    """How far two colours are apart for the eye that tells them apart least (CIE 1976)."""
    return min(np.linalg.norm(lab_of(first, eye) - lab_of(second, eye)) for eye in EYES)


def lightness_apart(first, second):
    """How far two colours are apart where there are no colours."""
    return abs(lab_of(first)[0] - lab_of(second)[0])


def alike(theme, least):
    """Pairs of roles that look alike: neither the edge nor a hatch tells them, nor the colours.

    `least` is by how much fills or edges must differ, for all eyes; in print in lightness.
    """
    measure = lightness_apart if theme.name == "print" else apart
    looks = sorted(theme.looks.items())
    for number, (role, look) in enumerate(looks):
        for other, its in looks[number + 1 :]:
            marked = (look.line, look.hatch) != (its.line, its.hatch)
            colours = max(measure(look.fill, its.fill), measure(look.stroke, its.stroke))
            if not marked and colours < least:
                yield role.name, other.name, round(float(colours), 1)
