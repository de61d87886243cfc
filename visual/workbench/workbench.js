// The workbench in a notebook: the picture, with its controls around it, made of the records in
// the trait `form`.
// This file is joined to stepper.js and form.js and uses their `element`, `stepper` and `Form`.
//
// Every change goes to the kernel as {number, key, value}.  Only one is under way; while it is,
// later ones wait, and of those for the same control the last one alone is sent.  When one takes
// longer than a moment, this is said, and the next change goes out at once: the kernel then gives
// up the picture that it works on, and draws that of both changes.

const PATIENCE = 300; // ms
const SETTLED = 50; // ms
const RESTING = 250; // ms
const AROUND = 123; // pixels of a window above and below a workbench: JupyterLab's bars, and words
const MUCH_OF = 400; // pixels of a picture
const BAR = 80; // pixels above the picture while it is presented

// How large the picture is: its natural size, or as wide as the page; or as large as the screen
// while it is presented.
class Zoom {
  constructor(frame) {
    this.frame = frame;
    this.root = element("select", { "aria-label": "zoom" });
    for (const name of ["100 %", "width"]) this.root.append(element("option", { value: name }, name));
    this.show = this.show.bind(this);
  }

  get isAlone() {
    return Boolean(document.fullscreenElement?.contains(this.frame));
  }

  show() {
    const svg = this.frame.querySelector("svg");
    if (!svg) return;
    const { width, height } = svg.viewBox.baseVal;
    const large = Math.min(this.frame.clientWidth / width, (innerHeight - BAR) / height);
    const natural = this.root.value === "width" ? this.frame.clientWidth / width : 1;
    const scale = this.isAlone ? large : natural;
    svg.setAttribute("width", Math.round(width * scale));
    svg.setAttribute("height", Math.round(height * scale));
  }
}

const MAIN = 4; // tabs; the other views are behind the last of them

// The views as tabs: arrows go from one to the next.
class Tabs {
  constructor(panel, ask) {
    this.list = element("div", { class: "scantape-tabs", role: "tablist", "aria-label": "views" });
    this.more = element("select", { "aria-label": "more views" }, element("option", { value: "" }, "more …"));
    this.root = element("div", { class: "scantape-views" }, this.list, this.more);
    this.panel = panel;
    this.ask = ask;
    this.tabs = [];
    this.more.addEventListener("change", () => this.more.value && ask(["view"], this.more.value));
    this.list.addEventListener("keydown", (event) => {
      const at = this.tabs.indexOf(event.target);
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: -1 }[event.key];
      if (to === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
      this.tabs.at(to % this.tabs.length).focus();
      event.preventDefault();
    });
  }

  show({ views, view }) {
    if (!this.tabs.length) {
      this.tabs = views.slice(0, MAIN).map(({ name, label, about }) => {
        const tab = element("button", { type: "button", role: "tab", title: about, "data-view": name }, label);
        tab.addEventListener("click", () => this.ask(["view"], name));
        return tab;
      });
      this.list.append(...this.tabs);
      this.more.append(...views.slice(MAIN).map(({ name, about }) => element("option", { value: name }, about)));
    }
    const other = !this.tabs.some((tab) => tab.dataset.view === view);
    for (const tab of this.tabs) {
      const shown = tab.dataset.view === view;
      tab.setAttribute("aria-selected", shown);
      tab.setAttribute("tabindex", shown || (other && tab === this.tabs[0]) ? "0" : "-1");
    }
    this.more.value = other ? view : "";
    this.more.toggleAttribute("data-shown", other);
    this.panel.setAttribute("aria-label", view);
  }
}

