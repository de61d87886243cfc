// Walks through the moments of the pictures inside an element: a plain ES module, which runs in
// a page without anything else and, through anywidget, in a notebook.  It draws nothing: it
// dims, lights and names what is already in the SVGs, by their attributes data-moments (the
// names of the moments, on the root), data-step (the moment of an element), data-cell (the key
// of the quantity in it) and data-mentions (the keys of a formula, first the one it makes;
// a star at the end of a key stands for all values of a variable).

const KEYS = { ArrowRight: 1, ArrowDown: 1, PageDown: 5, ArrowLeft: -1, ArrowUp: -1, PageUp: -5 };
const SPEEDS = { slow: 2000, normal: 1000, fast: 400 };

const GAP = 8; // pixels around what is brought into view

const SCAN = "[data-cell^='scan:']";
const CARDS = ["scan", "inside"].map((what) => `[data-cell^='${what}:']`).join(); // a click opens them
const [PLAY, PAUSE] = ["▶ play", "❚❚ pause"];

let hinted = true; // until a cell is clicked

const isLater = (part) => Boolean(part.closest("[data-later]"));

// A step of a Scan by its numbers alone, of its name, as ``1 · square, step 0``.
function briefStep(name) {
  return name.replace(/^(\d+) · .*, (step \d+)$/, "Scan $1, $2");
}

// A text whose numbers have as many digits as those in a picture.
function briefly(text) {
  const brief = (number) => Number(number).toPrecision(4).replace(/^.*e.*$/, (large) => String(Number(large)));
  return text.replace(/-?\d+\.\d{4,}(e[-+]?\d+)?/g, brief);
}

// Makes the pictures inside `root` walkable.  Returns what a caller needs: the step can be set,
// it is told to `changed`, and `destroy` takes every listener and control away again.
// With `whole` and without a `step`, all steps are seen at first, as they are by a button.  `all`
// are the moments of a run of which the pictures show a part, by number: `show` brings others.
// `open` gets the number of a Scan whose card is clicked.
/**
 * @param {Element} root
 * @param {{step?: number|null, whole?: boolean, changed?: (step: number) => void,
 *   open?: Function|null, hint?: string, all?: object}} options
 */
