"""What a report says of the equations: topological, terminal and state equations, or those of motion."""

from __future__ import annotations

from collections.abc import Collection

from cotree.formulation import SystemEquations, rate_name
from cotree.formulation.branch.explain import constraint_lines
from cotree.formulation.machine.explain import block_laws, further_rates, switch_lines, wiring
from cotree.graph import Tree
from cotree.model import Model
from cotree.view import mathml
from cotree.view.page import MOST_ROWS, counted, equation_list, figure, folded, table, text
from cotree.view.signal_drawing import signals_svg

COUNTS = ("mechanism-counts", "closure-counts", "structure-counts")
"""What the sentence on degrees of freedom says already."""


def network_equations(model: Model, tree: Tree, equations: SystemEquations) -> str:
    """State equations of a network first, then those that they were made of."""
    graph = tree.graph
    count = len(equations.u) + len(equations.w) + len(equations.inputs)
    owners = _owners(tree)
    parts = [
        facts(equations),
        equation_list(mathml.state_equations(model, equations), count, parts=_by_name(model)),
        "<p>A dot is the rate of change.</p>",
        f"<p>They follow from {2 * graph.e} unknowns, a through and an across variable for each of "
        f"{counted(graph.e, 'edge')}, in {graph.rank} cutset, {graph.nullity} circuit and {graph.e} terminal "
        "equations.</p>",
        *_topology(tree, "Cutset equations, one for each branch", "Circuit equations, one for each chord"),
        folded(
            f"Terminal equations, one for each edge ({graph.e})",
            equation_list(mathml.terminal_equations(model), graph.e, parts=owners),
        ),
    ]
    return "\n".join(parts)


def motion_equations(model: Model, tree: Tree, equations: SystemEquations) -> str:
    """Equations of motion of a mechanism where they are short enough to be read, and its topological equations."""
    parts = [
        *mathml.motion_section(model, equations),
        "<p>A dot is the rate of change.</p>",
        *_topology(
            tree,
            "Cutset equations of virtual work, one for each branch",
            "Circuit equations of displacements, one for each chord",
        ),
    ]
    return "\n".join(parts)


def machine_equations(model: Model, equations: SystemEquations) -> str:
    """Laws of blocks, rates of states beside a mechanism, terminal equations of the networks, and what switches."""
    parts, owners = [], {name: name.partition(".")[0] for name in equations.x.names}
    if len(equations.x):
        rows = mathml.named_equations(model, ((rate_name(n), v) for n, v in further_rates(equations)))
        parts += ["<h3>Rates of networks and blocks</h3>", equation_list(rows, len(equations.x), parts=owners)]
    if laws := list(block_laws(model)):
        rows = mathml.named_equations(model, ((name, value) for _, name, value in laws))
        own = {name: block for block, name, _ in laws}
        parts += ["<h3>Blocks of signals</h3>", equation_list(rows, len(laws), parts=own)]
    if model.mechanical and (terminal := list(mathml.terminal_equations(model))):
        edges = {name: name.partition(".")[0] for name, _ in terminal}
        listed = equation_list(terminal, len(terminal), parts=edges)
        parts.append(folded(f"Terminal equations of the networks ({len(terminal)})", listed))
    if lines := list(switch_lines(equations)):
        items = "".join(f"<li>{text(line)}</li>" for line in lines[:MOST_ROWS])
        parts.append(folded(f"Switches and samples ({len(lines)})", f"<ul>{items}</ul>"))
    return "\n".join(["", *parts])


def signals_section(model: Model) -> str:
    """Who reads which signal."""
    rows = wiring(model)
    cells = ((f"<b>{text(who)}</b>", text(names), f"<code>{text(given)}</code>") for who, names, given in rows)
    owners = [who.partition(".")[0] for who, _, _ in rows]
    listed = table(("read by", "signals", "given as"), cells, len(rows), "signals", parts=owners)
    svg = signals_svg(model)
    words = "Dashed arrows lead from who gives a signal to who reads it; blocks are tinted."
    return "\n".join([figure(svg, words) if svg else "", listed])


def constraints(equations: SystemEquations) -> int:
    """Independent constraint equations of a mechanism; further multipliers are torques of parts that stick."""
    return len(equations.multipliers) if equations.mechanics is None else equations.mechanics.velocity.numel()


def _topology(tree: Tree, cutset_words: str, circuit_words: str) -> list[str]:
    owners, graph = _owners(tree), tree.graph
    cutsets = ((name, mathml.topological(tree.cutset_equation(name))) for name in tree.branches)
    circuits = ((name, mathml.topological(tree.circuit_equation(name))) for name in tree.chords)
    return [
        folded(f"{cutset_words} ({graph.rank})", equation_list(cutsets, graph.rank, parts=owners)),
        folded(f"{circuit_words} ({graph.nullity})", equation_list(circuits, graph.nullity, parts=owners)),
    ]


def _owners(tree: Tree) -> dict[str, str]:
    """The component of each edge."""
    return {edge.name: edge.component or edge.name for edge in tree.graph}


def _by_name(model: Model) -> dict[str, str]:
    """The component of each variable of the edges."""
    return {name: edge.component or edge.name for edge in model.edges() for name in (edge.across[0], edge.through[0])}


def facts(equations: SystemEquations, known: Collection[str] = ()) -> str:
    """What the equations are, as a list; notes and warnings stand at the head of the page."""
    said = [each.text for each in equations.diagnostics if each.severity == "info" and each.code not in known]
    items = "".join(f"<li>{text(each)}</li>" for each in said[:MOST_ROWS])
    return f"<ul>{items}</ul>" if items else ""


def freedom(equations: SystemEquations) -> str:
    """Coordinates, speeds, independent constraint equations, and what is redundant."""
    speeds, held = len(equations.u), constraints(equations)
    left = counted(speeds - held, "degree")
    sentence = (
        f"{counted(len(equations.q), 'coordinate')}, {counted(speeds, 'speed')} and "
        f"{counted(held, 'independent constraint equation')} leave {left} of freedom."
    )
    lines = constraint_lines(equations)
    rows = ((str(k + 1), f"<b>{text(line)}</b>") for k, line in enumerate(lines))
    owners = [line.partition(" ")[0] for line in lines]
    listed = table(("", "constraint equation"), rows, held, "equations", parts=owners) if held else ""
    if held > 12:
        listed = folded(f"Constraint equations ({held})", listed)
    return "\n".join([f"<p>{sentence}</p>", facts(equations, COUNTS), listed])
