// The form of an atlas: radio buttons and lists for all that can be chosen.  This file is joined
// to controls.js, whose `made` it uses, and atlas.js to it.

// Makes wide pictures as narrow as their frame.
function fitting(frame) {
  const ask = (chosen) => frame.classList.toggle("scantape-fitted", chosen);
  return made({ kind: "check", label: "fit to the width" }, ask).root;
}

// The values of the loop, one slider for each number: what they are changed to is told to `asked`.
class Values {
  constructor(asked) {
    this.asked = asked;
    this.inner = element("div", { class: "scantape-group" });
    this.told = element("p", { class: "scantape-about", role: "status" });
    this.back = element("button", { type: "button" }, "as they were");
    this.back.addEventListener("click", () => asked({}));
    this.root = element("fieldset", { class: "scantape-control scantape-values" }, element("legend", {}, "values"), this.inner, this.back, this.told);
    this.shape = "";
  }

  // The controls for a picture's values, what they are changed to, and what that does not change.
  show({ values = [], base = {}, why = "" }, now, lacking) {
    const shape = JSON.stringify(values);
    if (shape !== this.shape) this.build(values);
    this.shape = shape;
    this.base = base;
    this.now = now;
    for (const [one, control] of this.rows) control.set(this.value(one));
    this.back.hidden = !values.length;
    this.back.disabled = !Object.keys(now).length;
    this.told.textContent = why ? `The numbers of this picture are not computed here. ${why}` : lacking;
    this.root.hidden = !values.length && !why;
  }

  build(values) {
    const changing = values.filter(({ kind }) => kind === "range");
    this.rows = changing.map((one) => [one, this.slider(one)]);
    this.inner.replaceChildren(...this.rows.map(([, { root }]) => root));
  }

  slider(one) {
    return made(one, (value) => this.change(one.key, value));
  }

  value({ key: [, name, place] }) {
    return (this.now[name] || this.base[name])[place];
  }

  change([, name, place], written) {
    const value = Number(written);
    if (written === "" || !Number.isFinite(value)) return;
    const entries = [...(this.now[name] || this.base[name])];
    entries[place] = value;
    const { [name]: _, ...others } = this.now;
    const same = entries.every((entry, at) => entry === this.base[name][at]);
    this.asked(same ? others : { ...others, [name]: entries });
  }

  // The slider of one number, to stand elsewhere; null if it is none of these.
  find(name, place = 0) {
    return this.rows?.find(([{ key }]) => key[1] === name && key[2] === place)?.[0] ?? null;
  }
}

const LISTED = ["loop", "theme"]; // all other fields have radio buttons

// What is chosen with: a choice for every field, and below the picture what seldom changes, and
// what is told of the choice.  A single option is no choice, and is left out; but taps tell what a
// loop does.
class Form {
  constructor(state, chosen, ...more) {
    this.state = state;
    this.chosen = chosen;
    this.controls = {};
    this.about = element("p", { class: "scantape-about" });
    this.seen = element("p", { class: "scantape-about" });
    this.root = element("form", { class: "scantape-form", "aria-label": "what is shown" }, this.row(FIELDS));
    this.rest = element("div", { class: "scantape-rest" }, this.about, this.seen, this.row(["theme"], ...more));
    this.root.addEventListener("submit", (event) => event.preventDefault());
  }

  row(fields, ...more) {
    const offered = fields.filter((field) => field === "taps" || this.state.options(field).length > 1);
    return element("div", { class: "scantape-group" }, ...offered.map((field) => this.control(field)), ...more);
  }

  control(field) {
    const { data, loop } = this.state;
    const options = this.state.options(field);
    const label = { loop: "loop", taps: loop.named }[field] ?? data.labels[`${field}s`];
    const kind = LISTED.includes(field) ? "select" : "radios";
    const listed = options.map(({ value, label: words, about }) => [value, words ?? value, about]);
    const control = made({ kind, key: [field], label, options: listed }, (value) => this.chosen(field, value));
    this.controls[field] = { ...control, options };
    return control.root;
  }

  show() {
    const { now, loop, data } = this.state;
    const { root, options } = this.controls.taps;
    if (options !== loop.taps) root.replaceWith(this.control("taps"));
    for (const [field, { set }] of Object.entries(this.controls)) set(now[field]);
    this.about.textContent = loop.about;
    this.seen.textContent = data.views.find(({ value }) => value === now.view).about;
  }
}
