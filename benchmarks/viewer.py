"""How smooth the graph viewer is: `python benchmarks/viewer.py [NODES ...]` (1000 5000 10000).

For each size a graph of groups with three links a node is laid out, its page written and opened in
headless Chromium (CHROMIUM names another than /usr/bin/chromium). A frame is the time between two
animation frames while every one of them moves the map: a drag of 120 steps, then 60 steps of the
wheel. Without a GPU, as in CI.
"""

from __future__ import annotations

import os
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from cortex.graph_viewer import drawing_source, page, page_data

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run")
MOVE = """(how) => new Promise((done) => {
  const canvas = document.getElementById("graph");
  const times = [];
  let step = 0, last = 0;
  const at = () => ({
    clientX: 700 + 240 * Math.sin(step / 9),
    clientY: 420 + 160 * Math.cos(step / 11),
  });
  const send = (name, where, more = {}) => {
    const options = { view: window, bubbles: true, cancelable: true, ...at(), ...more };
    where.dispatchEvent(new (name === "wheel" ? WheelEvent : MouseEvent)(name, options));
  };
  if (how === "drag") send("mousedown", canvas, { buttons: 1 });
  requestAnimationFrame(function frame(now) {
    if (step) times.push(now - last);
    last = now;
    step++;
    if (how === "drag") send("mousemove", window, { buttons: 1 });
    else send("wheel", canvas, { deltaY: step % 60 < 30 ? -40 : 40 });
    if (times.length < (how === "drag" ? 120 : 60)) return requestAnimationFrame(frame);
    if (how === "drag") send("mouseup", window);
    done(times);
  });
})"""

# From a change of theme to the first picture in it, in milliseconds.
DRAW = """new Promise((done) => {
  const began = performance.now(), before = cortexGraph.state.drawn;
  document.getElementById("theme").click();
  (function wait() {
    if (cortexGraph.state.drawn > before) done(performance.now() - began);
    else setTimeout(wait, 5);
  })();
})"""


def graph_of(count: int, seed: int = 3) -> tuple[dict, list[dict], list[dict]]:
    """A d3 document with `count` notes and 3 links each, most within groups, and its texts."""
    chance = random.Random(seed)
    groups = max(8, count // 90)
    nodes = [
        {
            "id": f"note:{at}.md",
            "label": f"Note {at} of group {at % groups}",
            "type": "note",
            "file": f"{at % 12:02}_folder/{at}.md",
            "fm_type": ("fact", "decision", "project", "person")[at % 4],
            "fm_status": ("active", "draft")[at % 7 == 0],
            "tags": [f"tag{at % 40}"],
        }
        for at in range(count)
    ]
    edges = []
    for at in range(count):
        for _ in range(3):
            inside = at % groups + groups * int(chance.random() ** 2 * (count // groups))
            other = inside if chance.random() < 0.88 else chance.randrange(count)
            edges.append(
                {"source": f"note:{at}.md", "target": f"note:{min(other, count - 1)}.md"}
                | {"type": "links_to"}
            )
    files = [node["file"] for node in nodes]
    text = "The bell was rung at dawn, and again when the tide turned. " * 12
    return (
        {"nodes": nodes, "edges": edges},
        [{"file": file, "frontmatter": {"created": "2026-01-01", "domain": "x"}} for file in files],
        [{"file": file, "text": text} for file in files],
    )


def measure(count: int) -> str:
    from playwright.sync_api import sync_playwright

    graph, notes, chunks = graph_of(count)
    began = time.process_time()
    data = page_data(graph, notes, chunks, title=f"{count} notes")
    laid_out = time.process_time() - began
    text = page(data, drawing_source())
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as driver:
        path = Path(folder) / "graph.html"
        path.write_text(text, "utf-8")
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(ARGUMENTS))
        view = browser.new_page(viewport={"width": 1400, "height": 860})
        began = time.monotonic()
        view.goto(path.as_uri())
        while not view.evaluate("cortexGraph.state.drawn"):  # the policy forbids wait_for_function
            view.wait_for_timeout(20)
        loaded = time.monotonic() - began
        columns = []
        for scale in (None, 0.6):
            if scale:
                view.evaluate("cortexGraph.choose(-1)")
                for _ in range(4):
                    view.keyboard.press("+")
                    view.wait_for_timeout(250)
            for how in ("drag", "wheel"):
                times = sorted(view.evaluate(MOVE, how))
                columns.append(
                    f"{statistics.median(times):5.1f} {times[int(0.95 * len(times))]:6.1f}"
                )
        picture = view.evaluate(DRAW)
        browser.close()
    size = len(text.encode("utf-8")) / 1e6
    return (
        f"{count:>6} {len(graph['edges']):>6} {laid_out:>8.1f} {size:>6.1f} {loaded:>7.2f} "
        f"{picture:>8.0f}   " + "   ".join(columns)
    )


if __name__ == "__main__":
    heads = "drag: median, 95 %; wheel; the same two nearer (milliseconds)"
    print(f" nodes  links  layout s     MB  load s  drawn ms   {heads}")
    for wanted in map(int, sys.argv[1:] or ("1000", "5000", "10000")):
        print(measure(wanted), flush=True)
