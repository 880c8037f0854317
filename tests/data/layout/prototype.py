"""Text lines of a scanned page in reading order: the prototype that the C++ layout stage was ported from.

Kept to make and check expected.json (make_expected.py); docs/LAYOUT.md describes the steps and how the
C++ version differs. Every length is a multiple of `xh`, the measured height of a small letter in
working pixels.

Needs Python 3.9, OpenCV 4.6 and numpy.
"""

import cv2
import numpy as np

PARAM = dict(
    long_side=2400,  # working size: long side at most this (A4 at 205 dpi)
    xh_min=9,
    xh_max=34,  # rescale once if the measured letter height falls outside
    bg_floor=0.45,  # background never below this share of the paper white: keeps photos and borders black
    shadow=0.72,
    shadow_max=0.15,  # edge bands darker than this are painted white, if no wider than this share of the page
    otsu_lo=0.42,
    otsu_hi=0.82,
    skew_max=6.0,
    rule_len=6.0,
    rule_thick=0.55,
    rule_aspect=11.0,
    char_lo=0.62,
    char_hi=2.9,
    tall_hi=14.0,
    wide_hi=18.0,
    picture=7.0,  # a component at least this high and wide, and dense, is a picture
    picture_close=2.5,
    word_gap=1.35,  # chain step inside a phrase
    line_gap=3.4,  # phrases of one line are joined over this, unless a gutter lies between
    gutter_w=1.5,
    gutter_h=12.0,
    gutter_close=4.0,
    gutter_reach=14.0,
    bridge_gap=8.0,
    bridge_dy=3.0,  # or over this, where the line above or below runs straight through the gap
    bullet_w=3.2,
    bullet_gap=3.0,
    pad=0.30,
)


