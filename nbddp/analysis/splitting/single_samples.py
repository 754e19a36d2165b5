"""What looks like a batch and is one sample: a sentence, a row, what a loop picks out of a tensor."""

from __future__ import annotations

import ast

from nbddp.analysis.library import MATRIX, Samples, effect_of, entry_of, learns
from nbddp.analysis.reading import FAR, Reading
from nbddp.analysis.splitting.origins import gives_samples, is_sample, sizes_in
from nbddp.analysis.splitting.regions import Region, bound, held, region_at, run_by, stored
from nbddp.analysis.splitting.roots import is_data, is_single, reduced
from nbddp.analysis.syntax import keywords_of, walk
from nbddp.analysis.values import ANYTHING, ONE, TURNED, Extent, Obj, Split, backward_of, spread
from nbddp.sentence import NOTHING, Sentence, sentence

COPIED = ("expand", "repeat")
MAKE_ONE = ("unsqueeze", "view", "reshape")
RECURRENT = ("torch.nn.RNN", "torch.nn.LSTM", "torch.nn.GRU")
UNLIKE = (Extent.MEAN, Extent.SUM, Extent.VARYING)


def sample_by_sample(plan: Reading, split: Split) -> str | None:
    """`for x, y in zip(X, Y)`, where these are tensors."""
    parts = [n for one in held(plan, split) for n in plan.bindings.made_of(one, through_calls=False)]
    made = {one.by for n in parts if isinstance(n, ast.Name) for one in plan.bindings.of(n)}
    for loop in plan.program.ancestors(split.at):
        if isinstance(loop, ast.For) and loop in made and gives_samples(plan, loop.iter):
            return plan.program.source(loop.iter)
    return _picked_before(plan, split) or _next_of_dataset(plan, split)


def _picked_before(plan: Reading, split: Split) -> str | None:
    """`x, y = X[i], Y[i]`, `x, y = pairs[i]`."""
    region = region_at(plan, split.at)
    for statement in region.block[: region.block.index(region.at)]:
        for target, value in bound(plan.program, statement):
            if stored(target) & {*split.names} and is_sample(plan, value):
                return plan.program.source(value)
    return None


def _next_of_dataset(plan: Reading, split: Split) -> str | None:
    """`x, y = next(samples)`, which goes through a dataset and not through batches of it."""
    region = region_at(plan, split.at)
    for statement in region.block[: region.block.index(region.at)]:
        for call in walk(statement) if stored(statement) & {*split.names} else ():
            if isinstance(call, ast.Call) and call.args and ast.unparse(call.func) == "next":
                sources = (plan.facts.fields.get((o, "of")) for o in plan.facts.value(call.args[0]).of("iterator"))
                if any(source is not None and source.of("dataset") for source in sources):
                    return plan.program.source(call)
    return None


def one_sequence_of(plan: Reading) -> ast.expr | None:
    """`self.rnn(x, torch.zeros(layers, size))`: of states without a dimension for samples; or there is one in it."""
    for call, fact in plan.facts.calls.items():
        if fact.grad and any(o.name in RECURRENT and not _is_batch_first(plan, o) for o in fact.called):
            made = (n for given in call.args[:1] for n in plan.bindings.made_by(given))
            if (one := next((n for n in made if isinstance(n, ast.Call) and _has_one_second(n)), None)) is not None:
                return one
        if len(call.args) == len(("x", "state")) and any(o.name in RECURRENT for o in fact.called):
            state = plan.facts.value(call.args[1])
            if all(part.rank == len(("layers", "size")) for part in state.items or (state,)):
                return call.args[0]
    return None


def _is_batch_first(plan: Reading, layer: Obj) -> bool:
    first = keywords_of(layer.node).get("batch_first") if isinstance(layer.node, ast.Call) else None
    return first is not None and plan.facts.value(first).const is not False


def _has_one_second(made: ast.Call) -> bool:
    """`embedded.view(len(sentence), 1, -1)`."""
    word = made.func.attr if isinstance(made.func, ast.Attribute) else ""
    match made.args:
        case [ast.expr() as first, ast.Constant(value=1), _] if word in MAKE_ONE:
            return not isinstance(first, ast.Constant)
    return False


