"""Write the symbols of derivatives, such as C′, dC/dx₃, and d2x."""

from lab.notation import RAISED, subscript


class ResultName(str):
    """The name of a result, with a definition if it has one: ``C′ = dC/dx₀`` with the symbol C′."""

    symbol: str

    def __new__(cls, symbol: str, definition: str = "") -> "ResultName":  # noqa: D102
        name = super().__new__(cls, f"{symbol} = {definition}" if definition else symbol)
        name.symbol = symbol
        return name


def cost_symbol(order: int) -> str:
    """Write the derivative of order `order` of the cost: C, C′, C″, C‴, C⁗, or C⁽⁵⁾."""
    primes = ("", "′", "″", "‴", "⁗")
    return f"C{primes[order] if order < 5 else f'⁽{str(order).translate(RAISED)}⁾'}"


class DerivativeSymbol(str):
    """The symbol of a derivative; `direct` and `part` are arguments of its function.

    `total` is the symbol of the total gradient to which the derivative contributes.
    """

    direct: bool
    part: int
    total: str


def derivative_symbol(of: str, wrt: str, direct: bool = False, part: int = 0) -> DerivativeSymbol:
    """Write the derivative of a quantity wrt another quantity: ``dC′/d(dC/dx₃)``.

    A `direct` derivative excludes the contributions of later steps: ``∂C/∂x₃``.  If several Scans
    contribute directly, `part` is the number of one of them, from 1: ``∂₂C/∂x₃``.
    """
    d = "∂" if direct else "d"
    above, below = (f"({name})" if "/" in name else name for name in (of, wrt))
    symbol = DerivativeSymbol(f"{d}{subscript(part) if part else ''}{above}/{d}{below}")
    symbol.direct, symbol.part = direct, part
    whole = getattr(wrt, "total", wrt)
    symbol.total = str(symbol) if (direct, whole) == (False, wrt) else derivative_symbol(of, whole)
    return symbol


def gradient_name(order: int, name: str) -> str:
    """Return the name of the gradient of `name`: ``dx`` at order 1, ``d2x`` at order 2."""
    return f"d{order}{name}" if order > 1 else f"d{name}"
