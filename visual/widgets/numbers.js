// Computes the numbers of a picture anew, from other values of its loop, and writes them.  What
// to compute is data: `lines`, each an operation and the places of what it is made of.  Numbers
// are written as lab.notation and lab.equations.numbers do.

const OPERATIONS = {
  Add: (...terms) => terms.reduce((sum, term) => sum + term),
  Mul: (...factors) => factors.reduce((product, factor) => product * factor),
  Sub: (a, b) => a - b,
  TrueDiv: (a, b) => a / b,
  Neg: (a) => -a,
  Pow: (a, b) => a ** b,
  Sqr: (a) => a * a,
  Reciprocal: (a) => 1 / a,
  abs: Math.abs,
  sgn: Math.sign,
  sqrt: Math.sqrt,
  exp: Math.exp,
  log: Math.log,
  log1p: Math.log1p,
  expm1: Math.expm1,
  sin: Math.sin,
  cos: Math.cos,
  tan: Math.tan,
  sinh: Math.sinh,
  cosh: Math.cosh,
  tanh: Math.tanh,
  arcsin: Math.asin,
  arccos: Math.acos,
  arctan: Math.atan,
  sigmoid: (a) => 1 / (1 + Math.exp(-a)),
  max: Math.max,
  min: Math.min,
  largest: (...numbers) => Math.max(0, ...numbers.map(Math.abs).filter(Number.isFinite)),
  where: (choice, a, b) => (choice ? a : b),
  GT: (a, b) => Number(a > b),
  LT: (a, b) => Number(a < b),
  GE: (a, b) => Number(a >= b),
  LE: (a, b) => Number(a <= b),
  EQ: (a, b) => Number(a === b),
  NEQ: (a, b) => Number(a !== b),
};

// The numbers of all lines; `given` has the entries of what is given, by name.
function computed(lines, given) {
  const found = [];
  for (const [name, ...operands] of lines) {
    if (name === "constant") found.push(operands[0]);
    else if (name === "input") found.push(given[operands[0]][operands[1]]);
    else found.push(OPERATIONS[name](...operands.map((place) => found[place])));
  }
  return found;
}

// So many significant digits of a number that is neither 0 nor infinite, half to even, as a
// mantissa and the power of ten.
/** @returns {[string, number]} */
function rounded(value, digits) {
  const [mantissa, power] = Math.abs(value).toExponential(digits - 1).split("e");
  const [all, its] = Math.abs(value).toExponential(Math.min(100, digits + 60)).split("e");
  const before = all.slice(0, digits + (digits > 1)); // and the point
  const isHalf = /^\.?50*$/.test(all.slice(before.length));
  return isHalf && Number(before.at(-1)) % 2 === 0 ? [before, Number(its)] : [mantissa, Number(power)];
}

function written(value, digits, keepsZeros) {
  const [mantissa, power] = rounded(value, digits);
  const trimmed = (text) => (keepsZeros || !text.includes(".") ? text : text.replace(/\.?0+$/, ""));
  const sign = value < 0 ? "-" : "";
  if (power < -4 || power >= digits) return `${sign}${trimmed(mantissa)}e${power}`;
  const all = mantissa.replace(".", "");
  if (power < 0) return `${sign}${trimmed(`0.${"0".repeat(-power - 1)}${all}`)}`;
  const behind = all.slice(power + 1);
  return `${sign}${trimmed(behind ? `${all.slice(0, power + 1)}.${behind}` : all)}`;
}

const NOISE = 1e-12; // of a number: what rounding errors may add, as in 0.1 + 0.2

// A number with so many significant digits; zeros at their end tell that there are more.  With
// minus so many digits, it is as Python's :g writes it; with a hundred more, what is negative is
// in parentheses; with two hundred more, they are letters in which there are up to four digits.
function numberText(value, digits = 4) {
  if (digits > 200) {
    return [4, 3].map((some) => numberText(value, some)).find((text) => text.length <= digits - 200) ?? numberText(value, 2);
  }
  if (digits > 100) return numberText(value, digits - 100).replace(/^-.*/, "($&)");
  if (!Number.isFinite(value)) return `⚠ ${{ Infinity: "inf", "-Infinity": "-inf" }[value] ?? "nan"}`;
  if (value === 0) return "0";
  const short = written(value, Math.abs(digits), false);
  if (digits < 0) return short.replace(/e(-?)(\d+)$/, (_, sign, power) => `e${sign || "+"}${power.padStart(2, "0")}`);
  const isAll = Math.abs(Number(short) - value) <= NOISE * Math.abs(value);
  return isAll ? short : written(value, digits, true);
}

