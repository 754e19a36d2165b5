"""Put the script together: header, imports, the notebook's definitions, `train`, helpers, and the start."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence, Set

from nbddp.analysis import Plan
from nbddp.analysis.slicing import local_names, runs_when_imported
from nbddp.analysis.syntax import Statement, bindings, lines_in_strings, walk
from nbddp.edits import Edit
from nbddp.fingerprint import sealed
from nbddp.notebook import is_directive
from nbddp.script.apply import Line, apply
from nbddp.script.copy_parts import parts_for
from nbddp.script.from_modules import Modules, modules_of
from nbddp.script.guards import joined_guards
from nbddp.script.hand_back import hand_back
from nbddp.script.header import header
from nbddp.script.import_comments import Comments, comments_of
from nbddp.script.imports import bound_by, import_block, kept_imports, used_names
from nbddp.script.launcher import launcher
from nbddp.script.launcher_template import EARLY, FUNCTIONS
from nbddp.script.layout import Definition, Layout, lay_out
from nbddp.script.names import words_of
from nbddp.script.needs import needs_of
from nbddp.script.part_library import library
from nbddp.script.regions import Region, regions
from nbddp.script.rename import import_as, of_python
from nbddp.script.variants import requests
from nbddp.watch_points import Watch

WIDTH = 84
ROLES = {
    "parameters": ": parameters",
    "setup": ": setup",
    "rank0": ": rank 0 only",
    "wrap": ": how models are wrapped",
    "connect": ": how the processes meet",
    "snapshot": ": handed over by the notebook",
}
INDENT = "    "
LET_GO = "  # lets go of the process group: gloo's threads end with it"


def assemble(plan: Plan, edits: Sequence[Edit]) -> list[Line]:
    """The lines of the script, each with the line of the notebook that it came from."""
    spans = regions(plan)
    modules = modules_of(plan, edits)
    edited = {s for s in modules.kept if any(e.text.strip() for e in _edits_of(spans[s.index], edits))}
    layout = lay_out(plan, modules, edited, _bound_by(edits), _read_by(plan, spans, edits))
    body = _body(plan, layout, spans, edits)
    module = _cells(plan, layout.module, spans, edits, "")
    environment = [line for s in layout.environment for line in _environment(plan, s, spans, edits)]
    names = words_of("\n".join(line.text for line in [*body, *module, *environment]))
    renames = {n: plan.naming(n) for n in _own_names() if plan.naming(n) != n}
    renames |= of_python(plan, layout)
    wanted = {n for n in library().parts if plan.naming(n.partition("__")[0]) in names}
    start = launcher(dict(layout.parameters), needs_of(plan, layout), train=plan.naming("train"), renames=renames)
    requested = [*requests(plan, edits, wanted), *start.parts]
    parts = parts_for(requested, renames=renames, numpy=_numpy_in(plan, layout))
    used = names | parts.mentioned | words_of(start.source)
    comments = comments_of(plan.program, layout.imports, spans)
    plain = (s.node for s in layout.imports if isinstance(s.node, ast.Import))
    for_itself = {name for n in plain if runs_when_imported(plan.program, n) for name, _ in bindings(n)}
    used_too = used | _notebook_names(plan, layout) | for_itself
    imports = kept_imports(layout.imports, used_too, comments) + modules.imports(used_too)
    imports += [f"import {name}" for name in plan.program.needs if name in used - library().parts.keys()]
    present = bound_by(imports)
    added = [*parts.imports, *start.imports, *_imports_of_edits(plan, edits, names)]
    added += ["import builtins"] if "builtins." in parts.source + start.source else []
    imports += [line for line in added if not bound_by([line]).items() <= present.items()] + [EARLY]
    lines = [*header(plan, layout), Line("")]
    lines += _import_lines(imports, comments, layout, modules, environment)
    lines += [*module, Line(""), Line("")] if not module else [*module]
    lines += [Line(""), Line(""), *body, Line(""), Line("")]
    for title, text in parts.sections:
        lines += [Line(_title(title, 0)), *_lines(text), Line(""), Line("")]
    lines += _launcher_lines(start.source.rstrip("\n"), renames.get("run", "run"))
    return _tidy(lines)


def _lines(text: str) -> list[Line]:
    return [Line(t) for t in text.split("\n")]


def _launcher_lines(text: str, run: str) -> list[Line]:
    """Where a process begins to train there is something to watch, whatever the notebook itself calls `run`."""
    mark = (0, Watch("process"))
    return [Line(t, marks=(mark,)) if t.startswith(f"def {run}(") else Line(t) for t in text.split("\n")]


def _own_names() -> set[str]:
    """Every name that the script may use for itself."""
    own = {"train", "rank", "world_size", "rank_device", *FUNCTIONS}
    return own | set(library().imports) | {n.partition("__")[0] for n in library().parts}


def _numpy_in(plan: Plan, layout: Layout) -> str | None:
    """What the script calls it, and nothing else."""
    texts = (plan.program.source(s.node) for s in layout.imports)
    names = [name for name, stands_for in bound_by(texts).items() if stands_for == "numpy"]
    others = [plan.flow.effects[s.index] for s in plan.kept if s not in layout.imports]
    return next((n for n in names if not any(n in e.may_bind or e.uses_globals for e in others)), None)


def _notebook_names(plan: Plan, layout: Layout) -> set[str]:
    kept = [s.node for s in plan.kept if s not in layout.imports]
    return used_names(kept) if any(plan.flow.effects[s.index].uses_globals for s in plan.kept) else set()


def _imports_of_edits(plan: Plan, edits: Sequence[Edit], names: Set[str]) -> list[str]:
    """Imports that the text of edits names: `DistributedSampler`, `dist`, `os`."""
    known = library().imports
    used = {u for e in edits for u in e.uses}
    written = sorted(u for u in used if u.startswith(("import ", "from ")))  # of packages that no part needs
    called = {u: plan.naming(u) for u in sorted(used & known.keys())}
    return written + [import_as(known[u], name) for u, name in called.items() if name in names]


def _edits_of(region: Region, edits: Sequence[Edit]) -> list[Edit]:
    """What closes something belongs to what stands before it, all else to what follows."""
    return [
        e
        for e in edits
        if (region.lead < e.start < region.end and e.end <= region.end)
        or (e.start == region.lead and not (e.place == "close" and e.end == e.start))
        or (e.start == e.end == region.end and e.place == "close")
    ]


def _bound_by(edits: Sequence[Edit]) -> set[str]:
    return {u.removeprefix("binds ") for e in edits for u in e.uses if u.startswith("binds ")}


def _read_by(plan: Plan, spans: dict[int, Region], edits: Sequence[Edit]) -> set[str]:
    """Names in what edits write into functions and classes, and that these do not keep to themselves."""
    definitions = [s for s in plan.kept if isinstance(s.node, Definition)]
    written = [(s.node, e) for s in definitions for e in _edits_of(spans[s.index], edits)]
    found = (set(re.findall(r"[^\W\d]\w*", e.text)) - _local_names_at(plan, node, e) for node, e in written)
    return set().union(*found)


def _local_names_at(plan: Plan, definition: ast.stmt, edit: Edit) -> set[str]:
    """What the functions around an edit, which may be a line behind their last one, call their own."""
    at = len(plan.program.text[: edit.start].rstrip())
    functions = [n for n in walk(definition) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    spans = [(n, *plan.program.span(n)) for n in functions]
    return set().union(*(local_names(n) for n, start, end in spans if start < at <= end))


def _title(text: str, indent: int) -> str:
    start = f"# ── {text} "
    return start + "─" * (WIDTH - indent - len(start))


def _cells(
    plan: Plan, statements: Sequence[Statement], spans: dict[int, Region], edits: Sequence[Edit], indent: str
) -> list[Line]:
    """Statements under a comment for each cell."""
    lines: list[Line] = []
    last: Statement | None = None
    for statement in statements:
        found = _statement(plan, spans[statement.index], edits, indent)
        if not any(line.text.strip() for line in found):
            continue
        if last is None or last.cell is not statement.cell:
            lines += [Line("")] * (1 if indent or (last and _same_kind(last, statement)) else 2) if lines else []
            lines.append(Line(indent + _cell_title(plan, statement, len(indent))))
        while indent and len(found) > 1 and not found[0].text.strip() and not found[1].text.strip():
            found = found[1:]
        if last is None or last.cell is not statement.cell:
            while found and not found[0].text.strip():
                found = found[1:]
        elif not indent and not _same_kind(last, statement):
            while found and not found[0].text.strip():
                found = found[1:]
            lines += [Line(""), Line("")]
        lines += found
        last = statement
    return joined_guards(lines)


def _same_kind(a: Statement, b: Statement) -> bool:
    definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
    return not isinstance(a.node, definition) and not isinstance(b.node, definition)


def _cell_title(plan: Plan, statement: Statement, indent: int) -> str:
    number = statement.cell.number
    if statement.cell.file:
        return _title(statement.cell.file, indent)
    role = ROLES.get(statement.cell.mark or "", "")
    if number == plan.training_cell:
        role = ": the training loop"
    return _title(f"cell {number}{role}", indent)


def _statement(plan: Plan, region: Region, edits: Sequence[Edit], indent: str) -> list[Line]:
    """Its lines, edited and moved in; the insides of strings stay where they are, marks of the cell are obeyed."""
    lines = apply(plan.program, region.lead, region.end, _edits_of(region, edits))
    above = plan.program.text.count("\n", 0, region.start)
    lines = [line for line in lines if (line.origin or above + 1) > above or not is_directive(line.text)]
    while lines and not lines[-1].text.strip():
        lines.pop()
    held = lines_in_strings("\n".join(line.text for line in lines))
    return [
        line if number in held or not line.text.strip() else line.moved_in(indent)
        for number, line in enumerate(lines, 1)
    ]


def _body(plan: Plan, layout: Layout, spans: dict[int, Region], edits: Sequence[Edit]) -> list[Line]:
    naming = plan.naming
    signature = f"def {naming('train')}({naming('rank')}, {naming('world_size')}, {naming('rank_device')}):"
    lines = [Line(signature, marks=hand_back(plan, layout)), Line(f'    """{_what(layout)}"""')]
    if layout.global_names:
        read = any(isinstance(s.node, Definition) for s in layout.module)
        lines += [*_global(layout.global_names, "  # read by the functions above" if read else ""), Line("")]
    lines += _cells(plan, layout.body, spans, edits, INDENT)
    held = sorted(_bound_by([e for e in edits if e.rule == "wrap"]).intersection(layout.global_names))
    return lines + [Line(t) for t in ("", f"    {' = '.join(held)} = None{LET_GO}") if held]


def _global(names: tuple[str, ...], comment: str) -> list[Line]:
    line = f"    global {', '.join(names)}"
    if len(line + comment) <= 120:
        return [Line(line + comment)]
    lines, row = [], "    global "
    for name in names:
        if len(row) + len(name) > 110:
            lines.append(Line(row.rstrip(", ")))
            row = "    global "
        row += f"{name}, "
    return [*lines, Line(row.rstrip(", "))]


def _what(layout: Layout) -> str:
    numbers = sorted({s.cell.number for s in layout.body if not s.cell.file})
    if len(numbers) == 1:
        return f"The notebook's cell {numbers[0]}, as each process runs it."
    return f"The notebook's cells {numbers[0]} to {numbers[-1]}, as each process runs them."


def _environment(plan: Plan, statement: Statement, spans: dict[int, Region], edits: Sequence[Edit]) -> list[Line]:
    """A spawned process begins in the folder to which the first has gone: it goes there no second time."""
    lines = _statement(plan, spans[statement.index], edits, "")
    if not plan.program.source(statement.node).startswith("os.chdir"):
        return lines
    while lines and not lines[0].text.strip():
        lines = lines[1:]
    head = Line('if __name__ != "__mp_main__":  # processes that this one starts begin where it is')
    return [head, *(line.moved_in(INDENT) for line in lines)]


def _import_lines(
    imports: list[str], comments: Mapping[int, Comments], layout: Layout, modules: Modules, environment: list[Line]
) -> list[Line]:
    """One block; or, where something has to run before an import, that import behind it."""
    if not environment:
        return [Line(t) for t in import_block(imports)] + _blank_behind_imports(layout)
    first = min(s.index for s in layout.environment)
    late = [s for s in layout.imports if s.index > first and not _is_standard(s.node)]
    named = words_of("\n".join(imports))
    late_lines = [*kept_imports(late, named, comments), *modules.imports(named, first)]
    early = [i for i in imports if i not in late_lines]
    while environment and not environment[0].text.strip():
        environment = environment[1:]
    lines = [Line(t) for t in import_block(early)] + [Line(""), *environment]
    lines += [Line(f"{t}  # noqa: E402" if _begins_import(t) else t) for t in import_block(late_lines)]
    return [*lines, *_blank_behind_imports(layout)]


def _begins_import(line: str) -> bool:
    return line.startswith(("import ", "from "))


def _blank_behind_imports(layout: Layout) -> list[Line]:
    """As isort has it: two lines before a definition, one before anything else."""
    first = layout.module[0].node if layout.module else None
    return [Line("")] * (2 if first is None or isinstance(first, Definition) else 1)


def _is_standard(node: ast.stmt) -> bool:
    import sys

    name = node.names[0].name if isinstance(node, ast.Import) else getattr(node, "module", None) or ""
    return name.split(".")[0] in sys.stdlib_module_names or name.split(".")[0] == "torch"


def _tidy(lines: list[Line]) -> list[Line]:
    """Never more than two blank lines, two around what stands at the module, and one newline at the end."""
    found: list[Line] = []
    for line in lines:
        blank = not line.text.strip()
        if blank and len(found) >= 2 and not found[-1].text.strip() and not found[-2].text.strip():
            continue
        found.append(Line("", line.origin) if blank else line)
    while found and not found[-1].text:
        found.pop()
    return [*found, Line("")]


def as_text(lines: Sequence[Line]) -> str:
    return sealed("\n".join(line.text for line in lines))
