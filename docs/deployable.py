"""Numbers of deployable structures for the validation page: each against a closed form or an independent solution."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations, pairwise
from math import cos, pi, sin
from pathlib import Path

import numpy as np

import cotree as ct

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
KNOWN = json.loads((EXAMPLES / "deployable_reference.json").read_text(encoding="utf-8"))

Row = tuple[str, str, str, str, str, str]
METHODS = (("paper", "one"), ("corrected", "two"))


def rows() -> Iterator[Row]:
    """Case, quantity, reference, what Cotree gives, what is asked, source."""
    yield from five_bar()
    yield from ring_truss()
    yield from two_bars()
    yield from reflector()
    yield from trusses()
    yield from agreement()
    yield from tumbling()


def within(distance: float) -> str:
    """A distance rounded up to one digit; what is below 1e-9 depends on the processor."""
    if distance > 0.1:
        return f"off by {distance:.1g}"
    distance = max(distance, 1e-9)
    power = int(np.floor(np.log10(distance)))
    digit = int(np.ceil(distance / 10.0**power))
    return f"within {digit}e{power}" if digit < 10 else f"within 1e{power + 1}"


def five_bar() -> Iterator[Row]:
    """Xiang 2015, section 4.1: seven histories up to 1 s, and orders at 0.5 s, before the bars line up."""
    known = KNOWN["five_bar"]
    what = {"x": "position.x", "y": "position.y", "vx": "velocity.x", "vy": "velocity.y"}
    columns = [f"{name[2]}.{what[name[0] + name[3:]]}" for name in known["columns"]]  # x_B, v_Bx
    case, source = "five-bar", "angles, Radau"
    for start in ("up", "down"):
        for integrator, options in (("adams", {"rtol": 1e-10}), ("corrected", {"step": 1e-4})):
            solution = ct.structures.five_bar(start).simulate(
                1.0, times=known["t"][:10], integrator=integrator, **options
            )
            off = max(
                float(np.abs(solution[name] - [row[k] for row in known[start][:10]]).max())
                for k, name in enumerate(columns)
            )
            words = ", ".join(f"{key} {value:g}" for key, value in options.items())
            said = f"positions and velocities to 1 s, start {start}, {integrator}, {words}"
            yield case, said, "curves", within(off), "1e-6" if integrator == "adams" else "second order", source
    exact, column = known["up"][4], known["columns"].index("y_C")
    for integrator, asked in METHODS:
        errors = []
        for step in (1e-2, 5e-3, 2.5e-3):
            solution = ct.structures.five_bar().simulate(0.5, times=[0.5], integrator=integrator, step=step)
            errors.append(abs(solution["C.position.y"][0] - exact[column]))
        yield case, f"order of `{integrator}` from y_C at 0.5 s, steps 10, 5, 2.5 ms", asked, orders(errors), "", source


def orders(errors: list[float]) -> str:
    """Measured from pairs of steps, each half of the one before."""
    return ", ".join(f"{np.log2(a / b):.2f}" for a, b in pairwise(errors))


def ring_truss() -> Iterator[Row]:
    """Xiang 2015, section 4.3."""
    known, model = KNOWN["ring_truss"], ct.structures.ring_truss()
    case, source = "ring truss", "quadrature"
    yield (
        case,
        "independent modes (the paper reports eleven)",
        "15",
        str(model.determinacy().modes),
        "15",
        "Adams count",
    )
    pairs = (("R", "L1.position.x"), ("s", "L2.position.z"), ("Rdot", "L1.velocity.x"), ("sdot", "L2.velocity.z"))
    times = [row["t"] for row in known["table"]]
    for integrator, options, asked in (
        ("adams", {"rtol": 1e-9}, "1e-5"),
        ("corrected", {"step": 1e-3}, "1e-5"),
        ("corrected", {"step": 1e-2}, "shown"),
        ("corrected", {"step": 0.1}, "shown"),
        ("paper", {"step": 1e-3}, "shown"),
        ("paper", {"step": 1e-2}, "shown"),
        ("paper", {"step": 0.1}, "failed in the paper"),
    ):
        solution = model.simulate(8.89, times=[*times, 8.89], integrator=integrator, **options)
        off = max(float(np.abs(solution[name][:-1] - [r[k] for r in known["table"]]).max()) for k, name in pairs)
        words = ", ".join(f"{key} {value:g}" for key, value in options.items())
        yield case, f"radius, rise and rates to 8 s, {integrator}, {words}", "table", within(off), asked, source
        folded = f"{_fold_time(solution):.4f}"
        yield case, f"fold time (s), {integrator}, {words}", f"{known['fold_time']:.4f}", folded, asked, source
    for integrator, asked in METHODS:
        errors = []
        for step in (2e-2, 1e-2, 5e-3):
            solution = model.simulate(8.0, times=times, integrator=integrator, step=step)
            errors.append(float(np.abs(solution["L1.position.x"] - [row["R"] for row in known["table"]]).max()))
        yield case, f"order of `{integrator}`, steps 20, 10, 5 ms", asked, orders(errors), "", source


def _fold_time(solution: ct.Solution) -> float:
    """Where the radius is zero, from its last value, rate and acceleration, 17 ms before."""
    radius, rate, growth = (float(solution[f"L1.{name}.x"][-1]) for name in ("position", "velocity", "acceleration"))
    left = -radius / rate
    return float(solution.t[-1]) + left * (1 - growth * left / (2 * rate))


def two_bars() -> Iterator[Row]:
    """Two uniform bars of 1 m and 1 kg from 45 degrees, at 5 s."""
    m = ct.Model("two bars", planar=True, gravity=(0, -9.8, 0))
    for k, name in enumerate("OAB"):
        m.add(ct.nodal.Node(name, position=(k * np.sqrt(0.5), -k * np.sqrt(0.5), 0)))
    m.add(ct.nodal.Bar("OA", "O", "A", mass=1))
    m.add(ct.nodal.Bar("AB", "A", "B", mass=1))
    m.add(ct.nodal.Fixed("pin", "O"))
    solution = m.simulate(5.0, times=[5.0], rtol=1e-12, integrator="adams")
    for name, exact in (("A", (0.6246646016, -0.7808931652)), ("B", (1.3403149308, -1.4793519015))):
        shown, known = (", ".join(f"{x:.10f}" for x in each) for each in (solution[f"{name}.position"][0][:2], exact))
        yield "two bars", f"place of {'joint' if name == 'A' else 'tip'} at 5 s (m)", known, shown, "1e-8", "MOTES"


def reflector() -> Iterator[Row]:
    """Xiang 2015, section 4.2, as read here."""
    model = ct.structures.reflector()
    report, kinds = model.determinacy(shapes=False), [part.kind for part in model.components.values()]
    words = {"nodal.body": "panels", "nodal.bar": "bars", "nodal.node_gear": "gears", "nodal.force_cable": "cables"}
    found = ", ".join(f"{kinds.count(kind)} {word}" for kind, word in words.items())
    yield "reflector", "parts", "4 panels, 41 bars, 14 gears, 8 cables", found, "the same", "paper"
    yield "reflector", "independent modes", "6", str(report.modes), "6", "paper"
    yield "reflector", "redundant equations", "19", str(report.states), "19", "Adams count"


def trusses() -> Iterator[Row]:
    """Counts of classic trusses: rank, internal mechanisms, states of self-stress."""
    square = {"A": (0, 0, 0), "B": (1, 0, 0), "C": (1, 1, 0), "D": (0, 1, 0)}
    sides = ["AB", "BC", "CD", "DA"]
    cube = {name: (k & 1, k >> 1 & 1, k >> 2 & 1) for k, name in enumerate("ABCDEFGH")}
    edges = [a + b for (i, a), (k, b) in combinations(enumerate("ABCDEFGH"), 2) if (i ^ k).bit_count() == 1]
    octahedron = {
        name: tuple(s * (k == i) for i in range(3))
        for name, k, s in zip("ABCDEF", (0, 0, 1, 1, 2, 2), (1, -1) * 3, strict=True)
    }
    faces = [a + b for a, b in combinations("ABCDEF", 2) if a + b not in ("AB", "CD", "EF")]
    prism = {}
    for j, names in enumerate(("ABC", "DEF")):
        for k, name in enumerate(names):
            angle = 2 * pi * k / 3 + j * pi / 6
            prism[name] = (cos(angle), sin(angle), 1.5 * j)
    ties = ["AB", "BC", "CA", "DE", "EF", "FD", "AD", "BE", "CF", "AE", "BF", "CD"]
    for name, places, bars, planar, known in (
        ("square", square, sides, True, (4, 1, 0)),
        ("braced square", square, [*sides, "AC"], True, (5, 0, 0)),
        ("square with both diagonals", square, [*sides, "AC", "BD"], True, (5, 0, 1)),
        ("cube", cube, edges, False, (12, 6, 0)),
        ("octahedron", octahedron, faces, False, (12, 0, 0)),
        ("tensegrity prism", prism, ties, False, (11, 1, 1)),
    ):
        m = ct.Model(name, planar=planar, gravity=(0, 0, 0))
        for node, place in places.items():
            m.add(ct.nodal.Node(node, position=tuple(float(x) for x in place)))
        for bar in bars:
            m.add(ct.nodal.Bar(bar, bar[0], bar[1], mass=1.0))
        report = m.determinacy()
        found = (report.rank, report.internal, report.states)
        shown, expected = (f"{r}, {i}, {s}" for r, i, s in (found, known))
        yield (
            name,
            "rank, internal mechanisms, states of self-stress",
            expected,
            shown,
            "the same",
            "Maxwell, Calladine",
        )


def agreement() -> Iterator[Row]:
    """The same structure on the sparse form by two integrators, in displacement modes, and in branch coordinates."""
    for model, t_end in (
        (ct.structures.five_bar(), 0.6),
        (ct.structures.ring_truss(sides=4), 3.0),
        (ct.structures.scissor_chain(2), 0.4),
        (ct.structures.miura(2, 2), 0.5),
    ):
        times = np.linspace(0, t_end, 6)[1:]
        reference = model.simulate(t_end, times=times, rtol=1e-10, integrator="adams")
        frames: dict[str, str] = {}
        for part in model.components.values():
            if part.kind in ("nodal.bar", "nodal.body"):
                frames |= {node: f"{part.name}.{node}" for node in part.nodes()}
        for word, other, options, asked in (
            ("branch coordinates", model.to_branch(), {"rtol": 1e-10}, "1e-6"),
            ("corrected, 1000 steps", model, {"integrator": "corrected", "step": t_end / 1000}, "second order"),
            (
                "generalised_alpha, 1000 steps",
                model,
                {"integrator": "generalised_alpha", "step": t_end / 1000},
                "second order",
            ),
        ):
            solution = other.simulate(t_end, times=times, **options)
            off = max(
                float(
                    np.abs(
                        solution[f"{frame if other is not model else node}.position"] - reference[f"{node}.position"]
                    ).max()
                )
                for node, frame in frames.items()
            )
            yield (
                model.name,
                f"places of all nodes to {t_end:g} s (m), {word}",
                "nodal, adams",
                within(off),
                asked,
                "another form",
            )


def tumbling() -> Iterator[Row]:
    """A free asymmetric body over six nodes against Euler's equations by SciPy."""
    from scipy.integrate import solve_ivp

    inertia = np.array([[1.5, 0.1, -0.2], [0.1, 2.2, 0.15], [-0.2, 0.15, 1.1]])
    centre, omega = np.array([0.3, -0.2, 0.5]), np.array([0.7, -1.1, 2.3])
    places = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0.2, 0.1, 0.9), (1, 1, 1), (-0.5, 0.3, 0.4)]
    m = ct.Model("tumbling body", gravity=(0, 0, 0))
    for k, place in enumerate(places):
        speed = np.cross(omega, np.array(place) - centre)
        m.add(ct.nodal.Node(f"N{k}", position=tuple(map(float, place)), velocity=tuple(map(float, speed))))
    six = (1.5, 2.2, 1.1, 0.1, -0.2, 0.15)
    m.add(ct.nodal.Body("P", tuple(f"N{k}" for k in range(6)), mass=2.5, centre=tuple(map(float, centre)), inertia=six))

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        turn = y[:9].reshape(3, 3)
        spin = y[9:]  # in the axes of the body
        cross = np.array([[0, -spin[2], spin[1]], [spin[2], 0, -spin[0]], [-spin[1], spin[0], 0]])
        return np.concatenate([(turn @ cross).ravel(), np.linalg.solve(inertia, np.cross(inertia @ spin, spin))])

    exact = solve_ivp(rate, (0, 5), [*np.eye(3).ravel(), *omega], "DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    turn = exact[:9].reshape(3, 3)
    for integrator, options, asked in (
        ("adams", {"rtol": 1e-10}, "1e-7"),
        ("corrected", {"step": 1e-3}, "second order"),
        ("paper", {"step": 1e-3}, "drops w x J w"),
    ):
        solution = m.simulate(5.0, times=[5.0], integrator=integrator, **options)
        off = max(
            float(np.abs(solution[f"N{k}.position"][0] - centre - turn @ (np.array(place) - centre)).max())
            for k, place in enumerate(places)
        )
        words = ", ".join(f"{key} {value:g}" for key, value in options.items())
        yield (
            "tumbling body",
            f"places of six nodes at 5 s (m), {integrator}, {words}",
            "curve",
            within(off),
            asked,
            "Euler's equations",
        )
