"""How far a long run has come."""

import time
from collections.abc import Iterator
from typing import Any


class Progress:
    """A bar on standard error once a run has taken a second."""

    def __init__(self, delay: float = 1.0) -> None:
        self.started, self.delay = time.monotonic(), delay
        self.bar: Any = None

    def steps(self, name: str, total: int) -> Iterator[int]:
        """0 … total-1, shown as they pass."""
        for step in range(total):
            if step % 64 == 0 and time.monotonic() - self.started > self.delay:
                self._show(name, step, total)
            yield step
        if self.bar is not None:
            self.bar.update(total - self.bar.n)

    def _show(self, name: str, step: int, total: int) -> None:
        from tqdm import tqdm  # only a run that takes long pays for the import

        if self.bar is None:
            self.bar = tqdm(total=total, desc=name, unit="step", leave=False)
        elif self.bar.desc != f"{name}: ":
            self.bar.reset(total)
            self.bar.set_description(name)
        self.bar.update(step - self.bar.n)

    def close(self) -> None:
        """Take the bar off the screen."""
        if self.bar is not None:
            self.bar.close()
