// The player of a machine: sentence, scrub bar, keys, and the provenance of a clicked number.

/**
 * The parts whose sentences are shown: two, and of two runs one pair that differs if any does.
 * @param {Group|undefined} group
 * @returns {Part[]}
 */
function shownParts(group) {
  const parts = group?.parts ?? [], second = parts.filter((part) => part.is_second);
  const first = parts.filter((part) => !part.is_second);
  if (!second.length || !first.length) return parts.slice(0, 2);
  const n = Math.max(0, second.findIndex((part) => !first.some((other) => other.new === part.new)));
  return [first[Math.min(n, first.length - 1)], second[n]];
}

/** The lines of a sentence: a piece with a line break ends one. @param {Phrase[]} pieces */
function lines(pieces) {
  const end = pieces.findIndex(({ text }) => text === "\n");
  return end < 0 ? [pieces] : [pieces.slice(0, end), ...lines(pieces.slice(end + 1))];
}

const NARROW = 600; // pixels
const START = "Press play, or drag the bar: each event is one step of one Scan.";
const SPEEDS = [0.5, 1, 2, 4];
const INK = { plain: "", name: "name", written: "written", preserved: "preserved", saved: "saved", old: "old", wrong: "wrong" };

const LEGEND = [
  ["overwritten", "overwritten", "read, then replaced"],
  ["preserved", "preserved", "read, unchanged"],
  ["saved", "saved value", "sets the factor"],
  ["restored", "↺ restored", "written back"],
  ["seed", "◤ seed", "initial gradient"],
  ["pending", "pending", "nothing added yet"],
  ["result", "result", "used by the cost, or returned"],
];

/** Whether a group has more than one sentence. @param {any} record */
const isLong = ({ parts, summary }) => (summary.length ? summary.some(({ text }) => text === "\n") : parts.length > 1);

/** One machine in its element.  `data` is the result of `visual.player.data.as_data`. */
class Machine {
  /** @param {any} data @param {Element=} parent @param {any=} options */
  constructor(data, parent, options = {}) {
    Object.assign(this, { p: 0, goal: null, isPlaying: false, last: 0, picked: null });
    this.options = options;
    this.root = html("div", { class: "scantape-machine", "data-lm-suppress-shortcuts": "true", tabindex: -1 }, parent);
    this.root.machine = this;
    this.title = html("h2", { class: "title" }, this.root);
    this.rules = html("p", { class: "rules", hidden: "" }, this.root);
    this.stage = html("div", { class: "stage" }, this.root);
    this.foot = html("div", { class: "foot" }, this.root);
    this.description = html("div", { class: "description" }, this.foot);
    this.sentence = html("div", { class: "scantape-sentence", "aria-live": "polite" }, this.description);
    this.reason = html("div", { class: "reason" }, this.description);
    this.more = html("div", { class: "more" }, this.description);
    this.table = html("table", { hidden: "" }, this.description);
    this.bar = html("div", { class: "bar" }, this.foot);
    this.controls();
    this.legend();
    this.inner = html("details", { class: "inside" }, this.root);
    this.inner.append(document.createElement("summary"), document.createElement("div"));
    this.inner.ontoggle = () => this.inside(this.nested);
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.stage.addEventListener("click", (event) => this.click(event.target));
    addEventListener("resize", () => this.fit());
    this.open(data, options.moment ?? 0);
  }

  /** Show another machine at a moment, or at its last moment if it has fewer. @param {any} data @param {number=} moment */
  open(data, moment = 0) {
    this.pause();
    this.whole = data;
    this.picked = null;
    this.said = ""; // the words of another machine are not up to date
    this.p = 0;
    this.draw(this.suited());
    this.title.textContent = data.title;
    this.root.dataset.moments = data.moments;
    this.root.classList.toggle("brief", !data.events.some((event) => event.groups.some(isLong)));
    this.contribute(this.options.contributor);
    this.slider.max = data.moments;
    this.segments();
    this.mistake();
    this.inner.hidden = !data.inside?.length;
    this.inner.open = false;
    this.fit();
    requestAnimationFrame(() => this.fit());
    this.go(Math.min(moment, data.moments));
  }

  /** The arrangement for the present width. */
  suited() {
    const { whole } = this, room = this.stage.clientWidth;
    return whole.narrow && room && room < whole.width ? whole.narrow : whole;
  }

