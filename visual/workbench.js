// The workbench in a notebook: a form beside the picture, made of the records in the trait `form`.
// This file is joined to stepper.js and uses its `element` and `stepper`.
//
// Every change goes to the kernel as {number, key, value}.  Only one is under way; while it is,
// later ones wait, and of those for the same control the last one alone is sent.  When one takes
// longer than a moment, this is said, and the next change goes out at once: the kernel then gives
// up the picture that it works on, and draws that of both changes.

const PATIENCE = 200; // ms

class Form {
  constructor(ask) {
    this.ask = ask;
    this.rows = new Map();
    this.shape = "";
    this.root = element("div", { class: "scantape-form", role: "group", "aria-label": "workbench" });
  }

  // Shows the present values; the controls are made anew only if they are other ones.
  show({ controls, problem }, waiting) {
    const shape = JSON.stringify(controls.map(({ value, about, ...rest }) => rest));
    if (shape !== this.shape) this.build(controls);
    this.shape = shape;
    for (const control of controls) {
      const row = this.rows.get(JSON.stringify(control.key));
      const wrong = problem.text && JSON.stringify(problem.key) === JSON.stringify(control.key);
      row.tell(wrong ? problem.text : "");
      row.about.textContent = control.about || "";
      // What is wrong stays, to be mended, and so does what the kernel has not seen yet.
      const next = waiting.get(JSON.stringify(control.key));
      if (!wrong) row.set(next ? next.value : control.value);
    }
  }

  build(controls) {
    const focused = this.root.getRootNode().activeElement;
    const key = focused && this.root.contains(focused) ? focused.dataset.focus : null;
    const typing = [...this.root.querySelectorAll("[data-typed]")].map((e) => [e.dataset.focus, e.value]);
    this.rows.clear();
    const groups = new Map();
    for (const control of controls) {
      if (!groups.has(control.group)) groups.set(control.group, group(control.group));
      const row = made(control, (value) => this.ask(control.key, value));
      groups.get(control.group).append(row.root);
      if ("about" in control) groups.get(control.group).append(row.about);
      this.rows.set(JSON.stringify(control.key), row);
    }
    this.root.replaceChildren(...groups.values());
    const named = new Map([...this.root.querySelectorAll("[data-focus]")].map((e) => [e.dataset.focus, e]));
    for (const [name, value] of typing) {
      if (!named.has(name)) continue;
      named.get(name).value = value;
      named.get(name).dataset.typed = "";
    }
    if (named.has(key)) named.get(key).focus();
  }
}

function group(name) {
  if (name !== "values") return element("div", { class: "scantape-group" });
  return element("details", { class: "scantape-group scantape-values" }, element("summary", {}, "values of the inputs"));
}

const HERE = Math.random().toString(36).slice(2); // every workbench may have a module of its own
let counted = 0;

// One control: its element, `set` to show a value, and `tell` for what is wrong with it.
function made(control, ask) {
  const told = element("span", { class: "scantape-problem", role: "alert", id: `scantape-${HERE}-${++counted}` });
  const parts = (MAKERS[control.kind] || MAKERS.note)(control, ask);
  const tag = control.kind === "checks" ? "fieldset" : "div";
  const root = element(tag, { class: "scantape-control" }, ...parts.elements, told);
  return {
    root,
    about: element("p", { class: "scantape-about" }),
    set: parts.set,
    tell(text) {
      told.textContent = text;
      for (const input of root.querySelectorAll("input, select, textarea")) {
        input.toggleAttribute("aria-invalid", Boolean(text));
        input.setAttribute("aria-describedby", told.id);
      }
    },
  };
}

function focusName(control, part = "") {
  return JSON.stringify([control.key, part]);
}

// What is being typed is not replaced until it is handed in.
function typed(input, ask) {
  input.addEventListener("input", () => (input.dataset.typed = ""));
  input.addEventListener("change", () => {
    delete input.dataset.typed;
    ask();
  });
}

function put(input, value) {
  if (!("typed" in input.dataset) && input.value !== String(value)) input.value = value;
}

function labelled(control, input, ask) {
  input.dataset.focus = focusName(control);
  typed(input, () => ask(input.value));
  return {
    elements: [element("label", {}, `${control.label} `, input)],
    set: (value) => put(input, value),
  };
}

