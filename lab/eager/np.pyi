# Which functions there are, numpy tells when it is imported.
from typing import Any

linalg: Any
__all__: list[str]

def __getattr__(name: str) -> Any: ...
