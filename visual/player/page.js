// A page of machines to choose from. The part of the address after # contains the choices, the
// values, and the moment of the first of several such machines, in the format of
// visual.player.state; unknown parts are ignored.

const FIELDS = ["loop", "taps", "order", "cost", "rule"]; // as in the keys of the runs
const SETTLED = 200; // ms after a change until the address changes: browsers limit the number of changes
const HIGH = 500; // pixels below the controls that a machine needs

/** @param {string} packed */
async function unpack(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(stream).text());
}

/** Numbers as in a link: commas separate numbers, semicolons rows. @param {number[]} entries @param {number[]} shape */
function vectorText(entries, shape) {
  if (!shape.length) return String(entries[0]);
  const wide = shape.at(-1), rows = [];
  for (let at = 0; at < entries.length; at += wide) rows.push(entries.slice(at, at + wide).join(",") + (wide < 2 ? "," : ""));
  return shape.length < 2 ? rows[0] : rows.join(";") + (rows.length < 2 ? ";" : "");
}

/** The choices of a page: `at` has the index of the chosen option of each field. */
class Choices {
  constructor(data) {
    this.data = data;
    this.at = Object.fromEntries(FIELDS.map((field) => [field, 0]));
  }

  /** @param {string} field */
  options(field) {
    return field === "taps" ? this.data.loop[this.at.loop].taps : this.data[field];
  }

  /** The number of the packed run, or the reason for a missing machine. */
  get run() {
    return this.data.runs[FIELDS.map((field) => this.at[field])];
  }

  /** The keys and values of a link; the value null stands for a missing key. */
  get link() {
    return Object.assign({}, ...FIELDS.map((field) => this.options(field)[this.at[field]].link));
  }

  /** Apply the choices of a link that this page has. @param {URLSearchParams} pairs */
  read(pairs) {
    if (pairs.has("loop")) this.at.taps = 0;
    for (const field of FIELDS) {
      const index = this.options(field).findIndex(({ link }) =>
        Object.entries(link).every(([key, value]) => pairs.get(key) === value));
      if (index >= 0) this.at[field] = index;
    }
  }
}

class Lesson {
  /** @param {any} place @param {boolean} hasLink  whether the address contains the state of this machine */
  constructor(place, hasLink) {
    this.place = place;
    this.hasLink = hasLink;
    this.choices = new Choices(JSON.parse(place.querySelector("script").textContent));
    this.values = {};
    this.past = [];
    this.future = [];
    this.runs = new Map();
    this.form = element("form", { class: "choices" });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.valueRow = element("div", { class: "values" });
    this.note = element("p", { class: "note", role: "status" });
    this.stage = element("div");
    this.tools = element("div", { class: "tools" }, this.form, this.valueRow, this.note);
    place.append(this.tools, this.stage);
    this.controls();
    place.addEventListener("keydown", (event) => this.key(event));
    this.drag();
    const link = () => (hasLink ? location.hash.slice(1) : "");
    addEventListener("hashchange", () => hasLink && link() !== this.text() && this.restore(link()));
    this.restore(link());
  }

  // ---- choices ------------------------------------------------------------------------------

  controls() {
    this.selects = {};
    for (const field of FIELDS) {
      const select = element("select");
      const label = element("label", {}, element("span", {}, field), select);
      select.addEventListener("change", () => this.choose(field, select.selectedIndex));
      this.selects[field] = { select, label };
      this.form.append(label);
    }
    this.buttons = {};
    for (const [text, label, act] of [["↶", "undo", () => this.undo()], ["↷", "redo", () => this.undo(true)], ["reset", "back to the given values", () => this.change({})]]) {
      this.buttons[label] = actionButton(text, act, { "aria-label": label, title: label });
      this.form.append(this.buttons[label]);
    }
  }

  showControls() {
    const { choices } = this;
    for (const [field, { select, label }] of Object.entries(this.selects)) {
      const options = choices.options(field);
      select.replaceChildren(...options.map((option) => element("option", {}, option.label)));
      select.selectedIndex = choices.at[field];
      if (field === "taps") label.firstChild.textContent = choices.data.loop[choices.at.loop].named;
      if (field === "loop") select.title = choices.data.loop[choices.at.loop].about;
      label.hidden = field === "loop" || field === "taps" ? false : options.length < 2;
    }
    this.showButtons();
  }

