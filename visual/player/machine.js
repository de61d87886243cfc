// The player of a machine: it changes the moment p (see picture.js), and updates the picture, the words,
// and the bar.

const PICKED = "[data-cell], [data-term]"; // a cell or a factor
const phone = matchMedia("(max-width:600px)");
const MARKUP = `
  <h2 class="title"></h2>
  <p class="rules" hidden></p>
  <div class="stage"></div>
  <div class="foot">
    <div class="description">
      <div class="scantape-sentence" aria-live="polite"></div>
      <div class="reason"></div><div class="more"></div><table hidden></table>
    </div>
    <div class="bar">
      <button type="button" class="play" aria-label="play">▶</button>
      <button type="button" class="step" aria-label="previous sum">|◀</button>
      <button type="button" class="step" aria-label="next sum">▶|</button>
      <select aria-label="speed"><option value="0.5">0.5×<option value="1" selected>1×<option value="2">2×<option value="4">4×</select>
      <div class="scrub">
        <div class="segments" aria-hidden="true"></div><div class="marks"></div>
        <input type="range" min="0" step="any" value="0" aria-label="moment">
      </div>
      <output class="counter"></output>
    </div>
  </div>
  <div class="legend"><p></p><label title="Scans and ids as in pytensor.dprint, taps (t: the step), positions in buffers, and formulas in buf[…]"><input type="checkbox">buffers</label></div>
  <details class="inside"><summary></summary><div></div></details>`;

/** One machine in its element. `data` is the result of `visual.player.data.as_data`. */
class Machine {
  /** @param {any} data @param {Element} parent @param {any=} options */
  constructor(data, parent, options = {}) {
    Object.assign(this, { options, p: 0, picked: null, term: null });
    this.root = createRoot(parent, { class: "scantape-machine", tabindex: -1 });
    this.root.innerHTML = MARKUP;
    this.root.machine = this;
    const [stage, foot, button, previous, next, speed, buffers] = this.root.querySelectorAll(".stage, .foot, button, select, .legend input");
    Object.assign(this, { stage, foot, button, next, speed, buffers, inner: this.root.lastChild });
    this.words = new Words(this.root);
    const drag = (p) => {
      this.reveal();
      this.jump(p);
    };
    this.bar = new Bar(this.root, { drag, drop: () => this.glide(this.bar.nearest(this.p)) });
    button.onclick = () => (this.isPlaying ? this.pause() : this.play());
    previous.onclick = () => this.step(-1);
    next.onclick = () => this.step(1);
    buffers.checked = Boolean(options.contributor);
    buffers.onchange = () => {
      this.refresh();
      options.onBuffers?.(buffers.checked);
    };
    this.inner.ontoggle = () => this.inside(this.nested);
    this.root.addEventListener("keydown", (event) => this.key(event));
    this.stage.addEventListener("click", ({ target }) => this.click(target.closest("[data-entry]"), target.closest(PICKED)));
    const fit = () => this.fit();
    new ResizeObserver(() => { // also runs when the machine leaves the page, and removes the listener that keeps it in memory
      globalThis[this.root.isConnected ? "addEventListener" : "removeEventListener"]("resize", fit);
      if (this.root.offsetWidth !== this.width) fit();
    }).observe(this.root);
    this.open(data, options.moment ?? 0);
  }

  /** Show another machine at a moment, at most at the final moment. @param {any} data @param {number=} moment */
  open(data, moment = 0) {
    this.pause();
    Object.assign(this, { whole: data, placed: new Map(), picked: null, p: 0 });
    this.draw(this.fittingData());
    this.root.dataset.moments = data.moments;
    this.root.classList.toggle("brief", !data.events.some((event) => event.groups.some(({ summary, shown }) => (summary.length || shown.length) > 1)));
    this.words.open(data, this.options.showExample);
    this.bar.open(data);
    this.inner.hidden = !data.inside?.length;
    this.inner.open = false;
    requestAnimationFrame(() => this.fit()); // the layout of the page is computed once, before it is painted
    this.go(Math.min(moment, data.moments));
  }

  /** The machine in the layout for the present width and, if possible, for the present view. */
  fittingData() {
    const { layouts } = this.whole, room = this.stage.clientWidth || Infinity;
    const ofView = layouts.filter(({ shows_buffers }) => shows_buffers === this.buffers.checked);
    const layout = [...ofView, ...layouts].find(({ is_narrow, width }) => is_narrow || width <= room);
    if (!this.placed.has(layout)) this.placed.set(layout, placed(this.whole, layout));
    return this.placed.get(layout);
  }

  /** Draw an arrangement of the machine; the controls do not change. @param {any} data */
  draw(data) {
    this.data = data;
    this.root.classList.toggle("narrow", data.is_narrow);
    this.stage.replaceChildren();
    this.picture = new Picture(data, this.stage, this.picture?.entry ?? null);
  }

