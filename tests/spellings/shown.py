"""How a result is shown, or what is decided by it. RESULT is an expression."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Show:
    title: str
    each: str
    once: str = ""
    end: str = ""
    numbers: bool = False  # of numbers only


SHOWN = (
    Show("print", "print('result', RESULT)"),
    Show("an f-string", "print(f'result {RESULT} of epoch {epoch}')"),
    Show("a format", "print(f'result {RESULT:.4f}')", numbers=True),
    Show("% of strings", "print('result %s' % (RESULT,))"),
    Show("str.format", "print('result {:.4f}'.format(RESULT))", numbers=True),
    Show("a string put together", "print('result ' + str(RESULT))"),
    Show("a text by a name", "text_of_it = f'result {RESULT}'\nprint(text_of_it)"),
    Show(
        "logging",
        "logger.info('result %s', RESULT)",
        "import logging, sys\n"
        "logging.basicConfig(stream=sys.stdout, level=logging.INFO, format='%(message)s', force=True)\n"
        "logger = logging.getLogger('t')",
    ),
    Show("sys.stdout", "sys.stdout.write(f'result {RESULT}\\n')", "import sys"),
    Show("a history", "history.append(RESULT)", "history = []", "print(history)"),
    Show(
        "a dict of histories",
        "history['r'].append(RESULT)\nhistory['e'].append(epoch)",
        "history = {'r': [], 'e': []}",
        "print(history)",
    ),
    Show(
        "plot data",
        "history.append((epoch, RESULT))",
        "history = []\ndef draw(xs, ys):\n    print(list(xs), list(ys))",
        "draw(*zip(*history))",
    ),
    Show(
        "rows of a history",
        "history.append({'e': epoch, 'r': RESULT})",
        "history = []",
        "print([row['r'] for row in history])",
    ),
    Show(
        "lists in a history", "history.append([RESULT, epoch])", "history = []", "print(history[0][0], history[-1][0])"
    ),
    Show(
        "csv", "with open('log.csv', 'a', newline='') as f:\n    csv.writer(f).writerow([epoch, RESULT])", "import csv"
    ),
    Show(
        "json",
        "history.append(RESULT)",
        "import json\nhistory = []",
        "with open('log.json', 'w') as f:\n    json.dump(history, f, default=vars)",
    ),
    Show("a text file", "Path('result.txt').write_text(str(RESULT))", "from pathlib import Path"),
    Show(
        "a bar's postfix",
        "bar.set_postfix(r=RESULT)",
        "import sys\nfrom tqdm import tqdm\nbar = tqdm(total=2, file=sys.stdout, bar_format='{postfix}')",
        "bar.close()",
        numbers=True,
    ),
    Show(
        "a function that shows", "report(epoch, RESULT)", "def report(epoch, value):\n    print('epoch', epoch, value)"
    ),
    Show("a function that returns", "print(scaled(RESULT))", "def scaled(value):\n    return value * 2", numbers=True),
    Show(
        "the best so far",
        "best_of_all = min(best_of_all, RESULT)\nprint(best_of_all)",
        "best_of_all = 1e9",
        numbers=True,
    ),
    Show("an early stop", "print('result', RESULT)\nif RESULT < LIMIT:\n    print('low')\n    break", numbers=True),
    Show("a decision", "print('high' if RESULT > LIMIT else 'low')", numbers=True),
    Show(
        "the learning rate",
        "if RESULT > LIMIT:\n    optimizer.param_groups[0]['lr'] *= 0.5\n"
        "print(optimizer.param_groups[0]['lr'], model.weight.sum().item())",
        numbers=True,
    ),
)
