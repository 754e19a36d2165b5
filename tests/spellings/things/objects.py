"""Objects that keep numbers: meters, rows, histories, what stops early and what keeps the best."""

from __future__ import annotations

from tests.spellings.things.thing import Thing

METER = """class Meter:
    made = 0
    def __init__(self, name=''):
        self.name, self.sum, self.count, self.last, self.values = name, 0.0, 0, 0.0, []
        Meter.made += 1
    @property
    def avg(self):
        return self.sum / max(1, self.count)
    def update(self, value, n=1):
        self.last = value
        self.sum += value * n
        self.count += n
        self.values.append(value)
        return self
    def __call__(self, value):
        return self.update(value).avg
    def __add__(self, value):
        return Meter(self.name).update(self.sum).update(value)
    def __iadd__(self, value):
        return self.update(value)
    def __len__(self):
        return self.count
    def __float__(self):
        return float(self.avg)
    def __iter__(self):
        return iter(self.values)
    def __getitem__(self, key):
        return self.values[key]
    def __str__(self):
        return f'{self.name} {self.avg:.4f}'
    def __format__(self, spec):
        return format(self.avg, spec)
    def __lt__(self, other):
        return self.avg < float(other)"""
ROW = """from dataclasses import dataclass, field, asdict, replace
@dataclass
class Row:
    loss: float = 0.0
    hits: int = 0
    extra: list = field(default_factory=list)
    def add(self, loss, hits):
        self.loss += loss
        self.hits += hits
    @property
    def mean(self):
        return self.loss / max(1, self.hits)"""
STOPPER = """class Stopper:
    def __init__(self, patience=1):
        self.patience, self.best, self.bad, self.stop = patience, None, 0, False
    def __call__(self, value):
        if self.best is None or value < self.best:
            self.best, self.bad = value, 0
        else:
            self.bad += 1
            self.stop = self.bad >= self.patience
        return self.stop"""
SLOTS = """class Sums:
    __slots__ = ('total', 'parts')
    total_of_all = 0.0
    def __init__(self):
        self.total, self.parts = 0.0, {}
    @classmethod
    def all(cls, value):
        cls.total_of_all += value
    @staticmethod
    def of(value):
        return value * 2
    def put(self, **parts):
        for name, value in parts.items():
            self.parts[name] = self.parts.get(name, 0.0) + value
    def __enter__(self):
        return self
    def __exit__(self, *error):
        self.total *= 2"""

