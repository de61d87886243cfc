// The controls of a workbench, each built from a record. This file follows dom.js.

const MAIN = 4; // the number of options that are tabs

// Create a control. Return its elements, `set` to show a value, and `report` to show an error. A
// change by the user calls `ask` with the new value.
function createControl(control, ask) {
  const id = `scantape-${Math.random().toString(36).slice(2)}`; // a page can contain several copies of this module
  const message = element("span", { class: "scantape-problem", role: "alert", id });
  const { elements, set } = (MAKERS[control.kind] || MAKERS.note)(control, ask);
  const root = element(control.kind === "checks" ? "fieldset" : "div", { class: "scantape-control" }, ...elements, message);
  for (const field of root.querySelectorAll("input, select, textarea, button")) { // a rebuilt form focuses the field with the same key
    const part = { button: field.textContent, checkbox: field.value }[field.type] ?? field.type;
    field.dataset.focus = JSON.stringify([control.key, part]);
  }
  const report = (text) => {
    message.textContent = text;
    for (const input of root.querySelectorAll("input, select, textarea")) {
      input.toggleAttribute("aria-invalid", Boolean(text));
      input.setAttribute("aria-describedby", id);
    }
  };
  return { root, about: element("p", { class: "scantape-about" }), set, report };
}

const createOptions = (options) => options.map(([value, text]) => element("option", { value }, text));

// Call `ask` when the user submits a text; until then, no other value replaces the text.
function onSubmit(input, ask) {
  input.addEventListener("input", () => (input.dataset.typed = ""));
  const submit = () => {
    if (!("typed" in input.dataset)) return;
    delete input.dataset.typed;
    ask();
  };
  for (const type of ["change", "blur"]) input.addEventListener(type, submit);
  // The browser reports no change if the user types the same value again; the kernel may need the value.
  input.addEventListener("keydown", (event) => event.key === "Enter" && input.tagName === "INPUT" && submit());
}

// Show a value in a field, unless the user is typing there.
function showValue(input, value) {
  if (!("typed" in input.dataset) && input.value !== String(value)) input.value = value;
}

function labeledInput(control, input, ask) {
  onSubmit(input, () => ask(input.validity.badInput ? "no number" : input.value)); // the field contains letters instead of a number
  return { elements: [element("label", {}, `${control.label} `, input)], set: (value) => showValue(input, value) };
}

const MAKERS = {
  select(control, ask) {
    const input = element("select", {}, ...createOptions(control.options));
    input.onpointerenter = () => (input.title = input.selectedOptions[0]?.text ?? ""); // a narrow list cuts the text
    return labeledInput(control, input, ask);
  },
  text: (control, ask) => labeledInput(control, element("input", { type: "text", spellcheck: "false" }), ask),
  number(control, ask) {
    const send = (text) => ask(text === "" ? null : Number.isNaN(Number(text)) ? text : Number(text)); // null: an empty field
    return labeledInput(control, element("input", { type: "number", min: control.min, max: control.max, step: 1 }), send);
  },
  buttons(control, ask) {
    const buttons = control.options.map((value) => actionButton(value, () => ask(value), { "aria-label": `${control.label} ${value}` }));
    const set = (value) => buttons.forEach((button, number) => button.setAttribute("aria-pressed", control.options[number] === value));
    return { elements: [element("span", {}, control.label), ...buttons], set };
  },
  tabs(control, ask) {
    const tabs = control.options.slice(0, MAIN).map(([value, title]) =>
      actionButton(value, () => ask(value), { role: "tab", title }));
    const others = createOptions([["", "more …"], ...control.options.slice(MAIN)]);
    const more = element("select", { "aria-label": `more ${control.label}` }, ...others);
    more.addEventListener("change", () => more.value && ask(more.value));
    const set = (value) => {
      const chosen = control.options.slice(0, MAIN).findIndex(([option]) => option === value), focusable = Math.max(0, chosen);
      tabs.forEach((tab, n) => setAttributes(tab, { "aria-selected": n === chosen, tabindex: n === focusable ? 0 : -1 }));
      more.value = chosen < 0 ? value : "";
      more.toggleAttribute("data-shown", chosen < 0);
    };
    const list = element("div", { class: "scantape-tabs", role: "tablist", "aria-label": "views" }, ...tabs);
    list.addEventListener("keydown", (event) => {
      const { length } = tabs, at = tabs.indexOf(event.target);
      const to = { ArrowRight: (at + 1) % length, ArrowLeft: (at - 1 + length) % length, Home: 0, End: length - 1 }[event.key];
      if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      tabs[to].focus();
      event.preventDefault();
    });
    return { elements: [list, more], set };
  },
  range(control, ask) {
    const { min, max, step, label } = control;
    const slider = element("input", { type: "range", min, max, step });
    const exact = element("input", { type: "text", inputmode: "decimal", "aria-label": `${label}, exactly` });
    slider.addEventListener("input", () => ask((exact.value = slider.value)));
    onSubmit(exact, () => ask(exact.value));
    const set = (value) => {
      if (Number(slider.value) !== Number(value)) slider.value = value;
      showValue(exact, value);
    };
    return { elements: [element("label", {}, `${label} `, slider), exact], set };
  },
  checks(control, ask) {
    const boxes = control.options.map((value) => element("input", { type: "checkbox", value }));
    const chosen = () => boxes.filter((box) => box.checked).map((box) => Number(box.value));
    for (const box of boxes) box.addEventListener("change", () => ask(chosen()));
    const tap = (value) => (value ? `t${value > 0 ? "+" : "−"}${Math.abs(value)}` : "t");
    const labels = boxes.map((box) => element("label", { class: "scantape-slot" }, box, tap(Number(box.value))));
    const written = element("span", { class: "scantape-slot", title: "the value that the step writes", "data-made": "" }, "t");
    const set = (value) => boxes.forEach((box) => (box.checked = value.includes(Number(box.value))));
    return { elements: [element("legend", {}, control.label), ...labels, ...(control.makes ? [written] : [])], set };
  },
  check(control, ask) {
    const input = element("input", { type: "checkbox" });
    input.addEventListener("change", () => ask(input.checked));
    return { elements: [element("label", {}, input, control.label)], set: (value) => (input.checked = value) };
  },
  written(control, ask) {
    const inputs = [element("textarea", { rows: 2, cols: 40, spellcheck: "false" }), element("input", { type: "text", size: 40, spellcheck: "false" })];
    for (const input of inputs) onSubmit(input, () => ask(inputs.map(({ value }) => value)));
    const elements = ["step ", "values "].map((label, n) => element("label", {}, label, inputs[n]));
    return { elements, set: (texts) => inputs.forEach((input, n) => showValue(input, texts[n])) };
  },
  note: (control) => ({ elements: [element("span", {}, control.label)], set() {} }),
};