  showButtons() {
    const [undo, redo, reset] = Object.values(this.buttons);
    undo.disabled = !this.past.length;
    redo.disabled = !this.future.length;
    reset.hidden = !Object.keys(this.values).length;
  }

  /** @param {string} field @param {number} index */
  choose(field, index) {
    this.remember();
    this.choices.at[field] = index;
    if (field === "loop") this.choices.at.taps = 0;
    if (field === "loop" || field === "taps") this.values = {};
    this.load();
  }

  // ---- the address, undo, and redo ----------------------------------------------------------

  /** The text of all choices, values, and the moment. */
  text() {
    const { base, shapes } = this.run ?? {};
    const values = Object.entries(this.values).filter(([name]) => base?.[name]).map(([name, entries]) => [`at.${name}`, vectorText(entries, shapes[name])]);
    const choices = Object.entries(this.choices.link).filter(([, value]) => value !== null);
    const pairs = [...choices, ...values, ["moment", String(this.machine?.root.dataset.moment ?? 0)]];
    return pairs.map((pair) => pair.map((word) => encodeURIComponent(word).replace(/%2C|%3B|%3A/g, decodeURIComponent)).join("=")).join("&");
  }

  write() {
    this.showButtons();
    clearTimeout(this.timer);
    if (!this.hasLink) return;
    this.timer = setTimeout(() => {
      try {
        history.replaceState(history.state, "", `#${this.text()}`);
      } catch {
        // a frame without an address
      }
    }, SETTLED);
  }

  /** Show the state of a text, without unknown parts. @param {string} text */
  restore(text) {
    const pairs = new URLSearchParams(text.replaceAll("+", "%2B")); // a plus is a sign, not a space
    this.choices.read(pairs);
    this.values = {};
    for (const [key, value] of pairs)
      if (key.startsWith("at.")) this.values[key.slice(3)] = value.split(/[,;|]/).filter(Boolean).map(Number);
    const moment = pairs.has("moment") ? Number(pairs.get("moment")) : NaN;
    return this.load(Number.isFinite(moment) ? moment : undefined);
  }

  remember() {
    const now = this.text();
    if (this.past.at(-1) !== now) this.past.push(now);
    this.future = [];
  }

  /** Restore the state before the latest change, or the state that was last undone. @param {boolean} isRedo */
  undo(isRedo = false) {
    const [from, to] = isRedo ? [this.future, this.past] : [this.past, this.future];
    if (!from.length) return;
    to.push(this.text());
    this.restore(from.pop());
  }