def along_second(plan: Reading, split: Split) -> ast.expr | None:
    """`data[:, idx]`, with what this turn has drawn; a slice may well be of time: `data[:, i : i + length]`."""
    region = region_at(plan, split.at)
    own = {*split.names} | {n.id for part in split.inline for n in walk(part) if isinstance(n, ast.Name)}
    drawn: list[ast.AST] = [*split.inline]
    for statement in reversed(region.block[: region.block.index(region.at)]):
        if stored(statement) & own:
            drawn.append(statement)
            own |= {n.id for n in walk(statement) if isinstance(n, ast.Name)}
    for node in (n for part in drawn for n in walk(part)):
        match node:
            case ast.Subscript(slice=ast.Tuple(elts=[ast.Slice(lower=None, upper=None), ast.expr() as index, *_])):
                read = {n.id for n in walk(index) if isinstance(n, ast.Name)}
                sliced = isinstance(index, ast.Slice) or not is_data(plan, index)
                drawn_now = read & region.bound_before or isinstance(index, ast.Call)
                if not region.whole and not sliced and drawn_now:
                    return node
    return None


def made_one(region: Region, split: Split) -> ast.expr | None:
    """`x = x.unsqueeze(0)` right before the step: not where the name has held something else before."""
    names = {*split.names}
    for statement in reversed(region.block[: region.block.index(region.at)]):
        if held := stored(statement) & names:
            for node in walk(statement):
                if isinstance(node, ast.Call) and _is_one(node, split.dim):
                    if not (_is_copied(region.plan, node) or _is_beside_others(region.plan, node)):
                        return node
            if isinstance(statement, ast.Assign):
                names -= held - {n.id for n in walk(statement.value) if isinstance(n, ast.Name)}
    return None


def single_sample(region: Region, split: Split) -> Sentence:
    """Why what would be split is one sample, or no samples at all."""
    plan = region.plan
    single = made_one(region, split) or taken_for_one(plan, split.dim)
    if single is None:
        return NOTHING
    source = plan.program.source(single)
    if isinstance(single, ast.Call) and plan.facts.value(single.func).of("loss"):
        return sentence("'%1' is given what is summed up over samples, and a rank has a part of them only", source)
    return sentence("'%1' makes one sample of it, and one sample cannot be split", source)


def goes_through_batches(plan: Reading) -> ast.expr | None:
    """`for t, part in enumerate(noisy): ... torch.zeros(len(part), 4)`: steps in time, each of all samples."""
    for loop in (n for n in plan.nodes() if isinstance(n, ast.For)):
        source = loop.iter.args[0] if isinstance(loop.iter, ast.Call) and loop.iter.args else loop.iter
        value, names = plan.facts.value(source), stored(loop.target)
        if value.extent is Extent.SAMPLES and not (value.of("list", "dict", "iterator", "loader") or value.items):
            inside = {n for s in loop.body for n in walk(s)}
            calls = [plan.facts.calls[n] for n in inside if isinstance(n, ast.Call) and n in plan.facts.calls]
            trains = any(f.grad and any(o.kind == "model" for o in f.called) for f in calls)
            if trains and any(_is_how_many(n, names) for n in inside):
                return loop.iter
    return None


def _is_how_many(node: ast.AST, names: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Name(id="len"), args=[ast.Name(id=name)]):
            return name in names
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="size"), args=[ast.Constant(value=0)]):
            return name in names
        case ast.Subscript(value=ast.Attribute(value=ast.Name(id=name), attr="shape"), slice=ast.Constant(value=0)):
            return name in names
    return False


def _is_one(call: ast.Call, dim: int) -> bool:
    """`x.unsqueeze(0)`, `x.view(1, -1)`; of samples in the second dimension `x.unsqueeze(1)`, `x.view(-1, 1, 8)`."""
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    sizes = next((a.elts for a in call.args[:1] if isinstance(a, ast.Tuple)), call.args)
    place = dim if method != "unsqueeze" else 0
    one = sizes[place] if len(sizes) > place else None
    return method in MAKE_ONE and isinstance(one, ast.Constant) and one.value == (dim if method == "unsqueeze" else 1)


