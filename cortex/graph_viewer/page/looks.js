"use strict";
// Colours, strokes and words for what is drawn.

const PALETTES = {
  light: ["#3b6fd4", "#d9822b", "#2f9e6e", "#b5489b", "#c9a20e", "#6a5acd", "#2a9db5", "#c2554d", "#7d8b2f", "#8a6244", "#5f7f9f", "#a05fb5"],
  dark: ["#7ea6ff", "#f2a65a", "#63cf9f", "#e58bd0", "#ead25e", "#a99bff", "#67d0e6", "#f28b82", "#b9c963", "#c99d7c", "#9fb9d3", "#cfa0e0"],
};
const OTHERS = { light: "#9aa1ab", dark: "#6f7885" };
const FIXED = { tag: ["#8fa38f", "#7f967f"], heading: ["#b4b8bf", "#59616d"], block: ["#b4b8bf", "#59616d"], attachment: ["#b39b7d", "#9a8568"], diagnostic: ["#d03838", "#ff6b63"] };
const KINDS = {
  // light, dark, width, alpha, least alpha, dashes, arrow
  links_to: ["#5d6f8c", "#8fa3c4", 1, 0.5, 0.09, [], true],
  embeds: ["#2a9db5", "#67d0e6", 1, 0.6, 0.14, [], true],
  derived_from: ["#b98a1e", "#e5c15a", 1.2, 0.7, 0.2, [], true],
  supports: ["#2f9e6e", "#63cf9f", 1.2, 0.7, 0.2, [], true],
  contradicts: ["#d03838", "#ff7d76", 1.6, 0.9, 0.5, [], true],
  supersedes: ["#8a50c7", "#c39bff", 1.4, 0.8, 0.3, [], true],
  superseded_by: ["#8a50c7", "#c39bff", 1.4, 0.8, 0.3, [4, 3], true],
  related: ["#3b6fd4", "#7ea6ff", 1.1, 0.6, 0.15, [], false],
  mentions: ["#8a8f99", "#79828f", 0.8, 0.35, 0.06, [2, 3], true],
  tagged_with: ["#8fa38f", "#5d705d", 0.8, 0.35, 0.06, [], false],
  contains: ["#b4b8bf", "#4b535f", 0.8, 0.4, 0.08, [], false],
  diagnostic_unresolved: ["#d03838", "#ff6b63", 1.1, 0.6, 0.2, [5, 4], true],
  diagnostic_ambiguous: ["#d9822b", "#f2a65a", 1.1, 0.7, 0.2, [5, 4], true],
  diagnostic_candidate: ["#d9822b", "#f2a65a", 1, 0.5, 0.2, [2, 3], true],
};
const KIND_WORDS = {
  links_to: "links", embeds: "embeds", derived_from: "derived from", supports: "supports", contradicts: "contradicts",
  supersedes: "supersedes", superseded_by: "superseded by", related: "related", mentions: "mentions (implied)",
  tagged_with: "tagged", contains: "contains", diagnostic_unresolved: "leads nowhere", diagnostic_ambiguous: "ambiguous",
  diagnostic_candidate: "could be meant",
};
const TYPE_WORDS = { note: "notes", tag: "tags", heading: "headings", block: "blocks", attachment: "attachments", diagnostic: "missing targets" };
/** What a node is, in a word: `tag`, `missing target`. */
const oneOf = (node) => TYPE_WORDS[model.names.types[model.nodes.type[node]]].replace(/s$/, "");
const FAULT_WORDS = {
  unresolved: "There is no note of this name.", ambiguous: "More than one note could be meant.",
  missing_heading: "The note has no such heading.", missing_block: "The note has no such block.", missing_attachment: "There is no such file.",
};
const RING_LIGHT = ["", "#d03838", "#d9822b", "#8a8f99"];
const RING_DARK = ["", "#ff6b63", "#f2a65a", "#99a1ae"];
const MOST_ROWS = 60;
