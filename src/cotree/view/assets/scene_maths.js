// Small mathematics of the picture in space: vectors, turns, colours, lines on the ground, wires, and where to stand.
"use strict";

const mix = (a, b, s) => a + (b - a) * s;
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = (a) => { const size = Math.hypot(...a) || 1; return a.map((c) => c / size); };
const plus = (a, b, s = 1) => a.map((c, k) => c + s * b[k]);

// Euler parameters between those numbered i and k in a list, on the shortest way.
function slerp(list, i, k, s) {
  let cosine = 0;
  for (let c = 0; c < 4; c++) cosine += list[4 * i + c] * list[4 * k + c];
  const sign = cosine < 0 ? -1 : 1, angle = Math.acos(Math.min(1, Math.abs(cosine)));
  const one = angle < 1e-4 ? 1 - s : Math.sin((1 - s) * angle) / Math.sin(angle);
  const two = sign * (angle < 1e-4 ? s : Math.sin(s * angle) / Math.sin(angle));
  return unit([0, 1, 2, 3].map((c) => one * list[4 * i + c] + two * list[4 * k + c]));
}

// Between rows i and k of a list with its rates, by cubic polynomials; null where the rates do not fit the way taken.
function hermite(list, rates, i, k, width, step, s) {
  const a = (1 + 2 * s) * (1 - s) ** 2, b = s * (1 - s) ** 2 * step, c = s * s * (3 - 2 * s), d = s * s * (s - 1) * step;
  const made = [];
  let off = 0, one = 0, two = 0;
  for (let at = 0; at < width; at++) {
    const x = list[i + at], y = list[k + at], u = rates[rates.length === width ? at : i + at], v = rates[rates.length === width ? at : k + at];
    off += (y - x - step * (u + v) / 2) ** 2;
    one += u * u;
    two += v * v;
    made.push(a * x + b * u + c * y + d * v);
  }
  return Math.sqrt(off) <= 0.5 * step * Math.sqrt(Math.max(one, two)) ? made : null;
}

// Product of Euler parameters, and a vector turned by some.
const times4 = (p, q) => [p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3], ...plus(plus(cross(p.slice(1), q.slice(1)), q.slice(1), p[0]), p.slice(1), q[0])];
const turnBy = (q, a) => { const v = q.slice(1), t = cross(v, a).map((c) => 2 * c); return plus(plus(a, t, q[0]), cross(v, t)); };

// A turn (x, y, z, w) that takes the first axis along a way; the third stays across the vertical where it can.
function along(way) {
  const x = unit(way), z = unit(Math.abs(x[1]) < 0.9 ? [-x[2], 0, x[0]] : [-x[1], x[0], 0]), y = cross(z, x);
  const [a, b, c] = [x[0], y[1], z[2]], w = Math.sqrt(Math.max(0, 1 + a + b + c)) / 2;
  if (w > 0.05) return [(y[2] - z[1]) / (4 * w), (z[0] - x[2]) / (4 * w), (x[1] - y[0]) / (4 * w), w];
  if (a >= b && a >= c) {
    const s = 2 * Math.sqrt(1 + a - b - c);
    return [s / 4, (y[0] + x[1]) / s, (z[0] + x[2]) / s, (y[2] - z[1]) / s];
  }
  if (b >= c) {
    const s = 2 * Math.sqrt(1 - a + b - c);
    return [(y[0] + x[1]) / s, s / 4, (z[1] + y[2]) / s, (z[0] - x[2]) / s];
  }
  const s = 2 * Math.sqrt(1 - a - b + c);
  return [(z[0] + x[2]) / s, (z[1] + y[2]) / s, s / 4, (x[1] - y[0]) / s];
}

// Red, green and blue at a place between 0 and 1 of a row of colours.
function ramp(colours, s) {
  const at = Math.min(Math.max(s, 0), 1) * (colours.length - 1), k = Math.min(Math.floor(at), colours.length - 2);
  const [a, b] = [colours[k], colours[k + 1]].map((c) => parseInt(c.slice(1), 16));
  return [16, 8, 0].map((shift) => mix((a >> shift) & 255, (b >> shift) & 255, at - k) / 255);
}

// A number in few digits.
function brief(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e4 || size < 1e-3 ? value.toExponential(1) : String(Number(value.toPrecision(3)));
}

// The largest of 1, 2 or 5 times a power of ten that is not larger.
function round(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return ([5, 2, 1].find((c) => c * power <= value * (1 + 1e-9)) || 1) * power;
}

// The eight corners of the scene.
function corners(bounds) {
  return [0, 1].flatMap((i) => [0, 1].flatMap((j) => [0, 1].map((k) => [bounds[i][0], bounds[j][1], bounds[k][2]])));
}

