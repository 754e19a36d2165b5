"""Magics that a percent file holds as comments, so that it stays valid Python: `# %matplotlib inline`, `# !pip`."""

from __future__ import annotations

import ast
import re

from nbddp.notebook.lexing import comment_lines

_COMMENTED = re.compile(
    r"""(?:\#[ ]|\#)+ (?:
        %{1,3}(?P<magic>[a-zA-Z]\w*)
      | [!?]\s?[A-Za-z.~$\\/{}]
      | [A-Za-z_]\w*\s*=\s*(?:%(?P<value>[a-zA-Z]\w*)|!\w)
    )""",
    re.VERBOSE,
)
_CELL_CALL = re.compile(r"\s*get_ipython\(\)\.run_cell_magic\(([^\n]*)\)\s*")
# Only jupytext comments out every magic; in another tool's file `# %d items` is a remark.
_KNOWN = re.compile(
    r"""alias|autoawait|automagic|autoreload|bash|bookmark|capture|cd|conda|config|cython|ddp|ddp_train|debug|dhist
    |dirs|dp_train|env|gui|history|html|javascript|js|latex|load|load_ext|loadpy|logstart|lprun|ls|lsmagic|macro|magic
    |mamba|markdown|matplotlib|memit|micromamba|mkdir|mprun|notebook|page|pastebin|pdb|pdoc|perl|pfile|pinfo|pip|popd
    |precision|prun|psearch|psource|pushd|pwd|pycat|pylab|pyinstrument|python|python3|reload_ext|rerun|reset
    |reset_selective|ruby|run|save|sc|script|set_env|sh|shell|single_train|snakeviz|store|sx|svg|system|tb|tensorboard
    |tensorflow_version|time|timeit|unalias|unload_ext|uv|wandb|who|whos|writefile|xdel|xmode""",
    re.VERBOSE,
)


def uncomment_magics(text: str, jupytext: bool) -> str:
    """The cell as it stands in the notebook: one `# ` taken off each commented magic and the lines that continue it."""
    lines = text.split("\n")
    for start, end in comment_lines(text):
        match = _COMMENTED.match(text, start, end)
        name = match and (match["magic"] or match["value"])
        if match and (jupytext or not name or _KNOWN.fullmatch(name)):
            _uncomment_from(lines, text.count("\n", 0, start))
    return "\n".join(lines)


def uncomment(line: str) -> str:
    return re.sub(r"^(\s*)# ?", r"\1", line, count=1)


def cell_magic_restored(text: str) -> str:
    """nbconvert writes a cell under `%%time` as one call with the body in a string: that is the cell again."""
    call = _CELL_CALL.fullmatch(text)
    try:
        name, line, body = ast.literal_eval(f"({call[1]},)") if call else ("", "", None)
    except (SyntaxError, ValueError, RecursionError, MemoryError, TypeError):
        return text
    return f"%%{name} {line}".rstrip() + f"\n{body}" if isinstance(body, str) else text


def _uncomment_from(lines: list[str], index: int) -> None:
    continued = True
    while continued and index < len(lines):
        continued = lines[index].rstrip().endswith("\\")
        lines[index] = uncomment(lines[index])
        index += 1
