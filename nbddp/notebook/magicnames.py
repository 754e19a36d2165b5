"""The magics of IPython and of the extensions that training notebooks load, by name."""

from __future__ import annotations

import re

# Only to tell `% load_ext x` and a commented `# %cd x` from an expression and a remark; other magics work as well.
KNOWN_MAGIC = (
    "alias|autoawait|automagic|autoreload|bash|bookmark|capture|cd|conda|config|cython|ddp|ddp_train|debug|dhist|dirs"
    "|dp_train|env|gui|history|html|javascript|js|latex|load|load_ext|loadpy|logstart|lprun|ls|lsmagic|macro|magic"
    "|mamba|markdown|matplotlib|memit|micromamba|mkdir|mprun|notebook|page|pastebin|pdb|pdoc|perl|pfile|pinfo|pip|popd"
    "|precision|prun|psearch|psource|pushd|pwd|pycat|pylab|pyinstrument|python|python3|reload_ext|rerun|reset"
    "|reset_selective|ruby|run|save|sc|script|set_env|sh|shell|single_train|snakeviz|store|sx|svg|system|tb|tensorboard"
    "|tensorflow_version|time|timeit|unalias|unload_ext|uv|wandb|watermark|who|whos|writefile|xdel|xmode"
)
# In a cell of one line IPython runs these without their %, where the line is no Python.
AUTOMAGIC = re.compile(
    r"\s*(?:pip|conda|mamba|uv|cd|ls|ll|mkdir|rm|rmdir|cp|mv|cat|env|set_env|run|load_ext|reload_ext|autoreload"
    r"|matplotlib|pylab|time|timeit|prun|who|whos|config|store|pwd|ddp)\b(?!\s*[=.(\[])[^\n]*\n*"
)
