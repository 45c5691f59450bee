"""Control flow of kernels: with hc.if_(c), hc.else_(), hc.for_(n) as k, hc.while_(f).

The function runs once, so Python executes the body of every region once, whatever the condition or
the number of trips. What a name means behind a region is found by looking at the names in the
frames of the kernel before and behind it:

- A name that meant a traced value before and means another one behind is a result of the region.
- In a loop its value before is that of the trip's start, so a loop hands its values on.
- Anything that cannot be told that way raises: two names for one value of which the region assigns
  one, numbers of Python that change, lists that grow, types that differ, and leaving a region by
  return, break or continue.
"""

import ast
import functools
import linecache

from hindcast._core import Error
from hindcast._names import Names, names_before
from hindcast._values import (
    Region,
    Value,
    as_value,
    describe_type,
    fail,
    is_number,
    literal,
    recorder,
    user_frame,
)


# ---- the source: a region is left at its end -------------------------------------------------


@functools.lru_cache(maxsize=64)
def _statements(file, size, text):
    return ast.parse(text)


def _with_statement(frame, what):
    file, line = frame.f_code.co_filename, frame.f_lineno
    text = "".join(linecache.getlines(file, frame.f_globals))
    if not text:
        fail(Error, f"the source of this function is not available, so that {what} cannot be "
             "checked for return, break and continue; put the kernel into a file or a notebook")
    found, before = None, None
    for node in ast.walk(_statements(file, len(text), text)):
        for body in ("body", "orelse", "finalbody"):
            previous = None
            statements = getattr(node, body, [])
            for statement in statements if isinstance(statements, list) else []:
                if isinstance(statement, ast.With) and any(
                    item.context_expr.lineno <= line <= item.context_expr.end_lineno
                    for item in statement.items
                ):
                    if found is None or statement.lineno >= found.lineno:
                        found, before = statement, previous
                previous = statement
    if found is None:
        fail(Error, f"{what} is not entered by a with statement; write `with hc.{what}(...):`")
    _check_exits(found.body, what, False)
    return found, before


def _check_exits(statements, what, in_loop):
    for node in statements:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        word = type(node).__name__.lower()
        if isinstance(node, ast.Return) or (
            isinstance(node, (ast.Break, ast.Continue)) and not in_loop
        ):
            fail(Error, f"`{word}` in line {node.lineno} leaves the {what}, which a traced region "
                 "cannot do; assign a value inside and use it behind, or make the condition part "
                 "of hc.while_")
        if isinstance(node, (ast.Yield, ast.YieldFrom, ast.Await)):
            fail(Error, f"`{word}` in line {node.lineno} stands inside the {what}; a traced region "
                 "runs in one go")
        if isinstance(node, (ast.For, ast.While)):
            _check_exits(node.body, what, True)
            _check_exits(node.orelse, what, in_loop)
        else:
            _check_exits(list(ast.iter_child_nodes(node)), what, in_loop)


# ---- regions ---------------------------------------------------------------------------------


def _shown(x):
    return "something else" if isinstance(x, tuple) else repr(x)


def _same(x, y):
    return type(x) is type(y) and bool(x == y or (x != x and y != y))


def _type(entry):
    return describe_type(*entry[2:])


