// An atlas: pictures that were drawn beforehand, to choose from.  This file is joined to
// stepper.js and uses its `element` and `stepper`.
//
// The data has the choices, `pictures` packed by deflate in base64, and a `tree` that leads from
// loop, taps, order, cost and view to the number of a picture, or to a text that says why there
// is none.  What is unpacked has the picture in all themes and as text, part by part, by turns.  What is chosen stands in the address behind #, and comes from there.

const FIELDS = ["loop", "taps", "order", "cost", "view"]; // as the tree branches
const UNPACKED = 40; // pictures that are kept unpacked
const SETTLED = 200; // ms after a step until the address tells it: browsers limit how often it may

const own = (tree, key) => (tree && typeof tree === "object" && Object.hasOwn(tree, key) ? tree[key] : undefined);

async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).text();
}

// The packed pictures, and the last ones that were unpacked.
class Pictures {
  constructor(packed, themes) {
    this.packed = packed;
    this.themes = themes;
    this.kept = new Map();
  }

  // A picture in a theme as SVG, and as plain text.
  async forms(number, theme) {
    const found = this.kept.get(number) || unpack(this.packed[number]);
    this.kept.delete(number);
    this.kept.set(number, found);
    if (this.kept.size > UNPACKED) this.kept.delete(this.kept.keys().next().value);
    const parts = (await found).split("\0");
    const turns = [...this.themes, "text"];
    const form = (name) => parts.filter((_, part) => part % turns.length === turns.indexOf(name)).join("");
    return { svg: form(theme), text: form("text") };
  }
}

// One choice among several, as radio buttons or as a list.
class Choice {
  constructor(field, label, options, chosen) {
    this.field = field;
    this.chosen = chosen;
    this.inputs = [];
    this.root = element("fieldset", { class: "scantape-control" });
    this.offer(label, options);
  }

  offer(label, options) {
    this.options = options;
    this.inputs = options.map(({ value, label: words, about }) => {
      const input = element("input", { type: "radio", name: this.field, value });
      input.addEventListener("change", () => this.chosen(this.field, value));
      const named = element("label", about ? { title: about } : {}, input, words);
      return { input, named };
    });
    this.root.replaceChildren(element("legend", {}, label), ...this.inputs.map(({ named }) => named));
  }

  show(value) {
    for (const { input } of this.inputs) input.checked = input.value === value;
  }
}

class List {
  constructor(field, label, options, chosen) {
    this.field = field;
    this.input = element("select");
    this.options = options;
    for (const { value, label: words } of options) this.input.append(element("option", { value }, words));
    this.input.addEventListener("change", () => chosen(field, this.input.value));
    this.root = element("div", { class: "scantape-control" }, element("label", {}, element("span", {}, label), this.input));
  }

  show(value) {
    this.input.value = value;
  }
}

// Makes wide pictures as narrow as their frame.
function fitting(frame) {
  const input = element("input", { type: "checkbox" });
  input.addEventListener("change", () => frame.classList.toggle("scantape-fitted", input.checked));
  return element("div", { class: "scantape-control" }, element("label", {}, input, "fit to the width"));
}

// What is chosen, as far as it is offered.
class State {
  constructor(data) {
    this.data = data;
    this.tapped = new Map(); // the taps that were last chosen for a loop
    this.now = {};
    this.step = null;
    this.choose("loop", data.loops[0].value);
    for (const field of ["order", "cost", "view", "theme"]) this.now[field] = this.options(field)[0].value;
  }

  get loop() {
    return this.data.loops.find(({ value }) => value === this.now.loop);
  }

  options(field) {
    return field === "taps" ? this.loop.taps : this.data[`${field}s`];
  }

  // Whether `value` is offered; then it is chosen.
  choose(field, value) {
    if (!this.options(field).some((option) => option.value === value)) return false;
    this.now[field] = value;
    if (field === "taps") this.tapped.set(this.now.loop, value);
    if (field === "loop") this.choose("taps", this.tapped.get(value) || this.loop.taps[0].value);
    return true;
  }

  // The number of the picture, or why there is none.
  get found() {
    return FIELDS.reduce((tree, field) => own(tree, this.now[field]), this.data.tree);
  }
}

// The part of the address that belongs to one of several atlases on a page.
class Address {
  constructor(place) {
    this.before = place ? `${place + 1}.` : "";
    this.timer = null;
  }

  static get all() {
    return new URLSearchParams(location.hash.slice(1));
  }

  read() {
    const found = {};
    for (const [key, value] of Address.all) {
      const [before, field] = key.includes(".") ? [key.slice(0, key.indexOf(".") + 1), key.slice(key.indexOf(".") + 1)] : ["", key];
      if (before === this.before) found[field] = value;
    }
    return found;
  }