# ------------------------------------------------------------------------------------------------------------ pixels
def flatten(grey):
    """Divides by the paper: 255 is paper everywhere, ink keeps its contrast; large dark areas stay dark."""
    k = 8
    small = cv2.resize(
        grey, (max(1, grey.shape[1] // k), max(1, grey.shape[0] // k)), interpolation=cv2.INTER_AREA
    )
    bg = cv2.dilate(small, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (9, 9)))
    bg = cv2.medianBlur(bg, 9)
    bg = cv2.GaussianBlur(bg, (0, 0), 5)
    white = float(np.percentile(bg, 90))

    def band(profile):  # cells from the edge in the shadow of the lid
        n = 0
        while n < len(profile) * PARAM["shadow_max"] and profile[n] < PARAM["shadow"] * white:
            n += 1
        return n

    cols, rows = np.percentile(small, 75, axis=0), np.percentile(small, 75, axis=1)
    bands = [band(cols), band(cols[::-1]), band(rows), band(rows[::-1])]
    bg = np.maximum(bg, np.uint8(white * PARAM["bg_floor"]))
    bg = cv2.resize(bg, (grey.shape[1], grey.shape[0]), interpolation=cv2.INTER_LINEAR)
    flat = cv2.divide(grey, bg, scale=255)
    l, r, t, b = [n * k for n in bands]
    if l:
        flat[:, :l] = 255
    if r:
        flat[:, -r:] = 255
    if t:
        flat[:t] = 255
    if b:
        flat[-b:] = 255
    return flat


def binarise(flat):
    t, _ = cv2.threshold(flat, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    t = float(np.clip(t, PARAM["otsu_lo"] * 255, PARAM["otsu_hi"] * 255))
    return (flat < t).astype(np.uint8)  # 1 = ink


def components(ink):
    _, _, stats, _ = cv2.connectedComponentsWithStats(ink, connectivity=8, ltype=cv2.CV_32S)
    return stats[1:]  # x y w h area


def letter_height(stats):
    """Mode of the component heights, each weighted by its width up to its height: specks and rulings weigh little."""
    x, y, w, h, a = stats.T.astype(np.float64)
    ok = (h >= 5) & (w >= 2) & (h < 200) & (w < 8 * h) & (h < 8 * w) & (a > 0.12 * w * h)
    if ok.sum() < 3:
        return None
    weight = np.minimum(w[ok], h[ok])
    hist = np.bincount(h[ok].astype(int), weights=weight, minlength=220)[:220].astype(np.float64)
    score = np.zeros(220)
    for v in range(5, 200):  # smooth over about 12 % of the height
        r = max(1, int(0.12 * v))
        score[v] = hist[max(0, v - r) : v + r + 1].sum() / (2 * r + 1) * v**0.5
    best = int(score.argmax())
    for v in range(5, best):  # two sizes on the page: take the smaller one
        if score[v] >= 0.5 * score[best] and score[v] >= score[max(0, v - 3) : v + 4].max():
            return float(v)
    return float(best)


def find_skew(stats, xh):
    """Angle (degrees, counter-clockwise positive in image coordinates) whose baseline histogram is sharpest."""
    x, y, w, h, a = stats.T.astype(np.float64)
    ok = (h > 0.6 * xh) & (h < 2.4 * xh) & (w > 0.15 * xh) & (w < 6 * xh)
    if ok.sum() < 20:
        return 0.0
    px, py = x[ok] + w[ok] / 2, y[ok] + h[ok]
    wt = np.minimum(w[ok], 2 * xh)

    def score(deg):
        b = (py - px * np.tan(np.radians(deg))) / (xh / 4)
        b = b - b.min()
        i = b.astype(int)
        f = b - i
        hist = np.bincount(i, weights=wt * (1 - f), minlength=i.max() + 2) + np.bincount(
            i + 1, weights=wt * f, minlength=i.max() + 2
        )
        return (hist**2).sum()

    coarse = np.arange(-PARAM["skew_max"], PARAM["skew_max"] + 0.01, 0.2)
    s = np.array([score(d) for d in coarse])
    c = coarse[s.argmax()]
    fine = np.arange(c - 0.2, c + 0.201, 0.02)
    s2 = np.array([score(d) for d in fine])
    best = fine[s2.argmax()]
    if s2.max() < 1.01 * score(0.0):
        return 0.0  # not clearly better than straight
    return float(best)


def drop_rulings(ink, xh):
    """Removes thin long horizontal and vertical strokes. Returns the cleaned ink and the vertical rulings (x, y0, y1)."""
    out, L, verticals = ink.copy(), max(12, int(PARAM["rule_len"] * xh)), []
    for horizontal in (True, False):
        kernel = np.ones((1, L) if horizontal else (L, 1), np.uint8)
        # let a slightly slanted or broken stroke pass: close a pixel across, then open along
        fat = cv2.dilate(ink, np.ones((3, 1) if horizontal else (1, 3), np.uint8))
        long = cv2.morphologyEx(fat, cv2.MORPH_OPEN, kernel)
        n, lab, st, _ = cv2.connectedComponentsWithStats(long, connectivity=8, ltype=cv2.CV_32S)
        for i in range(1, n):
            x, y, w, h, a = st[i]
            length, extent = (w, h) if horizontal else (h, w)
            thick = a / max(1, length) - 2  # mean thickness without the dilation
            if thick > PARAM["rule_thick"] * xh or length < PARAM["rule_aspect"] * max(1.0, thick):
                continue
            if extent > 1.5 * xh and thick < extent * 0.08:
                pass  # slanted but thin
            mask = lab[y : y + h, x : x + w] == i
            out[y : y + h, x : x + w][mask] = 0
            if not horizontal:
                verticals.append((x + w / 2, y, y + h))
    return out, verticals


# ------------------------------------------------------------------------------------------------------------ chains
class Sets:
    def __init__(self, n):
        self.p = list(range(n))

    def find(self, i):
        while self.p[i] != i:
            self.p[i] = self.p[self.p[i]]
            i = self.p[i]
        return i

    def join(self, i, j):
        self.p[self.find(i)] = self.find(j)


def chain(boxes, gap_of, overlap=0.45, ratio=3.2):
    """Joins each box with its nearest right neighbour on the same line; returns lists of indices."""
    n = len(boxes)
    if n == 0:
        return []
    b = np.asarray(boxes, np.float64)
    order = np.argsort(b[:, 0])
    sets = Sets(n)
    xs = b[order, 0]
    h = b[:, 3] - b[:, 1]
    for pos in range(n):
        i = order[pos]
        gap = gap_of(h[i])
        hi = np.searchsorted(xs, b[i, 2] + gap, side="right")
        cand = order[pos + 1 : hi]
        if len(cand) == 0:
            continue
        o = np.minimum(b[cand, 3], b[i, 3]) - np.maximum(b[cand, 1], b[i, 1])
        hm = np.minimum(h[cand], h[i])
        ok = (
            (o > overlap * hm)
            & (np.maximum(h[cand], h[i]) < ratio * hm)
            & (b[cand, 0] - b[i, 2] < np.maximum(gap, 0) + 1)
        )
        cand = cand[ok]
        if len(cand) == 0:
            continue
        dist = np.maximum(0, b[cand, 0] - b[i, 2]) + 0.5 * np.abs(
            (b[cand, 1] + b[cand, 3]) - (b[i, 1] + b[i, 3])
        )
        sets.join(i, cand[dist.argmin()])
        inside = cand[b[cand, 0] < b[i, 2]]  # overlapping in x as well: same glyph or ligature
        for j in inside:
            sets.join(i, j)
    groups = {}
    for i in range(n):
        groups.setdefault(sets.find(i), []).append(i)
    return list(groups.values())


def union_box(b):
    return [float(b[:, 0].min()), float(b[:, 1].min()), float(b[:, 2].max()), float(b[:, 3].max())]


def body_box(b, xh):
    """Box of a chain whose top and bottom ignore single outliers (a bracket, a speck, a glyph that touches the next line)."""
    if len(b) < 6:
        return union_box(b)
    w = b[:, 2] - b[:, 0]

    def weighted(v, q):
        i = np.argsort(v)
        c = np.cumsum(w[i]) / w.sum()
        return float(v[i][np.searchsorted(c, q)])

    top, bottom = weighted(b[:, 1], 0.5), weighted(b[:, 3], 0.5)
    lim_t, lim_b = top - 1.15 * xh, bottom + 0.95 * xh
    return [
        float(b[:, 0].min()),
        max(float(b[:, 1].min()), lim_t),
        float(b[:, 2].max()),
        min(float(b[:, 3].max()), lim_b),
    ]


def gutters(boxes, shape, xh):
    """Mask (in cells of xh/5) of white rectangles at least gutter_w wide and gutter_h high with text on both sides."""
    c = xh / 5
    H, W = int(shape[0] / c) + 2, int(shape[1] / c) + 2
    text = np.zeros((H, W), np.uint8)
    for x0, y0, x1, y1 in boxes:
        text[int(y0 / c) : int(np.ceil(y1 / c)), int(x0 / c) : int(np.ceil(x1 / c))] = 1
    flank = cv2.morphologyEx(
        text,
        cv2.MORPH_CLOSE,
        np.ones((int(PARAM["gutter_close"] * 5), 1), np.uint8),
        borderType=cv2.BORDER_CONSTANT,
        borderValue=0,
    )
    k = int(PARAM["gutter_reach"] * 5)
    left = cv2.dilate(
        flank, np.ones((1, k), np.uint8), anchor=(k - 1, 0)
    )  # text within reach to the left, to the right
    right = cv2.dilate(flank, np.ones((1, k), np.uint8), anchor=(0, 0))
    free = (1 - text) & left & right
    kw, kh = int(round(PARAM["gutter_w"] * 5)), int(PARAM["gutter_h"] * 5)
    return (
        cv2.morphologyEx(
            free,
            cv2.MORPH_OPEN,
            np.ones((kh, kw), np.uint8),
            borderType=cv2.BORDER_CONSTANT,
            borderValue=0,
        ),
        c,
    )


def gutter_between(mask, c, a, b):
    """True if a gutter separates box a (left) from box b (right)."""
    y0, y1 = max(a[1], b[1]), min(a[3], b[3])
    y = int(((y0 + y1) / 2) / c)
    x0, x1 = int(np.ceil(a[2] / c)), int(b[0] / c)
    return x1 > x0 and 0 <= y < mask.shape[0] and bool(mask[y, x0:x1].any())


def join_line(segs, mask, c, xh, verticals):
    """Joins phrases of one printed line; never across a gutter or a vertical ruling."""
    n = len(segs)
    if n == 0:
        return []
    b = np.asarray([s["box"] for s in segs])
    h = b[:, 3] - b[:, 1]
    sets = Sets(n)
    size = [max(xh, 0.8 * float(np.median(s["chars"][:, 3] - s["chars"][:, 1]))) for s in segs]

    def link(i, j, gap):
        if any(
            b[i, 2] - 0.3 * xh < vx < b[j, 0] + 0.3 * xh and vy0 < (b[i, 1] + b[i, 3]) / 2 < vy1
            for vx, vy0, vy1 in verticals
        ):
            return
        bullet = b[i, 2] - b[i, 0] < PARAM["bullet_w"] * xh and gap < PARAM["bullet_gap"] * xh
        if gutter_between(mask, c, b[i], b[j]) and not bullet:
            return
        sets.join(i, j)

    for i in range(n):
        o = np.minimum(b[:, 3], b[i, 3]) - np.maximum(b[:, 1], b[i, 1])
        g = b[:, 0] - b[i, 2]
        # a wide gap is still a word space where a neighbouring line runs straight through it
        through = (
            (b[:, 0] < b[i, 2] - xh)
            & (np.abs((b[:, 1] + b[:, 3]) - (b[i, 1] + b[i, 3])) < 2 * PARAM["bridge_dy"] * xh)
            & (o < 0.3 * h)
        )
        reach = b[through, 2].max() - xh if through.any() else 0
        lim = np.where(b[:, 0] < reach, PARAM["bridge_gap"], PARAM["line_gap"]) * size[i]
        cand = np.where(
            (o > 0.5 * np.minimum(h, h[i]))
            & (g > -0.8 * xh)
            & (g < lim)
            & (b[:, 0] > b[i, 0])
            & (np.maximum(h, h[i]) < 2.6 * np.minimum(h, h[i]))
        )[0]
        cand = [int(j) for j in cand if j != i]
        if not cand:
            continue
        like = [k for k in cand if h[k] > 0.6 * h[i]]  # past an apostrophe or a comma as well
        near = {min(cand, key=lambda k: g[k])} | (
            {min(like, key=lambda k: g[k])} if like else set()
        )
        for j in near:
            link(i, j, g[j])
    groups = {}
    for i in range(n):
        groups.setdefault(sets.find(i), []).append(i)
    out = []
    for m in groups.values():
        chars = np.vstack([segs[i]["chars"] for i in m])
        out.append({"chars": chars, "box": union_box(np.asarray([segs[i]["box"] for i in m]))})
    return out


# ------------------------------------------------------------------------------------------------------------ order
def reading_order(boxes, xh):
    """Indices in reading order: bands, columns by a shared gutter, rows inside tables."""
    b = np.asarray(boxes, np.float64)

    def gaps(idx, axis, least):
        """Cut positions of the projection on one axis, where nothing lies for at least `least`."""
        iv = sorted((b[i, axis], b[i, axis + 2]) for i in idx)
        out, end = [], iv[0][1]
        for lo, hi in iv[1:]:
            if lo - end >= least:
                out.append((end, lo))
            end = max(end, hi)
        return out

    def shrink(i):  # ascenders and descenders may interlock
        h = b[i, 3] - b[i, 1]
        return b[i, 1] + 0.25 * h, b[i, 3] - 0.25 * h

    def bands(idx):
        out = []
        for i in sorted(idx, key=lambda i: shrink(i)[0]):
            lo, hi = shrink(i)
            if out and lo < out[-1][1]:
                out[-1][2].append(i)
                out[-1][1] = max(out[-1][1], hi)
            else:
                out.append([lo, hi, [i]])
        return out

    def rows(idx):
        return [i for _, _, g in bands(idx) for i in sorted(g, key=lambda i: b[i, 0])]

    def text_like(strip):
        w = np.array([b[i, 2] - b[i, 0] for i in strip])
        sw = max(b[i, 2] for i in strip) - min(b[i, 0] for i in strip)
        return (
            len(strip) >= 3 and np.percentile(w, 60) > 11 * xh and np.percentile(w, 60) > 0.4 * sw
        )

    def columns(idx, depth):
        cut = gaps(idx, 0, 1.1 * xh)
        if not cut or depth > 12:
            return rows(idx)
        edges = [(lo + hi) / 2 for lo, hi in cut]
        strips = [[] for _ in range(len(edges) + 1)]
        for i in idx:
            strips[int(np.searchsorted(edges, (b[i, 0] + b[i, 2]) / 2))].append(i)
        if sum(text_like(s) for s in strips) >= 2 or (
            any(text_like(s) and len(s) >= 6 for s in strips)
            and len(strips) == 2
            and min(map(len, strips)) >= 3
            and not aligned(strips)
        ):
            return [i for s in strips for i in order(s, depth + 1)]
        return rows(idx)

    def aligned(strips):
        small, big = sorted(strips, key=len)
        mid = [(b[i, 1] + b[i, 3]) / 2 for i in big]
        return (
            np.mean([min(abs((b[i, 1] + b[i, 3]) / 2 - m) for m in mid) < 0.5 * xh for i in small])
            > 0.7
        )

    def order(idx, depth=0):
        if len(idx) <= 1:
            return list(idx)
        groups, cur, gut = [], [], None  # cur: bands sharing the gutters `gut`

        def holes(g):
            return gaps(g, 0, 1.1 * xh)

        def common(p, q):
            return [
                (max(a, c), min(e, f))
                for a, e in p
                for c, f in q
                if min(e, f) - max(a, c) >= 1.1 * xh
            ]

        last = None
        for lo, hi, g in bands(idx):
            mine = holes(g)
            x0, x1 = min(b[i, 0] for i in g), max(b[i, 2] for i in g)
            # gutters this band leaves free: its own holes and everything outside its extent
            free = mine + [(-1e9, x0), (x1, 1e9)]
            near = last is not None and lo - last < 7 * xh
            if cur and near and gut is not None and (c := common(gut, free)):
                cur.append(g)
                gut = c
            elif cur and near and gut is None and not mine:
                cur.append(g)
            else:
                if cur:
                    groups.append((cur, gut))
                cur, gut = [g], mine or None
            last = hi
        if cur:
            groups.append((cur, gut))
        out = []
        for bs, gut in groups:
            flat = [i for g in bs for i in g]
            out += (
                columns(flat, depth)
                if gut is not None and len(flat) > 1
                else [i for g in bs for i in sorted(g, key=lambda i: b[i, 0])]
            )
        return out

    return order(list(range(len(b)))) if len(b) else []


def group_blocks(lines, xh):
    """Block number of each line (in reading order): same column, same pitch, no paragraph-sized gap."""
    block, out = 0, []
    for k, l in enumerate(lines):
        if k:
            p, q = lines[k - 1]["box"], l["box"]
            h = min(p[3] - p[1], q[3] - q[1])
            ox = min(p[2], q[2]) - max(p[0], q[0])
            gap = q[1] - p[3]
            similar = max(p[3] - p[1], q[3] - q[1]) < 1.7 * h
            if not (
                ox > 0.3 * min(p[2] - p[0], q[2] - q[0])
                and -0.6 * h < gap < 0.75 * max(h, 1.6 * xh)
                and similar
            ):
                block += 1
        out.append(block)
    return out


# ------------------------------------------------------------------------------------------------------------ page
def segment(image, dpi=None, _retry=False):
    """Returns {"lines": [{"quad","box","block"}], "skew", "xh", "size"} in the pixels of `image`."""
    grey = image if image.ndim == 2 else cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    H0, W0 = grey.shape
    scale = min(1.0, PARAM["long_side"] / max(H0, W0)) if not _retry else _retry
    if scale != 1.0:
        grey = cv2.resize(
            grey,
            (round(W0 * scale), round(H0 * scale)),
            interpolation=cv2.INTER_AREA if scale < 1 else cv2.INTER_CUBIC,
        )
    H, W = grey.shape
    result = {"lines": [], "skew": 0.0, "xh": None, "size": [W0, H0]}
    flat = flatten(grey)
    ink = binarise(flat)
    stats = components(ink)
    xh = letter_height(stats) if len(stats) else None
    if xh is None:
        return result
    if not _retry and (xh < PARAM["xh_min"] or xh > PARAM["xh_max"]):
        s = float(np.clip(scale * 16.0 / xh, 0.15, 3.0))
        if abs(s / scale - 1) > 0.2 and max(H0, W0) * s < 5200:
            return segment(image, dpi, _retry=s)
    skew = find_skew(stats, xh)
    m = np.array([[1, 0, 0], [0, 1, 0]], np.float64)
    if abs(skew) >= 0.08:
        m = cv2.getRotationMatrix2D((W / 2, H / 2), skew, 1.0)
        flat = cv2.warpAffine(
            flat, m, (W, H), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=255
        )
        ink = binarise(flat)
    ink, verticals = drop_rulings(ink, xh)

    n, labels, st, _ = cv2.connectedComponentsWithStats(ink, connectivity=8, ltype=cv2.CV_32S)
    st = st[1:].astype(np.float64)
    if n < 2:
        return result
    x, y, w, h, a = st.T
    box = np.stack([x, y, x + w, y + h], 1)
    # pictures: big dense components, and what lies in their holes
    big = (h > PARAM["picture"] * xh) & (w > PARAM["picture"] * xh) & (a > 0.18 * w * h)
    e = (
        2 + abs(np.tan(np.radians(skew))) * max(H, W) / 2
    )  # the rotation has moved the edges inwards
    at_left, at_top, at_right, at_bottom = x <= e, y <= e, x + w >= W - e, y + h >= H - e
    edge = (at_left | at_top | at_right | at_bottom) & ((h > 4 * xh) | (w > 8 * xh))
    gone = big | edge
    if big.any():
        mask = np.concatenate([[0], big]).astype(np.uint8)[labels]
        for i in np.where(big & (a > 0.5 * w * h))[0]:
            mask[int(y[i]) : int(y[i] + h[i]), int(x[i]) : int(x[i] + w[i])] = 1  # a rectangle
        k = int(PARAM["picture_close"] * xh) | 1
        mask = cv2.morphologyEx(mask, cv2.MORPH_CLOSE, np.ones((k, k), np.uint8))
        total = cv2.integral(mask)
        X0, Y0, X1, Y1 = (v.astype(int) for v in (x, y, x + w, y + h))
        cover = (total[Y1, X1] - total[Y0, X1] - total[Y1, X0] + total[Y0, X0]) / np.maximum(
            1, w * h
        )
        gone |= cover > 0.5
    # specks in the shadow along an edge: they lie between the page edge and the end of a narrow edge component
    for i in np.where(edge & ((w < 8 * xh) | (h < 8 * xh)))[0]:
        m_ = 0.4 * xh
        if h[i] > w[i]:
            strip = (
                (at_left[i] & (x + w <= x[i] + w[i] + m_) | at_right[i] & (x >= x[i] - m_))
                & (y + h > y[i])
                & (y < y[i] + h[i])
            )
        else:
            strip = (
                (at_top[i] & (y + h <= y[i] + h[i] + m_) | at_bottom[i] & (y >= y[i] - m_))
                & (x + w > x[i])
                & (x < x[i] + w[i])
            )
        gone |= strip
    core = (
        ~gone
        & (h >= PARAM["char_lo"] * xh)
        & (h <= PARAM["char_hi"] * xh)
        & (w <= PARAM["wide_hi"] * xh)
        & (w >= 0.1 * xh)
        & (a >= 0.05 * xh * xh)
    )
    tall = (
        ~gone
        & (h > PARAM["char_hi"] * xh)
        & (h <= PARAM["tall_hi"] * xh)
        & (w <= 3 * h)
        & (w > 0.08 * h)
    )
    small = (
        ~gone
        & ~core
        & ~tall
        & (h < PARAM["char_lo"] * xh)
        & (a >= max(3, 0.012 * xh * xh))
        & (w < 3 * xh)
    )

    cb = box[core]
    segs = [
        {"chars": cb[g], "box": body_box(cb[g], xh)}
        for g in chain(cb, lambda h_: PARAM["word_gap"] * max(xh, 0.6 * h_))
    ]
    # headline letters: those not already lying in a line of small letters
    tb = box[tall]
    if len(tb) and len(segs):
        sb = np.asarray(
            [s["box"] for s in segs if s["box"][2] - s["box"][0] > 4 * xh] or [[0, 0, 0, 0]]
        )
        keep = []
        for t in tb:
            ov = (np.minimum(sb[:, 2], t[2]) - np.maximum(sb[:, 0], t[0]) > 0.5 * (t[2] - t[0])) & (
                np.minimum(sb[:, 3], t[3]) - np.maximum(sb[:, 1], t[1]) > 0.25 * (t[3] - t[1])
            )
            keep.append(not ov.any())
        tb = tb[keep]
    heads = [
        {"chars": tb[g], "box": union_box(tb[g])}
        for g in chain(tb, lambda h_: 0.75 * h_, ratio=2.2)
    ]
    heads = [s for s in heads if len(s["chars"]) >= 2 or (s["box"][3] - s["box"][1]) < 5 * xh]
    # small letters that belong to a headline (its dots, its lower case)
    for hd in heads:
        X0, Y0, X1, Y1 = hd["box"]
        hh = Y1 - Y0
        rest = []
        for s in segs:
            X, Y, XX, YY = s["box"]
            inside = (
                min(Y1, YY) - max(Y0, Y) > 0.6 * (YY - Y)
                and X > X0 - 0.8 * hh
                and XX < X1 + 0.8 * hh
            )
            if inside:
                hd["chars"] = np.vstack([hd["chars"], s["chars"]])
                hd["box"] = union_box(hd["chars"])
            else:
                rest.append(s)
        segs = rest
    # a comma or a full stop ends a phrase: measure gaps from there
    sm = box[small]
    if len(sm) and len(segs):
        lb = np.asarray([l["box"] for l in segs])
        for d in sm:
            cy = (d[1] + d[3]) / 2
            ok = (
                (d[0] >= lb[:, 2] - 0.3 * xh)
                & (d[0] < lb[:, 2] + 0.8 * xh)
                & (cy > lb[:, 1])
                & (cy < lb[:, 3] + 0.3 * xh)
            )
            if ok.any():
                k = int(np.where(ok)[0][np.abs(lb[ok, 2] - d[0]).argmin()])
                segs[k]["box"][2] = max(segs[k]["box"][2], d[2])
    mask, c = gutters(cb, (H, W), xh)
    lines = join_line(segs + heads, mask, c, xh, verticals)

    # dots, accents, commas: widen the line they touch; what touches none is dirt
    if len(sm) and len(lines):
        lb = np.asarray([l["box"] for l in lines])
        for d in sm:
            cx, cy = (d[0] + d[2]) / 2, (d[1] + d[3]) / 2
            ok = (
                (cx > lb[:, 0] - 1.7 * xh)
                & (cx < lb[:, 2] + 1.7 * xh)
                & (cy > lb[:, 1] - 0.45 * xh)
                & (cy < lb[:, 3] + 0.25 * xh)
            )
            if ok.any():
                k = np.where(ok)[0][np.abs((lb[ok, 1] + lb[ok, 3]) / 2 - cy).argmin()]
                bx = lines[k]["box"]
                bx[0] = min(bx[0], d[0])
                bx[2] = max(bx[2], d[2])
                bx[1] = min(bx[1], max(d[1], lb[k, 1] - 0.45 * xh))
                bx[3] = max(bx[3], min(d[3], lb[k, 3] + 0.3 * xh))
    keep = []
    for l in lines:
        X0, Y0, X1, Y1 = l["box"]
        n = len(l["chars"])
        lw, lh = X1 - X0, Y1 - Y0
        if lh < 0.5 * xh or lw < 0.25 * xh:
            continue
        if n == 1 and (lh < 0.8 * xh or lw > 8 * xh and lh < 1.2 * xh):
            continue  # a speck, a stroke
        if n <= 2 and (Y0 < 2 or X0 < 2 or Y1 > H - 2 or X1 > W - 2):
            continue  # dirt at the edge
        if n == 1 and lw < 0.35 * lh and lh > 2.4 * xh:
            continue  # an upright stroke
        keep.append(l)
    lines = inside_out(keep, xh)
    idx = reading_order([l["box"] for l in lines], xh)
    lines = [lines[i] for i in idx]
    blocks = group_blocks(lines, xh)
    inv = cv2.invertAffineTransform(m)
    for l, blk in zip(lines, blocks):
        q = local_quad(l, xh) @ inv[:, :2].T + inv[:, 2]
        q /= scale
        q[:, 0] = q[:, 0].clip(0, W0)
        q[:, 1] = q[:, 1].clip(0, H0)
        result["lines"].append(
            {
                "quad": np.round(q, 1).tolist(),
                "block": blk,
                "box": [
                    float(q[:, 0].min()),
                    float(q[:, 1].min()),
                    float(q[:, 0].max()),
                    float(q[:, 1].max()),
                ],
            }
        )
    result["skew"], result["xh"] = skew, xh / scale
    return result


def inside_out(lines, xh):
    """Drops lines that lie inside another one (a stray accent, half of a split glyph)."""
    if not lines:
        return lines
    b = np.asarray([l["box"] for l in lines])
    area = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    out = []
    for i, l in enumerate(lines):
        o = np.clip(np.minimum(b[:, 2], b[i, 2]) - np.maximum(b[:, 0], b[i, 0]), 0, None) * np.clip(
            np.minimum(b[:, 3], b[i, 3]) - np.maximum(b[:, 1], b[i, 1]), 0, None
        )
        if ((o > 0.6 * area[i]) & (area > 2 * area[i])).any():
            continue
        out.append(l)
    return out


def local_quad(line, xh):
    """The line's box, padded, tilted by its own slope where enough letters show one (keystone, curl)."""
    x0, y0, x1, y1 = line["box"]
    c = line["chars"]
    pad = PARAM["pad"] * xh
    slope = 0.0
    if len(c) >= 10 and x1 - x0 > 18 * xh:
        hx, bottom = (c[:, 0] + c[:, 2]) / 2, c[:, 3]
        ok = np.abs((c[:, 3] - c[:, 1])) < 2.6 * xh
        hx, bottom = hx[ok], bottom[ok]
        if len(hx) >= 8:
            for _ in range(3):  # least squares, dropping descenders
                k, d = np.polyfit(hx, bottom, 1)
                r = bottom - (k * hx + d)
                good = np.abs(r) < max(1.0, 0.22 * xh)
                if good.sum() < 6:
                    break
                hx2, b2 = hx[good], bottom[good]
                k, d = np.polyfit(hx2, b2, 1)
            slope = float(np.clip(k, -0.05, 0.05))
            if abs(slope) * (x1 - x0) < 0.35 * xh:
                slope = 0.0
    if slope:
        cx = (x0 + x1) / 2
        top = c[:, 1] - slope * ((c[:, 0] + c[:, 2]) / 2 - cx)
        bot = c[:, 3] - slope * ((c[:, 0] + c[:, 2]) / 2 - cx)
        t, bt = np.percentile(top, 2), np.percentile(bot, 98)
        t, bt = max(t, np.median(top) - 1.2 * xh), min(bt, np.median(bot) + 1.0 * xh)
        f = lambda x, y: [x, y + slope * (x - cx)]
        return np.array(
            [
                f(x0 - pad, t - pad),
                f(x1 + pad, t - pad),
                f(x1 + pad, bt + pad),
                f(x0 - pad, bt + pad),
            ]
        )
    return np.array(
        [[x0 - pad, y0 - pad], [x1 + pad, y0 - pad], [x1 + pad, y1 + pad], [x0 - pad, y1 + pad]]
    )
