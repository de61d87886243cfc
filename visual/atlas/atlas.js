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
    const turns = [...this.themes, "text", "stories", "live"];
    const form = (name) => parts.filter((_, part) => part % turns.length === turns.indexOf(name)).join("");
    return { svg: form(theme), text: form("text"), stories: form("stories"), live: form("live") };
  }
}

// What is chosen, as far as it is offered.
class State {
  constructor(data) {
    this.data = data;
    this.tapped = new Map(); // the taps that were last chosen for a loop
    this.now = {};
    this.values = {}; // what those of the loop are changed to, by name
    this.step = null;
    this.scan = null; // the number of the Scan that is open, where it is another than usual
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
    if (["loop", "taps"].includes(field) && this.now[field] !== value) this.values = {};
    this.now[field] = value;
    if (field === "taps") this.tapped.set(this.now.loop, value);
    if (field === "loop") this.choose("taps", this.tapped.get(value) || this.loop.taps[0].value);
    return true;
  }

  // The number of the picture, or why there is none.
  get found() {
    const views = FIELDS.slice(0, -1).reduce((tree, field) => own(tree, this.now[field]), this.data.tree);
    return own(views, `${this.now.view} ${this.scan}`) ?? own(views, this.now.view);
  }

  // Whether a picture with this Scan open is here; then it is chosen.
  open(scan) {
    const before = [this.scan, this.found];
    this.scan = scan;
    if (this.found !== before[1]) return true;
    this.scan = before[0];
    return false;
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
      if (key.startsWith(this.before) && !/^\d+\./.test(field)) found[field] = value;
    }
    return found;
  }

  with(state) {
    const all = location.hash.includes("=") ? Address.all : new URLSearchParams();
    const told = { ...state.now, theme: state.coloured ? state.now.theme : null, step: state.step, scan: state.scan };
    for (const key of [...all.keys()]) if (key.startsWith(`${this.before}at:`)) all.delete(key);
    for (const [name, entries] of Object.entries(state.values)) told[`at:${name}`] = entries.join();
    for (const [field, value] of Object.entries(told)) {
      if (value === null) all.delete(this.before + field);
      else all.set(this.before + field, value);
    }
    return `#${String(all).replaceAll("%3A", ":").replaceAll("%2C", ",")}`;
  }

  write(state) {
    clearTimeout(this.timer);
    const before = JSON.stringify(this.read());
    this.timer = setTimeout(() => {
      if (JSON.stringify(this.read()) !== before) return; // somebody asks for something else
      try {
        history.replaceState(history.state, "", this.with(state));
      } catch {
        // in a frame without an address of its own, and where it was changed too often
      }
    }, SETTLED);
  }

  listen(atlas) {
    addEventListener("hashchange", () => Object.keys(this.read()).length && atlas.follow());
  }
}

// In a notebook, what is chosen is shared with Python, and stands in no address.
class Shared {
  constructor(model) {
    this.model = model;
  }

  read() {
    const { theme, scan, ...chosen } = this.model.get("_chosen");
    return { ...chosen, ...(theme && { theme }), ...(scan && { scan }), step: String(this.model.get("step")) };
  }

  with() {
    return "";
  }

  write(state) {
    const scan = state.scan === null ? null : String(state.scan);
    const theme = state.coloured ? state.now.theme : null;
    share(this.model, { _chosen: { ...state.now, theme, scan }, step: state.step ?? -1 });
  }

  listen(atlas) {
    const { model } = this;
    const chosen = () => {
      const { state } = atlas;
      const other = ([field, value]) => (value ?? (state.coloured ? null : state.now[field])) !== state.now[field];
      const { scan = null, ...fields } = model.get("_chosen");
      if (Object.entries(fields).some(other) || (scan && Number(scan)) !== state.scan) atlas.follow();
    };
    const walked = () => {
      if (model.get("step") === (atlas.state.step ?? -1)) return;
      atlas.state.step = model.get("step") < 0 ? null : model.get("step");
      atlas.walking.set(model.get("step"));
    };
    const unheard = listening(model, { "change:_chosen": chosen, "change:step": walked });
    const unseen = onTheme(() => atlas.colour());
    return () => {
      unheard();
      unseen();
      atlas.walking.destroy();
    };
  }
}

// Whether what is around an atlas is dark; a page of its own is what its reader likes.
function isDark(root) {
  const said = isJupyterDark();
  if (said !== undefined) return said;
  const scheme = getComputedStyle(root).colorScheme;
  if (scheme.trim() === "dark") return true;
  const either = root.hasAttribute("data-page") || scheme.includes("dark");
  return either && matchMedia("(prefers-color-scheme: dark)").matches;
}

const PATCH = /^M[-\d.]+ [-\d.]+h[\d.]+v/; // coloured entries of a vector

// The numbers of the picture in a frame: computed anew when a value of its loop is changed.
class Numbers {
  constructor(frame, changed) {
    this.frame = frame;
    this.values = new Values(changed);
    this.live = {};
    this.apart = null;
    this.drag();
  }

