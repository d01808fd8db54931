"""The loop over steps, switches and samples in native code.

One turn of the loop does one of four things: it tries a step, tries a step to the time at which a guard becomes
positive, lets a switch act, or lets all samples act that are due. A step never passes the next sample. After a good
step the guards are looked at in its middle, in its quarters and at its end, on the step's own polynomial: a guard that
is positive only for less than a quarter of a step may be missed. The first place where one is positive is sought on
that polynomial, and then by steps that end there, until the time is known to the tolerance. Held values and states
change there, one switch after the other, until no guard is positive.

A guard that its own switch leaves as it was, positive by no more than the search has left, counts as zero: its
``level`` is raised above its value until it has been negative again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from cotree.solve.hybrid_parts import Parts
from cotree.solve.hybrid_steps import POWERS
from cotree.solve.stepping import DONE, GROW, LOST, NO_CONVERGENCE, REFUSED, SAFETY, SHORTEST, SHRINK, TOO_SHORT, Layout

HEAD = (
    "t", "h", "refused", "lost", "status", "mark", "which", "phase", "crowd", "since",
    "a", "b", "seen", "tau", "rise", "old_tau", "old_g", "tries", "tiny",
)  # fmt: skip
STEPPING, LOCATING, ACTING, SAMPLING = range(4)
NOTHING, STEPPED, SWITCHED, SAMPLED = range(4)
"""What a turn has done: its mark."""
CHATTERS, CALLS, UNSETTLED = 4, 5, 6
"""Reasons to leave the loop, beside those of `stepping`."""
LOOKS = (0.25, 0.5, 0.75, 1.0)
"""Places of a step at which guards are looked at."""
SEARCH = 8
"""Turns of the search on the polynomial."""
APART = 1e-12
"""Part of a time, or of a period, by which samples at one time may round apart."""
HALVE, TRIES = 6, 70
"""Steps to an event after which its interval is halved, and after which the search ends."""


def layout(parts: Parts, slope: int) -> Layout:
    """The loop's state."""
    guards, samples = len(parts.e.switches), len(parts.e.samples)
    return Layout(
        head=len(HEAD), x=parts.nx, z=parts.nz, quad=parts.quad, slope=slope, held=parts.nh, guard=guards, level=guards,
        next=samples, size=parts.n + parts.quad,
    )  # fmt: skip


def constants(parts: Parts) -> Layout:
    """What the loop is given: ``limits`` are the end, the longest step, and how sharp and how near events are."""
    samples = len(parts.e.samples)
    return Layout(limits=4, crowd=1, tolerance=2, p=parts.np, modes=parts.modes, period=samples, offset=samples)