// What is asked of the kernel: one question at a time, as long as it answers quickly.
class Questions {
  constructor(model, working) {
    this.model = model;
    this.working = working;
    this.number = Date.now(); // no other page of this workbench has asked by it
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

  // What an answer does not speak of yet: the question under way, and those that wait.
  open(answered) {
    const name = this.sent && this.asked !== answered ? JSON.stringify(this.sent.key) : undefined;
    return new Map([[name, this.sent], ...this.waiting]);
  }

  send(question) {
    this.asked = ++this.number;
    this.sent = question;
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
    this.asked = this.sent = null;
    clearTimeout(this.timer);
    if (this.waiting.size) this.next();
    else this.working(false);
  }

  destroy() {
    clearTimeout(this.timer);
  }
}

/** Copies a text; where a page may not, the text is shown and selected instead. */
async function copyText(text, shown, told) {
  shown.textContent = text;
  try {
    await navigator.clipboard.writeText(text);
    told.textContent = "copied";
  } catch {
    shown.parentElement.open = true;
    getSelection().selectAllChildren(shown);
    told.textContent = "press Ctrl+C to copy";
  }
}

// Whether the page is dark, or else the person's system.
const isDark = () => isJupyterDark() ?? matchMedia("(prefers-color-scheme: dark)").matches;

// The picture goes with the page: it becomes dark and light again when the page does.
function follow(model, ask) {
  let was = false;
  const look = () => {
    const chosen = model.get("form").controls.find(({ key }) => key[0] === "theme").value;
    if (isDark() !== was && chosen === (was ? "dark" : "light")) ask(["theme"], was ? "light" : "dark");
    was = isDark();
  };
  look();
  return onTheme(look);
}

const LOOKS = [100, 300, 600, 1000]; // ms after it was shown, in which a notebook may scroll

// A notebook that goes on to the next cell scrolls past what a cell shows for the first time: then
// it comes back, unless the person has begun to do something else.  In a low window, in which much of
// the picture is below, it comes up.
function appear(root) {
  const ended = new AbortController();
  const end = () => ended.abort();
  for (const type of ["wheel", "keydown", "pointerdown"]) addEventListener(type, end, { signal: ended.signal, capture: true });
  const look = () => {
    const above = (part) => part && part !== document.body && (getComputedStyle(part).overflowY === "visible" ? above(part.parentElement) : part);
    const top = (above(root.parentElement) || document.documentElement).getBoundingClientRect().top;
    const isLow = root.querySelector(".picture").getBoundingClientRect().top + MUCH_OF > innerHeight;
    if (!ended.signal.aborted && (isLow || root.getBoundingClientRect().top < Math.max(0, top))) root.scrollIntoView({ block: "start" });
  };
  for (const time of LOOKS) setTimeout(look, time);
  setTimeout(end, LOOKS.at(-1) + 1);
  return end;
}

/** What to save and to copy, behind one word. */
class Saving {
  /** @param {(format: string) => void} save  @param {(name: string) => string} text of "link" and "python" */
  constructor(save, text) {
    const row = () => element("div", { class: "scantape-saving", role: "group" });
    const files = row(), copies = row();
    files.setAttribute("aria-label", "save");
    for (const format of ["svg", "pdf", "png", "html"]) {
      const button = element("button", { type: "button" }, format.toUpperCase());
      button.addEventListener("click", () => save(format));
      files.append(button);
    }
    this.source = element("pre", { tabindex: "0", role: "region", "aria-label": "as Python" });
    this.copied = element("span", { role: "status" });
    for (const [label, name, about] of [["copy link", "link", "for a page, and for visual.Workbench(…)"], ["copy as Python", "python", ""]]) {
      const button = element("button", { type: "button", title: about, "data-copies": name }, label);
      button.addEventListener("click", () => copyText(text(name), this.source, this.copied));
      copies.append(button);
    }
    copies.append(this.copied);
    const python = element("details", {}, element("summary", {}, "as Python"), this.source);
    this.root = element("details", { class: "scantape-save" }, element("summary", {}, "save ▾"), element("div", { tabindex: "-1" }, files, copies, python));
    this.root.addEventListener("focusout", (event) => this.root.contains(event.relatedTarget) || phone.matches || (this.root.open = false));
    this.root.addEventListener("keydown", (event) => event.key === "Escape" && (this.root.open = false));
  }

  show({ python, link }) {
    this.source.textContent = python;
    this.root.querySelector("[data-copies=link]").disabled = !link;
  }
}

/** Undo and redo: two buttons, and Ctrl+Z where nobody types. */
class Undoing {
  constructor(root, ask) {
    const button = (way, sign) => {
      const made = element("button", { type: "button", title: `${way} the last choice`, "aria-label": way }, sign);
      made.addEventListener("click", () => ask([way]));
      return made;
    };
    this.buttons = { undo: button("undo", "↶"), redo: button("redo", "↷") };
    this.root = element("span", { class: "scantape-undo" }, ...Object.values(this.buttons));
    root.addEventListener("keydown", (event) => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== "z" || isTyping(event)) return;
      event.preventDefault();
      event.stopPropagation();
      this.buttons[event.shiftKey ? "redo" : "undo"].click();
    }, { capture: true });
  }

  show(form) {
    for (const [way, button] of Object.entries(this.buttons)) button.disabled = !form[way];
  }
}

