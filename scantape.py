"""The command ``scantape``, and checks of the installation.

Ctrl-C ends the command at any time with one word and status 130, without a traceback.  Therefore
it imports `visual.cli.main`, which does the work, only after it handles the signal.

`lab` and `visual` run this file by its path before their first import: their names are not unique,
so neither can import the other half to find out whether it is ours.
"""

import atexit
import gc
import io
import os
import re
import signal
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).resolve().parent
OLDEST_PYTENSOR = (3, 0, 7)
REINSTALL = "pip install --force-reinstall --no-deps scantape"


def command() -> None:
    """Run the command and end the process, which is short: it collects no garbage."""
    signal.signal(signal.SIGINT, stop)
    # When all is told, Python gives its signals back to the system, which would kill.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    try:
        check_half("lab")
        check_half("visual")
        check_pytensor()
    except ImportError as error:
        print(f"scantape: {error}", file=sys.stderr)
        sys.exit(2)
    from visual.cli.main import main

    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal may lack letters
    status = main()
    gc.freeze()
    try:
        sys.stdout.flush()
    except OSError:  # it was told; and Python flushes once more as it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, AttributeError):  # the user's module has closed it, or taken it away
        pass
    sys.exit(status)


def check_half(name: str) -> None:
    """Raise ImportError if ``import name`` finds something else than the package of Scantape."""
    ours = HERE / name / "__init__.py"
    module = sys.modules.get(name)
    spec = None if module else find_spec(name)
    if module is None and spec is None:
        return  # the import says so
    place = getattr(module, "__file__", None) or getattr(spec, "origin", None)
    if place is None:  # a folder without __init__.py, or an object that somebody put there
        folders = getattr(module, "__path__", None) or getattr(
            spec, "submodule_search_locations", None
        )
        place = next(iter(folders or ["this session"]))
    if Path(place).resolve() != ours:
        raise ImportError(
            f"{name} = {place}: expected Scantape's package {ours.parent}, which this one shadows. "
            "Rename or uninstall it, or start Python in another folder."
        )
    if "Scantape" not in ours.read_text(encoding="utf-8", errors="replace")[:200]:
        raise ImportError(
            f"{name} = {place}: expected Scantape's package, which another one has overwritten. "
            f"Uninstall that one, then run: {REINSTALL}"
        )


def warn_of_half(name: str) -> None:
    """Warn of the same, for `lab`, which works without `visual`."""
    try:
        check_half(name)
    except ImportError as error:
        warnings.warn(str(error), stacklevel=3)


def check_pytensor() -> None:
    """Raise ImportError if PyTensor is older than the first version that works."""
    import pytensor

    version = re.match(r"(\d+)\.(\d+)(?:\.(\d+))?", pytensor.__version__, re.ASCII)
    if version and tuple(int(part or 0) for part in version.groups()) < OLDEST_PYTENSOR:
        oldest = ".".join(map(str, OLDEST_PYTENSOR))
        raise ImportError(
            f"pytensor = {pytensor.__version__}: expected version {oldest} or newer. Run: "
            f"pip install 'pytensor>={oldest}'. On Python 3.11, PyMC needs PyTensor 2 and replaces "
            "it again: use Python 3.12 or newer, or an environment without PyMC."
        )


def setup(_: object) -> None:
    """Refuse to be a Sphinx extension, which Scantape was before version 0.3."""
    raise RuntimeError(
        "scantape: the directive was removed in version 0.3: use a code cell of MyST-NB with "
        "visual.draw, or an image that `scantape draw` writes."
    )


def stop(*_: object) -> None:
    """End the process at once."""
    os.write(2, b"scantape: stopped.\n")
    os._exit(130)


if __name__ == "__main__":
    command()
