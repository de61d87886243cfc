// Exercises in a page or a notebook: reads an answer, tells whether it is right and why, keeps
// the score.  Everything that is said was written beforehand; `check` only compares.

const LONGEST = 120;
const MARKS = /\b(?:positions?|pos|slots?|taps?|steps?|buf|and|scans?)\b|[[\](),;=]/gi;
const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?$/i;

export function readNumbers(typed) {
  if (typed.length > LONGEST) return [];
  const words = typed.replaceAll("−", "-").replace(MARKS, " ").split(/\s+/).filter(Boolean);
  return words.every((word) => NUMBER.test(word)) ? words.map(Number) : [];
}

export function check(answer, typed, tries) {
  const explained = (why) => ({
    outcome: "wrong",
    reason: `${why} ${answer.hints[tries - 1] ?? answer.working}`.trimEnd(),
  });
  if (Object.hasOwn(answer.beside, typed)) return explained(answer.beside[typed]);
  const found = readNumbers(typed);
  if (!found.length || (found.length > 1 && !answer.isSet))
    return { outcome: "not understood", reason: `Expected ${answer.expected}.` };
  const all = [...new Set(found)].sort((a, b) => a - b).join(",");
  if (Object.hasOwn(answer.together, all)) return explained(answer.together[all]);
  const near = (a, b) => Math.abs(a - b) <= answer.tolerance;
  const wrong = found.find((value) => !answer.right.some((right) => near(value, right)));
  if (wrong !== undefined) {
    const mistake = answer.mistakes.find(([value]) => near(value, wrong));
    return explained(mistake ? mistake[1] : answer.otherwise);
  }
  if (!answer.right.every((right) => found.some((value) => near(value, right)))) return explained(answer.incomplete);
  return { outcome: "right", reason: answer.working };
}

const WORDS = { right: "Right.", wrong: "Wrong.", "not understood": "Not understood." };

// Where the answer is given: a text, or the number of one of several choices.
class Field {
  constructor(section) {
    this.inputs = [...section.querySelectorAll("form input")];
    this.choices = section.querySelector("fieldset");
    // In a page of several exercises, each has choices of its own.
    const name = `choice-${Math.random().toString(36).slice(2)}`;
    if (this.choices) for (const input of this.inputs) input.name = name;
  }

  get value() {
    if (!this.choices) return this.inputs[0].value;
    return this.inputs.find((input) => input.checked)?.value ?? "";
  }

  set value(text) {
    if (!this.choices) this.inputs[0].value = text;
    else for (const input of this.inputs) input.checked = input.value === text;
  }

  set locked(done) {
    if (this.choices) this.choices.disabled = done;
    else this.inputs[0].readOnly = done;
  }
}

class Exercise {
  constructor(section, answer, changed) {
    this.section = section;
    this.answer = answer;
    this.changed = changed;
    this.name = section.querySelector(".question").textContent;
    this.field = new Field(section);
    this.verdict = section.querySelector(".verdict");
    this.revealed = section.querySelector(".revealed");
    this.buttons = [...section.querySelectorAll("button")];
    this.cells = [];
    section.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit(this.field.value);
    });
    section.querySelector(".show").addEventListener("click", () => this.give());
    section.querySelector("form").addEventListener("input", () => this.mark());
    const { cells, beside } = answer;
    if (Object.keys(cells).length) this.prepare(section.querySelector(".shown svg"), cells, beside);
    this.reset();
  }

  // Makes the cells of the picture choosable, by pointer and by keyboard.
  prepare(svg, cells, beside) {
    svg.setAttribute("role", "group");
    svg.setAttribute("aria-label", svg.querySelector("title").textContent);
    for (const cell of svg.querySelectorAll("[data-cell]")) {
      const key = cell.dataset.cell;
      const isSlot = Object.hasOwn(cells, key);
      if (!isSlot && !Object.hasOwn(beside, key)) continue;
      const told = cell.querySelector("title")?.textContent ?? key;
      cell.setAttribute("role", "button");
      cell.setAttribute("tabindex", "0");
      cell.setAttribute("aria-label", isSlot ? `position ${cells[key]}: ${told}` : told);
      const choose = () => (isSlot ? this.choose(cells[key]) : this.submit(key));
      cell.addEventListener("click", choose);
      cell.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        choose();
      });
      if (isSlot) this.cells.push([cell, cells[key]]);
    }
  }

  // A click is the answer where one slot is asked for; where several are, it adds or removes one.
  choose(position) {
    if (this.done) return;
    const single = this.answer.right.length === 1;
    const chosen = new Set(single ? [] : readNumbers(this.field.value));
    if (!chosen.delete(position)) chosen.add(position);
    this.field.value = [...chosen].sort((a, b) => a - b).join(", ");
    this.mark();
    if (single) this.submit(this.field.value);
  }

  mark() {
    const chosen = readNumbers(this.field.value);
    for (const [cell, position] of this.cells)
      cell.setAttribute("aria-pressed", String(chosen.includes(position)));
  }

  submit(typed) {
    if (this.done) return;
    const { outcome, reason } = check(this.answer, typed, this.tries + 1);
    if (outcome === "wrong") this.tries += 1;
    this.say(outcome, `${WORDS[outcome]} ${reason}`);
    if (outcome === "right") this.finish(Math.max(0, 2 - this.tries));
    else if (outcome === "wrong") this.changed(this);
  }

  give() {
    if (this.done) return;
    this.say("given", `Answer: ${this.answer.told}. ${this.answer.working}`);
    this.finish(0);
  }

  say(outcome, words) {
    this.verdict.dataset.outcome = outcome;
    this.verdict.textContent = words;
  }

  finish(points) {
    this.done = true;
    this.points = points;
    this.field.locked = true;
    // Disabled in name only: a disabled button would lose the focus of who pressed it.
    for (const button of this.buttons) button.setAttribute("aria-disabled", "true");
    if (this.revealed) this.revealed.hidden = false;
    this.changed(this);
  }

  get progress() {
    return { tries: this.tries, points: this.points, done: this.done };
  }

  // As it was left: the answer is shown where it had been given.
  restore({ tries, points, done }) {
    this.tries = tries;
    if (!done) return;
    this.say("given", `Answered before, for ${points} of 2 points: ${this.answer.told}. ${this.answer.working}`);
    this.finish(points);
  }

  reset() {
    this.done = false;
    this.points = this.tries = 0;
    this.field.value = "";
    this.field.locked = false;
    for (const button of this.buttons) button.removeAttribute("aria-disabled");
    if (this.revealed) this.revealed.hidden = true;
    this.verdict.removeAttribute("data-outcome");
    this.verdict.textContent = "";
    this.mark();
  }
}

