"""The address of a page, and that whatever shows a finding has it."""

from __future__ import annotations

from nbddp.diagnostics import CannotExport, Diagnostic
from nbddp.documentation import BASE, page_of
from nbddp.sentence import sentence

FINDING = Diagnostic("shard", "error", sentence("so"))


def test_a_page_has_the_name_of_the_diagnostic(monkeypatch):
    monkeypatch.delenv("NBDDP_DOCS", raising=False)
    assert page_of("shard") == f"{BASE}messages/shard.html"


def test_an_address_of_ones_own(monkeypatch):
    monkeypatch.setenv("NBDDP_DOCS", "http://localhost:8000")
    assert page_of("shard") == "http://localhost:8000/messages/shard.html"


def test_a_folder_of_ones_own(monkeypatch, tmp_path):
    monkeypatch.setenv("NBDDP_DOCS", str(tmp_path / "my docs"))
    assert page_of("shard") == f"{tmp_path.as_uri()}/my%20docs/messages/shard.html"


def test_programs_and_pages_get_it_with_the_finding():
    assert FINDING.as_dict()["page"] == FINDING.for_page()["page"] == page_of("shard")


def test_a_refusal_names_it_once_for_each_name():
    again = Diagnostic("shard", "error", sentence("again"))
    assert str(CannotExport([FINDING, again])) == f"error[shard]: so\nmore: {page_of('shard')}\n\nerror[shard]: again"
