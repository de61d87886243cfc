// The words of a machine: the rules, the sentence of the event and its reason, the provenance of a
// number, the table of results, and the legend.

const UNITS = { Scan: "is one step of one Scan, or fills its tape.", node: "appends a node, or adds to a gradient." };
const COLUMNS = { name: "", correct: "correct", faulty: "faulty", differences: "finite differences", ratio: "ratio" };
const plain = (text) => ({ text, ink: "plain" }); // a phrase

/**
 * Return the provenance of a number: the sum that computed it, the steps that read the number before
 * another number replaces it, and the earlier numbers of the slot. In an array, explain the `entry`.
 * If `term` is the index of a term of the sum, explain the factor of the term.
 * @param {any} data @param {number} number @param {Place} at @param {number|null} entry @param {any} term
 */
function provenance(data, number, at, entry, term) {
  const cell = data.cells[number];
  const later = at.event?.groups.slice(at.group + 1).flatMap(({ parts }) => parts) ?? [];
  const isLater = later.some(({ target }) => target === number); // a later sum of the event writes the cell
  const moment = isLater ? at.number - 1 : at.number;
  const parts = data.events.flatMap((event, n) =>
    event.groups.flatMap((group) => group.parts.map((part) => ({ part, group, event, end: n + 1 }))));
  const writes = parts.filter(({ part }) => part.target === number && part.kind !== "restored");
  const write = writes.findLast(({ end }) => end <= moment), next = writes.find(({ end }) => end > moment);
  const before = write ? write.end - 1 : 0, reason = write ? write.part.reason || write.group.reason : "";
  const story = { part: write?.part, before, reason };
  if (term !== null) {
    const sentence = factorSentence(write.part.terms, term, data.cells, before);
    return { ...story, readers: new Set(), sentence, history: write.event.heading };
  }
  const isRead = ({ terms }) => terms.some((move) => move.source === number || move.saved.includes(number));
  const reading = parts.filter((each) => each.end > (write?.end ?? 0) && each.end <= (next?.end ?? Infinity)
    && (isRead(each.part) || (each === next && each.part.adds)));
  const readers = new Set(reading.map(({ part }) => part.target));
  const sentence = originSentence(data, cell, moment, entry, write?.part);
  const history = [readersText(data, cell, moment, next, reading), slotText(cell, moment)].filter(Boolean).join(" · ");
  return { ...story, readers, sentence, history };
}

/** Return the sentence of the part that computed a number or, without a sum, of the number's origin. */
function originSentence(data, cell, moment, entry, part) {
  const { entries, text: whole } = keyAt(cell, moment), text = entries[entry] ?? whole;
  const subject = entries[entry] === undefined ? cell.name : `entry ${entry} of ${cell.name}`;
  if (part && (part.kind !== "fill" || part.terms.length > 1)) {
    const prefix = subject === cell.name ? [] : [plain(`${subject} = ${text}. `)];
    return part.by_entry[entry]?.sentence ?? [...prefix, ...(part.exact.length ? part.exact : part.sentence)];
  }
  if (!text) return [plain(`${subject} has no value yet.`)];
  const isGradient = data.scans[cell.scan].order > 0, isOfSequence = cell.keys.some(({ role }) => role === "read");
  if (isGradient && !isOfSequence) return [plain(`${subject} starts at ${text}.`)];
  const kind = isGradient ? "a gradient of the cost" : isOfSequence ? "a value of a sequence" : "an initial value";
  return [plain(`${subject} = ${text} is ${kind}.`)];
}

/** Return the events that read a number, or why none does. Only a number without a `next` number in its slot can be a result. */
function readersText(data, cell, moment, next, reading) {
  const { text } = keyAt(cell, moment), events = [...new Set(reading.map(({ event }) => event.heading))];
  if (!text) return "";
  if (events[0]) return `read in ${events.length} event${events[1] ? "s" : ""} (dotted): ${events.slice(0, 3).join("; ")}${events[3] ? "; …" : ""}`;
  if (next || !cell.is_result) return "no later step reads this number";
  return data.scans[cell.scan].order > 0 ? "returned" : "used by the cost, or returned";
}

/** Return the numbers of a slot until a moment, if there are several. */
function slotText({ keys }, moment) {
  const texts = keys.filter((key) => key.moment <= moment && key.text).map(({ text }) => text);
  const changes = texts.filter((text, n) => text !== texts[n - 1]);
  return changes.length > 1 ? `values of the slot: ${changes.join(", then ")}` : "";
}

/**
 * Return the sentence about the factor of a term, with the saved values at a moment. It is a local
 * derivative if no other term reads the source.
 * @param {any[]} terms @param {number} term @param {SlotCell[]} cells @param {number} moment
 */
