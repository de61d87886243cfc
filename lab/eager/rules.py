"""Register differentiable versions of the functions of numpy."""

from lab.eager.tape import Function, GradientMaker, Operand, Plain, primitive

#: The registered functions of numpy, and their differentiable versions.
REGISTERED: dict[object, Operand] = {}


def rule(theirs: Plain, gradient_maker: GradientMaker) -> Function:
    """Register and return a differentiable version of the NumPy function `theirs`.

    `lab.eager.primitive` describes gradient makers.
    """
    REGISTERED[theirs] = ours = primitive(theirs, gradient_maker)
    return ours