class Loop:
    """Builds the native functions of one problem and one method."""

    def __init__(self, parts: Parts, step: ca.Function, order: int, adaptive_slope: int, frozen: bool = False) -> None:
        self.parts, self.step, self.order, self.frozen = parts, step, order, frozen
        self.layout, self.constants = layout(parts, adaptive_slope), constants(parts)
        self.guards, self.samples = len(parts.e.switches), len(parts.e.samples)

    def attempt(self) -> ca.Function:
        """(state, given) -> (state, (x, z, quad) at the end of the step that was tried)."""
        state, given = self._symbols()
        phases = [self._function("stepping", self._stepping)]
        if self.guards:
            phases += [self._function("locating", self._locating), self._function("acting", self._acting)]
        else:
            phases += [phases[0], phases[0]]
        if self.samples:
            phases.append(self._function("sampling", self._sampling))
        rest = self._function("rest", lambda s, g: (self._with(s, mark=NOTHING), self._end(s)))
        choice = ca.Function.conditional("turn", phases, rest)
        head = self.layout.split(state)["head"]
        busy = head[HEAD.index("status")] > 0
        phase = ca.if_else(busy, len(phases), head[HEAD.index("phase")])
        return ca.Function("attempt", [state, given], [*choice(phase, state, given)])

    def refreshed(self) -> ca.Function:
        """(state, given) -> the state with slope, guards and phase as they are after a change from outside."""
        return self._function("refreshed", lambda s, g: (self._refreshed(s, g), self._end(s)))

    def asked(self) -> ca.Function:
        """(state, given) -> what is due, held values after the native ones of it, and inputs of those in Python."""
        state, given = self._symbols()
        s, g = self._split(self.layout, state), self._split(self.constants, given)
        known, due = self._known(s, g), self._due(s, g)
        found = [due, self.parts.sampled(due, *known), self.parts.inputs(*known)]
        return ca.Function("asked", [state, given], [ca.densify(each) for each in found])

    @staticmethod
    def _due(s: dict[str, Any], g: dict[str, Any]) -> Any:
        """Which samples act now; their times may round apart."""
        t = s["head"][0]
        return g["offset"] + s["next"] * g["period"] <= t + APART * ca.fmax(ca.fabs(t), g["period"])

    def stored(self) -> ca.Function:
        """(state, given) -> the stored energy."""
        state, given = self._symbols()
        known = self._known(self._split(self.layout, state), self._split(self.constants, given))
        return ca.Function("stored", [state, given], [ca.densify(self.parts.stored(*known))])

    def _function(self, name: str, of: Callable[[dict[str, Any], dict[str, Any]], tuple[Any, Any]]) -> ca.Function:
        state, given = self._symbols()
        new, end = of(self._split(self.layout, state), self._split(self.constants, given))
        return ca.Function(name, [state, given], [ca.densify(each) for each in (self.layout.join(new), end)])

    @staticmethod
    def _split(layout: Layout, column: ca.MX) -> dict[str, Any]:
        return dict(zip(layout.sizes, ca.vertsplit(column, layout.ends), strict=True))

    def _symbols(self) -> tuple[ca.MX, ca.MX]:
        return ca.MX.sym("state", self.layout.total), ca.MX.sym("given", self.constants.total)

    @staticmethod
    def _end(s: dict[str, Any]) -> Any:
        return ca.vertcat(s["x"], s["z"], s["quad"])

    @staticmethod
    def _with(s: dict[str, Any], **changes: Any) -> dict[str, Any]:
        """The state with another head."""
        values = dict(zip(HEAD, ca.vertsplit(s["head"]), strict=True)) | changes
        return s | {"head": ca.vertcat(*values.values())}

    def _known(self, s: dict[str, Any], g: dict[str, Any]) -> list[Any]:
        """t, x, z, p, m."""
        return [s["head"][0], s["x"], s["z"], g["p"], ca.vertcat(g["modes"], s["held"])]

    def _stepped(self, s: dict[str, Any], g: dict[str, Any], h: Any) -> list[Any]:
        t, x, z, p, m = self._known(s, g)
        return list(self.step(t, h, x, z, s["quad"], s["slope"], p, m, s["size"], g["tolerance"]))

    def _stepping(self, s: dict[str, Any], g: dict[str, Any]) -> tuple[Any, Any]:
        h, after, meets = self._plan()(s["head"], s["next"], g["limits"], g["period"], g["offset"])
        x, z, quad, slope, error, dense = self._stepped(s, g, h)
        new = s | {"x": x, "z": z, "quad": quad, "slope": slope}
        end = self._end(new)
        hit: Any = ca.MX.zeros(8)
        guard, level = s["guard"], s["level"]
        if self.guards:
            t, _, _, p, m = self._known(s, g)
            begin = ca.vertcat(s["x"], s["z"])
            between = [self._between(t, h, begin, dense, p, m, place) for place in LOOKS[:-1]]
            guard = self.parts.guards(t + h, x, z, p, m)
            hit, level = self._bracket()(ca.horzcat(s["guard"], *between, guard), level, h)
            good = ca.logic_and(hit[0] > 0, error <= 1)
            hit = self._searched()(good, hit, t, h, begin, dense, p, m, level)
            level = ca.if_else(error <= 1, level, s["level"])
        judged, taken = self._judge()(s["head"], h, after, meets, error, g["limits"], hit)
        new |= {"guard": guard, "size": ca.fmax(s["size"], ca.fabs(end))}
        return self._taken(taken, s, new) | {"level": level, "head": judged}, end

    def _taken(self, taken: Any, s: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
        """The state at the end of a step where it is taken, and at its start otherwise."""
        names = [name for name in ("x", "z", "quad", "slope", "guard", "size") if self.layout.sizes[name]]
        ends = np.cumsum([0, *(self.layout.sizes[name] for name in names)]).tolist()
        chosen = ca.if_else(taken, ca.vertcat(*(new[name] for name in names)), ca.vertcat(*(s[name] for name in names)))
        return s | dict(zip(names, ca.vertsplit(chosen, ends), strict=True))

    def _between(self, t: Any, h: Any, begin: Any, dense: Any, p: Any, m: Any, place: Any) -> Any:
        """The guards inside a step."""
        n, nx = self.parts.n, self.parts.nx
        y, columns, s = ca.SX.sym("y", n), ca.SX.sym("d", n, POWERS), ca.SX.sym("s")
        value = y + s * (columns[:, 0] + s * (columns[:, 1] + s * (columns[:, 2] + s * columns[:, 3])))
        at = ca.Function("between", [y, columns, s], [value])(begin, dense, place)
        return self.parts.guards(t + place * h, *ca.vertsplit(at, [0, nx, n]), p, m)

    def _bracket(self) -> ca.Function:
        """The first interval at whose end a guard is positive, and the levels there or at the end.

        (found, a, b, whether b is a step's end, values at both, guess, rise).
        """
        table, h = ca.SX.sym("table", self.guards, len(LOOKS) + 1), ca.SX.sym("h")
        first = ca.SX.sym("level", self.guards)
        levels = [first]
        for k in range(len(LOOKS)):
            levels.append(ca.if_else(table[:, k + 1] > 0, levels[-1], 0))
        found, a, b, seen, ga, gb = (ca.SX(0) for _ in range(6))
        level = levels[-1]
        for k in reversed(range(len(LOOKS))):
            before, after = (ca.mmax(table[:, j] - levels[k]) for j in (k, k + 1))
            here = after > 0
            values: tuple[Any, ...] = (
                1, LOOKS[k - 1] if k else 0.0, LOOKS[k], float(k == len(LOOKS) - 1), before, after
            )  # fmt: skip
            found, a, b, seen, ga, gb = (
                ca.if_else(here, new, old) for new, old in zip(values, (found, a, b, seen, ga, gb), strict=True)
            )
            level = ca.if_else(here, levels[k], level)
        ga = ca.fmin(ga, 0)
        guess = (ga * b - gb * a) / ca.if_else(found > 0, ga - gb, 1)
        rise = (gb - ga) / ca.if_else(found > 0, (b - a) * h, 1)
        found = ca.vertcat(found, a, b, seen, ga, gb, guess, rise)
        return ca.Function("bracket", [table, first, h], [found, level])

    def _searched(self) -> ca.Function:
        """(whether, bracket, ...) -> the bracket with a better guess, sought on the step's polynomial."""
        n, parts = self.parts.n, self.parts
        hit, t, h, begin, dense = (ca.MX.sym(k, *v) for k, v in (
            ("hit", (8, 1)), ("t", (1, 1)), ("h", (1, 1)), ("begin", (n, 1)), ("dense", (n, POWERS))
        ))  # fmt: skip
        p, m, level = ca.MX.sym("p", parts.np), ca.MX.sym("m", parts.modes + parts.nh), ca.MX.sym("level", self.guards)
        where = ca.MX.sym("where", 7)
        place, c, fc = ca.SX.sym("place", 7), ca.SX.sym("c"), ca.SX.sym("fc")
        a, b, fa, fb, side = (place[k] for k in range(5))
        middle = (fa * b - fb * a) / (fa - fb)
        middle = ca.if_else(ca.logic_and(middle > a, middle < b), middle, (a + b) / 2)
        up = fc > 0
        moved = ca.vertcat(
            ca.if_else(up, a, c),
            ca.if_else(up, c, b),
            ca.if_else(up, ca.if_else(side > 0, fa / 2, fa), fc),
            ca.if_else(up, fc, ca.if_else(side < 0, fb / 2, fb)),
            ca.if_else(up, 1, -1),
            c,
            ca.if_else(ca.fabs(c - place[5]) > 1e-9, (fc - place[6]) / (c - place[5]), 0),
        )
        aim = ca.Function("aim", [place], [middle])
        move = ca.Function("move", [place, c, fc], [ca.vertcat(moved[:6], fc), moved[6]])
        given = [where, t, h, begin, dense, p, m, level]
        at = aim(where)
        value = ca.mmax(self._between(t, h, begin, dense, p, m, at) - level)
        once = ca.Function("closer", given, [move(where, at, value)[0]])
        start = ca.vertcat(hit[1], hit[2], hit[4], hit[5], 0, -1, 0)
        found = start
        for _ in range(SEARCH):
            found = once(found, *given[1:])
        best = aim(found)
        rise = (found[3] - found[2]) / (found[1] - found[0])
        better = ca.vertcat(hit[:6], best, ca.if_else(rise > 0, rise / h, hit[7]))
        search = ca.Function("search", [hit, *given[1:]], [better])
        skip = ca.Function("skip", [hit, *given[1:]], [hit])
        return ca.Function.if_else("searched", search, skip)

    def _plan(self) -> ca.Function:
        """The step to try, the time after it, and whether that is the next sample: it is hit exactly."""
        head, after = ca.SX.sym("head", len(HEAD)), ca.SX.sym("next", self.samples)
        limits, period, offset = ca.SX.sym("limits", 4), *(ca.SX.sym("s", self.samples) for _ in range(2))
        t, h, end = head[0], head[1], limits[0]
        target = ca.fmin(end, ca.mmin(offset + after * period)) if self.samples else end
        left = target - t
        h = ca.fmin(h, limits[1])
        last = h >= left * (1 - 1e-9)
        h = ca.if_else(last, left, ca.if_else(h > left / 2, left / 2, h))
        reached = ca.if_else(last, target, t + h)
        close = APART * ca.fmax(ca.fabs(reached), period)
        meets = ca.mmax(offset + after * period <= reached + close) if self.samples else ca.SX(0)
        return ca.Function("plan", [head, after, limits, period, offset], [h, reached, meets])

    def _judge(self) -> ca.Function:
        """The head after an attempt, and whether the step is taken."""
        head, h, after, meets = ca.SX.sym("head", len(HEAD)), *(ca.SX.sym(name) for name in ("h", "after", "meets"))
        error, limits, hit = ca.SX.sym("error"), ca.SX.sym("limits", 4), ca.SX.sym("hit", 8)
        s = dict(zip(HEAD, ca.vertsplit(head), strict=True))
        finite = ca.fabs(error) < 1e100
        good = ca.logic_and(finite, error <= 1)
        crossed = ca.logic_and(good, hit[0] > 0)
        taken = ca.logic_and(good, ca.logic_not(crossed))
        lost = ca.if_else(finite, 0, s["lost"] + 1)
        factor = ca.fmin(ca.fmax(SAFETY * ca.fmax(error, 1e-30) ** (-1 / self.order), SHRINK), GROW)
        factor = ca.if_else(finite, factor, 0.1)
        factor = ca.if_else(ca.logic_and(good, s["refused"] + s["lost"] > 0), ca.fmin(factor, 1), factor)
        shortened = ca.logic_and(h < 0.99 * s["h"], ca.logic_and(good, factor >= 1))
        planned = ca.if_else(shortened, ca.fmax(s["h"], h * factor), h * factor)
        refused = ca.if_else(good, 0, s["refused"] + 1)
        short = ca.fabs(planned) < SHORTEST * ca.fmax(ca.fabs(limits[0]), ca.fabs(s["t"]))
        done = ca.logic_and(taken, ca.logic_and(after >= limits[0], ca.logic_not(meets)))
        status = ca.if_else(done, DONE, 0)
        status = ca.if_else(ca.logic_and(ca.logic_not(good), ca.logic_or(short, refused > REFUSED)), TOO_SHORT, status)
        status = ca.if_else(lost > LOST, NO_CONVERGENCE, status)
        phase = ca.if_else(crossed, LOCATING, ca.if_else(ca.logic_and(taken, meets), SAMPLING, STEPPING))
        new: dict[str, Any] = s | {
            "t": ca.if_else(taken, after, s["t"]),
            "h": planned,
            "refused": refused,
            "lost": lost,
            "status": status,
            "mark": ca.if_else(taken, STEPPED, NOTHING),
            "phase": phase,
            "a": hit[1] * h,
            "b": hit[2] * h,
            "seen": hit[3],
            "tau": ca.fmin(hit[6] * h + limits[2] / 2, hit[2] * h),
            "rise": hit[7],
            "old_tau": -1,
            "old_g": 0,
            "tries": 0,
        }
        given = [head, h, after, meets, error, limits, hit]
        return ca.Function("judge", given, [ca.vertcat(*new.values()), taken])

    def _locating(self, s: dict[str, Any], g: dict[str, Any]) -> tuple[Any, Any]:
        """A step to a time at which a guard may become positive."""
        tau = s["head"][HEAD.index("tau")]
        x, z, quad, slope, error, _ = self._stepped(s, g, tau)
        t, _, _, p, m = self._known(s, g)
        guard = self.parts.guards(t + tau, x, z, p, m)
        judged, taken = self._narrowed()(s["head"], error, ca.mmax(guard - s["level"]), g["limits"])
        size = ca.fmax(s["size"], ca.fabs(ca.vertcat(x, z, quad)))
        level = ca.if_else(guard > 0, s["level"], 0)
        new = {"x": x, "z": z, "quad": quad, "slope": slope, "guard": guard, "size": size}
        return self._taken(taken, s, new) | {"level": level, "head": judged}, ca.vertcat(x, z, quad)

    def _narrowed(self) -> ca.Function:
        """The head after a step towards an event, and whether the step is taken."""
        head, error, value, limits = ca.SX.sym("head", len(HEAD)), ca.SX.sym("e"), ca.SX.sym("g"), ca.SX.sym("l", 4)
        s = dict(zip(HEAD, ca.vertsplit(head), strict=True))
        tau, sharp, tries = s["tau"], limits[2], s["tries"] + 1
        bad = ca.logic_not(ca.fabs(error) < 1e100)
        up = value > 0
        a, b = ca.if_else(up, s["a"], tau), ca.if_else(up, tau, s["b"])
        seen = ca.if_else(up, 1, s["seen"])
        apart = ca.fabs(tau - s["old_tau"])
        twice = ca.logic_and(s["old_tau"] >= 0, apart > 0)
        secant = (value - s["old_g"]) / ca.if_else(twice, tau - s["old_tau"], 1)
        rise = ca.if_else(ca.logic_and(twice, secant > 0), secant, s["rise"])
        narrow = ca.logic_or(b - a <= sharp, tries >= TRIES)
        there = ca.logic_and(up, ca.logic_or(narrow, value <= rise * sharp))
        nowhere = ca.logic_and(ca.logic_not(up), ca.logic_and(narrow, seen < 1))
        aim = tau - value / ca.fmax(rise, 1e-300) + sharp / 2
        inside = ca.logic_and(ca.logic_and(aim > a, aim < b), tries <= HALVE)
        following = ca.if_else(inside, aim, (a + b) / 2)
        following = ca.if_else(ca.logic_and(narrow, ca.logic_not(up)), b, following)
        taken = ca.logic_and(ca.logic_or(there, nowhere), ca.logic_not(bad))
        status = ca.if_else(bad, NO_CONVERGENCE, 0)
        new = s | {
            "t": ca.if_else(taken, s["t"] + tau, s["t"]),
            "status": status,
            "mark": ca.if_else(taken, STEPPED, NOTHING),
            "phase": ca.if_else(taken, ca.if_else(there, ACTING, STEPPING), LOCATING),
            "a": a,
            "b": b,
            "seen": seen,
            "tau": following,
            "rise": rise,
            "old_tau": tau,
            "old_g": value,
            "tries": tries,
            "tiny": ca.if_else(there, 2 * value, 0),
        }
        return ca.Function("narrowed", [head, error, value, limits], [ca.vertcat(*new.values()), taken])

    def _acting(self, s: dict[str, Any], g: dict[str, Any]) -> tuple[Any, Any]:
        """The first switch whose guard is positive acts."""
        over, number = ca.SX.sym("over", self.guards), ca.SX(0)
        for place in reversed(range(self.guards)):
            number = ca.if_else(over[place] > 0, place, number)
        which = ca.Function("which", [over], [number])(s["guard"] - s["level"])
        x, held = self.parts.changed(which, *self._known(s, g))
        if self.parts.problem.x.numel() < self.parts.nx:
            x = s["x"]
        new = self._refreshed(self._settled(s | {"x": x, "held": held}, g), g)
        new = self._booked(s, new, g)
        t, since, near = s["head"][0], s["head"][HEAD.index("since")], g["limits"][3]
        crowd = ca.if_else(t - since <= near, s["head"][HEAD.index("crowd")] + 1, 1)
        chatters = crowd > g["crowd"]
        own = ca.SX.sym("guard", self.guards)
        level, k, tiny = ca.SX.sym("level", self.guards), ca.SX.sym("k"), ca.SX.sym("tiny")
        raised = []
        for i in range(self.guards):
            rounding = ca.logic_and(k == i, ca.logic_and(own[i] > level[i], own[i] <= level[i] + tiny))
            raised.append(ca.if_else(rounding, own[i] + tiny, level[i]))
        lift = ca.Function("lift", [own, level, k, tiny], [ca.vertcat(*raised)])
        level_after = lift(new["guard"], s["level"], which, s["head"][HEAD.index("tiny")])
        new = self._next(new | {"level": level_after}, g)
        status = new["head"][HEAD.index("status")]
        bad = new["head"][HEAD.index("lost")] > 0
        status = ca.if_else(bad, UNSETTLED, ca.if_else(chatters, CHATTERS, status))
        new = self._with(new, mark=SWITCHED, which=which, crowd=crowd, since=t, status=status)
        return new, self._end(new)

    def _sampling(self, s: dict[str, Any], g: dict[str, Any]) -> tuple[Any, Any]:
        """All samples act that are due; those in Python are left to the caller."""
        due = self._due(s, g)
        held = self.parts.sampled(due, *self._known(s, g))
        new = self._refreshed(self._settled(s | {"held": held, "next": s["next"] + due}, g), g)
        new = self._booked(s, new, g)
        bad = new["head"][HEAD.index("lost")] > 0
        new = self._with(new, status=ca.if_else(bad, UNSETTLED, new["head"][HEAD.index("status")]), mark=SAMPLED)
        called = [k for k, each in enumerate(self.parts.e.samples) if each.call is not None and not self.frozen]
        if called:
            asks = ca.mmax(due[called]) > 0
            left = self._with(s, mark=NOTHING, status=CALLS)
            new = {key: ca.if_else(asks, left[key], value) for key, value in new.items()}
        return new, self._end(new)

    def _settled(self, s: dict[str, Any], g: dict[str, Any]) -> dict[str, Any]:
        """The state with algebraic variables that fit; ``lost`` says whether they were not found."""
        if not self.parts.nz:
            return s
        t, x, z, p, m = self._known(s, g)
        states = x[: self.parts.problem.x.numel()]
        size, found = self.parts.consistent(z, t, states, p, m)
        good = ca.logic_and(size <= 1, ca.fabs(ca.sum1(found)) < 1e300)
        return self._with(s | {"z": ca.if_else(good, found, z)}, lost=ca.logic_not(good))

    def _booked(self, before: dict[str, Any], after: dict[str, Any], g: dict[str, Any]) -> dict[str, Any]:
        """What the stored energy loses by a jump counts as dissipated."""
        if not self.parts.jumps:
            return after
        lost = self.parts.stored(*self._known(before, g)) - self.parts.stored(*self._known(after, g))
        return after | {"quad": ca.vertcat(after["quad"][0] + lost, after["quad"][1:])}

    def _refreshed(self, s: dict[str, Any], g: dict[str, Any]) -> dict[str, Any]:
        known = self._known(s, g)
        new = dict(s)
        if self.layout.sizes["slope"]:
            new["slope"] = self.parts.slope(*known)
        if self.guards:
            new["guard"] = self.parts.guards(*known)
        return self._next(new, g)

    def _next(self, s: dict[str, Any], g: dict[str, Any]) -> dict[str, Any]:
        """What comes after a change: another switch, a sample, a step, or the end."""
        t = s["head"][0]
        due: Any = ca.mmax(self._due(s, g)) if self.samples else ca.MX(0)
        active: Any = ca.mmax(s["guard"] - s["level"]) > 0 if self.guards else ca.MX(0)
        phase = ca.if_else(due, SAMPLING, ca.if_else(active, ACTING, STEPPING))
        over = ca.logic_and(t >= g["limits"][0], ca.logic_not(ca.logic_or(due, active)))
        return self._with(s, phase=phase, status=ca.if_else(over, DONE, 0))