  /** Draw the machine by an arrangement; the controls stay. @param {any} data */
  draw(data) {
    this.data = data;
    this.root.classList.toggle("narrow", data.width < NARROW);
    this.stage.replaceChildren();
    const entry = this.picture?.entry ?? null;
    this.picture = new Picture(data, this.stage);
    this.picture.entry = entry;
    this.picture.show(this.p);
  }

  /** Show or hide positions in buffers, and formulas in `buf[…]`. @param {any} isOn */
  contribute(isOn) {
    this.options.contributor = this.buffers.checked = Boolean(isOn);
    this.root.classList.toggle("contributor", Boolean(isOn));
  }

  controls() {
    this.button = html("button", { type: "button", class: "play", "aria-label": "play" }, this.bar, "▶");
    this.button.onclick = () => (this.isPlaying ? this.pause() : this.play());
    html("button", { type: "button", class: "step", "aria-label": "previous event" }, this.bar, "|◀").onclick = () => this.step(-1);
    html("button", { type: "button", class: "step", "aria-label": "next event" }, this.bar, "▶|").onclick = () => this.step(1);
    this.speed = html("select", { "aria-label": "speed" }, this.bar);
    for (const speed of SPEEDS) html("option", { value: speed, ...(speed === 1 ? { selected: "" } : {}) }, this.speed, `${speed}×`);
    const box = html("div", { class: "scrub" }, this.bar);
    this.track = html("div", { class: "segments", "aria-hidden": "true" }, box);
    this.marks = html("div", { class: "marks" }, box);
    this.slider = html("input", { type: "range", min: 0, step: "any", value: 0, "aria-label": "moment" }, box);
    this.slider.oninput = () => { this.pause(); this.forget(); this.goal = null; this.go(this.ofBar(Number(this.slider.value))); };
    this.slider.onchange = () => this.glide(Math.round(this.p));
    this.counter = html("output", { class: "counter" }, this.bar);
  }

  legend() {
    this.key_ = html("p", { class: "legend" }, this.root);
    for (const [kind, term, meaning] of LEGEND)
      html("i", {}, html("span", { class: kind, title: `${term}: ${meaning}` }, this.key_, term), `: ${meaning}`);
    const label = html("label", { title: "positions in buffers, and formulas in buf[…]" }, this.key_, "buffers");
    this.buffers = html("input", { type: "checkbox" });
    label.prepend(this.buffers);
    this.buffers.onchange = () => { this.contribute(this.buffers.checked); this.refresh(); };
  }

  /** The bar: one segment for each Scan, one tick for each event. */
  segments() {
    const { events, scans } = this.data;
    this.edges = [0];
    for (const event of events) this.edges.push(this.edges.at(-1) + event.weight);
    const whole = this.edges.at(-1) || 1;
    this.edges = this.edges.map((edge) => (edge / whole) * this.data.moments);
    this.track.replaceChildren();
    for (const scan of scans) {
      const [from, to] = scan.events.map((event) => this.edges[event]);
      const node = html("span", { title: `${scan.run}${scan.number} ${scan.name}` }, this.track);
      node.style.flex = `${to - from} 0 0`;
      html("i", {}, node);
      html("b", {}, node, scans.length > 4 ? String(scan.number) : `${scan.number} ${scan.name}`);
      node.hidden = scans.some((other) => other.number === scan.number && other.run < scan.run); // of two runs, one
    }
  }

  /** Scale the picture to the window, with letters of 11 pixels or more; a higher picture scrolls. */
  fit() {
    if (!this.root.isConnected) return;
    if (this.suited() !== this.data) this.draw(this.suited());
    const { width, height } = this.data;
    const room = Math.max(220, innerHeight - (this.options.above ?? 52) - (this.root.offsetHeight - this.stage.offsetHeight - this.inner.offsetHeight));
    const wide = this.stage.clientWidth || width;
    const scale = clamp(Math.min(wide / width, room / height), 1, 1.45);
    this.picture.svg.style.width = `${Math.round(width * scale)}px`;
    this.stage.style.maxHeight = `${room}px`;
  }

  /** Keep the slots that the current group writes in view where the picture scrolls. @param {Place} at */
  follow(at) {
    const { stage } = this, frame = stage.getBoundingClientRect();
    const targets = (at.event?.groups[at.group]?.parts ?? []).map((part) => this.picture.cells[part.target].group.getBoundingClientRect());
    const isWhole = stage.scrollHeight <= stage.clientHeight + 1 && stage.scrollWidth <= stage.clientWidth + 1;
    if (!targets.length || isWhole) return;
    const top = Math.min(...targets.map((cell) => cell.top)), bottom = Math.max(...targets.map((cell) => cell.bottom));
    const { left, right } = targets[0];
    if (top < frame.top + 40) stage.scrollTop += top - frame.top - 120;
    else if (bottom > frame.bottom - 20) stage.scrollTop += bottom - frame.bottom + 60;
    if (left < frame.left + 60) stage.scrollLeft += left - frame.left - 100;
    else if (right > frame.right - 60) stage.scrollLeft += right - frame.right + 100;
  }

