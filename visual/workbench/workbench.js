// The workbench in a notebook: a picture or the machine, and its controls. The records in the trait
// `form` describe the controls. This file follows the files with `element`, `Form`, and `Machine`.
//
// Each change goes to the kernel as {number, key, value}. Only one request is open at a time. Later
// changes wait, and the page sends only the last change of a control. If an answer takes longer than
// PATIENCE, the page shows a note and sends the next change immediately: the kernel then cancels the
// first picture and draws the result of both changes.
// The kernel sends the machines of probable changes ahead. The page shows such a machine until the
// kernel answers.

const PATIENCE = 300; // ms without an answer before the page shows that the kernel is busy
const RESTING = 250; // ms without motion before the page sends the moment to the kernel
const CODE = 110; // the maximum height of code to keep in view, in pixels
const MOST_AHEAD = 64; // the maximum number of changes whose machines the page keeps
const ENOUGH = 400; // the minimum visible height of a picture in a low window, in pixels
const CARDS = "[data-cell^='scan:']"; // groups of a picture that open a Scan

/** Requests to the kernel, one at a time if the kernel answers quickly. */
class Requests {
  open = new Map(); // all requests without an answer, by key; a sent request has a number
  number = Date.now(); // the number of the latest request; unique among the pages of this workbench
  timer = 0; // the timer of the wait for a quick answer

  constructor(model, working) {
    Object.assign(this, { model, working });
  }

  ask(key, value = null) {
    const name = JSON.stringify(key);
    this.open.delete(name);
    this.open.set(name, { key, value });
    this.next();
  }

  /** Send the first waiting request, unless a quick answer is expected. */
  next() {
    const request = [...this.open.values()].find(({ number }) => !number);
    if (!request || this.timer) return;
    request.number = ++this.number;
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.working(true);
      this.next();
    }, PATIENCE);
    try {
      this.model.send(request);
    } catch { // the kernel was restarted
      this.end();
      this.working(null);
    }
  }

  /** Remove all sent requests: the kernel combines them. @param {number} number of the latest request */
  answered(number) {
    if (number !== this.number) return;
    this.end([...this.open].filter(([, { number }]) => !number));
    if (this.open.size) this.next();
    else this.working(false);
  }

  /** Stop the wait for a quick answer, and keep only the requests `rest`. @param {any[]} rest */
  end(rest = []) {
    this.open = new Map(rest);
    clearTimeout(this.timer);
    this.timer = 0;
  }
}

const LOOKS = [100, 300, 600, 1000]; // ms after the first display, for checks whether the notebook has scrolled

/** Return the nearest element around `part` that scrolls. @param {Element|null} part */
function scrolling(part) {
  if (!part || part === document.body) return document.documentElement;
  return /auto|scroll/.test(getComputedStyle(part).overflowY) ? part : scrolling(part.parentElement);
}

/** If the window shows little of a new workbench, scroll back to it, until the reader acts or the returned function is called. */
function appear(root) {
  const ended = new AbortController(), end = () => ended.abort();
  for (const type of ["wheel", "keydown", "pointerdown"]) addEventListener(type, end, { signal: ended.signal, capture: true });
  const look = () => {
    const { top } = scrolling(root.parentElement).getBoundingClientRect();
    const isLow = root.querySelector(".picture").getBoundingClientRect().top + ENOUGH > innerHeight;
    if (!ended.signal.aborted && (isLow || root.getBoundingClientRect().top < Math.max(0, top))) root.scrollIntoView({ block: "start" });
  };
  for (const time of LOOKS) setTimeout(look, time);
  setTimeout(end, LOOKS.at(-1) + 1);
  return end;
}