const MAKERS = {
  select(control, ask) {
    const input = element("select");
    for (const [value, text] of control.options) input.append(element("option", { value }, text));
    return labelled(control, input, ask);
  },
  text: (control, ask) => labelled(control, element("input", { type: "text", spellcheck: "false" }), ask),
  number(control, ask) {
    const { min, max } = control;
    return labelled(control, element("input", { type: "number", min, max, step: 1 }), ask);
  },
  range(control, ask) {
    const { min, max, step, label } = control;
    const slider = element("input", { type: "range", min, max, step });
    const exact = element("input", { type: "text", inputmode: "decimal", "aria-label": `${label}, exactly` });
    slider.dataset.focus = focusName(control);
    exact.dataset.focus = focusName(control, "exact");
    slider.addEventListener("input", () => {
      exact.value = slider.value;
      ask(slider.value);
    });
    typed(exact, () => ask(exact.value));
    return {
      elements: [element("label", {}, `${label} `, slider), exact],
      set(value) {
        if (Number(slider.value) !== Number(value)) slider.value = value;
        put(exact, value);
      },
    };
  },
  checks(control, ask) {
    const boxes = control.options.map((option) => {
      const box = element("input", { type: "checkbox", value: option });
      box.dataset.focus = focusName(control, option);
      return box;
    });
    const chosen = () => boxes.filter((box) => box.checked).map((box) => Number(box.value));
    for (const box of boxes) box.addEventListener("change", () => ask(chosen()));
    const labels = boxes.map((box) => element("label", {}, box, box.value.replace("-", "−")));
    return {
      elements: [element("legend", {}, control.label), ...labels],
      set: (value) => boxes.forEach((box) => (box.checked = value.includes(Number(box.value)))),
    };
  },
  check(control, ask) {
    const input = element("input", { type: "checkbox" });
    input.dataset.focus = focusName(control);
    input.addEventListener("change", () => ask(input.checked));
    return {
      elements: [element("label", {}, input, control.label)],
      set: (value) => (input.checked = value),
    };
  },
  written(control, ask) {
    const step = element("textarea", { rows: 2, cols: 40, spellcheck: "false" });
    const values = element("input", { type: "text", size: 40, spellcheck: "false" });
    step.dataset.focus = focusName(control, "step");
    values.dataset.focus = focusName(control, "values");
    for (const input of [step, values]) typed(input, () => ask([step.value, values.value]));
    return {
      elements: [element("label", {}, "step ", step), element("label", {}, "values ", values)],
      set([text, given]) {
        put(step, text);
        put(values, given);
      },
    };
  },
  note: (control) => ({ elements: [element("span", {}, control.label)], set() {} }),
};

// The views as tabs: arrows go from one to the next.
class Tabs {
  constructor(panel, ask) {
    this.root = element("div", { class: "scantape-tabs", role: "tablist", "aria-label": "views" });
    this.panel = panel;
    this.ask = ask;
    this.tabs = [];
    this.root.addEventListener("keydown", (event) => {
      const at = this.tabs.indexOf(event.target);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
      if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      this.tabs.at(to % this.tabs.length).focus();
      event.preventDefault();
    });
  }

  show({ views, view }) {
    if (!this.tabs.length) {
      this.tabs = views.map(({ name, about }) => {
        const tab = element("button", { type: "button", role: "tab", title: about, "data-view": name }, name);
        tab.addEventListener("click", () => this.ask(["view"], name));
        return tab;
      });
      this.root.append(...this.tabs);
    }
    for (const tab of this.tabs) {
      const shown = tab.dataset.view === view;
      tab.setAttribute("aria-selected", shown);
      tab.setAttribute("tabindex", shown ? "0" : "-1");
      if (shown) this.panel.setAttribute("aria-label", view);
    }
  }
}

// What is asked of the kernel: one question at a time, as long as it answers quickly.
class Questions {
  constructor(model, working) {
    this.model = model;
    this.working = working;
    this.number = 0;
    this.waiting = new Map();
    this.asked = null;
    this.late = false;
  }

  ask(key, value) {
    const name = JSON.stringify(key);
    this.waiting.delete(name);
    this.waiting.set(name, { key, value });
    this.next();
  }