  with(state) {
    const all = location.hash.includes("=") ? Address.all : new URLSearchParams();
    for (const field of [...FIELDS, "theme"]) all.set(this.before + field, state.now[field]);
    if (state.step === null) all.delete(`${this.before}step`);
    else all.set(`${this.before}step`, state.step);
    return `#${String(all).replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
  }

  write(state) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      try {
        history.replaceState(history.state, "", this.with(state));
      } catch {
        // in a frame without an address of its own, and where it was changed too often
      }
    }, SETTLED);
  }
}

// Whether what is around an atlas is dark; a page of its own is what its reader likes.
function isDark(root) {
  const scheme = getComputedStyle(root).colorScheme;
  if (scheme.trim() === "dark") return true;
  const either = root.hasAttribute("data-page") || scheme.includes("dark");
  return either && matchMedia("(prefers-color-scheme: dark)").matches;
}

function startAtlas(root, place) {
  const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
  const state = new State(data);
  const address = new Address(place);
  const pictures = new Pictures(data.pictures, data.themes.map(({ value }) => value));
  const walked = root.querySelector(".scantape-walked");
  const frame = walked.querySelector(".picture");
  const about = element("p", { class: "scantape-about" });
  const seen = element("p", { class: "scantape-about" });
  const told = element("p", { class: "scantape-problem", role: "status" });
  const link = element("a", {}, "link to what is shown");
  let walking = stepper(walked);
  let shown = 0;

  const choices = {
    loop: new List("loop", "loop", data.loops.map(({ value }) => ({ value, label: value })), chosen),
    theme: new List("theme", "colours", data.themes, chosen),
    taps: new Choice("taps", state.loop.named, state.loop.taps, chosen),
    order: new Choice("order", "order of the derivative", data.orders, chosen),
    cost: new Choice("cost", "cost", data.costs, chosen),
    view: new Choice("view", "view", data.views, chosen),
  };

  // The form: a single choice is none, and is not offered.
  const row = (name, ...fields) => {
    const offered = fields.filter((field) => field === "taps" || state.options(field).length > 1);
    return element("div", { class: `scantape-group ${name}` }, ...offered.map((field) => choices[field].root));
  };
  const first = row("scantape-loop", "loop", "theme");
  first.append(fitting(frame), about);
  const last = row("scantape-views", "view");
  last.append(seen);
  const form = element("form", { class: "scantape-form", "aria-label": "what is shown" },
    first, row("scantape-taps", "taps"), row("scantape-derivative", "order", "cost"), last);
  form.addEventListener("submit", (event) => event.preventDefault());
  root.prepend(form, told);
  const twin = element("pre", { role: "region", "aria-label": "as text", tabindex: "0" });
  const text = element("details", {}, element("summary", {}, "as text"), twin);
  walked.after(text, element("p", { class: "scantape-link" }, link));

  function chosen(field, value) {
    const before = state.now.loop;
    state.choose(field, value);
    if (state.now.loop !== before) choices.taps.offer(state.loop.named, state.loop.taps);
    show();
    address.write(state);
  }

  function show(problem = "") {
    for (const [field, choice] of Object.entries(choices)) choice.show(state.now[field]);
    about.textContent = state.loop.about;
    seen.textContent = data.views.find(({ value }) => value === state.now.view).about;
    link.href = address.with(state);
    told.textContent = problem;
    if (root.hasAttribute("data-page")) document.documentElement.dataset.colours = state.now.theme;
    return draw();
  }

  async function draw() {
    const number = ++shown;
    const { found } = state;
    let forms = { svg: "", text: "" };
    try {
      if (typeof found === "number") forms = await pictures.forms(found, state.now.theme);
      else told.textContent = `There is no such picture. ${found || ""}`;
    } catch (error) {
      told.textContent = typeof DecompressionStream === "undefined"
        ? "This browser is too old to unpack the pictures: it has no DecompressionStream."
        : `This picture cannot be unpacked: ${error.message}`;
    }
    if (number !== shown) return; // something else was chosen meanwhile
    paint(forms);
  }

  function paint(forms) {
    const speed = walked.querySelector("select")?.value;
    walking.destroy();
    const parsed = forms.svg && new DOMParser().parseFromString(forms.svg, "image/svg+xml");
    const svg = parsed && document.importNode(parsed.documentElement, true);
    frame.replaceChildren(svg || "");
    frame.hidden = text.hidden = !svg;
    twin.textContent = forms.text;
    frame.setAttribute("aria-label", svg ? `picture: ${state.now.view}` : "picture");
    walking = stepper(walked, { step: state.step, changed: moved });
    if (speed && walked.querySelector("select")) walked.querySelector("select").value = speed;
    root.dataset.shown = FIELDS.map((field) => state.now[field]).join(" ");
  }

  function moved(step) {
    state.step = step;
    link.href = address.with(state);
    address.write(state);
  }

  // What the address asks for; what is not offered is told.
  function follow() {
    const asked = address.read();
    const unknown = [...FIELDS, "theme"].filter((field) => field in asked && !state.choose(field, asked[field]));
    if (/^\d+$/.test(asked.step || "")) state.step = Number(asked.step);
    choices.taps.offer(state.loop.named, state.loop.taps);
    const words = unknown.map((field) => `${field} ${asked[field]}`).join(", ");
    return show(words && `The address asks for what is not on this page: ${words}.`);
  }

  if (isDark(root)) state.choose("theme", "dark");
  addEventListener("hashchange", () => Object.keys(address.read()).length && follow());
  return follow();
}

document.querySelectorAll("[data-atlas]").forEach((root, place) => {
  if ("started" in root.dataset) return;
  root.dataset.started = "";
  startAtlas(root, place);
});
