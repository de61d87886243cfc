// Filters the table of contents: every word that is typed must stand in a section, in its heading,
// or in the title of its lesson.  Shows where; loads nothing.

const AROUND = 60;
const plain = (text) => text.toLowerCase();

function marked(text, words) {
  const places = words.map((word) => plain(text).indexOf(word)).filter((place) => place >= 0);
  if (!places.length) return null;
  const first = Math.min(...places);
  const from = first <= AROUND ? 0 : text.lastIndexOf(" ", first - AROUND) + 1; // of a word
  const last = text.indexOf(" ", first + 2 * AROUND);
  const cut = last < 0 ? text.slice(from) : text.slice(from, last);
  const made = document.createElement("span");
  made.className = "excerpt";
  let rest = cut;
  if (from > 0) made.append("… ");
  while (rest) {
    const next = words
      .map((word) => [plain(rest).indexOf(word), word.length])
      .filter(([place]) => place >= 0)
      .sort(([a, m], [b, n]) => a - b || n - m)[0];
    if (!next) break;
    const mark = document.createElement("mark");
    mark.textContent = rest.slice(next[0], next[0] + next[1]);
    made.append(rest.slice(0, next[0]), mark);
    rest = rest.slice(next[0] + next[1]);
  }
  made.append(rest, last < 0 ? "" : " …");
  return made;
}

export function search(root, texts) {
  const field = root.querySelector("input");
  const found = root.querySelector(".found");
  const lessons = [...root.querySelectorAll(":scope > ol > li")].map((item, number) => {
    const links = [item.querySelector(":scope > a"), ...item.querySelectorAll("ul a")];
    const parts = links.map((link, place) => ({
      item: link.parentElement, link, title: link.textContent, text: texts[number][place],
    }));
    return { item, parts };
  });
  const filter = () => {
    const words = plain(field.value).split(/\s+/).filter(Boolean);
    for (const old of root.querySelectorAll(".excerpt")) old.remove();
    let sections = 0;
    let pages = 0;
    for (const { item, parts } of lessons) {
      const hits = parts.filter(({ title, text }) => {
        const all = plain(`${parts[0].title} ${title} ${text}`);
        return words.every((word) => all.includes(word)) &&
          words.some((word) => plain(`${title} ${text}`).includes(word));
      });
      const shown = !words.length || hits.length > 0;
      item.hidden = !shown;
      for (const part of parts.slice(1)) part.item.hidden = words.length > 0 && !hits.includes(part);
      if (!words.length) continue;
      pages += shown;
      sections += hits.length;
      for (const { link, text } of hits) {
        const excerpt = marked(text, words);
        if (excerpt) link.after(excerpt);
      }
    }
    const plural = (count, word) => `${count} ${word}${count === 1 ? "" : "s"}`;
    found.textContent = !words.length ? ""
      : sections ? `${plural(sections, "section")} in ${plural(pages, "lesson")}.`
      : "Nothing found. Fewer or shorter words find more.";
  };
  field.addEventListener("input", filter);
  field.closest("[hidden]").hidden = false;
  filter();
}
