# build-dataset: `make demo` builds the sample exam, `make test` passes the tests. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# With restarts xdist waits for ever for a dead worker.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile --max-worker-restart 0
PIP := $(BIN)/python -m pip --disable-pip-version-check
SERVICES := --override-ini addopts="--strict-markers --import-mode=importlib" -v --timeout 900
INSTALLED := tests/services/test_installed.py tests/services/test_installed_newest.py
UV := $(shell command -v uv 2>/dev/null)
ifdef UV   # several times as fast as pip; the hash-locked files are the same
PIP_INSTALL = $(UV) pip install --python $(BIN)/python
else
PIP_INSTALL = $(PIP) install
endif
INSTALL = $(PIP_INSTALL) --no-deps --require-hashes
TORCH := torch==2.13.0  # for the tests of local models; a CPU build does, and which one an index offers is its own affair
SILENT := --no-emit-package openvino-telemetry  # OpenVINO works without it, and then reports to nobody

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-all test-services test-pinned test-installed test-paddle test-tools lint format sample golden lock label-studio docs clean

help: ## List the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-18s %s\n", $$1, $$2}'

demo: $(VENV)/.core ## Build the sample exam into build/ and say where to look
	$(BIN)/build-dataset run

test: $(VENV)/.dev ## Run the tests, but for slow ones (no server, no key, no network)
	$(PYTEST) -m "not slow"

test-slow: $(VENV)/.dev ## Run the slow tests: kills, hostile machines, whole demos, growth
	$(PYTEST) -m slow

test-all: test test-slow ## Run all tests that need no server

test-services: $(VENV)/.services ## Run the tests against a real Label Studio and a real OpenAI-compatible server
	$(BIN)/python -m pytest tests/services $(SERVICES) $(INSTALLED:%=--ignore=%)

test-pinned: $(VENV)/.dev ## Install the wheel with the pinned versions, as the Dockerfile does, and run all commands of the docs
	$(BIN)/python -m pytest tests/services/test_installed.py $(SERVICES)

test-installed: $(VENV)/.dev ## Install the wheel as users do, pinned and newest, with every extra, and run all commands of the docs
	$(BIN)/python -m pytest $(INSTALLED) $(SERVICES) -n 2 --dist loadfile

test-paddle: .venv-paddle/.ready ## Run the tests of the PaddleOCR engine in an environment of its own
	.venv-paddle/bin/python -m pytest tests/services/test_paddleocr.py $(SERVICES)

test-tools: $(VENV)/.services .venv-tools/lm-eval/.ready .venv-tools/inspect-ai/.ready .venv-tools/opencompass/.ready ## Run exported task files with the packages of three other tools
	$(BIN)/python -m pytest tests/services/test_handover.py $(SERVICES)

lint: $(VENV)/.dev $(VENV)/linked ## Check style, types and import directions
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	cd $(VENV)/linked && ../bin/mypy --config-file $(CURDIR)/pyproject.toml
	cd $(VENV)/linked && ../bin/lint-imports --config $(CURDIR)/pyproject.toml

format: $(VENV)/.dev ## Format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

sample: $(VENV)/.core ## Write the sample exam in raw/sample anew
	$(BIN)/python raw/sample/make_sample.py

label-studio: $(VENV)/.core ## Install Label Studio into its own environment and run it on loopback until Ctrl-C
	$(BIN)/python -m build_dataset.annotation.label_studio.server install
	$(BIN)/python -m build_dataset.annotation.label_studio.server start

lock: $(VENV)/.dev ## Pin the versions anew (needs `pip install uv` in the environment)
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	  --no-annotate $(SILENT) --extra review --group build -o requirements/core.txt pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	  --no-annotate $(SILENT) --extra review --group build --group dev -c requirements/core.txt -o requirements/dev.txt pyproject.toml
	echo "torch; python_version < '3'" > $(VENV)/overrides.txt   # comes in builds of its own: see TORCH
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	  --no-annotate -c requirements/dev.txt --override $(VENV)/overrides.txt -o requirements/services.txt \
	  tests/services/requirements-llm.txt tests/services/requirements-local.txt tests/services/requirements-ray.txt
	echo 'pyyaml>=6.0.3' > $(VENV)/overrides.txt   # paddlex pins an older patch release
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	  --no-annotate -c requirements/dev.txt --override $(VENV)/overrides.txt -o requirements/paddle.txt \
	  tests/services/requirements-paddle.txt
	echo "torch; python_version < '3'" > $(VENV)/overrides.txt
	for tool in lm-eval inspect-ai opencompass; do \
	  $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url \
	    --no-annotate --override $(VENV)/overrides.txt -o requirements/tools-$$tool.txt \
	    tests/services/requirements-$$tool.txt; done

golden: $(VENV)/.dev ## Write the golden files of the tests anew; their diff is what changes for people
	for name in test_options evaluate.test_extraction_golden evaluate.results.test_golden; do \
	  $(BIN)/python -m tests.pipeline.$$name || exit 1; done

docs: $(VENV)/.core ## Write docs/tables.md, docs/gates.md, the picture of the stages and the READMEs' figures anew
	$(BIN)/python docs/make_tables.py
	$(BIN)/python docs/make_picture.py
	$(BIN)/build-dataset run
	$(BIN)/python docs/make_readme.py

clean: ## Remove the environment; what was built and paid for stays
	rm -rf $(VENV)

$(VENV)/.python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "build-dataset needs Python 3.11 or newer: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.core: requirements/core.txt pyproject.toml | $(VENV)/.python
	@echo 'installing packages into $(VENV) with $(if $(UV),uv: about a minute,pip: some minutes)'
	$(INSTALL) -r requirements/core.txt
	$(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/.dev: requirements/dev.txt $(VENV)/.core
	$(INSTALL) -r requirements/dev.txt
	touch $@

# The folders below their import name, as an installation has them: for tools that read files and import nothing.
$(VENV)/linked: | $(VENV)/.dev
	mkdir -p $@/build_dataset
	for each in build_dataset/__init__.py build_dataset/__main__.py schemas annotation pipeline; do \
	  ln -sfn $(CURDIR)/$$each $@/build_dataset/$${each#build_dataset/} || exit 1; done

$(VENV)/.services: requirements/services.txt $(VENV)/.dev
	$(PIP_INSTALL) $(TORCH)
	$(INSTALL) -r requirements/services.txt
	$(BIN)/python -m build_dataset.annotation.label_studio.server install
	touch $@

# Each tool in an environment of its own: they pin packages that clash with each other and with ours.
.venv-tools/%/.ready: requirements/tools-%.txt
	$(PYTHON) -m venv .venv-tools/$*
	.venv-tools/$*/bin/python -m pip install --quiet $(firstword $(TORCH))
	.venv-tools/$*/bin/python -m pip install --quiet --no-deps --require-hashes -r $<
	touch $@

# PaddleX asks for a build of OpenCV that needs a desktop's libraries; ours goes over it.
.venv-paddle/.ready: requirements/paddle.txt requirements/core.txt requirements/dev.txt
	$(PYTHON) -m venv .venv-paddle
	.venv-paddle/bin/python -m pip install --quiet --no-deps --require-hashes -r requirements/dev.txt
	.venv-paddle/bin/python -m pip install --quiet --no-deps --require-hashes -r requirements/paddle.txt
	.venv-paddle/bin/python -m pip install --quiet --no-deps --force-reinstall \
	  "$$(grep -o '^opencv-python-headless==[0-9.]*' requirements/core.txt)"
	.venv-paddle/bin/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	touch $@
