"""A real JupyterLab on a free port, for tests in a browser."""

import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import closing, contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[3]
PATIENCE = 60
QUIET = ("@jupyterlab/apputils-extension:announcements",)  # asks whether it may fetch news


def free_port():
    with closing(socket.socket()) as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def notebook(*cells):
    """A notebook with cells of code, not run."""
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    made = [{**cell, "id": f"cell-{n}", "source": source} for n, source in enumerate(cells)]
    return {
        "cells": made,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


@contextmanager
def jupyter_lab(folder, **notebooks):
    """The address of each notebook; the server works in `folder` and ends with the block."""
    for name, made in notebooks.items():
        (folder / f"{name}.ipynb").write_text(json.dumps(made))
    port, token = free_port(), secrets.token_hex(16)
    settings = {
        "LabApp.expose_app_in_browser": True,
        "LabApp.extension_manager": "readonly",
    }
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root"]
    command += [f"--port={port}", "--ServerApp.port_retries=0", f"--IdentityProvider.token={token}"]
    command += [f"--ServerApp.root_dir={folder}"]
    command += [f"--{name}={value}" for name, value in settings.items()]
    homes = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    home = folder / ".home"
    apart = {name: str(home / name.lower()) for name in homes}
    paths = {"PYTHONPATH": str(ROOT), "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces")}
    paths["JUPYTERLAB_SETTINGS_DIR"] = str(home / "settings")
    tracker = home / "settings" / "@jupyterlab" / "notebook-extension"
    tracker.mkdir(parents=True)
    all_cells = json.dumps({"windowingMode": "none"})  # also those that are out of sight
    (tracker / "tracker.jupyterlab-settings").write_text(all_cells)
    page_config = home / "jupyter_config_dir" / "labconfig" / "page_config.json"
    page_config.parent.mkdir(parents=True)
    page_config.write_text(json.dumps({"disabledExtensions": dict.fromkeys(QUIET, True)}))
    with open(folder / "jupyter.log", "w") as log:
        server = subprocess.Popen(
            command, env={**os.environ, **apart, **paths}, stdout=log, stderr=log, cwd=folder
        )
        base = f"http://127.0.0.1:{port}"
        try:
            wait(f"{base}/api?token={token}", server, folder / "jupyter.log")
            yield {
                name: f"{base}/lab/workspaces/{name}/tree/{name}.ipynb?token={token}"
                for name in notebooks
            }
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait(10)


def wait(address, server, log):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(address, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()}")