  /** Show both rules as lines, all results, and the marks of a faulty rule on the bar. */
  mistake() {
    const { mistake: rule, events } = this.data;
    for (const node of [this.rules, this.table]) node.hidden = !rule;
    this.description.classList.toggle("compares", Boolean(rule));
    this.marks.replaceChildren();
    if (!rule) return;
    const lines = rule.rule === "accumulate-overwritten" ? ["s[k] ← g", "s[k] ← g + s[k]"] : ["", rule.change];
    this.rules.replaceChildren();
    if (lines[0]) html("span", {}, this.rules, `✓ a replaced value: ${lines[0]}   `);
    html("span", { class: "wrong" }, this.rules, `✗ ${rule.rule}: ${lines[1]}`);
    this.offer(rule);
    this.table.replaceChildren();
    for (const row of [["", "correct", "faulty", "finite differences", "ratio"], ...rule.table]) {
      const line = html("tr", {}, this.table);
      row.forEach((text, n) => html(n && row[0] ? "td" : "th", n === 2 && row[1] !== row[2] && row[0] ? { class: "wrong" } : {}, line, text));
    }
    for (const [text, moment] of [["first wrong", rule.first_wrong], ["first read", rule.first_read]]) {
      if (moment === null) continue;
      const at = (this.edges[moment] / this.data.moments) * 100;
      const mark = html("button", { type: "button", class: "mark", title: `${text}: ${events[moment - 1].heading}` }, this.marks, text === "first read" ? "▲ read" : "▲ wrong");
      mark.style.left = this.marks.children.length > 1 ? `max(${at}%, calc(${this.marks.firstChild.style.left} + 58px))` : `${at}%`;
      mark.onclick = () => this.jump(moment);
    }
  }

  /** If the rule changes no result, offer a loop in which it does. @param {any} rule */
  offer({ example, offer }) {
    if (!example) return;
    html("span", {}, this.rules, "   It changes: ");
    const { onExample } = this.options;
    const node = html(onExample ? "button" : "span", {}, this.rules, offer);
    if (onExample) node.onclick = () => onExample(example);
  }

  /** Convert between p and a place on the bar; an event is as wide as its duration. @param {number} x */
  ofBar(x) {
    const n = clamp(this.edges.findLastIndex((edge) => edge <= x), 0, this.data.moments - 1);
    return clamp(n + (x - this.edges[n]) / (this.edges[n + 1] - this.edges[n] || 1), 0, this.data.moments);
  }

  /** @param {number} p */
  toBar(p) {
    const n = Math.min(Math.floor(p), this.data.moments - 1);
    return n < 0 ? 0 : this.edges[n] + (this.edges[n + 1] - this.edges[n]) * (p - n);
  }

  /** Go to p without animation. @param {number} p */
  go(p) {
    this.p = clamp(Number(p) || 0, 0, this.data.moments);
    const moving = matchMedia("(prefers-reduced-motion: reduce)").matches ? Math.ceil(this.p - 1e-9) : this.p;
    const at = this.picture.show(moving);
    if (document.activeElement !== this.slider || !this.slider.matches(":active")) this.slider.value = this.toBar(this.p);
    this.slider.setAttribute("aria-valuetext", at.event?.heading ?? "before the first event");
    const moment = Math.floor(this.p + 1e-9);
    if (this.root.dataset.moment !== String(moment)) {
      this.root.dataset.moment = moment;
      this.options.onMoment?.(moment);
    }
    const said = `${at.number}.${at.group}`;
    if (this.said !== said && this.picked === null) {
      this.say(at, said);
      this.follow(at);
    }
    this.fill();
  }

  fill() {
    const x = this.toBar(this.p);
    for (const [n, node] of [...this.track.querySelectorAll("span")].entries()) {
      const [from, to] = this.data.scans[n].events.map((event) => this.edges[event]);
      node.firstChild.style.width = `${100 * clamp((x - from) / (to - from || 1), 0, 1)}%`;
    }
  }

