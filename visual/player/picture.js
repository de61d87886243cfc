// The tape machine. A picture is a function of one number p: p = 6 is the end of event 6, and between
// 5 and 6 this event is in progress. Playing, stepping, and dragging change only p.

/**
 * A moment: its event, the index and the parts of the group in progress, and the progress of the group.
 * `visual.pictures.machine.content` defines the records `SlotCell`, `Key`, `MachineEvent`, `Part`,
 * `Movement`, and `Phrase`; `visual.player.data` describes further fields.
 * @typedef {{number: number, event: MachineEvent|null, group: number, parts: Part[], share: number}} Place
 */

const SVG = "http://www.w3.org/2000/svg";
const SUM = 2000; // milliseconds of one sum at speed 1
const READ = 0.2; // the fraction of a sum after which its values move; `visual.player.data` sends later fractions
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** Append a new element of an SVG. @param {string} tag @param {Object<string, any>} attributes @param {Element=} parent @param {string=} text @returns {any} */
function shape(tag, attributes, parent, text = "") {
  const node = setAttributes(document.createElementNS(SVG, tag), attributes);
  node.textContent = text;
  parent?.append(node);
  return node;
}

// Limit x to an interval; return the completed fraction of a phase at `f`; smooth a fraction.
const clamp = (x, low, high) => Math.max(low, Math.min(high, x));
const phase = (f, from, to) => clamp((f - from) / (to - from), 0, 1);
const ease = (f) => f * f * (3 - 2 * f);
// Return the SVG path through points.
const path = (points) => `M${points.map((point) => point.map((x) => x.toFixed(1))).join("L")}`;

/** Append the label of a record `Text`. @param {any} record @param {Element} parent @param {string} kind @param {string=} text */
const label = ({ x, y, content, size, anchor, bold }, parent, kind, text = content) =>
  shape("text", { x, y, class: kind, "font-size": size, "text-anchor": anchor, "font-weight": bold ? 600 : 400 }, parent, text);

/** Compress a text that is wider than `room`. To save time, measure only texts that can be too wide. */
function compress(node, room) {
  const most = (0.7 * node.textContent.length - 0.2) * node.getAttribute("font-size"); // a digit needs at most 0.7 em
  if (most <= room || node.getComputedTextLength() <= room) return;
  setAttributes(node, { textLength: room, lengthAdjust: "spacingAndGlyphs" });
}

// Return a record with further fields. The record is the prototype, because a page defines properties in it.
const extend = (record, fields) => Object.assign(Object.create(record), fields);

/** Return a machine with the positions of a layout. @param {any} whole @param {any} layout */
function placed(whole, layout) {
  const zip = (nodes, places, fields) => nodes.map((node, n) => extend(node, fields(places[n], node)));
  const part = ({ tracks, ...shapes }, { terms }) => ({ ...shapes, terms: zip(terms, tracks, (track) => track) });
  const group = (places, { parts }) => ({ parts: zip(parts, places, part) });
  const event = (places, { groups }) => ({ groups: zip(groups, places, group) });
  const cells = zip(whole.cells, layout.boxes, (box) => box);
  return extend(whole, { ...layout, cells, events: zip(whole.events, layout.parts, event) });
}

/** The state of a cell at p. @param {SlotCell} cell @param {number} p @returns {Key} */
const keyAt = (cell, p) => cell.keys.findLast(({ moment }) => moment <= p) ?? cell.keys[0];

/** Return the event in progress at p (or the event that ends at p), its group, and the group's progress. @param {any} data @param {number} p */
function locate(data, p) {
  const number = clamp(Math.ceil(p - 1e-9), 0, data.moments), event = data.events[number - 1] ?? null;
  const past = p - number + 1, group = event ? event.groups.findIndex(({ end }) => past <= end + 1e-9) : -1;
  const { start, end, parts } = event?.groups[group] ?? { start: 0, end: 0, parts: [] };
  return { number, event, group, parts, share: past >= end - 1e-6 ? 1 : (past - start) / (end - start) };
}