const phone = matchMedia("(max-width:600px)"); // there all controls are behind one row
const isTyping = (event) => event.target.matches("input:not([type=range]):not([type=checkbox]), textarea, select");

/** A workbench in a page: the controls, the tabs, and the picture or the machine. */
class Bench {
  constructor(model, el) {
    this.model = model;
    this.root = placed(el, { class: "scantape scantape-bench" });
    this.player = null; // the machine, while it is shown
    this.ask = (key, value = null) => this.questions.ask(key, value);
    this.arrange();
    this.stage();
    this.listen();
  }

  /** The controls above the picture, and next to it. */
  arrange() {
    const { model, root } = this;
    this.walked = element("div", { class: "scantape-walked", role: "tabpanel" });
    const working = element("span", { role: "status" });
    const cancel = element("button", { type: "button", hidden: "" }, "cancel");
    this.questions = new Questions(model, (busy) => {
      working.textContent = busy ? "working …" : "";
      cancel.hidden = !busy;
      root.setAttribute("aria-busy", busy);
    });
    cancel.addEventListener("click", () => this.questions.cancel());
    this.form = new Form(this.ask);
    this.tabs = new Tabs(this.walked, this.ask);
    this.problem = element("p", { class: "scantape-problem", role: "alert" });
    this.saving = new Saving((format) => model.send({ save: format }), (name) => model.get(name));
    this.undoing = new Undoing(root, this.ask);
    const line = element("div", { class: "scantape-line" }, this.form.line, this.form.taps, element("div", { class: "scantape-working" }, working, cancel));
    this.head = element("div", { class: "scantape-head" }, this.tabs.root);
    this.folded = element("summary");
    this.fold = element("details", { class: "scantape-fold" }, this.folded, line);
    this.body = element("div", { class: "scantape-body" }, this.walked, this.form.panel);
    this.bend = () => {
      this.fold.open = !phone.matches;
      (phone.matches ? this.fold : this.body).append(this.form.panel);
      (phone.matches ? this.form.panel : this.head).append(this.saving.root);
    };
    root.append(this.fold, this.head, this.problem, this.body);
  }

  /** The picture, and what walks through it. */
  stage() {
    const { walked } = this;
    this.frame = element("div", { class: "picture", role: "group", tabindex: "0", "aria-label": "picture" });
    walked.append(this.frame);
    this.zoom = new Zoom(this.frame);
    const present = element("button", { type: "button", title: "the picture alone, on the whole screen (F)" }, "present");
    const leave = element("button", { type: "button", class: "scantape-leave", title: "back to the page (Escape or F)" }, "leave");
    const alone = () => (document.fullscreenElement ? document.exitFullscreen() : walked.requestFullscreen());
    for (const button of [present, leave]) button.addEventListener("click", alone);
    this.root.addEventListener("keydown", (event) => {
      if (event.key.toLowerCase() === "f" && !isTyping(event) && !event.ctrlKey && !event.metaKey && !event.altKey) alone();
    }, { capture: true });
    this.head.append(element("span", { class: "scantape-zoom" }, this.undoing.root, element("label", {}, "zoom ", this.zoom.root), present));
    this.bend();
    this.walking = this.walk();
    this.equation = element("span", { class: "scantape-equation" });
    this.told = walked.querySelector(".scantape-told");
    const below = element("div", { class: "scantape-below" }, this.equation);
    this.told.replaceWith(below, leave);
    below.append(this.told);
  }

  walk() {
    const { model, ask } = this;
    return stepper(this.walked, {
      whole: true,
      changed: (step) => share(model, { step }),
      hint: "click a Scan to open it",
      open: (option, value) => ask(["options", option], value),
    });
  }

  /** Once nothing moves any more, the machine is asked for the width. */
  size() {
    this.zoom.show();
    clearTimeout(this.settled);
    this.settled = setTimeout(() => {
      if (this.frame.clientWidth) share(this.model, { room: this.frame.clientWidth }); // it is on the page now
    }, SETTLED);
  }

