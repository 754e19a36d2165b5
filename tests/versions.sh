#!/bin/sh
# The compiler needs no torch, so its tests run on the oldest and the newest supported Python of this machine too, each in
# a light environment. `make test` runs them on the Python of .venv; that one is left out here.
set -eu
cd "$(dirname "$0")/.."

# Of the compiler and the command line; not what runs torch itself, nor what compares nbddp with IPython,
# nor what looks at the files of the project or counts lines and is the same on each Python, nor what tries hundreds of
# programs of one kind: what a Python reads otherwise, the cases of the rules meet.
tests=$(find tests/notebook tests/analysis tests/rules tests/script tests/cli tests/test_*.py \
    -name 'test_*.py' -not -path 'tests/script/parts/*' -not -name test_layers.py -not -name test_mirrored.py \
    -not -name test_budget.py -not -name test_fuzz.py -not -name test_vocabulary.py 2>/dev/null |
    xargs grep -LE '^(import|from) (torch|IPython|jupy|nbconvert|tests.analysis.library.shares)')
main=$(.venv/bin/python -c 'import sys; print("%d.%d" % sys.version_info[:2])')
ran=""

prepare() { # PYTHON FOLDER
    [ "$2/.ready" -nt constraints.txt ] && [ "$2/.ready" -nt tests/versions.sh ] && return
    rm -rf "$2"
    "$1" -m venv "$2"
    "$2/bin/python" -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
        babel hypothesis nbformat pytest pytest-timeout pytest-xdist rich
    touch "$2/.ready"
}

while read -r version python; do
    [ -n "$version" ] && [ "$version" != "$main" ] || continue
    echo "== the compiler's tests on Python $version"
    prepare "$python" ".venv/versions/$version"
    # shellcheck disable=SC2086  # a list of paths without blanks
    ".venv/versions/$version/bin/python" -m pytest -q -n 2 --dist loadgroup -m "not thorough" -p no:cacheprovider \
        $tests </dev/null
    ran="$ran $version"
done <<END
$(tools/find-python --all | sed -n '1p;$p' | uniq)
END
echo "Tested on Python $main and${ran:- no other}, there the compiler alone."
