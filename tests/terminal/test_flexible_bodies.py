"""Flexible bodies as data: keys of their tables, files and back, sections of lines, what is held and left out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cotree as ct
from cotree.terminal.deformable import Deformable

GRID = ct.mesh.grid(size=(2, 1), cells=(40, 20), pattern="right")
CARBON = ct.Orthotropic(0.001, 140e9, 10e9, 0.3, 5e9, 1600.0)
ARM = ct.mesh.polyline([(0, 0, 0), (1, 0, 0), (1, 1, 0)], [2, 2])


def beam(**given: Any) -> ct.Beam:
    settings: dict[str, Any] = {"section": ct.section.rectangle(0.02, 0.01), "material": ct.STEEL, "elements": 4}
    return ct.Beam("b", **(settings | {"length": 1.0, "modes": 1} | given))


def shell(**given: Any) -> ct.FlexibleBody:
    settings: dict[str, Any] = {"mesh": GRID, "plate": ct.Plate(0.01, ct.STEEL), "attached": "p", "modes": 1}
    return ct.FlexibleBody("b", **(settings | {"frames": {"p": (0, 0, 0), "q": (2, 1, 0)}} | given))


def frame(**given: Any) -> ct.FlexibleBody:
    settings: dict[str, Any] = {"section": ct.section.rectangle(0.02, 0.01), "material": ct.STEEL, "modes": 1}
    return ct.FlexibleBody("b", **(settings | {"mesh": ARM, "frames": {"p": 0, "q": 4}, "attached": "p"} | given))


def key(body: Deformable, parameters: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> str:
    """The key under which the tables of a body are kept."""
    seen: list[str] = []

    class Enough(Exception):
        pass

    def stored(folder: object, found: str, compute: object) -> None:
        seen.append(found)
        raise Enough

    monkeypatch.setattr("cotree.fem.store.stored", stored)
    with pytest.raises(Enough):
        body.tables(body.values(parameters))
    return seen[0]


def test_every_choice_changes_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    many = np.arange(1, 801)
    other = many.copy()
    other[400] = 850  # in the middle, which a shortened text of the array leaves out
    bodies = [
        shell(),
        shell(rigid={"p": many}),
        shell(rigid={"p": other}),
        shell(held={"right": "z"}),
        shell(held={"right": "z rx"}),
        shell(interface={"q": "z"}),
        shell(interface={"q": "x"}),
        shell(damping=0.01),
        shell(masses={"t": {"at": "q", "mass": 1}}),
        shell(masses={"t": {"at": "q", "mass": 1 + 1e-12}}),
        shell(direction=(0, 1, 0)),
        shell(plate=CARBON),
        shell(stiffening="none"),
        frame(),
        frame(offset=(0, 0.01)),
        frame(section_y=(0, 0, 1)),
    ]
    keys = [key(body, {}, monkeypatch) for body in bodies]
    assert len(set(keys)) == len(keys)
    assert key(shell(rigid={"p": many.tolist()}), {}, monkeypatch) == keys[1]


def test_frames_that_change_places_have_other_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """The nodes are the same, but a and b are at the place of the other."""
    body = beam(frames={"a": "u", "b": "v"})
    here, there = {"u": 0.2, "v": 0.6}, {"u": 0.6, "v": 0.2}
    assert key(body, here, monkeypatch) != key(body, there, monkeypatch)


def test_frames_that_change_places_move_differently() -> None:
    body = beam(frames={"a": "u", "b": "v"})
    one, two = (body.tables(body.values(each)) for each in ({"u": 0.2, "v": 0.6}, {"u": 0.6, "v": 0.2}))
    np.testing.assert_array_equal(one.frames["a"].place, two.frames["b"].place)
    np.testing.assert_array_equal(one.frames["a"].move, two.frames["b"].move)


def test_what_a_beam_leaves_out_carries_forces_all_the_same() -> None:
    """A beam that bends only is pulled by a force at its end as one that also stretches: G = int w'^2."""
    given: dict[str, Any] = {"shapes": "clamped", "modes": 1, "shear": False, "rotary": False}
    only, whole = (beam(deforms=d, **given) for d in (["xy"], ["xy", "axial"]))
    found = [body.tables(body.values({})).frames["end"].move_2[0, 0, 0] for body in (only, whole)]
    assert found[0] == pytest.approx(found[1], rel=1e-9)
    assert found[0] > 1