  show() {
    const shown = this.model.get("form");
    this.form.show(shown, this.questions.open(shown.answered));
    const main = shown.controls.filter(({ group }) => group === "loop");
    this.folded.textContent = main.map(({ label, value }) => `${label} ${value}`).join(", ");
    this.equation.textContent = this.equation.title = shown.equation;
    this.tabs.show(shown);
    this.undoing.show(shown);
    const elsewhere = ["view", "save", "link"].includes(shown.problem.key[0]);
    this.problem.textContent = elsewhere ? shown.problem.text : "";
    const theme = shown.controls.find(({ key }) => key[0] === "theme").value;
    this.frame.toggleAttribute("data-blends", theme === (isDark() ? "dark" : "light"));
    this.frame.toggleAttribute("data-old", Boolean(shown.problem.text)); // it is not what was asked for
    this.questions.answered(shown.answered);
  }

  /** The machine plays by itself; of another one with as many events, the moment is kept. */
  drawMachine(data) {
    const chosen = this.model.get("moment"), start = chosen < 0 ? data.first : chosen;
    if (this.player) this.player.open(data, this.player.data.moments === data.moments ? this.player.p : start);
    else {
      this.frame.replaceChildren();
      this.player = new Machine(data, this.frame, {
        moment: start, above: AROUND + 80, onMoment: (moment) => this.rest(moment),
        onExample: (link) => this.ask(["link"], link),
      });
    }
    this.player.root.dataset.theme = isDark() ? "dark" : "light";
    this.walking.show(-1, true, {}, {});
  }

  /** The kernel is told of a moment at which the machine rests. */
  rest(moment) {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      if (!this.player || this.player.isPlaying) return;
      const now = Math.floor(this.player.p + 1e-9);
      if (now !== this.model.get("moment") && (this.model.get("moment") >= 0 || now !== this.player.data.first)) share(this.model, { moment: now });
    }, RESTING);
    return moment;
  }

  draw() {
    const { model, frame } = this, machine = model.get("machine");
    this.root.toggleAttribute("data-plays", Boolean(machine.moments));
    if (machine.moments) return this.drawMachine(machine);
    this.player = null;
    const svg = new DOMParser().parseFromString(model.get("svg"), "image/svg+xml").documentElement;
    frame.replaceChildren(document.importNode(svg, true));
    this.zoom.show();
    this.walking.show(model.get("step"), true, model.get("form").moments, model.get("form").chosen);
  }

  receive(message, buffers) {
    if (!message.file) return;
    download(message.file, buffers[0]);
    this.saving.root.open = phone.matches;
    this.told.textContent = `saved as ${message.file}, where the browser keeps downloads`;
  }

  listen() {
    const { model, frame } = this, draw = () => this.draw(), size = () => this.size();
    const write = () => this.saving.show({ python: model.get("python"), link: model.get("link") });
    const move = () => this.player && model.get("moment") >= 0 && Math.floor(this.player.p + 1e-9) !== model.get("moment") && this.player.jump(model.get("moment"));
    const unheard = listening(model, {
      "change:form": () => this.show(), "change:svg": draw, "change:machine": draw, "change:moment": move,
      "change:step": () => this.walking.set(model.get("step")), "change:python": write, "change:link": write,
      "msg:custom": (message, buffers) => this.receive(message, buffers),
    });
    draw();
    this.show();
    write();
    this.size();
    this.zoom.root.addEventListener("change", this.zoom.show);
    let wide = frame.clientWidth;
    const resized = new ResizeObserver(() => {
      if (frame.clientWidth !== wide) size();
      wide = frame.clientWidth;
    });
    resized.observe(frame);
    addEventListener("resize", size);
    phone.addEventListener("change", this.bend);
    document.addEventListener("fullscreenchange", this.zoom.show);
    const ends = [unheard, follow(model, this.ask), model.get("room") ? () => {} : appear(this.root)]; // no page has shown it yet
    this.end = () => {
      for (const end of ends) end();
      for (const timer of [this.settled, this.resting]) clearTimeout(timer);
      resized.disconnect();
      removeEventListener("resize", size);
      document.removeEventListener("fullscreenchange", this.zoom.show);
      phone.removeEventListener("change", this.bend);
    };
  }

  destroy() {
    this.end();
    this.player?.pause();
    this.walking.destroy();
    this.questions.destroy();
  }
}

function renderWorkbench({ model, el }) {
  const bench = new Bench(model, el);
  return () => bench.destroy();
}

export default { render: renderWorkbench };
