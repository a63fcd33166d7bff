"use strict";
// The chosen node, its neighbourhood and its details.

function choose(node, { glide = true, speak = true } = {}) {
  selected = node;
  stage.mark({ selected: node, hovered: -1 });
  $("tip").hidden = true;
  const isHidden = node >= 0 && !shown.nodes[node];
  if (isHidden) focus = null;
  drawFocus();
  if (isHidden || isForced) apply();
  showDetails();
  if (node < 0) return;
  if (glide) stage.centre(node);
  else stage.reveal(node);
  if (speak) $("live").textContent = `${model.nodes.label[node] || "(no title)"}, ${model.names.types[model.nodes.type[node]]}, ${manyLinks(node)}`;
}

/** The links of a node but those to its own tags, which stand by themselves. */
function listed(node) {
  const ofTag = model.names.kinds.indexOf("tagged_with");
  return [...linksOf(model, node)].filter(([link, , isOut]) => !isOut || model.kind[link] !== ofTag);
}

function manyLinks(node) {
  const many = listed(node).length;
  return many === 1 ? "1 link" : `${NUMBER.format(many)} links`;
}

function focusOn(node, depth = 1) {
  focus = node < 0 ? null : { node, depth };
  drawFocus();
  apply(true);
}

function drawFocus() {
  $("focusbar").hidden = !focus;
  if (!focus) return;
  $("focusname").textContent = `Around ${model.nodes.label[focus.node] || "(no title)"}`;
  $("depths").replaceChildren(...[1, 2, 3].map((depth) => {
    const button = make("button", { type: "button", "aria-pressed": String(depth === focus.depth), "aria-label": `${depth} steps away` }, String(depth));
    button.addEventListener("click", () => focusOn(focus.node, depth));
    return button;
  }));
}

function showDetails() {
  const panel = $("details");
  panel.hidden = selected < 0;
  if (selected < 0) return;
  const { nodes, names } = model;
  const node = selected;
  const type = names.types[nodes.type[node]];
  const close = make("button", { type: "button", class: "close", "aria-label": "Close" }, "✕");
  close.addEventListener("click", () => (choose(-1), $("graph").focus()));
  const focusing = make("button", { type: "button", id: "focus" }, "Focus neighbourhood");
  focusing.addEventListener("click", () => focusOn(node, focus && focus.node === node ? focus.depth : 1));
  const centring = make("button", { type: "button" }, "Centre");
  centring.addEventListener("click", () => stage.centre(node));
  const chips = [[type === "note" ? names.fmTypes[nodes.fmType[node]] : oneOf(node)], [names.statuses[nodes.status[node]]]]
    .filter(([word]) => word).map(([word]) => make("span", { class: "chip" }, word));
  for (const [bit, name, about] of PROBLEMS) if (nodes.flags[node] & bit) chips.push(make("span", { class: "chip bad", title: about }, name));
  const parts = [
    make("div", { class: "head" }, make("h2", {}, nodes.label[node] || "(no title)"), close),
    ...(nodes.file[node] ? [make("p", { class: "path" }, nodes.file[node])] : []),
    make("div", { class: "chips" }, ...chips),
    make("div", { class: "actions" }, focusing, centring),
  ];
  if (nodes.fault[node]) parts.push(make("p", {}, FAULT_WORDS[nodes.fault[node]] || nodes.fault[node]));
  if (nodes.excerpt[node]) parts.push(make("h3", {}, "Text"), make("p", { class: "excerpt" }, nodes.excerpt[node]));
  if (nodes.tags[node].length) {
    parts.push(make("h3", {}, "Tags"), make("div", { class: "chips" }, ...nodes.tags[node].map((tag) => {
      const button = make("button", { type: "button", class: "chip", title: "Only notes with this tag" }, "#" + names.tags[tag]);
      button.addEventListener("click", () => {
        wanted.tags = new Set([tag]);
        buildFilters();
        apply(true);
      });
      return button;
    })));
  }
  const properties = nodes.properties[node] || [];
  if (properties.length) parts.push(make("h3", {}, "Properties"), make("dl", {}, ...properties.flatMap(([name, value]) => [make("dt", {}, name), make("dd", {}, value)])));
  for (const [title, isOut] of [["Links to", true], ["Linked from", false]]) {
    const list = listed(node).filter((one) => one[2] === isOut)
      .sort((a, b) => model.kind[a[0]] - model.kind[b[0]] || nodes.label[a[1]].localeCompare(nodes.label[b[1]]));
    if (!list.length) continue;
    parts.push(make("h3", {}, `${title} (${NUMBER.format(list.length)})`), make("ul", { class: "links" }, ...list.slice(0, 200).map(([link, other]) => {
      const kind = names.kinds[model.kind[link]];
      const button = make("button", { type: "button" }, mark("swatch", colourOf(words[model.colour[other]])), make("span", {}, nodes.label[other] || "(no title)"), make("small", {}, KIND_WORDS[kind] || kind));
      button.title = nodes.file[other] || nodes.label[other];
      button.addEventListener("click", () => (choose(other), panel.focus()));
      return make("li", {}, button);
    })));
    if (list.length > 200) parts.push(make("p", { class: "more" }, `and ${NUMBER.format(list.length - 200)} more`));
  }
  panel.replaceChildren(...parts);
  panel.scrollTop = 0;
}