/** Create the menu of files and texts, and a function that updates the texts. @param {(format: string) => void} save @param {(name: string) => string} text of "link" and "python" */
function createSaving(save, text) {
  const source = element("pre", { tabindex: "0", role: "region", "aria-label": "as Python" });
  const python = element("details", {}, element("summary", {}, "as Python"), source);
  const copied = element("span", { role: "status" });
  const copy = async (name) => { // a page without permission shows and selects the text instead
    source.textContent = text(name);
    try {
      await navigator.clipboard.writeText(source.textContent);
      copied.textContent = "copied";
    } catch {
      python.open = true;
      getSelection().selectAllChildren(source);
      copied.textContent = "press Ctrl+C to copy";
    }
  };
  const link = actionButton("copy link", () => copy("link"), { title: "for a page, and for visual.Workbench(…)" });
  const row = (label, ...inside) => element("div", { class: "scantape-saving", role: "group", "aria-label": label }, ...inside);
  const files = row("save", ...["svg", "pdf", "png", "html"].map((format) => actionButton(format.toUpperCase(), () => save(format))));
  const copies = row("copy", link, actionButton("copy as Python", () => copy("python")), copied);
  const root = element("details", { class: "scantape-save" }, element("summary", {}, "save ▾"), element("div", { tabindex: "-1" }, files, copies, python));
  root.addEventListener("focusout", (event) => root.contains(event.relatedTarget) || phone.matches || (root.open = false));
  root.addEventListener("keydown", (event) => event.key === "Escape" && (root.open = false));
  const show = () => {
    source.textContent = text("python");
    link.disabled = !text("link");
  };
  return { root, show };
}

/** A workbench in a page: the controls, the tabs, and the picture or the machine. */
class Bench {
  /** Create the controls, the frame of the picture, and the line above the picture. */
  constructor(model, el) {
    const root = this.root = createRoot(el, { class: "scantape scantape-bench" });
    this.model = model;
    this.player = null; // the machine, while it is shown
    this.ahead = new Map(); // by version and change: the compressed machine and controls after the change
    const working = element("span", { role: "status" });
    const cancel = actionButton("cancel", () => [this.requests.end(), this.ask(["cancel"]), this.show()], { hidden: "" });
    this.requests = new Requests(model, (busy) => {
      working.textContent = busy === null ? "no kernel: run the cell again" : busy ? "working …" : "";
      cancel.hidden = !busy;
      root.setAttribute("aria-busy", Boolean(busy));
      if (busy === null) this.show();
    });
    this.form = new Form((key, value) => this.ask(key, value));
    this.problem = element("p", { class: "scantape-problem", role: "alert" });
    this.saving = createSaving((format) => this.save(format), (name) => model.get(name));
    const undoing = (way, sign) => actionButton(sign, () => this.ask([way]), { title: `${way} the last choice`, "aria-label": way });
    this.undoing = { undo: undoing("undo", "↶"), redo: undoing("redo", "↷") };
    this.frame = element("div", { class: "picture", role: "group", tabindex: "0", "aria-label": "picture" });
    this.equation = element("span", { class: "scantape-equation" });
    this.hint = element("span", { class: "scantape-hint", role: "status" });
    const toggle = () => (document.fullscreenElement ? document.exitFullscreen() : this.stage.requestFullscreen());
    const present = actionButton("present", toggle, { title: "the picture on the full screen (F)" });
    const leave = actionButton("leave", toggle, { class: "scantape-leave", title: "back to the page (Escape or F)" });
    const div = (name, ...inside) => element("div", { class: `scantape-${name}` }, ...inside);
    this.stage = setAttributes(div("stage", div("below", this.equation, this.hint), leave, this.frame), { role: "tabpanel" });
    const tools = element("span", { class: "scantape-tools" }, element("span", { class: "scantape-undo" }, ...Object.values(this.undoing)), present);
    const { views, loop, taps } = this.form.parts, head = div("head", views, div("working", working, cancel), tools);
    this.summary = element("summary");
    const fold = element("details", { class: "scantape-fold" }, this.summary, div("line", loop, taps));
    const body = div("body", this.stage, this.form.panel);
    this.bend = () => {
      fold.open = !phone.matches;
      (phone.matches ? fold : body).append(this.form.panel);
      (phone.matches ? this.form.panel : head).append(this.saving.root);
    };
    this.bend();
    root.append(fold, head, this.problem, body);
    root.addEventListener("keydown", (event) => this.press(event, toggle), { capture: true });
  }