const DIGITS = [4, 5, 6, 7, 8, 10, 12, 14, 17]; // of the numbers on the right, until it is true
const SAFE = 10; // of them, which make a sum of doubles that is exact as far as it is told
const HALF = 5e-4; // of a number: half a unit of its fourth digit
const ULP = 2 ** -53, NUDGE = 2 ** -36; // of a number: what rounding takes, and what is added to see that
const CLOSE = 0.01; // of the number on the left: how far off an equation with ≈ may be

// Whether rounding leaves four digits of what is computed, as `rounding` in lab.equations.
function isCertain(lines, used) {
  const worth = (change) =>
    computed(lines, { "": used.map((number, n) => number * (1 + change * (-1) ** n * (1 + n / 8))) }).at(-1);
  const [made, moved] = [worth(0), worth(NUDGE)];
  const lost = (Math.abs(moved - made) / Math.abs(made)) * (ULP / NUDGE);
  return made === 0 || !Number.isFinite(lost) || lost < HALF;
}

// `7.413 = 3.9014·2·0.95 + 0`: true to half a unit of the last digit on the left.  What is told of
// a sum has what is left in a slot of its own, -1.
function equationText([left, places, right, lines, isTold], numbers) {
  const [whole, used] = [numbers[left], places.map((place) => numbers[place])];
  const told = numberText(whole);
  const printed = (number) => right.map((part) => {
    if (typeof part === "string") return part;
    const [slot, parted] = part;
    if (slot < 0) return told;
    return parted && number[slot].startsWith("-") ? `(${number[slot]})` : number[slot];
  }).join("");
  const equation = (sign, texts) => (isTold ? printed(texts) : `${told} ${sign} ${printed(texts)}`);
  const four = used.map((number) => numberText(number));
  if (!Number.isFinite(whole)) return equation("=", four);
  const [mantissa, power = "0"] = told.split("e");
  const unit = 10 ** (Number(power) - (mantissa.split(".")[1] ?? "").length);
  let close = "";
  for (const digits of used.every(Number.isFinite) ? DIGITS : []) {
    const texts = used.map((number) => numberText(number, digits));
    const away = Math.abs(computed(lines, { "": texts.map(Number) }).at(-1) - Number(told));
    const isTrue = away <= (unit / 2) * (1 + 1e-9);
    if (isTrue && (isTold || digits <= SAFE || isCertain(lines, used))) return equation("=", texts);
    if (!close && away <= CLOSE * Math.abs(Number(told))) close = equation("≈", texts);
  }
  return close;
}

// An entry of an array: its outline and its colour, of as many shades as a theme has, the last of
// them for what is no number.  What is between two shades is nearer to the even one.
function patchOf([place, scale, positive, negative], numbers, shades) {
  const value = numbers[place];
  const most = (shades.length - 2) / 2;
  const level = most * Math.max(-1, Math.min(1, value / (numbers[scale] || 1)));
  const even = level % 1 && level % 0.5 === 0 ? 2 * Math.round(level / 2) : Math.round(level);
  return { outline: value < 0 ? negative : positive, colour: shades[most + even] ?? shades.at(-1) };
}

// What a picture of other values shows: texts, the lines of stories, and patches, by their numbers.
/** @param {any} live @param {object} given @param {string[]} shades */
function computedPicture({ lines, equations, texts, stories, strips = [] }, given, shades = []) {
  const numbers = computed(lines, given);
  const words = equations.map((equation) => equationText(equation, numbers).split(" "));
  const text = (parts) => parts.map((part) => {
    if (part === null) return "⋯";
    if (typeof part === "string") return part;
    if (part.length === 3) return words[part[0]].slice(part[1], part[2]).join(" ");
    return numberText(numbers[part[0]], part[1]);
  }).join("");
  return {
    texts: new Map(texts.map(([place, parts]) => [place, text(parts)])),
    stories: new Map(stories.map(([place, parts]) => [place, text(parts)])),
    patches: strips.map((patch) => patch && patchOf(patch, numbers, shades)),
  };
}