def _has_samples_second(plan: Reading, call: ast.Call) -> bool:
    """`x.view(1, len(x), -1)`, `outputs[-1].unsqueeze(0)`: one place in time, of all samples."""
    base = call.func.value if isinstance(call.func, ast.Attribute) else call
    places = (n.value for n in plan.bindings.made_by(base) if isinstance(n, ast.Subscript))
    return (len(call.args) > 1 and plan.facts.value(call.args[1]).size) or any(
        plan.facts.value(p).of(TURNED) for p in places
    )


def taken_for_one(plan: Reading, dim: int) -> ast.expr | None:
    """The same in the step, and a loss of what has been summed up: what was split were no samples."""
    training = {node for node, loop in plan.facts.loops.items() if loop.backward}
    for call, fact in plan.facts.calls.items():
        func = call.func
        base = plan.facts.value(func.value) if isinstance(func, ast.Attribute) else None
        of_samples = base is not None and spread(base) in (Extent.SAMPLES, Extent.VARYING)  # no `loss.mean(0).view(1)`
        of_samples = of_samples and base is not None and not base.of(ONE)  # which is one already
        turned = base is not None and of_samples and bool(base.of(TURNED)) == bool(dim)
        single = turned and _is_one(call, dim) and not _has_samples_second(plan, call)
        looked = single and fact.grad and not _is_beside_others(plan, call)
        apart = _is_first_state(plan, call) or _is_of_no_batch(plan, call) if looked else True
        if not apart and _is_learned_from(plan, call):
            return call
        trains = fact.grad and bool(fact.loops & training or not training) and "torch.nn.Parameter" not in fact.names
        made = (
            next((a for a in call.args if is_single(plan, a)), None) if trains and not _is_place(plan, call) else None
        )
        if made is not None and (not fact.bodies or _learns(plan, call)):
            return made
        compares = fact.grad and plan.facts.value(func).of("loss") and plan.facts.value(call).varies
        if compares and _is_summed_up(plan, call):
            return call
    return None


def _is_place(plan: Reading, node: ast.AST) -> bool:
    """`distances[torch.LongTensor(np.array([pair[0]]))]`: by which something is picked."""
    around = plan.program.parents[node]
    while isinstance(around, ast.Tuple | ast.Call):
        node, around = around, plan.program.parents[around]
    return isinstance(around, ast.Subscript) and node is around.slice


def _is_copied(plan: Reading, call: ast.Call) -> bool:
    """`x.unsqueeze(0).repeat(64, 1, 1)`, which has it once for each of as many samples."""
    around = plan.program.parents[call]
    copies = plan.program.parents[around] if isinstance(around, ast.Attribute) and around.attr in COPIED else None
    first = next(iter(sizes_in(copies.args) or copies.args), None) if isinstance(copies, ast.Call) else None
    same = isinstance(first, ast.UnaryOp) or (isinstance(first, ast.Constant) and first.value == 1)
    return first is not None and not same


def _is_beside_others(plan: Reading, call: ast.Call) -> bool:
    """`alike(z.unsqueeze(1), z.unsqueeze(0))`, `a.view(1, -1) + c + a.view(-1, 1)`: each sample is set against all.

    So it is in `z.unsqueeze(0).expand(n, m, d)`, once for each of `n`.
    """
    around = plan.program.parents[call]
    if isinstance(around, ast.Attribute) and around.attr in COPIED:
        return _is_copied(plan, call)
    while isinstance(around, ast.BinOp) and isinstance(plan.program.parents[around], ast.BinOp):
        around = plan.program.parents[around]
    fact = plan.facts.calls.get(around) if isinstance(around, ast.Call) else None
    if fact is not None and any(map(_may_learn, fact.called)):
        return False
    beside = walk(around) if isinstance(around, ast.BinOp) else ast.iter_child_nodes(around)
    others = [n for n in beside if n is not call and isinstance(n, ast.Call)]
    return any(isinstance(n.func, ast.Attribute) and n.func.attr in MAKE_ONE and not _is_one(n, 0) for n in others)


def _is_learned_from(plan: Reading, call: ast.Call) -> bool:
    """Or does it only measure: `correct = pred.eq(target.view(1, -1).expand_as(pred))`?"""
    models = (f for f in plan.facts.calls.values() if any(_may_learn(o) for o in f.called))
    learned = (*(a for f in models for a in f.node.args), *map(backward_of, plan.facts.backward))
    return any(call in made or len(made) >= FAR for a in learned if a and (made := [*plan.bindings.made_of(a)]))