  /** Outside of text fields, handle F, Ctrl+Z, and Ctrl+Shift+Z. */
  press(event, toggle) {
    const key = event.key.toLowerCase(), isControl = event.ctrlKey || event.metaKey;
    if (event.target.matches("input:not([type=range]):not([type=checkbox]), textarea, select")) return;
    if (key === "f" && !isControl && !event.altKey) toggle();
    if (key !== "z" || !isControl) return;
    event.preventDefault();
    event.stopPropagation();
    this.undoing[event.shiftKey ? "redo" : "undo"].click();
  }

  /** Let a click or Enter on the card of a Scan open the Scan. @param {any} svg */
  openCards(svg) {
    const cards = [...svg.querySelectorAll(CARDS)];
    if (cards.length) svg.setAttribute("role", "group"); // an image has no buttons
    for (const card of cards) {
      const [option, value] = card.dataset.cell.split(":"), open = () => this.ask(["options", option], Number(value));
      setAttributes(card, { role: "button", tabindex: "0", "aria-label": `open ${card.querySelector("title")?.textContent ?? value}` });
      card.addEventListener("click", open);
      card.addEventListener("keydown", (event) => event.key === "Enter" && open());
    }
    this.hint.textContent = cards.length ? "click a Scan to open it" : "";
  }

  /** Send a change to the kernel. If it is the only change without an answer and was drawn ahead, show its machine. */
  async ask(key, value) {
    const form = this.model.get("form"), content = this.requests.open.size ? null : this.ahead.get(JSON.stringify([form.version, key, value]));
    this.requests.ask(key, value);
    const [request] = this.requests.open.values(); // none if the kernel was restarted
    if (!content || !request) return;
    const { machine, ...controls } = await unpack(content), [first, second] = this.requests.open.values();
    if (first !== request || second || form !== this.model.get("form")) return;
    this.show({ ...form, ...controls, undo: true, redo: false, problem: { key: [], text: "" } }, machine);
  }

  /** Let the kernel save the picture, or a machine at the moment that the page shows. */
  save(format) {
    if (this.player && !this.isAhead) share(this.model, { moment: this.player.moment });
    this.ask(["save"], format);
  }

  /** Show the controls of a form, and a machine that was drawn ahead or the picture of the kernel. */
  show(shown = this.model.get("form"), ahead = null) {
    this.requests.answered(shown.answered);
    this.form.show(shown, this.requests.open);
    this.summary.textContent = shown.controls.filter(({ group }) => group === "loop").map(({ label, value }) => `${label} ${value}`).join(", ");
    this.equation.textContent = this.equation.title = shown.equation;
    for (const [way, button] of Object.entries(this.undoing)) button.disabled = !shown[way];
    this.problem.textContent = this.form.rows.has(JSON.stringify(shown.problem.key)) ? "" : shown.problem.text;
    const value = (name) => shown.controls.find(({ key }) => key[0] === name).value;
    this.stage.setAttribute("aria-label", value("view"));
    this.frame.className = `picture ${value("theme")}`; // the theme of the page changes the colors of a light picture
    this.frame.toggleAttribute("data-old", Boolean(shown.problem.text)); // the picture belongs to the choices before the error
    this.draw(ahead);
  }

