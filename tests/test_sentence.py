from __future__ import annotations

import copy
import json
import pickle

from nbddp.sentence import NOTHING, listed, said, sentence, words_of

GERMAN = {"%1 failed%2": "%1 ist gescheitert%2", "Rank %1": "Rang %1", " in epoch %1": " in Epoche %1"}


def translate(form: str) -> str:
    return GERMAN.get(form, form)


def test_it_is_english_text():
    text = sentence("%1 failed%2", sentence("Rank %1", 3), "")
    assert text == "Rank 3 failed"
    assert json.dumps({"text": text}) == '{"text": "Rank 3 failed"}'


def test_it_is_said_in_another_language_with_what_was_put_in():
    text = sentence("%1 failed%2", sentence("Rank %1", 3), sentence(" in epoch %1", 4))
    words = json.loads(json.dumps(words_of(text)))
    assert words == ["%1 failed%2", ["Rank %1", 3], [" in epoch %1", 4]]
    assert said(words, translate) == "Rang 3 ist gescheitert in Epoche 4"


def test_what_is_no_sentence_is_said_as_it_is():
    assert said(words_of("Rank %1"), translate) == "Rank %1"


def test_a_value_that_looks_like_a_place_is_left_alone():
    assert sentence("%2: %1", "%2", "100 %1") == "100 %1: %2"


def test_a_copy_knows_its_words():
    text = sentence("%1 failed%2", sentence("Rank %1", 3), "")
    for other in (copy.deepcopy(text), pickle.loads(pickle.dumps(text))):
        assert (other, other.words) == (text, text.words)


def test_whatever_is_put_in_can_be_sent():
    text = sentence("%1 (%2)", "View", ValueError("ended"))
    assert text == "View (ended)"
    assert json.loads(json.dumps(text.words)) == ["%1 (%2)", "View", "ended"]


def test_several_stand_in_a_list():
    text = listed(sentence("Rank %1", rank) for rank in (1, 2, 3))
    assert text == "Rank 1, Rank 2, Rank 3"
    assert said(words_of(text), translate) == "Rang 1, Rang 2, Rang 3"


def test_nothing_is_empty():
    assert not NOTHING
    assert said(words_of(NOTHING), translate) == ""
