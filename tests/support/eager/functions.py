"""Functions of numpy and arguments to try them with: by the eager tape, numpy and autograd."""

import numpy

A = numpy.array([[0.3, -1.2, 2.0], [0.7, 0.1, -0.4]])
B = numpy.array([[1.5, 0.2, -0.6], [-0.9, 0.8, 0.5]])
C = numpy.arange(24.0).reshape(2, 3, 4) / 10 - 1.03
V, ROW = numpy.array([0.4, -0.8, 1.3]), numpy.array([0.5, -0.7, 0.2, 0.9])
POSITIVE = numpy.abs(A) + 0.2
ZEROS = numpy.array([[0.3, 0.0, 2.0], [0.0, 0.1, -0.4]])

# name and special property of the case → a function of a NumPy module, and its arguments
FUNCTIONS = {
    "arcsinh": (lambda np, a: np.arcsinh(a), [A]),
    "arccosh": (lambda np, a: np.arccosh(1 + a), [POSITIVE]),
    "arctanh": (lambda np, a: np.arctanh(a / 3), [A]),
    "hypot": (lambda np, a, b: np.hypot(a, b), [A, V]),
    "divmod": (lambda np, a: divmod(a, 0.37)[1] * divmod(2.3, a)[1], [POSITIVE]),
    "sum, initial": (lambda np, a: np.sum(a * a, axis=1, initial=3.0), [A]),
    "max, initial": (lambda np, a: np.max(a, axis=1, initial=1.0) ** 2, [A]),
    "min, initial": (lambda np, a: np.min(a, initial=-1.0, axis=0, keepdims=True) * a, [A]),
    "std, one entry": (lambda np, a: np.std(a, axis=1, keepdims=True) + a**2, [V[:, None]]),
    "clip, by numpy's names": (lambda np, a: np.clip(a, a_min=-0.5, a_max=1.5) ** 2, [A]),
    "swapaxes, by numpy's names": (lambda np, a: np.swapaxes(a, axis1=0, axis2=1) ** 2, [A]),
    "prod": (lambda np, a: np.prod(a), [A]),
    "prod, axis": (lambda np, a: np.prod(a, axis=1), [C]),
    "prod, axes": (lambda np, a: np.prod(a, axis=(0, 2), keepdims=True), [C]),
    "prod, zeros": (lambda np, a: np.prod(a, axis=0) + np.prod(a), [ZEROS]),
}
#: autograd lacks a rule for these, or has another convention.
ALONE = {
    "flatten": (lambda np, a: a.flatten() * a.flatten("F"), [A]),
    "methods": (lambda np, a: a.std(0) * a.prod(0) + a.clip(-1, 1).var(), [A]),
    "a.squeeze": (lambda np, a: a[None].squeeze() * a.swapaxes(0, 1).T.squeeze(), [A]),
}
