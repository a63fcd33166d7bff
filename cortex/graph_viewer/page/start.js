"use strict";
// The page as it opens.

try {
  theme = localStorage.getItem("cortex-theme") || "";
} catch {
  theme = "";
}
const prefers = window.matchMedia("(prefers-color-scheme: dark)");
if (theme !== "light" && theme !== "dark") {
  theme = prefers.matches ? "dark" : "light";
  prefers.addEventListener("change", ({ matches }) => {
    theme = matches ? "dark" : "light";
    dress();
    buildFilters();
    apply();
  });
}
$("title").textContent = model.title;
wanted = firstFilters();
by = bestColours(model);
const narrow = window.matchMedia("(max-width: 900px)");
if (narrow.matches) switchSide();
narrow.addEventListener("change", ({ matches }) => matches !== $("app").classList.contains("closed") && switchSide());
count();
buildFilters();
dress();
apply();
stage.fit(visible(), true);
if (model.centre !== null) choose(model.centre);

// For whoever tests or scripts the page.
window.cortexGraph = {
  model, choose, focusOn, find: (query) => find(model, query),
  get state() {
    return { ...stage.state, selected, focus, theme, notes: [...visible()].filter((node) => model.names.types[model.nodes.type[node]] === "note").length, links: shown.links.reduce((sum, one) => sum + one, 0) };
  },
  place: (node) => stage.place(node),
  names: () => stage.names(),
};