class Control:
    """A region as a context manager."""

    what = ""
    loop = False

    def __init__(self):
        self.rec = recorder()
        self.used = False
        self.rec.controls.append((self, self.rec.place()))

    def _refuse(self, *_):
        self.used = True
        how = " as k" if self.what == "for_" else ""
        fail(TypeError, f"hc.{self.what} is entered by with, since the body is traced: write "
             f"`with hc.{self.what}(...){how}:`")

    __bool__ = __iter__ = _refuse

    def __enter__(self):
        if self.used:
            fail(Error, f"{self.what} is entered twice; write `with hc.{self.what}(...):` again")
        self.used = True
        self.frame = user_frame()
        self.statement, self.previous = _with_statement(self.frame, self.what)
        self.place = self.rec.place()
        self.outer = self.rec.region
        try:
            return self.begin()
        except BaseException:
            self.give_up()
            raise

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.give_up()
            return False
        if user_frame() is not self.frame or self.rec.region is not self.region:
            fail(Error, f"the {self.what} is left elsewhere than it was entered; use with")
        try:
            self.end()
        except BaseException:
            self.give_up()
            raise
        return False

    def give_up(self):
        self.rec.broken = self.rec.broken or f"{self.what} at {self.rec.text_of(self.place)}"

    def open(self, what=None):
        self.region = Region(what or self.what, self.place, self.outer)
        self.rec.region = self.region

    def close(self):
        self.region.open = False
        self.rec.region = self.outer

    def alive(self, names):
        return {p: e for p, e in names.values.items() if e[0].region.open}

    # Changes in the open region: path -> registers, after checks.
    def changes(self, before, index=None):
        alive, now = before.live, Names(self.rec)
        for path, size in before.sizes.items():
            if path in now.sizes and now.sizes[path] != size:
                fail(Error, f"'{before.places[path].text}' changes its length inside the "
                     f"{self.what}, whose body is traced once; keep values under names instead")
        changed = {}
        for path, entry in alive.items():
            text = before.places[path].text
            after = now.values.get(path)
            if after is None:
                number = now.plain.get(path)
                if is_number(number) and not entry[3]:
                    value = literal(number, entry[2])
                    if now.rebind(path, value):
                        changed[path] = value.ids
                        continue
                if is_number(number):
                    fail(Error, f"'{text}' is a traced {_type(entry)} before the {self.what} and a "
                         f"number at its end; write {text} = hc.{_type(entry)}"
                         f"({number!r})")
                fail(Error, f"'{text}' is a traced {_type(entry)} before the {self.what} and "
                     "something else, or nothing, at its end; use another name inside")
            if after[0] is entry[0] and after[1] == before.now[path]:
                continue
            if after[2:] != entry[2:]:
                fail(Error, f"'{text}' is a {_type(entry)} before the {self.what} and a "
                     f"{_type(after)} at its end; use another name inside")
            changed[path] = after[0].use()
        for path, x in before.plain.items():
            text = before.places[path].text
            after = now.values.get(path)
            if after is not None and after[0] is not index and after[0].region.open:
                if is_number(x) and not self.loop:
                    changed[path] = after[0].use()
                else:
                    fail(Error, f"'{text}' is {_shown(x)} before the {self.what}, which is part of "
                         f"the kernel, and a traced {_type(after)} at its end; begin with a traced "
                         f"value: {text} = hc.{_type(after)}({x if is_number(x) else ''})")
            elif after is None and path in now.plain:
                y = now.plain[path]
                if not _same(x, y):
                    fail(Error, f"'{text}' is {_shown(x)} before the {self.what} and {_shown(y)} at "
                         "its end, but the body is traced once, whatever the condition or the "
                         f"trips; make it a traced value: {text} = hc.i32(...) or hc.real(...)")
            elif after is None and (self.loop or is_number(x)) and path in before.root_names:
                fail(Error, f"'{text}' is {_shown(x)} before the {self.what} and something else at "
                     "its end; use another name inside")
        return changed, Names(self.rec)

    # The values behind the region (or at the start of its other branch): `meaning` has the
    # registers of paths; others have what they had before, or none.
    def settle(self, before, now, meaning, region):
        wanted, started = {}, {}
        for path, entry in before.live.items():
            started.setdefault(id(entry[0]), []).append(path)
        for path, (x, *_) in now.values.items():
            if path in meaning or path in before.live:
                ids = meaning[path] if path in meaning else before.live[path][1]
                wanted.setdefault(id(x), (x, {}))[1].setdefault(tuple(ids), []).append(path)
        split = False
        for x, meanings in wanted.values():
            for ids, paths in meanings.items() if len(meanings) > 1 and not x.shape else ():
                for path in paths:
                    value = Value(x.kind, (), ids)
                    value.region = region if path in meaning else x.region
                    split = now.rebind(path, value) or split
        if split:
            return self.settle(before, Names(self.rec), meaning, region)
        for number, (x, meanings) in wanted.items():
            paths = [p for group in meanings.values() for p in group]
            if len(meanings) > 1:
                (one, *_), (other, *_) = list(meanings.values())[:2]
                self.two_meanings(now, one, other, meaning)
            wanted[number] = (x, next(iter(meanings)), paths[0])
        last = {}  # names for what a changed one was in the last trip: unknown behind the loop
        for path, (x, *_) in now.values.items():
            if not self.loop or path in meaning or path in before.live:
                continue
            if any(p in meaning for p in started.get(id(x), ())):
                if id(x) not in wanted:
                    last[id(x)] = x
                elif wanted[id(x)][2] not in meaning:
                    self.two_meanings(now, wanted[id(x)][2], path, meaning)
        for entry in before.live.values():
            entry[0].ids = entry[1]
        for x in last.values():
            x.region = self.region
        for x, ids, path in wanted.values():
            if path in meaning:
                x.ids, x.region, x.element = tuple(ids), region, None
        return now

    def two_meanings(self, now, one, other, meaning):
        if one in meaning and other not in meaning:
            one, other = other, one
        a, b = now.places[one].text, now.places[other].text
        fail(Error, f"'{a}' and '{b}' are one value inside the {self.what}, but mean two behind it; "
             f"write {b} = hc.copy({a}) where it is assigned")