// What a reader has answered: for pages, where the browser keeps it from one visit to the next.
const KEPT = "scantape-progress";
const store = {
  load() {
    try {
      return JSON.parse(localStorage.getItem(KEPT)) ?? {};
    } catch {
      return {}; // nothing is kept where that is forbidden
    }
  },
  save(progress) {
    try {
      localStorage.setItem(KEPT, JSON.stringify(progress));
    } catch {}
  },
};

// Brings the exercises in `root` to life; `answers` are theirs, in the same order.
export function start(root, answers, kept = store) {
  const score = root.querySelector(".score");
  const again = root.querySelector(".again");
  let progress = kept.load();
  let exercises = [];
  const changed = (one) => {
    if (one) {
      if (one.done || one.tries) progress[one.name] = one.progress;
      else delete progress[one.name];
      kept.save({ ...progress });
    }
    const points = exercises.reduce((sum, exercise) => sum + exercise.points, 0);
    const done = exercises.filter((exercise) => exercise.done).length;
    score.textContent =
      `${points} of ${2 * exercises.length} points; ${done} of ${exercises.length} answered.`;
    // A single question needs no score, and no way back before it is answered.
    score.hidden = exercises.length === 1;
    again.hidden = exercises.length === 1 && !done;
    // In a notebook the kernel keeps it in a file anyway.
    root.querySelector(".export").hidden = kept !== store || !Object.keys(progress).length;
  };
  const sections = [...root.querySelectorAll(".exercise")];
  exercises = sections.map((section, place) => new Exercise(section, answers[place], changed));
  for (const one of exercises) if (Object.hasOwn(progress, one.name)) one.restore(progress[one.name]);
  root.querySelector(".export").addEventListener("click", () => {
    const file = JSON.stringify({ scantape: 1, answers: progress }, null, 1); // for `scantape score`
    download("scantape-progress.json", file);
  });
  again.addEventListener("click", () => {
    for (const exercise of exercises) {
      exercise.reset();
      changed(exercise);
    }
    sections[0].querySelector("input").focus();
  });
  changed();
  // What was answered elsewhere: in Python, or where the same exercises are shown once more.
  return (told) => {
    progress = { ...told };
    for (const one of exercises) {
      const { tries, points, done } = told[one.name] ?? { tries: 0, points: 0, done: false };
      if (tries === one.tries && points === one.points && done === one.done) continue;
      one.reset();
      one.restore({ tries, points, done });
    }
    changed();
  };
}

// In a page that has more on it, every sheet comes with this module: the first one numbers all
// questions and keeps their score, below the last, or at the end of an article.
/** @type {NodeListOf<HTMLElement>} */
const unstarted = document.querySelectorAll("[data-exercises]:not([data-started])");
const sheets = [...unstarted];
if (sheets.length) {
  for (const sheet of sheets) sheet.dataset.started = "";
  for (const sheet of sheets.slice(0, -1)) sheet.querySelector(".scored").remove();
  document.querySelector("article")?.append(sheets.at(-1).querySelector(".scored"));
  document.querySelectorAll(".exercise").forEach((section, place) => {
    section.querySelector(".number").textContent += ` ${place + 1}`;
    for (const part of [section, ...section.querySelectorAll(".picture")])
      part.setAttribute("aria-label", `${part.getAttribute("aria-label")} ${place + 1}`);
  });
  start(document, sheets.flatMap((sheet) => JSON.parse(sheet.querySelector("script").textContent)));
}

// In a notebook, as an anywidget.
export default {
  render({ model, el }) {
    const root = placed(el);
    root.innerHTML = model.get("content");
    const follow = start(root, model.get("answers"), {
      load: () => ({ ...model.get("progress") }),
      save: (progress) => share(model, { progress }),
    });
    return listening(model, { "change:progress": () => follow(model.get("progress")) });
  },
};
