def unrolled(values):
    """Return c₁ of two explicit steps, without a tape."""
    first, second, last = values
    return (first * 2 * x1 + second) * 2 * x0 + last


slopes = rates(unrolled, [a0, b0, c0], 1e-4)
assert np.allclose([of_a, of_b_slot, of_c], slopes, rtol=1e-10)
wrong = [slopes[0], 2 * slopes[1], 2 * slopes[2]]
assert isclose(c1, 4 * x0 * x1)

# The two machines differ in Scan 3, but not in ∂C′/∂x.
scans = [side.scans[2].tapes for side in (broken.true, broken.broken)]
for tapes, expected in zip(scans, (slopes, wrong), strict=True):
    (slots,) = (t.final for t in tapes if t.name == "d2dx")
    assert np.allclose(slots[::-1], expected)
shown = visual.machine(broken, moment=7).text()
assert "Scan 3, step 0" in shown
assert "✗ dC′/d(dC/dx)" in shown
assert "✗ ∂C′/∂x" not in shown

of_five = 32 * 31 * 30 * 0.95**29
assert isclose(float(third_by(added)), of_five, rel_tol=1e-12)
assert isclose(float(third_by(lambda reads, writes: reads)), 3 * of_five, rel_tol=1e-12)
assert turn.check(added).is_right


def as_sets(reads, writes):
    return set(reads) - set(writes)


assert turn.check(as_sets).is_right
assert isclose(float(third_by(as_sets)), of_five, rel_tol=1e-12)
assert "old rule" in turn.check(lambda reads, writes: reads).reason
solve(of_b, 2 * 0.95, 1, 3.8, 3.43)
solve(same, 0, 1, 2)
