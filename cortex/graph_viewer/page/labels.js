"use strict";
// Names beside nodes: the weightiest first, none over another, more of them the nearer one looks.

const MOST_LABELS = 140;
const LABEL_LENGTH = 42; // characters
const LEAST_DISC = 3; // pixels of radius from which no name should lie on a node
const BUCKET = 64; // pixels

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

  const isNear = (view, x, y, edge) =>
    x + view.x > -edge && y + view.y > -edge && x + view.x < view.width + edge && y + view.y < view.height + edge;

  /** Where a name may begin, best first: below, above, right, left of a disc, from its middle. */
  const placesOf = (radius, width, height) => [
    [-width / 2, radius - 1],
    [-width / 2, 1 - radius - height],
    [radius + 1, -height / 2],
    [-radius - width - 1, -height / 2],
  ];

  /** Tells whether a rectangle lies on a disc that can be seen well, other than that of `own`. */
  function discsOf(view, shown) {
    const buckets = new Map();
    const keys = function* (x0, y0, x1, y1) {
      for (let bx = Math.floor(x0 / BUCKET); bx <= x1 / BUCKET; bx++) {
        for (let by = Math.floor(y0 / BUCKET); by <= y1 / BUCKET; by++) yield bx * 1e7 + by;
      }
    };
    for (const node of order) {
      const radius = drawnRadius(model.radius[node], view.scale);
      if (radius < LEAST_DISC) break; // radii fall along the order
      const x = model.x[node] * view.scale;
      const y = model.y[node] * view.scale;
      if (!shown[node] || !isNear(view, x, y, 250)) continue;
      for (const key of keys(x - radius, y - radius, x + radius, y + radius)) {
        if (!buckets.has(key)) buckets.set(key, []);
        buckets.get(key).push([node, x, y, radius]);
      }
    }
    return (own, left, top, width, height) => {
      for (const key of keys(left, top, left + width, top + height)) {
        for (const [node, x, y, radius] of buckets.get(key) || []) {
          const dx = x - Math.max(left, Math.min(left + width, x));
          const dy = y - Math.max(top, Math.min(top + height, y));
          if (node !== own && Math.hypot(dx, dy) < radius) return true;
        }
      }
      return false;
    };
  }

  return {
    forget() {
      drawn.clear();
    },
    /**
     * The names of this view as [node, right, down]: where a name begins, in pixels from its node.
     * first: nodes to name before all others; the very first in any case. A name stands below its
     * node, else above or beside it where that covers no node, else below over whatever is there.
     */
    choose(view, shown, first, look) {
      const chosen = new Map();
      const cells = new Set();
      const wide = 18, high = 9; // pixels of a cell that no two names share
      // Counted from the map's origin, so that no name changes its place while the map is dragged.
      const isFree = (x, y, width, height, take) => {
        for (let cx = Math.floor(x / wide); cx <= (x + width) / wide; cx++) {
          for (let cy = Math.floor(y / high); cy <= (y + height) / high; cy++) {
            const key = cx * 1e7 + cy;
            if (take) cells.add(key);
            else if (cells.has(key)) return false;
          }
        }
        return true;
      };
      const covers = discsOf(view, shown);
      const least = view.scale > 1.1 ? 0 : 2.6; // pixels of radius under which a node has no name
      const limit = Math.min(MOST_LABELS, Math.max(24, (view.width * view.height) / 9000));
      const far = Math.min(limit, Math.max(16, (view.width * view.height) / 26000));
      let looked = 0;
      for (const list of [first, order]) {
        for (const node of list) {
          if (chosen.size >= limit || (list === order && looked > 4000)) break;
          if (chosen.has(node) || (!shown[node] && list === order)) continue;
          const x = model.x[node] * view.scale;
          const y = model.y[node] * view.scale;
          if (!isNear(view, x, y, 20)) continue;
          const radius = drawnRadius(model.radius[node], view.scale);
          if (list === order && radius < least) {
            // Radii fall along the order; far out the first few are named all the same.
            if (chosen.size >= far) break;
          }
          looked++;
          const size = fontSize(node);
          const width = spread(node, look);
          const fits = ([right, down]) => isFree(x + right, y + down + 2, width, size + 4, false);
          const places = placesOf(radius, width, size + 9);
          const isClear = ([right, down]) => !covers(node, x + right + 3, y + down + 5, width - 6, size);
          const place = places.find((one) => fits(one) && isClear(one)) || (fits(places[0]) || !chosen.size ? places[0] : null);
          if (!place) continue;
          isFree(x + place[0], y + place[1] + 2, width, size + 4, true);
          chosen.set(node, place);
        }
      }
      return [...chosen].map(([node, place]) => [node, ...place]);
    },
    draw(context, view, names, look) {
      for (const [node, right, down] of names) {
        const image = sprite(node, look, view.ratio);
        const x = model.x[node] * view.scale + view.x + right;
        const y = model.y[node] * view.scale + view.y + down;
        context.drawImage(image, Math.round(x), Math.round(y), ...image.spread);
      }
    },
    /** How large a name is drawn: [width, height], in pixels. */
    sizeOf: (node, look) => [spread(node, look), fontSize(node) + 9],
  };
}