  /** Scale the picture to the window, with letters of 11 pixels or more; a taller picture scrolls. */
  fit() {
    if (!this.root.isConnected) return;
    this.width = this.root.offsetWidth;
    if (this.fittingData() !== this.data) return this.refresh();
    const { root, stage, inner, picture: { svg, strips }, data: { width, height } } = this;
    const above = this.options.above ?? (phone.matches ? -root.querySelector(".legend").offsetHeight : 52); // the legend can be below the window
    const room = Math.max(220, innerHeight - above - (root.offsetHeight - stage.offsetHeight - inner.offsetHeight));
    const scale = clamp(Math.min((stage.clientWidth || width) / width, room / height), 1, 1.45);
    svg.style.width = `${Math.round(width * scale)}px`;
    stage.style.maxHeight = `${room}px`; // headings above rows do not scroll sideways
    stage.onscroll = () => strips.setAttribute("transform", `translate(${stage.scrollLeft / scale} 0)`);
    stage.onscroll();
  }

  /**
   * If the picture scrolls, show the slots that the current group writes; if they fit, also the values
   * that travel, and then the saved values. An event without groups shows its Scan. @param {Place} at
   */
  follow({ parts, event }) {
    const { stage, picture: { cells } } = this, frame = stage.getBoundingClientRect(), terms = parts.flatMap((part) => part.terms);
    if (stage.scrollHeight <= stage.clientHeight + 1 && stage.scrollWidth <= stage.clientWidth + 1) return;
    const used = [...parts.map(({ target }) => target), ...terms.map(({ source }) => source), ...terms.flatMap(({ saved }) => saved)];
    const nodes = parts.length ? used.map((n) => cells[n]).filter(Boolean) : cells.filter(({ cell }) => cell.scan === event?.scan);
    const boxes = nodes.map(({ group }) => group.getBoundingClientRect());
    const area = boxes.reduce((whole, { left, right, top, bottom }) => {
      const [x, y, end, low] = [Math.min(whole.left, left), Math.min(whole.top, top), Math.max(whole.right, right), Math.max(whole.bottom, bottom)];
      return end - x <= frame.width && low - y <= frame.height ? new DOMRect(x, y, end - x, low - y) : whole;
    }, boxes[0]);
    if (!area) return;
    const distance = (before, after, most, margin = Math.min(most, (before + after) / 2)) => clamp(0, margin - after, before - margin);
    stage.scrollLeft += distance(area.left - frame.left, frame.right - area.right, 60);
    stage.scrollTop += distance(area.top - frame.top, frame.bottom - area.bottom, 40);
  }

  /** Go to p without animation. @param {number} p */
  go(p) {
    this.p = clamp(Number(p) || 0, 0, this.data.moments);
    const at = this.picture.show(matchMedia("(prefers-reduced-motion: reduce)").matches ? this.bar.stops.find((stop) => stop >= this.p - 1e-9) : this.p);
    this.bar.show(this.p, at.event?.heading ?? "before the first event");
    const { moment } = this;
    this.next.ariaDisabled = `${this.p >= this.data.moments}`;
    if (this.root.dataset.moment !== String(moment)) {
      this.root.dataset.moment = moment;
      this.options.onMoment?.(moment);
    }
    if (!at.isNew || this.picked !== null) return;
    this.words.describe(at, this.picture.entry, this.buffers.checked);
    if (!this.inner.hidden) this.inside(this.whole.inside.find(({ scan, step }) => scan === at.event?.scan && step === at.event.step));
    cancelAnimationFrame(this.following);
    this.following = requestAnimationFrame(() => this.follow(at));
  }

  /** The latest moment that the machine has reached. */
  get moment() {
    return Math.floor(this.p + 1e-9);
  }

  /** Show the Scans inside the current step in a collapsible element below the machine. @param {any} nested */
  inside(nested) {
    const [summary, place] = this.inner.children;
    this.nested = nested;
    summary.textContent = nested
      ? `Scans inside step ${nested.step} of Scan ${nested.scan + 1}: ${nested.names}`
      : `Scans inside the shown steps (${this.whole.steps}): go to a step`;
    place.hidden = !nested;
    if (!nested || !this.inner.open || place.nested === nested) return;
    place.nested = nested;
    if (this.innerMachine) this.innerMachine.open(nested.data, nested.data.first);
    else this.innerMachine = new Machine(nested.data, place, { above: 0, moment: nested.data.first });
  }

  /** Play to the final moment, from the start if the final moment is shown. */
  play() {
    this.forget();
    this.reveal();
    if (this.p >= this.data.moments) this.go(0);
    this.glide(this.data.moments, true);
  }

  reveal() { // on a phone, the words can cover the picture
    if (this.foot.getBoundingClientRect().top < this.stage.getBoundingClientRect().bottom - 1) this.root.scrollIntoView({ behavior: "smooth" });
  }

  pause() {
    this.glide(null);
  }