  // Takes up the picture that is in the frame now, and the script with its stories.
  adopt(live, script, shades) {
    this.live = live;
    this.shades = shades;
    this.script = script;
    this.told = script.textContent;
    this.elements = [...this.frame.querySelectorAll("svg text, svg title, svg desc")];
    this.own = this.elements.map((one) => one.textContent);
    this.strips = new Map(); // the paths of a cell
    for (const path of this.frame.querySelectorAll("svg path")) {
      if (PATCH.test(path.getAttribute("d"))) this.strips.set(path.parentNode, [...(this.strips.get(path.parentNode) || []), path]);
    }
    this.isOwn = true;
  }

  // What was given and can be changed by the cell that an event is at; null if it is none.
  given(event) {
    const cell = event.target.closest?.("[data-cell]");
    const cells = [...this.frame.querySelectorAll("[data-cell]")];
    const given = cell && storyInPage(cell.closest("svg"), cells.indexOf(cell))?.given;
    return given ? this.values.find(...given) : null;
  }

  // Shows the numbers of these values; returns what is to be said of it.
  show(values) {
    const { live } = this;
    const fitting = Object.entries(values).every(([name, entries]) => live.base?.[name]?.length === entries.length);
    const isOwn = !fitting || !Object.keys(values).length;
    this.values.show(live, fitting ? values : {}, isOwn ? "" : this.lacking());
    this.apart?.set(this.values.value(this.apart.found));
    if (!live.lines || (isOwn && this.isOwn)) return "";
    this.isOwn = isOwn;
    if (isOwn) {
      this.colour(null);
      this.elements.forEach((one, place) => write(one, this.own[place]));
      this.script.stories = undefined;
      return "";
    }
    const { texts, stories, patches } = computedPicture(live, { ...live.base, ...values }, this.shades);
    this.colour(patches);
    for (const [place, text] of texts) write(this.elements[place], text);
    this.script.stories = retold(JSON.parse(this.told), stories);
    return "This text has the numbers with which the page was made.";
  }

  // What is not computed anew.
  lacking() {
    const unknown = this.live.texts?.some(([, parts]) => parts.includes(null)) && "what shows ⋯";
    const uncoloured = this.live.strips?.includes(null) && "the colours of some entries";
    const lacking = [unknown, uncoloured].filter(Boolean).join(" and ");
    return lacking && `Not computed on a page: ${lacking}.`;
  }

  // Paints the entries of vectors, those of a colour as one path, as in the picture; null paints
  // them as they were.  What has no colour is not there.
  colour(patches) {
    let next = 0;
    for (const [cell, own] of this.strips) {
      const paths = new Map(); // by colour
      for (const _ of own.map((path) => path.getAttribute("d")).join("").matchAll(/M/g)) {
        const { outline, colour } = patches?.[next++] ?? {};
        if (outline) paths.set(colour, (paths.get(colour) ?? "") + outline);
      }
      for (const path of [...cell.children].filter((one) => PATCH.test(one.getAttribute("d")))) path.remove();
      cell.append(...(patches ? [...paths].map(([fill, d]) => drawn("path", { d, fill })) : own));
    }
  }

  // The slider of a number, for its story; the same element as long as it is the same number.
  field(given) {
    const found = given && this.values.find(...given);
    if (!found) return (this.apart = null);
    if (this.apart?.found !== found) this.apart = { found, ...this.values.slider(found) };
    this.apart.set(this.values.value(found));
    return this.apart.root;
  }

  // A number that was given is dragged on its cell, to the right to make it larger.
  drag() {
    let held = null;
    this.frame.addEventListener("pointerdown", (event) => {
      const slider = this.given(event);
      if (!slider || event.button) return;
      held = { slider, at: event.clientX, from: this.values.value(slider), moved: false };
    });
    this.frame.addEventListener("pointerover", (event) => this.frame.classList.toggle("scantape-dragged", Boolean(held || this.given(event))));
    this.frame.addEventListener("pointermove", (event) => {
      const away = held ? event.clientX - held.at : 0;
      if (!held || (!held.moved && Math.abs(away) < 4)) return;
      if (!held.moved) this.frame.setPointerCapture(event.pointerId);
      held.moved = true;
      const { step, key } = held.slider;
      this.values.change(key, Number((held.from + away * step).toPrecision(12)));
    });
    for (const end of ["pointerup", "pointercancel"]) this.frame.addEventListener(end, () => (held = null));
  }
}

// Writes a text, and under it the line with which it is struck through.
function write(text, content) {
  if (text.textContent === content) return;
  text.textContent = content;
  const line = text.localName === "text" && text.nextElementSibling;
  const [, x, y] = (line && /^M([\d.-]+) ([\d.-]+)h[\d.]+$/.exec(line.getAttribute("d"))) || [];
  if (!x) return;
  const wide = text.getComputedTextLength();
  const shift = { middle: wide / 2, end: wide }[text.getAttribute("text-anchor")] || 0;
  line.setAttribute("d", `M${Number(text.getAttribute("x")) - shift} ${y}h${wide}`);
}