OBJECTS = (
    Thing(
        "meter = Meter('m')",
        ("meter.update(N)", "meter.update(N, len(a))", "meter.update(N, M)", "meter += N", "meter = meter + N",
         "meter(N)", "meter.update(N).update(M)", "meter.sum += N", "meter.best = max(getattr(meter, 'best', 0), N)",
         "setattr(meter, 'last', N)", "now = meter(N)", "meter.values.append(N)", "meter.__dict__['sum'] += N",
         "vars(meter)['last'] = N", "Meter.made += N"),
        ("meter.avg", "meter.sum", "meter.count", "meter.last", "float(meter)", "len(meter)", "list(meter)",
         "meter[0]", "meter[-1]", "str(meter)", "f'{meter:.3f}'", "meter < 5", "Meter.made", "meter.values",
         "sum(meter)", "max(meter, default=0)", "getattr(meter, 'best', 0)", "sorted(vars(meter))", "f'{meter}'",
         "sorted(meter)"),
        METER,
        "meter",
    ),
    Thing(
        "meters = [Meter('a'), Meter('b')]",
        ("for one in meters: one.update(N)", "for one, v in zip(meters, (N, M)): one.update(v)",
         "meters[0].update(N)", "meters[step % 2].update(N)", "meters = [one + N for one in meters]",
         "[one.update(N) for one in meters]", "for i, one in enumerate(meters): one.update(N, i + 1)",
         "meters[int(b[0] > 0)].update(N)", "meters[-1] += N", "list(map(lambda one: one.update(N), meters))"),
        ("[one.avg for one in meters]", "meters[0].sum", "sum(one.count for one in meters)",
         "max(one.avg for one in meters)", "{one.name: one.avg for one in meters}", "[str(one) for one in meters]",
         "min(meters).avg", "' '.join(map(str, meters))"),
        METER,
        "meters",
    ),
    Thing(
        "named = {'a': Meter('a'), 'b': Meter('b')}",
        ("named['a'].update(N)", "for k, v in dict(a=N, b=M).items(): named[k].update(v)",
         "for one in named.values(): one(N)", "named.setdefault('c', Meter('c')).update(N)", "named['a'] += N",
         "named['a' if N > 2 else 'b'].update(N)"),
        ("{k: v.avg for k, v in named.items()}", "named['a'].avg", "[float(v) for v in named.values()]",
         "named['b'].count", "len(named)", "max(named, key=lambda k: named[k].avg)"),
        METER,
    ),
    Thing(
        "row, table = Row(), []",
        ("row.add(N, M)", "row.loss += N", "table.append(Row(N, M))", "row = replace(row, loss=row.loss + N)",
         "row.extra.append(N)", "row.hits += 1\nrow.loss += N", "table.append(asdict(Row(N, step)))",
         "table.append(Row(loss=N, extra=[M]))", "table.append(row)\nrow = Row(N, step)", "row.loss = N"),
        ("row", "row.loss", "row.mean", "table", "asdict(row)", "[getattr(r, 'loss', 0) for r in table]",
         "len(table)", "row.extra", "table[-1:]", "row == Row()", "str(row)"),
        ROW,
        "row",
    ),
    Thing(
        "points = []",
        ("points.append(Point(step, N))", "points.append(Point(x=N, y=M))",
         "points.append(Point(N, 0)._replace(y=step))", "points = points + [Point(*(N, M))]"),
        ("points", "[p.y for p in points]", "points[-1].x", "sum(p.y for p in points)", "list(zip(*points))",
         "max(points)", "points[0]._asdict()", "sorted(points, key=lambda p: p.y)"),
        "from collections import namedtuple\nPoint = namedtuple('Point', 'x y')",
        "points",
    ),
    Thing(
        "sums = Sums()",
        ("sums.total += N", "sums.put(a=N)", "sums.put(a=N, b=M)", "Sums.all(N)", "Sums.total_of_all += N",
         "sums.total += Sums.of(N)", "with sums as held: held.total += N", "sums.parts['c'] = N", "type(sums).all(N)",
         "sums.put(**{'a': N})", "with sums:\n    sums.put(z=N)", "sums.parts |= {'d': N}"),
        ("sums.total", "sums.parts", "Sums.total_of_all", "sum(sums.parts.values())", "len(sums.parts)"),
        SLOTS,
    ),
    Thing(
        "stopper, stopped = Stopper(), 0",
        ("stopped += stopper(N)", "if stopper(N): stopped = step", "stopper(N)\nif stopper.stop: break",
         "if stopper(N): break", "if stopper(loss.item()):\n    stopped += 1\n    continue"),
        ("stopped", "stopper.best", "stopper.bad", "stopper.stop", "step"),
        STOPPER,
        "stopped",
    ),
    Thing(
        "best = {'loss': 1e9, 'step': -1, 'state': None}",
        ("if N < best['loss']: best = {'loss': N, 'step': step, 'state': copy.deepcopy(model.state_dict())}",
         "if N < best['loss']: best.update(loss=N, step=step)", "best['loss'] = min(best['loss'], N)",
         "best = min(best, {'loss': N, 'step': step}, key=lambda d: d['loss'])",
         "if N < best['loss']:\n    best.update(loss=N, state={k: v.clone() for k, v in model.state_dict().items()})"),
        ("best['loss']", "best['step']", "{k: v for k, v in best.items() if k != 'state'}", "best['state'] is None",
         "len(best)", "0 if best['state'] is None else round(best['state']['weight'].sum().item(), 2)"),
        "import copy",
        "best",
    ),
    Thing(
        "space = SimpleNamespace(total=0.0, log=[])",
        ("space.total += N", "space.log.append(N)", "space.total, space.log = N, space.log + [M]",
         "vars(space).update(total=N)", "space.__dict__['new'] = N", "setattr(space, f'v{step}', N)"),
        ("space.total", "space.log", "space", "vars(space)", "sorted(vars(space))", "getattr(space, 'new', 0)"),
        "from types import SimpleNamespace",
    ),
)  # fmt: skip
