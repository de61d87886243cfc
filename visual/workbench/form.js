// The controls of a workbench: frequent controls in a line above the picture, taps on a small tape,
// views as tabs, and other controls in a menu. Each record in the trait `form` describes a control.

class Form {
  constructor(ask) {
    this.ask = (key, value) => [ask(key, value), key[0] === "loop" && value === "written" && (this.panel.open = (this.groups.written ?? {}).open = true)];
    this.rows = new Map();
    this.groups = {};
    const part = (label) => element("div", { class: `scantape-${label}`, role: "group", "aria-label": label });
    this.parts = { loop: part("loop"), taps: part("taps"), views: part("views"), more: part("more") };
    this.panel = element("details", { class: "scantape-panel" }, element("summary", {}, "options"), this.parts.more);
  }

  show({ controls, problem }, waiting) {
    this.arrange(controls);
    for (const control of controls) {
      const name = JSON.stringify(control.key), row = this.rows.get(name);
      const error = JSON.stringify(problem.key) === name ? problem.text : "";
      row.report(error);
      for (let part = row.root.closest("details"); error && part; part = part.parentElement.closest("details")) part.open = true;
      row.about.textContent = control.about || "";
      // Keep invalid text, which the user will correct, and text that is not yet sent.
      if (!error) row.set((waiting.get(name) ?? control).value);
    }
  }

  // Put controls into the parts. Do not move a control that stays: it would lose a click.
  arrange(controls) {
    const groups = { about: [] }, rows = new Map(); // the panel shows the description of the loop
    for (const control of controls) {
      const row = this.rowOf(control);
      (groups[control.group] ??= []).push(row.root);
      if ("about" in control) groups[control.group === "loop" ? "about" : control.group].push(row.about);
      rows.set(JSON.stringify(control.key), row);
    }
    this.rows = rows;
    for (const [name, elements] of Object.entries(groups)) {
      const parent = this.groups[name] ??= group(name);
      setChildren(parent, [...parent.querySelectorAll(":scope > summary"), ...elements]);
    }
    for (const [name, part] of Object.entries(this.parts)) {
      const inside = Object.keys(groups).filter((each) => (each in this.parts ? each : "more") === name);
      setChildren(part, inside.map((each) => this.groups[each]));
    }
  }

  // Return the row of a control. If its record changed, the new row keeps the focus and unsent text.
  rowOf(control) {
    const { value, about, ...rest } = control, shape = JSON.stringify(rest), old = this.rows.get(JSON.stringify(control.key));
    if (old?.shape === shape) return old;
    const row = Object.assign(createControl(control, (value) => this.ask(control.key, value)), { shape });
    const focused = this.panel.getRootNode().activeElement;
    old?.root.replaceWith(row.root);
    for (const before of old?.root.querySelectorAll("[data-focus]") ?? []) {
      const field = [...row.root.querySelectorAll("[data-focus]")].find(({ dataset }) => dataset.focus === before.dataset.focus);
      if (field && "typed" in before.dataset) Object.assign(field, { value: before.value }).dataset.typed = "";
      if (before === focused) field?.focus();
    }
    return row;
  }
}

// Give an element these children, and move only children that have another position.
function setChildren(parent, children) {
  for (const child of [...parent.children]) if (!children.includes(child)) child.remove();
  children.forEach((child, n) => parent.children[n] !== child && parent.insertBefore(child, parent.children[n] ?? null));
}

const HEADS = { written: "step as text", derivative: "derivative", rule: "rule", options: "this view", look: "look", values: "values" };

// Create the element of a group of controls; a group with a heading can be closed.
function group(name) {
  const head = HEADS[name] ? [element("summary", {}, HEADS[name])] : [];
  return element(head.length ? "details" : "div", { class: `scantape-group scantape-${name}`, open: "" }, ...head);
}
