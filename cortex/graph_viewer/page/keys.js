"use strict";
// What the pointer and the keys do.

const canvas = $("graph");
canvas.addEventListener("pointermove", (event) => {
  if (event.buttons) return;
  const node = stage.pick(event.offsetX, event.offsetY);
  canvas.classList.toggle("over", node >= 0);
  if (node !== hovered) {
    hovered = node;
    stage.mark({ hovered: node });
  }
  $("tip").hidden = node < 0 || node === selected;
  if (node >= 0) {
    $("tip").replaceChildren(model.nodes.label[node].slice(0, 200) || "(no title)", make("small", {}, model.nodes.file[node] || oneOf(node)));
    const left = Math.min(event.offsetX + 14, canvas.clientWidth - 330);
    $("tip").style.left = `${Math.max(4, left)}px`;
    $("tip").style.top = `${event.offsetY + 16}px`;
  }
});
canvas.addEventListener("pointerleave", () => {
  hovered = -1;
  $("tip").hidden = true;
  stage.mark({ hovered: -1 });
});
canvas.addEventListener("click", (event) => {
  const node = stage.pick(event.offsetX, event.offsetY);
  if (node !== selected) choose(node, { glide: false });
});
canvas.addEventListener("dblclick", (event) => {
  const node = stage.pick(event.offsetX, event.offsetY);
  if (node >= 0) focusOn(node);
});

// Keys

const KEYS = [
  ["/", "search"], ["↑ ↓ Enter", "in the search: choose a note"], ["← ↑ → ↓", "to the nearest linked note that way; with none chosen, move the view"],
  ["Shift + arrows", "move the view"], ["+ −", "zoom"], ["F", "fit all in the window"], ["N", "focus the neighbourhood of the chosen note"],
  ["1 2 3", "steps of the neighbourhood"], ["D", "mark problems"], ["T", "dark or light"], ["S", "search and filters on or off"], ["Tab", "next control"], ["Esc", "back: search, neighbourhood, chosen note"],
];
for (const [key, does] of KEYS) $("keylist").append(make("dt", {}, make("kbd", {}, key)), make("dd", {}, does));

const WAYS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

function step([dx, dy]) {
  let best = -1;
  let nearest = Infinity;
  const look = (other) => {
    if (other === selected || !shown.nodes[other]) return;
    const x = model.x[other] - model.x[selected];
    const y = model.y[other] - model.y[selected];
    const along = x * dx + y * dy;
    const aside = Math.abs(x * dy - y * dx);
    const cost = along > 0 ? along + 2.5 * aside : Infinity;
    if (cost < nearest) [nearest, best] = [cost, other];
  };
  for (const [link, other] of linksOf(model, selected)) if (shown.links[link]) look(other);
  if (best < 0) for (const node of visible()) look(node);
  if (best >= 0) choose(best);
}

function back() {
  if ($("search").value) clearSearch();
  else if (focus) focusOn(-1);
  else if (selected >= 0) choose(-1);
}

function switchTheme() {
  theme = theme === "dark" ? "light" : "dark";
  try {
    localStorage.setItem("cortex-theme", theme);
  } catch {
    // A page of file:// may have no storage.
  }
  dress();
  buildFilters();
  apply();
  showDetails();
}

function switchSide() {
  const isClosed = $("app").classList.toggle("closed");
  $("toggle").setAttribute("aria-pressed", String(!isClosed));
}

function switchMarks() {
  isMarking = !isMarking;
  buildFilters();
  apply();
}

document.addEventListener("keydown", (event) => {
  const isTyping = event.target.closest("input[type=search], select, dialog");
  if (event.ctrlKey || event.metaKey || event.altKey || (isTyping && event.key !== "Escape")) return;
  if (event.target.closest("dialog")) return;
  const onGraph = event.target === canvas || event.target === document.body;
  const way = WAYS[event.key];
  const key = event.key.toLowerCase(); // F with Caps Lock is F all the same
  if (way && onGraph) {
    if (event.shiftKey || selected < 0) stage.pan(-way[0] * 80, -way[1] * 80);
    else step(way);
  } else if (event.key === "/") {
    $("app").classList.remove("closed");
    $("search").focus();
    $("search").select();
  } else if (event.key === "Escape") back();
  else if (event.key === "+" || event.key === "=") stage.zoomBy(1.4);
  else if (event.key === "-") stage.zoomBy(1 / 1.4);
  else if (key === "f" || key === "0") stage.fit(visible());
  else if (key === "n" && selected >= 0) focusOn(selected);
  else if ("123".includes(event.key) && focus) focusOn(focus.node, Number(event.key));
  else if (key === "d") switchMarks();
  else if (key === "t") switchTheme();
  else if (key === "s") switchSide();
  else if (event.key === "?") $("help").showModal();
  else return;
  event.preventDefault();
});

$("in").addEventListener("click", () => stage.zoomBy(1.4));
$("out").addEventListener("click", () => stage.zoomBy(1 / 1.4));
$("fit").addEventListener("click", () => stage.fit(visible()));
$("theme").addEventListener("click", switchTheme);
$("toggle").addEventListener("click", switchSide);
$("keys").addEventListener("click", () => $("help").showModal());
$("unfocus").addEventListener("click", () => focusOn(-1));
$("reset").addEventListener("click", () => {
  wanted = firstFilters();
  focus = null;
  clearSearch();
  drawFocus();
  buildFilters();
  apply(true);
});
