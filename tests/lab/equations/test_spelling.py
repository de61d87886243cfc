"""The notation of numbers in pictures and equations."""

import numpy as np
import pytest

from lab.notation import number_text


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0.0, "0"),
        (-0.0, "0"),
        (1.0, "1"),
        (0.66342, "0.6634"),
        (float("nan"), "⚠ nan"),
        (float("-inf"), "⚠ -inf"),
        (1e-300, "1e-300"),
        (-1.23456e300, "-1.235e300"),
        (np.int64(123456), "123456"),
        (np.int64(12345678901), "1.235e10"),
        (True, "True"),
        (1.5e-7, "1.5e-7"),
    ],
)
def test_numbers_have_four_significant_digits(value, written):
    assert number_text(value) == written
