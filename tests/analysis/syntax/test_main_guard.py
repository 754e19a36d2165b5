"""What stands under `if __name__ == "__main__":` runs in every process."""

from __future__ import annotations

import pytest

from nbddp.analysis.syntax.main_guard import without_guard


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ('if __name__ == "__main__":\n    main()\n', "\nmain()\n"),
        ("if '__main__' == __name__: main()", "main()"),
        (
            'x = 1\nif (__name__ == "__main__"):  # start\n    # go\n    main(\n        1)\ny = 2',
            "x = 1\n# start\n# go\nmain(\n    1)\ny = 2",
        ),
        ('if __name__ == "__main__":\n  text = """\n  a\n"""\n  main()', '\ntext = """\n  a\n"""\nmain()'),
        ('if __name__ == "__main__":\n\tfor x in y:\n\t\tmain()', "\nfor x in y:\n\tmain()"),
    ],
)
def test_it_goes_and_the_lines_stay(code, expected):
    assert without_guard(code) == expected
    assert without_guard(code).count("\n") == code.count("\n")


@pytest.mark.parametrize(
    "code",
    [
        'if __name__ != "__main__":\n    main()',
        'if __name__ == "__main__":\n    main()\nelse:\n    other()',
        'def f():\n    if __name__ == "__main__":\n        main()',
        'name = "__main__"',
    ],
)
def test_other_conditions_stay(code):
    assert without_guard(code) == code
