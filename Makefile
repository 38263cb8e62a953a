# Everything works from any state and again; `make help` lists it.
PYTHON ?= python3
BIN := .venv/bin
Q ?=
export Q
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup page run ask test test-live test-page check lint fmt bench clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' Makefile

setup: ## install what uv.lock pins into .venv
	@$(PYTHON) scripts/bootstrap.py

page: setup ## build the web page, where npm is
	@$(PYTHON) scripts/build_page.py

run: setup page ## start the service with the sample documents (ARGS="--port 0")
	@$(BIN)/inglenook serve --sample $(ARGS)

ask: setup ## ask the sample documents: make ask Q="How many vacation days are there?"
	@test -n "$$Q" || { echo 'Put the question in Q: make ask Q="How many vacation days are there?"' >&2; exit 2; }
	@$(BIN)/inglenook ask --sample "$$Q"

test: setup page test-page check ## all checks and tests that need no real model

test-live: setup ## tests with the real demo model (1.1 GB) and a real Open WebUI (0.9 GB), fetched once
	@$(BIN)/pytest -m live -s

test-page: setup
	@if command -v npm >/dev/null; then $(PYTHON) scripts/build_page.py --test; \
	else echo "npm is missing: the page's own tests are not run."; fi

check: lint ## lint and tests
	@$(BIN)/pytest -n 2

lint: setup ## format, lint, types, import layers
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@if command -v npm >/dev/null; then $(BIN)/pyright; \
	else echo "npm is missing: types are not checked (pyright needs it)."; fi
	@$(BIN)/lint-imports

fmt: setup ## format and fix what can be fixed
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

bench: setup ## measure every figure; PEERS=1 adds six other runtimes (1 GB of packages)
	@$(BIN)/python -m bench $(if $(PEERS),--peers)

clean: ## remove what was built and installed; your data and models stay
	rm -rf .venv .uv .live .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage dist
	rm -rf frontend/node_modules frontend/dist src/inglenook/api/page
	find src tests scripts bench -name __pycache__ -type d -prune -exec rm -rf {} +
