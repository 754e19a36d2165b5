# A new checkout needs two commands, and nothing beside Python 3.10 or newer and make:
#   make run     compile examples/quickstart.ipynb and train it on every GPU, or on 2 CPU processes
#   make test    run the tests, in some minutes
# Both prepare .venv on first use; the stamps in it make every later call start at once.

VENV := .venv
PY := $(VENV)/bin/python
INSTALL := $(PY) -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
NOTEBOOK := examples/quickstart.ipynb
SCRIPT := $(NOTEBOOK:.ipynb=_ddp.py)

.DEFAULT_GOAL := help
.PHONY: help run lab docs pictures test test-versions prove test-all faults cluster test-labs check same-scripts format examples bench corpus \
	constraints clean

help:
	@echo "make run     compile $(NOTEBOOK) and train it on every GPU, or on 2 CPU processes"
	@echo "make lab     JupyterLab on the examples, with the extension"
	@echo "make docs    build the site of the documentation, below build/docs"
	@echo "make pictures  take the pictures of the README anew"
	@echo "make test    run the tests, training only scripts that have changed"
	@echo "make test-versions  the compiler's tests on the oldest and the newest Python that is here"
	@echo "make prove   train what has changed and keep what that proves, for make test"
	@echo "make test-all  run all tests and train all scripts, on every number of processes"
	@echo "make faults  what is said and what is left when a run goes wrong, scene by scene"
	@echo "make cluster  runs on two machines with SLURM: namespaces of this one; root, and Debian's slurm-wlm"
	@echo "make test-labs  the extension in older JupyterLabs too"
	@echo "make check   ruff and mypy"
	@echo "make same-scripts BASE=...  compare every script with the one that another commit exports"
	@echo "make format  let ruff lay out the code"
	@echo "make examples  write the scripts beside the examples anew"
	@echo "make corpus DIR=...  train a folder of notebooks on 1 and 2 processes, and compare"
	@echo "make bench   time exports, starts and steps, beside hand-written scripts and other tools"
	@echo "make clean   remove the environment and what was built"

run: $(VENV)/.ready-to-run
	$(VENV)/bin/nbddp export $(NOTEBOOK) -o $(SCRIPT)
	PYTHONUNBUFFERED=1 $(PY) $(SCRIPT)

# The wheel is what is tried: its extension is built by Node as a Python package, in an environment of pip's own.
# JupyterLab's own options go on: make lab OPTIONS="--no-browser --port 9000"
lab: $(VENV)/.ready-to-test
	$(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/dist .
	JUPYTER_PATH=$(CURDIR)/build/share/jupyter $(PY) -m jupyterlab --ServerApp.root_dir=$(CURDIR)/examples \
		--ServerApp.jpserver_extensions=nbddp.server=True $(OPTIONS)

# No warning passes. The pages about rules, messages, options and events are made from the code: see docs/conf.py.
docs: $(VENV)/.ready-to-document
	$(PY) -m sphinx -W --keep-going -q -d build/doctrees docs build/docs
	@echo "build/docs/index.html is the site"

pictures: $(VENV)/.ready-to-test
	SCREENSHOTS=docs/pictures $(PY) -m pytest -q -p no:cacheprovider tests/lab/test_pictures.py

# Three on two cores: a test that waits for a process or a page leaves its core to another one.
PYTEST := $(PY) -m pytest -n 3 --dist loadgroup

# What tests/proofs has proofs of is not trained again; tests marked `thorough` are left out.
test: $(VENV)/.ready-to-test
	$(PYTEST) -m "not thorough"

# The compiler's tests on the oldest and the newest Python of this machine, each in a light environment.
test-versions: $(VENV)/.ready-to-test
	tests/versions.sh

# Can be interrupted and called again: what was proved until then is kept.
prove: $(VENV)/.ready-to-test
	$(PYTEST) -q -m "not thorough" --proofs=write

# Everything, whatever was proved before; every notebook of tests/e2e on every number of processes that it names.
test-all: $(VENV)/.ready-to-test $(VENV)/.ready-to-document
	$(PYTEST) --proofs=ignore

# Each scene of tests/faults: what the command said, seconds to the end, processes left. `make test-all` plays them too.
faults: $(VENV)/.ready-to-test
	$(PY) -m tests.faults

# A part of test-all. Where there can be no such machines its tests are skipped, with the reason.
cluster: $(VENV)/.ready-to-test
	$(PY) -m pytest -n 0 tests/cluster

test-labs: $(VENV)/.ready-to-test
	tests/lab/versions.sh 0 2

check: $(VENV)/.ready-to-test
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy

same-scripts: $(VENV)/.ready-to-test
	$(PY) tools/same_scripts.py $(BASE)

format: $(VENV)/.ready-to-test
	$(VENV)/bin/ruff check --fix .
	$(VENV)/bin/ruff format .

examples: $(VENV)/.ready-to-test
	for notebook in examples/*.ipynb; do $(VENV)/bin/nbddp export $$notebook; done

bench: $(VENV)/.ready-to-test
	$(INSTALL) --editable '.[bench]'
	$(PY) -m bench

# Other options, such as folders with stand-ins for packages, as in: $(PY) -m tests.corpus --help
corpus: $(VENV)/.ready-to-test
	$(PY) -m tests.corpus $(DIR) --json $(DIR)/corpus.json

# uv resolves for all supported Pythons at once. What torch itself pins exactly is left to torch.
constraints: $(VENV)/.ready-to-test
	$(PY) -m pip install --quiet uv
	tools/constraints

clean:
	rm -rf $(VENV) build dist

# A half-made environment is removed, so that the next call starts afresh instead of failing on it.
$(PY):
	@python=$$(tools/find-python) && echo "Making $(VENV) with $$("$$python" --version); the first time takes some minutes." \
	&& { "$$python" -m venv $(VENV) || { rm -rf $(VENV); exit 1; }; }

# torch first and by itself: it is nearly all of the download, and a failure there is best seen early.
$(VENV)/.ready-to-run: pyproject.toml constraints.txt | $(PY)
	$(INSTALL) torch
	$(INSTALL) --editable '.[train,examples]'
	@touch $@

$(VENV)/.ready-to-test: pyproject.toml constraints.txt | $(PY)
	$(INSTALL) torch
	$(INSTALL) --editable '.[train,examples,test]'
	@touch $@ $(VENV)/.ready-to-run

# What builds the site is for Python 3.11 and newer.
$(VENV)/.ready-to-document: $(VENV)/.ready-to-test
	$(INSTALL) --editable '.[train,examples,docs]'
	@touch $@