def _learns(plan: Reading, call: ast.Call) -> bool:
    """Not a function of the notebook that only shows, `draw(torch.tensor([total / 30]))`."""
    facts = (plan.facts.calls[n] for n in run_by(plan, call) if isinstance(n, ast.Call) and n in plan.facts.calls)
    return any(plan.facts.is_loss(f.node) or any(_may_learn(o) for o in f.called) for f in facts)


def _may_learn(module: Obj) -> bool:
    """Not `nn.CosineSimilarity`, which compares each with all others: `alike(z.unsqueeze(1), z.unsqueeze(0))`."""
    return module.kind in ("model", "submodule") and learns(module.name)


def _is_of_no_batch(plan: Reading, call: ast.Call) -> bool:
    """`if t.dim() == 0: t = t.unsqueeze(0)`: where something else is given than in the training."""
    base = ast.unparse(call.func.value) if isinstance(call.func, ast.Attribute) else ""
    asked = (f"{base}.dim()", f"{base}.ndim", f"len({base}.shape)", f"len({base}.size())")
    tests = (a.test for a in plan.program.ancestors(call) if isinstance(a, ast.If | ast.IfExp))
    return any(isinstance(n, ast.expr) and ast.unparse(n) in asked for test in tests for n in walk(test))


def _is_first_state(plan: Reading, call: ast.Call) -> bool:
    """`self.rnn(x, self.embed(label).unsqueeze(0))`, also by a name: a layer of states, of all samples."""
    for layer, fact in plan.facts.calls.items():
        if len(layer.args) == 2 and any(effect_of(o.name).state for o in fact.called):
            if call in (layer.args[1], *plan.bindings.below(layer.args[1])):
                return True
    return False


def _is_summed_up(plan: Reading, call: ast.Call) -> bool:
    return any(spread(plan.facts.value(a)) in UNLIKE and not _is_output(plan, a, set()) for a in call.args[:2])


def _is_output(plan: Reading, node: ast.expr, seen: set[ast.AST]) -> bool:
    """`F.relu(self.net(x))`, also where `x` is at times the share and at times all of the data: each sample by itself.

    Or what is made to go with that: `torch.ones(x.size(0), 1)`.
    """
    if spread(plan.facts.value(node)) is not Extent.VARYING or node in seen:
        return spread(plan.facts.value(node)) not in UNLIKE or node in seen
    seen.add(node)
    if isinstance(node, ast.BinOp) and not isinstance(node.op, ast.MatMult):  # `scores / temperature`
        return _is_output(plan, node.left, seen) and _is_output(plan, node.right, seen)
    fact = plan.facts.calls.get(node) if isinstance(node, ast.Call) else None
    op = entry_of(node, plan.flow.imports)
    module = fact is not None and any(o.kind in ("model", "submodule") for o in fact.called)
    alone = op.reads and (op.samples in (Samples.EACH, Samples.KEEPS) or op.makes == "tensor" or op.about == "size")
    goes_along = fact is not None and (op.over or op.samples is Samples.JOINS)
    alone = alone or (goes_along and isinstance(node, ast.Call) and _is_along_features(plan, node))
    if fact is not None and not fact.bodies and (module or alone):
        method = isinstance(fact.node.func, ast.Attribute) and not plan.facts.value(fact.node.func).objs
        base = [fact.node.func.value] if isinstance(fact.node.func, ast.Attribute) and method else []
        parts = (part for a in (*base, *fact.node.args) for part in getattr(a, "elts", [a]))
        return all(_is_output(plan, part, seen) for part in parts)
    made = [*plan.bindings.made_by(node)]
    return made != [node] and all(_is_output(plan, n, seen) for n in made)


def _is_along_features(plan: Reading, call: ast.Call) -> bool:
    """`torch.cat((a, b), -1)`, `scores.softmax(dim=2)`: of each sample by itself, wherever it stands."""
    along = [*call.args[-1:], *(k.value for k in call.keywords if k.arg in ("dim", "axis"))]
    of = plan.facts.value(reduced(plan, call)) if isinstance(call.func, ast.Attribute) else ANYTHING
    rows = ["1"] if of.rank == MATRIX and not of.of(TURNED) else []
    return bool(along) and ast.unparse(along[-1]) in ("-1", "2", *rows)
