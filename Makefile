# Every target makes and reuses .venv from nothing but python3 (3.11 or newer) and make.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
# Many tests wait for a server or a process, so there are more of them at once than processors.
PROCESSES := $(shell expr 2 \* $$(getconf _NPROCESSORS_ONLN))

# Each of many processes would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help generate test check build bench conformance interop soak clean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 12

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[auth,generator,postgres,redis,reload,uvicorn]" --group dev
	$(BIN)/python -m compileall -q -j 0 runtime generated generator
	@touch $@

generate: $(READY) ## the main job: specs/ and templates/ -> generated/
	$(BIN)/revgen generate

test: $(READY) ## the tests, under five minutes
	$(BIN)/python -m pytest -n $(PROCESSES) --dist worksteal

check: $(READY) ## specs, drift, style and types
	$(BIN)/revgen lint
	$(BIN)/revgen check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright tests/typing/public_api.py
	$(BIN)/mypy --strict tests/typing/public_api.py

build: $(READY) ## wheel and source distribution
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .

conformance: $(READY) ## the official conformance suite against examples/everything.py and the client
	$(BIN)/python tests/conformance/run.py

interop: $(READY) ## our client and server with the official TypeScript SDKs, over every transport
	$(BIN)/python tests/interop/run.py

bench: $(READY) ## costs, side by side in one run
	$(BIN)/python -m benchmarks

soak: $(READY) ## long runs: fuzzing, an attacker beside a well-behaved client, properties on other values each time
	$(BIN)/python -m pytest -s tests/soak -p no:asyncio -p no:anyio --override-ini addopts=
	$(BIN)/python -m pytest -n $(PROCESSES) -m "hypothesis or thorough" --hypothesis-profile=random

clean: ## remove what the targets made
	rm -rf $(VENV) dist
