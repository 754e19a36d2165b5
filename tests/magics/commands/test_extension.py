"""What a shell knows of the magics: their help, wherever it is asked for."""

from __future__ import annotations

import inspect
import re

import pytest


def shown(kernel, code):
    kernel.client.inspect(code, len(code))
    return kernel.client.get_shell_msg(timeout=30)["content"]["data"]["text/plain"]


@pytest.mark.parametrize("name", ["%%ddp_train", "%%single_train", "%%dp_train", "%ddp"])
def test_help_is_the_same_however_it_is_asked_for(kernel, name):
    printed = kernel.run(f"{name} --help").text.strip()
    assert printed.startswith(f"usage: {name}")
    assert "examples:\n" in printed
    assert printed.rpartition("examples:\n")[2].count(name) >= 2
    assert printed in inspect.cleandoc(shown(kernel, name))
    asked = f"{name}?" if name.startswith("%%") else "%ddp?"
    kernel.client.execute(asked)
    reply = kernel.client.get_shell_msg(timeout=30)["content"]
    page = re.sub(r"\x1b\[[0-9;]*m", "", reply["payload"][0]["data"]["text/plain"])
    assert printed in inspect.cleandoc(page)
    if name == "%ddp":
        assert kernel.run("%ddp").text == kernel.run("%ddp help").text == kernel.run("%ddp --help").text
        assert kernel.run("%ddp help export").text == kernel.run("%ddp export --help").text
