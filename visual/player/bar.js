// The scrub bar: a segment for each Scan, with a width proportional to the duration of its events, and
// marks at the first effects of a faulty rule.

/** Map x from the increasing numbers `from` to the numbers `to`, by linear interpolation. @param {number} x @param {number[]} from @param {number[]} to */
function interpolate(x, from, to) {
  const n = clamp(from.findLastIndex((edge) => edge <= x), 0, Math.max(from.length - 2, 0));
  return to[n] + (to[n + 1] - to[n]) * clamp((x - from[n]) / (from[n + 1] - from[n]), 0, 1) || to[n];
}

/** The scrub bar. It converts between the moment p and a position on the bar. */
class Bar {
  /** @param {Element} root @param {any} actions `drag` receives p, `drop` no argument */
  constructor(root, { drag, drop }) {
    [this.track, this.marks, this.slider] = root.querySelector(".scrub").children;
    this.drag = drag;
    this.slider.oninput = () => drag(interpolate(Number(this.slider.value), this.edges, this.numbers));
    this.slider.onchange = drop;
  }

  /** Draw the segments of another machine, and mark the first effects of a faulty rule. @param {any} data */
  open(data) {
    const { events, scans, moments, mistake } = this.data = data;
    this.stops = [0, ...events.flatMap(({ groups }, n) => (groups.length ? groups.map(({ end }) => n + end) : [n + 1]))];
    let past = 0;
    const edges = [0, ...events.map(({ weight }) => (past += weight))];
    this.edges = edges.map((edge) => (edge / (past || 1)) * moments);
    this.numbers = [...edges.keys()];
    this.slider.max = moments;
    this.track.replaceChildren();
    for (const scan of scans) {
      const [from, to] = scan.events.map((event) => this.edges[event]);
      const label = element("b", {}, scans.length > 4 ? scan.number : `${scan.number} ${scan.name}`);
      const node = element("span", { title: `${scan.run}${scan.number} ${scan.name}` }, element("i"), label);
      node.style.flex = `${to - from} 0 0`;
      this.track.append(node);
      node.hidden = scans.some((other) => other.number === scan.number && other.run < scan.run); // of two runs, show only the first
    }
    this.marks.replaceChildren();
    for (const [text, moment] of [["wrong", mistake?.first_wrong], ["read", mistake?.first_read]].filter(([, each]) => each)) {
      const at = (this.edges[moment] / moments) * 100, before = this.marks.firstChild;
      const mark = actionButton(`▲ ${text}`, () => this.drag(moment), { class: "mark", title: `first ${text}: ${events[moment - 1].heading}` });
      mark.style.left = `min(${before ? `max(${at}%, ${before.style.left} + 58px)` : `${at}%`}, 100% - 44px)`;
      this.marks.append(mark);
    }
  }

  /** Move the handle to p, and fill the segments before it. @param {number} p @param {string} heading */
  show(p, heading) {
    const x = interpolate(p, this.numbers, this.edges);
    if (document.activeElement !== this.slider || !this.slider.matches(":active")) this.slider.value = x;
    this.slider.setAttribute("aria-valuetext", heading);
    for (const [n, node] of [...this.track.children].entries()) {
      const [from, to] = this.data.scans[n].events.map((event) => this.edges[event]);
      node.firstChild.style.width = `${100 * clamp((x - from) / (to - from || 1), 0, 1)}%`;
    }
  }

  /** Return the end of the next sum after p, or with a negative `by`, of the last sum before p. @param {number} p @param {number} by */
  neighbor(p, by) {
    return by > 0 ? this.stops.find((stop) => stop > p + 1e-6) ?? p : this.stops.findLast((stop) => stop < p - 1e-6) ?? 0;
  }

  /** Return the end of a sum that is nearest to p. @param {number} p */
  nearest(p) {
    return this.stops.reduce((a, b) => (Math.abs(b - p) < Math.abs(a - p) ? b : a));
  }
}
