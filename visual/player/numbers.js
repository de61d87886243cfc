// The operations of a run, and numbers as text. `lines` are instructions: each contains an operation and
// the places of its operands. `numberText` writes a number exactly as lab.notation.number_text.

// The operations that have no function of the same name in `Math`, unlike `exp` and `tanh`.
const OPERATIONS = {
  Add: (...terms) => terms.reduce((sum, term) => sum + term),
  Mul: (...factors) => factors.reduce((product, factor) => product * factor),
  Sub: (a, b) => a - b,
  TrueDiv: (a, b) => a / b,
  Neg: (a) => -a,
  Pow: (a, b) => a ** b,
  Sqr: (a) => a * a,
  Reciprocal: (a) => 1 / a,
  arcsin: Math.asin,
  arccos: Math.acos,
  arctan: Math.atan,
  sigmoid: (a) => 1 / (1 + Math.exp(-a)),
  largest: (...numbers) => Math.max(0, ...numbers.map(Math.abs).filter(Number.isFinite)),
  where: (choice, a, b) => (choice ? a : b),
  GT: (a, b) => Number(a > b),
  LT: (a, b) => Number(a < b),
  GE: (a, b) => Number(a >= b),
  LE: (a, b) => Number(a <= b),
  EQ: (a, b) => Number(a === b),
  NEQ: (a, b) => Number(a !== b),
};

/** Return the results of all lines; `given` maps names to the entries of the given values. @param {any[]} lines @param {any} given */
function compute(lines, given) {
  const results = [];
  for (const [name, ...operands] of lines) {
    if (name === "constant") results.push(operands[0]);
    else if (name === "input") results.push(given[operands[0]][operands[1]]);
    else results.push((OPERATIONS[name] ?? Math[name])(...operands.map((place) => results[place])));
  }
  return results;
}

/** Return a finite nonzero number with significant digits, rounded half to even. @param {number} value @param {number} digits @param {boolean} keepsZeros */
function writeNumber(value, digits, keepsZeros) {
  const [exact, rounded] = [Math.min(100, digits + 60), digits - 1].map((places) => Math.abs(value).toExponential(places).split("e"));
  const before = exact[0].slice(0, digits + Number(digits > 1)); // with the decimal point
  const isEven = /^\.?50*$/.test(exact[0].slice(before.length)) && Number(before.at(-1)) % 2 === 0;
  const mantissa = isEven ? before : rounded[0], power = Number((isEven ? exact : rounded)[1]), sign = value < 0 ? "-" : "";
  const trimmed = (text) => sign + text.replace(keepsZeros ? /\.$/ : /\.?0*$/, "");
  if (power < -4 || power >= digits) return `${trimmed(mantissa)}e${power}`;
  const all = mantissa.replace(".", ""), point = power + 1;
  return trimmed(point > 0 ? `${all.slice(0, point)}.${all.slice(point)}` : `0.${"0".repeat(-point)}${all}`);
}

const NOISE = 1e-12; // ignore relative rounding errors up to this size, as in 0.1 + 0.2

/** Return a number as text; final zeros show that the number has more than `digits` digits. @param {number} value @param {number=} digits */
function numberText(value, digits = 4) {
  if (!Number.isFinite(value)) return `⚠ ${{ Infinity: "inf", "-Infinity": "-inf" }[value] ?? "nan"}`;
  if (value === 0) return "0";
  const short = writeNumber(value, digits, false);
  return Math.abs(Number(short) - value) <= NOISE * Math.abs(value) ? short : writeNumber(value, digits, true);
}

/** Return whether a number rounds to another number, printed with four digits, as in Python. @param {number} left @param {number} value */
function holds(left, value) {
  if (![left, value].every(Number.isFinite)) return numberText(value) === numberText(left);
  const rounded = Number(numberText(left)), unit = 10 ** (Math.floor(Math.log10(Math.abs(rounded) || 1)) - 3);
  return Math.abs(value - rounded) <= (unit / 2) * (1 + 1e-9);
}

// A machine whose numbers are computed from given values. In the data, a number is {n, s}: the place
// of its instruction, and its style. Each number becomes a property that reads the current results.

const STYLES = {
  plain: numberText,
  factor: (value, digits) => (value < 0 && value > -Infinity ? `(${numberText(value, digits)})` : numberText(value, digits)),
  norm: (value) => `‖${numberText(value, 3)}‖`,
};

const NUMBER = /[^,;|]+/g; // a number of a value in a link

/** Return the entries of a value in a link. @param {string} text */
const readNumbers = (text) => (text.match(NUMBER) ?? []).map(Number);

// Define a property of a record; each access computes its value.
const define = (node, key, get) => Object.defineProperty(node, key, { get, enumerable: true, configurable: true });

class Live {
  /** @param {{lines: any[], digits: number[], base: Object<string, string>}} run @param {any} data of a machine */
  constructor(run, data) {
    this.run = run;
    this.base = Object.fromEntries(Object.entries(run.base ?? {}).map(([name, text]) => [name, readNumbers(text)]));
    this.numbers = [];
    if (run.lines) this.bind(data);
  }

  /** Compute all numbers; `values` replace given values. @param {any} values */
  compute(values) {
    if (this.run.lines) this.numbers = compute(this.run.lines, { ...this.base, ...values });
  }

  bind(node) {
    if (node.check?.length) this.equation(node);
    const places = Array.isArray(node.entries) ? node.entries.map(({ n }) => n) : []; // a text has no place
    if (places[0] !== undefined) define(node, "values", () => places.map((place) => this.numbers[place]));
    for (const [key, value] of Object.entries(node)) {
      if (!value || typeof value !== "object") continue;
      if ("n" in value) define(node, key, () => this.write(value));
      else if (key !== "check") this.bind(value);
    }
  }

  /** Return a number of the data in its style, and a text unchanged. @param {any} text @param {number=} digits */
  write(text, digits) {
    return "n" in Object(text) ? STYLES[text.s](this.numbers[text.n], digits) : text;
  }

  /** Define the sign of a sentence, = or ≈, and the equation with enough digits to be true. @param {any} part */
  equation(part) {
    const { sentence, check } = part, tried = this.run.digits, at = sentence.findIndex(({ ink }) => ink === "sign");
    const [left, , ...right] = sentence.slice(at - 1).map(({ text }) => text);
    const operands = right.filter((text) => "n" in Object(text));
    const rightSide = (digits) => {
      const areFinite = operands.every(({ n }) => Number.isFinite(this.numbers[n]));
      const used = operands.map(({ n }) => [n, areFinite ? Number(numberText(this.numbers[n], digits)) : this.numbers[n]]);
      return compute(check, { "": Object.fromEntries(used) }).at(-1);
    };
    const isTrue = (digits) => holds(this.numbers[left.n], rightSide(digits));
    define(sentence[at], "text", () => (isTrue(tried[0]) ? " = " : " ≈ "));
    define(part, "exact", () => {
      const digits = tried.find(isTrue), texts = right.map((text) => this.write(text, digits ?? tried.at(-1)));
      const numbers = sentence.slice(at + 1).map(({ ink }, n) => ({ text: texts[n], ink }));
      return [...sentence.slice(0, at), { text: digits ? " = " : " ≈ ", ink: "sign" }, ...numbers];
    });
  }
}
