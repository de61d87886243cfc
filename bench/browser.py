"""From a key or a control to the painted picture, in a real browser; figures, never a test."""

import statistics
import tempfile
from pathlib import Path

WALK = """async steps => {
  const slider = document.querySelector('input[aria-label=step]');
  const painted = () => new Promise(done => requestAnimationFrame(() => {
    const { port1, port2 } = new MessageChannel();  // its message comes after the paint
    port1.onmessage = () => done(performance.now());
    port2.postMessage(null);
  }));
  const found = [];
  for (let step = 0; step < steps; step++) {
    await painted();
    await painted();
    await new Promise(done => setTimeout(done, step % 17));  // keys come at any time of a frame
    const start = performance.now();
    slider.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
    found.push(await painted() - start);
  }
  return found;
}"""
CHANGE = """([label, values]) => {
  const bench = document.querySelector('.scantape-bench');
  const control = () => [...bench.querySelectorAll('label, fieldset')]
    .find(one => one.textContent.trim().startsWith(label)).querySelector('select, input');
  const changed = value => new Promise(done => {
    const start = performance.now();
    const watch = new MutationObserver(() => {
      watch.disconnect();
      requestAnimationFrame(() => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = () => done(performance.now() - start);
        port2.postMessage(null);
      });
    });
    watch.observe(bench.querySelector('.scantape-walked'), { childList: true });
    const input = control();
    if (input.type === 'checkbox') input.checked = !input.checked;
    else input.value = value;
    input.dispatchEvent(new Event('change'));
  });
  const rest = () => new Promise(done => setTimeout(done, 100));
  return (async () => {
    const found = [];
    for (const value of values) { found.push(await changed(value)); await rest(); }
    return found;
  })();
}"""
NEW = "import visual\nbench = visual.Workbench(order=2, view='tapes')\nbench"
CHANGES = {
    "order": ("order", ["1", "2"] * 4),
    "taps": ("taps of state", [None] * 8),
    "loop": ("loop", ["gap", "coupled", "extra", "square", "fibonacci", "logistic"]),
    "steps, each new": ("steps", [str(steps) for steps in range(5, 12)]),
}


def spread(times):
    return f"median {statistics.median(times):6.1f} ms, longest {max(times):6.1f} ms"


def walking(playwright, launch):
    """In the one-file page: from the key's event to the frame that shows the next step."""
    import visual
    from lab.loops import gallery

    browser = launch(playwright)
    page = browser.new_page()
    for name in ("rnn", "gap"):
        scene = visual.draw(gallery.loops[name], "tapes", order=2)
        with tempfile.TemporaryDirectory() as folder:
            path = scene.save(Path(folder) / "walk.html")
            page.goto(path.as_uri())
            times = page.evaluate(WALK, len(scene.moments) - 1)
        print(f"step to paint in the page, tapes of {name:5}: {spread(times)}   ≤ 16 ms median")
    browser.close()


def changing(playwright, launch):
    """In JupyterLab: from the control's event to the frame that shows the new picture."""
    from in_browser.jupyter_lab import jupyter_lab, notebook

    with (
        tempfile.TemporaryDirectory() as folder,
        jupyter_lab(Path(folder), bench=notebook(NEW)) as addresses,
    ):
        browser = launch(playwright)
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.set_default_timeout(120_000)
        page.goto(addresses["bench"])
        page.get_by_text("| Idle").wait_for()
        page.locator(".jp-InputArea-editor").first.click()
        page.keyboard.press("Control+Enter")
        page.locator(".scantape-bench").wait_for()
        for what, asked in CHANGES.items():
            times = page.evaluate(CHANGE, list(asked))
            print(f"change of {what:16} in JupyterLab: {spread(times)}   ≤ 150 ms median")
        browser.close()


def browsing():
    """All figures; a line tells what is missing where there is no browser."""
    try:
        from in_browser.chromium import CHROMIUM, FLAGS
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        print(f"in a browser: {error.name} is not installed")
        return
    if CHROMIUM is None:
        print("in a browser: there is no Chromium")
        return

    def launch(playwright):
        return playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)

    with sync_playwright() as playwright:
        walking(playwright, launch)
        changing(playwright, launch)


if __name__ == "__main__":
    browsing()