class If(Control):
    what = "if_"

    def __init__(self, condition):
        super().__init__()
        if is_number(condition):
            fail(TypeError, "the condition of if_ is known while tracing; write `if c:`")
        self.condition = as_value(condition, "bool", (), "the condition").ids[0]

    def begin(self):
        self.then, self.otherwise = {}, {}
        self.start = len(self.outer.steps)
        self.before = names_before(self.rec)
        self.open()
        self.then_region = self.region
        self.else_region = None

    def end(self):
        self.then, now = self.changes(self.before)
        self.types = {p: now.values[p][2:] for p in now.values}
        self.new = {p: e for p, e in now.values.items() if self.is_new(p, e)}
        self.close()
        self.names_then = self.finish(now)
        self.rec.pending = self
        self.length = len(self.outer.steps)

    def is_new(self, path, entry):
        return (
            path not in self.before.live and path not in self.then and entry[0].region.open
        )

    # Records the if with what both branches assign, and gives the names their meaning.
    def finish(self, now, new=None):
        rec, place = self.rec, self.place
        del self.outer.steps[self.start :]
        then = list(self.then_region.steps)
        otherwise = list(self.else_region.steps) if self.else_region else []
        shared = new or {}
        meaning, same = {}, {}
        for path in dict.fromkeys([*self.then, *self.otherwise, *shared]):
            kind = self.types[path][0]
            entry = self.before.live.get(path)
            a, b = shared.get(path) or (self.then.get(path), self.otherwise.get(path))
            key = (entry and entry[1], a, b, path if entry is None and path not in shared else 0)
            if key in same:  # two paths to one name
                meaning[path] = same[key]
                continue
            count = len(a or b)
            slot, result = rec.fresh(count), rec.fresh(count)
            if entry is not None:
                first = entry[1]
            elif path in shared:
                first = literal(False if kind == "bool" else 0, kind).ids * count
            else:
                first = self.first_of(path)
            rec.add("copy", slot, first, place=place)
            if a:
                then.append(("assign", list(slot), list(a), None, place))
            if b:
                otherwise.append(("assign", list(slot), list(b), None, place))
            meaning[path] = same[key] = (slot, result)
        rec.add("if", (), (self.condition,), (then, otherwise), place)
        for slot, result in same.values():
            rec.add("copy", result, slot, place=place)
        return self.settle(self.before, now, {p: r for p, (_, r) in meaning.items()}, self.outer)

    def first_of(self, path):
        kind, shape = self.types[path]
        if shape:
            fail(Error, f"'{self.before.places[path].text}' is a number before the if_ and a "
                 f"{kind} of {shape} inside; begin with a traced value")
        return literal(self.before.plain[path], kind).ids