  /** Move to a goal, frame by frame; null stops the motion. @param {number|null} goal @param {boolean} isPlaying */
  glide(goal, isPlaying = false) {
    Object.assign(this, { goal, isPlaying });
    this.button.textContent = isPlaying ? "❚❚" : "▶";
    this.button.setAttribute("aria-label", isPlaying ? "pause" : "play");
    if (goal !== null) this.frame ??= requestAnimationFrame((now) => this.tick(now, now));
  }

  /** Move closer to the goal, faster to a distant goal unless the machine plays, and request the next frame. @param {number} now @param {number} last  the times of two frames */
  tick(now, last) {
    this.frame = undefined;
    if (this.goal === null) return;
    const event = this.data.events[Math.min(Math.floor(this.p), this.data.moments - 1)];
    const by = (Math.min(now - last, 100) / SUM / (event?.weight || 1)) * Number(this.speed.value);
    const away = this.goal - this.p, distance = Math.abs(away);
    const step = this.isPlaying || distance <= 1.2 ? by : Math.max(by, distance / 12);
    this.go(distance > step ? this.p + Math.sign(away) * step : this.goal);
    if (distance <= step) this.pause();
    else this.frame = requestAnimationFrame((next) => this.tick(next, now));
  }

  /** Move to the end of the next or the previous sum. @param {number} by */
  step(by) {
    this.forget();
    this.reveal();
    if (this.goal !== null && !this.isPlaying) this.go(this.goal);
    this.glide(this.bar.neighbor(this.p, by));
  }

  jump(moment) {
    this.forget();
    this.pause();
    this.go(moment);
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
    const node = event.target.closest(PICKED), isControl = event.target.closest("button, summary, [type=checkbox]");
    const away = node?.dataset.cell && ARROWS[event.key], keys = {
      ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1),
      Home: () => this.jump(0), End: () => this.jump(this.data.moments), Escape: () => this.forget(),
      ...(node ? { Enter: () => this.enter(node) } : {}), ...(isControl ? {} : { " ": () => this.button.click() }),
    };
    const act = away ? () => this.neighbor(node, ...away) : keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  /** Show the provenance of a cell or a factor, as a click does. In an array, Enter again chooses entry after entry. */
  enter(node) {
    const { entry } = this.picture, entries = node.querySelectorAll("[data-entry]");
    if (!entries.length || (entry === null && this.picked !== Number(node.dataset.cell))) return this.pick(node);
    this.click(entries[entry === null ? 0 : entry + 1] ?? entries[entry], node);
  }

  /** Focus the nearest cell in a direction. @param {any} node @param {number} dx @param {number} dy */
  neighbor(node, dx, dy) {
    const { cell } = this.picture.cells[Number(node.dataset.cell)];
    const cost = (other) => {
      const x = other.x - cell.x, y = other.y - cell.y, ahead = dx * x + dy * y;
      return ahead > 1 ? ahead + 4 * Math.abs(dx ? y : x) : Infinity;
    };
    const best = this.picture.cells.reduce((a, b) => (cost(b.cell) < cost(a.cell) ? b : a));
    if (cost(best.cell) < Infinity) best.group.focus();
  }

  /** Show recomputed numbers, and the provenance of a picked number; cells stay unless the layout changes. @param {boolean=} isContributor  whether to show buffers */
  refresh(isContributor = this.buffers.checked) {
    this.buffers.checked = isContributor;
    if (this.fittingData() !== this.data) {
      this.draw(this.fittingData());
      this.fit();
    }
    this.picture.forget();
    this.go(this.p);
    if (this.picked === null) return;
    const story = provenance(this.data, this.picked, locate(this.data, this.p), this.picture.entry, this.term);
    this.picture.explain(this.picked, story, this.p, this.term);
    this.words.explain(story);
  }

  /** Show the provenance of the clicked cell. In an array, choose the clicked entry; if the event writes the cell, the sentences show the entry. @param {any} entry @param {any} cell */
  click(entry, cell) {
    if (!entry) return this.pick(cell);
    const chosen = Number(entry.dataset.entry), number = Number(cell.dataset.cell);
    const subject = locate(this.data, this.p).parts.some(({ target }) => target === number) ? null : number;
    const isSame = this.picture.entry === chosen && this.picked === subject;
    this.picture.entry = isSame ? null : chosen;
    Object.assign(this, { picked: isSame ? null : subject, term: null });
    this.refresh();
  }

  /** Highlight the provenance of a cell (the sources of its number, and its readers) or of a factor. */
  pick(node) {
    const { cell, target, term = null } = node?.dataset ?? {}, number = Number(cell ?? target);
    if (!node || (number === this.picked && term === this.term)) return this.forget();
    this.pause();
    if (cell) this.go(this.bar.nearest(this.p));
    else if (this.picked === null) this.go(this.bar.stops.find((stop) => stop > this.p - 1e-6)); // the end of the shown sum
    Object.assign(this, { picked: number, term });
    this.refresh();
  }

  /** Show the event again instead of a provenance. */
  forget() {
    if (this.picked === null) return;
    this.picked = null;
    this.refresh();
  }
}
