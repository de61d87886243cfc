// A machine whose numbers are computed from given values. In its data, a number is {n, s}: the place
// of its instruction, and its style. Each becomes a property that reads the current results.

const DIGITS = [4, 5, 6, 7, 8, 10, 12, 14, 17]; // of the numbers on the right, until it is true

const STYLES = {
  plain: (value, digits) => numberText(value, digits),
  factor: (value, digits) => numberText(value, digits).replace(/^-.*/, "($&)"),
  norm: (value) => `‖${numberText(value, 3)}‖`,
};

class Live {
  /** @param {{lines: any[], base: Object<string, number[]>}} run @param {any} data of a machine */
  constructor(run, data) {
    this.run = run;
    this.numbers = [];
    if (run.lines) this.bind(data);
  }

  /** Compute all numbers; `values` are those that differ from the given ones. @param {any} values */
  compute(values) {
    if (this.run.lines) this.numbers = computed(this.run.lines, { ...this.run.base, ...values });
  }

  /** @param {any} node */
  bind(node) {
    if (node.check?.length) this.equation(node);
    for (const [key, value] of Object.entries(node)) {
      if (!value || typeof value !== "object") continue;
      if ("n" in value) this.property(node, key, () => STYLES[value.s](this.numbers[value.n]));
      else if (key !== "check") this.bind(value);
    }
  }

  /** @param {any} node @param {string} key @param {() => any} get */
  property(node, key, get) {
    Object.defineProperty(node, key, { get, enumerable: true, configurable: true });
  }

  /** The sign of a sentence, and the equation with enough digits to be true. @param {any} part */
  equation(part) {
    const { sentence, check } = part, at = sentence.findIndex(({ ink }) => ink === "sign");
    const [{ text: name }, left] = sentence;
    const right = sentence.slice(at + 1).map(({ text, ink }) => ({ text, isNumber: ink !== "plain" }));
    const operands = right.filter(({ isNumber }) => isNumber);
    const value = ({ text }) => ("n" in Object(text) ? this.numbers[text.n] : text === "True" ? 1 : Number(text) || 0);
    const printed = ({ text }, digits) => ("n" in Object(text) ? STYLES[text.s](this.numbers[text.n], digits) : text);
    const worth = (digits) => {
      const exact = operands.map(value);
      const used = exact.every(Number.isFinite) ? exact.map((number) => Number(numberText(number, digits))) : exact;
      return computed(check, { "": used }).at(-1);
    };
    const isTrue = (digits) => holds(left.text, worth(digits));
    this.property(sentence[at], "text", () => (isTrue(DIGITS[0]) ? " = " : " ≈ "));
    this.property(part, "exact", () => {
      const digits = DIGITS.find(isTrue);
      const texts = right.map((piece) => (piece.isNumber ? printed(piece, digits ?? DIGITS.at(-1)) : piece.text));
      return `${name.replace(/:\s*$/, "")} = ${left.text} ${digits ? "=" : "≈"} ${texts.join("")}`;
    });
  }
}
