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

// Return the outcome of a check, and the reason. `tries` (1 for the first try) selects the hint.
export function check(answer, typed, tries) {
  const values = readNumbers(typed, answer.is_set);
  if (!values.length || (values.length > 1 && !answer.is_set))
    return { outcome: "not understood", reason: `Expected ${answer.expected}.` };
  const near = (number) => (other) => Math.abs(number - other) <= answer.tolerance;
  const wrong = values.find((value) => !answer.right.some(near(value)));
  if (wrong === undefined && answer.right.every((right) => values.some(near(right))))
    return { outcome: "right", reason: answer.working };
  const known = answer.mistakes.find(([value]) => near(wrong)(value));
  const mistake = wrong === undefined ? answer.incomplete : known?.[1] ?? answer.otherwise;
  return { outcome: "wrong", reason: `${mistake} ${answer.hints[tries - 1] ?? answer.working}`.trimEnd() };
}

const NEW = { tries: 0, points: 0, done: false };

// A question in a page. `record` is its result: the wrong tries, the points, and whether the question is done.
class Exercise {
  // `keep` stores the record after each try.
  constructor(section, answer, number, keep) {
    Object.assign(this, { answer, keep, record: {}, explained: `${answer.solution}. ${answer.working}` });
    const [name, form, verdict, show] = [".question", "form", ".verdict", ".show"].map((part) => section.querySelector(part));
    Object.assign(this, { name: name.textContent, form, verdict, revealed: section.querySelector(".revealed") });
    section.querySelector(".number").textContent += ` ${number}`;
    for (const part of [section, ...section.querySelectorAll(".picture")])
      part.setAttribute("aria-label", `${part.getAttribute("aria-label")} ${number}`);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (!this.record.done) this.submit(String(new FormData(form).get("answer") ?? ""));
    });
    show.addEventListener("click", () => {
      if (this.record.done) return;
      this.show({ ...this.record, done: true }, "given", `Answer: ${this.explained}`);
      keep(this);
    });
  }

  submit(typed) {
    const { tries } = this.record;
    const { outcome, reason } = check(this.answer, typed, tries + 1);
    const record = {
      right: { tries, points: Math.max(0, 2 - tries), done: true },
      wrong: { ...NEW, tries: tries + 1 },
    }[outcome];
    this.show(record ?? this.record, outcome, `${outcome[0].toUpperCase()}${outcome.slice(1)}. ${reason}`);
    if (record) this.keep(this);
  }

  // Show a record and the outcome of a try. Without an outcome, a finished question shows its answer.
  show(record, outcome, words) {
    const { points, done } = this.record = record;
    if (!outcome) this.form.reset();
    this.verdict.dataset.outcome = outcome ?? "given";
    this.verdict.textContent = words ?? (done ? `Answered before, for ${points} of 2 points: ${this.explained}` : "");
    for (const input of this.form.querySelectorAll("input")) input[input.type === "radio" ? "disabled" : "readOnly"] = done;
    // With the attribute `disabled`, a button would lose the focus.
    for (const button of this.form.querySelectorAll("button")) button.ariaDisabled = done ? "true" : null;
    if (this.revealed) this.revealed.hidden = !done;
  }
}

// The results of a page, in the storage of the browser or, if the browser forbids it, in the page.
const KEY = "scantape-progress";
const store = {
  unstored: {},
  load() {
    try {
      return { ...JSON.parse(localStorage.getItem(KEY)) }; // any program can write to the storage
    } catch {
      return this.unstored;
    }
  },
  save(progress) {
    this.unstored = progress;
    try {
      localStorage.setItem(KEY, JSON.stringify(progress));
    } catch {}
  },
};

// Number and start the questions in `root`; `answers` lists their answers in the same order. Return a
// function that shows the results that Python, another view, or another window has stored in `results`.
export function start(root, answers, results = store) {
  const [score, again, exported] = [".score", ".again", ".export"].map((part) => root.querySelector(part));
  const sections = [...root.querySelectorAll(".exercise")];
  const exercises = sections.map((section, n) => new Exercise(section, answers[n], n + 1, keep));
  const stored = (progress, name) => ({ ...NEW, ...(Object.hasOwn(progress, name) && progress[name]) });

  function showScore() {
    const points = exercises.reduce((sum, { record }) => sum + record.points, 0);
    const done = exercises.filter(({ record }) => record.done).length;
    score.textContent = `${points} of ${2 * exercises.length} points; ${done} of ${exercises.length} answered.`;
    // A single question has no score, and can be repeated only after its answer.
    score.hidden = exercises.length === 1;
    again.hidden = exercises.length === 1 && !done;
    // In a notebook, the kernel writes the file.
    exported.hidden = results !== store || !Object.keys(results.load()).length;
  }

  // Store a record, unless another window has stored a better record of the question.
  function keep({ name, record }) {
    const progress = results.load(), old = stored(progress, name);
    if ((record.done - old.done || record.points - old.points || record.tries - old.tries) > 0) progress[name] = record;
    results.save(progress);
    showScore();
  }

  function follow() {
    const progress = results.load();
    for (const exercise of exercises) {
      const record = stored(progress, exercise.name);
      if (Object.keys(NEW).some((key) => record[key] !== exercise.record[key])) exercise.show(record);
    }
    showScore();
  }

  const write = () => JSON.stringify({ scantape: 1, answers: results.load() }, null, 1); // for `scantape score`
  exported.addEventListener("click", () => download("scantape-progress.json", write()));
  again.addEventListener("click", () => {
    const progress = results.load();
    for (const exercise of exercises) {
      delete progress[exercise.name];
      exercise.record = {}; // shows the question again, without feedback
    }
    results.save(progress);
    follow();
    sections[0].querySelector("input").focus();
  });
  if (results === store) addEventListener("storage", ({ key }) => [KEY, null].includes(key) && follow());
  follow();
  return follow;
}

// If a page contains several sheets, the first module starts all questions. The score of all sheets
// is below the last question, or at the end of the article.
const sheets = [.../** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-exercises]:not([data-started])"))];
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
    const root = createRoot(el);
    root.innerHTML = model.get("content");
    const follow = start(root, answersOf(root.firstElementChild), {
      load: () => ({ ...model.get("progress") }),
      save: (progress) => share(model, { progress }),
    });
    return addListeners(model, { "change:progress": follow });
  },
};
