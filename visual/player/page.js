// A page of machines to choose from. Each option of a list is a part of a link, and the link of all
// choices names the run. The part of the address after # contains the choices, the values, and the
// moment of the first of several such machines, in the format of visual.player.state. A note lists
// choices in the address that the page does not offer.

const SETTLED = 200; // ms after a change until the address changes: browsers limit the number of changes
const HIGH = 500; // the height that a machine needs below the controls, in pixels

/** Return the keys and values of a link. A plus is a sign, not a space; a final comma is optional. @param {string} link */
const linkPairs = (link) => new URLSearchParams(link.replaceAll("+", "%2B").replaceAll(/,(?=&|$)/g, ""));

class Lesson {
  /** @param {any} place @param {boolean} hasLink  whether the address contains the state of this machine */
  constructor(place, hasLink) {
    const data = JSON.parse(place.querySelector("script").textContent);
    Object.assign(this, { place, hasLink, data, selects: {}, values: {}, past: [], future: [], isNew: false });
    this.form = element("form", { class: "choices" });
    this.valueRow = element("div", { class: "values" });
    this.note = element("p", { class: "note", role: "status" });
    this.stage = element("div");
    this.tools = element("div", { class: "tools" }, this.form, this.valueRow, this.note);
    place.append(this.tools, this.stage);
    for (const field of data.fields) {
      const select = this.selects[field] = element("select"), options = data[field] ?? [];
      this.form.append(element("label", options.length === 1 && field !== "loop" ? { hidden: "" } : {}, element("span", {}, field), select));
      select.addEventListener("change", () => this.choose(field));
      this.offer(field, options);
    }
    this.offerTaps();
    const button = (text, label, act) => actionButton(text, act, { "aria-label": label, title: label });
    this.undoButton = button("↶", "undo", () => this.undo());
    this.redoButton = button("↷", "redo", () => this.undo(true));
    this.resetButton = button("reset", "back to the given values", () => this.change({}));
    this.form.append(element("span", { class: "history" }, this.undoButton, this.redoButton, this.resetButton));
    (hasLink ? globalThis : place).addEventListener("keydown", (event) => {
      const letter = event.key.toLowerCase();
      if (!(event.ctrlKey || event.metaKey) || event.target.type === "number" || !["z", "y"].includes(letter)) return;
      event.preventDefault();
      this.undo(letter === "y" || event.shiftKey);
    }, { capture: true }); // a machine keeps its keys
    if (hasLink) document.body.addEventListener("keydown", (event) => event.target === document.body && this.machine?.key(event));
    this.drag();
    const linkOf = ({ newURL }) => new URL(newURL).hash.slice(1); // write() can replace the address before the event
    if (hasLink) addEventListener("hashchange", (event) => linkOf(event) !== this.state && this.restore(linkOf(event)));
    this.restore(hasLink ? location.hash.slice(1) : "");
  }

  offer(field, options) {
    this.selects[field].replaceChildren(...options.map(({ label, link }) => element("option", { value: link }, label)));
  }

  offerTaps() {
    const { loop, taps } = this.selects, { about, taps_label, taps: options } = this.data.loop[loop.selectedIndex];
    this.offer("taps", options);
    taps.previousSibling.textContent = taps_label;
    loop.title = about;
  }

  get link() {
    return this.data.fields.map((field) => this.selects[field].value).filter(Boolean).join("&");
  }

  choose(field) {
    this.remember();
    this.request = linkPairs("");
    if (field === "loop") this.offerTaps();
    if (field === "loop" || field === "taps") this.values = {};
    this.load();
  }

  /** Store the text of all choices, values, and the moment as `state`. */
  saveState() {
    const { base } = this.run ?? {};
    const values = Object.entries(this.values).filter(([name]) => base && Object.hasOwn(base, name)).map(([name, entries]) => {
      const rest = [...entries];
      return `at.${encodeURIComponent(name)}=${base[name].replace(NUMBER, () => rest.shift())}`;
    });
    const contributor = this.isContributor ? ["contributor=True"] : [];
    this.state = [this.link, ...values, ...contributor, `moment=${this.machine?.moment ?? 0}`].join("&");
  }