/** The picture: an SVG whose cells never move. */
class Picture {
  /** @param {any} data @param {Element} parent @param {number|null} entry  the index of the entry of arrays to show */
  constructor(data, parent, entry) {
    this.data = data;
    this.entry = entry;
    this.widths = new Map(data.widths);
    this.svg = shape("svg", { viewBox: `0 0 ${data.width} ${data.height}`, role: "group", "aria-label": data.title }, parent);
    this.under = shape("g", {}, this.svg);
    const size = { viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, markerUnits: "userSpaceOnUse" };
    const marker = shape("marker", { id: `head-${Picture.count}`, orient: "auto", ...size }, shape("defs", {}, this.svg));
    shape("path", { d: "M0 0L8 4L0 8z", class: "head" }, marker);
    this.head = `url(#head-${Picture.count++})`;
    this.cells = data.cells.map((cell, number) => this.cell(cell, number));
    const parts = data.events.flatMap((event, n) => event.groups.flatMap((group) => group.parts.map((part) => [n + 1, part])));
    this.tracks = parts.flatMap(([number, part]) => part.terms.filter((move) => move.is_drawn).map((move) => // later, only the class of a line changes
      ({ number, scan: data.cells[part.target].scan, line: shape("path", { d: path(move.points), class: "arrow", "marker-end": this.head }, this.under) })));
    this.lines = shape("g", { class: "over" }, this.svg); // below all headings, factors, and values
    this.strips = shape("g", {}, this.svg);
    for (const { scan, label: text, is_second, ground } of data.headings) {
      const parent = ground ? this.strips : this.under, { about, taps } = data.scans[scan];
      if (ground) shape("rect", { ...ground, class: "strip" }, parent);
      const node = label(text, parent, `${text.bold ? "scan" : "tape"}${is_second && data.mistake ? " faulty" : ""}`);
      shape("title", {}, node, text.bold ? `${about}\n${taps}` : text.title);
    }
    for (const gap of data.gaps) label(gap, this.under, "tape");
    this.over = shape("g", { class: "over" }, this.svg);
    this.staged = "";
  }

  cell(cell, number) {
    const group = shape("g", {
      "data-cell": number, "data-scan": cell.scan + 1, "data-tape": cell.tape, "data-name": cell.name,
      "data-position": cell.position, tabindex: number ? -1 : 0, role: "button",
      ...(typeof cell.given === "number" ? { "data-given": "" } : {}),
      ...(cell.is_faulty ? { "data-rule": this.data.mistake.rule } : {}), transform: `translate(${cell.x} ${cell.y})`,
    }, this.svg);
    const { width, height } = cell, x = -width / 2, y = -height / 2;
    shape("rect", { x, y, width, height, rx: 5 }, group);
    shape("rect", { x: x + 3, y: y + 3, width: width - 6, height: height - 6, rx: 3, class: "inner" }, group);
    if (cell.corner.length) shape("path", { d: path(cell.corner), class: "corner" }, group);
    const text = (kind, content = "", size = {}, [x, y] = cell.anchors[kind]) => shape("text", { x, y, class: kind, ...size }, group, content);
    const mark = text("mark"), value = text("number", "", { "font-size": cell.letters }), name = text("name", cell.label);
    text("position", `${cell.position}`.replace("-", "−"));
    return { cell, group, name, value, mark, list: shape("g", { class: "entries" }, group), title: shape("title", {}, group), shown: "" };
  }

  /** Let the next call of `show` draw all texts again. */
  forget() {
    for (const node of this.cells) node.shown = "";
    this.staged = "";
  }

  /** Show the moment p; `isNew` of the result is true if another group begins. @param {number} p */
  show(p) {
    const at = locate(this.data, p), name = `${at.number}.${at.group}`, isNew = this.staged !== name;
    this.staged = name;
    this.color(at, p, at.share >= 1 && (!at.event || at.group === at.event.groups.length - 1));
    if (isNew) this.drawParts(at.parts);
    for (const part of this.parts) this.movePart(part, at.share);
    return { ...at, isNew };
  }

