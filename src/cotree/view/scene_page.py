"""The picture in space as a part of a page: K3D's engine, the scene's data, and our script that moves the parts."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from cotree.view.figures import clean
from cotree.view.scene import Scene, outermost, ways
from cotree.view.scene_frames import Carried, carried
from cotree.view.scene_shapes import Mesh, cone, revolved

MAGNIFIED = 0.06
"""Part of the model's size at which a magnified deflection is easily seen."""
USUAL = 0.22
"""Length of a usual arrow as part of the model's size."""


def scene_section(scene: Scene) -> str:
    """HTML with the animation; a hint how to install the engine where K3D is missing."""
    engine = _engine()
    if engine is None:
        return (
            '<p class="lead">The animation in space needs the package k3d: '
            "<code>pip install 'cotree[view]'</code>, then write the report again.</p>"
        )
    head, data = packed(scene)
    own = resources.files("cotree.view").joinpath("assets")
    files = ("scene.css", "scene_maths.js", "scene_controls.js", "scene.js")
    style, *scripts = (own.joinpath(name).read_text(encoding="utf-8") for name in files)
    told = json.dumps(head, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return f"""<style>{style}</style>
<div class="scene" id="scene" tabindex="0" aria-label="Animation in space: drag to turn, wheel to zoom, space to play">
<div class="scene-view" id="scene-view"></div>
<div class="scene-labels" id="scene-labels"></div>
<div class="scene-scale" id="scene-scale"></div>
<p class="scene-hint" id="scene-hint" hidden></p>
<noscript><style>#scene-note, #scene-bar {{ display:none }}</style>
<p class="scene-note">The animation needs JavaScript.</p></noscript>
<p class="scene-note" id="scene-note">The animation is being unpacked …</p>
</div>
{_bar(scene, head)}
<script type="application/json" id="scene-head">{told}</script>
<script type="text/plain" id="scene-data">{base64.b64encode(zlib.compress(data, 9)).decode()}</script>
<script type="text/plain" id="scene-engine">{engine}</script>
<script>
(() => {{
{"".join(scripts)}}})();
</script>"""


def _bar(scene: Scene, head: Mapping[str, Any]) -> str:
    """The controls below the picture."""
    toggles = [
        ("forces", "Forces", any(not arrow.reaction for arrow in scene.arrows)),
        ("reactions", "Reactions", any(arrow.reaction for arrow in scene.arrows)),
        ("traces", "Traces", bool(scene.traces)),
        ("labels", "Names", bool(scene.labels)),
    ]
    shown = "".join(
        f'<button type="button" data-show="{name}" aria-pressed="false">{word}</button>'
        for name, word, there in toggles
        if there
    )
    views = "".join(
        f'<button type="button" data-view="{name}" title="{title}">{word}</button>'
        for name, word, title in (
            ("iso", "3-D", "Oblique view"), ("x", "x", "Along x"), ("y", "y", "Along y"), ("z", "z", "Along z"),
            ("fit", "Fit", "Everything in view"),
        )
    )  # fmt: skip
    bent = ""
    if scene.arrows:
        options = "".join(
            f'<option value="{step:g}"{" selected" if step == 1 else ""}>{step:g} ×</option>'
            for step in (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
        )
        bent += f'<span><label for="scene-arrows">Arrows</label><select id="scene-arrows">{options}</select></span>'
    if scene.skins:
        steps = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
        most = max(10.0, 5 * MAGNIFIED * scene.size / max(head["deflection"], 1e-12))
        options = "".join(
            f'<option value="{step:g}"{" selected" if step == 1 else ""}>{step:g} ×</option>'
            for step in steps
            if step <= most
        )
        stress = '<option value="stress">stress</option>' if head["stress"] else ""
        bent += (
            f'<span><label for="scene-magnify">Deflection</label><select id="scene-magnify">{options}</select></span>'
            '<span><label for="scene-colour">Colour</label><select id="scene-colour">'
            f'<option value="deflection">deflection</option>{stress}<option value="">by part</option></select></span>'
        )
    return f"""<div class="scene-bar" id="scene-bar">
<button type="button" class="scene-play" id="scene-play">▶ Play</button>
<span class="scene-time"><input type="range" id="scene-slider" min="0" max="1" step="any" value="0" aria-label="Time">
<output id="scene-clock"></output></span>
<span><label for="scene-speed">Speed</label><select id="scene-speed"></select></span>
<span>{views}</span><span>{shown}</span>{bent}
</div>"""


@cache
def _engine() -> str | None:
    """K3D's engine, compressed; found without importing K3D, which would take half a second."""
    found = find_spec("k3d")
    if found is None or not found.submodule_search_locations:
        return None
    path = Path(next(iter(found.submodule_search_locations))) / "static" / "standalone.js"
    if not path.is_file():
        return None
    return base64.b64encode(zlib.compress(path.read_bytes(), 9)).decode()


class Store:
    """Arrays one after the other in one piece of memory, each told by offset, type and length."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []
        self.size = 0

    def put(self, array: Any, kind: str = "f") -> list[Any]:
        """Where an array of numbers (f and I of 32 bits, d of 64) or bytes (B) is; h keeps 16 bits of 24, for rates."""
        rough, kind = kind == "h", "f" if kind == "h" else kind
        flat = np.ascontiguousarray(array, dtype={"f": "<f4", "d": "<f8", "I": "<u4", "B": "u1"}[kind]).ravel()
        if rough:
            flat = ((flat.view("<u4") + np.uint32(128)) & np.uint32(0xFFFFFF00)).view("<f4")
        piece = flat.tobytes()
        piece += b"\0" * (-len(piece) % 8)
        self.pieces.append(piece)
        at, self.size = self.size, self.size + len(piece)
        return [at, kind, len(flat)]


def packed(scene: Scene) -> tuple[dict[str, Any], bytes]:
    """The scene as plain data for the page, and its numbers as bytes."""
    store = Store()
    meshes: list[dict[str, Any]] = []
    known: dict[int, int] = {}

    def mesh_number(mesh: Mesh) -> int:
        if id(mesh) not in known:
            known[id(mesh)] = len(meshes)
            meshes.append({"v": store.put(mesh.vertices), "t": store.put(mesh.triangles, "I")})
        return known[id(mesh)]

    def course(array: Any, kind: str = "f") -> list[Any]:
        still = bool((array == array[:1]).all())
        return store.put(array[:1] if still else array, kind)

    centre = scene.centre
    wide = "d" if np.ptp(scene.bounds, axis=0).max() > 300 * scene.size else "f"

    def told(each: Carried) -> dict[str, Any]:
        if each.on is not None:
            return {"on": each.on, "at": each.at.tolist(), "turn": np.asarray(each.turn).tolist()}
        track = each.track
        return {
            "p": course(track.position - centre, wide), "q": course(track.orientation), "at": each.at.tolist(),
            "v": None if track.velocity is None else course(track.velocity, "h"),
            "r": None if track.rate is None else course(track.rate, "h"),
        }  # fmt: skip

    shaft = revolved([(0.0, 0.0), (0.0, 1.0), None, (0.0, 1.0), (1.0, 1.0)], 12)
    moved = max((skin.deflection for skin in scene.skins), default=0.0)
    stress = max((float(skin.stress.max()) for skin in scene.skins if skin.stress is not None), default=0.0)
    head: dict[str, Any] = {
        "name": clean(scene.name),
        "times": store.put(scene.times, "d"),
        "size": scene.size,
        "bounds": (scene.bounds - centre).tolist(),
        "centre": centre.tolist(),
        "up": scene.up.tolist(),
        "front": scene.front.tolist(),
        "ground": scene.ground and [scene.ground[0].tolist(), scene.ground[1] - float(scene.ground[0] @ centre)],
        "reach": (scene.reach - centre).ravel().tolist(),
        "follow": scene.follow,
        "from": None if scene.follow is None else (scene.tracks[scene.follow].position[0] - centre).tolist(),
        "second": scene.second,
        "levels": scene.levels,
        "level": scene.level,
        "notes": [clean(note) for note in scene.notes],
        "labels": dict(scene.labels),
        "deflection": moved,
        "stress": stress,
        "tracks": {name: told(each) for name, each in carried(scene.tracks, scene.size).items()},
        "solids": [
            {"owner": s.owner, "mesh": mesh_number(s.mesh), "track": s.track, "colour": s.colour, "group": s.group,
             "since": s.since}
            for s in scene.solids
        ],
        "struts": [
            {"owner": s.owner, "mesh": mesh_number(s.mesh), "a": s.a, "b": s.b, "radius": s.radius,
             "colour": s.colour, "group": s.group, "level": None if s.level is None else store.put(s.level),
             "tension": None if s.tension is None else course(s.tension[:, None]),
             "unknown": s.level is not None and bool(np.isnan(s.level).any())}
            for s in scene.struts
        ],
        "skins": [
            {"owner": s.owner, "track": s.track, "colour": s.colour, "v": store.put(s.mesh.vertices),
             "t": store.put(s.mesh.triangles, "I"), "count": s.coordinates.shape[1], "shapes": store.put(s.shapes),
             "coordinates": store.put(s.coordinates),
             "stress": None if s.stress is None else store.put((255 / (stress or 1.0) * s.stress).round(), "B"),
             "instants": None if s.instants is None else s.instants.tolist(), "averaged": s.averaged}
            for s in scene.skins
        ],
        "faces": [
            {"owner": f.owner, "tracks": f.tracks, "t": store.put(f.triangles, "I"), "colour": f.colour}
            for f in scene.faces
        ],
        "arrows": [
            {"owner": a.owner, "track": a.track, "vector": course(a.vector, "h"), "torque": a.torque,
             "reaction": a.reaction, "open": a.open}
            for a in scene.arrows
        ],
        "traces": [
            {"owner": t.owner, "points": store.put(t.points - centre), "colour": t.colour} for t in scene.traces
        ],
        "arrow": arrow_lengths(scene),
        "shaft": mesh_number(shaft),
        "tip": mesh_number(cone(1.0, 1.0)),
    }  # fmt: skip
    head["meshes"] = meshes
    return head, b"".join(store.pieces)


def arrow_lengths(scene: Scene) -> dict[str, Any]:
    """The force and torque that an arrow of the usual length stands for, the largest, and how far arrows reach.

    Nine in ten arrows are not longer than usual, and none is longer than four times that.
    """
    sizes = {arrow: np.nan_to_num(np.linalg.norm(arrow.vector, axis=1)) for arrow in scene.arrows}
    usual = {}
    result: dict[str, Any] = {"length": USUAL * scene.size}
    for word, torque in (("force", False), ("torque", True)):
        every = np.concatenate([[0.0], *(size for arrow, size in sizes.items() if arrow.torque == torque)])
        most = float(every.max())
        usual[torque] = max(float(np.quantile(every[1:], 0.9)) if len(every) > 1 else 0.0, most / 4)
        result[word] = {"usual": usual[torque], "most": most}
    few = np.unique(np.linspace(0, len(scene.times) - 1, 40).astype(int))
    for word, reaction in (("forces", False), ("reactions", True)):
        ends = [
            scene.tracks[arrow.track].position[few] + USUAL * scene.size / (usual[arrow.torque] or 1.0) * vector[few]
            for arrow in scene.arrows
            if arrow.reaction == reaction and scene.follow is None
            for vector in [np.nan_to_num(arrow.vector)]
        ]
        far = outermost(np.concatenate(ends), ways()) - scene.centre if ends else np.zeros((0, 3))
        result[word] = far.ravel().tolist()
    return result