  write() {
    this.saveState();
    this.undoButton.disabled = !this.past.length;
    this.redoButton.disabled = !this.future.length;
    this.resetButton.hidden = !Object.keys(this.values).length;
    clearTimeout(this.timer);
    if (this.hasLink) this.timer = setTimeout(() => {
      try {
        history.replaceState(history.state, "", `#${this.state}`);
      } catch {} // some frames forbid changes of the address
    }, SETTLED);
  }

  /** Show the state of a text, and a note about choices that the page does not offer. @param {string} text */
  restore(text) {
    const pairs = this.request = linkPairs(text);
    if (pairs.get("contributor") === "1") pairs.set("contributor", "True");
    this.isContributor = pairs.get("contributor") === "True";
    this.select(pairs);
    const given = [...pairs].filter(([key]) => key.startsWith("at."));
    this.values = Object.fromEntries(given.map(([key, value]) => [key.slice(3), readNumbers(value)]));
    const moment = pairs.has("moment") ? Number(pairs.get("moment")) : NaN;
    return this.load(Number.isFinite(moment) ? moment : undefined);
  }

  /** Select the options in a link; an option without a link is the default. @param {URLSearchParams} pairs */
  select(pairs) {
    for (const [field, select] of Object.entries(this.selects)) {
      const hasPart = ({ value }) => value && [...linkPairs(value)].every(([key, part]) => pairs.get(key) === part);
      const options = [...select.options], chosen = options.find(hasPart) ?? options.find(({ value }) => !value);
      if (chosen) chosen.selected = true;
      if (field === "loop" && pairs.has("loop")) this.offerTaps();
    }
  }

  /** If the page omits the chosen run, select the most similar run of its loop and taps. Return the reason, or "". */
  replaceOmitted() {
    const { runs, omitted } = this.data, parts = (text) => text.split("&").filter(Boolean), chosen = parts(this.link);
    if (runs[this.link]) return "";
    const needed = ["loop", "taps"].flatMap((field) => parts(this.selects[field].value));
    const own = Object.keys(runs).filter((other) => runs[other].packed && needed.every((part) => parts(other).includes(part)));
    const same = (other) => parts(other).filter((part) => chosen.includes(part)).length;
    if (own.length) this.select(linkPairs(own.reduce((best, other) => (same(other) < same(best) ? best : other)))); // of equals, the highest order
    return `${omitted} `;
  }

  /** A sentence that lists the choices of the link that the page did not accept. 1 and 1.0 count as equal. */
  get unknownChoices() {
    const shown = linkPairs(`view=machine&${this.state}`), label = (key) => Object.hasOwn(this.selects, key) && this.selects[key].selectedOptions[0]?.text;
    const normal = (part) => part && part.replace(NUMBER, (word) => (Number.isNaN(Number(word)) ? word : Number(word)));
    const unknown = [...this.request].filter(([key, part]) => part && ![shown.get(key), label(key)].map(normal).includes(normal(part)));
    const parts = unknown.map((pair) => pair.join("=")).join(", ");
    return parts && `The link contains ${parts}, which this page does not have. `;
  }

  remember() {
    if (this.past.at(-1) !== this.state) this.past.push(this.state);
    this.future = [];
  }

  /** Restore the state before the latest change, or the state that was last undone. @param {boolean} isRedo */
  undo(isRedo = false) {
    const [from, to] = isRedo ? [this.future, this.past] : [this.past, this.future];
    if (!from.length) return;
    to.push(this.state);
    this.restore(from.pop());
  }

