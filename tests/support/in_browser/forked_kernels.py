"""Jupyter kernels that start as forks of a process that has imported everything.

A kernel imports PyTensor, matplotlib, and Scantape for over a second; the site of all lessons
starts 15 kernels. Like a new process, a fork has separate memory, a folder, and an environment.
"""

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from threading import Thread

ROOT = Path(__file__).parents[3]
SLOW = "its import takes two seconds, and no notebook needs it"
# Jupyter starts this process as the kernel. It requests a fork, and ends when the fork ends.
CLIENT = """
import json, os, socket, sys
fork = socket.socket(socket.AF_UNIX)
fork.connect(sys.argv[1])
request = {"cwd": os.getcwd(), "environment": dict(os.environ), "connection": sys.argv[2]}
fork.sendall(json.dumps(request).encode() + b"\\n")
try:
    fork.recv(1)
except KeyboardInterrupt:  # at the end of a lesson
    pass
"""


@cache
def environment():
    """Start the process to fork; return the variables with which Jupyter finds its kernel.

    With these variables, jsonschema does not find an optional library that is slow to import.
    """
    folder = Path(mkdtemp(prefix="scantape-kernels-"))
    address = str(folder / "socket")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address)
    listener.listen(32)
    command = [sys.executable, __file__, str(listener.fileno())]
    path = {**os.environ, "PYTHONPATH": str(ROOT)}
    server = subprocess.Popen(
        command, env=path, pass_fds=[listener.fileno()], stdout=subprocess.DEVNULL
    )
    listener.close()  # the server process has a copy
    atexit.register(server.kill)
    client = [sys.executable, "-S", "-E", "-c", CLIENT, address, "{connection_file}"]
    kernel = {"argv": client, "display_name": "Python 3", "language": "python"}
    (folder / "kernels" / "python3").mkdir(parents=True)
    (folder / "kernels" / "python3" / "kernel.json").write_text(json.dumps(kernel))
    (folder / "rfc3987_syntax.py").write_text(f"raise ImportError({SLOW!r})")
    return {"JUPYTER_PATH": str(folder), "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}"}


def serve(listener):
    """Fork for each request, until this process is killed."""
    while True:
        connection, _ = listener.accept()
        if not os.fork():
            listener.close()
            run(connection)
        connection.close()


def run(connection):
    """Become the kernel of a request, until its client ends."""
    request = json.loads(connection.makefile().readline())
    os.chdir(request["cwd"])
    os.environ.clear()
    os.environ.update(request["environment"])
    os.environ.pop("JPY_PARENT_PID", None)  # the parent is the server
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    Thread(target=lambda: connection.recv(1) or os._exit(0), daemon=True).start()
    kernelapp.launch_new_instance(argv=["-f", request["connection"]])
    os._exit(0)


if __name__ == "__main__":
    from ipykernel import kernelapp, zmqshell  # noqa: F401 (a fork has them)

    import lab
    import visual

    sys.path.pop(0)  # this folder
    visual.draw(lab.gallery.loops["square"]).svg()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    serve(socket.socket(fileno=int(sys.argv[1])))
