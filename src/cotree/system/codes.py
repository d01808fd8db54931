"""The table of diagnostics: one row for each code, from which texts and the page of the documentation are made.

A text may name ``{subjects}`` (as a list), ``{quoted}`` (each in quotes) and the diagnostic's numbers;
``{count:#equation}`` is ``1 equation`` or ``3 equations``.
"""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """What a code says, how grave it is, and what it means to a reader of the documentation."""

    severity: str
    text: str
    meaning: str


CODES: dict[str, Code] = {
    # -- what the equations are --------------------------------------------------------------------------------------
    "mechanism-counts": Code(
        "info",
        "{speeds:#speed}, {rows:#independent constraint equation}, {freedom:#degree} of freedom",
        "The size of a mechanism under the chosen tree.",
    ),
    "closure-counts": Code(
        "info",
        "{speeds} speeds, {rows:#independent closure}, {freedom:#degree} of freedom",
        "The size of a mechanism given as a bond graph.",
    ),
    "structure-counts": Code(
        "info",
        "{coordinates} nodal degrees of freedom, {rows} independent equations, "
        "{freedom:#independent displacement mode}",
        "The size of a structure in nodal coordinates.",
    ),
    "network-states": Code("info", "{count:#state}{names}", "The states of a network or of a bond graph."),
    "elastic-coordinates": Code(
        "info",
        "{subjects}: {mass:.4g} kg, {count} elastic coordinates ({shapes} shapes){frequencies}",
        "A flexible body after its reduction.",
    ),
    "signal-blocks": Code("info", "{count:#block} of signals: {names}", "The blocks of a machine."),
    "mounts": Code("info", "networks act on the mechanism through {names}", "Where networks and mechanism meet."),
    "algebraic-loop": Code(
        "info",
        "algebraic loop of {count} equations, {how}: {names}",
        "Equations without a state between them. They are solved together.",
    ),
    "dependent-storage": Code(
        "note",
        "{subjects} is a dependent storage: {why}",
        "A storage whose value follows from others, from a source or from its connections: it is no state of its own.",
    ),
    "derivative-causality": Code(
        "note",
        "{what} {quoted} has derivative causality: its {variable} follows from others",
        "A storage of a bond graph whose state follows from others.",
    ),
    "derivative-causality-solved": Code(
        "info",
        "derivative causality, solved with the speeds: {names}",
        "Inertias of a bond graph that move with others.",
    ),
    "hidden-state": Code(
        "note",
        "{subjects} is no state: it follows from others through a gyrator",
        "A storage of a bond graph whose state follows from others behind a gyrator.",
    ),
    "loop-closure": Code(
        "info",
        "the {line} closes a loop: its effort is found from an equation",
        "A bond that closes a loop of a bond graph.",
    ),
    "default-gravity": Code(
        "note",
        "gravity is not given: {gravity} m/s^2 is taken",
        "A model with masses that says nothing about gravity.",
    ),
    "default-gravity-idle": Code(
        "note",
        "gravity is not given: {gravity} m/s^2 is taken, along which nothing can move (the default axis of "
        "joints is also z); give gravity or axes if that is not meant",
        "A model with masses that says nothing about gravity and cannot move up or down.",
    ),
    "default-gravity-across-plane": Code(
        "warning",
        "gravity is not given: {gravity} m/s^2 is taken, which is across the plane of the planar model and moves "
        "nothing; give gravity, such as (0, -9.81, 0), or (0, 0, 0) if none is meant",
        "A planar model with masses that says nothing about gravity. Its plane is that of x and y.",
    ),
    # -- what rigid bodies do not determine --------------------------------------------------------------------------
    "redundant-rows": Code(
        "note",
        "{quoted} adds {count:#redundant equation}{why}",
        "Equations that follow from others. The motion is not affected; some reactions are not determined.",
    ),
    "undetermined-reactions": Code(
        "note",
        "rigid bodies do not determine {names}: other values would balance as well, and another tree may give them; "
        "take out redundant joints, make a flat mechanism planar, or give the parts a stiffness",
        "Reactions of redundant joints. Their values depend on which of the redundant equations are used.",
    ),
    "more-redundant-rows": Code(
        "note", "... and {count} more parts with redundant equations", "Further parts with redundant equations."
    ),
    # -- inertias ----------------------------------------------------------------------------------------------------
    "inertia-repaired": Code(
        "note",
        "the principal moments of inertia of {quoted}, {given} kg m^2, are those of no real body: {real} kg m^2 are "
        "taken",
        "A model with `inertia: repair`. Second moments of mass that are negative become zero.",
    ),
    "inertia-kept": Code(
        "note",
        "the principal moments of inertia of {quoted}, {given} kg m^2, are those of no real body; they are kept",
        "A model with `inertia: keep`.",
    ),
    # -- spins -------------------------------------------------------------------------------------------------------
    "no-inertia": Code(
        "error",
        "{quoted} has no inertia about its own axis {axis}, about which nothing holds it, so that nothing says how it "
        "turns; give its shape a radius, such as rod(length=..., mass=..., radius=...), or give it an inertia",
        "A body, such as a rod without a radius, can turn freely about an axis about which it has no inertia. A "
        "simulation is refused; `static_equilibrium`, `modes` and `kinematics` leave this rotation out.",
    ),
    "spin-left-out": Code(
        "note",
        "the rotation of {quoted} about its own axis {axis} moves nothing else: it is kept as it is at the start",
        "A free rotation of a body about the line through its joints, such as that of a coupler between two spherical "
        "joints, that an analysis leaves out.",
    ),
    # -- what a law leaves out ---------------------------------------------------------------------------------------
    "relative-inertia": Code(
        "note",
        "{quoted} counts its speed from the body that carries '{joint}', as the minus node of '{mount}' is the datum; "
        "give that node a name of its own for speeds against the ground",
        "A rotor on a moving body whose speed is counted from that body.",
    ),
    "axis-only-inertia": Code(
        "note",
        "{quoted} counts along the axis of {others} alone: what it does to a carrier that turns is left out; a body on "
        "the joint has it all",
        "A mass of a network on a carrier that turns.",
    ),
    "no-gyroscopic-moment": Code(
        "note",
        "{quoted} turns with {others}, whose axes may differ: its gyroscopic moment is left out",
        "A rotor on several axes.",
    ),
    "negative-resistance": Code(
        "note",
        "R {quoted} is negative ({value:g}): it supplies energy instead of dissipating it",
        "A dissipator of a bond graph with a negative constant.",
    ),
    "gravity-across-plane": Code(
        "note",
        "gravity along z, {size} m/s^2, is across the plane of the planar model: it moves nothing; give gravity in the "
        "plane of x and y, such as (0, -9.81, 0), or remove planar if it should act",
        "Gravity has a component normal to the plane of a planar model, which is that of x and y.",
    ),
    "across-plane": Code(
        "warning",
        "{quoted} = {size} {unit} is across the plane of the planar model: it moves nothing; remove planar "
        "if this load should act",
        "A force normal to the plane of a planar model, a torque about an axis in the plane, or the part along z of a "
        "force between two points that lie in different planes.",
    ),
    # -- starts ------------------------------------------------------------------------------------------------------
    "start-moved": Code(
        "note",
        "start values were moved to close all loops: {moves}; give values that fit if another position is meant",
        "Given start values that did not fit together. The nearest closed position is taken, where rotations count as "
        "angles and displacements in parts of the size of the mechanism. Less than 3 degrees or 3 % is not reported.",
    ),
    "start-speeds-moved": Code(
        "note",
        "start speeds were changed to keep all loops closed: {moves}; give speeds that fit if others are meant",
        "Given start speeds that did not fit together.",
    ),
    "placed-by-rest": Code(
        "note",
        "no start position is given for {quoted}: placed where the bushings are at rest",
        "A body that only bushings hold and that is given no position.",
    ),
    "nodes-moved": Code(
        "note",
        "nodes are moved to meet all equations at the start, {quoted} most: by {distance:.3g} m",
        "Given positions of nodes that did not meet the lengths and supports of a structure.",
    ),
    # -- runs --------------------------------------------------------------------------------------------------------
    "energy-open": Code(
        "warning",
        "from t = {time:g} s the energy balance is off by up to {error:.1%} of the largest energy; try a smaller rtol "
        "or step, or another integrator",
        "Energy that was supplied is neither stored nor dissipated: the integration was too coarse.",
    ),
    "inaccurate": Code(
        "warning",
        "a run with {how} gives other results: {subjects} differs by up to {error:.1%} of its range, at t = {time:g} "
        "s; take a finer tolerance or step",
        "The tolerance or the step of the run is too coarse for its results.",
    ),
    "outside-theory": Code(
        "error",
        "{quoted} is outside its theory: {why} at t = {time:g} s, so its deflection of {deflection:.3g} m is off by "
        "{error}; {remedy}",
        "A flexible body bends so far that its deflection is wrong by more than a fifth, flows, or buckles at rest. "
        "Its results are marked, and the command line ends with exit code 3.",
    ),
    "deflection-off": Code(
        "warning",
        "{quoted} leaves the range of its theory: {why} at t = {time:g} s, so its deflection of {deflection:.3g} m is "
        "off by {error}; {remedy}",
        "A flexible body whose deflection is wrong by an estimate of 3.5 % to 20 %: no error of 5 % or more goes "
        "without a warning, though the estimate may be too small by a third.",
    ),
    "deflection-doubt": Code(
        "note",
        "the deflection of {quoted}, {deflection:.3g} m at t = {time:g} s, is off by {error}, because {why}; {remedy}",
        "The same for 1 % to 3.5 %.",
    ),
    "segments-chosen": Code(
        "note",
        "{quoted} is cut into {segments} segments: as one beam its deflection would be off by {error}",
        "A beam with segments: auto, decided by a first look at the motion.",
    ),
    "one-segment": Code(
        "info",
        "{quoted} stays one beam: its deflection is small enough",
        "A beam with segments: auto that needs no cut.",
    ),
    "critical-load": Code(
        "warning",
        "{quoted} carries {share:.3g} times the load that buckles it, held as its joints hold it, at t = {time:g} s: "
        "it bends aside if that lasts, which a run without any load across does not show; add a small one, or make the "
        "body stiffer",
        "The load of a run exceeds the first critical load of a flexible body, by the geometric stiffness of its mesh.",
    ),
    "yields": Code(
        "warning",
        "{quoted} yields: at t = {time:g} s von Mises stress is {share:.3g} times the yield strength of its material, "
        "at {place}; results are those of a material that stays elastic",
        "Stress exceeds the yield strength that is given for a material. From 1.5 times on, where a solid section "
        "flows as a whole, the body is outside its theory.",
    ),
    "modes-off": Code(
        "note",
        "from mode {mode} on ({frequency:.4g} Hz) natural modes are off: there shapes that {quoted} does not have make "
        "{error:.0%} of its deflection; {remedy}",
        "A natural mode in which more than 5 % of a flexible body's deflection is missing; its frequency is off by "
        "half of that.",
    ),
    "mesh-coarse": Code(
        "warning",
        "the mesh of {quoted} is coarse: with twice as many elements its first frequency is lower by about {error:.1%}",
        "The mesh of a flexible body against a finer one, where the first frequency is off by more than 2.5 %.",
    ),
    "mesh-doubt": Code(
        "note",
        "with twice as many elements the first frequency of {quoted} is lower by about {error:.1%}",
        "The same for 0.5 % to 2.5 %.",
    ),
    "mesh-unchecked": Code(
        "note",
        "the mesh of {quoted} is not compared with a finer one: {why}",
        "A mesh of a flexible body that is large already, or whose finer one could not be solved.",
    ),
    "range-unchecked": Code(
        "note",
        "it is not checked whether {quoted} stays in the range of its theory: {why}",
        "The mesh of a flexible body could not be solved by itself.",
    ),
    "accuracy-unchecked": Code(
        "note",
        "{why}: it is not checked whether the tolerance of this run was fine enough{further}; compare with a run "
        "of a tenth of its rtol, or half its step, to find out",
        "Runs are looked at again once they are done: those that go from start to end, are not too long, and call no "
        "Python functions at their samples.",
    ),
    "faster-method": Code(
        "note",
        "the run took {count} steps, {average:.2g} s on average, to follow the fastest vibration, {fastest:.3g} rad/s; "
        'with integrator="generalised_alpha", step={step:g} (--integrator generalised_alpha --step {step:g}) {fewer} '
        "steps give the same positions, forces and stress, to {error:.2%} of their ranges{but}",
        "A flexible body that moves slowly was integrated by an explicit method, whose steps have to be shorter than "
        "its fastest vibration. The other method has been tried on the same run: positions agree within 0.1 % of their "
        "ranges, forces, stress and energies within 0.4 % of their largest values, speeds and powers within 2 %. "
        "Accelerations of weak, fast vibrations may differ; the largest difference of any result is reported.",
    ),
    "stepped-over": Code(
        "warning",
        "{quoted} acts for about {width:.2g} s at t = {time:g} s, where it reaches {value:.4g} {unit}, and was "
        "stepped over; set max_step or step to a part of that time",
        "A force that is narrow in position or speed falls between two steps of the run.",
    ),
    "domain-energy-open": Code(
        "warning",
        "from t = {time:g} s the energy balance of the {subjects} domain is off by up to {error:.1%} of the energy "
        "that was moved; try a smaller rtol or step, and check the laws of its parts if that changes nothing",
        "The balance of one domain of a machine stays open.",
    ),
    "negative-dissipation": Code(
        "warning",
        "{energy:.4g} J of the dissipated energy come back by t = {time:g} s; check the laws that change with "
        "time, follow signals or have terms in v{candidates}",
        "Dissipated energy falls: a force law gives energy back that no potential energy accounts for.",
    ),
    "constraint-open": Code(
        "warning",
        "{quoted} does not hold: it is open by {error:.3g} at t = {time:g} s; try a smaller rtol or step, or another "
        "integrator",
        "Results do not meet an equation between positions.",
    ),
    "friction-creeps": Code(
        "warning",
        "{quoted} lets {coordinate} creep by {distance:.3g} {unit} from t = {begin:g} to {end:g} s, where it would "
        "stick: this friction fades below {speed:g} {unit}/s; use {instead} on the joint's axis, which holds, or a "
        "smaller speed",
        "A regularised friction (`joint_friction`) carries a load below its level by a slow motion instead of "
        "sticking. `translational.friction` and `rotational.friction` stick.",
    ),
    "friction-fades": Code(
        "warning",
        "{quoted} acts with less than its level from t = {begin:g} to {end:g} s, where {coordinate} is driven by "
        "{distance:.3g} {unit} as slowly as its speed {speed:g} {unit}/s, at which this friction fades; give it a "
        "smaller speed",
        "A regularised friction (`joint_friction`) on a joint that is driven more slowly than it needs.",
    ),
    "driver-kink": Code(
        "note",
        "the speed that {quoted} drives jumps by {jump:.4g} {unit} at t = {time:g} s ({count:#jump} in all): all "
        "speeds jump with it, as in an impact, by a force that no result shows; let it start and stop smoothly",
        "A kink in the law of a driver of frames.",
    ),
    "kink-energy": Code(
        "note",
        "from t = {time:g} s the energy balance is off by up to {error:.1%} of the largest energy, by the jumps of "
        "speed that {quoted} drives: no result holds their work; let the driver start and stop smoothly",
        "Kinks in the law of a driver account for the open energy balance; beside them it closes.",
    ),
    "drift": Code(
        "warning",
        "the method lets lengths drift: the largest error of an equation between positions is {distance:.2g} m",
        "A method that does not hold constraints between positions, such as `paper`.",
    ),
    "below-vacuum": Code(
        "warning",
        "the pressure at {subjects} falls below the vacuum: {pressure:.4g} Pa at t = {time:g} s; a real fluid "
        "would boil there, which no law here describes",
        "A pressure that no fluid can have.",
    ),
    "many-events": Code(
        "note",
        "{quoted} has acted {count} times; the first {kept} are kept as events",
        "An event that happened very often.",
    ),
    "closes": Code("info", "{quoted} closes at t = {times} s", "A latch or stop that has closed in a run."),
    # -- linear models -----------------------------------------------------------------------------------------------
    "samples-held": Code(
        "note",
        "outputs of sampled blocks are held constant: {names}",
        "A linear model leaves what acts at samples as it is.",
    ),
    "switches-held": Code(
        "note", "parts that switch stay as they are: {names}", "A linear model leaves what switches as it is."
    ),
    "sticking-pole": Code(
        "note",
        "{names}: slip of what sticks fades at {rate:g} 1/s, a pole of the method alone",
        "A pole of a linear model that comes from the method, not from the machine.",
    ),
    "note": Code("info", "{text}", "A note in a results file that an older version has written."),
}