export function stepper(root, { step = null, whole = false, changed = () => {}, open = null, hint = "", all = {} } = {}) {
  const ending = new AbortController();
  let bound = new AbortController(); // to the pictures that are there now
  const on = (target, type, listener) =>
    target.addEventListener(type, listener, { signal: ending.signal });
  let pictures, names, moments, parts, cells, formulas, mentioned;
  let place = -1; // of the moment that is shown, or all of them
  let timer = null;
  let pinned = null; // a cell
  let chosen = {}; // the moment of a picture that shows only one, and why, where nobody chose it
  // Takes up the pictures that are inside `root` now.
  function adopt(more) {
    bound.abort();
    bound = new AbortController();
    const on = (target, type, listener) => target.addEventListener(type, listener, { signal: bound.signal });
    pictures = [...root.querySelectorAll("svg")].filter((svg) => svg.dataset.moments || svg.querySelector("[data-cell]"));
    names = new Map(Object.entries(more).map(([number, name]) => [Number(number), name]));
    for (const svg of pictures) {
      svg.setAttribute("role", "group"); // an image has no parts, but this one will
      svg.setAttribute("aria-label", svg.querySelector("title").textContent);
      for (const [number, name] of Object.entries(JSON.parse(svg.dataset.moments || "{}"))) {
        if (!names.get(Number(number))) names.set(Number(number), name);
      }
      on(svg, "pointerover", (event) => !pinned && cellAt(event) && light(cellAt(event)));
      on(svg, "pointerout", () => pinned || light(null));
      on(svg, "focusin", (event) => !pinned && cellAt(event) && light(cellAt(event)));
      on(svg, "click", (event) => cellAt(event) && pin(cellAt(event)));
    }
    const inside = (selector) => pictures.flatMap((svg) => [...svg.querySelectorAll(selector)]);
    parts = new Map();
    for (const part of inside("[data-step]")) {
      const step = Number(part.dataset.step);
      if (!parts.has(step)) parts.set(step, []);
      parts.get(step).push(part);
    }
    moments = [...names.keys()].sort((a, b) => a - b);
    cells = inside("[data-cell]");
    formulas = inside("[data-mentions]");
    mentioned = new Map(formulas.map((f) => [f, f.dataset.mentions.split("|")]));
    cells.forEach((cell, number) => {
      cell.setAttribute("tabindex", number ? "-1" : "0"); // one stop; Shift and arrows go on
      cell.setAttribute("role", "img");
      cell.setAttribute("aria-label", titleOf(cell));
    });
    seen = Infinity;
    pinned = null;
    bar.hidden = moments.length < 2; // nothing to walk through, but cells are lit
    slider.max = moments.length - 1;
  }

  // The controls.
  const button = (label, text, act) => {
    const made = element("button", { type: "button", "aria-label": label, title: label }, text);
    on(made, "click", act);
    return made;
  };
  const first = button("first step", "«", () => walk(0));
  const back = button("previous step", "‹ back", () => walk(place - 1));
  const play = button("play", PLAY, () => (timer === null ? start() : stop()));
  const ahead = button("next step", "step ›", () => walk(place + 1));
  const last = button("last step", "»", () => walk(moments.length - 1));
  const every = button("all steps", "all", () => rest());
  const slider = element("input", {
    type: "range", min: 0, step: 1, "aria-label": "step",
    "data-lm-suppress-shortcuts": "true",
  });
  const speed = element("select", { "aria-label": "speed" });
  for (const name of Object.keys(SPEEDS)) speed.append(element("option", { value: name }, name));
  speed.value = "normal";
  const shown = element("output", { "aria-live": "polite", class: "scantape-moment" });
  const told = element("p", { class: "scantape-told", role: "status", title: "by keyboard: Shift and arrows, then Enter" });
  const label = element("label", { class: "scantape-slider" }, slider);
  const bar = element("div", { class: "scantape-bar", role: "group", "aria-label": "walk through the steps" },
    first, back, play, ahead, last, every, label, speed, shown);
  root.prepend(bar);
  bar.after(told);
  on(slider, "input", () => walk(Number(slider.value)));
  on(speed, "change", () => timer !== null && start());

  // Steps.  Of what happens after the moment `seen`, no number can be read.
  let seen = Infinity;
  const calm = matchMedia("(prefers-reduced-motion: reduce)");

  const nameOf = (place) => names.get(moments[place]) || `step ${moments[place]}`;

  function go(to, { tell = true, scroll = true } = {}) {
    if (!moments.length) return;
    place = Math.min(Math.max(to, 0), moments.length - 1);
    const now = moments[place];
    reveal(now);
    for (const [number, some] of parts) {
      for (const part of some) {
        part.toggleAttribute("data-now", number === now);
        part.toggleAttribute("data-dim", number !== now);
      }
    }
    keepRead(now);
    shown.dataset.currentStep = now;
    every.disabled = false;
    tellPlace();
    if (scroll) bring(now);
    if (place === moments.length - 1) stop();
    if (tell) changed(now);
  }

  // Who goes to a moment does not play any more.
  function walk(to) {
    stop();
    go(to);
  }

  // What the moment reads stays as it is, where each picture had it last.
  function keepRead(now) {
    for (const cell of cells) cell.removeAttribute("data-read");
    const readers = (parts.get(now) || []).flatMap((part) => [part, ...part.querySelectorAll("[data-reads]")]);
    for (const key of new Set(readers.flatMap((part) => (part.dataset.reads || "").split("|")))) {
      for (const svg of pictures) {
        const past = (cell) => svg.contains(cell) && cell.closest("[data-dim]") && !isLater(cell);
        cells.findLast((cell) => cell.dataset.cell === key && past(cell))?.setAttribute("data-read", "");
      }
    }
  }

  function reveal(now) {
    for (const [number, some] of parts) {
      const later = number > now;
      if (later === number > seen) continue;
      for (const part of some) {
        part.toggleAttribute("data-later", later);
        if (later) part.setAttribute("aria-hidden", "true");
        else part.removeAttribute("aria-hidden");
      }
    }
    seen = now;
    if (pinned && isLater(pinned)) choose(null);
  }

  // No step: the picture as it is in a book.
  function rest({ tell = true } = {}) {
    stop();
    place = -1;
    reveal(Infinity);
    for (const part of [...parts.values()].flat()) {
      part.removeAttribute("data-now");
      part.removeAttribute("data-dim");
    }
    if (!tell) place = moments.indexOf(chosen.moment); // by the picture
    delete shown.dataset.currentStep;
    every.disabled = true;
    tellPlace();
    if (tell) changed(-1);
  }

  // Where the bar stands, of which moment it tells, and which ways lead on from there.
  function tellPlace() {
    slider.value = place < 0 ? slider.max : place; // all has happened
    slider.toggleAttribute("data-all", place < 0);
    const name = place < 0 ? `all ${moments.length} steps` : nameOf(place);
    slider.setAttribute("aria-valuetext", name);
    shown.textContent = place < 0 ? name : `${place + 1} of ${moments.length} · ${briefStep(name)}`;
    shown.title = name;
    first.disabled = place === 0;
    back.disabled = place <= 0;
    ahead.disabled = last.disabled = place === moments.length - 1;
  }

  // The parts of a step in a picture, but not in the small tapes.
  const partsOf = (svg, moment) => (parts.get(moment) || []).filter((part) => svg.contains(part) && !part.closest(SCAN));

  // Where the page shows a picture, below the bar and inside all that scrolls or clips, from and to;
  // and what scrolls it: what is around it or, since the bar goes along, the page.
  function seenOf(svg) {
    let [top, bottom, scroller] = [bar.getBoundingClientRect().bottom, innerHeight, null];
    for (let part = svg.parentElement; part !== document.body; part = part.parentElement) {
      const { overflowY } = getComputedStyle(part);
      if (overflowY === "visible") continue;
      const box = part.getBoundingClientRect();
      [top, bottom] = [Math.max(top, box.top), Math.min(bottom, box.bottom)];
      if (/auto|scroll/.test(overflowY) && part.scrollHeight > part.clientHeight + 1) scroller ??= part;
    }
    return { top, bottom, scroller: scroller || document.scrollingElement };
  }

  // Brings the current step into view, if it is not.
  function bring(now) {
    for (const svg of pictures) {
      const boxes = partsOf(svg, now).map((part) => part.getBoundingClientRect());
      if (!boxes.length) continue;
      const { top, bottom, scroller } = seenOf(svg);
      const above = Math.min(...boxes.map((box) => box.top)) - top - GAP;
      const below = Math.max(...boxes.map((box) => box.bottom)) - bottom + GAP;
      const by = above < 0 ? above : Math.max(0, Math.min(above, below));
      if (by) scroller.scrollBy({ top: by, behavior: calm.matches || pinned ? "auto" : "smooth" });
    }
  }

  function start() {
    stop();
    if (place === moments.length - 1) go(0);
    timer = setInterval(() => go(place + 1), SPEEDS[speed.value]);
    play.textContent = PAUSE;
    play.setAttribute("aria-label", "pause");
  }

  function stop() {
    clearInterval(timer);
    timer = null;
    play.textContent = PLAY;
    play.setAttribute("aria-label", "play");
  }

  on(root, "keydown", (event) => {
    event.stopPropagation(); // a notebook has shortcuts of its own, and `d d` deletes a cell
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === speed) return;
    const among = event.shiftKey && KEYS[event.key] && cells.includes(event.target);
    if (among) turn(event.target, KEYS[event.key]);
    else if (event.key in KEYS) walk(place + KEYS[event.key]);
    else if (event.key === "Home") walk(0);
    else if (event.key === "End") walk(moments.length - 1);
    else if (event.key === " " && event.target.tagName !== "BUTTON") timer === null ? start() : stop();
    else if (event.key === "Enter" && cells.includes(event.target)) pin(event.target);
    else if (event.key === "Escape") choose(null);
    else return;
    event.preventDefault();
  });

  const stepOf = (part) => part.closest("[data-step]")?.dataset.step;

  // Quantities: the same key is lit wherever it stands.
  function titleOf(cell) {
    const title = cell.querySelector("title");
    return title ? title.textContent : cell.dataset.cell;
  }

  function turn(cell, way) {
    const open = cells.filter((other) => other === cell || !isLater(other));
    const next = open[(open.indexOf(cell) + way + open.length) % open.length];
    cell.setAttribute("tabindex", "-1");
    next.setAttribute("tabindex", "0");
    next.focus();
  }

  // What stands for all values of a variable has their keys from the text around it.
  function keysOf(cell) {
    const around = mentioned.get(cell.closest("[data-mentions]")) || [];
    return [cell.dataset.cell, ...around.filter((key) => key.endsWith("*"))];
  }

  const within = (one, all) => all.endsWith("*") && one.startsWith(all.slice(0, -1));
  const same = (one, other) => one === other || within(one, other) || within(other, one);

  function light(cell) {
    const lit = cell ? keysOf(cell) : [];
    for (const other of cells) mark(other, lit.some((key) => same(key, other.dataset.cell)));
    for (const [formula, keys] of mentioned) mark(formula, lit.some((key) => keys.some((k) => same(key, k))));
    told.toggleAttribute("data-hint", !cell);
    if (!cell) return (told.textContent = [chosen.words, moments.length && hinted ? hint : ""].filter(Boolean).join("; "));
    const makes = (f) => mentioned.get(f)[0] === cell.dataset.cell && stepOf(f) === stepOf(cell);
    const best = stepOf(cell) && formulas.find((f) => makes(f) && !isLater(f)); // of this very step
    const [title] = titleOf(cell).split(": ");
    told.textContent = open && cell.closest(SCAN) === cell ? `click to open ${title}` : briefly(titleOf(cell));
    if (best) told.append(element("span", { class: "scantape-made" }, ` made by ${[...best.querySelectorAll("text")].map((text) => text.textContent).join("   ")}`));
  }

  function mark(part, lit) {
    part.toggleAttribute("data-lit", Boolean(lit));
    for (const shape of part.querySelectorAll(":scope > rect")) shape.style.strokeWidth = lit ? "4" : "";
    for (const text of part.matches("[data-mentions]") ? part.querySelectorAll("text") : []) {
      text.style.textDecoration = lit ? "underline" : "";
    }
  }

  function pin(cell) {
    hinted = false;
    const card = open && cell.closest(CARDS);
    if (card && open(...card.dataset.cell.split(":")) !== false) return;
    choose(pinned === cell ? null : cell);
  }

  function choose(cell) {
    pinned = cell;
    light(cell);
  }

  // Where a cell stands, also in another picture of the run: the result shows the last step once more.
  const placeOf = (cell) => {
    const place = { key: cell.dataset.cell, step: stepOf(cell), small: Boolean(cell.closest(CARDS)) };
    return { ...place, nth: cellsAt(place).indexOf(cell) };
  };

  function cellsAt({ key, step, small }) {
    return cells.filter((cell) => cell.dataset.cell === key && stepOf(cell) === step && Boolean(cell.closest(CARDS)) === small);
  }

  function cellAtPlace(place) {
    const found = place ? cellsAt(place) : [];
    return found[place?.nth] || found[0] || null;
  }

  const cellAt = (event) => event.target.closest && event.target.closest("[data-cell]");
  // Begins with the pictures, or goes on with others that have come in their place.
  function show(step, whole, more = {}, only = {}) {
    chosen = only;
    const [before, goesOn] = [pinned && placeOf(pinned), Boolean(pictures)];
    adopt(more);
    choose(cellAtPlace(before)); // its number may be another one now
    const wanted = moments.indexOf(step);
    if (wanted < 0 && whole) rest({ tell: false });
    else go(Math.max(wanted, 0), { tell: false, scroll: goesOn && wanted >= 0 });
  }

  show(step, whole, all);
  return {
    show,
    set: (wanted) => moments.includes(wanted) && wanted !== moments[place] && go(moments.indexOf(wanted), { tell: false }),
    destroy() {
      stop();
      ending.abort();
      bound.abort();
      bar.remove();
      told.remove();
    },
  };
}

// In a notebook: the pictures are a trait, and so is the step.
function render({ model, el }) {
  const root = placed(el, { class: "scantape" });
  let walking = null;

  function draw() {
    if (walking) walking.destroy();
    root.replaceChildren(...model.get("pictures").map((source, number) => {
      const svg = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
      return element("div", { class: `picture ${model.get("themes")[number]}` }, document.importNode(svg, true));
    }));
    walking = stepper(root, {
      step: model.get("step"),
      whole: true,
      changed: (step) => share(model, { step }),
    });
  }

  const move = () => walking.set(model.get("step"));
  const unheard = listening(model, { "change:pictures": draw, "change:step": move });
  draw();
  return () => {
    unheard();
    walking.destroy();
  };
}

// A page may have this module twice, joined to others.
/** @type {NodeListOf<HTMLElement>} */
const found = document.querySelectorAll("[data-scantape]:not([data-started])");
for (const root of found) {
  root.dataset.started = "";
  stepper(root, { step: Number(root.dataset.at ?? NaN), whole: "whole" in root.dataset });
}

export default { render };