function factorSentence(terms, term, cells, moment) {
  const { source, factor, symbol, saved } = terms[term];
  const isRead = (other) => source !== null && (other.source === source || other.saved.includes(source));
  const title = terms.filter(isRead).length > 1 ? "factor of this term:  " : "local derivative:  ";
  const name = (cell, n) => plain(`${n ? ", " : saved.length > 1 ? ";  saved values: " : ";  saved value: "}${cell.name} = `);
  const values = saved.map((number) => cells[number]).flatMap((cell, n) => [name(cell, n), { text: keyAt(cell, moment).text, ink: "saved" }]);
  return [{ text: title, ink: "name" }, plain(symbol && factor ? `${symbol} = ` : symbol), { text: factor, ink: "saved" }, ...values];
}

/** The title, the words above and below the picture, and the legend. */
class Words {
  constructor(root) {
    const [title, rules, description, sentence, reason, more, table, counter, legend] =
      root.querySelectorAll(".title, .rules, .description, .description > *, .counter, .legend p");
    Object.assign(this, { title, rules, description, sentence, reason, more, table, counter, legend });
  }

  /**
   * Show the title, the legend of the roles that occur, the rules, and the results of another machine.
   * @param {any} data @param {any} showExample  returns the function that shows an example, or nothing
   */
  open(data, showExample) {
    this.title.textContent = data.title;
    this.legend.replaceChildren(...data.legend.map(([kind, term, meaning]) =>
      element("span", { class: kind, title: `${term}: ${meaning}` }, term, element("i", {}, `: ${meaning}`))),
      data.scans.some(({ order }) => order > 1) ? element("i", {}, "∇C through 1: gradient of C through Scan 1") : "");
    this.data = data;
    const rule = data.mistake;
    for (const node of [this.rules, this.table]) node.hidden = !rule;
    this.description.classList.toggle("compares", Boolean(rule));
    if (!rule) return;
    this.rules.replaceChildren(...rule.lines.map(({ text, ink }) => element("span", { class: ink }, `${text}   `)));
    const show = rule.example && showExample?.(rule.example);
    if (rule.example) this.rules.append("Example: ", show ? actionButton(rule.offer, show) : rule.offer);
    if (rule.parts) this.rules.append(element("span", { class: "why" }, `\n${rule.parts}`));
    this.table.replaceChildren(...[COLUMNS, ...rule.table].map((row) => element("tr", {}, ...Object.keys(COLUMNS).map((key) =>
      element(row.name && key !== "name" ? "td" : "th", row.is_wrong && ["faulty", "ratio"].includes(key) ? { class: "wrong" } : {}, row[key])))));
  }

  /** Show the sentences about the group in progress. @param {Place} at @param {number|null} entry @param {boolean} withBuffers */
  describe(at, entry, withBuffers) {
    const { cells, events, mistake, results } = this.data, group = at.event?.groups[at.group], many = at.event?.groups.length ?? 0;
    const parts = group?.shown.map((n) => group.parts[n]) ?? [];
    const sentences = parts.map((part) => {
      const { sentence, exact } = part.by_entry[entry] ?? part, cell = cells[part.target];
      const chosen = part.by_entry[entry] ? "" : keyAt(cell, at.number).entries[entry]; // not explained by a sentence of its own
      return this.line([...(chosen ? [{ text: `entry ${entry} of ${cell.name}:  ${chosen}; `, ink: "name" }] : []), ...sentence], exact);
    });
    const lines = group?.summary.length ? group.summary.map((line) => this.line(line)) : sentences;
    this.sentence.replaceChildren(...(group ? lines : [at.event?.heading ?? `Press play, or drag the bar: each event ${UNITS[this.data.unit]}`]));
    this.counter.textContent = `${at.number} / ${this.data.moments}`;
    const values = mistake ? "" : results.map(([name, value]) => `${name} = ${value.join("")}`).join(" · ");
    this.reason.textContent = this.reason.title = group ? group.reasons : values;
    const effects = { // of a faulty rule, by moment
      [mistake?.first_wrong]: `first wrong number; first read: ${events[mistake?.first_read - 1]?.heading ?? "none"}`,
      [mistake?.first_read]: "first read of a wrong number",
    };
    const isEnd = at.number === this.data.moments && at.group === many - 1;
    this.description.classList.toggle("ended", isEnd);
    this.more.textContent = [
      isEnd ? `end of the run${values && `: ${values}`}` : "",
      many > 1 ? `part ${at.group + 1} of ${many}` : "",
      at.event?.heading,
      withBuffers && parts.length ? parts[0].formula : "",
      at.group === many - 1 || group?.reads_wrong ? effects[at.number] : "",
    ].filter(Boolean).join(" · ");
  }

  line(sentence, exact = []) {
    const words = sentence.map(({ text, ink }) => element("span", { class: ink }, text));
    return element("div", { class: "line", title: exact.map(({ text }) => text).join("") }, ...words);
  }

  /** Show the provenance of a number. @param {any} record a result of `provenance` */
  explain({ sentence, reason, history }) {
    this.sentence.replaceChildren(this.line(sentence));
    this.reason.textContent = reason;
    this.more.textContent = history;
  }
}
