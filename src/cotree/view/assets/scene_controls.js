// What moves the picture in space: the clock, the controls below it, mouse and keys, and window.cotree for the page.

function control({ plot, world, camera, times, parts, groups, tracks, pose, legend, recolour, view, screen }) {
  const last = times.length - 1;
  const soft = /swiftshader|llvmpipe|software/i.test(plot.glInfo.unmaskedRenderer || "");
  let sharp = Math.max(soft ? 1 : 2, Math.min(window.devicePixelRatio, 3));  // finer than the screen, for smooth edges
  world.renderer.setPixelRatio(sharp);

  const slider = find("scene-slider"), clock = find("scene-clock"), button = find("scene-play"), scale = find("scene-arrows");
  let before = null, seen = true, slow = 0;

  function tick(now) {
    if (state.playing && before !== null && sharp > 1) {  // coarser where the machine cannot follow
      slow = now - before > 45 ? slow + 1 : Math.max(slow - 1, 0);
      if (slow > 20) { slow = 0; sharp = Math.max(1, sharp / 2); world.renderer.setPixelRatio(sharp); }
    }
    if (state.playing && before !== null && seen) {
      const t = state.time + Math.min((now - before) / 1000, 0.1) * state.speed;
      state.time = t > times[last] ? (cotree.duration ? times[0] + (t - times[0]) % cotree.duration : times[0]) : t;
      state.dirty = true;
    }
    before = now;
    if (state.dirty) {
      state.dirty = false;
      pose();
      plot.render();
      slider.value = String(cotree.duration ? (state.time - times[0]) / cotree.duration : 0);
      clock.textContent = `${state.time.toFixed(digits)} s`;
      ticked.forEach((call) => call(state.time));
    }
    requestAnimationFrame(tick);
  }
  const digits = Math.min(Math.max(0, Math.ceil(2.3 - Math.log10(cotree.duration || 1))), 9);

  function playing(on) {
    state.playing = on && cotree.duration > 0;
    if (state.playing && state.time >= times[last]) state.time = times[0];
    button.textContent = state.playing ? "❚❚ Pause" : "▶ Play";
    button.setAttribute("aria-label", state.playing ? "Pause" : "Play");
  }

  Object.assign(cotree, {
    play() { playing(true); }, pause() { playing(false); }, view,
    seek(t) { state.time = Math.min(Math.max(t, times[0]), times[last]); pose(); plot.render(); redraw(); },
    highlight(name) {
      const known = (each) => parts.some((mesh) => mesh.userData.owner === each);
      state.marked = name === null || name === undefined ? null : known(name) ? name : known(String(name).split(".")[0]) ? String(name).split(".")[0] : null;
      recolour();
      redraw();
      return state.marked;
    },
    show(name, on) {
      state.show[name] = on;
      (groups[name] || []).forEach((mesh) => { mesh.visible = on; });
      const toggle = document.querySelector(`[data-show="${name}"]`);
      if (toggle) toggle.setAttribute("aria-pressed", String(on));
      if (scale) scale.parentNode.hidden = !(state.show.forces || state.show.reactions);
      legend();
      if (state.view && head.arrow[name] && head.arrow[name].length) view(state.view);
      redraw();
    },
    magnify(factor) { state.magnify = factor; redraw(); },
    scale(factor) { state.arrows = factor; legend(); redraw(); },
    colour(name) { state.colour = name; recolour(); redraw(); },
    inspect: {
      screen, parts,
      camera: () => ({ array: world.controls.getCameraArray(), fov: camera.fov }),
      pose: (name) => ({ position: plus(tracks[name].p, head.centre), orientation: [...tracks[name].q] }),
      matrix: (owner) => { const mesh = parts.find((each) => each.userData.owner === owner); mesh.updateMatrix(); return [...mesh.matrix.elements]; },
      vertices: (owner) => [...parts.find((each) => each.userData.owner === owner).geometry.attributes.position.array],
    },
  });

  button.onclick = () => playing(!state.playing);
  slider.oninput = () => { playing(false); cotree.seek(times[0] + Number(slider.value) * cotree.duration); };
  const speeds = find("scene-speed"), natural = cotree.duration / 6;
  const base = cotree.duration >= 1 && cotree.duration <= 15 ? 1 : [1, 2, 5, 10].map((c) => c * 10 ** Math.floor(Math.log10(natural || 1))).reduce((a, c) => Math.abs(Math.log(c / natural)) < Math.abs(Math.log(a / natural)) ? c : a);
  for (const factor of [0.1, 0.25, 0.5, 1, 2, 4]) {
    const value = base * factor, text = value >= 1 ? `${brief(value)} ×` : `1/${brief(1 / value)} ×`;
    speeds.append(Object.assign(document.createElement("option"), { value: String(value), textContent: text, selected: factor === 1 }));
  }
  state.speed = base;
  speeds.onchange = () => { state.speed = Number(speeds.value); };
  document.querySelectorAll("[data-view]").forEach((each) => { each.onclick = () => view(each.dataset.view); });
  document.querySelectorAll("[data-show]").forEach((each) => { each.onclick = () => cotree.show(each.dataset.show, each.getAttribute("aria-pressed") !== "true"); });
  const magnify = find("scene-magnify"), colours = find("scene-colour");
  if (magnify) { magnify.onchange = () => cotree.magnify(Number(magnify.value)); state.magnify = Number(magnify.value); }
  if (colours) { colours.onchange = () => cotree.colour(colours.value); state.colour = colours.value; }
  if (scale) scale.onchange = () => cotree.scale(Number(scale.value));
  root.onkeydown = (event) => {
    if (event.target !== root) return;
    if (event.key === " ") { playing(!state.playing); event.preventDefault(); }
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      cotree.seek(state.time + (event.key === "ArrowRight" ? 1 : -1) * cotree.duration / 100);
      event.preventDefault();
    }
  };
  // the wheel scrolls the page until the scene has been clicked
  root.addEventListener("wheel", (event) => { if (document.activeElement !== root && !event.ctrlKey) event.stopPropagation(); }, true);
  let down = null;
  const canvas = world.renderer.domElement;
  canvas.addEventListener("pointerdown", (event) => { down = [event.clientX, event.clientY]; state.view = null; root.focus({ preventScroll: true }); });
  canvas.addEventListener("pointerup", (event) => {
    if (!down || Math.hypot(event.clientX - down[0], event.clientY - down[1]) > 4) return;
    const box = canvas.getBoundingClientRect();
    world.raycaster.setFromCamera({ x: (event.clientX - box.left) / box.width * 2 - 1, y: 1 - (event.clientY - box.top) / box.height * 2 }, camera);
    const hit = world.raycaster.intersectObjects(parts.filter((mesh) => mesh.visible), false).sort((a, b) => a.distance - b.distance)[0];
    const name = hit ? hit.object.userData.owner : null;
    cotree.highlight(name);
    picked.forEach((call) => call(name));
  });
  new IntersectionObserver((entries) => { seen = entries.some((each) => each.isIntersecting); before = null; }).observe(root);

  for (const name of ["forces", "reactions", "traces", "labels"]) cotree.show(name, false);
  recolour();
  pose();
  view("iso");
  playing(!window.matchMedia("(prefers-reduced-motion: reduce)").matches);
  requestAnimationFrame(tick);
}