def test_a_section_is_turned_and_moved() -> None:
    """Frequencies of a flat bar swap its planes with the section's y axis; an offset moves the mass."""
    given: dict[str, Any] = {"mesh": ct.mesh.line((0, 0, 0), (1, 0, 0), 8), "frames": {"p": 0}, "shapes": "clamped"}
    given |= {"shear": False, "rotary": False, "modes": 2}
    lying, standing = frame(**given), frame(**given, section_y=(0, 0, 1))
    one, two = (body.tables(body.values({})) for body in (lying, standing))
    np.testing.assert_allclose(one.frequencies, two.frequencies, rtol=1e-9)
    area, e, rho = 2e-4, ct.STEEL.young, ct.STEEL.density
    for tables, low, high in ((one, 2, 1), (two, 1, 2)):
        for mode, axis, width in ((0, low, 0.01), (1, high, 0.02)):
            exact = 1.8751040687**2 * np.sqrt(e * area * width**2 / 12 / (rho * area))
            assert tables.frequencies[mode] == pytest.approx(exact, rel=1e-4)
            assert np.argmax(np.abs(tables.first_q[:, mode])) == axis
    moved = frame(**given, offset=(0.1, 0.2))
    found = moved.tables(moved.values({}))
    np.testing.assert_allclose(found.first / found.mass, [0.5, 0.1, 0.2], rtol=1e-12)


FULL: dict[str, ct.Beam | ct.FlexibleBody] = {
    "beam": beam(
        shapes="clamped", modes=[1, 3], damping=[0.01, 0.02], deforms=["xy", "torsion"], offset=(0.01, 0.02), roll=0.1,
        shear=False, mass="linear", stiffening="rigid", attached="end", elastic={"mode1": 0.01}, length="l",
        frames={"a": 0.5, "G": "centre_of_mass", "t": {"at": "l/4", "axis": (0, 0, 1), "angle": 0.3}},
        masses={"t": {"at": "a", "mass": 2, "inertia": np.array([1.0, 1, 1]), "centre": (0, 0, 0.1)}},
        section=ct.section.general(1e-4, 1e-9, 2e-9, 2e-9, 0.8, 0.9, corners=[(0.1, 0.2)]),
        material={"young": 1e9, "density": 1000.0, "shear": 4e8, "viscosity": 1e-4, "poisson": 0.3, "name": "x"},
    ),
    "interface": beam(interface={"end": "y rz"}, modes=None, below=1e4, attached=["start", "end"]),
    "shell": shell(
        rigid={"p": "left", "q": np.array([860, 859])}, held={"top": "z rx", "bottom": ["ry"]}, direction=(0, 2, 0),
        plate=CARBON, interface=["q"], frames={"p": (-0.1, 0, 0), "q": 860, "G": "centre_of_mass"}, damping=0.01,
    ),
    "layered": shell(plate=ct.layered([CARBON, (CARBON, 0.5), ct.Plate(0.001, ct.ALUMINIUM)]), attached="mean"),
    "mesh": shell(
        mesh={"nodes": [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], "triangles": [(0, 1, 2), (0, 3, 2)],
              "sets": {"s": [1, 2]}, "orient": True},
        frames={"p": 0}, held={"s": "all"},
    ),
    "lines": frame(offset=(0, 0.01), section_y=(0, 0, 1), mass="linear", shear=False, held={"end": "x"}),
}  # fmt: skip


@pytest.mark.parametrize("name", FULL)
def test_a_file_gives_the_same_body(name: str, tmp_path: Path) -> None:
    m = ct.Model(name)
    m.parameter("l", 1.0)
    m.add(FULL[name])
    m.add(ct.Weld("J", m.ground, "b.p" if "p" in FULL[name].frames else "b.start"))
    again = ct.load(m.save(tmp_path / "model.yaml"))
    assert again.components["b"] == m.components["b"]
    assert again.save(tmp_path / "again.yaml").read_text() == (tmp_path / "model.yaml").read_text()
    one, two = (each.components["b"] for each in (m, again))
    first, second = (body.tables(body.values({"l": 1.0})) for body in (one, two))
    assert first is second  # the same key


def test_plates_are_saved_in_short(tmp_path: Path) -> None:
    m = ct.Model("plate")
    m.add(shell())
    m.add(ct.Weld("J", m.ground, "b.p"))
    text = m.save(tmp_path / "model.yaml").read_text()
    assert "plate: {thickness: 0.01" in text or "plate:\n      thickness: 0.01" in text