  key(event) {
    const letter = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.target.type === "number" || !["z", "y"].includes(letter)) return;
    event.preventDefault();
    this.undo(letter === "y" || event.shiftKey);
  }

  // ---- the machine --------------------------------------------------------------------------

  /** Show the run of the choices; the old run stays until the new run is unpacked. @param {number=} moment */
  async load(moment) {
    const { choices } = this, number = choices.run;
    this.showControls();
    this.requested = number;
    if (typeof number === "string") { // the reason for a missing machine
      this.note.textContent = number;
      this.stage.hidden = this.valueRow.hidden = true;
      return;
    }
    if (!this.runs.has(number)) this.runs.set(number, await unpack(choices.data.packed[number]));
    if (this.requested !== number) return; // the reader has made another choice meanwhile
    this.stage.hidden = this.valueRow.hidden = false;
    const isOther = this.run !== this.runs.get(number);
    this.run = this.runs.get(number);
    this.dropUnknownValues();
    this.note.textContent = this.run.why;
    if (isOther) this.sliders();
    const data = this.run.machine;
    this.live = this.run.live ??= new Live(this.run, data);
    this.live.compute(this.values);
    const at = moment ?? Math.min(Number(this.machine?.root.dataset.moment ?? data.first), data.moments);
    if (!this.machine) this.make(data, at);
    else if (isOther || moment !== undefined) this.machine.open(data, at);
    else this.machine.refresh();
    this.showSliders();
    this.write();
  }

  /** @param {any} data @param {number=} moment */
  make(data, moment) {
    const controls = this.tools.offsetHeight + 32;
    const top = this.stage.getBoundingClientRect().top + scrollY + 16; // a high window shows everything
    const options = { moment, above: innerHeight - top > HIGH ? top : controls, onMoment: () => this.write() };
    this.machine = new Machine(data, this.stage, options);
    followTheme(this.machine.root);
    this.place.dataset.ready = "";
  }

  /** Drop values that this run does not have. */
  dropUnknownValues() {
    const base = this.run.base ?? {};
    for (const [name, entries] of Object.entries(this.values)) {
      const fits = Object.hasOwn(base, name) && base[name].length === entries.length && entries.every(Number.isFinite);
      if (!fits) delete this.values[name];
    }
  }

  // ---- values -------------------------------------------------------------------------------

  sliders() {
    const list = this.run.sliders ?? [];
    this.fields = new Map(list.map((slider) => {
      const [, name, entry] = slider.key;
      const control = createControl(slider, (text) => this.set(name, entry, Number(text)));
      for (const start of ["focusin", "pointerdown"]) control.root.addEventListener(start, () => (this.isNew = true));
      return [`${name} ${entry}`, { ...control, name, entry, step: slider.step }];
    }));
    const fields = [...this.fields.values()].map(({ root }) => root);
    const inside = list.length <= 6 ? fields : [element("details", {}, element("summary", {}, `${list.length} given values`), ...fields)];
    this.valueRow.replaceChildren(...inside);
  }

  showSliders() {
    for (const { name, entry, set } of this.fields.values()) set(this.value(name)[entry]);
  }

  /** The present entries of a given value. @param {string} name @returns {number[]} */
  value(name) {
    return this.values[name] ?? this.run.base[name];
  }

  /** Change an entry; a single undo reverts a whole drag. @param {string} name @param {any} place @param {number} value */
  set(name, place, value) {
    if (!Number.isFinite(value)) return;
    if (this.isNew) this.remember();
    this.isNew = false;
    const entries = [...this.value(name)];
    entries[place] = value;
    this.values = { ...this.values, [name]: entries };
    this.recompute();
  }

  change(values) {
    this.remember();
    this.values = values;
    this.recompute();
  }

  /** Recompute all numbers, once in a frame. */
  recompute() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = undefined;
      this.live.compute(this.values);
      this.machine.refresh();
      this.showSliders();
      this.write();
    });
  }

  /** Let the reader drag a cell with a given value; a drag to the right increases the value. */
  drag() {
    let dragged = null;
    const slider = (event) => {
      const cell = event.target.closest?.("[data-cell]");
      const place = cell && this.machine.data.cells[Number(cell.dataset.cell)].given;
      const [operation, name, entry] = this.run?.lines?.[place] ?? [];
      return operation === "input" ? this.fields.get(`${name} ${entry}`) : undefined;
    };
    this.stage.addEventListener("pointerdown", (event) => {
      const given = event.button ? undefined : slider(event);
      if (given) dragged = { ...given, x: event.clientX, from: this.value(given.name)[given.entry], isMoved: false };
    });
    addEventListener("pointermove", (event) => {
      const away = dragged ? event.clientX - dragged.x : 0;
      if (!dragged || (!dragged.isMoved && Math.abs(away) < 4)) return;
      if (!dragged.isMoved) this.isNew = dragged.isMoved = true;
      this.set(dragged.name, dragged.entry, Number((dragged.from + away * dragged.step).toPrecision(12)));
    });
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => (dragged = null)));
    this.stage.addEventListener("click", (event) => dragged?.isMoved && event.stopPropagation(), true);
  }
}

for (const [number, place] of /** @type {NodeListOf<any>} */ (document.querySelectorAll("[data-lesson]")).entries())
  place.lesson ??= new Lesson(place, number === 0);
