"use strict";
// What the page knows of the graph: the embedded document, who links to whom, and what is shown.

const PROBLEMS = [
  // bit, name, what it means
  [1, "orphan", "no written link joins it to another note"],
  [2, "stale", "not looked at for long"],
  [4, "contradiction", "says it contradicts a note, or is contradicted"],
  [8, "broken links", "has links that lead nowhere, or to more than one note"],
  [16, "no type", "its properties give no type"],
  [32, "no status", "its properties give no status"],
];
const NONE = "(none)";

function readModel(text) {
  const data = JSON.parse(text);
  const { nodes, links, names } = data;
  const count = nodes.label.length;
  const model = {
    ...data,
    count,
    x: Float32Array.from(nodes.x),
    y: Float32Array.from(nodes.y),
    radius: Float32Array.from(nodes.radius),
    from: Uint32Array.from(links.from),
    to: Uint32Array.from(links.to),
    kind: Uint8Array.from(links.kind),
    lists: null, // node -> its links, as start in `near`
    near: null,
    folded: null,
  };
  const degree = new Uint32Array(count + 1);
  for (const end of [model.from, model.to]) for (const node of end) degree[node + 1]++;
  for (let node = 0; node < count; node++) degree[node + 1] += degree[node];
  model.lists = degree;
  model.near = new Uint32Array(2 * model.from.length);
  const filled = degree.slice();
  for (let link = 0; link < model.from.length; link++) {
    model.near[filled[model.from[link]]++] = link;
    model.near[filled[model.to[link]]++] = link;
  }
  model.folders = nodes.file.map((file) => {
    const cut = file ? file.indexOf("/") : -1;
    return cut < 0 ? (file ? "(top)" : NONE) : file.slice(0, cut);
  });
  return model;
}

/** The links of a node as [link, other node, whether it leaves the node]. */
function* linksOf(model, node) {
  for (let at = model.lists[node]; at < model.lists[node + 1]; at++) {
    const link = model.near[at];
    const isOut = model.from[link] === node;
    yield [link, isOut ? model.to[link] : model.from[link], isOut];
  }
}

/** What tells the notes apart best at first: types where most have one, else folders, else groups. */
function bestColours(model) {
  const { nodes, names } = model;
  const isNote = names.types.indexOf("note");
  const notes = [];
  for (let node = 0; node < model.count; node++) if (nodes.type[node] === isNote) notes.push(node);
  for (const by of ["type", "folder"]) {
    const many = new Map();
    for (const node of notes) many.set(wordOf(model, by, node), (many.get(wordOf(model, by, node)) || 0) + 1);
    const most = Math.max(0, ...[...many].map(([, count]) => count));
    if (many.size > 1 && (many.get(NONE) || 0) < notes.length / 2 && most < notes.length * 0.9) return by;
  }
  return names.groups.length > 1 ? "group" : "type";
}

/** What distinguishes nodes by colour: node -> word. */
function wordOf(model, by, node) {
  const type = model.names.types[model.nodes.type[node]];
  if (type !== "note") return type;
  if (by === "folder") return model.folders[node];
  if (by === "group") return model.names.groups[model.nodes.group[node]] || NONE;
  if (by === "status") return model.names.statuses[model.nodes.status[node]] || NONE;
  return model.names.fmTypes[model.nodes.fmType[node]] || NONE;
}

/**
 * Which nodes and links pass the filters: {nodes, links} of 1 and 0. `wanted`: see shown.js.
 * The node `always` is among them, and isForced says whether against the filters.
 */
function passing(model, wanted, focus, always) {
  const { nodes, names } = model;
  const isNote = names.types.indexOf("note");
  const near = focus ? withinSteps(model, focus.node, focus.depth, wanted.kinds) : null;
  const shown = new Uint8Array(model.count);
  for (let node = 0; node < model.count; node++) {
    const type = nodes.type[node];
    let holds = !wanted.offTypes.has(names.types[type]);
    if (near) holds = near.has(node) && (holds || node === focus.node);
    if (holds && type === isNote) {
      holds =
        !wanted.offFmTypes.has(names.fmTypes[nodes.fmType[node]] || NONE) &&
        !wanted.offStatuses.has(names.statuses[nodes.status[node]] || NONE) &&
        !wanted.offFolders.has(model.folders[node]) &&
        (!wanted.tags.size || nodes.tags[node].some((tag) => wanted.tags.has(tag))) &&
        (!wanted.problems || (nodes.flags[node] & wanted.problems) !== 0);
    }
    if (holds) shown[node] = 1;
  }
  if (wanted.problems || wanted.tags.size) dropUnjoined(model, shown, isNote, wanted.kinds);
  const isForced = always >= 0 && !shown[always];
  if (isForced) shown[always] = 1;
  const links = new Uint8Array(model.from.length);
  for (let link = 0; link < links.length; link++) {
    links[link] =
      shown[model.from[link]] && shown[model.to[link]] && wanted.kinds.has(model.kind[link]) ? 1 : 0;
  }
  return { nodes: shown, links, isForced };
}

/** Of what is no note, leave what a shown note links to. */
function dropUnjoined(model, shown, isNote, kinds) {
  for (let node = 0; node < model.count; node++) {
    if (!shown[node] || model.nodes.type[node] === isNote) continue;
    let isJoined = false;
    for (const [link, other] of linksOf(model, node)) {
      isJoined ||= shown[other] && model.nodes.type[other] === isNote && kinds.has(model.kind[link]);
    }
    if (!isJoined) shown[node] = 0;
  }
}

function withinSteps(model, start, depth, kinds) {
  const found = new Set([start]);
  let border = [start];
  for (let step = 0; step < depth; step++) {
    const next = [];
    for (const node of border) {
      for (const [link, other] of linksOf(model, node)) {
        if (!kinds.has(model.kind[link]) || found.has(other)) continue;
        found.add(other);
        next.push(other);
      }
    }
    border = next;
  }
  return found;
}

const fold = (text) => text.normalize("NFD").replace(/\p{M}+/gu, "").toLowerCase();

/** Nodes in which all words of `query` stand: by title first, then path and tags, then text. */
function find(model, query) {
  const words = fold(query).split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  const { nodes, names } = model;
  model.folded ||= nodes.label.map((label, node) => [
    fold(label),
    fold([nodes.file[node] || "", ...nodes.tags[node].map((tag) => "#" + names.tags[tag]),
      names.types[nodes.type[node]], names.fmTypes[nodes.fmType[node]] || ""].join(" ")),
    fold(nodes.excerpt[node] || ""),
  ]);
  const found = [];
  for (let node = 0; node < model.count; node++) {
    const [label, place, text] = model.folded[node];
    let rank = 0;
    for (const word of words) {
      const at = label.indexOf(word);
      const own = at === 0 ? 0 : at > 0 ? (/[\p{L}\p{N}]/u.test(label[at - 1]) ? 2 : 1) : place.includes(word) ? 4 : text.includes(word) ? 8 : 99;
      rank = Math.max(rank, own);
    }
    if (rank < 99) found.push([rank + (label === words.join(" ") ? -1 : 0) + (names.types[nodes.type[node]] === "note" ? 0 : 3.5), node]);
  }
  found.sort((a, b) => a[0] - b[0] || model.radius[b[1]] - model.radius[a[1]] || a[1] - b[1]);
  return found.map(([, node]) => node);
}
