"""What acts on a flexible body: forces and moments on its frames, and the accelerations that its mass feels.

Section forces and stress follow from these (`cotree.fem.internal`), so they are results. At the stations of a beam
section forces are results themselves, by tables of unit loads (`cotree.fem.stations`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from cotree.formulation.branch.mechanism import Mechanism, Reactions
from cotree.formulation.branch.places import Flexible, Place
from cotree.formulation.system import Output
from cotree.maths.rotation import quaternion_of, skew
from cotree.maths.symbolic import constant
from cotree.terminal.mechanics import PARAMETERS, XYZ, Wrench

if TYPE_CHECKING:
    from cotree.fem.section import Section
    from cotree.formulation.branch.segmented import Segmented

FORCES = {"axial": "N", "shear_y": "N", "shear_z": "N", "torsion": "N m", "moment_y": "N m", "moment_z": "N m"}
"""Section forces of a beam, in the order of `cotree.fem.beam_recovery.Forces`, and their units."""
IN_PLANE = ("axial", "shear_y", "moment_z")
"""Those of a planar model."""


Loads = Mapping[int, Mapping[str, Wrench]]
"""Wrenches on frames by the number of a flexible body and the name of its frame, in body axes."""


def frame_loads(own: Mechanism, carried: Reactions) -> Loads:
    """Force and moment of all that sits on each frame of each flexible body, about the frame and in body axes.

    What acts on the body's own frame acts on the frame that carries it.
    """
    top, kin = own.top, own.kin
    names = {id(place): node.partition(".")[2] for node, place in top.places.items() if place.body in top.flexible}
    for link in top.links.values():
        if link.inner:
            names |= {id(link.a): "end", id(link.b): "start"}
    result: dict[int, dict[str, Wrench]] = {j: {} for j in top.flexible}
    for a, b, wrench in carried.pairs if result else ():
        force, torque = ca.mtimes(a.rotation, wrench.force), ca.mtimes(a.rotation, wrench.torque)
        B = kin.between(a.body, b.body)
        arm = kin.offset(a.body, b.body) + ca.mtimes(B, b.position) - a.position
        for place, f, m in (
            (a, -force, -torque - ca.cross(arm, force)),
            (b, ca.mtimes(B.T, force), ca.mtimes(B.T, torque)),
        ):
            if place.body not in result:
                continue
            name = names[id(place)]
            if not name:
                name, centre = _carrier(own, place)
                m = m + ca.cross(place.position - centre, f)
            known = result[place.body].get(name, Wrench(ca.SX.zeros(3), ca.SX.zeros(3)))
            result[place.body][name] = Wrench(known.force + f, known.torque + m)
    return result


def _carrier(own: Mechanism, place: Place) -> tuple[str, ca.SX]:
    """The frame that carries a body's own frame, and its position in the axes of the body that it lies on."""
    for beam in own.top.segmented.values():
        if place is own.top.places[beam.name] and place.node is not None:
            return beam.body.own_frame, place.node.position
    flexible = own.top.flexible[place.body]
    name = flexible.body.carriers()[0]  # a frame of its own is fixed to one point only
    return name, own.top.places[f"{flexible.name}.{name}"].position


def load_outputs(own: Mechanism, whole: Flexible | Segmented, loads: Loads) -> dict[str, Output]:
    """Results of a flexible body from which its internal forces follow, all in body axes.

    Those of a beam of several segments are given for each segment, and for its frames in the beam's own axes.
    """
    if isinstance(whole, Flexible):
        j = next(j for j, each in own.top.flexible.items() if each is whole)
        return _loads_of(own, j, loads[j])
    result = _specific_force(own, whole)
    for j, part in zip(whole.numbers, whole.chain.parts, strict=True):
        result |= _turning(own, j) | _loads_of(own, j, loads[j])
        axes = own.top.places[whole.name]
        turn = ca.mtimes(axes.rotation.T, own.kin.between(axes.body, j))
        seen = {
            frame: Wrench(ca.mtimes(turn, each.force), ca.mtimes(turn, each.torque))
            for frame, each in loads[j].items()
            if frame in part.frames
        }
        result |= _wrenches(whole.name, seen)
    return result