  /** Show the state of each cell; a Scan without cells in the event is faded. @param {Place} at @param {number} p @param {boolean} done */
  color(at, p, done) {
    const { is_named, is_dense } = this.data, { scan: open, near } = at.event ?? {};
    const isFar = (scan) => near && !is_named && !near.includes(scan);
    for (const node of this.cells) {
      const { cell } = node, key = keyAt(cell, p + 1e-9), kinds = {
        named: is_named || cell.scan === open,
        faded: isFar(cell.scan),
        wrong: cell.wrong_from !== null && cell.wrong_from <= p + 1e-9,
        past: key.is_past,
      };
      this.showCell(node, key, Object.keys(kinds).filter((kind) => kinds[kind]));
    }
    for (const { number, scan, line } of this.tracks) {
      const state = number < at.number || (done && number === at.number) ? "past" : "future";
      line.setAttribute("class", `arrow ${state}${isFar(scan) ? (is_dense ? " hidden" : " faded") : ""}`);
    }
  }

  /** Draw the numbers of an array: stacked texts, a strip of bars, or only the chosen entry. */
  entries(node, entries, values) {
    const { cell, list } = node, count = entries.length;
    list.replaceChildren();
    const isChosen = !cell.is_listed && this.entry !== null && this.entry < count;
    node.value.textContent = isChosen ? entries[this.entry] : "";
    if (isChosen) return;
    const heights = shares(values);
    cell.entries.forEach(({ x, y, width, reach }, n) => {
      const kind = `${cell.is_listed ? "" : "bar"}${n === this.entry ? " chosen" : ""}`;
      if (cell.is_listed) return shape("text", { x, y, "data-entry": n, class: kind }, list, entries[n]);
      shape("rect", { x: x - width / 2, y: y - reach, width, height: 2 * reach, class: kind, "data-entry": n }, list);
      shape("path", { d: `M${x} ${y}v${-reach * heights[n]}`, "stroke-width": Math.max(1, width - 1) }, list);
    });
  }

  /** Show the role and the number of a cell, with further classes `kinds`. @param {any} node @param {Key} key */
  showCell(node, { role, text, entries, values }, kinds) {
    const kind = [role, ...kinds].join(" "), state = `${kind}|${text}|${entries.join()}|${this.entry}`;
    if (node.shown === state) return;
    node.shown = state;
    node.group.setAttribute("class", `cell ${kind}`);
    node.group.dataset.role = role;
    if (entries.length) this.entries(node, entries, values);
    else [node.value.textContent] = [text, node.list.replaceChildren()];
    node.value.removeAttribute("textLength");
    compress(node.value, node.cell.width - 4);
    node.mark.textContent = role === "restored" ? "↺" : "";
    const label = `${node.cell.name}${text ? ` = ${text}` : ""}, ${role}, position ${node.cell.position}`;
    node.title.textContent = label;
    node.group.setAttribute("aria-label", label);
  }

  /** Replace the drawn parts by the lines and the moving values of other parts. @param {Part[]} parts */
  drawParts(parts) {
    const focused = this.over.querySelector(":focus")?.dataset; // a factor
    for (const layer of [this.lines, this.over]) layer.replaceChildren();
    this.parts = parts.map((part) => this.drawPart(part));
    if (focused) (factorBox(this.over, focused) ?? this.svg.closest(".scantape-machine")).focus({ preventScroll: true });
    for (const [number, { name }] of this.cells.entries()) name.style.display = parts.some(({ hidden }) => hidden.includes(number)) ? "none" : "";
  }

  /** Show the sum that computed a number, with the values that it read at the moment `before`, and the readers of the number, or a factor of the sum. @param {number} number @param {any} story a result of `provenance` @param {number} p @param {any} term */
  explain(number, { part, before, readers }, p, term) {
    const kinds = new Map([...readers].map((n) => [n, "reader"]));
    for (const { source, saved } of part?.terms ?? []) {
      for (const n of saved) kinds.set(n, "saved");
      if (source !== null) kinds.set(source, "preserved");
    }
    const sources = new Set([...kinds.keys()].filter((n) => n !== number && !readers.has(n)));
    kinds.set(number, term === null ? "picked named" : "named");
    this.forget();
    for (const [n, node] of this.cells.entries()) {
      const moment = sources.has(n) ? before : p, from = node.cell.wrong_from;
      this.showCell(node, { ...keyAt(node.cell, moment), role: keyAt(node.cell, p).role }, []);
      node.group.setAttribute("class", `cell ${kinds.get(n) ?? "intermediate"}${from !== null && from <= moment ? " wrong" : ""}`);
    }
    this.drawParts(part ? [extend(part, { summands: [], total: [] })] : []); // the slot can contain a later number
    for (const drawn of this.parts) this.movePart(drawn, 1);
    factorBox(this.over, { target: number, term })?.classList.add("picked");
  }