class Else(Control):
    what = "else_"

    def begin(self):
        head = getattr(self.rec, "pending", None)
        if (
            head is None
            or self.previous is not head.statement
            or head.frame is not self.frame
            or self.outer is not head.outer
            or len(self.outer.steps) != head.length
        ):
            fail(Error, "else_ does not follow an if_; write `with hc.else_():` directly behind "
                 "the body of `with hc.if_(c):`")
        self.head, self.rec.pending = head, None
        # Names mean here what they meant before the if_.
        del self.outer.steps[head.start :]
        meaning = {}
        for path in head.then:
            entry = head.before.live.get(path)
            meaning[path] = entry[1] if entry is not None else head.first_of(path)
        self.region = head.then_region
        now = self.settle(head.before, head.names_then, meaning, self.outer)
        head.start = len(self.outer.steps)
        head.before.now = {p: e[1] for p, e in head.before.live.items()}
        self.entered = {}
        for path in head.then:
            x = now.values[path][0]
            self.entered[path] = (x, x.ids)
        self.open()

    def end(self):
        head = self.head
        before = head.before
        # The second branch starts with the first one's assignments: compare with those.
        start = Names.__new__(Names)
        start.__dict__.update(before.__dict__)
        start.live, start.now = dict(before.live), dict(before.now)
        start.plain = dict(before.plain)
        for path, (x, ids) in self.entered.items():
            start.live[path] = (x, ids, x.kind, x.shape)
            start.now[path] = ids
            start.plain.pop(path, None)
        head.otherwise, now = self.changes(start)
        head.else_region = self.region
        new = self.made_in_both(now)
        head.types.update({p: e[2:] for p, e in now.values.items()})
        self.close()
        head.region = self.region
        head.finish(now, new)


    # Names that had no value before and get one in both branches.
    def made_in_both(self, now):
        head, new = self.head, {}
        then = head.names_then
        for path, entry in now.values.items():
            if path in head.before.live or path in head.before.plain or path in head.then:
                continue
            text = now.places[path].text
            if path in then.plain and is_number(then.plain[path]) and not entry[3]:
                if entry[0].region.open:
                    held, self.rec.region = self.rec.region, self.outer
                    first = literal(then.plain[path], entry[2]).ids
                    self.rec.region = held
                    head.start = len(self.outer.steps)
                    new[path] = (first, entry[1])
                continue
            first = head.new.get(path)
            if first is None or (entry[0] is first[0] and entry[1] == first[1]):
                continue
            if first[2:] == entry[2:]:
                new[path] = (first[1], entry[0].use())
            elif entry[0].region is not self.region:
                fail(Error, f"'{text}' is a {describe_type(*first[2:])} in one branch and a "
                     f"{_type(entry)} in the other; use two names")
        for path, y in now.plain.items():
            text = now.places[path].text
            if path in head.before.plain or path in head.before.live:
                continue
            if path in head.new:
                fail(Error, f"'{text}' is a traced value in one branch and {_shown(y)} in the "
                     f"other; write {text} = hc.{_type(head.new[path])}(...) in both")
            if path in then.plain and not _same(then.plain[path], y):
                fail(Error, f"'{text}' is {_shown(then.plain[path])} in one branch and {_shown(y)} "
                     "in the other, but both are traced; make it a traced value, or use two names")
        return new


