// The form of an atlas: radio buttons and lists for all that can be chosen.  This file is joined
// to stepper.js, whose `element` it uses, and atlas.js to it.

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

// What is chosen with: a choice for every field, in rows.  A single option is no choice, and is
// left out; but taps tell what a loop does.
class Form {
  constructor(state, chosen, ...more) {
    const { data, loop } = state;
    const named = data.loops.map(({ value }) => ({ value, label: value }));
    this.state = state;
    this.loop = new List("loop", "loop", named, chosen);
    this.theme = new List("theme", data.labels.themes, data.themes, chosen);
    this.taps = new Choice("taps", loop.named, loop.taps, chosen);
    this.order = new Choice("order", data.labels.orders, data.orders, chosen);
    this.cost = new Choice("cost", data.labels.costs, data.costs, chosen);
    this.view = new Choice("view", data.labels.views, data.views, chosen);
    this.about = element("p", { class: "scantape-about" });
    this.seen = element("p", { class: "scantape-about" });
    this.root = element("form", { class: "scantape-form", "aria-label": "what is shown" },
      this.row(["loop", "theme"], ...more, this.about), this.row(["taps"]),
      this.row(["order", "cost"]), this.row(["view"], this.seen));
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