  /** Show the run of the choices; the old run stays until the new run is unpacked. @param {number=} moment */
  async load(moment) {
    const omitted = this.replaceOmitted(), packed = this.requested = this.data.runs[this.link] ?? { reason: "No other combination has a machine." };
    this.write();
    this.stage.hidden = this.valueRow.hidden = "reason" in packed;
    if (packed.reason) return void (this.note.textContent = this.unknownChoices + omitted + packed.reason);
    const run = packed.run ??= await unpack(Uint8Array.from(atob(packed.packed), (letter) => letter.charCodeAt(0)));
    if (this.requested !== packed) return; // the reader has made another choice meanwhile
    const isOther = this.run !== run, data = run.machine;
    Object.assign(this, { run, live: (run.live ??= new Live(run, data)) });
    this.values = Object.fromEntries(Object.entries(this.values).filter(([name, entries]) =>
      Object.hasOwn(this.live.base, name) && this.live.base[name].length === entries.length && entries.every(Number.isFinite)));
    if (isOther) this.sliders();
    this.live.compute(this.values); // the machine draws these numbers
    const isFirst = typeof data.mistake?.first_wrong === "number" && typeof this.machine?.data.mistake?.first_wrong !== "number"; // of wrong numbers
    const at = moment ?? (isFirst ? data.first : this.machine?.moment) ?? data.first;
    if (!this.machine) {
      const lesson = this, onMoment = () => this.write(), onBuffers = (isShown) => [this.remember(), (this.isContributor = isShown), this.write()];
      const showExample = (example) => { // the page may not contain the example of a rule
        const pairs = [...linkPairs(example)], isExample = (link) => pairs.every(([key, value]) => linkPairs(link).get(key) === value);
        const link = Object.keys(this.data.runs).find(isExample);
        return link && (() => [this.remember(), this.restore(link)]);
      };
      this.machine = new Machine(data, this.stage, { moment: at, get above() { return lesson.above; }, showExample, onMoment, onBuffers });
      this.place.dataset.ready = "";
    } else if (isOther || moment !== undefined) this.machine.open(data, at);
    this.refresh();
    this.note.textContent = this.unknownChoices + omitted + run.why;
  }

  /** The height above the machine, with the note, in pixels. A tall window shows the page from its top. */
  get above() {
    if (phone.matches) return null;
    const top = this.stage.getBoundingClientRect().top + scrollY + 17;
    return innerHeight - top > HIGH ? top : this.tools.offsetHeight + 33;
  }

  sliders() {
    const list = this.run.sliders ?? [];
    this.fields = new Map(list.map((slider) => {
      const [, name, entry] = slider.key;
      const control = createControl(slider, (text) => {
        const isNumber = text.trim() && Number.isFinite(Number(text));
        control.report(isNumber ? "" : `${slider.label} = '${text}': expected a finite number.`);
        if (isNumber) this.set(name, entry, Number(text));
      });
      for (const start of ["focusin", "pointerdown"]) control.root.addEventListener(start, () => (this.isNew = true));
      return [`${name} ${entry}`, { ...control, name, entry, step: slider.step }];
    }));
    const fields = [...this.fields.values()].map(({ root }) => root);
    const inside = list.length <= (phone.matches ? 1 : 6) ? fields : [element("details", {}, element("summary", {}, `${list.length} given values`), ...fields)];
    this.valueRow.replaceChildren(...inside);
  }

  /** The present entries of a given value. @param {string} name @returns {number[]} */
  value(name) {
    return (Object.hasOwn(this.values, name) ? this.values : this.live.base)[name];
  }

  /** Change an entry; a single undo reverts a whole drag. @param {string} name @param {any} place @param {number} value */
  set(name, place, value) {
    this.change({ ...this.values, [name]: this.value(name).with(place, value) }, this.isNew);
    this.isNew = false;
  }

  /** Change the values, and recompute all numbers once in a frame. @param {any} values @param {boolean} isNew  whether undo reverts this change */
  change(values, isNew = true) {
    if (isNew) this.remember();
    this.values = values;
    this.saveState();
    this.frame ??= requestAnimationFrame(() => this.refresh());
  }

  /** Show the numbers and the controls of the present values. */
  refresh() {
    this.frame = undefined;
    this.live.compute(this.values);
    this.machine.refresh(this.isContributor);
    for (const { name, entry, set, report } of this.fields.values()) [set(this.value(name)[entry]), report("")];
    this.write();
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
      this.set(dragged.name, dragged.entry, Number((dragged.from + away * dragged.step).toPrecision(4)));
    });
    for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => setTimeout(() => (dragged = null)));
    this.stage.addEventListener("click", (event) => dragged?.isMoved && event.stopPropagation(), true);
  }
}

for (const [number, place] of /** @type {NodeListOf<any>} */ (document.querySelectorAll("[data-lesson]")).entries())
  place.lesson ??= new Lesson(place, number === 0);