function drawn(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

// Stories with other lines, of which there are some by their number among all.
function retold(told, stories) {
  let number = 0;
  for (const one of told.values || []) {
    for (const lines of [one.origin, one.fate]) {
      for (let place = 0; place < lines.length; place++) lines[place] = stories.get(number++) ?? lines[place];
    }
  }
  return told;
}

// An atlas; what is chosen in it stands in the `address`.
class Atlas {
  constructor(root, address) {
    const data = JSON.parse(root.querySelector("script[type='application/json']").textContent);
    this.root = root;
    this.state = new State(data);
    this.address = address;
    this.pictures = new Pictures(data.pictures, data.themes.map(({ value }) => value));
    this.walked = root.querySelector(".scantape-walked");
    this.frame = this.walked.querySelector(".picture");
    this.walking = stepper(this.walked, {
      whole: true,
      changed: (step) => this.moved(step),
      field: (given) => this.numbers.field(given),
      open: (what, scan) => what === "scan" && this.open(Number(scan)),
      hint: ", drag one that is given to change it, click a Scan to open it",
    });
    this.numbers = new Numbers(this.frame, (values) => this.change(values));
    this.shown = 0;
    if (isDark(root)) this.state.choose("theme", "dark");
    this.build();
    this.destroy = address.listen(this);
    this.follow();
  }

  // The colours of what is around it, unless others were chosen.
  colour() {
    if (this.state.coloured) return;
    this.state.choose("theme", isDark(this.root) ? "dark" : this.state.data.themes[0].value);
    this.show();
  }

  build() {
    const chosen = (field, value) => this.choose(field, value);
    this.form = new Form(this.state, chosen, fitting(this.frame));
    this.told = element("p", { class: "scantape-problem", role: "status" });
    this.heard = element("p", { class: "scantape-heard", role: "status" }); // by who cannot see it
    this.root.prepend(this.form.root, this.numbers.values.root, this.told, this.heard);
    this.twin = element("pre", { role: "region", "aria-label": "as text", tabindex: "0" });
    this.text = element("details", {}, element("summary", {}, "as text"), this.twin);
    this.link = element("a", {}, "link to what is shown");
    const linked = element("p", { class: "scantape-link" }, this.link);
    linked.hidden = !this.address.with(this.state);
    this.walked.after(this.form.rest, this.text, linked);
  }

  choose(field, value) {
    this.state.choose(field, value);
    if (field === "theme") this.state.coloured = true;
    this.show();
    this.address.write(this.state);
  }

  // The picture with another Scan open, if it is here.
  open(scan) {
    if (!this.state.open(scan)) return false;
    this.show();
    this.address.write(this.state);
    return true;
  }

  // Other values of the loop: the numbers of the picture are computed here.
  change(values) {
    this.state.values = values;
    this.recompute();
    this.moved(this.state.step ?? -1);
  }

  recompute() {
    const rest = this.numbers.show(this.state.values);
    this.twin.textContent = rest ? `${rest}\n\n${this.text.plain}` : this.text.plain;
    this.walking.retell();
  }

  // What the address asks for; what is not offered is told.
  follow() {
    const { state } = this;
    const asked = this.address.read();
    const unknown = [...FIELDS, "theme"].filter((field) => field in asked && !state.choose(field, asked[field]));
    if ("theme" in asked) state.coloured = true;
    if (/^(\d+|-1)$/.test(asked.step || "")) state.step = asked.step === "-1" ? null : Number(asked.step);
    state.scan = /^\d+$/.test(asked.scan || "") ? Number(asked.scan) : null;
    state.values = {};
    for (const [key, value] of Object.entries(asked)) {
      const entries = value.split(",").map(Number);
      if (key.startsWith("at:") && value && entries.every(Number.isFinite)) state.values[key.slice(3)] = entries;
    }
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

  /** @param {any} forms */
  paint({ svg: source, text = "", stories = "{}", live = "{}" }) {
    const { frame, state } = this;
    const parsed = source && new DOMParser().parseFromString(source, "image/svg+xml");
    const told = element("script", { type: "application/json", "data-stories": "" }, stories);
    frame.replaceChildren(...(parsed ? [document.importNode(parsed.documentElement, true), told] : []));
    frame.hidden = this.text.hidden = !parsed;
    frame.setAttribute("aria-label", `picture: ${state.now.view}`);
    this.text.plain = text;
    this.numbers.adopt(JSON.parse(live), told, state.data.shades[state.now.theme]);
    this.walking.show(state.step, true);
    this.recompute();
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
/** @type {NodeListOf<HTMLElement>} */
const atlases = document.querySelectorAll("[data-atlas]");
atlases.forEach((root, place) => {
  if ("started" in root.dataset) return;
  root.dataset.started = "";
  new Atlas(root, new Address(place));
});

function renderAtlas({ model, el }) {
  const made = placed(el);
  made.innerHTML = model.get("content");
  made.firstElementChild.dataset.started = "";
  return new Atlas(made.firstElementChild, new Shared(model)).destroy;
}

export default { render: renderAtlas };
