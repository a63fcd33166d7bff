"use strict";
// Draws the links and nodes of a graph on a 2D context. It runs in a worker, so that a drawing that
// takes long holds nobody up; where there is no worker, the page calls it itself.

/** How large a node is on the screen, in pixels: like the map up to its own scale, then slower. */
function drawnRadius(radius, scale) {
  return Math.max(1.5, radius * (scale > 1 ? Math.pow(scale, 0.6) : scale));
}

function makePainter() {
  let graph = null; // x, y, radius of nodes; from, to, kind of links: typed arrays
  let shown = null; // nodes, links: 1 where drawn; colour, ring: indices, 0 for no ring

  const inside = (view, index, reach) => {
    const x = graph.x[index] * view.scale + view.x;
    const y = graph.y[index] * view.scale + view.y;
    return x > -reach && y > -reach && x < view.width + reach && y < view.height + reach;
  };

  function drawLinks(context, view, look) {
    const { from, to, kind } = graph;
    const byKind = look.kinds.map(() => []);
    let visible = 0;
    for (let index = 0; index < from.length; index++) {
      if (!shown.links[index]) continue;
      const x1 = graph.x[from[index]] * view.scale + view.x;
      const y1 = graph.y[from[index]] * view.scale + view.y;
      const x2 = graph.x[to[index]] * view.scale + view.x;
      const y2 = graph.y[to[index]] * view.scale + view.y;
      if ((x1 < 0 && x2 < 0) || (y1 < 0 && y2 < 0)) continue;
      if ((x1 > view.width && x2 > view.width) || (y1 > view.height && y2 > view.height)) continue;
      byKind[kind[index]].push(x1, y1, x2, y2, to[index]);
      visible++;
    }
    const crowd = Math.min(1, Math.sqrt(1600 / Math.max(1, visible)));
    const hasHeads = visible < 1500 && view.scale > 0.75;
    byKind.forEach((lines, which) => {
      const style = look.kinds[which];
      context.strokeStyle = context.fillStyle = style.colour;
      context.lineWidth = style.width * Math.min(2, Math.max(0.7, view.scale));
      context.globalAlpha = Math.max(style.least, style.alpha * crowd);
      context.setLineDash(style.dash);
      // Short paths: one of thousands of lines is far slower to fill than many of some.
      for (let start = 0; start < lines.length; start += 5 * 64) {
        context.beginPath();
        const end = Math.min(lines.length, start + 5 * 64);
        for (let at = start; at < end; at += 5) {
          context.moveTo(lines[at], lines[at + 1]);
          context.lineTo(lines[at + 2], lines[at + 3]);
        }
        context.stroke();
      }
      if (hasHeads && style.arrow) drawHeads(context, view, lines);
    });
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  function drawHeads(context, view, lines) {
    context.beginPath();
    for (let at = 0; at < lines.length; at += 5) {
      const dx = lines[at + 2] - lines[at];
      const dy = lines[at + 3] - lines[at + 1];
      const length = Math.hypot(dx, dy);
      const gap = drawnRadius(graph.radius[lines[at + 4]], view.scale) + 1;
      if (length < gap + 10) continue;
      const ux = dx / length;
      const uy = dy / length;
      const x = lines[at + 2] - ux * gap;
      const y = lines[at + 3] - uy * gap;
      context.moveTo(x, y);
      context.lineTo(x - ux * 7 - uy * 3, y - uy * 7 + ux * 3);
      context.lineTo(x - ux * 7 + uy * 3, y - uy * 7 - ux * 3);
    }
    context.fill();
  }

  function drawNodes(context, view, look) {
    const byColour = look.palette.map(() => []);
    const byRing = look.rings.map(() => []);
    for (let index = 0; index < graph.x.length; index++) {
      if (!shown.nodes[index] || !inside(view, index, 40)) continue;
      byColour[shown.colour[index]].push(index);
      if (shown.ring[index]) byRing[shown.ring[index]].push(index);
    }
    context.lineWidth = 1;
    context.strokeStyle = look.background;
    byColour.forEach((nodes, which) => {
      context.fillStyle = look.palette[which];
      for (const index of nodes) {
        const x = graph.x[index] * view.scale + view.x;
        const y = graph.y[index] * view.scale + view.y;
        const radius = drawnRadius(graph.radius[index], view.scale);
        if (radius < 1.55 && shown.many > 4000) {
          context.fillRect(x - radius, y - radius, 2 * radius, 2 * radius);
          continue;
        }
        context.beginPath();
        context.arc(x, y, radius, 0, 2 * Math.PI);
        context.fill();
        if (radius > 3.5) context.stroke();
      }
    });
    byRing.forEach((nodes, which) => {
      if (!which) return;
      context.strokeStyle = look.rings[which];
      for (const index of nodes) {
        const own = drawnRadius(graph.radius[index], view.scale);
        context.lineWidth = Math.min(1.8, own / 2);
        const radius = own + Math.min(2, own / 2);
        context.beginPath();
        context.arc(graph.x[index] * view.scale + view.x, graph.y[index] * view.scale + view.y, radius, 0, 2 * Math.PI);
        context.stroke();
      }
    });
  }

  return {
    load(value) {
      graph = value;
    },
    show(value) {
      shown = value;
    },
    /** view: width and height in pixels of the page, ratio, scale, x and y of the map's origin. */
    paint(context, view, look) {
      context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
      context.clearRect(0, 0, view.width, view.height);
      if (!graph || !shown) return;
      drawLinks(context, view, look);
      drawNodes(context, view, look);
    },
  };
}

// In the worker: the page's messages, one drawing for each `paint`.
if (typeof document === "undefined") {
  const painter = makePainter();
  let canvas = null;
  self.onmessage = ({ data }) => {
    if (data.load) painter.load(data.load);
    if (data.show) painter.show(data.show);
    if (!data.view) return;
    const width = Math.round(data.view.width * data.view.ratio);
    const height = Math.round(data.view.height * data.view.ratio);
    if (!canvas) canvas = new OffscreenCanvas(width, height);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    painter.paint(canvas.getContext("2d"), data.view, data.look);
    const bitmap = canvas.transferToImageBitmap();
    self.postMessage({ view: data.view, bitmap }, [bitmap]);
  };
}
