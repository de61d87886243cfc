// The form of an atlas: radio buttons and lists for all that can be chosen.  This file is joined
// to controls.js, whose `made` it uses, and atlas.js to it.

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

// Makes wide pictures as narrow as their frame.
function fitting(frame) {
  const ask = (chosen) => frame.classList.toggle("scantape-fitted", chosen);
  return made({ kind: "check", label: "fit to the width" }, ask).root;
}

function listed(field, label, options, chosen) {
  const list = { kind: "select", key: [field], label, options: options.map(({ value, label: words }) => [value, words]) };
  const control = made(list, (value) => chosen(field, value));
  return { root: control.root, show: control.set };
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
    for (const [{ key: [, name, place] }, control] of this.rows) control.set((now[name] || base[name])[place]);
    this.back.hidden = !values.length;
    this.back.disabled = !Object.keys(now).length;
    this.told.textContent = why ? `The numbers of this picture are not computed here. ${why}` : lacking;
    this.root.hidden = !values.length && !why;
  }

  build(values) {
    const changing = values.filter(({ kind }) => kind === "range");
    this.rows = changing.map((one) => [one, made(one, (value) => this.change(one.key, value))]);
    this.inner.replaceChildren(...this.rows.map(([, { root }]) => root));
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

// What is chosen with: a choice for every field, and below the picture what seldom changes, and
// what is told of the choice.  A single option is no choice, and is
// left out; but taps tell what a loop does.
class Form {
  constructor(state, chosen, ...more) {
    const { data, loop } = state;
    const named = data.loops.map(({ value }) => ({ value, label: value }));
    this.state = state;
    this.loop = listed("loop", "loop", named, chosen);
    this.theme = listed("theme", data.labels.themes, data.themes, chosen);
    this.taps = new Choice("taps", loop.named, loop.taps, chosen);
    this.order = new Choice("order", data.labels.orders, data.orders, chosen);
    this.cost = new Choice("cost", data.labels.costs, data.costs, chosen);
    this.view = new Choice("view", data.labels.views, data.views, chosen);
    this.about = element("p", { class: "scantape-about" });
    this.seen = element("p", { class: "scantape-about" });
    this.root = element("form", { class: "scantape-form", "aria-label": "what is shown" },
      this.row(["loop", "taps", "order", "cost", "view"]));
    this.rest = element("div", { class: "scantape-rest" }, this.about, this.seen, this.row(["theme"], ...more));
    this.root.addEventListener("submit", (event) => event.preventDefault());
  }

  row(fields, ...more) {
    const offered = fields.filter((field) => field === "taps" || this.state.options(field).length > 1);
    return element("div", { class: "scantape-group" }, ...offered.map((field) => this[field].root), ...more);
  }

  show() {
    const { now, loop, data } = this.state;
    if (this.taps.options !== loop.taps) this.taps.offer(loop.named, loop.taps);
    for (const field of [...FIELDS, "theme"]) this[field].show(now[field]);
    this.about.textContent = loop.about;
    this.seen.textContent = data.views.find(({ value }) => value === now.view).about;
  }
}
