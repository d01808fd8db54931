// The picture in space: K3D draws, this script moves the parts, and window.cotree lets the rest of the page drive it.
const find = (name) => document.getElementById(name);
const root = find("scene"), target = find("scene-view"), note = find("scene-note"), labelBox = find("scene-labels");
const head = JSON.parse(find("scene-head").textContent);
const GLOW = "#ffb000", SLACK = "#b9c2cc", UNKNOWN = "#3a3f46", MAP = ["#4a86c5", "#53b3c9", "#8ccf8a", "#f2d64b", "#ee8a2e", "#c9252d"], SIGNED = ["#d55e00", "#aab2bb", "#0072b2"];

const redraw = () => { state.dirty = true; };
let settle;
const state = { time: 0, playing: false, speed: 1, magnify: 1, arrows: 1, colour: "", marked: null, show: {}, view: "iso", dirty: true };
const picked = [], ticked = [];
const cotree = window.cotree = Object.assign(window.cotree || {}, {
  ready: new Promise((done) => { settle = done; }), start: 0, duration: 0, state,
  play() {}, pause() {}, seek() {}, view() {}, highlight() {},
  onpick(call) { picked.push(call); }, ontime(call) { ticked.push(call); },
});
Object.defineProperty(cotree, "time", { get: () => state.time, configurable: true });

function fail(words) {
  note.hidden = false;
  note.textContent = words;
  find("scene-bar").hidden = true;
  settle(false);
}

async function unpack(name) {
  const text = find(name).textContent, raw = atob(text), bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; k++) bytes[k] = raw.charCodeAt(k);
  find(name).remove();
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
}

async function start() {
  if (!document.createElement("canvas").getContext("webgl2")) {
    return fail("The animation needs WebGL 2, which this browser does not offer or has switched off.");
  }
  if (typeof DecompressionStream === "undefined") return fail("The animation needs a newer browser.");
  const [engine, data] = await Promise.all([unpack("scene-engine"), unpack("scene-data")]);
  let k3d;
  new Function("define", new TextDecoder().decode(engine))((name, needs, make) => { k3d = make(); });
  await build(k3d, data);
  note.hidden = true;
  const hint = find("scene-hint");
  hint.textContent = head.notes.join(" ");
  hint.hidden = !head.notes.length;
  settle(true);
}

// -- numbers ---------------------------------------------------------------------------------------------------------

const TYPES = { f: Float32Array, d: Float64Array, I: Uint32Array, B: Uint8Array };

// -- the scene -------------------------------------------------------------------------------------------------------

