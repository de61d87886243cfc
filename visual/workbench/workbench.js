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
const AROUND = 123; // pixels of a window above and below a workbench: JupyterLab's bars, and words
const LOWEST = 480; // pixels of a picture in a low window, which is scrolled
const MUCH = 10000; // pixels of room: more than a picture takes
const MUCH_OF = 400; // pixels of a picture
const BAR = 80; // pixels above the picture while it is presented

// How large the picture is: as much of it open as the window has room for, or all of it, or as
// wide as the page; or as large as the screen while it is presented.
class Zoom {
  constructor(frame) {
    this.frame = frame;
    this.root = element("select", { "aria-label": "zoom" });
    for (const name of ["fit", "100 %", "width"]) this.root.append(element("option", { value: name }, name));
    this.show = this.show.bind(this);
  }

  get isAlone() {
    return Boolean(document.fullscreenElement?.contains(this.frame));
  }

  // What the picture is asked to fit into.
  get room() {
    if (this.isAlone) return [this.frame.clientWidth, innerHeight - BAR];
    if (this.root.value !== "fit") return [MUCH, MUCH];
    const above = this.frame.getBoundingClientRect().top - this.frame.closest(".scantape-bench").getBoundingClientRect().top;
    return [this.frame.clientWidth, Math.max(LOWEST, Math.floor(innerHeight - AROUND - above))];
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

function renderWorkbench({ model, el }) {
  const root = placed(el, { class: "scantape scantape-bench" });
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
  const saving = element("div", { class: "scantape-saving", role: "group", "aria-label": "save" });
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
  const line = element("div", { class: "scantape-line" }, form.line, form.taps, waiting);
  const head = element("div", { class: "scantape-head" }, tabs.root);
  const save = element("details", { class: "scantape-save" }, element("summary", {}, "save ▾"), element("div", { tabindex: "-1" }, saving, python));
  const shut = (event) => save.contains(event.relatedTarget) || phone.matches || (save.open = false);
  save.addEventListener("focusout", shut);
  save.addEventListener("keydown", (event) => event.key === "Escape" && (save.open = false));
  const folded = element("summary");
  const fold = element("details", { class: "scantape-fold" }, folded, line);
  const body = element("div", { class: "scantape-body" }, walked, form.panel);
  const phone = matchMedia("(max-width:600px)"); // there all controls are behind one row
  const bend = () => {
    fold.open = !phone.matches;
    (phone.matches ? fold : body).append(form.panel);
    (phone.matches ? form.panel : head).append(save);
  };
  phone.addEventListener("change", bend);
  root.append(fold, head, problem, body);
  const frame = element("div", { class: "picture", role: "group", tabindex: "0", "aria-label": "picture" });
  walked.append(frame);
  const zoom = new Zoom(frame);
  const present = element("button", { type: "button", title: "the picture alone, on the whole screen (F)" }, "present");
  const leave = element("button", { type: "button", class: "scantape-leave", title: "back to the page (Escape or F)" }, "leave");
  const alone = () => (document.fullscreenElement ? document.exitFullscreen() : walked.requestFullscreen());
  for (const button of [present, leave]) button.addEventListener("click", alone);
  root.addEventListener("keydown", (event) => {
    const typing = event.target.matches("input:not([type=range]):not([type=checkbox]), textarea, select");
    if (event.key.toLowerCase() === "f" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) alone();
  }, { capture: true });
  head.append(element("span", { class: "scantape-zoom" }, element("label", {}, "zoom ", zoom.root), present));
  bend();
  const asking = () => {
    if (!frame.clientWidth) return; // it is not on the page now, and has no size
    share(model, { room: zoom.room });
  };
  let settled; // once nothing moves any more, the room is asked for
  const size = () => {
    zoom.show();
    clearTimeout(settled);
    settled = setTimeout(asking, SETTLED);
  };
  const walking = stepper(walked, {
    whole: true,
    changed: (step) => share(model, { step }),
    story: storyFrom(model),
    hint: ", a Scan or a fold to open it",
    open: (option, value) => {
      const asked = { unfold: ["fold", Number(value)], row: ["row", Number(value)] };
      if (option !== "moment") return ask(asked[option] || ["options", option], value);
      share(model, { step: Number(value) });
      ask(["view"], "moment"); // one step, large
    },
    field: (given) => form.field(["at", ...(given || [])]),
  });
  const equation = element("span", { class: "scantape-equation" });
  const told = walked.querySelector(".scantape-told");
  const below = element("div", { class: "scantape-below" }, equation);
  told.replaceWith(below, leave);
  below.append(told);

  function show() {
    const shown = model.get("form");
    form.show(shown, questions.open(shown.answered));
    const main = shown.controls.filter(({ group }) => group === "loop");
    folded.textContent = main.map(({ label, value }) => `${label} ${value}`).join(", ");
    equation.textContent = equation.title = shown.equation;
    tabs.show(shown);
    const elsewhere = ["view", "save"].includes(shown.problem.key[0]);
    problem.textContent = elsewhere ? shown.problem.text : "";
    const theme = shown.controls.find(({ key }) => key[0] === "theme").value;
    frame.toggleAttribute("data-blends", theme === (isDark() ? "dark" : "light"));
    frame.toggleAttribute("data-old", Boolean(shown.problem.text)); // it is not what was asked for
    questions.answered(shown.answered);
    size(); // the controls may have more lines now
  }

  // The machine plays by itself; of another one with as many events, the moment is kept.
  let player = null;
  function drawMachine(data) {
    const kept = player?.data.moments === data.moments ? player.p : data.first;
    if (player) player.open(data, kept);
    else {
      frame.replaceChildren();
      player = new Machine(data, frame, { moment: data.first, above: AROUND + 80 });
    }
    player.root.dataset.theme = isDark() ? "dark" : "light";
    walking.show(-1, true, {}, {});
  }

  function draw() {
    const machine = model.get("machine");
    root.toggleAttribute("data-plays", Boolean(machine.moments));
    if (machine.moments) return drawMachine(machine);
    player = null;
    const svg = new DOMParser().parseFromString(model.get("svg"), "image/svg+xml").documentElement;
    frame.replaceChildren(document.importNode(svg, true));
    zoom.show();
    walking.show(model.get("step"), true, model.get("form").moments, model.get("form").chosen);
  }

  const write = () => (source.textContent = model.get("python"));
  const move = () => walking.set(model.get("step"));
  const receive = (message, buffers) => {
    if (!message.file) return;
    download(message.file, buffers[0]);
    save.open = phone.matches;
    told.textContent = `saved as ${message.file}, where the browser keeps downloads`;
  };
  const unheard = listening(model, { "change:form": show, "change:svg": draw, "change:machine": draw, "change:step": move, "change:python": write, "msg:custom": receive });
  draw();
  show();
  write();
  zoom.root.addEventListener("change", size);
  let wide = frame.clientWidth;
  const resized = new ResizeObserver(() => {
    if (frame.clientWidth !== wide) size();
    wide = frame.clientWidth;
  });
  resized.observe(frame);
  addEventListener("resize", size);
  document.addEventListener("fullscreenchange", zoom.show);
  const unfollow = follow(model, ask);
  const disappear = model.get("room")[1] ? () => {} : appear(root); // no page has shown it yet
  return () => {
    unfollow();
    disappear();
    clearTimeout(settled);
    resized.disconnect();
    removeEventListener("resize", size);
    document.removeEventListener("fullscreenchange", zoom.show);
    phone.removeEventListener("change", bend);
    unheard();
    walking.destroy();
    questions.destroy();
  };
}

export default { render: renderWorkbench };
