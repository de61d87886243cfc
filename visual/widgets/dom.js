// Functions for the page and the model of every widget. This file is the first of each module.

function element(name, attributes = {}, ...children) {
  const node = setAttributes(document.createElement(name), attributes);
  node.append(...children);
  return node;
}

// Set attributes of an element, and return the element.
function setAttributes(node, attributes) {
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  return node;
}

// Create a button; a click calls `act`.
function actionButton(text, act, attributes = {}) {
  const button = element("button", { type: "button", ...attributes }, text);
  button.addEventListener("click", act);
  return button;
}

// Create the element of a widget. In it, keys do not act as shortcuts of the notebook (`d d` deletes a cell).
function createRoot(el, attributes = {}) {
  const root = element("div", { ...attributes, "data-lm-suppress-shortcuts": "true" });
  root.addEventListener("keydown", (event) => event.stopPropagation());
  el.append(root);
  return root;
}

// Register handlers of a model's events; return a function that removes them.
function addListeners(model, listeners) {
  const apply = (method) => Object.entries(listeners).forEach(([name, listener]) => model[method](name, listener));
  apply("on");
  return () => apply("off");
}

// Set values of a model, and send them to the kernel.
function share(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  model.save_changes();
}

// Return the value of compressed JSON.
const unpack = (bytes) => new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();

function download(name, content) {
  const link = element("a", { download: name, href: URL.createObjectURL(new Blob([content])) });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