def _specific_force(own: Mechanism, whole: Segmented) -> dict[str, Output]:
    """Acceleration of the own frame of a beam of segments less gravity, in its axes."""
    kin, place = own.kin, own.top.places[whole.name]
    j, w = place.body, kin.omega[place.body]
    velocity = kin.v[j] + ca.cross(w, place.position) + place.rate
    felt = kin.accelerations[0][j] + ca.cross(kin.accelerations[1][j], place.position) + ca.cross(w, place.rate)
    felt += kin.rate(place.rate) + ca.cross(w, velocity) - kin.gravity[j]
    seen = ca.mtimes(place.rotation.T, felt)
    return {f"{whole.name}.specific_force.{x}": Output(seen[k], "m/s^2") for k, x in enumerate(XYZ)}


def _loads_of(own: Mechanism, j: int, loads: Mapping[str, Wrench]) -> dict[str, Output]:
    kin, flexible = own.kin, own.top.flexible[j]
    name, felt = flexible.name, _felt(own, j)
    result = {f"{name}.specific_force.{x}": Output(felt[k], "m/s^2") for k, x in enumerate(XYZ)}
    tables = flexible.floating.tables
    for k, (coordinate, unit) in enumerate(zip(tables.names, tables.units, strict=True)):
        result[f"{name}.{coordinate}_acceleration"] = Output(kin.u_dot[kin.elastic[j][k]], f"{unit}/s^2")
    return result | _wrenches(name, loads)


def _wrenches(name: str, loads: Mapping[str, Wrench]) -> dict[str, Output]:
    result: dict[str, Output] = {}
    for frame, wrench in loads.items():
        result |= {f"{name}.{frame}.force.{x}": Output(wrench.force[k], "N") for k, x in enumerate(XYZ)}
        result |= {f"{name}.{frame}.torque.{x}": Output(wrench.torque[k], "N m") for k, x in enumerate(XYZ)}
    return result


def _turning(own: Mechanism, j: int) -> dict[str, Output]:
    """How a segment turns, which has no frame in the graph."""
    kin, name = own.kin, own.top.flexible[j].name
    R, turn = kin.R[j], quaternion_of(kin.R[j])
    result = {f"{name}.orientation.{e}": Output(turn[k], "") for k, e in enumerate(PARAMETERS)}
    for what, vector, unit in (
        ("angular_velocity", kin.omega[j], "rad/s"),
        ("angular_acceleration", kin.accelerations[1][j], "rad/s^2"),
    ):
        seen = ca.mtimes(R, vector)
        result |= {f"{name}.{what}.{x}": Output(seen[k], unit) for k, x in enumerate(XYZ)}
    return result


def _felt(own: Mechanism, j: int) -> ca.SX:
    """Acceleration of a body's origin less gravity, in body axes."""
    kin = own.kin
    return kin.accelerations[0][j] + ca.cross(kin.omega[j], kin.v[j]) - kin.gravity[j]


def section_outputs(own: Mechanism, whole: Flexible | Segmented, loads: Loads) -> dict[str, Output]:
    """Section forces and the largest von Mises stress at the stations of a beam, each numbered from its start."""
    from cotree.fem.section_stress import has_stress

    numbers = whole.numbers if not isinstance(whole, Flexible) else [
        j for j, each in own.top.flexible.items() if each is whole
    ]  # fmt: skip
    every = ca.horzcat(ca.SX(len(FORCES), 0), *(_section_forces(own, j, loads[j]) for j in numbers))
    section: Section = getattr(whole.body, "section", None)  # type: ignore[assignment]
    planar, count = own.top.model.planar, every.shape[1]
    rows = dict(zip(FORCES, ca.vertsplit(every), strict=True))
    result: dict[str, Output] = {}
    for what in IN_PLANE if planar else FORCES:
        result |= {f"{whole.name}.{what}.{k + 1}": Output(rows[what][k], FORCES[what]) for k in range(count)}
    for k in () if planar else range(count):
        moment = ca.norm_2(ca.vertcat(rows["moment_y"][k], rows["moment_z"][k]))
        result[f"{whole.name}.moment.{k + 1}"] = Output(moment, "N m")
    for k, stress in enumerate(_mises(section, every) if count and has_stress(section) else (), 1):
        result[f"{whole.name}.mises.{k}"] = Output(stress, "Pa")
    return result


