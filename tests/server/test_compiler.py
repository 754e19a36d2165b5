"""The process that compiles: it is ended where it takes too long, and with the server."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from nbddp.server.compiler import WORKER, Compiler, TookTooLong
from tests.server.notebooks import question


def run(lines: bytes, cwd: Path | None = None) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, WORKER], input=lines, capture_output=True, cwd=cwd, timeout=60, check=False)


def test_what_takes_too_long_is_given_up_and_the_next_question_is_answered():
    compiler = Compiler(limit=0.0)
    try:
        with pytest.raises(TookTooLong, match="more than 0 seconds"):
            asyncio.run(compiler.ask("export", question()))
        compiler._limit = 60.0
        assert asyncio.run(compiler.ask("export", question()))["exported"]
    finally:
        compiler.close()


def test_one_process_answers_all():
    compiler = Compiler()
    try:
        asyncio.run(compiler.ask("check", question()))
        first = compiler._process
        asyncio.run(compiler.ask("export", question()))
        assert compiler._process is first
    finally:
        compiler.close()


def test_it_ends_with_whoever_asks():
    worker = subprocess.Popen([sys.executable, WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, _ = worker.communicate(json.dumps({"what": "check", "body": question()}).encode() + b"\n", timeout=60)
    assert json.loads(out)["training"] == 4
    assert worker.returncode == 0


def test_a_module_beside_the_notebook_is_not_taken_for_one_of_its_own(tmp_path):
    (tmp_path / "nbddp.py").write_text("raise SystemExit(9)")
    (tmp_path / "json.py").write_text("raise SystemExit(9)")
    line = json.dumps({"what": "check", "body": question()}).encode() + b"\n"
    done = run(line, cwd=tmp_path)
    assert done.returncode == 0
    assert json.loads(done.stdout)["training"] == 4


def test_a_defect_is_told_and_does_not_end_it():
    lines = json.dumps({"what": "no such thing", "body": {}}), json.dumps({"what": "check", "body": question()})
    done = run("\n".join(lines).encode())
    first, second = map(json.loads, done.stdout.splitlines())
    assert "defect" in first
    assert second["training"] == 4
    assert b"KeyError" in done.stderr
