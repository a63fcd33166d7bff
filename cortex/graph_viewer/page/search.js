"use strict";
// Search, as one types.

let hits = [];
let current = -1;
const MOST_MATCHES = 300; // ringed in the graph

function search() {
  const query = $("search").value;
  hits = find(model, query);
  current = hits.length ? 0 : -1;
  stage.mark({ matches: query.trim() ? hits.slice(0, MOST_MATCHES) : [] });
  $("found").textContent = query.trim() ? (hits.length ? `${NUMBER.format(hits.length)} found` : "Nothing found") : "";
  const isOpen = hits.length > 0;
  $("results").hidden = !isOpen;
  $("search").setAttribute("aria-expanded", String(isOpen));
  $("results").replaceChildren(...hits.slice(0, 50).map((node, at) => {
    const item = make("li", { id: `hit-${at}`, role: "option" }, make("b", {}, model.nodes.label[node] || "(no title)"), make("small", {}, model.nodes.file[node] || oneOf(node)));
    item.addEventListener("mousedown", (event) => event.preventDefault());
    item.addEventListener("click", () => take(at));
    return item;
  }));
  point();
}

function point() {
  [...$("results").children].forEach((item, at) => {
    item.setAttribute("aria-selected", String(at === current));
    if (at === current) item.scrollIntoView({ block: "nearest" });
  });
  if (current >= 0) $("search").setAttribute("aria-activedescendant", `hit-${current}`);
  else $("search").removeAttribute("aria-activedescendant");
}

function take(at) {
  closeResults();
  stage.mark({ matches: [] });
  choose(hits[at]);
  $("graph").focus();
}

function closeResults() {
  $("results").hidden = true;
  $("search").setAttribute("aria-expanded", "false");
  $("search").removeAttribute("aria-activedescendant");
}

function clearSearch() {
  $("search").value = "";
  search();
}

$("search").addEventListener("input", search);
$("search").addEventListener("focus", () => $("search").value && search());
$("search").addEventListener("blur", closeResults);
$("search").addEventListener("keydown", (event) => {
  const most = Math.min(50, hits.length);
  if (event.key === "ArrowDown" && most) current = (current + 1) % most;
  else if (event.key === "ArrowUp" && most) current = (current + most - 1) % most;
  else if (event.key === "Enter" && current >= 0) return take(current);
  else if (event.key === "Escape") {
    event.stopPropagation();
    if ($("search").value) clearSearch();
    else $("graph").focus();
    return;
  } else return;
  event.preventDefault();
  point();
});