def _section_forces(own: Mechanism, j: int, loads: Mapping[str, Wrench]) -> ca.SX:
    """Section forces of a body in the order of `FORCES`, a column for each station."""
    floating = own.top.flexible[j].floating
    tables = floating.tables
    if not tables.carried.size:
        return ca.SX(len(FORCES), 0)
    every, straight = _load_vectors(own, j, loads)
    found = ca.mtimes(constant(tables.carried), every)
    for k, table in enumerate(tables.carried_2):
        if table.any():
            found += floating.q[k] * ca.mtimes(constant(table), straight)
    return ca.reshape(ca.densify(found), len(FORCES), -1)


def _load_vectors(own: Mechanism, j: int, loads: Mapping[str, Wrench]) -> tuple[ca.SX, ca.SX]:
    """The loads on a body in the order of the tables of its stations: all, and those of the second order."""
    kin, floating = own.kin, own.top.flexible[j].floating
    w, tables = kin.omega[j], floating.tables
    slope = skew(kin.accelerations[1][j]) + ca.mtimes(skew(w), skew(w))
    base, on_frames = _felt(own, j), []
    q, u, u_dot = floating.q, floating.u, kin.u_dot[kin.elastic[j]]
    spin = 2 * skew(w)
    turns = [_rows(slope * q[k] + spin * u[k] + ca.SX.eye(3) * u_dot[k]) for k in range(q.numel())]
    more = []  # what the shapes add as fields linear in the place: to base, and to the columns of slope
    for field in map(constant, floating.linear_shapes):
        shifts = (ca.mtimes(field, each) for each in (q, u, u_dot))
        more.append(sum(map(ca.mtimes, (slope, spin, ca.SX.eye(3)), shifts), ca.SX(3, 1)))
    all_base, all_slope = base + more[0], slope + ca.horzcat(*more[1:])
    body = own.top.flexible[j].body
    nodes = body.at_nodes()
    still = Wrench(ca.SX.zeros(3), ca.SX.zeros(3))
    for name, wrench in loads.items():
        if name not in nodes:  # the centre of mass: a force on it pushes every mass point
            base, all_base = (each - wrench.force / tables.mass for each in (base, all_base))
            carrier = body.carriers()[0]
            known = loads.get(carrier, still)
            loads = {**loads, carrier: Wrench(known.force, known.torque + wrench.torque)}
    for name in nodes:
        wrench = loads.get(name, still)
        theta = ca.mtimes(constant(tables.frames[name].turn), floating.q)
        on_frames += [wrench.force, wrench.torque - ca.cross(theta, wrench.torque) / 2]
    every = ca.vertcat(base, _rows(slope), *turns, *on_frames)
    return ca.densify(every), ca.densify(ca.vertcat(all_base, _rows(all_slope), *on_frames))


def _rows(matrix: ca.SX) -> ca.SX:
    """A matrix row by row."""
    return ca.vec(ca.densify(matrix).T)


def _mises(section: Section, forces: ca.SX) -> list[ca.SX]:
    """The largest von Mises stress among the points of a section at each station (see `cotree.fem.beam_recovery`)."""
    from cotree.fem.section_stress import stress_points

    y, z, torque, along_y, along_z = stress_points(section).T
    o = np.zeros_like(y)
    by_normal = np.column_stack([o + 1 / section.area, o, o, o, z / section.iy, -y / section.iz])
    by_shear = np.column_stack([o, along_y, along_z, torque, o, o])
    normal, shear = (ca.mtimes(constant(each), forces) for each in (by_normal, by_shear))
    return [ca.sqrt(ca.mmax(each)) for each in ca.horzsplit(normal**2 + 3 * shear**2)]
