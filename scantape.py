"""The command ``scantape``, and checks of the installation.

Ctrl-C ends the command with one line and status 130, without a traceback, even while it imports
modules.  `command` therefore handles the signal before it imports `visual.cli.main`.

Other packages have the names `lab` and `visual` as well.  Each half runs this file by its path
before its first import, and checks that the other half is the package of Scantape.
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
    """Run the command and end the process."""
    signal.signal(signal.SIGINT, stop)
    # Python restores the default handler at its exit; a late Ctrl-C would change the status.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # the process is short
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
    signal.signal(signal.SIGINT, interrupt)
    status = main()
    signal.signal(signal.SIGINT, stop)
    gc.freeze()
    try:
        sys.stdout.flush()
    except OSError:  # `main` has reported the error; Python must not flush again at its exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (ValueError, AttributeError):  # the user's module has closed or removed the stream
        pass
    sys.exit(status)


def check_half(name: str) -> None:
    """Raise ImportError if ``import name`` finds another package than Scantape's."""
    ours = HERE / name / "__init__.py"
    try:
        spec = find_spec(name)
    except ValueError:  # a module without a specification, which code of this session created
        path = "this session"
    else:
        if spec is None:
            return  # the import itself raises an error
        path = spec.origin or next(iter(spec.submodule_search_locations or ["this session"]))
    if Path(path).resolve() != ours:
        raise ImportError(
            f"{name} = {path}: expected Scantape's package {ours.parent}, which this file shadows. "
            "Rename or uninstall it, or start Python in another folder."
        )
    if "Scantape" not in ours.read_text(encoding="utf-8", errors="replace")[:200]:
        raise ImportError(
            f"{name} = {path}: expected Scantape's package, which another package has overwritten. "
            f"Uninstall the other package, then run: {REINSTALL}"
        )


def warn_of_half(name: str) -> None:
    """Warn if ``import name`` finds another package; `lab` works without `visual`."""
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
    """Raise RuntimeError: Scantape was a Sphinx extension before version 0.3."""
    raise RuntimeError(
        "scantape: the directive was removed in version 0.3: use a code cell of MyST-NB with "
        "visual.draw, or an image that `scantape draw` writes."
    )


def interrupt(*_: object) -> None:
    """Let the first Ctrl-C raise KeyboardInterrupt, which removes unfinished files."""
    signal.signal(signal.SIGINT, stop)
    raise KeyboardInterrupt


def stop(*_: object) -> None:
    """End the process immediately."""
    os.write(2, b"scantape: stopped.\n")
    os._exit(130)


if __name__ == "__main__":
    command()
