"use strict";
// Names beside nodes: the weightiest first, none over another, more of them the nearer one looks.

const MOST_LABELS = 140;
const LABEL_LENGTH = 42; // characters

function makeLabels(model) {
  const order = Array.from({ length: model.count }, (_, node) => node).sort(
    (a, b) => model.radius[b] - model.radius[a] || a - b,
  );
  const drawn = new Map(); // what stands on a sprite -> canvas
  const segmenter = typeof Intl.Segmenter === "function" ? new Intl.Segmenter() : null;

  function shortened(text) {
    const flat = text.replace(/\s+/g, " ").trim() || "(no title)";
    if (flat.length <= LABEL_LENGTH) return flat;
    const parts = segmenter ? Array.from(segmenter.segment(flat.slice(0, 400)), (part) => part.segment) : Array.from(flat);
    return parts.length <= LABEL_LENGTH ? flat : parts.slice(0, LABEL_LENGTH - 1).join("") + "…";
  }

  const ruler = document.createElement("canvas").getContext("2d");
  const widths = new Map();

  /** How wide a name is, in pixels. */
  function spread(node, look) {
    let width = widths.get(node);
    if (width === undefined) {
      ruler.font = fontOf(node, look);
      width = Math.ceil(ruler.measureText(shortened(model.nodes.label[node])).width) + 8;
      widths.set(node, width);
    }
    return width;
  }

  const fontSize = (node) => Math.round(Math.min(15, 10.5 + model.radius[node] * 0.25));
  const fontOf = (node, look) => `${fontSize(node) > 12 ? 600 : 500} ${fontSize(node)}px ${look.font}`;

  function sprite(node, look, ratio) {
    const size = fontSize(node);
    const key = `${node}/${ratio}`;
    let canvas = drawn.get(key);
    if (canvas) return canvas;
    if (drawn.size > 1500) drawn.clear();
    canvas = document.createElement("canvas");
    const context = canvas.getContext("2d");
    const text = shortened(model.nodes.label[node]);
    const font = fontOf(node, look);
    const width = spread(node, look);
    const height = size + 9;
    canvas.width = Math.ceil(width * ratio);
    canvas.height = Math.ceil(height * ratio);
    canvas.spread = [width, height];
    context.scale(ratio, ratio);
    context.font = font;
    context.textBaseline = "middle";
    context.textAlign = "left";
    context.direction = "ltr";
    context.lineJoin = "round";
    context.lineWidth = 3.5;
    context.strokeStyle = look.background;
    context.globalAlpha = 0.85;
    context.strokeText(text, 4, height / 2);
    context.globalAlpha = 1;
    context.fillStyle = look.ink;
    context.fillText(text, 4, height / 2);
    drawn.set(key, canvas);
    return canvas;
  }

  return {
    forget() {
      drawn.clear();
    },
    /** The nodes to name in this view. `first`: before all others; its first two in any case. */
    choose(view, shown, first, look) {
      const chosen = [];
      const cells = new Set();
      const wide = 18, high = 9; // pixels of a cell that no two names share
      const isFree = (x, y, width, height, take) => {
        for (let cx = Math.floor(x / wide); cx <= (x + width) / wide; cx++) {
          for (let cy = Math.floor(y / high); cy <= (y + height) / high; cy++) {
            const key = cx * 4096 + cy;
            if (take) cells.add(key);
            else if (cells.has(key)) return false;
          }
        }
        return true;
      };
      const least = view.scale > 1.1 ? 0 : 2.6; // pixels of radius under which a node has no name
      const limit = Math.min(MOST_LABELS, Math.max(24, (view.width * view.height) / 9000));
      const far = Math.min(limit, Math.max(16, (view.width * view.height) / 26000));
      let looked = 0;
      for (const list of [first, order]) {
        for (const node of list) {
          if (chosen.length >= limit || (list === order && looked > 4000)) break;
          if (!shown[node] && list === order) continue;
          const x = model.x[node] * view.scale + view.x;
          const y = model.y[node] * view.scale + view.y;
          if (x < -20 || y < -10 || x > view.width + 20 || y > view.height + 10) continue;
          const radius = drawnRadius(model.radius[node], view.scale);
          if (list === order && radius < least) {
            // Radii fall along the order; far out the first few are named all the same.
            if (chosen.length >= far) break;
          }
          looked++;
          const size = fontSize(node);
          const width = spread(node, look);
          const left = x - width / 2;
          const top = y + radius + 1;
          if ((list === order || chosen.length > 1) && !isFree(left, top, width, size + 4, false)) continue;
          isFree(left, top, width, size + 4, true);
          chosen.push(node);
        }
      }
      return [...new Set(chosen)];
    },
    draw(context, view, nodes, look) {
      for (const node of nodes) {
        const image = sprite(node, look, view.ratio);
        const [width, height] = image.spread;
        const x = model.x[node] * view.scale + view.x - width / 2;
        const y = model.y[node] * view.scale + view.y + drawnRadius(model.radius[node], view.scale) - 1;
        context.drawImage(image, Math.round(x), Math.round(y), width, height);
      }
    },
  };
}
