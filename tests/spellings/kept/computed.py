"""Lists of which something is computed, and other things that hold one after another."""

from __future__ import annotations

from tests.spellings.kept.kept import Kept

COMPUTED = (
    Kept("np.mean", "log = []", "log.append(NUMBER)", "np.mean(log).item()"),
    Kept("np.std", "log = []", "log.append(NUMBER)", "np.std(log).item()"),
    Kept("np.median", "log = []", "log.append(NUMBER)", "np.median(log).item()"),
    Kept("np.append", "log = np.array([])", "log = np.append(log, NUMBER)", "log.tolist()", kind="list"),
    Kept("an array by step", "log, step = np.zeros(9), 0", "log[step] = NUMBER\nstep += 1", "log.sum().item()"),
    Kept("statistics.mean", "log = []", "log.append(NUMBER)", "statistics.mean(log)", "import statistics"),
    Kept("math.fsum", "log = []", "log.append(NUMBER)", "math.fsum(log)", "import math"),
    Kept(
        "functools.reduce",
        "log = []",
        "log.append(NUMBER)",
        "reduce(lambda s, n: s + n, log)",
        "from functools import reduce",
    ),
    Kept(
        "itertools.accumulate",
        "log = []",
        "log.append(NUMBER)",
        "list(accumulate(log))",
        "from itertools import accumulate",
        kind="list",
    ),
    Kept("the largest of a list", "log = []", "log.append(NUMBER)", "sorted(log)[-1]"),
    Kept("tensors, stacked", "log = []", "log.append(torch.tensor(NUMBER))", "torch.stack(log).double().mean().item()"),
    Kept(
        "a frame of rows",
        "log = []",
        "log.append({'v': NUMBER})",
        "frame['v'].sum().item()",
        "import pandas as pd",
        after="frame = pd.DataFrame(log)",
    ),
    Kept(
        "a frame by loc",
        "frame = pd.DataFrame(columns=['v'])",
        "frame.loc[len(frame)] = [NUMBER]",
        "frame['v'].tolist()",
        "import pandas as pd",
        kind="list",
    ),
    Kept("a string", "text = ''", "text += f'{NUMBER} '", "text", kind="list"),
    Kept("a list of strings", "lines = []", "lines.append(f'{NUMBER:.4f}')", "' '.join(lines)", kind="list"),
    Kept("a text buffer", "out = io.StringIO()", "out.write(f'{NUMBER} ')", "out.getvalue()", "import io", kind="list"),
    Kept(
        "a file",
        "open('log.txt', 'w').close()",
        "with open('log.txt', 'a') as f:\n    f.write(f'{NUMBER}\\n')",
        "values",
        after="with open('log.txt') as f:\n    values = [float(line) for line in f]",
        kind="list",
    ),
    Kept("a queue", "log = Queue()", "log.put(NUMBER)", "sum(log.queue)", "from queue import Queue"),
    Kept(
        "an array.array",
        "log = array('d')",
        "log.append(NUMBER)",
        "log.tolist()",
        "from array import array",
        kind="list",
    ),
    Kept("a print at each step", "pass", "print('step', NUMBER)", "0"),
)
