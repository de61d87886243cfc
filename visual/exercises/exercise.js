// Questions in a page or a notebook: this module checks answers and stores the score. Python has
// written all feedback in advance, and `check` only selects the feedback.

const LONGEST = 120;
const NAMES = /\b(?:positions?|pos|slots?|taps?|steps?|buf|and|scans?)\b|[[\](),;=]/gi;
const NUMBER = /^[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d{1,3})?$/i;

// Return the numbers in a text. A comma between digits is a decimal comma if one number is expected,
// or if semicolons separate the numbers.
export function readNumbers(typed, isSet) {
  if (typed.length > LONGEST) return [];
  if (!isSet || typed.includes(";")) typed = typed.replace(/(\d),(?=\d)/g, "$1.");
  const words = typed.replaceAll("−", "-").replace(NAMES, " ").split(/\s+/).filter(Boolean);
  return words.every((word) => NUMBER.test(word)) ? words.map(Number) : [];
}

export function check(answer, typed, tries) {
  const explained = (why) => ({
    outcome: "wrong",
    reason: `${why} ${answer.hints[tries - 1] ?? answer.working}`.trimEnd(),
  });
  const values = readNumbers(typed, answer.isSet);
  if (!values.length || (values.length > 1 && !answer.isSet))
    return { outcome: "not understood", reason: `Expected ${answer.expected}.` };
  const near = (a, b) => Math.abs(a - b) <= answer.tolerance;
  const wrong = values.find((value) => !answer.right.some((right) => near(value, right)));
  if (wrong !== undefined) {
    const mistake = answer.mistakes.find(([value]) => near(value, wrong));
    return explained(mistake ? mistake[1] : answer.otherwise);
  }
  if (!answer.right.every((right) => values.some((value) => near(value, right)))) return explained(answer.incomplete);
  return { outcome: "right", reason: answer.working };
}

const WORDS = { right: "Right.", wrong: "Wrong.", "not understood": "Not understood." };

// The input of an answer: a text field, or choices.
class Field {
  constructor(section) {
    this.inputs = [...section.querySelectorAll("form input")];
    this.choices = section.querySelector("fieldset");
    // Radio buttons of different questions must have different names.
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
    section.querySelector("form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit(this.field.value);
    });
    section.querySelector(".show").addEventListener("click", () => this.give());
    this.reset();
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
    this.say("given", `Answer: ${this.answer.solution}. ${this.answer.working}`);
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
    // A button that is really disabled would lose the focus.
    for (const button of this.buttons) button.setAttribute("aria-disabled", "true");
    if (this.revealed) this.revealed.hidden = false;
    this.changed(this);
  }

  get progress() {
    return { tries: this.tries, points: this.points, done: this.done };
  }

  // Restore a stored result; a finished question shows its answer.
  restore({ tries, points, done }) {
    this.tries = tries;
    if (!done) return;
    this.say("given", `Answered before, for ${points} of 2 points: ${this.answer.solution}. ${this.answer.working}`);
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
  }
}

// The browser stores the results of a page.
const KEY = "scantape-progress";
const store = {
  load() {
    try {
      return JSON.parse(localStorage.getItem(KEY)) ?? {};
    } catch {
      return {}; // storage is forbidden
    }
  },
  save(progress) {
    try {
      localStorage.setItem(KEY, JSON.stringify(progress));
    } catch {}
  },
};

// Return the better of two results, because another window may have finished the question.
const better = (a, b) =>
  (a.done - b.done || a.points - b.points || a.tries - b.tries) > 0 ? a : b;

// Number and start the questions in `root`; `answers` has their answers, in the same order.
export function start(root, answers, results = store) {
  const score = root.querySelector(".score");
  const again = root.querySelector(".again");
  let progress = results.load();
  let exercises = [];
  const changed = (one) => {
    if (one) {
      progress = results.load(); // with the answers of other windows
      if (!one.done && !one.tries) delete progress[one.name];
      else progress[one.name] = better(progress[one.name] ?? one.progress, one.progress);
      results.save({ ...progress });
    }
    const points = exercises.reduce((sum, exercise) => sum + exercise.points, 0);
    const done = exercises.filter((exercise) => exercise.done).length;
    score.textContent =
      `${points} of ${2 * exercises.length} points; ${done} of ${exercises.length} answered.`;
    // A single question has no score, and can be repeated only after its answer.
    score.hidden = exercises.length === 1;
    again.hidden = exercises.length === 1 && !done;
    // In a notebook, the kernel writes the file.
    root.querySelector(".export").hidden = results !== store || !Object.keys(progress).length;
  };
  const sections = [...root.querySelectorAll(".exercise")];
  sections.forEach((section, place) => {
    section.querySelector(".number").textContent += ` ${place + 1}`;
    for (const part of [section, ...section.querySelectorAll(".picture")])
      part.setAttribute("aria-label", `${part.getAttribute("aria-label")} ${place + 1}`);
  });
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
  // Follow answers from Python, from another view, and from other windows.
  const follow = (others) => {
    progress = { ...others };
    for (const one of exercises) {
      const { tries, points, done } = others[one.name] ?? { tries: 0, points: 0, done: false };
      if (tries === one.tries && points === one.points && done === one.done) continue;
      one.reset();
      one.restore({ tries, points, done });
    }
    changed();
  };
  if (results === store)
    addEventListener("storage", ({ key }) => {
      if (key === KEY || key === null) follow(store.load());
    });
  return follow;
}

// If a page contains several sheets, the first module starts all questions. The score of all sheets
// is below the last question, or at the end of the article.
/** @type {NodeListOf<HTMLElement>} */
const unstarted = document.querySelectorAll("[data-exercises]:not([data-started])");
const sheets = [...unstarted];
if (sheets.length) {
  for (const sheet of sheets.slice(0, -1)) sheet.querySelector(".scored").remove();
  document.querySelector("article")?.append(sheets.at(-1).querySelector(".scored"));
  start(document, sheets.flatMap(answersOf));
}

/** Mark a sheet as started, and return its answers. @param {HTMLElement} sheet */
function answersOf(sheet) {
  sheet.dataset.started = "";
  return JSON.parse(sheet.querySelector("script").textContent);
}

// The entry point of anywidget, in a notebook.
export default {
  render({ model, el }) {
    const root = placed(el);
    root.innerHTML = model.get("content");
    const follow = start(root, answersOf(root.firstElementChild), {
      load: () => ({ ...model.get("progress") }),
      save: (progress) => share(model, { progress }),
    });
    return listening(model, { "change:progress": () => follow(model.get("progress")) });
  },
};
