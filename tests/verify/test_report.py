from __future__ import annotations

import io
import json
import math

from nbddp.verify.causes import BY_NAME
from nbddp.verify.compare import compare
from nbddp.verify.page import html
from nbddp.verify.report import Report
from nbddp.verify.table import show, text
from tests.verify.test_compare import trace

FOUND = compare(trace([2.0, 1.0], ["loss 1"]), trace([2.0, 1.5], ["loss <2>"]))
REPORT = Report("a & b.ipynb", 3, "different", "They differ.", FOUND, (BY_NAME["dropout"],), ("a note",))


def test_text_has_both_curves_the_verdict_its_cause_and_what_to_do():
    said = text(REPORT)
    assert "a & b.ipynb: different" in said
    assert "dropout draws a different mask on each process" in said
    assert "help: nothing" in said
    assert "note: a note" in said
    row = next(line for line in said.splitlines() if line.strip().startswith("2 "))
    assert row.split()[:4] == ["2", "0.1", "1", "1.5"]
    assert repr(REPORT) == said
    out = io.StringIO()
    show(REPORT, out)
    assert out.getvalue().rstrip() == said


def test_a_page_escapes_what_it_shows_and_draws_both_curves():
    page = html(REPORT)
    assert "a &amp; b.ipynb" in page
    assert "data:image/svg+xml;base64," in page
    assert "<script" not in page
    assert REPORT._repr_html_() == page


def test_a_page_without_steps_has_no_picture():
    assert "<img" not in html(Report("x", 2, "different", "It fails."))


def test_json_holds_no_infinity():
    worst = Report("x", 2, "different", "", compare(trace([1.0]), trace([math.nan])))
    told = json.loads(json.dumps(worst.as_dict(), allow_nan=False))
    assert told["largest difference"] is None
    assert told["status"] == 2


def test_status_and_verdict():
    assert [Report("x", 2, verdict, "").status for verdict in ("same", "alike", "different")] == [0, 1, 2]