  /** @param {Place} at @param {string=} said */
  say(at, said = "") {
    this.said = said;
    const group = at.event?.groups[at.group], many = at.event?.groups.length ?? 0;
    const { runs } = this.data, parts = shownParts(group), { entry } = this.picture;
    this.sentence.replaceChildren();
    if (group?.summary.length) for (const line of lines(group.summary)) this.line(line);
    else for (const part of parts) this.line(part.by_entry[entry] ?? part.sentence, part.exact, runs.length && group.parts.some((each) => each.is_second) ? `${runs[Number(part.is_second)]} ` : "");
    if (!group) this.sentence.textContent = at.event ? at.event.heading : START;
    this.reason.textContent = group ? group.reason : this.data.results.map(([name, value]) => `${name} = ${value.join("")}`).join(" · ");
    const left = many > 1 ? `sum ${at.group + 1} of ${many} · ` : "";
    this.more.textContent = at.event ? `${left}${at.event.heading}` : "";
    if (this.options.contributor && parts.length) this.more.textContent += ` · ${parts[0].formula}`;
    const { mistake: rule } = this.data;
    if (rule?.first_wrong === at.number && at.group === many - 1) this.more.textContent += " · first wrong number";
    if (rule?.first_read === at.number) this.more.textContent += " · first read of a wrong number";
    if (!this.inner.hidden) this.inside(this.whole.inside.find(({ scan, step }) => scan === at.event?.scan && step === at.event.step));
    if (entry !== null) this.more.textContent += ` · entry ${entry + 1} of each array`;
    this.counter.textContent = `${at.number} / ${this.data.moments}`;
  }

  /** The Scans inside the current step, in a fold below. @param {any} nested */
  inside(nested) {
    const [summary, place] = this.inner.children;
    this.nested = nested;
    summary.textContent = nested ? `Scans inside step ${nested.step} of Scan ${nested.scan}: ${nested.names}` : "Scans inside steps: go to a step";
    place.hidden = !nested;
    if (!nested || !this.inner.open || place.nested === nested) return;
    place.nested = nested;
    if (this.innermost) this.innermost.open(nested.data, nested.data.first);
    else this.innermost = new Machine(nested.data, place, { above: 0, moment: nested.data.first });
  }

  /** @param {Phrase[]} sentence @param {string=} exact @param {string=} before */
  line(sentence, exact = "", before = "") {
    const line = html("div", { class: "line", title: exact }, this.sentence);
    if (before) html("span", { class: before.startsWith("✗") ? "wrong" : "" }, line, before);
    for (const { text, ink } of sentence) html("span", { class: INK[ink] ?? "" }, line, text);
  }

  // ---- time ---------------------------------------------------------------------------------

  play() {
    this.forget();
    if (this.p >= this.data.moments) this.go(0);
    this.isPlaying = true;
    this.goal = null;
    this.button.textContent = "❚❚";
    this.button.setAttribute("aria-label", "pause");
    this.start();
  }

  pause() {
    this.isPlaying = false;
    if (!this.button) return;
    this.button.textContent = "▶";
    this.button.setAttribute("aria-label", "play");
  }

  /** @param {number} goal */
  glide(goal) {
    this.goal = clamp(goal, 0, this.data.moments);
    this.start();
  }

  /** @param {number} by */
  step(by) {
    this.forget();
    this.pause();
    const base = this.goal ?? (by > 0 ? Math.floor(this.p + 1e-9) : Math.ceil(this.p - 1e-9));
    if (this.goal !== null) this.go(this.goal);
    this.glide(base + by);
  }

  start() {
    if (this.frame) return;
    this.last = performance.now();
    const tick = (now) => {
      this.frame = null;
      this.tick(Math.min(now - this.last, 100));
      this.last = now;
      if (this.isPlaying || this.goal !== null) this.frame = requestAnimationFrame(tick);
    };
    this.frame = requestAnimationFrame(tick);
  }

  /** @param {number} elapsed */
  tick(elapsed) {
    const event = this.data.events[Math.min(Math.floor(this.p), this.data.moments - 1)];
    const by = (elapsed / SUM / (event?.weight || 1)) * Number(this.speed.value);
    if (this.goal !== null) {
      const away = this.goal - this.p;
      const step = Math.sign(away) * Math.max(by, Math.abs(away) > 1.2 ? Math.abs(away) / 12 : 0);
      const next = Math.abs(away) <= Math.abs(step) ? this.goal : this.p + step;
      if (next === this.goal) this.goal = null;
      this.go(next);
    } else if (this.isPlaying) {
      this.go(this.p + by);
      if (this.p >= this.data.moments) this.pause();
    }
  }

