// The machine as a widget, and in pages without a kernel.

/** The widget: the kernel sends `data`; `moment` is synchronized. @param {any} widget */
function render({ model, el }) {
  const machine = new Machine(model.get("data"), el, {
    moment: model.get("moment"), contributor: model.get("contributor"), above: 52,
    onMoment: (moment) => { if (model.get("moment") !== moment) share(model, { moment }); },
    onBuffers: (contributor) => share(model, { contributor }),
  });
  const stop = addListeners(model, {
    "change:data": () => machine.open(model.get("data"), model.get("moment")),
    "change:moment": () => { if (machine.moment !== model.get("moment")) machine.jump(model.get("moment")); },
    "change:contributor": () => machine.refresh(model.get("contributor")),
  });
  return () => { machine.pause(); stop(); };
}

/** In a page without a kernel, create the machine of each element with data. */
for (const place of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-machine]:not([data-ready])"))) {
  place.dataset.ready = "";
  const { data, ...options } = JSON.parse(place.querySelector("script").textContent);
  new Machine(data, place, options);
}

export default { render };
