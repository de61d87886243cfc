"""A JupyterLab server for tests in a browser."""

import json
import os
import secrets
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[3]
TIMEOUT = 120  # seconds, for a busy computer
HOMES = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "IPYTHONDIR")
NEWS = "@jupyterlab/apputils-extension:announcements"  # would request permission to fetch news


@dataclass(frozen=True)
class JupyterLab:
    """A running server and the folder of its notebooks."""

    folder: Path
    base: str
    token: str

    def address(self, name, content):
        """Write a notebook, and return its address, in a workspace without other tabs."""
        (self.folder / f"{name}.ipynb").write_text(json.dumps(content))
        return f"{self.base}/lab/workspaces/{name}/tree/{name}.ipynb?token={self.token}"

    def open(self, browser, name, content, **options):
        """Return a new page that shows a notebook, and the list of the page's errors."""
        page, errors = browser.new_page(**options), []
        page.set_default_timeout(1000 * TIMEOUT)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(self.address(name, content))
        page.get_by_text("| Idle").wait_for()
        return page, errors


def run_cell(page, number):
    """Run a code cell of the notebook that a page shows."""
    page.locator(".jp-Notebook .jp-CodeCell .jp-InputArea-editor").nth(number).click()
    page.keyboard.press("Control+Enter")


def environment(home, runtime):
    """Return the variables of a server with its files in `home` and its sockets in `runtime`."""
    homes = {name: str(home / name.lower()) for name in HOMES}
    paths = {"JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"), "JUPYTER_RUNTIME_DIR": runtime}
    paths["JUPYTERLAB_SETTINGS_DIR"] = str(home / "settings")
    return {**os.environ, **homes, **paths, "PYTHONPATH": str(ROOT)}


@contextmanager
def jupyter_lab(folder):
    """Run a server for the notebooks in `folder` until the end of the `with` block."""
    token = secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"]
    command += [f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={folder}"]
    command += ["--LabApp.expose_app_in_browser=True", "--LabApp.extension_manager=readonly"]
    command += ["--KernelManager.transport=ipc"]  # a port could be taken before a kernel uses it
    home = folder / ".home"
    tracker = home / "settings" / "@jupyterlab" / "notebook-extension"
    tracker.mkdir(parents=True)
    all_cells = json.dumps({"windowingMode": "none"})  # render cells outside the window, too
    (tracker / "tracker.jupyterlab-settings").write_text(all_cells)
    page_config = home / "jupyter_config_dir" / "labconfig" / "page_config.json"
    page_config.parent.mkdir(parents=True)
    page_config.write_text(json.dumps({"disabledExtensions": {NEWS: True}}))
    log = folder / "jupyter.log"
    with (
        TemporaryDirectory() as short,  # a socket's path has at most 107 characters
        open(log, "w") as out,
        subprocess.Popen(
            command, env=environment(home, short), stdout=out, stderr=out, cwd=folder
        ) as server,
    ):
        try:
            port = port_of(server, short, log)
            yield JupyterLab(folder, f"http://127.0.0.1:{port}", token)
        finally:
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(10)
            server.kill()


def port_of(server, runtime, log):
    """Wait until a server listens on a port, which it writes to a file, and return the port."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end and server.poll() is None:
        for path in Path(runtime).glob("jpserver-*.json"):
            with suppress(ValueError):  # the server is still writing
                return json.loads(path.read_text())["port"]
        time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()}")
