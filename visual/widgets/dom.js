// Functions for the page and the model of every widget. This file is the first of each module.

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// The element of a widget; it stops keys that are shortcuts of a notebook: `d d` deletes a cell.
function placed(el, attributes = {}) {
  const root = element("div", { ...attributes, "data-lm-suppress-shortcuts": "true" });
  root.addEventListener("keydown", (event) => event.stopPropagation());
  el.append(root);
  return root;
}

// Register handlers of a model's events; return a function that removes them.
function listening(model, listeners) {
  for (const [name, listener] of Object.entries(listeners)) model.on(name, listener);
  return () => {
    for (const [name, listener] of Object.entries(listeners)) model.off(name, listener);
  };
}

function share(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}

// Return whether JupyterLab has a dark theme; undefined outside JupyterLab.
function isJupyterDark() {
  return { true: false, false: true }[document.body.dataset.jpThemeLight];
}

// Call `look` whenever JupyterLab's theme changes; return a function that stops this.
function onTheme(look) {
  const watch = new MutationObserver(look);
  watch.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  return () => watch.disconnect();
}

function download(name, content) {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob([content])) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
