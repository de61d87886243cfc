// The controls of a workbench: frequent controls in a line above the picture, taps on a small tape,
// views as tabs, and other controls in a menu. Each record in the trait `form` describes a control.

class Form {
  constructor(ask) {
    this.ask = (key, value) => [ask(key, value), key[0] === "loop" && value === "written" && (this.panel.open = true)];
    this.rows = new Map();
    this.shape = "";
    const part = (label) => element("div", { class: `scantape-${label}`, role: "group", "aria-label": label });
    this.parts = { loop: part("loop"), taps: part("taps"), views: part("views"), more: part("more") };
    this.panel = element("details", { class: "scantape-panel" }, element("summary", {}, "options"), this.parts.more);
  }

  // Show the present values; build new controls only if their records differ.
  show({ controls, problem }, waiting) {
    const shape = JSON.stringify(controls.map(({ value, about, ...rest }) => rest));
    if (shape !== this.shape) this.build(controls);
    this.shape = shape;
    for (const control of controls) {
      const name = JSON.stringify(control.key), row = this.rows.get(name);
      const error = JSON.stringify(problem.key) === name ? problem.text : "";
      row.report(error);
      if (error && this.parts.more.contains(row.root)) this.panel.open = true;
      row.about.textContent = control.about || "";
      // Keep invalid text, which the user will correct, and text that is not yet sent.
      if (!error) row.set((waiting.get(name) ?? control).value);
    }
  }

  // Build new controls; preserve the focus, and texts that are not yet sent.
  build(controls) {
    const parts = Object.values(this.parts), fields = () => parts.flatMap((part) => [...part.querySelectorAll("[data-focus]")]);
    const old = new Map(fields().map((field) => [field.dataset.focus, field]));
    const focused = this.panel.getRootNode().activeElement;
    this.rows.clear();
    const groups = new Map([["about", group("about")]]); // the panel shows the description of the loop
    for (const control of controls) {
      if (!groups.has(control.group)) groups.set(control.group, group(control.group));
      const row = createControl(control, (value) => this.ask(control.key, value));
      groups.get(control.group).append(row.root);
      if ("about" in control) groups.get(control.group === "loop" ? "about" : control.group).append(row.about);
      this.rows.set(JSON.stringify(control.key), row);
    }
    for (const part of parts) part.replaceChildren();
    for (const [name, group] of groups) (this.parts[name] || this.parts.more).append(group);
    for (const field of fields()) {
      const before = old.get(field.dataset.focus);
      if (before && "typed" in before.dataset) {
        field.value = before.value;
        field.dataset.typed = "";
      }
      if (before && before === focused) field.focus();
    }
  }
}

const HEADS = { written: "step as text", derivative: "derivative", rule: "rule", options: "this view", look: "look", values: "values" };

// Create the element of a group of controls; a group with a heading can be closed.
function group(name) {
  const head = HEADS[name] ? [element("summary", {}, HEADS[name])] : [];
  return element(head.length ? "details" : "div", { class: `scantape-group scantape-${name}`, open: "" }, ...head);
}
