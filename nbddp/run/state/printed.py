"""Numbers that a training loop prints, read back from its lines: what the user chose to watch becomes curves by itself.

A guess made from text must not pass for more than it is: only a number with a name before it is read, its name is kept
as printed, and a line that could be anything else (a version, a port, a date) gives nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

LONGEST = 2000  # characters of a line that are looked at
MOST = 32  # numbers of a line that are looked at

ESCAPES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?|[@-Z\\^_])")
CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")
# Most lines say nothing of interest, and a burst has a hundred thousand of them: one quick look tells.
WORTH_A_LOOK = re.compile(
    r"\d(?:\.\d|%|/\d|\]|it \[|e-)|[:=] ?[-+]?(?:[\d.]|tensor|[ni]nf|[Nn]a[Nn])"
    r"|(?:[Ll]oss|LOSS|acc|error|score) +[-+\dni]|[Ee](?:p|poch) ?\d"
)
OF_A_LIBRARY = re.compile(r"\[[IWEF]\d{4} ")  # torch's own warnings: [W1123 08:10:13.748651496 socket.cpp:207] ...
COUNT = r"['\"]?\s*[:#=]?\s*[\[(]?\s*(\d+(?:\.\d+)?)(?:\s*(?:/|of)\s*(\d+))?\s*[\])]?"
EPOCH = re.compile(rf"(?i)\b(?:train(?:ing)?[\s_]+)?(?:epochs?|ep)\b{COUNT}")
BATCH = re.compile(rf"(?i)\b(?:(?:global[\s_]+)?step|iter(?:ation)?|(?:mini-?)?batch)\b{COUNT}")
PAIR = re.compile(r"^\s*\[\s*(\d+)\s*,\s*(\d+)\s*\]")  # [epoch, batch], as PyTorch's first tutorial prints it
PART = re.compile(r"[\[(]\s*(\d+)\s*/\s*(\d+)\s*(?:\(\s*\d+(?:\.\d+)?\s*%\s*\))?\s*[\])]|^\s*(\d+)/(\d+)\s+\[[=>. ]")
BAR = re.compile(r"^(.*?)(\d{1,3})%\|[^|]*\|\s*(\d+)/(\d+)\s*\[([^\]]*)\]?")
COUNTER = re.compile(r"^(.*?)\b(\d+)it \[([^\]]*)\]?")
TIMING = re.compile(r"^[\d:?]+(?:<[\d:?]+)?,\s*[^,]*(?:/s|/it)?")

NUMBER = re.compile(
    r"(?i)(?<![\w.])(?:([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)|([-+]?(?:nan|inf(?:inity)?)))(?![\w]|\.\d)"
)
RATIO = re.compile(r"\s*/\s*(\d+)\b(?!\.)")
NAME = re.compile(
    r"['\"]?([A-Za-z_][\w./@-]*(?:[ ][A-Za-z_][\w./@-]*){0,3})['\"]?(\s*[:=]\s*|\s+(?:is\s+)?)(?:tensor\(\s*)?$"
)
SENTENCE = re.compile(r"(?i)\b((?:[a-z]+\s+)?(?:accuracy|error|loss))\s+(?:of|on|for)\b[^:=]{0,80}(?:[:=]|\bis\b)\s*$")
METRIC = re.compile(
    r"(?i)loss|acc|err|score|f1|auc|iou|dice|bleu|psnr|ssim|perplexity|ppl|mae|mse|rmse|map|reward|return|cost"
)
NO_METRIC = frozenset(
    word
    for words in (
        "cuda gpu gpus cpu rank ranks device devices node port http https localhost pid python torch version seed",
        "epoch epochs step steps batch batches iter iteration line cell took eta elapsed time size",
        "at in on of to with for the a an and by after until every than first last is nan inf",
    )
    for word in words.split()
)


@dataclass(frozen=True)
class Printed:
    """What one line says: values by name, and where in the training it was printed, as far as it says so."""

    values: Mapping[str, float] = field(default_factory=dict)
    epoch: float | None = None  # as printed: some loops count from 0, some from 1
    epochs: int | None = None
    batch: int | None = None
    batches: int | None = None
    bar: bool = False  # a progress bar, redrawn many times

    @property
    def place(self) -> tuple[str, float | None]:
        """What to draw the values over, and where: the epoch, the step, or the line's own number (None)."""
        if self.epoch is not None and self.batch is None:
            return "epoch", self.epoch
        if self.epoch is not None and self.batch is not None and self.batches:
            return "epoch", self.epoch + self.batch / self.batches
        if self.epoch is None and self.batch is not None and not self.batches:
            return "step", float(self.batch)
        return "line", None


