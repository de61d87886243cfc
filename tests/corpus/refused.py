"""The refused actions of each graph, with words of the message. All other actions work."""

NO_STATE = {"influence": "no state is real"}
ONLY_REAL = "expected a real floating-point variable"
COMPLEX = "PyTensor has no gradient of complex variables"
NO_STEP = "runs 0 steps"
REFUSED = {
    "documentation.polynomial": NO_STATE,
    "documentation.jacobian": NO_STATE,
    "composed.of_one_step": NO_STATE,
    "composed.of_no_step": {
        "machine": "expected a run with at least one step",
        "influence": "runs 0 steps",
        "stepgraph": NO_STEP,
    },
    "composed.nothing_depends": {
        "ssa": "a loop overwrites no slot",
        "phases": "no Scan of this graph is a pullback",
    },
    "composed.through_whole_numbers": dict.fromkeys(
        ("explain", "order 2", "order 1", "compare"), ONLY_REAL
    ),
    "composed.through_complex_numbers": dict.fromkeys(("order 2", "order 1"), COMPLEX),
    # PyTensor's own pullback fails where a generator has a gradient
    "composed.of_a_walk": {"agree": "agree with ours"},
}