// One line that runs along all lines of a grid on the ground, and the width of its cells.
function gridLine(head) {
  const [n, height] = head.ground, e = unit(plus(Math.abs(n[0]) > 0.7 ? [0, 1, 0] : [1, 0, 0], n, -dot(Math.abs(n[0]) > 0.7 ? [0, 1, 0] : [1, 0, 0], n)));
  const f = cross(n, e), ends = corners(head.bounds);
  const range = (way) => { const at = ends.map((c) => dot(c, way)); return [Math.min(...at), Math.max(...at)]; };
  const [a, b] = [range(e), range(f)], wide = Math.max(a[1] - a[0], b[1] - b[0], head.size), cell = round(wide / 5);
  const cells = ([low, high]) => {
    const middle = (low + high) / 2, half = Math.max((high - low) / 2 + 0.5 * cell, 0.2 * wide);
    return [Math.floor((middle - half) / cell), Math.ceil((middle + half) / cell)];
  };
  const [i0, i1] = cells(a), [j0, j1] = cells(b), points = [];
  const put = (i, j) => points.push(...[0, 1, 2].map((k) => e[k] * i * cell + f[k] * j * cell + n[k] * height));
  for (let i = i0; i <= i1; i++) {
    const there = (i - i0) % 2 === 0;
    put(i, there ? j0 : j1);
    put(i, there ? j1 : j0);
  }
  const from = (i1 - i0) % 2 === 0 ? j1 : j0, sign = from === j1 ? -1 : 1;
  for (let m = 0; m <= j1 - j0; m++) {
    const there = m % 2 === 0;
    put(there ? i1 : i0, from + sign * m);
    put(there ? i0 : i1, from + sign * m);
  }
  return new Float32Array(points);
}

// Vertices and triangles of a wire along points.
function wire(points, radius, sides = 6) {
  const count = points.length / 3, vertices = new Float32Array(count * sides * 3), triangles = [];
  let side = null;
  for (let k = 0; k < count; k++) {
    const i = 3 * Math.max(k - 1, 0), j = 3 * Math.min(k + 1, count - 1);
    const x = unit([0, 1, 2].map((c) => points[j + c] - points[i + c]));
    if (!side) side = Math.abs(x[0]) < 0.8 ? [1, 0, 0] : [0, 1, 0];
    side = unit(plus(side, x, -dot(side, x)));
    const z = cross(x, side);
    for (let a = 0; a < sides; a++) {
      const cosine = radius * Math.cos(2 * Math.PI * a / sides), sine = radius * Math.sin(2 * Math.PI * a / sides);
      for (let c = 0; c < 3; c++) vertices[3 * (k * sides + a) + c] = points[3 * k + c] + cosine * side[c] + sine * z[c];
      if (k + 1 < count) {
        const p = k * sides + a, q = k * sides + (a + 1) % sides;
        triangles.push(p, q, q + sides, p, q + sides, p + sides);
      }
    }
  }
  return [vertices, new Uint32Array(triangles)];
}

// Where the eye stands and what it looks at, so that all points of the run are seen from a direction.
function standing(head, eye, tangent, aspect) {
  const away = unit(eye), level = Math.abs(dot(away, head.up)) > 0.999;
  const up = !level ? head.up : Math.abs(head.up[1]) > 0.9 ? [0, 0, -1] : [0, 1, 0];
  const e = unit(cross(up, away)), f = cross(away, e), reach = head.reach;
  let target = [reach[0], reach[1], reach[2]], distance = 0;
  for (let turn = 0; turn < 5; turn++) {  // centre what is seen, then stand as near as possible
    const near = distance, box = [Infinity, -Infinity, Infinity, -Infinity];
    distance = 0;
    for (let k = 0; k < reach.length; k += 3) {
      const d = [0, 1, 2].map((c) => reach[k + c] - target[c]), x = dot(d, e), y = dot(d, f), z = dot(d, away);
      const share = near > z ? near / (near - z) : 1;
      box[0] = Math.min(box[0], x * share);
      box[1] = Math.max(box[1], x * share);
      box[2] = Math.min(box[2], y * share);
      box[3] = Math.max(box[3], y * share);
      distance = Math.max(distance, z + Math.max(Math.abs(x) / (tangent * aspect), Math.abs(y) / tangent));
    }
    if (turn < 4) target = plus(plus(target, e, (box[0] + box[1]) / 2), f, (box[2] + box[3]) / 2);
  }
  distance = Math.max(1.14 * distance, 1e-9);
  target = plus(target, f, -0.035 * distance * tangent);  // a little more room below than above
  // straight from above the eye leans a little, so that turning by the mouse stays well defined
  return [...plus(target, plus(away, f, level ? -1e-3 : 0), distance), ...target, ...head.up];
}

// The matrix, row by row, that drops a point on the ground as its shadow.
function falling(head) {
  const [n, height] = head.ground, floor = n.every((c, k) => c === head.up[k]), lean = floor ? head.front : head.up;
  const light = plus(n, plus(lean, n, -dot(lean, n)), floor ? 0.18 : 0.5), size = dot(n, light), lift = height + 1e-4 * head.size;
  const row = (r) => [0, 1, 2].map((c) => (r === c ? 1 : 0) - light[r] * n[c] / size).concat(lift * light[r] / size);
  return [...row(0), ...row(1), ...row(2), 0, 0, 0, 1];
}
