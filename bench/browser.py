"""Measure the time from an event to the painted picture in a browser. No test uses the result."""

import re
import statistics
import tempfile
from contextlib import contextmanager
from itertools import product
from pathlib import Path

CHANGE = """([label, values, pause]) => {
  const bench = document.querySelector('.scantape-bench');
  const control = () => [...bench.querySelectorAll('label, fieldset')]
    .find(part => part.textContent.trim().startsWith(label)).querySelector('select, input');
  const changed = value => new Promise((done, failed) => {
    const start = performance.now();
    const late = setTimeout(() => failed(Error(`${label} ${value}: no other picture`)), 20000);
    const watch = new MutationObserver(() => {
      watch.disconnect();
      clearTimeout(late);
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done(performance.now() - start);
        port2.postMessage(null);
      });
    });
    watch.observe(bench.querySelector('.picture'), { childList: true, subtree: true });
    const button = bench.querySelector(`[aria-label="${label} ${value}"]`);
    if (button) return button.click();
    const input = control();
    if (input.type === 'checkbox') input.checked = !input.checked;
    else input.value = value;
    // A form submits text at a change event, and only after an input event.
    for (const type of ['input', 'change']) input.dispatchEvent(new Event(type));
  });
  const rest = () => new Promise(done => setTimeout(done, pause));
  return (async () => {
    const times = [];
    for (const value of values) { times.push(await changed(value)); await rest(); }
    return times;
  })();
}"""
MIXED = """async count => {  // changes of every kind; each waits until the last change is painted
  const bench = document.querySelector('.scantape-bench');
  const turned = (input, value) => {
    input.value = value;
    for (const type of ['input', 'change']) input.dispatchEvent(new Event(type));
  };
  const find = selector => bench.querySelector(selector);
  const round = n => Math.floor(n / 8);
  const acts = [
    n => turned(find('.scantape-values input[type=range]'), 0.3 + (n % 97) / 150),
    n => find(`[aria-label="order ${round(n) % 3}"]`).click(),
    () => find('.scantape-save > summary').click(),
    n => find(`[role=tab]:nth-child(${round(n) % 4 + 1})`).click(),
    () => find('.scantape-taps input').click(),
    n => turned(find('[data-focus*=theme]'), round(n) % 2 ? 'dark' : 'light'),
    n => turned(find('[data-focus*=cost]'), round(n) % 2 ? 'sum' : 'last'),
    () => find("[data-cell^='scan:']")?.dispatchEvent(new Event('click', { bubbles: true })),
  ];
  for (let n = 0; n < count; n++) {
    let last = performance.now();
    const watch = new MutationObserver(() => { last = performance.now(); });
    watch.observe(bench, { childList: true, subtree: true, attributes: true });
    acts[n % acts.length](n);
    while (performance.now() - last < 120 || bench.getAttribute('aria-busy') === 'true')
      await new Promise(done => setTimeout(done, 20));
    watch.disconnect();
  }
}"""
MEMORY = """import gc, os, psutil
from ipywidgets.widgets.widget import _instances
gc.collect()
rss = psutil.Process().memory_info().rss // 2**20
print("memory:", len(_instances), len(gc.get_objects()), rss)"""
FULL, MANY = 192, 576  # numbers of changes: to fill all caches, then to return to the same state
NEW = "import visual\nbench = visual.Workbench(order=2, view='{view}')\nbench"
VIEWS = ("machine", "tapes")
CHANGES = {
    "order": ("order", ["1", "2"] * 4),
    "taps": ("taps of", [None] * 8),
    "loop": ("loop", ["gap", "coupled", "extra", "square", "fibonacci", "logistic"]),
    "steps, each new": ("steps", [str(steps) for steps in range(5, 12)]),
}
# Milliseconds between two changes, for a fast and for a slow user.
PAUSES = {100: "in JupyterLab, fast", 2000: "in JupyterLab, slow"}


def spread(times):
    return f"median {statistics.median(times):6.1f} ms, longest {max(times):6.1f} ms"


