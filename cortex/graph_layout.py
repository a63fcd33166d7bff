"""Where the nodes of a graph are drawn: a force layout in numpy, equal for equal input.

The energy is that of Noack's r-PolyLog models (the family of ForceAtlas2 and LinLog): nodes repel
by 1 / d, links attract by d to a power below 1, so that groups that hang together stand apart.
Repulsion is a convolution on a grid, by FFT; a multilevel start finds the large shape first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]  # shape (n, 2)
Indices = NDArray[np.int64]
Numbers = NDArray[np.float64]

_POWER = 0.55  # of the distance, in the pull of a link: 0 is LinLog, 1 is ForceAtlas2
_COARSEST = 48  # nodes; there every pair is computed
_EXACT = 600  # up to so many nodes, every pair is computed
_SMALL = 7  # a component of so few nodes is drawn as a star
_SHRINKS = 0.93  # a level that keeps more of the nodes than this is not worth having
_GROUP = 5  # nodes that a node of the next level stands for, at most
_GRID = 256
_STEPS_COARSEST, _STEPS_FINEST, _STEPS_BETWEEN = 300, 90, 60
_SPACING = 26.0  # units between a node and its nearest, in the middle of all nodes
_SPREAD = 0.85  # at most, times that and the root of how many there are, from the middle
_GAP = 7.0  # units of air around a node
_ALONE_SPACING = 24.0
_GOLDEN = math.pi * (3 - math.sqrt(5))


def place(
    count: int,
    links: Sequence[tuple[int, int]],
    weights: Sequence[float],
    radii: Sequence[float],
    seed: int = 7,
) -> Points:
    """A place for each of `count` nodes, shape (count, 2), in units of `radii`; centred on 0.

    links: pairs of nodes; direction does not matter, equal pairs add up. weights: how hard each
    pulls, above 0. radii: how large each node is drawn; no two overlap by much. Components stand
    apart, the largest in the middle, and nodes without a link in rings around all else. About
    5 CPU seconds for 10,000 nodes and 30,000 links.
    """
    rng = np.random.default_rng(seed)
    sizes = np.asarray(radii, dtype=float)
    points = np.zeros((count, 2))
    graph = _merged(count, np.asarray(links, dtype=np.int64).reshape(-1, 2), np.asarray(weights))
    graph = _held(graph)
    labels = _components(graph)
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, np.flatnonzero(np.diff(labels[order])) + 1) if count else []
    groups = sorted(groups, key=lambda group: (-len(group), int(group[0])))
    of_node = np.empty(count, dtype=np.int64)  # its place in its group
    joined = [group for group in groups if len(group) > 1]
    for group in joined:
        of_node[group] = np.arange(len(group))
    own_links = _links_by_group(graph, labels, joined)
    for group, own in zip(joined, own_links, strict=True):
        part = _Graph(len(group), of_node[graph.pairs[own]], graph.weights[own])
        points[group] = _component(part, sizes[group], rng)
    _pack(points, sizes, joined)
    alone = np.array([int(group[0]) for group in groups if len(group) == 1], dtype=np.int64)
    linked = np.setdiff1d(np.arange(count), alone)
    points[alone] = _rings(len(alone), points[linked], sizes[linked])
    return points


@dataclass(frozen=True, slots=True)
class _Graph:
    count: int
    pairs: Indices  # shape (m, 2), first < second, each once
    weights: Numbers  # shape (m,)

    @property
    def strengths(self) -> Numbers:
        """The summed weights of each node's links."""
        both = np.concatenate([self.weights, self.weights])
        return np.bincount(self.pairs.T.ravel(), both, minlength=self.count).astype(float)