def plain(text: str) -> str:
    """The text as a person would read it: no colours, no cursor movements, no control characters."""
    return text if text.isprintable() else CONTROL.sub(" ", ESCAPES.sub("", text))


def read_line(line: str) -> Printed | None:
    """The numbers of one line, or None where it has none that mean anything."""
    text = plain(line[:LONGEST])
    if not WORTH_A_LOOK.search(text) or OF_A_LIBRARY.match(text):
        return None
    printed = _bar(text) or _line(text)
    return printed if printed.values or printed.epoch is not None or printed.bar else None


def _bar(text: str) -> Printed | None:
    """tqdm: `Epoch 3: 45%|####  | 45/100 [00:01<00:02, 40.00it/s, loss=0.12]`, or `45it [00:01, 40.00it/s]`."""
    if match := BAR.match(text):
        title, _, done, total, inside = match.groups()
    elif match := COUNTER.match(text):
        title, done, inside = match.groups()
        total = None
    else:
        return None
    where = EPOCH.search(title)
    return Printed(
        values=_values(TIMING.sub("", inside)),
        epoch=float(where[1]) if where else None,
        epochs=int(where[2]) if where and where[2] else None,
        batch=int(done),
        batches=int(total) if total else None,
        bar=True,
    )


def _line(text: str) -> Printed:
    epoch = epochs = batch = batches = None
    if match := PAIR.search(text):
        epoch, batch = match[1], match[2]
        text = text[match.end() :]
    if match := EPOCH.search(text):
        epoch, epochs = match[1], match[2]
        text = f"{text[: match.start()]}|{text[match.end() :]}"
    if match := BATCH.search(text) or PART.search(text):
        batch, batches = _pair(match)
        text = f"{text[: match.start()]}|{text[match.end() :]}"
    return Printed(
        values=_values(text),
        epoch=float(epoch) if epoch else None,
        epochs=int(epochs) if epochs else None,
        batch=int(float(batch)) if batch else None,
        batches=int(batches) if batches else None,
    )


def _pair(match: re.Match[str]) -> tuple[str | None, str | None]:
    """Position and length; the second alternative of PART has its own two groups."""
    groups = match.groups()
    return (groups[0], groups[1]) if groups[0] is not None or len(groups) == 2 else (groups[2], groups[3])


def _values(text: str) -> dict[str, float]:
    values: dict[str, float] = {}
    for count, match in enumerate(NUMBER.finditer(text)):
        if count == MOST:
            break
        name = _name(text[max(0, match.start() - 120) : match.start()], match, text)
        if name and name not in values:
            values[name] = _number(match, text)
    return values


def _name(before: str, number: re.Match[str], text: str) -> str | None:
    """The words before a number that name it, in lower case, or None."""
    if sentence := SENTENCE.search(before):
        return " ".join(sentence[1].lower().split())
    match = NAME.search(before[-60:])
    if not match:
        return None
    words = match[1].lower().removesuffix(" is").split()
    while words[0] in NO_METRIC and len(words) > 1:
        words = words[1:]
    name = " ".join(words)
    if words[-1] in NO_METRIC or len(name) > 40:
        return None
    said = (
        bool(match[2].strip())
        or METRIC.search(name)
        or not number[0].isdigit()
        or text[number.end() :].lstrip()[:1] == "%"
    )
    return name if said else None


def _number(match: re.Match[str], text: str) -> float:
    """Its value; `9841/10000` is a share."""
    value = float(match[0])
    if match[1] and match[1].lstrip("+-").isdigit() and (ratio := RATIO.match(text, match.end())) and int(ratio[1]):
        return value / int(ratio[1])
    return value
