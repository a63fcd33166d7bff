"use strict";
// The page around the canvas: its state, and what of the graph is shown. Text out of notes becomes
// textContent and nothing else.

const $ = (id) => document.getElementById(id);
const model = readModel($("data").textContent);
const NUMBER = new Intl.NumberFormat("en");

let wanted = null;
let by = "type";
let isMarking = model.diagnostics;
let focus = null; // {node, depth}
let selected = -1;
let hovered = -1;
let isForced = false; // whether the chosen node is shown against the filters
let shown = null;
let words = []; // of the colours, most frequent first
let theme = "light";

const stage = makeStage($("graph"), model, $("painter").textContent, coveredRoom);

/** How much of the canvas's edges is under the legend, the tools, the details: {left, top, ...}. */
function coveredRoom() {
  const whole = $("graph").getBoundingClientRect();
  const boxOf = (id) => {
    const box = $(id).getBoundingClientRect();
    return box.width && box.left < whole.right && box.right > whole.left ? box : null;
  };
  const room = { left: 0, top: 0, right: 0, bottom: 0 };
  const [legend, tools, details, bar] = ["legend", "tools", "details", "focusbar"].map(boxOf);
  if (legend && $("legend").open && legend.width < whole.width / 3) room.left = legend.right - whole.left;
  if (tools) room.right = whole.right - tools.left;
  if (bar) room.top = bar.bottom - whole.top;
  if (details && details.width > whole.width * 0.9) room.bottom = whole.bottom - details.top;
  else if (details) room.right = Math.max(room.right, whole.right - details.left);
  return room;
}

function firstFilters() {
  const kinds = new Set();
  model.names.kinds.forEach((kind, index) => {
    if (kind !== "mentions" || model.mentions) kinds.add(index);
  });
  const offTypes = new Set(["tag", "heading", "block", "attachment"]);
  if (!model.diagnostics) offTypes.add("diagnostic");
  return { offTypes, offFmTypes: new Set(), offStatuses: new Set(), offFolders: new Set(), tags: new Set(), problems: 0, kinds };
}

function dress() {
  document.documentElement.dataset.theme = theme;
  const isDark = theme === "dark";
  const style = getComputedStyle(document.documentElement);
  const value = (name) => style.getPropertyValue(name).trim();
  stage.dress({
    background: value("--paper"), ink: value("--ink"), accent: value("--accent"), font: value("--font"),
    dimmed: isDark ? 0.22 : 0.25,
    palette: words.map((word) => colourOf(word)),
    rings: isDark ? RING_DARK : RING_LIGHT,
    kinds: model.names.kinds.map((kind) => {
      const [light, dark, width, alpha, least, dash, arrow] = KINDS[kind] || KINDS.related;
      return { colour: isDark ? dark : light, width, alpha, least, dash, arrow };
    }),
  });
}

function colourOf(word) {
  if (FIXED[word] && word in TYPE_WORDS) return FIXED[word][theme === "dark" ? 1 : 0];
  const at = ranked.indexOf(word);
  return at < 0 || at >= PALETTES[theme].length ? OTHERS[theme] : PALETTES[theme][at];
}

let ranked = []; // words of notes that have a colour of their own
function count() {
  const many = new Map();
  for (let node = 0; node < model.count; node++) {
    const word = wordOf(model, by, node);
    many.set(word, (many.get(word) || 0) + 1);
  }
  words = [...many.keys()].sort((a, b) => many.get(b) - many.get(a) || (a < b ? -1 : 1));
  ranked = words.filter((word) => word !== NONE && !(word in TYPE_WORDS && word !== "note"));
  const index = new Map(words.map((word, at) => [word, at]));
  model.colour = Uint8Array.from({ length: model.count }, (_, node) => Math.min(255, index.get(wordOf(model, by, node))));
}

function ringOf(node) {
  const flags = model.nodes.flags[node];
  return flags & 4 || flags & 8 ? 1 : flags & 2 ? 2 : flags & 1 ? 3 : 0;
}

