"""The linear graph of a mechanism, and all that is wrong with what its parts refer to."""

from __future__ import annotations

from cotree.errors import Mistakes, ModelError, listing, nearest
from cotree.graph import LinearGraph, with_dependent_virtual_work
from cotree.model import Edge, Kind, Model
from cotree.terminal.mechanics import Body, Connection, Joint, OnJoint


def mechanism_graph(model: Model, *, dependent: bool = True) -> LinearGraph:
    """The linear graph of a mechanism, with the dependent virtual-work edges N7 that belong to it."""
    mistakes = Mistakes()
    with mistakes:
        _check_kinds(model)
    with mistakes:
        model.check()
    edges: list[Edge] = []
    for component in (part for part in model.components.values() if part.mechanical):
        with mistakes:
            if isinstance(component, OnJoint):
                joint = joint_of(model, component)
                edges += component.edges_between(joint.ends[0], joint.ends[1])
            else:
                edges += component.edges()
    _check_frames(model, edges, mistakes)
    mistakes.report()
    graph = LinearGraph(edges, model.datums[:1], nodes=model.datums[:1])
    return with_dependent_virtual_work(graph) if dependent else graph


def _check_kinds(model: Model) -> None:
    if not any(isinstance(c, Body) for c in model.components.values()):
        raise ModelError("the mechanism has no body", where=model.name, remedy="Add a RigidBody or a PointMass")


def joint_of(model: Model, part: OnJoint) -> Joint:
    """The joint that a part acts on, or an error that lists the joints."""
    joint = model.components.get(part.on)
    if not isinstance(joint, Joint):
        joints = [name for name, c in model.components.items() if isinstance(c, Joint)]
        raise ModelError(
            f"there is no joint '{part.on}'" if joint is None else f"'{part.on}' is a {joint.kind}, not a joint",
            where=part.name,
            expected=f"one of {listing(joints)}" if joints else "a joint: the model has none",
            remedy=nearest(part.on, joints),
        )
    part.chosen(joint)
    return joint


def _check_frames(model: Model, edges: list[Edge], mistakes: Mistakes) -> None:
    """Every end of a joint or force must be a frame that some body or the ground has."""
    frames = {"ground", *model.datums[:1]}
    frames |= {e.head for e in edges if e.kind in (Kind.BODY, Kind.ARM)}
    for component in model.components.values():
        if not isinstance(component, Connection):
            continue
        for node in component.ends:
            if node not in frames:
                mistakes.add(_no_frame(model, component.name, node, frames))
        if component.frame_a == component.frame_b:
            found = f"both its frames are '{component.frame_a}'"
            mistakes.add(ModelError(found, where=component.name, expected="two frames"))


def _no_frame(model: Model, name: str, node: str, frames: set[str]) -> ModelError:
    owner, _, frame = node.partition(".")
    body = model.components.get(owner)
    known = [f"{owner}.{each}" for each in body.places()] if isinstance(body, Body) else sorted(frames)
    return ModelError(
        f"the body '{owner}' has no frame '{frame}'" if isinstance(body, Body) else f"there is no frame '{node}'",
        where=name,
        expected=f"one of {listing(known)}" if known else f"'{owner}' itself",
        remedy=nearest(node, known) or f"Add it to frames={{...}} of '{owner}'",
    )
