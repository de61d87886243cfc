def network_from(start, rows, matrix, squash=np.tanh):
    """Compute the sum of the last state in a Python loop."""
    state = np.array(start)
    for row in rows:
        state = squash(matrix @ state + row)
    return state.sum()


of_h = rates(lambda start: network_from(start, u, W), h[0])
of_matrix = rates(lambda matrix: network_from(h[0], u, matrix), W)
of_u = rates(lambda rows: network_from(h[0], rows, W), u)
assert np.allclose(tape[0], of_h, rtol=1e-7)
assert np.allclose(dW, of_matrix, rtol=1e-7)
assert np.allclose(network.trace(wrt="u").outputs[1], of_u, rtol=1e-7)

of_sines = rates(lambda matrix: network_from([0.5, -0.2], np.zeros((3, 2)), matrix, np.sin), W)
assert np.allclose(mine(W), of_sines, rtol=1e-7)
assert np.allclose(by_hand(W, np.transpose), of_sines, rtol=1e-7)
assert turn.check(mine).is_right
assert "Wᵀ·g" in turn.check(lambda m: by_hand(m, lambda same: same)).reason
assert "last step" in turn.check(lambda m: by_hand(m, np.transpose, True)).reason

assert list(W.T @ [1, 0]) == [0.9, -0.4]
solve(backward, "[0.9, −0.4]", "[0.9, 0.3]", "[0.9, 0]")
solve(reads, "0, 1, 3", "1, 3", "-1, -3, 0")