  /** Draw a text in a box, `shift` pixels below the origin, like `pill` in Python. @param {string} kind @param {string} text @param {number} shift */
  pill(kind, text, shift = 0) {
    const node = shape("g", { class: `pill ${kind}` }, this.over), [size, height] = this.data.pill;
    const width = size * [...text].reduce((sum, letter) => sum + (this.widths.get(letter) ?? 1), 0) + 8;
    shape("rect", { x: -width / 2, y: shift - height / 2, width, height, rx: 4 }, node);
    shape("text", { y: shift + size * 0.36, "font-size": size }, node, text);
    return node;
  }

  /** Draw the lines, the factor, the value, and the product of each term. @param {Part} part */
  drawPart(part) {
    const line = (points, kind) => shape("path", { d: path(points), class: kind, "marker-end": this.head }, this.lines);
    const moves = part.terms.map((move, term) => {
      const drops = move.drops.map((points) => line(points, "drop"));
      line(move.points, `arrow now ${part.replaces ? "overwritten" : "plain"}`);
      const factor = move.chip && hasFactor(move) ? this.pill("factor saved", move.factor ? `×${parenthesize(move.factor)}` : move.symbol) : null;
      if (factor) setAttributes(factor, { transform: `translate(${move.chip})`, role: "button", tabindex: 0, "data-target": part.target, "data-term": term });
      const value = this.pill(part.kind === "fill" ? "plain" : "value preserved", move.value, move.shift);
      const product = this.pill(part.replaces ? "product overwritten" : "plain", move.product || move.value, move.shift);
      for (const pill of [value, product]) pill.style.offset = `path("${path(move.points)}") 0deg`;
      return { move, drops, factor, value, product };
    });
    return { moves, adders: this.additions(part) };
  }

  /** Draw an addition in its cell: the summands, and if it fits, the equation with the sum. @param {Part} part */
  additions({ old, terms, summands, total }) {
    const equation = [old, ...terms.map(({ product }) => parenthesize(product))].join(" + "); // a reader can change the numbers
    const { moved, added } = this.data;
    return [[summands, moved, added], [total, added, Infinity]].filter(([shapes]) => shapes.length).map(([[box, ...texts], from, to]) => {
      const group = shape("g", { class: "adder overwritten" }, this.over);
      shape("rect", { ...box, rx: 5 }, group);
      for (const text of texts)
        compress(label(text, group, "", text.bold ? text.content : equation), box.width - (text.anchor === "end" ? 26 : 6));
      return { group, from, to };
    });
  }

  /** Show a part at the fraction `share` of its duration. @param {any} drawn @param {number} share */
  movePart({ moves, adders }, share) {
    const { moved } = this.data, go = ease(phase(share, READ, moved)), isMoving = share > 0.02 && share < moved;
    for (const { move, drops, factor, value, product } of moves) {
      for (const drop of drops) drop.style.opacity = String(Math.max(0.15, phase(share, 0, READ)));
      const isPast = hasFactor(move) && go >= move.turn, isProduct = isPast || !move.value;
      if (factor) factor.style.opacity = String(isPast && isMoving ? 0 : phase(share, 0.05, READ));
      for (const pill of [value, product]) {
        pill.style.offsetDistance = `${100 * go}%`;
        pill.style.opacity = isMoving && isProduct === (pill === product) ? "1" : "0";
      }
    }
    for (const { group, from, to } of adders) group.style.opacity = share >= from && share < to ? "1" : "0";
  }
}
Picture.count = 0;

/** Return numbers as fractions of the largest finite number, like `shares` in Python. @param {number[]} values */
function shares(values) {
  const largest = Math.max(0, ...values.map(Math.abs).filter(Number.isFinite)) || 1;
  return values.map((value) => clamp(value / largest || 0, -1, 1));
}

const factorBox = (layer, { target, term }) => layer.querySelector(`[data-target="${target}"][data-term="${term}"]`);
// Return whether the picture shows the factor of a term.
const hasFactor = (move) => Boolean(move.factor || move.symbol) && !move.is_unit;
const parenthesize = (number) => (number.startsWith("-") ? `(${number})` : number);
