// What every widget asks of its page and of its model.  This file is joined before all others.

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

// The element of a widget in a notebook, which has shortcuts of its own: `d d` deletes a cell.
function placed(el, attributes = {}) {
  const root = element("div", { ...attributes, "data-lm-suppress-shortcuts": "true" });
  root.addEventListener("keydown", (event) => event.stopPropagation());
  el.append(root);
  return root;
}

// Has these called at events of a model, until what is returned is called.
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

// Whether JupyterLab says of itself that it is dark; undefined where it is not around.
function isJupyterDark() {
  return { true: false, false: true }[document.body.dataset.jpThemeLight];
}

// Has `look` called when JupyterLab's theme is another one, until what is returned is called.
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
