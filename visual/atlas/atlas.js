// An atlas: pictures that were drawn beforehand, to choose from.  This file is joined to
// stepper.js and form.js, whose functions it uses.
//
// The data has the choices, `pictures` packed by deflate in base64, and a `tree` that leads from
// loop, taps, order, cost and view to the number of a picture, or to a text that says why there
// is none.  What is unpacked has the picture in all themes, as text and its stories, by turns.
// What is chosen stands in the address behind #, and comes from there.

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

  // A picture in a theme as SVG, as plain text, and the stories of its numbers.
  async forms(number, theme) {
    const found = this.kept.get(number) || unpack(this.packed[number]);
    this.kept.delete(number);
    this.kept.set(number, found);
    if (this.kept.size > UNPACKED) this.kept.delete(this.kept.keys().next().value);
    const parts = (await found).split("\0");
    const turns = [...this.themes, "text", "stories"];
    const form = (name) => parts.filter((_, part) => part % turns.length === turns.indexOf(name)).join("");
    return { svg: form(theme), text: form("text"), stories: form("stories") };
  }
}

// What is chosen, as far as it is offered.
class State {
  constructor(data) {
    this.data = data;
    this.tapped = new Map(); // the taps that were last chosen for a loop
    this.now = {};
    this.step = null;
    this.coloured = false; // else the colours are the reader's, and no matter of the address
    this.choose("loop", data.loops[0].value);
    for (const field of ["order", "cost", "view", "theme"]) this.now[field] = this.options(field)[0].value;
  }

  get loop() {
    return this.data.loops.find(({ value }) => value === this.now.loop);
  }

  options(field) {
    return field === "taps" ? this.loop.taps : this.data[`${field}s`];
  }

  label(field) {
    const { value, label } = this.options(field).find((option) => option.value === this.now[field]);
    return label || value;
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
      const field = key.slice(this.before.length);
      if (key.startsWith(this.before) && !field.includes(".")) found[field] = value;
    }
    return found;
  }

  with(state) {
    const all = location.hash.includes("=") ? Address.all : new URLSearchParams();
    const told = { ...state.now, theme: state.coloured ? state.now.theme : null, step: state.step };
    for (const [field, value] of Object.entries(told)) {
      if (value === null) all.delete(this.before + field);
      else all.set(this.before + field, value);
    }
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

// An atlas in a page; `place` is its number there.
class Atlas {
  constructor(root, place) {
    const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    this.root = root;
    this.state = new State(data);
    this.address = new Address(place);
    this.pictures = new Pictures(data.pictures, data.themes.map(({ value }) => value));
    this.walked = root.querySelector(".scantape-walked");
    this.frame = this.walked.querySelector(".picture");
    this.walking = stepper(this.walked, { whole: true, changed: (step) => this.moved(step) });
    this.shown = 0;
    if (isDark(root)) this.state.choose("theme", "dark");
    this.build();
    addEventListener("hashchange", () => Object.keys(this.address.read()).length && this.follow());
    this.follow();
  }

  build() {
    const chosen = (field, value) => this.choose(field, value);
    this.form = new Form(this.state, chosen, fitting(this.frame));
    this.told = element("p", { class: "scantape-problem", role: "status" });
    this.heard = element("p", { class: "scantape-heard", role: "status" }); // by who cannot see it
    this.root.prepend(this.form.root, this.told, this.heard);
    this.twin = element("pre", { role: "region", "aria-label": "as text", tabindex: "0" });
    this.text = element("details", {}, element("summary", {}, "as text"), this.twin);
    this.link = element("a", {}, "link to what is shown");
    this.walked.after(this.text, element("p", { class: "scantape-link" }, this.link));
  }

  choose(field, value) {
    this.state.choose(field, value);
    if (field === "theme") this.state.coloured = true;
    this.show();
    this.address.write(this.state);
  }

  // What the address asks for; what is not offered is told.
  follow() {
    const { state } = this;
    const asked = this.address.read();
    const unknown = [...FIELDS, "theme"].filter((field) => field in asked && !state.choose(field, asked[field]));
    if ("theme" in asked) state.coloured = true;
    if (/^\d+$/.test(asked.step || "")) state.step = Number(asked.step);
    const words = unknown.map((field) => `${field} ${asked[field]}`).join(", ");
    this.show(words && `The address asks for what is not on this page: ${words}.`);
  }

  async show(problem = "") {
    const { state } = this;
    const number = ++this.shown;
    this.form.show();
    this.link.href = this.address.with(state);
    if (this.root.hasAttribute("data-page")) document.documentElement.dataset.colours = state.now.theme;
    const forms = await this.forms();
    if (number !== this.shown) return; // something else was chosen meanwhile
    this.told.textContent = problem || forms.problem || "";
    this.paint(forms);
  }

  // The picture of what is chosen, or why there is none.
  async forms() {
    const { found, now } = this.state;
    if (typeof found !== "number") return { problem: `There is no such picture. ${found || ""}` };
    if (typeof DecompressionStream === "undefined") {
      return { problem: "This browser is too old to unpack the pictures: it has no DecompressionStream." };
    }
    try {
      return await this.pictures.forms(found, now.theme);
    } catch (error) {
      return { problem: `This picture cannot be unpacked: ${error.message}` };
    }
  }

  paint({ svg: source, text = "", stories = "{}" }) {
    const { frame, state } = this;
    const parsed = source && new DOMParser().parseFromString(source, "image/svg+xml");
    const told = element("script", { type: "application/json", "data-stories": "" }, stories);
    frame.replaceChildren(...(parsed ? [document.importNode(parsed.documentElement, true), told] : []));
    frame.hidden = this.text.hidden = !parsed;
    frame.setAttribute("aria-label", `picture: ${state.now.view}`);
    this.twin.textContent = text;
    this.walking.show(state.step, true);
    this.heard.textContent = parsed ? FIELDS.map((field) => `${field} ${state.label(field)}`).join(", ") : "";
    this.root.dataset.shown = FIELDS.map((field) => state.now[field]).join(" ");
  }

  moved(step) {
    this.state.step = step < 0 ? null : step;
    this.link.href = this.address.with(this.state);
    this.address.write(this.state);
  }
}

// A page may have this module twice, joined to others.
document.querySelectorAll("[data-atlas]").forEach((root, place) => {
  if ("started" in root.dataset) return;
  root.dataset.started = "";
  new Atlas(root, place);
});
