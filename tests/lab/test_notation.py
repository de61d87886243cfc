"""How numbers in order are told, against what the words stand for."""

from itertools import combinations

from lab.notation import ranges


def test_numbers_that_follow_each_other_are_told_by_their_ends():
    for chosen in combinations(range(9), 5):
        told, found = ranges(chosen), list[int]()
        for part in told.split(", "):
            first, _, last = part.partition("–")
            found += range(int(first), int(last or first) + 1)
            assert not last or int(last) >= int(first) + 2
        assert found == list(chosen)
    assert ranges([1, 33, 34, 35, 37]) == "1, 33–35, 37"
    assert ranges([]) == ""