def _merged(count: int, links: Indices, weights: Numbers) -> _Graph:
    low, high = links.min(axis=1, initial=count), links.max(axis=1, initial=0)
    keep = low != high
    keys, at = np.unique(low[keep] * count + high[keep], return_inverse=True)
    summed = np.bincount(at, weights[keep], minlength=len(keys)).astype(float)
    return _Graph(count, np.stack([keys // max(count, 1), keys % max(count, 1)], axis=1), summed)


def _held(graph: _Graph) -> _Graph:
    """The same, links made stronger where a node has only weak ones: else it would fly far out."""
    weakest = np.minimum(1, graph.strengths[graph.pairs]).min(axis=1, initial=1)
    return _Graph(graph.count, graph.pairs, graph.weights / np.maximum(weakest, 0.05))


def _components(graph: _Graph) -> Indices:
    """For each node the smallest node that it hangs together with."""
    labels = np.arange(graph.count)
    first, second = graph.pairs.T
    while True:
        before = labels.copy()
        least = np.minimum(labels[first], labels[second])
        np.minimum.at(labels, first, least)
        np.minimum.at(labels, second, least)
        labels = labels[labels]
        if np.array_equal(labels, before):
            return labels


def _links_by_group(graph: _Graph, labels: Indices, groups: Sequence[Indices]) -> list[Indices]:
    owners = labels[graph.pairs[:, 0]]
    order = np.argsort(owners, kind="stable")
    ranges = [
        np.searchsorted(owners[order], [labels[group[0]], labels[group[0]] + 1]) for group in groups
    ]
    return [order[start:end] for start, end in ranges]


def _component(graph: _Graph, sizes: Numbers, rng: np.random.Generator) -> Points:
    """One component, around 0, at its scale and without overlaps."""
    if graph.count <= _SMALL:
        return _star(graph, sizes)
    points = _turned(_multilevel(graph, rng))
    spread = math.sqrt(float((points**2).sum(axis=1).mean()))
    by_spread = _SPREAD * _SPACING * math.sqrt(graph.count) / max(spread, 1e-9)
    points *= min(by_spread, _SPACING / max(float(np.median(_nearest(points))), 1e-9))
    return _apart(points, sizes + _GAP / 2, rng)


def _star(graph: _Graph, sizes: Numbers) -> Points:
    """The node with the strongest links in the middle, the others around it."""
    middle = int(np.argmax(graph.strengths))
    others = np.array([at for at in range(graph.count) if at != middle])
    turn = 2 * np.pi * np.arange(len(others)) / len(others)
    widest = float(sizes[others].max()) * 2 + _GAP
    around = widest / (2 * math.sin(math.pi / len(others))) if len(others) > 1 else 0.0
    reach = max(float(sizes[middle] + sizes[others].max()) + _GAP, around, _SPACING)
    points = np.zeros((graph.count, 2))
    points[others] = reach * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return _centred(points)


def _multilevel(graph: _Graph, rng: np.random.Generator) -> Points:
    masses = 1 + np.bincount(graph.pairs.ravel(), minlength=graph.count).astype(float)
    levels = [(graph, masses)]
    ups: list[Indices] = []
    while levels[-1][0].count > _COARSEST:
        coarse, up = _coarser(levels[-1][0], rng)
        if coarse.count > _SHRINKS * levels[-1][0].count:
            break
        ups.append(up)
        levels.append((coarse, np.bincount(up, levels[-1][1], minlength=coarse.count)))
    coarsest, masses = levels[-1]
    points = rng.standard_normal((coarsest.count, 2)) * math.sqrt(coarsest.count)
    points = _relaxed(coarsest, masses, points, _STEPS_COARSEST)
    for (fine, masses), up in zip(levels[-2::-1], reversed(ups), strict=True):
        shift = _nearest(points)[up][:, None] * 0.3
        points = points[up] + shift * rng.standard_normal((fine.count, 2))
        steps = _STEPS_FINEST if fine is graph else _STEPS_BETWEEN
        points = _relaxed(fine, masses, points, steps)
    return points


def _coarser(graph: _Graph, rng: np.random.Generator) -> tuple[_Graph, Indices]:
    """A graph in which nodes that are closely linked are one, and which of it each node became.

    A node joins its strongest neighbour's group while that has room; leaves of one hub that find
    no room join each other.
    """
    nearby: list[list[tuple[float, int]]] = [[] for _ in range(graph.count)]
    strengths = graph.strengths
    for (a, b), weight in zip(graph.pairs.tolist(), graph.weights.tolist(), strict=True):
        nearby[a].append((weight / math.sqrt(strengths[b]), b))
        nearby[b].append((weight / math.sqrt(strengths[a]), a))
    group = [-1] * graph.count
    members: list[int] = []
    waiting: dict[int, int] = {}  # hub -> group of its leaves that has room
    for node in rng.permutation(graph.count).tolist():
        if group[node] >= 0:
            continue
        for _, other in sorted(nearby[node], key=lambda one: (-one[0], one[1]))[:4]:
            if group[other] < 0:
                group[node] = group[other] = len(members)
                members.append(2)
                break
            if members[group[other]] < _GROUP:
                group[node] = group[other]
                members[group[other]] += 1
                break
        else:
            hub = max(nearby[node])[1]
            mine = waiting.get(hub, -1)
            if mine < 0 or members[mine] >= _GROUP:
                mine = waiting[hub] = len(members)
                members.append(0)
            group[node] = mine
            members[mine] += 1
    up = np.array(group, dtype=np.int64)
    return _merged(len(members), up[graph.pairs], graph.weights), up


def _relaxed(graph: _Graph, masses: Numbers, points: Points, steps: int) -> Points:
    """`points` after `steps` steps down the forces.

    Each step is at most a temperature long, which falls; a node whose force turns about goes
    slower (ForceAtlas2's swinging).
    """
    points = _centred(points)
    first, second = graph.pairs.T
    repel = _repulsion_of_pairs if graph.count <= _EXACT else _repulsion_by_grid
    spread = math.sqrt(float((points**2).sum(axis=1).mean())) or 1.0
    warm, cold = spread * 0.12, spread * 0.002
    gravity = _GRAVITY * _REPULSION * masses.sum() / spread**2
    before = np.zeros_like(points)
    for step in range(steps):
        force = repel(points, masses)
        between = points[first] - points[second]
        distance = np.sqrt((between**2).sum(axis=1)) + 1e-9
        pull = between * (graph.weights * distance ** (_POWER - 1))[:, None]
        for axis in (0, 1):
            force[:, axis] -= np.bincount(first, pull[:, axis], minlength=graph.count)
            force[:, axis] += np.bincount(second, pull[:, axis], minlength=graph.count)
        force -= (gravity * masses)[:, None] * points  # against long arms
        swing = np.sqrt(((force - before) ** 2).sum(axis=1))
        length = np.sqrt((force**2).sum(axis=1)) + 1e-12
        before = force
        temperature = warm * (cold / warm) ** (step / max(steps - 1, 1))
        settled = length / (length + 0.5 * swing)
        move = np.minimum(length / np.sqrt(masses) * 2, temperature * settled)
        points = points + force * (move / length)[:, None]
    return _centred(points)


def _centred(points: Points) -> Points:
    centred: Points = points - points.mean(axis=0)
    return centred


def _repulsion_of_pairs(points: Points, masses: Numbers) -> Points:
    between = points[:, None, :] - points[None, :, :]
    square = (between**2).sum(axis=2) + 1e-6
    shares = masses[:, None] * masses[None, :] / square
    np.fill_diagonal(shares, 0)
    force: Points = (between * shares[:, :, None]).sum(axis=1)
    return force * _REPULSION


_REPULSION = 0.25
_GRAVITY = 0.04  # of what repulsion is at the edge


def _repulsion_by_grid(points: Points, masses: Numbers) -> Points:
    """The same, with the masses dealt out to the corners of their cells and pairs summed by FFT.

    Nearer than a cell the force is too weak, which `_apart` makes good in the end.
    """
    low = points.min(axis=0)
    cell = float((points.max(axis=0) - low).max()) / (_GRID - 2) or 1.0
    scaled = (points - low) / cell
    whole = np.minimum(scaled.astype(np.int64), _GRID - 2)
    rest = scaled - whole
    corners = []
    grid = np.zeros(_GRID * _GRID)
    for dx in (0, 1):
        for dy in (0, 1):
            share = np.abs(1 - dx - rest[:, 0]) * np.abs(1 - dy - rest[:, 1])
            at = (whole[:, 0] + dx) * _GRID + whole[:, 1] + dy
            corners.append((at, share))
            grid += np.bincount(at, masses * share, minlength=_GRID * _GRID)
    size = 2 * _GRID
    spectrum = np.fft.rfft2(grid.reshape(_GRID, _GRID), (size, size))
    force = np.zeros_like(points)
    for axis, kernel in enumerate(_kernels()):
        field = np.fft.irfft2(spectrum * kernel, (size, size))[:_GRID, :_GRID].ravel()
        for at, share in corners:
            force[:, axis] += field[at] * share
    return force * (masses * _REPULSION / cell)[:, None]


_kernel_cache: list[NDArray[np.complex128]] = []


def _kernels() -> list[NDArray[np.complex128]]:
    """The spectra of x / r² and y / r² on the grid, in cells, wrapped around."""
    if not _kernel_cache:
        size = 2 * _GRID
        steps = np.minimum(np.arange(size), size - np.arange(size)).astype(float)
        steps[_GRID + 1 :] *= -1
        x, y = np.meshgrid(steps, steps, indexing="ij")
        square = x**2 + y**2 + 0.5
        _kernel_cache.extend(np.fft.rfft2(one / square) for one in (x, y))
    return _kernel_cache


def _turned(points: Points) -> Points:
    """The same, with its longest axis across: screens are wider than high."""
    centred = _centred(points)
    _, axes = np.linalg.eigh(centred.T @ centred)
    long = axes[:, 1] * (1 if axes[np.argmax(np.abs(axes[:, 1])), 1] > 0 else -1)
    turned: Points = centred @ np.array([[long[0], -long[1]], [long[1], long[0]]])
    return turned


def _nearest(points: Points) -> Numbers:
    """About how far the nearest other point is, for each: along two space-filling curves."""
    count = len(points)
    nearest = np.full(count, np.inf)
    low = points.min(axis=0)
    scale = 65535 / (float((points.max(axis=0) - low).max()) * 1.5 or 1.0)
    for shift in (0.0, 0.31):
        x, y = ((points - low) * scale + shift * 20000).astype(np.int64).T
        order = np.argsort(_spread_bits(x) | (_spread_bits(y) << 1), kind="stable")
        for step in (1, 2, 3):
            if step < count:
                a, b = order[:-step], order[step:]
                distance = np.sqrt(((points[a] - points[b]) ** 2).sum(axis=1))
                np.minimum.at(nearest, a, distance)
                np.minimum.at(nearest, b, distance)
    return np.where(np.isfinite(nearest), nearest, 1.0)


def _spread_bits(values: Indices) -> Indices:
    for shift, mask in ((8, 0x00FF00FF), (4, 0x0F0F0F0F), (2, 0x33333333), (1, 0x55555555)):
        values = (values | (values << shift)) & mask
    return values


def _apart(points: Points, sizes: Numbers, rng: np.random.Generator, rounds: int = 60) -> Points:
    """Points pushed away from each other until hardly two discs of `sizes` overlap."""
    points = points + rng.standard_normal(points.shape) * 0.01
    for _ in range(rounds):
        worst = 0.0
        move = np.zeros_like(points)
        for a, b in _close_pairs(points, 2 * float(sizes.max())):
            between = points[a] - points[b]
            distance = np.sqrt((between**2).sum(axis=1)) + 1e-9
            lacking = sizes[a] + sizes[b] - distance
            near = lacking > 0
            a, b, lacking = a[near], b[near], lacking[near]
            if not len(a):
                continue
            worst = max(worst, float(lacking.max()))
            push = between[near] * (lacking / distance[near])[:, None]
            share = (sizes[b] ** 2 / (sizes[a] ** 2 + sizes[b] ** 2))[:, None]
            for axis in (0, 1):
                move[:, axis] += np.bincount(a, (push * share)[:, axis], minlength=len(points))
                move[:, axis] -= np.bincount(
                    b, (push * (1 - share))[:, axis], minlength=len(points)
                )
        if worst < 0.5:
            break
        length = np.sqrt((move**2).sum(axis=1)) + 1e-9
        limit = float(np.median(sizes)) * 2
        points = points + move * (np.minimum(length * 0.6, limit) / length)[:, None]
    framed: Points = points - (points.min(axis=0) + points.max(axis=0)) / 2
    return framed


def _close_pairs(points: Points, reach: float) -> Iterator[tuple[Indices, Indices]]:
    """Pairs of points among which are all that are nearer than `reach`, each once."""
    cells = np.floor((points - points.min(axis=0)) / reach).astype(np.int64) + 1
    width = int(cells[:, 1].max()) + 2
    keys = cells[:, 0] * width + cells[:, 1]
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    at = np.arange(len(points))
    for offset in (0, 1, width - 1, width, width + 1):
        start = np.searchsorted(ordered, ordered + offset, "left")
        if offset == 0:
            start = at + 1
        end = np.searchsorted(ordered, ordered + offset, "right")
        counts = np.maximum(end - start, 0)
        first = np.repeat(at, counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        yield order[first], order[np.repeat(start, counts) + within]


def _pack(points: Points, sizes: Numbers, groups: Sequence[Indices]) -> None:
    """Move each group, largest first, to where it is near the middle and overlaps no other.

    What is taken is known cell by cell, so that small groups fill the bays of large ones.
    """
    cell = _SPACING * 1.6
    taken: set[tuple[int, int]] = set()
    start = 0  # spiral steps that are known to be taken for groups of this size
    last = 0
    for group in groups:
        reach = sizes[group].max() + _SPACING
        steps = max(1, math.ceil(reach / cell))
        base = np.unique(np.floor(points[group] / cell).astype(np.int64), axis=0)
        own = {
            (int(x) + dx, int(y) + dy)
            for x, y in base
            for dx in range(-steps, steps + 1)
            for dy in range(-steps, steps + 1)
        }
        if len(group) != last:
            start, last = 0, len(group)
        stride = max(1, round(math.sqrt(len(base)) / 3))
        for step in range(start, 10_000_000):
            turn, out = step * _GOLDEN, stride * math.sqrt(step)
            dx, dy = round(out * math.cos(turn) * 1.25), round(out * math.sin(turn) / 1.25)
            if not any((x + dx, y + dy) in taken for x, y in own):
                start = step
                break
        points[group] += np.array([dx * cell, dy * cell])
        taken.update((int(x) + dx, int(y) + dy) for x, y in base)


def _rings(count: int, points: Points, sizes: Numbers) -> Points:
    """Places for nodes that have no link: evenly around all `points`, from within outwards."""
    axes = np.zeros(2)
    if len(points):
        wide = np.maximum(np.abs(points).max(axis=0), _SPACING)
        reach = float(np.sqrt(((points / wide) ** 2).sum(axis=1)).max())
        axes = wide * reach + float(sizes.max()) + 2 * _SPACING  # of an ellipse around all points
    at = np.arange(count)
    turn = at * _GOLDEN
    way = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    area = (at + 0.5) * _ALONE_SPACING**2  # an equal share for each
    out = np.sqrt(axes**2 + area[:, None] * (axes / axes[::-1] if axes.all() else 1))
    return np.asarray(way * out)