  next() {
    if ((this.asked !== null && !this.late) || !this.waiting.size) return;
    const [name, question] = this.waiting.entries().next().value;
    this.waiting.delete(name);
    this.send(question);
  }

  send(question) {
    this.asked = ++this.number;
    this.late = false;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.late = true;
      this.working(true);
      this.next();
    }, PATIENCE);
    this.model.send({ number: this.asked, ...question });
  }

  // All that is not answered yet is taken back.
  cancel() {
    this.waiting.clear();
    if (this.asked !== null) this.send({ cancel: true });
  }

  answered(number) {
    if (number !== this.asked) return;
    this.asked = null;
    clearTimeout(this.timer);
    if (this.waiting.size) this.next();
    else this.working(false);
  }

  destroy() {
    clearTimeout(this.timer);
  }
}

function download(name, content) {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob([content])) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

// Where nothing can be copied for a page, the text is shown and selected instead.
async function copyText(source, told) {
  try {
    await navigator.clipboard.writeText(source.textContent);
    told.textContent = "copied";
  } catch {
    source.parentElement.open = true;
    getSelection().selectAllChildren(source);
    told.textContent = "press Ctrl+C to copy";
  }
}

function renderWorkbench({ model, el }) {
  const root = element("div", { class: "scantape scantape-bench", "data-lm-suppress-shortcuts": "true" });
  const walked = element("div", { class: "scantape-walked", role: "tabpanel" });
  const working = element("span", { role: "status" });
  const cancel = element("button", { type: "button", hidden: "" }, "cancel");
  const waiting = element("div", { class: "scantape-working" }, working, cancel);
  const questions = new Questions(model, (busy) => {
    working.textContent = busy ? "working …" : "";
    cancel.hidden = !busy;
    root.setAttribute("aria-busy", busy);
  });
  cancel.addEventListener("click", () => questions.cancel());
  const ask = (key, value) => questions.ask(key, value);
  const form = new Form(ask);
  const tabs = new Tabs(walked, ask);
  const problem = element("p", { class: "scantape-problem", role: "alert" });
  const saving = element("div", { class: "scantape-saving", role: "group", "aria-label": "save" }, "save as ");
  for (const format of ["svg", "pdf", "png", "html"]) {
    const button = element("button", { type: "button" }, format.toUpperCase());
    button.addEventListener("click", () => model.send({ save: format }));
    saving.append(button);
  }
  const source = element("pre", { tabindex: "0", role: "region", "aria-label": "as Python" });
  const copy = element("button", { type: "button" }, "copy as Python");
  const copied = element("span", { role: "status" });
  copy.addEventListener("click", () => copyText(source, copied));
  const python = element("details", {}, element("summary", {}, "as Python"), source);
  saving.append(copy, copied);
  const head = element("div", { class: "scantape-head" }, tabs.root, waiting);
  root.append(form.root, head, problem, walked, saving, python);
  root.addEventListener("keydown", (event) => event.stopPropagation());
  el.append(root);
  let walking = null;

  function show() {
    const shown = model.get("form");
    form.show(shown, questions.waiting);
    tabs.show(shown);
    const elsewhere = ["view", "save"].includes(shown.problem.key[0]);
    problem.textContent = elsewhere ? shown.problem.text : "";
    questions.answered(shown.answered);
  }

  function draw() {
    if (walking) walking.destroy();
    const svg = new DOMParser().parseFromString(model.get("svg"), "image/svg+xml").documentElement;
    const frame = { class: "picture", role: "group", tabindex: "0", "aria-label": "picture" };
    walked.replaceChildren(element("div", frame, document.importNode(svg, true)));
    walking = stepper(walked, {
      step: model.get("step"),
      changed: (step) => {
        model.set("step", step);
        model.save_changes();
      },
    });
  }

  const write = () => (source.textContent = model.get("python"));
  const move = () => walking.set(model.get("step"));
  const receive = (message, buffers) => message.file && download(message.file, buffers[0]);
  const listeners = { "change:form": show, "change:svg": draw, "change:step": move, "change:python": write, "msg:custom": receive };
  for (const [name, listener] of Object.entries(listeners)) model.on(name, listener);
  draw();
  show();
  write();
  return () => {
    for (const [name, listener] of Object.entries(listeners)) model.off(name, listener);
    walking.destroy();
    questions.destroy();
  };
}

export default { render: renderWorkbench };
