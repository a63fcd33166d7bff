"use strict";
// The filters beside the graph.

function section(title, open, ...rows) {
  return make("details", { open }, make("summary", {}, title), make("div", { class: "rows", role: "group", "aria-label": title }, ...rows));
}

function row(name, many, isOn, change, sign) {
  const box = make("input", { type: "checkbox", checked: isOn });
  box.addEventListener("change", () => {
    change(box.checked);
    apply();
  });
  return make("label", { class: "row", title: name }, box, ...(sign ? [sign] : []), make("span", { class: "name" }, name), make("span", { class: "many" }, many === null ? "" : NUMBER.format(many)));
}

const toggler = (set, value, whenOn) => (isOn) => (isOn === whenOn ? set.add(value) : set.delete(value));

function tally(values) {
  const many = new Map();
  for (const value of values) many.set(value, (many.get(value) || 0) + 1);
  return [...many].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
}

function buildFilters() {
  const { nodes, names } = model;
  const open = new Map([...$("filters").querySelectorAll("details")].map((one) => [one.querySelector("summary").textContent, one.open]));
  const isOpen = (title, usual) => (open.has(title) ? open.get(title) : usual);
  const isNote = names.types.indexOf("note");
  const notes = [];
  for (let node = 0; node < model.count; node++) if (nodes.type[node] === isNote) notes.push(node);
  const swatch = (kind, word) => (by === kind ? mark("swatch", colourOf(word)) : null);
  const parts = [];
  const colouring = make("select", { "aria-label": "Colour by" });
  for (const [value, text] of [["type", "type"], ["status", "status"], ["folder", "folder"], ["group", "group"]]) colouring.append(make("option", { value, selected: value === by }, text));
  colouring.addEventListener("change", () => {
    by = colouring.value;
    count();
    buildFilters();
    dress();
    apply();
    $("filters").querySelector("select").focus();
  });
  parts.push(make("label", { class: "pick" }, "Colour by", colouring));
  const offs = (title, key, words, usual) => {
    if (words.length < 2 && !(words.length && words[0][0] !== NONE)) return;
    const kind = { Type: "type", Status: "status", Folder: "folder" }[title];
    parts.push(section(title, isOpen(title, usual), ...words.slice(0, MOST_ROWS).map(([word, many]) => row(word, many, !wanted[key].has(word), toggler(wanted[key], word, false), swatch(kind, word)))));
  };
  offs("Type", "offFmTypes", tally(notes.map((node) => names.fmTypes[nodes.fmType[node]] || NONE)), true);
  offs("Status", "offStatuses", tally(notes.map((node) => names.statuses[nodes.status[node]] || NONE)), true);
  parts.push(tagSection(notes, isOpen("Tags", true)));
  offs("Folder", "offFolders", tally(notes.map((node) => model.folders[node])), false);
  const kinds = tally(model.kind);
  parts.push(section("Links", isOpen("Links", true), ...kinds.map(([kind, many]) => row(KIND_WORDS[names.kinds[kind]] || names.kinds[kind], many, wanted.kinds.has(kind), toggler(wanted.kinds, kind, true), mark("dash", kindColour(names.kinds[kind]), KINDS[names.kinds[kind]]?.[5].length)))));
  const types = tally(Array.from(nodes.type, (type) => names.types[type])).filter(([type]) => type !== "note");
  if (types.length) parts.push(section("Also show", isOpen("Also show", true), ...types.map(([type, many]) => row(TYPE_WORDS[type] || type, many, !wanted.offTypes.has(type), toggler(wanted.offTypes, type, false), mark("swatch", colourOf(type))))));
  const problems = PROBLEMS.map(([bit, name, about]) => [bit, name, about, notes.filter((node) => nodes.flags[node] & bit).length]);
  const marking = row("Mark in the graph", null, isMarking, (isOn) => (isMarking = isOn));
  parts.push(section("Problems", isOpen("Problems", true), marking, make("p", { class: "more" }, "Only notes with:"), ...problems.map(([bit, name, about, many]) => {
    const one = row(name, many, (wanted.problems & bit) !== 0, (isOn) => (wanted.problems = isOn ? wanted.problems | bit : wanted.problems & ~bit));
    one.title = about;
    return one;
  })));
  $("filters").replaceChildren(...parts.filter(Boolean));
}

function tagSection(notes, isOpen) {
  const { nodes, names } = model;
  const tags = tally(notes.flatMap((node) => nodes.tags[node]));
  if (!tags.length) return null;
  const list = make("div", {});
  const narrow = make("input", { class: "narrow", type: "search", placeholder: `Filter ${NUMBER.format(tags.length)} tags`, "aria-label": "Filter the list of tags" });
  const fill = () => {
    const asked = fold(narrow.value);
    const fitting = tags.filter(([tag]) => wanted.tags.has(tag) || fold(names.tags[tag]).includes(asked));
    fitting.sort((a, b) => wanted.tags.has(b[0]) - wanted.tags.has(a[0]));
    const least = asked ? 40 : 8;
    list.replaceChildren(...fitting.slice(0, least).map(([tag, many]) => row("#" + names.tags[tag], many, wanted.tags.has(tag), toggler(wanted.tags, tag, true))));
    if (fitting.length > least) list.append(make("p", { class: "more" }, `and ${NUMBER.format(fitting.length - least)} more; type to find one`));
  };
  narrow.addEventListener("input", fill);
  fill();
  return section("Tags", isOpen, narrow, list);
}
