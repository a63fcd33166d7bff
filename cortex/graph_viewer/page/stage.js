"use strict";
// The canvas. A worker draws links and nodes on a picture somewhat larger than the window; a frame
// moves the last picture to where it belongs and draws names and what is chosen on top of it.

const MARGIN = 0.25; // of the window's size, on each side
const REST_MS = 140; // without a worker a picture is drawn when the view has rested so long

/** room: says how far from each edge of the canvas other things lie on it, in pixels. */
function makeStage(canvas, model, painterSource, room) {
  const context = canvas.getContext("2d");
  const labels = makeLabels(model);
  const tree = d3.quadtree(
    Array.from({ length: model.count }, (_, node) => node),
    (node) => model.x[node],
    (node) => model.y[node],
  );
  const arrays = { x: model.x, y: model.y, radius: model.radius, from: model.from, to: model.to, kind: model.kind };
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
  let shown = { nodes: new Uint8Array(model.count), links: new Uint8Array(model.from.length) };
  let look = null;
  let camera = d3.zoomIdentity;
  let size = { width: 1, height: 1, ratio: 1 };
  let picture = null; // {view, bitmap}
  let named = [];
  let namedFor = null; // the camera and the contents that `named` was chosen for
  let marks = { selected: -1, hovered: -1, matches: [] };
  let isDrawing = false; // the worker is at it
  let isStale = true; // something changed since the last drawing began
  let isDue = false; // a frame is asked for
  let drawn = 0; // pictures so far
  let movedAt = -Infinity; // when the view last moved
  let fitted = null; // the nodes that the view was fitted to, until it is moved
  let worker = null;
  let local = null;

  function start() {
    if (typeof Worker === "function" && typeof OffscreenCanvas === "function") {
      const url = URL.createObjectURL(new Blob([painterSource], { type: "text/javascript" }));
      try {
        worker = new Worker(url);
        worker.onmessage = ({ data }) => arrived(data);
        worker.onerror = () => useLocal();
        worker.postMessage({ load: arrays });
      } catch {
        worker = null;
      }
    }
    if (!worker) useLocal();
  }

  function useLocal() {
    worker = null;
    local = makePainter();
    local.load(arrays);
    local.show(shown);
    isDrawing = false;
    isStale = true;
    ask();
  }

  function arrived(result) {
    if (picture && picture.bitmap.close) picture.bitmap.close();
    picture = result;
    isDrawing = false;
    drawn++;
    ask();
  }

  const view = () => ({ ...size, scale: camera.k, x: camera.x, y: camera.y });

  function wide() {
    const left = size.width * MARGIN;
    const top = size.height * MARGIN;
    return {
      width: size.width + 2 * left, height: size.height + 2 * top, ratio: size.ratio,
      scale: camera.k, x: camera.x + left, y: camera.y + top, camera: [camera.k, camera.x, camera.y],
    };
  }

  function isOff() {
    if (!picture) return true;
    const [scale, x, y] = picture.view.camera;
    return scale !== camera.k || x !== camera.x || y !== camera.y;
  }

  function redraw() {
    if (isDrawing || !look || !(isStale || isOff())) return;
    isStale = false;
    isDrawing = true;
    if (worker) {
      worker.postMessage({ view: wide(), look });
      return;
    }
    const rest = movedAt + REST_MS - performance.now();
    if (picture && rest > 0) {
      isDrawing = false;
      isStale = true;
      setTimeout(ask, rest);
      return;
    }
    const at = wide();
    const own = document.createElement("canvas");
    own.width = Math.round(at.width * at.ratio);
    own.height = Math.round(at.height * at.ratio);
    local.paint(own.getContext("2d"), at, look);
    arrived({ view: at, bitmap: own });
  }

  function ask() {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      redraw();
      frame();
    });
  }

  function frame() {
    if (!look) return;
    context.setTransform(size.ratio, 0, 0, size.ratio, 0, 0);
    context.fillStyle = look.background;
    context.fillRect(0, 0, size.width, size.height);
    const isLit = marks.hovered >= 0 || marks.selected >= 0;
    if (picture) {
      const last = picture.view;
      const grow = camera.k / last.scale;
      context.globalAlpha = isLit ? look.dimmed : 1;
      // The corner of the picture is the map's point -last.x / last.scale.
      context.drawImage(
        picture.bitmap,
        camera.x - last.x * grow, camera.y - last.y * grow, last.width * grow, last.height * grow,
      );
      context.globalAlpha = 1;
    }
    const at = view();
    const lit = isLit ? light(at) : [];
    drawMatches(at);
    const key = [camera.k.toFixed(4), Math.round(camera.x / 60), Math.round(camera.y / 60), marks.hovered, marks.selected].join();
    if (key !== namedFor) {
      named = labels.choose(at, shown.nodes, lit, look);
      namedFor = key;
    }
    if (isLit) {
      const apart = new Set(lit);
      context.globalAlpha = 0.25;
      labels.draw(context, at, named.filter(([node]) => !apart.has(node)), look);
      context.globalAlpha = 1;
      labels.draw(context, at, named.filter(([node]) => apart.has(node)), look);
    } else {
      labels.draw(context, at, named, look);
    }
  }

  /** Draw what is chosen, or under the pointer, with its neighbours; returns those to name first. */
  function light(at) {
    const centres = [...new Set([marks.hovered, marks.selected])].filter((node) => node >= 0);
    const lit = new Set(centres);
    const point = (node) => [model.x[node] * at.scale + at.x, model.y[node] * at.scale + at.y];
    context.lineWidth = 1.6;
    for (const centre of centres) {
      const [x, y] = point(centre);
      for (const [link, other] of linksOf(model, centre)) {
        if (!shown.links[link]) continue;
        lit.add(other);
        const style = look.kinds[model.kind[link]];
        context.globalAlpha = 0.9;
        context.strokeStyle = style.colour;
        context.setLineDash(style.dash);
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(...point(other));
        context.stroke();
      }
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
    for (const node of [...lit].reverse()) {
      if (!shown.nodes[node]) continue;
      const [x, y] = point(node);
      const radius = drawnRadius(model.radius[node], at.scale);
      context.fillStyle = look.palette[shown.colour[node]];
      context.strokeStyle = look.background;
      context.lineWidth = 1.2;
      disc(x, y, Math.max(2.5, radius));
      context.fill();
      context.stroke();
      if (node === marks.selected) {
        context.strokeStyle = look.accent;
        context.lineWidth = 2.5;
        disc(x, y, Math.max(2.5, radius) + 4);
        context.stroke();
      }
    }
    return [...lit].sort((a, b) => centres.includes(b) - centres.includes(a) || model.radius[b] - model.radius[a]).slice(0, 60);
  }

  function drawMatches(at) {
    context.strokeStyle = look.accent;
    context.lineWidth = 2;
    for (const node of marks.matches) {
      if (!shown.nodes[node]) continue;
      disc(model.x[node] * at.scale + at.x, model.y[node] * at.scale + at.y, drawnRadius(model.radius[node], at.scale) + 3);
      context.stroke();
    }
  }

  function disc(x, y, radius) {
    context.beginPath();
    context.arc(x, y, radius, 0, 2 * Math.PI);
  }

  /** The shown node under a point of the window, or -1. */
  function pick(px, py) {
    const [x, y] = camera.invert([px, py]);
    const reach = 26 / camera.k + 24;
    let best = -1;
    let nearest = 5; // pixels of grace around a disc
    tree.visit((cell, x0, y0, x1, y1) => {
      if (!cell.length) {
        do {
          const node = cell.data;
          if (!shown.nodes[node]) continue;
          const away = Math.hypot(model.x[node] - x, model.y[node] - y) * camera.k - drawnRadius(model.radius[node], camera.k);
          if (away < nearest) [nearest, best] = [away, node];
        } while ((cell = cell.next));
      }
      return x0 > x + reach || x1 < x - reach || y0 > y + reach || y1 < y - reach;
    });
    return best;
  }

  const zoom = d3
    .zoom()
    .scaleExtent([0.005, 12])
    .clickDistance(5)
    .on("zoom", ({ transform, sourceEvent }) => {
      camera = transform;
      if (sourceEvent) fitted = null;
      movedAt = performance.now();
      ask();
    });
  const area = d3.select(canvas);
  area.call(zoom).on("dblclick.zoom", null);

  function glide(target, duration = 450) {
    if (calm) area.call(zoom.transform, target);
    else area.transition().duration(duration).call(zoom.transform, target);
  }

  /** What of the canvas nothing lies on: its middle and its size. */
  function free() {
    const { left, top, right, bottom } = room();
    const width = Math.max(60, size.width - left - right);
    const height = Math.max(60, size.height - top - bottom);
    return { width, height, x: left + width / 2, y: top + height / 2 };
  }

  /** Bring nodes into the window: all of them, as large as goes. */
  function fit(which, instantly = false) {
    const nodes = [...which];
    refresh();
    fitted = nodes;
    let [x0, y0, x1, y1] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const node of nodes) {
      x0 = Math.min(x0, model.x[node] - model.radius[node]);
      x1 = Math.max(x1, model.x[node] + model.radius[node]);
      y0 = Math.min(y0, model.y[node] - model.radius[node]);
      y1 = Math.max(y1, model.y[node] + model.radius[node]);
    }
    if (x0 > x1) return;
    const at = free();
    const edge = Math.min(44, at.width / 10);
    const scale = Math.min(2.2, (at.width - 2 * edge) / Math.max(1, x1 - x0), (at.height - 2 * edge) / Math.max(1, y1 - y0));
    const target = d3.zoomIdentity
      .translate(at.x, at.y)
      .scale(Math.max(0.005, scale))
      .translate(-(x0 + x1) / 2, -(y0 + y1) / 2);
    if (instantly) area.call(zoom.transform, target);
    else glide(target);
  }

  function centre(node, least = 1) {
    fitted = null;
    refresh();
    const at = free();
    const scale = Math.max(camera.k, least);
    glide(d3.zoomIdentity.translate(at.x, at.y).scale(scale).translate(-model.x[node], -model.y[node]));
  }

  /** Move the view just so far that a node is not under what lies on the canvas. */
  function reveal(node) {
    fitted = null;
    refresh();
    const at = free();
    const [x, y] = camera.apply([model.x[node], model.y[node]]);
    const inside = (value, middle, length) => Math.max(middle - length / 2, Math.min(middle + length / 2, value));
    const dx = inside(x, at.x, at.width - 50) - x;
    const dy = inside(y, at.y, at.height - 50) - y;
    if (dx || dy) glide(d3.zoomIdentity.translate(camera.x + dx, camera.y + dy).scale(camera.k));
  }

  /** Take note of the canvas's size, which may have changed a moment ago. */
  function refresh() {
    const box = canvas.getBoundingClientRect();
    if (box.width !== size.width || box.height !== size.height) measure();
  }

  function measure() {
    const box = canvas.getBoundingClientRect();
    size = { width: Math.max(1, box.width), height: Math.max(1, box.height), ratio: Math.min(2, window.devicePixelRatio || 1) };
    canvas.width = Math.round(size.width * size.ratio);
    canvas.height = Math.round(size.height * size.ratio);
    labels.forget();
    namedFor = null;
    isStale = true;
    if (fitted) fit(fitted, true);
    frame(); // at once: setting its size has blanked the canvas
    ask();
  }

  new ResizeObserver(refresh).observe(canvas);
  measure();
  start();

  return {
    pick,
    fit,
    centre,
    reveal,
    pan(dx, dy) {
      fitted = null;
      area.call(zoom.translateBy, dx / camera.k, dy / camera.k);
    },
    zoomBy(factor) {
      fitted = null;
      (calm ? area : area.transition().duration(180)).call(zoom.scaleBy, factor);
    },
    /** The names that are drawn: [node, left, top, width, height], in pixels of the canvas. */
    names() {
      return named.map(([node, right, down]) => {
        const [x, y] = camera.apply([model.x[node], model.y[node]]);
        return [node, x + right, y + down, ...labels.sizeOf(node, look)];
      });
    },
    place: (node) => camera.apply([model.x[node], model.y[node]]),
    show(value) {
      shown = value;
      namedFor = null;
      isStale = true;
      if (worker) worker.postMessage({ show: value });
      else if (local) local.show(value);
      ask();
    },
    mark(value) {
      marks = { ...marks, ...value };
      ask();
    },
    dress(value) {
      look = value;
      labels.forget();
      isStale = true;
      namedFor = null;
      ask();
    },
    get state() {
      return { scale: camera.k, x: camera.x, y: camera.y, drawn, busy: isDrawing || isStale || isOff(), worker: !!worker, named: named.length };
    },
  };
}