function apply(refit = false) {
  const pass = passing(model, wanted, focus, selected);
  isForced = pass.isForced;
  const ring = new Uint8Array(model.count);
  if (isMarking) for (let node = 0; node < model.count; node++) ring[node] = ringOf(node);
  const isNote = model.names.types.indexOf("note");
  let notes = 0, others = 0, links = 0;
  pass.nodes.forEach((one, node) => one && (model.nodes.type[node] === isNote ? notes++ : others++));
  pass.links.forEach((one, link) => one && isLink(link) && links++);
  shown = { ...pass, colour: model.colour, ring, many: notes + others };
  stage.show(shown);
  const parts = [`${NUMBER.format(notes)} of ${NUMBER.format(model.notes)} notes`, `${NUMBER.format(links)} links`];
  if (others) parts.splice(1, 0, `${NUMBER.format(others)} ${wordFor(others, pass.nodes)}`);
  $("counts").textContent = parts.join(" · ");
  drawLegend();
  if (refit) stage.fit(visible());
}

/** Whether it joins notes, or what else is no tag: what "links" counts, here and in the command. */
function isLink(link) {
  const kind = model.names.kinds[model.kind[link]];
  return kind !== "tagged_with" && kind !== "contains" && !kind.startsWith("diagnostic_");
}

/** What the shown nodes are that are no notes: `tags`, or `others` where they are of several types. */
function wordFor(many, nodes) {
  const types = new Set();
  nodes.forEach((one, node) => one && types.add(model.names.types[model.nodes.type[node]]));
  types.delete("note");
  const word = types.size === 1 ? TYPE_WORDS[[...types][0]] : "others";
  return many === 1 ? word.replace(/s$/, "") : word;
}

function* visible() {
  for (let node = 0; node < model.count; node++) if (shown.nodes[node]) yield node;
}

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "class") element.className = value;
    else if (name.startsWith("aria-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children);
  return element;
}

function mark(kind, colour, dash) {
  const element = make("span", { class: kind });
  element.setAttribute("aria-hidden", "true");
  if (kind === "swatch") element.style.background = colour;
  else element.style.borderColor = colour;
  if (dash) element.style.borderTopStyle = "dashed";
  return element;
}

function drawLegend() {
  const rows = $("legendrows");
  rows.replaceChildren();
  const seen = new Map();
  for (const node of visible()) seen.set(words[shown.colour[node]], (seen.get(words[shown.colour[node]]) || 0) + 1);
  const heading = { type: "Notes by type", status: "Notes by status", folder: "Notes by folder", group: "Notes around" }[by];
  rows.append(make("h3", {}, heading));
  const present = words.filter((one) => seen.has(one));
  const own = present.filter((one) => colourOf(one) !== OTHERS[theme]);
  const rest = present.filter((one) => colourOf(one) === OTHERS[theme]);
  if (rest.length > 1) {
    seen.set(REST, rest.reduce((sum, one) => sum + seen.get(one), 0));
    own.push(REST);
  } else own.push(...rest);
  for (const word of own) {
    rows.append(make("div", { class: "row" }, mark("swatch", colourOf(word)), make("span", { class: "name" }, TYPE_WORDS[word] && word !== "note" ? TYPE_WORDS[word] : word), make("span", { class: "many" }, NUMBER.format(seen.get(word)))));
  }
  const kinds = new Map();
  shown.links.forEach((one, link) => one && kinds.set(model.kind[link], (kinds.get(model.kind[link]) || 0) + 1));
  if (kinds.size) rows.append(make("h3", {}, "Links"));
  for (const [kind, many] of [...kinds].sort((a, b) => b[1] - a[1])) {
    const name = model.names.kinds[kind];
    rows.append(make("div", { class: "row" }, mark("dash", kindColour(name), KINDS[name]?.[5].length), make("span", { class: "name" }, KIND_WORDS[name] || name), make("span", { class: "many" }, NUMBER.format(many))));
  }
  if (isMarking) {
    const rings = theme === "dark" ? RING_DARK : RING_LIGHT;
    rows.append(make("h3", {}, "Problems"));
    for (const [ring, name] of [[1, "broken links, contradiction"], [2, "stale"], [3, "orphan"]]) {
      rows.append(make("div", { class: "row" }, mark("ring", rings[ring]), make("span", { class: "name" }, name)));
    }
  }
}

const REST = "all others"; // in the legend: what has no colour of its own

const kindColour = (kind) => (KINDS[kind] || KINDS.related)[theme === "dark" ? 1 : 0];