  /** Show the picture or the machine, unless an equal machine was shown ahead; a machine with the same number of moments keeps a chosen moment. */
  draw(ahead = null) {
    const isAhead = ahead !== null, data = ahead ?? this.model.get("machine");
    const chosen = isAhead && data.moments !== this.player?.data.moments ? -1 : this.model.get("moment"), start = chosen < 0 ? data.first : chosen;
    const drawn = data.moments ? data : this.model.get("svg"), contributor = this.model.get("contributor"), bench = this;
    if (!drawn || drawn === this.drawn) return; // a change of the view changes both traits
    const isEqual = this.isAhead && JSON.stringify(drawn) === JSON.stringify(this.drawn);
    Object.assign(this, { drawn, isAhead });
    if (isEqual) return this.rest();
    this.root.toggleAttribute("data-plays", Boolean(data.moments));
    if (!data.moments) {
      this.player = null;
      this.frame.innerHTML = drawn;
      return this.openCards(this.frame.firstChild);
    }
    if (this.player) {
      const { p, data: old, whole, options } = this.player, text = ({ layouts, inside, ...rest }) => JSON.stringify(rest);
      const isView = contributor !== options.contributor && text(whole) === text(data); // only the view of contributors differs
      options.contributor = contributor;
      if (isView) return Object.assign(this.player, { whole: data, placed: new Map() }).refresh();
      this.player.open(data, old.moments === data.moments && p !== old.first ? p : start);
      if (this.root.contains(document.activeElement)) requestAnimationFrame(() => this.player?.foot.scrollIntoView({ block: "nearest" }));
      return;
    }
    const showExample = (link) => () => this.ask(["link"], link), onMoment = () => this.rest(), onBuffers = (isShown) => this.ask(["contributor"], isShown);
    this.frame.replaceChildren();
    this.player = new Machine(data, this.frame, { moment: start, contributor, get above() { return bench.above; }, onMoment, onBuffers, showExample });
  }

  /** The height above and below the machine, in pixels: the controls, bars, and short code above the workbench. The legend can be out of view. */
  get above() {
    const isWhole = document.fullscreenElement === this.stage, [frame, root, stage] = [this.frame, this.root, this.stage].map((part) => part.getBoundingClientRect());
    if (isWhole) return frame.top - stage.top + 16;
    const { top, bottom } = scrolling(this.root.parentElement).getBoundingClientRect(), code = root.top - Math.max(0, top);
    const legend = this.player?.root.querySelector(".legend").offsetHeight ?? 0;
    const outside = Math.max(0, top) + Math.max(0, innerHeight - bottom) + (code > 0 && code < CODE ? code : 20);
    return frame.top - root.top + outside - legend - 3;
  }

  /** After a rest of the machine, send its moment to the kernel. */
  rest() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      if (this.player?.isPlaying) return this.rest();
      if (!this.player || this.isAhead) return;
      const { moment } = this.player, sent = this.model.get("moment");
      if (moment !== (sent < 0 ? this.player.data.first : sent)) share(this.model, { moment });
    }, RESTING);
  }

  /** Show the model and its changes. Return a function that ends the workbench. */
  listen() {
    const { model } = this, draw = () => this.draw(), write = () => this.saving.show();
    const stopListening = addListeners(model, {
      "change:form": () => this.show(), "change:svg": draw, "change:machine": draw, "change:python": write, "change:link": write,
      "change:contributor": () => this.player?.refresh(model.get("contributor")),
      "change:moment": () => {
        const moment = model.get("moment");
        if (this.player && moment >= 0 && moment !== this.player.moment) this.player.jump(moment);
      },
      "msg:custom": ({ ahead, file }, [content]) => { // the machine of a probable change, or a file to store
        if (ahead) return void (this.ahead = new Map([...this.ahead, [JSON.stringify(ahead), content]].slice(-MOST_AHEAD)));
        download(file, content);
        this.saving.root.open = phone.matches;
        this.hint.textContent = `saved as ${file}, where the browser saves downloads`;
      },
    });
    this.show();
    write();
    const ends = [stopListening, ...(model.get("is_shown") ? [] : [appear(this.root)])];
    share(model, { is_shown: true });
    phone.addEventListener("change", this.bend);
    return () => {
      for (const end of ends) end();
      this.requests.end();
      phone.removeEventListener("change", this.bend);
      this.player?.pause();
      clearTimeout(this.resting);
    };
  }
}

export default { render: ({ model, el }) => new Bench(model, el).listen() };