  // ---- keys and provenance ------------------------------------------------------------------

  /** @param {any} event */
  key(event) {
    event.stopPropagation();
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    const cell = event.target.closest?.("[data-cell]"), onButton = event.target.tagName === "BUTTON";
    const does = cell ? this.cellKeys(cell) : {
      ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1),
      Home: () => this.jump(0), End: () => this.jump(this.data.moments),
    };
    const act = { ...does, Escape: () => this.forget(), ...(onButton || cell ? {} : { " ": () => this.button.click() }) }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** @param {number=} moment */
  jump(moment) {
    this.forget();
    this.pause();
    this.goal = null;
    this.go(moment);
  }

  /** @param {any} node */
  cellKeys(node) {
    const keys = { Enter: () => this.pick(node), " ": () => this.pick(node) };
    for (const [name, [dx, dy]] of Object.entries(ARROWS)) keys[name] = () => this.neighbor(node, dx, dy);
    return keys;
  }

  /** Focus the nearest cell in a direction. @param {any} node @param {number} dx @param {number} dy */
  neighbor(node, dx, dy) {
    const { cell } = this.picture.cells[Number(node.dataset.cell)];
    const cost = (other) => {
      const x = other.x - cell.x, y = other.y - cell.y;
      const ahead = dx * x + dy * y;
      return ahead > 1 ? ahead + 4 * Math.abs(dx ? y : x) : Infinity;
    };
    const best = this.picture.cells.reduce((a, b) => (cost(b.cell) < cost(a.cell) ? b : a));
    if (cost(best.cell) < Infinity) best.group.focus();
  }

  /** Show recomputed numbers; positions stay. */
  refresh() {
    this.picture.forget();
    this.said = "";
    this.go(this.p);
    if (this.picked !== null) this.explain(this.picked);
  }

  /** A click on an entry of an array follows the entry; on a cell, it shows the provenance. @param {any} target */
  click(target) {
    const entry = target.closest?.("[data-entry]");
    if (!entry) return this.pick(target.closest?.("[data-cell]"));
    const chosen = Number(entry.dataset.entry);
    this.picture.entry = this.picture.entry === chosen ? null : chosen;
    this.said = "";
    this.go(this.p);
  }

  /** Highlight the provenance of a cell: the sources of its number, and its readers. @param {any} node */
  pick(node) {
    const number = node ? Number(node.dataset.cell) : null;
    if (number === null || number === this.picked) return this.forget();
    this.pause();
    this.goal = null;
    this.go(Math.round(this.p));
    this.picked = number;
    this.explain(number);
  }

  /** @param {number} number */
  explain(number) {
    const story = this.story(number, Math.round(this.p));
    this.picture.explain(number, story.part, story.readers);
    this.sentence.replaceChildren();
    if (story.part) {
      html("div", { class: "line" }, this.sentence, story.part.exact || story.part.sentence.map(({ text }) => text).join(""));
    } else this.sentence.textContent = story.given;
    this.reason.textContent = story.reason;
    this.more.textContent = [story.read, story.held].filter(Boolean).join(" · ");
    this.said = "";
  }

  /** @param {number} number @param {number} moment */
  story(number, moment) {
    const cell = this.data.cells[number], readers = new Set(), reads = [];
    let part = null, when = 0;
    for (const [n, event] of this.data.events.entries())
      for (const each of event.groups.flatMap((group) => group.parts)) {
        if (each.target === number && n + 1 <= moment && each.kind !== "restored") [part, when] = [each, n + 1];
        const used = each.terms.some((move) => move.source === number || move.saved.includes(number));
        if (used && n + 1 > when) { readers.add(each.target); reads.push(event.heading); }
      }
    const held = cell.keys.filter((key, n) => key.moment <= moment && key.text && key.text !== cell.keys[n - 1]?.text).map((key) => key.text);
    const { text } = keyAt(cell, moment);
    return {
      part, readers,
      reason: part ? this.data.events[when - 1].groups.find((group) => group.parts.includes(part)).reason : "",
      given: text ? `${cell.name} = ${text} is an initial value.` : `${cell.name} has no value yet.`,
      read: reads.length ? `read by ${[...new Set(reads)].slice(0, 3).join("; ")}${new Set(reads).size > 3 ? "; …" : ""}` : "no later step reads it",
      held: held.length > 1 ? `the slot has held ${held.join(", then ")}` : "",
    };
  }

  forget() {
    if (this.picked === null) return;
    this.picked = null;
    this.refresh();
  }
}
