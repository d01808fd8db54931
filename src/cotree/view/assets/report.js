// Live charts and links between scene, graph, tables and equations of a report. Needs no network and no library.
"use strict";
(() => {
  const holder = document.getElementById("run-data");
  if (!holder) return;
  const data = JSON.parse(holder.textContent);
  const floats = text => {
    const raw = atob(text), bytes = new Uint8Array(raw.length);
    for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
    return new Float32Array(bytes.buffer);
  };
  const [first, last] = data.span;
  const pool = floats(data.values), series = new Map();
  const grids = data.grids.map(text => Float64Array.from(floats(text), time => first + time));
  for (const [name, unit, grid, at, base, count, bits] of data.series) {
    const each = { name, unit: data.units[unit], audit: name.startsWith("audit:"), thin: grid === -2, rough: bits ? atob(bits) : "" };
    if (grid === -1) Object.assign(each, { t: [first, last], y: [at ?? NaN, at ?? NaN] });
    else {
      each.t = each.thin ? Float64Array.from(pool.subarray(at, at + count), time => first + time) : grids[grid];
      const from = each.thin ? at + count : at;
      each.y = Float64Array.from(pool.subarray(from, from + each.t.length), value => base + value);
    }
    series.set(name, each);
  }
  const view = { from: first, to: last };
  let now = first, peek = null;
  const charts = [];

  // ---------------------------------------------------------------- small helpers
  const make = (tag, attributes = {}, ...children) => {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(attributes)) {
      if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  };
  const draw = (parent, tag, attributes = {}, text = "") => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (text) element.textContent = text;
    parent.appendChild(element);
    return element;
  };
  const minus = text => text.replace("-", "−");
  const plain = (value, digits = 5) => {
    if (!Number.isFinite(value)) return "–";
    const size = Math.abs(value);
    if (size !== 0 && (size >= 1e6 || size < 1e-4)) return minus(value.toExponential(digits - 1).replace("e+", "e"));
    return minus(String(Number(value.toPrecision(digits))));
  };
  const PREFIX = { "-15": "f", "-12": "p", "-9": "n", "-6": "µ", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T" };
  const prefixed = ([unit, may], largest) => {
    if (!may || !(largest > 0) || !Number.isFinite(largest) || (largest >= 0.1 && largest < 1e4)) return [unit, 1];
    const power = Math.min(Math.max(3 * Math.floor(Math.log10(largest) / 3 + 1e-9), -15), 12);
    return [PREFIX[power] + unit, 10 ** power];
  };
  const ticks = (low, high, count) => {
    const rough = (high - low) / count, base = 10 ** Math.floor(Math.log10(rough));
    const step = base * ([1, 2, 5, 10].find(m => m * base >= rough * 0.999) || 10), found = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
    return [found, Math.max(0, -Math.floor(Math.log10(step) + 1e-9))];
  };
  const place = (t, time) => {
    let a = 0, b = t.length - 1;
    while (b - a > 1) {
      const m = (a + b) >> 1;
      if (t[m] <= time) a = m; else b = m;
    }
    return a;
  };
  const valueAt = ({ t, y }, time) => {
    if (t.length < 2) return y[0];
    const k = place(t, time), share = t[k + 1] > t[k] ? (time - t[k]) / (t[k + 1] - t[k]) : 0;
    return y[k] + Math.min(Math.max(share, 0), 1) * (y[k + 1] - y[k]);
  };
  const span = y => {
    let low = Infinity, top = -Infinity;
    for (const value of y) if (Number.isFinite(value)) { low = Math.min(low, value); top = Math.max(top, value); }
    return top - low;
  };
  // A thinned result is read only where a line between its kept times is near all that was left out.
  const reading = (each, time, scale, unit) => {
    const { t, y, thin, rough } = each;
    if (!thin) return `${plain(valueAt(each, time) / scale)} ${unit}`;
    const k = place(t, time), near = 1e-6 * (last - first);
    const kept = [k, k + 1].find(i => Math.abs(t[i] - time) <= near);
    if (kept !== undefined) return `${plain(y[kept] / scale)} ${unit}`;
    if (rough && rough.charCodeAt(k >> 3) >> (k & 7) & 1) return "thinned";
    each.step ??= 10 ** Math.ceil(Math.log10(1e-3 * span(y))); // no more digits than the line is near
    return `≈ ${plain(Math.round(valueAt(each, time) / each.step) * each.step / scale)} ${unit}`;
  };
  const open = new Set(data.undetermined);
  const titled = (each, name = each.name) => open.has(each.name) ? name + " (not determined)" : name;
  const label = each => each.audit ? each.name.slice(6) : titled(each);
  const shared = names => { // what all names end in: "angle", "position y"
    const ends = names.map(name => name.split("."));
    const [word, ...others] = [...new Set(ends.map(parts => parts.at(-1)))];
    if (others.length) return "";
    const owners = new Set(ends.map(parts => parts.at(-2)));
    return (/^([xyz]|[ec][0-9])$/.test(word) && owners.size === 1 ? [...owners][0] + " " + word : word).replaceAll("_", " ");
  };
  const owned = part => [...series.values()].filter(each => each.name.startsWith(part + "."));
  const varies = each => each.y.some(value => Math.abs(value - each.y[0]) > 1e-9 * (1 + Math.abs(value)));
  const panelsOf = names => {
    const found = new Map();
    for (const name of names) {
      const each = series.get(name);
      if (each) found.set(each.unit, [...(found.get(each.unit) || []), each]);
    }
    return [...found.values()];
  };

  // ---------------------------------------------------------------- time
  let scene = null, answer = NaN; // the scene once it runs, and its own time after the last wish: it may end earlier
  const seek = time => {
    now = Math.min(Math.max(time, first), last);
    if (scene) { scene.pause(); scene.seek(now); answer = scene.time; }
    show();
  };
  const show = () => { for (const chart of charts) chart.point(peek === null ? now : peek); fillValues(); };
  const zoom = factor => {
    const whole = last - first, width = Math.min((view.to - view.from) * factor, whole);
    view.from = Math.min(Math.max(now - width * (now - view.from) / (view.to - view.from || 1), first), last - width);
    view.to = view.from + width;
    charts.forEach(chart => chart.draw());
  };

  // ---------------------------------------------------------------- charts
  const LEFT = 56, RIGHT = 12, TOP = 22, BOTTOM = 20;
  const MARKS = 60;  // most events in view that are marked: more would hide the curves
  class Chart {
    constructor(host, panels, height = 0, owner = "") {
      this.host = host;
      this.height = height;
      this.owner = owner && owner + ".";
      this.width = 0;
      this.set(panels);
      charts.push(this);
      new ResizeObserver(() => { if (host.clientWidth !== this.width) this.draw(); }).observe(host);
    }

    set(panels) {
      this.host.replaceChildren();
      this.panels = panels.map(members => this.panel(members));
      this.draw();
    }

    panel(members) {
      const svg = draw(this.host, "svg", { tabindex: 0, role: "img", class: "plot" });
      svg.setAttribute("aria-label", "Over time: " + members.slice(0, 12).map(label).join(", "));
      const legend = make("ul", { class: "legend" });
      const found = { svg, members, legend, hidden: new Set(), outputs: [] };
      members.forEach((each, k) => {
        const output = make("output", { "aria-live": "off" });
        const switched = event => {
          found.hidden.has(each) ? found.hidden.delete(each) : found.hidden.add(each);
          event.currentTarget.setAttribute("aria-pressed", String(!found.hidden.has(each)));
          this.draw();
        };
        const button = make("button", { type: "button", "aria-pressed": "true", title: "Show or hide", onclick: switched },
          make("i", { class: "c" + k % 7 + " d" + Math.floor(k / 7) % 4 }), make("span", {}, label(each).replace(this.owner, "")));
        legend.append(make("li", {}, button, output));
        found.outputs.push(output);
      });
      const row = make("div", { class: "panel" });
      row.append(svg, legend);
      this.host.append(row);
      const time = event => {
        const box = svg.getBoundingClientRect(), share = (event.clientX - box.left - LEFT) / (box.width - LEFT - RIGHT);
        return view.from + Math.min(Math.max(share, 0), 1) * (view.to - view.from);
      };
      let held = false;
      svg.addEventListener("pointermove", event => { peek = time(event); held ? seek(peek) : show(); });
      svg.addEventListener("pointerleave", () => { if (!held) { peek = null; show(); } });
      svg.addEventListener("pointerdown", event => {
        held = true;
        svg.setPointerCapture(event.pointerId);
        seek(time(event));
      });
      for (const kind of ["pointerup", "pointercancel"]) svg.addEventListener(kind, () => { held = false; peek = null; });
      svg.addEventListener("keydown", event => {
        const step = { ArrowLeft: -0.01, ArrowRight: 0.01, PageUp: -0.1, PageDown: 0.1 }[event.key];
        if (step) { seek(now + step * (view.to - view.from)); event.preventDefault(); }
        if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 0.5 : 2);
      });
      return found;
    }

    draw() {
      this.width = this.host.clientWidth;
      if (!this.width) return;
      this.panels.forEach((panel, k) => this.drawPanel(panel, k === this.panels.length - 1));
      this.point(peek === null ? now : peek);
    }

    drawPanel(panel, lowest) {
      const { svg, members, hidden } = panel, wide = Math.max(svg.clientWidth, 120);
      const high = this.height || (this.panels.length > 1 ? 168 : 230);
      svg.replaceChildren();
      svg.setAttribute("viewBox", `0 0 ${wide} ${high}`);
      svg.style.height = high + "px";
      let low = Infinity, top = -Infinity, largest = 0;
      for (const { t, y } of members.filter(each => !hidden.has(each))) {
        for (let k = Math.max(place(t, view.from), 0); k < t.length && (t[k] <= view.to || t[k - 1] < view.to); k++) {
          if (!Number.isFinite(y[k])) continue;
          low = Math.min(low, y[k]); top = Math.max(top, y[k]);
        }
      }
      if (low > top) { low = -1; top = 1; }
      largest = Math.max(Math.abs(low), Math.abs(top));
      const least = largest ? 1e-11 * largest : 1;
      if (top - low < least) { low -= least; top += least; }
      const pad = 0.05 * (top - low);
      low -= pad; top += pad;
      const [unit, scale] = prefixed(members[0].unit, largest);
      const x = time => LEFT + (wide - LEFT - RIGHT) * (time - view.from) / (view.to - view.from || 1);
      const y = value => TOP + (high - TOP - BOTTOM) * (top - value) / (top - low);
      Object.assign(panel, { x, scale, unit });
      const word = members[0].audit ? (members.length === 1 ? label(members[0]) : "energy") : shared(members.map(label));
      draw(svg, "text", { x: LEFT, y: 13, class: "head" }, word && unit ? `${word} (${unit})` : word || unit);
      const [levels, digits] = ticks(low / scale, top / scale, high > 200 ? 6 : 4);
      for (const level of levels) {
        draw(svg, "path", { d: `M${LEFT} ${y(level * scale).toFixed(1)}H${wide - RIGHT}`, class: "grid" });
        const text = Math.abs(level) >= 1e6 ? plain(level) : minus((level + 0).toFixed(Math.min(digits, 12)));
        draw(svg, "text", { x: LEFT - 6, y: y(level * scale) + 4, class: "tick end" }, text);
      }
      const [timeUnit, timeScale] = prefixed(["s", 1], Math.max(Math.abs(first), Math.abs(last)));
      const [instants, more] = ticks(view.from / timeScale, view.to / timeScale, Math.max(Math.floor(wide / 95), 2));
      for (const instant of instants) {
        draw(svg, "path", { d: `M${x(instant * timeScale).toFixed(1)} ${TOP}V${high - BOTTOM}`, class: "grid" });
        if (!lowest) continue;
        const near = x(instant * timeScale), end = near > wide - 40;
        const text = minus((instant + 0).toFixed(Math.min(more, 12))) + (instant === instants.at(-1) ? " " + timeUnit : "");
        draw(svg, "text", { x: near, y: high - 5, class: end ? "tick end" : "tick mid" }, text);
      }
      const clip = draw(svg, "svg", { x: LEFT, y: 0, width: wide - LEFT - RIGHT, height: high, viewBox: `${LEFT} 0 ${wide - LEFT - RIGHT} ${high}` });
      const within = (time) => time >= view.from && time <= view.to;
      const marks = Object.entries(data.events).flatMap(([name, times]) => times.filter(within).map((time) => [name, time]));
      for (const [name, time] of marks.length > MARKS ? [] : marks) {
        draw(draw(clip, "path", { d: `M${x(time).toFixed(1)} ${TOP}V${high - BOTTOM}`, class: "event" }), "title", {}, `${name} at ${plain(time)} s`);
      }
      members.forEach((each, k) => {
        if (hidden.has(each)) return;
        const from = Math.max(place(each.t, view.from) - 1, 0);
        let path = "", pen = "M";
        for (let i = from; i < each.t.length; i++) {
          if (!Number.isFinite(each.y[i])) { pen = "M"; continue; }
          path += `${pen}${x(each.t[i]).toFixed(1)} ${y(each.y[i]).toFixed(1)}`;
          pen = "L";
          if (each.t[i] > view.to) break;
        }
        draw(clip, "path", { d: path, class: `line c${k % 7} d${Math.floor(k / 7) % 4}` });
      });
      panel.cursor = draw(clip, "path", { class: "cursor", d: `M0 ${TOP}V${high - BOTTOM}` });
    }

    point(time) {
      for (const { cursor, x, members, outputs, scale, unit } of this.panels) {
        if (!cursor) continue;
        cursor.setAttribute("transform", `translate(${x(time).toFixed(2)} 0)`);
        members.forEach((each, k) => { outputs[k].textContent = reading(each, time, scale, unit); });
      }
      this.host.dataset.time = time;
    }
  }

  for (const figure of document.querySelectorAll("figure[data-panels]")) {
    const panels = JSON.parse(figure.dataset.panels).map(names => names.map(name => series.get(name)).filter(Boolean));
    if (!panels.length || panels.some(members => !members.length)) continue;
    const host = make("div", { class: "live" });
    figure.append(host);
    figure.classList.add("alive");
    new Chart(host, panels);
  }

  // ---------------------------------------------------------------- any result
  const explore = document.getElementById("explore");
  if (explore) {
    const chosen = new Set(), host = make("div", { class: "live" }), list = make("div", { class: "choices" });
    const search = make("input", { type: "search", placeholder: "part of a name", "aria-label": "Find results by name", oninput: () => fill() });
    const every = [...series.values()].filter(each => !each.audit);
    let chart = null;
    const redraw = () => {
      const panels = panelsOf(chosen);
      host.hidden = !panels.length;
      if (chart) chart.set(panels); else chart = new Chart(host, panels);
    };
    const fill = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      const found = every.filter(each => chosen.has(each.name) || words.every(word => each.name.toLowerCase().includes(word)));
      found.sort((a, b) => chosen.has(b.name) - chosen.has(a.name));
      list.replaceChildren(...found.slice(0, 48).map(each => make("button", {
        type: "button", "aria-pressed": String(chosen.has(each.name)),
        onclick: () => { chosen.has(each.name) ? chosen.delete(each.name) : chosen.add(each.name); redraw(); fill(); },
      }, titled(each))));
      if (found.length > 48) list.append(make("span", {}, `and ${found.length - 48} more: type part of a name`));
    };
    const zoomed = (sign, factor, title) => make("button", { type: "button", title, "aria-label": title, onclick: () => zoom(factor) }, sign);
    explore.before(make("p", { class: "tools" }, "Drag in a plot to move through time. ", zoomed("+", 0.5, "Zoom in to the time of the cursor"), zoomed("−", 2, "Zoom out")));
    explore.append(make("h3", {}, `Any of ${every.length.toLocaleString("en")} results`), search, list, host);
    explore.hidden = false;
    fill();
    redraw();
  }

  // ---------------------------------------------------------------- one part, everywhere
  const marked = new Map();
  for (const element of document.querySelectorAll("[data-part]")) {
    const part = element.dataset.part;
    if (!marked.has(part)) marked.set(part, []);
    marked.get(part).push(element);
  }
  const known = part => Object.hasOwn(data.parts, part) || owned(part).length > 0;
  let picked = null, live = [], inner = null;
  const card = make("aside", { id: "picked", "aria-label": "Chosen part" });
  card.hidden = true;
  document.body.append(card);
  const fillValues = () => {
    if (!card.hidden) for (const [output, each, unit, scale] of live) output.textContent = reading(each, now, scale, unit);
  };
  const pick = part => {
    part = part !== null && part !== picked && known(part) ? part : null;
    for (const element of marked.get(picked) || []) element.classList.remove("on");
    picked = part;
    for (const element of marked.get(part) || []) element.classList.add("on");
    document.querySelectorAll("figure.graph").forEach(figure => figure.classList.toggle("chosen", part !== null && !!figure.querySelector(".on")));
    if (scene) scene.highlight(part);
    card.hidden = part === null;
    if (part !== null) describe(part);
  };
  const describe = part => {
    const rows = (marked.get(part) || []).filter(element => element.matches("tr"));
    const values = rows.find(row => row.closest("#components"));
    const close = make("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => pick(null) }, "×");
    const about = make("div", {}, make("h2", { role: "status" }, part + " ", make("small", {}, Object.hasOwn(data.parts, part) ? data.parts[part] : "node")));
    const middle = make("div"), host = make("div", { class: "live" }), aside = make("div");
    if (values) about.append(make("p", { class: "values" }, ...values.lastElementChild.cloneNode(true).childNodes));
    card.replaceChildren(close, make("div", { class: "body" }, about, middle, aside));
    const results = owned(part), moving = results.filter(varies), shown = moving.length ? moving : results;
    charts.splice(charts.indexOf(inner), inner ? 1 : 0);
    inner = null;
    live = [];
    if (shown.length) {
      const lead = shown.find(each => !each.name.endsWith(".power")) || shown[0];
      middle.append(host);
      inner = new Chart(host, [shown.filter(each => each.unit === lead.unit).slice(0, 6)], 190, part);
      const list = make("dl");
      for (const each of shown.filter(each => each.unit !== lead.unit).slice(0, 40)) {
        const [unit, scale] = prefixed(each.unit, each.y.reduce((a, b) => Math.max(a, Math.abs(b) || 0), 0));
        const output = make("dd");
        list.append(make("dt", {}, titled(each, each.name.slice(part.length + 1))), output);
        live.push([output, each, unit, scale]);
      }
      aside.append(list);
    }
    const laws = rows.filter(row => row.closest("table.eq")).slice(0, 8);
    if (laws.length) {
      const table = make("table", { class: "eq" }, make("tbody", {}, ...laws.map(row => row.cloneNode(true))));
      table.querySelectorAll("tr").forEach(row => row.classList.remove("on", "part"));
      table.querySelectorAll("[tabindex]").forEach(each => { each.removeAttribute("tabindex"); each.removeAttribute("role"); });
      (live.length > 12 ? about : aside).append(make("div", { class: "scroll" }, table));
    }
    fillValues();
  };
  // In a graph an edge is line, tip and name: the first can be reached by keys.
  const reachable = (target, part) => {
    target.setAttribute("role", "button");
    target.setAttribute("tabindex", "0");
    target.addEventListener("keydown", event => {
      if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(part); }
    });
  };
  for (const [part, elements] of marked) {
    if (!known(part)) continue;
    const drawn = new Set();
    for (const element of elements) {
      element.classList.add("part");
      element.addEventListener("click", () => { if (!element.matches("tr") || String(getSelection()) === "") pick(part); });
      if (element.matches("tr")) {
        const cell = element.cells[0];
        if (!cell.querySelector("b")) {
          const words = make("span", {}, ...cell.childNodes);
          cell.append(words);
        }
        reachable(cell.querySelector("b") || cell.firstElementChild, part);
        continue;
      }
      const picture = element.closest("svg");
      if (!picture || drawn.has(picture)) continue;
      drawn.add(picture);
      picture.setAttribute("role", "group");
      element.setAttribute("aria-label", part);
      reachable(element, part);
    }
  }
  for (const path of document.querySelectorAll("figure.graph g.part > path[style*='fill: none'], figure.graph g.part > path[style*='fill:none']")) {
    const wide = path.cloneNode();
    wide.removeAttribute("style");
    wide.setAttribute("class", "hit");
    path.after(wide);
  }
  document.addEventListener("keydown", event => { if (event.key === "Escape") pick(null); });
  for (const button of document.querySelectorAll("button[data-copy]")) {
    button.hidden = !navigator.clipboard;
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent);
      button.textContent = "Copied";
    });
  }
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    opened.forEach(each => { each.open = true; });
  });
  addEventListener("afterprint", () => opened.forEach(each => { each.open = false; }));

  // ---------------------------------------------------------------- the scene, once it is there
  const link = async () => {
    if (scene || !window.cotree || !(await window.cotree.ready)) return;
    scene = window.cotree;
    scene.onpick(part => {
      const named = part !== null && known(part);
      pick(named ? part : null);
      if (!named) scene.highlight(part); // what only the scene knows
    });
    scene.ontime(time => {
      if (time === answer || !Number.isFinite(time)) return;
      answer = NaN;
      now = time;
      show();
    });
    if (picked !== null) scene.highlight(picked);
    // A finger scrolls past the scene until a tap wakes it; one elsewhere lets it rest again.
    const box = document.getElementById("scene");
    let down = [0, 0];
    document.addEventListener("pointerdown", event => {
      down = [event.clientX, event.clientY];
      if (!event.target.closest("#motion")) box.classList.remove("active");
    }, true);
    box.addEventListener("pointerup", event => {
      if (Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 8) box.classList.add("active");
    }, true);
  };
  if (window.cotree) link(); else addEventListener("load", link);
  // For scripts and tests: what is chosen, the time, and how to change them.
  window.cotreePage = { pick, get picked() { return picked; }, get time() { return now; }, seek };
  show();
})();
