#!/bin/sh
# The extension's tests in older JupyterLabs, each in an environment of its own: the wheel alone is tried.
# What trains is left out, since these environments have no torch.
set -eu
cd "$(dirname "$0")/../.."

prepare() { # MINOR FOLDER
    [ -e "$2/.ready" ] && return
    rm -rf "$2"
    .venv/bin/python -m venv "$2"
    "$2/bin/python" -m pip install --quiet --disable-pip-version-check "jupyterlab==4.$1.*" \
        anywidget ipykernel ipywidgets nbconvert nbformat rich
    touch "$2/.ready"
}

for minor in "${@:-0}"; do
    echo "== the extension's tests in JupyterLab 4.$minor"
    prepare "$minor" ".venv/versions/lab-$minor"
    NBDDP_TEST_LAB=$PWD/.venv/versions/lab-$minor .venv/bin/python -m pytest -q tests/lab \
        --ignore tests/lab/test_notebook7.py --ignore tests/lab/test_pictures.py -k "not outlives"
done
