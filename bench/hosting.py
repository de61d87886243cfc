"""Measure the memory and the time that a user of Binder or of a JupyterHub needs.

    python bench/hosting.py [lesson.md]

The program starts a JupyterLab server and a kernel, which runs all cells of a lesson.  Memory is
the proportional set size (PSS) of both.  PSS divides a memory page among all processes that share
the page; the resident set size (RSS) counts the page in full for each process.  The time to the
first picture starts with the request for a kernel and ends with a tape as SVG.
"""

import json
import os
import statistics
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

import jupytext
import psutil
from jupyter_client import BlockingKernelClient

FIRST = "import visual; from lab import gallery; visual.tapes(gallery.loops['square'].trace())"
ROOT = Path(__file__).parent.parent
LESSON = sorted((ROOT / "notebooks").glob("01_*.md"))[0]
TIMES = 3


class Server:
    """A running JupyterLab, controlled through its REST interface."""

    def __init__(self, jupyter):
        self.folder, self.base, self.token = jupyter.folder, jupyter.base, jupyter.token

    def send(self, path, method="GET", **body):
        request = urllib.request.Request(
            f"{self.base}/api/{path}",
            data=json.dumps(body).encode() if method == "POST" else None,
            method=method,
            headers={"Authorization": f"token {self.token}"},
        )
        with urllib.request.urlopen(request, timeout=60) as response:
            return json.loads(response.read() or b"null")

    def kernel(self):
        """Start a kernel. Return its identifier and its client."""
        identifier = self.send("kernels", "POST", name="python3")["id"]
        pattern = f"kernel-{identifier}.json"
        end = time.monotonic() + 60
        while not (paths := list(self.folder.rglob(pattern))):
            assert time.monotonic() < end, "no kernel was started"
            time.sleep(0.01)
        client = BlockingKernelClient(connection_file=str(paths[0]))
        client.load_connection_file()
        client.start_channels()
        while True:
            try:
                client.wait_for_ready(timeout=60)
            except RuntimeError:  # the kernel does not send heartbeats yet
                assert time.monotonic() < end, "the kernel does not answer"
            else:
                return identifier, client

    def processes(self):
        """Return the server and its child processes."""
        return [
            process for process in psutil.Process().children(recursive=True) if process.is_running()
        ]


def outputs_of(client, source):
    """Run a cell. Return its output by MIME type."""
    outputs = {}

    def hook(message):
        outputs.update(message["content"].get("data", {}))
        assert message["msg_type"] != "error", message["content"]

    client.execute_interactive(source, output_hook=hook, timeout=300)
    return outputs


def first_picture(server):
    """Return the seconds to the first picture of a new kernel, and the processor seconds used."""
    before, start = set(server.processes()), time.perf_counter()
    identifier, client = server.kernel()
    assert "<svg" in outputs_of(client, FIRST)["image/svg+xml"]
    elapsed = time.perf_counter() - start
    times = [process.cpu_times() for process in set(server.processes()) - before]
    client.stop_channels()
    server.send(f"kernels/{identifier}", "DELETE")
    return elapsed, sum(usage.user + usage.system for usage in times)


def memory(processes, kind):
    """Return the memory of the processes in MB; `kind` is Pss or Rss."""
    total = 0
    for process in processes:
        lines = Path(f"/proc/{process.pid}/smaps_rollup").read_text().splitlines()
        total += sum(int(line.split()[1]) for line in lines if line.startswith(f"{kind}:"))
    return total / 1000


def measure(lesson=LESSON, times=TIMES):
    """Return all measurements by name; the times are medians."""
    sys.path.append(str(ROOT / "tests" / "support"))
    from in_browser.jupyter_lab import jupyter_lab

    cells = [cell.source for cell in jupytext.read(lesson).cells if cell.cell_type == "code"]
    with tempfile.TemporaryDirectory() as folder, jupyter_lab(Path(folder)) as jupyter:
        os.environ.pop("PYTHONPATH", None)
        server = Server(jupyter)
        first_picture(server)  # fills the caches
        pairs = [first_picture(server) for _ in range(times)]
        seconds, processor = (statistics.median(column) for column in zip(*pairs, strict=True))
        server_memory = memory(server.processes(), "Pss")
        _, client = server.kernel()
        for cell in cells:
            outputs_of(client, cell)
        time.sleep(2)
        sizes = {kind: memory(server.processes(), kind) for kind in ("Pss", "Rss")}
        client.stop_channels()
    return {
        "first picture, s": seconds,
        "  of the processor, s": processor,
        "server, MB PSS": server_memory,
        "server and kernel after the lesson, MB PSS": sizes["Pss"],
        "  the same, MB RSS": sizes["Rss"],
    }


def main():
    lesson = Path(sys.argv[1]) if len(sys.argv) > 1 else LESSON
    for name, number in measure(lesson).items():
        print(f"{name:44} {number:8.1f}")


if __name__ == "__main__":
    main()