class For(Control):
    what = "for_"
    loop = True

    def __init__(self, start, stop, step, max_trips):
        super().__init__()
        self.bounds = [as_value(x, "i32", (), "a bound of for_") for x in (start, stop, step)]
        if not isinstance(max_trips, int) or isinstance(max_trips, Value) or max_trips < 0:
            fail(TypeError, "max_trips is a number of Python, 0 or more")
        self.max_trips = max_trips

    # Every live value becomes a variable that the trips hand on.
    def carry(self):
        self.before = self.one_name_each(names_before(self.rec))
        self.slots = {}
        for x, ids, *_ in self.before.live.values():
            if id(x) in self.slots:
                continue
            slot = self.rec.fresh(len(ids))
            self.rec.add("copy", slot, ids, place=self.place)
            self.slots[id(x)] = slot
            x.ids = slot
        self.before.now = {p: e[0].ids for p, e in self.before.live.items()}

    # Two names for one scalar get a value each, since the loop may assign one of them.
    def one_name_each(self, before):
        names, split = {}, False
        for path, (x, ids, kind, shape) in before.live.items():
            if not before.places[path].hidden and not shape:
                names.setdefault(id(x), []).append((path, x, ids))
        for paths in names.values():
            for path, x, ids in paths if len(paths) > 1 else ():
                value = Value(x.kind, (), ids)
                value.region = x.region
                split = before.rebind(path, value) or split
        return names_before(self.rec) if split else before

    def begin(self):
        bounds = [b.use() for b in self.bounds]
        self.inputs = [r for b in bounds for r in b]
        self.carry()
        self.open()
        self.index = Value("i32", (), self.rec.fresh())
        return self.index

    def end(self):
        changed = self.hand_on(self.index)
        self.close()
        self.rec.add("for", self.index.ids, self.inputs, (self.region.steps, self.max_trips),
                     self.place)
        self.leave(changed)

    def hand_on(self, index=None):
        rec = self.rec
        changed, self.now = self.changes(self.before, index)
        last = {}
        for path, (x, ids, *_) in self.before.live.items():
            after = changed.get(path)
            if after is None and self.before.places[path].hidden:
                continue
            first = last.setdefault(id(x), (after, path))
            if first[0] != after:
                a, b = (self.before.places[p].text for p in (first[1], path))
                name = b if after is None else a
                fail(Error, f"'{a}' and '{b}' are one value before the {self.what}, which assigns "
                     f"only one of them; make them two before it: {name} = hc.copy({name})")
        targets, sources = [], []
        for number, (after, _) in last.items():
            if after is not None:
                targets += self.slots[number]
                sources += after
        if targets:
            held = rec.fresh(len(sources))  # all are read before one is written
            rec.add("copy", held, sources, place=self.place)
            rec.add("assign", targets, held, place=self.place)
        return changed

    def leave(self, changed):
        meaning, results = {}, {}
        for path in changed:
            number = id(self.before.live[path][0])
            if number not in results:
                slot = self.slots[number]
                results[number] = self.rec.fresh(len(slot))
                self.rec.add("copy", results[number], slot, place=self.place)
            meaning[path] = results[number]
        self.settle(self.before, self.now, meaning, self.outer)


class While(For):
    what = "while_"

    def __init__(self, condition, max_trips):
        Control.__init__(self)
        if not callable(condition):
            fail(TypeError, "the condition of while_ is a function, which is traced for every "
                 "trip; write hc.while_(lambda: x > 0, max_trips=...)")
        if not isinstance(max_trips, int) or isinstance(max_trips, Value) or max_trips <= 0:
            fail(TypeError, "max_trips of while_ is the largest number of trips, a number of "
                 "Python above 0; exceeding it raises")
        self.condition, self.max_trips = condition, max_trips

    def begin(self):
        self.carry()
        self.open("condition of the while_")
        before = Names(self.rec)
        holds = self.condition()
        if is_number(holds):
            fail(TypeError, "the condition of while_ does not depend on traced values; write a "
                 "while of Python")
        self.holds = as_value(holds, "bool", (), "the condition").ids[0]
        after = Names(self.rec)
        if any(after.values.get(p) != e for p, e in before.values.items()):
            fail(Error, "the condition of a while_ assigns a name; assign in the body")
        self.steps = self.region.steps
        self.close()
        self.open()

    def end(self):
        changed = self.hand_on()
        self.close()
        self.rec.add("while", (), (), (self.steps, self.holds, self.region.steps, self.max_trips),
                     self.place)
        self.leave(changed)


def if_(condition):
    """`with hc.if_(c):` runs the body where the traced condition holds. Names that the body assigns
    have the new value behind it where it ran, and the old one elsewhere."""
    return If(condition)


def else_():
    """`with hc.else_():` directly behind `with hc.if_(c):`."""
    return Else()


def for_(start, stop=None, step=1, *, max_trips=0):
    """`with hc.for_(n) as k:` or for_(start, stop, step): the trips hand on what they assign.
    max_trips: a limit, which raises; needed for gradients where the bounds are traced."""
    return For(0, start, step, max_trips) if stop is None else For(start, stop, step, max_trips)


def while_(condition, *, max_trips):
    """`with hc.while_(lambda: x > 1, max_trips=100):` exceeding max_trips raises."""
    return While(condition, max_trips)