@contextmanager
def bench_in_jupyter_lab(playwright, launch, view, *cells):
    """Yield a page of JupyterLab with a notebook: a new workbench, and then `cells`."""
    from in_browser.jupyter_lab import jupyter_lab
    from nbformat import v4

    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    cells = [*map(v4.new_code_cell, (NEW.format(view=view), *cells))]
    notebook = v4.new_notebook(cells=cells, metadata=kernel)
    with (
        tempfile.TemporaryDirectory() as folder,
        jupyter_lab(Path(folder)) as server,
    ):
        browser = launch(playwright)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(120_000)
        page.goto(server.address("bench", notebook))
        page.get_by_text("| Idle").wait_for()
        page.locator(".jp-InputArea-editor").first.click()
        page.keyboard.press("Control+Enter")
        page.locator(".scantape-bench").wait_for()
        yield page
        browser.close()


def measure_changes(playwright, launch):
    """Measure the time from the event of a control to the new picture in JupyterLab."""
    for (pause, user), view in product(PAUSES.items(), VIEWS):
        with bench_in_jupyter_lab(playwright, launch, view) as page:
            for name, control in CHANGES.items():
                times = page.evaluate(CHANGE, [*control, pause])
                print(f"{view}, change of {name:16} {user}: {spread(times)}   ≤ 100 ms median")


def measure_memory(playwright, launch):
    """Measure the memory of the page and of the kernel after many changes in JupyterLab."""
    with bench_in_jupyter_lab(playwright, launch, "tapes", MEMORY) as page:
        devtools = page.context.new_cdp_session(page)
        for number, changes in enumerate((FULL, MANY)):
            page.evaluate(MIXED, changes)
            page.locator(".jp-InputArea-editor").last.click()
            page.keyboard.press("Control+Enter")
            page.get_by_text(re.compile(f"\\[{number + 2}\\]:")).wait_for()
            devtools.send("HeapProfiler.collectGarbage")
            counters = devtools.send("Memory.getDOMCounters")
            heap = devtools.send("Runtime.getHeapUsage")["usedSize"] / 2**20
            _, widgets, objects, rss = page.get_by_text("memory:").last.inner_text().split()
            print(
                f"after {changes} more changes: page {counters['nodes']} nodes, "
                f"{counters['jsEventListeners']} listeners, {heap:.1f} MB; "
                f"kernel {widgets} widgets, {objects} objects, {rss} MB",
                flush=True,
            )


PLAY = """() => new Promise((done) => {
    const { machine } = document.querySelector(".scantape-machine"), times = [];
    let last = performance.now();
    machine.play();
    const frame = (now) => {
        times.push(now - last);
        last = now;
        if (times.length < 300) requestAnimationFrame(frame); else done(times.slice(1));
    };
    requestAnimationFrame(frame);
})"""


def measure_frames(playwright, launch):
    """Measure the milliseconds between two frames of a machine that plays."""
    import visual
    from lab import gallery

    browser = launch(playwright)
    for name in ("square", "gap", "coupled"):
        with tempfile.TemporaryDirectory() as folder:
            machine = visual.machine(gallery.loops[name].trace(order=3))
            page = browser.new_page(viewport={"width": 1280, "height": 900})
            page.goto(machine.save(Path(folder) / "machine.html").as_uri())
            times = page.evaluate(PLAY)
            late = sum(time > 34 for time in times) / len(times)
            print(
                f"machine of {name}, order 3: {spread(times)}, {late:.1%} over 34 ms   ≤ 17 ms, 2 %"
            )
            page.close()
    browser.close()


def measure():
    """Print all measurements, or a line if the browser is missing."""
    try:
        from in_browser.chromium import CHROMIUM, FLAGS
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        print(f"in a browser: {error.name} is not installed")
        return
    if CHROMIUM is None:
        print("in a browser: Chromium is missing")
        return

    def launch(playwright):
        return playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)

    with sync_playwright() as playwright:
        measure_frames(playwright, launch)
        measure_changes(playwright, launch)
        measure_memory(playwright, launch)


if __name__ == "__main__":
    measure()