async function build(k3d, data) {
  const read = (ref) => ref && new TYPES[ref[1]](data, ref[0], ref[2]);
  const times = read(head.times), last = times.length - 1;
  cotree.start = times[0];
  cotree.duration = times[last] - times[0];
  state.time = times[0];

  const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
  const plot = new k3d.K3D(k3d.ThreeJsProvider, target, {
    menuVisibility: false, gridVisible: false, cameraAutoFit: false, gridAutoFit: false, cameraMode: "orbit",
    cameraFov: 28, axes: ["x", "y", "z"], axesHelper: 1, clearColor: -1, grid: head.bounds.flat(),
    axesHelperColors: [0xd55e00, 0x009e73, 0x0072b2], cameraRotateSpeed: 0.7, labelColor: dark ? 0xc8ccd2 : 0x444444,
  });
  const world = plot.getWorld(), camera = world.camera;
  camera.up.set(...head.up);
  world.changeControls(true);
  world.scene.traverse((each) => { if (each.isAmbientLight) each.intensity = 0.5 * Math.PI; });
  [[world.keyLight, 0.5], [world.headLight, 0.28], [world.fillLight, 0.15], [world.backLight, 0.15]].forEach(([light, part]) => { light.intensity = part * Math.PI; });

  const eye4 = { data: new Float32Array([1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]), shape: [4, 4] };
  const [low, high] = head.bounds, grid = head.ground ? gridLine(head) : null;
  const sampled = await plot.load({ objects: [
    { id: 1, type: "Mesh", color: 0xffffff, flat_shading: false, opacity: 1, side: "double", model_matrix: eye4,
      vertices: { data: new Float32Array([...low, ...high, ...low]), shape: [3, 3] },
      indices: { data: new Uint32Array([0, 1, 2]), shape: [1, 3] }, roughness: 0.55, visible: true },
    ...(grid ? [{ id: 2, type: "Line", color: 0x8f99a6, shader: "simple", width: 0.01, opacity: 1, visible: true,
      model_matrix: eye4, vertices: { data: grid, shape: [grid.length / 3, 3] } }] : []),
  ] });
  let sample = null;
  sampled[0].obj.traverse((each) => { if (each.isMesh && !sample) sample = each; });
  const Mesh = sample.constructor, Geometry = sample.geometry.constructor;
  const Attribute = sample.geometry.attributes.position.constructor;
  sampled[0].obj.visible = false;
  if (grid) sampled[1].obj.traverse((each) => { if (each.material) { each.material.transparent = true; each.material.opacity = dark ? 0.22 : 0.45; } });

  const group = sample.parent.constructor === world.K3DObjects.constructor ? new world.K3DObjects.constructor() : world.scene;
  if (group !== world.scene) world.scene.add(group);
  const parts = [], groups = {};

  function material(colour) {
    const made = sample.material.clone();
    made.color.set(colour);
    return made;
  }

  function geometry(vertices, triangles) {
    const made = new Geometry();
    made.setAttribute("position", new Attribute(vertices, 3));
    if (triangles) made.setIndex(new Attribute(triangles, 1));
    made.computeVertexNormals();
    return made;
  }

  function add(owner, kind, shape, colour) {
    const mesh = new Mesh(shape, material(colour));
    mesh.frustumCulled = false;
    mesh.userData = { owner, kind, colour };
    group.add(mesh);
    parts.push(mesh);
    (groups[kind] = groups[kind] || []).push(mesh);
    return mesh;
  }

  const shapes = head.meshes.map((each) => geometry(read(each.v), read(each.t)));
  const tracks = Object.create(null);  // a part may be called __proto__
  for (const [name, spec] of Object.entries(head.tracks)) {
    tracks[name] = { spec, position: read(spec.p), turn: read(spec.q), velocity: read(spec.v), rate: read(spec.r), p: [0, 0, 0], q: [1, 0, 0, 0] };
  }
  const leaders = Object.values(tracks).filter((track) => !track.spec.on), carried = Object.values(tracks).filter((track) => track.spec.on);
  const solids = head.solids.map((each) => Object.assign(add(each.owner, each.group, shapes[each.mesh], each.colour), { spec: each }));
  const struts = head.struts.map((each) => {
    const mesh = Object.assign(add(each.owner, each.group, shapes[each.mesh], each.colour), { spec: each });
    mesh.level = read(each.level);
    mesh.tension = read(each.tension);
    return mesh;
  });
  const skins = head.skins.map((each) => {
    const base = read(each.v), mesh = add(each.owner, "body", geometry(base.slice(), read(each.t)), each.colour);
    mesh.geometry.setAttribute("color", new Attribute(new Float32Array(base.length).fill(1), 3));
    return Object.assign(mesh, { spec: each, base, moves: new Float32Array(base.length), shapes: read(each.shapes),
      coordinates: read(each.coordinates), stress: read(each.stress) });
  });
  const faces = head.faces.map((each) => {
    const corners = read(each.t), mesh = add(each.owner, "body", geometry(new Float32Array(3 * corners.length)), each.colour);
    mesh.material.flatShading = true;
    return Object.assign(mesh, { spec: each, corners });
  });
  const arrows = head.arrows.map((each) => {
    const kind = each.reaction ? "reactions" : "forces", colour = each.open ? "#7d8590" : each.torque ? "#7b3fa0" : each.reaction ? "#b5179e" : "#d62828";
    const shaft = add(each.owner, kind, shapes[head.shaft], colour);
    const tips = (each.torque ? [0, 1] : [0]).map(() => add(each.owner, kind, shapes[head.tip], colour));
    for (const mesh of [shaft, ...tips]) {  // seen through the parts that they act on
      Object.assign(mesh.material, { depthTest: false, transparent: true });
      mesh.renderOrder = 5;
    }
    return { spec: each, vector: read(each.vector), shaft, tips };
  });
  for (const each of head.traces) {
    const mesh = add(each.owner, "traces", geometry(...wire(read(each.points), 0.0028 * head.size)), each.colour);
    mesh.material.color.set("#000000");
    mesh.material.emissive.set(each.colour);
  }
  const perMetre = (kind) => head.arrow[kind].usual / (head.arrow.length * state.arrows);
  const drop = new camera.matrixWorld.constructor();
  if (head.ground) drop.set(...falling(head));
  const shadows = head.ground && parts.length < 500 ? shade() : [];

  // -- one instant ---------------------------------------------------------------------------------------------------

  let frame = 0, share = 0, followed = head.from;
  const pick = (list, width) => list.length === width ? [0, 0] : [frame * width, Math.min(frame + 1, last) * width];
  const between = (list, width, at = 0) => { const [i, k] = pick(list, width); return mix(list[i + at], list[k + at], share); };
  const vector = (list) => { const [i, k] = pick(list, 3); return [0, 1, 2].map((c) => mix(list[i + c], list[k + c], share)); };

  function pose() {
    let a = 0, b = last;
    while (b - a > 1) { const c = (a + b) >> 1; if (times[c] <= state.time) a = c; else b = c; }
    frame = a;
    share = last === 0 ? 0 : Math.min(Math.max((state.time - times[a]) / (times[a + 1] - times[a] || 1), 0), 1);
    const step = last === 0 ? 0 : times[frame + 1] - times[frame];
    for (const track of leaders) {
      const [i, k] = pick(track.turn, 4), [m, n] = pick(track.position, 3), at = track.spec.at;
      const turn = track.rate && i !== k && hermite(track.turn, track.rate, i, k, 4, step, share);
      track.q = turn ? unit(turn) : slerp(track.turn, i / 4, k / 4, share);
      track.p = plus((track.velocity && m !== n && hermite(track.position, track.velocity, m, n, 3, step, share)) || vector(track.position), turnBy(track.q, at), -1);
    }
    for (const track of carried) {
      const on = tracks[track.spec.on];
      track.q = times4(on.q, track.spec.turn);
      track.p = plus(on.p, turnBy(on.q, track.spec.at));
    }
    if (head.follow) {
      const step = plus(tracks[head.follow].p, followed, -1);
      followed = tracks[head.follow].p;
      for (const place of [camera.position, world.controls.target]) place.set(...plus(place.toArray(), step));
    }
    for (const mesh of solids) {
      put(mesh, tracks[mesh.spec.track]);
      if (mesh.spec.since !== null) mesh.material.wireframe = state.time < mesh.spec.since;
    }
    for (const mesh of struts) stretch(mesh, tracks[mesh.spec.a].p, tracks[mesh.spec.b].p, mesh.spec.radius);
    skins.forEach(bend);
    for (const mesh of faces) {
      const to = mesh.geometry.attributes.position;
      mesh.corners.forEach((corner, k) => to.array.set(tracks[mesh.spec.tracks[corner]].p, 3 * k));
      to.needsUpdate = true;
      mesh.geometry.computeVertexNormals();
    }
    arrows.forEach(point);
    paint();
    shadows.forEach(([shadow, mesh]) => { mesh.updateMatrix(); shadow.matrix.multiplyMatrices(drop, mesh.matrix); shadow.visible = mesh.visible; });
    write();
  }

  function put(mesh, track) {
    mesh.position.set(...track.p);
    mesh.quaternion.set(track.q[1], track.q[2], track.q[3], track.q[0]);
  }

  function stretch(mesh, a, b, radius) {
    const d = plus(b, a, -1);
    mesh.position.set(...a);
    mesh.quaternion.set(...along(d));
    mesh.scale.set(Math.max(Math.hypot(...d), 1e-9 * head.size), radius, radius);
  }

  function bend(mesh) {
    const n = mesh.spec.count, size = mesh.base.length, moves = mesh.moves.fill(0);
    for (let k = 0; k < n; k++) {
      const q = between(mesh.coordinates, n, k), shape = mesh.shapes, from = k * size;
      if (q !== 0) for (let c = 0; c < size; c++) moves[c] += q * shape[from + c];
    }
    const to = mesh.geometry.attributes.position;
    for (let c = 0; c < size; c++) to.array[c] = mesh.base[c] + state.magnify * moves[c];
    to.needsUpdate = true;
    mesh.geometry.computeVertexNormals();
    put(mesh, tracks[mesh.spec.track]);
  }

  function point(each) {
    const on = state.show[each.spec.reaction ? "reactions" : "forces"], v = vector(each.vector), size = Math.hypot(...v);
    const full = size / (perMetre(each.spec.torque ? "torque" : "force") || 1), length = Math.min(full, head.size);
    each.tips.forEach((mesh) => mesh.material.color.set(full > length ? "#000000" : mesh.userData.colour));  // cut
    const seen = on && length > 0.004 * head.size;
    each.shaft.visible = seen;
    each.tips.forEach((tip) => { tip.visible = seen; });
    if (!seen) return;
    const start = tracks[each.spec.track].p, way = v.map((c) => c / size), wide = 0.0065 * head.size;
    const tip = Math.min(0.045 * head.size, 0.6 * length), q = along(way);
    const at = (s) => plus(start, way, s);
    stretch(each.shaft, start, at(length - tip), wide);
    each.tips.forEach((mesh, k) => {
      mesh.position.set(...at(length - tip * (1 + 0.6 * k)));
      mesh.quaternion.set(...q);
      mesh.scale.set(tip, 0.36 * tip, 0.36 * tip);
    });
  }

  // -- colours -------------------------------------------------------------------------------------------------------

  const bar = find("scene-scale"), peak = { deflection: head.deflection, stress: head.stress, level: head.level };
  const averaged = skins.some((mesh) => mesh.stress && mesh.spec.averaged);
  const sparse = Math.min(...skins.map((mesh) => mesh.stress && mesh.spec.instants.length <= last ? mesh.spec.instants.length : Infinity));

  function paint() {
    for (const mesh of skins) {
      const to = mesh.geometry.attributes.color, count = mesh.base.length / 3;
      if (!mesh.material.vertexColors) continue;
      mesh.material.color.set("#ffffff");
      const at = mesh.stress ? mesh.spec.instants : [0];
      let i = 0;
      while (i + 2 < at.length && at[i + 1] <= frame) i++;
      const k1 = Math.min(i + 1, at.length - 1), part = Math.min(Math.max((times[frame] + share * ((times[frame + 1] ?? times[frame]) - times[frame]) - times[at[i]]) / (times[at[k1]] - times[at[i]] || 1), 0), 1);
      for (let k = 0; k < count; k++) {
        let value = 0;
        if (state.colour === "deflection") value = Math.hypot(mesh.moves[3 * k], mesh.moves[3 * k + 1], mesh.moves[3 * k + 2]) / (peak.deflection || 1);
        else value = mix(mesh.stress[i * count + k], mesh.stress[k1 * count + k], part) / 255;
        to.array.set(ramp(MAP, value), 3 * k);
      }
      to.needsUpdate = true;
    }
    for (const mesh of struts) {
      if (mesh.tension && mesh.userData.owner !== state.marked) mesh.material.color.set(between(mesh.tension, 1) > 0 ? mesh.userData.colour : SLACK);
      if (!mesh.level || mesh.userData.owner === state.marked) continue;
      const value = between(mesh.level, 1) / (peak.level || 1);
      if (Number.isNaN(value)) { mesh.material.color.set(UNKNOWN); continue; }
      mesh.material.color.setRGB(...ramp(SIGNED, 0.5 + 0.5 * Math.sign(value) * Math.sqrt(Math.abs(value))));
    }
  }

  function recolour() {
    for (const mesh of parts) {
      if (mesh.userData.kind === "traces") continue;
      const lit = state.marked !== null && mesh.userData.owner === state.marked;
      mesh.material.color.set(lit ? GLOW : mesh.userData.colour);
      mesh.material.emissive.set(lit ? GLOW : "#000000");
      mesh.material.emissiveIntensity = lit ? 0.4 : 0;
    }
    for (const mesh of skins) {
      const was = mesh.material.vertexColors, lit = mesh.userData.owner === state.marked;
      mesh.material.vertexColors = !lit && state.colour !== "" && (state.colour !== "stress" || !!mesh.stress);
      if (was !== mesh.material.vertexColors) mesh.material.needsUpdate = true;
    }
    legend();
  }

  function legend() {
    const strip = (colours) => `linear-gradient(90deg, ${colours.join(",")})`;
    const rows = [];
    if (skins.length && state.colour) {
      const stress = state.colour === "stress", value = stress ? peak.stress / 1e6 : peak.deflection * 1e3;
      rows.push([stress ? `von Mises stress${averaged ? ", averaged at nodes" : ""}${sparse < Infinity ? `, ${sparse} instants` : ""}` : "deflection", MAP, "0", `${brief(value)} ${stress ? "MPa" : "mm"}`]);
    }
    if (peak.level) rows.push([head.levels[0], SIGNED, `−${brief(peak.level)}`, `${brief(peak.level)} ${head.levels[1]}`]);
    for (const kind of ["force", "torque"]) {
      const there = arrows.some((each) => each.spec.torque === (kind === "torque") && state.show[each.spec.reaction ? "reactions" : "forces"]);
      const length = round(0.2 * head.size);
      if (there && head.arrow[kind].most / perMetre(kind) > 1.0001 * head.size) rows.push([`${kind}s beyond ${brief(head.size * perMetre(kind))} ${kind === "force" ? "N" : "N m"} are cut: black tip`, null, "", ""]);
      if (there) rows.push([`${kind} arrow of ${brief(length)} m`, null, "", `${brief(length * perMetre(kind))} ${kind === "force" ? "N" : "N m"}`]);
    }
    if (head.struts.some((each) => each.unknown)) rows.push(["dark: not known", null, "", ""]);
    if (arrows.some((each) => each.spec.open && state.show[each.spec.reaction ? "reactions" : "forces"])) rows.push(["grey arrows: not determined by rigid bodies", null, "", ""]);
    if (state.show.reactions && head.second) rows.push(["reactions act on the second frame of a joint", null, "", ""]);
    bar.replaceChildren(...rows.map(([title, colours, left, right]) => {
      const row = document.createElement("section"), line = document.createElement("div");
      row.style.cssText = "all:unset;display:block;margin-top:.3rem";
      for (const words of colours ? [left, title, right] : [title, right]) line.append(Object.assign(document.createElement("span"), { textContent: words }));
      if (colours) { const strip_ = document.createElement("i"); strip_.style.background = strip(colours); row.append(strip_); }
      row.append(line);
      return row;
    }));
  }

  // -- shadows -------------------------------------------------------------------------------------------------------

  function shade() {  // flat shadows on the ground, each point darkened once
    const dark = material("#000000");
    Object.assign(dark, { transparent: true, opacity: 0.13, depthWrite: false, roughness: 1, stencilWrite: true, stencilFunc: 514, stencilRef: 0, stencilZPass: 7682 });
    return parts.filter((mesh) => ["body", "joint", "ground"].includes(mesh.userData.kind)).map((mesh) => {
      const shadow = new Mesh(mesh.geometry, dark);
      shadow.matrixAutoUpdate = false;
      shadow.frustumCulled = false;
      shadow.renderOrder = -1;
      group.add(shadow);
      return [shadow, mesh];
    });
  }

  // -- words ---------------------------------------------------------------------------------------------------------

  const words = Object.entries(head.labels).map(([name, track]) => {
    const span = Object.assign(document.createElement("span"), { textContent: name, hidden: true });
    labelBox.append(span);
    return { name, track, span, wide: Math.min(7 * name.length + 10, 168) };
  });

  function screen(place) {  // pixels from the left upper corner, and depth
    camera.updateMatrixWorld();
    const p = new camera.position.constructor(...place).project(camera);
    return [(p.x + 1) / 2 * target.clientWidth, (1 - p.y) / 2 * target.clientHeight, p.z];
  }

  function write() {
    const taken = [];
    for (const { name, track, span, wide } of words) {
      const chosen = name === state.marked;
      span.hidden = !(state.show.labels || chosen);
      span.className = chosen ? "chosen" : "";
      if (span.hidden) continue;
      let [x, y, z] = screen(tracks[track].p);
      if (z > 1) { span.hidden = true; continue; }
      x = Math.min(x + 9, Math.max(target.clientWidth - wide, 0)); y -= 20;
      while (taken.some(([a, b, c]) => x < a + c && a < x + wide && Math.abs(b - y) < 16)) y -= 16;
      taken.push([x, y, wide]);
      span.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px)`;
    }
  }

  // -- camera --------------------------------------------------------------------------------------------------------

  const reached = () => ["forces", "reactions"].reduce((all, kind) => state.show[kind] ? [...all, ...head.arrow[kind]] : all, head.reach);

  function view(name) {
    const eyes = { iso: head.front, x: [1, 0, 0], y: [0, head.front[1] < 0 ? -1 : 1, 0], z: [0, 0, 1] };
    const now = plus(camera.position.toArray(), world.controls.target.toArray(), -1);
    const seen = standing({ ...head, reach: reached() }, eyes[name] || now, Math.tan(camera.fov * Math.PI / 360), camera.aspect);
    if (head.follow) for (const k of [0, 1, 2]) for (const at of [k, k + 3]) seen[at] += followed[k] - head.from[k];
    plot.setCamera(seen);
    if (eyes[name]) state.view = name;
    depth();
    redraw();
  }

  function depth() {
    const far = Math.hypot(...low.map((c, k) => high[k] - c)) * 4 + camera.position.distanceTo(world.controls.target) * 4;
    camera.near = Math.min(far * 1e-4, 0.02 * camera.position.distanceTo(world.controls.target));
    camera.far = far;
    camera.updateProjectionMatrix();
  }

  plot.on(plot.events.CAMERA_CHANGE, () => { depth(); write(); });
  const small = () => { world.axesHelper.width = world.axesHelper.height = Math.min(Math.max(0.12 * target.clientWidth, 56), 90); };
  small();
  plot.on(plot.events.RESIZED, () => {
    small();
    if (state.view) view(state.view);
  });

  control({ plot, world, camera, times, parts, groups, tracks, pose, legend, recolour, view, screen });
}

start().catch((error) => { console.error(error); fail("The animation could not be started."); });
