"""The rows that slices select, compared with the same slices of an array in NumPy."""

import numpy as np
import pytensor.tensor as pt
import pytest

from lab.scans.slices import cut_of

KNOWN = ["x[3:]", "x[::-1]", "x[:-1][::-1]", "x[:-2][::-1][1:]", "x[1:9:2][1:]", "x[2:][1:][::2]"]
UNKNOWN = ["x[:0][::-1]", "x[:3][::-1]", "x[-2:]", "x[2:1:-1]"]  # rows depend on the length of x


@pytest.mark.parametrize("text", KNOWN + UNKNOWN)
def test_rows_of_slices(text):
    x, selected = pt.dvector("x"), eval(text, {"x": np.arange(10)})
    cut = cut_of(eval(text, {"x": x}))
    assert (cut.base is x) == (text in KNOWN)
    if text in KNOWN:
        actual = np.arange(10)[cut.first] + cut.stride * np.arange(len(selected))
        np.testing.assert_array_equal(actual, selected)
