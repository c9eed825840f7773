# The project's commands. Everything is installed into .venv and node_modules, both below this folder;
# each step leaves a stamp, so that a second run does only what has changed.

PORT ?= 8000
# Where the built site will be published; a preview works at any address.
export SITE_URL ?= http://127.0.0.1:8000/
PYTEST_ARGS ?= --numprocesses=auto --dist=worksteal
# Many processes start from the same sources; each would compile them anew.
unexport PYTHONDONTWRITEBYTECODE
export PATH := $(CURDIR)/.venv/bin:$(CURDIR)/node_modules/.bin:$(PATH)

# Set up on demand by the scripts, which know themselves whether there is anything to do.
.PHONY: help serve test check site bench format lock golden clean environment environment-dev

help: ## list these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

serve: environment ## build the site and serve it on 127.0.0.1:8000 (PORT=… for another port)
	@python -m tools.preview $(PORT)

test: environment-dev ## run every test, in a browser too (PYTEST_ARGS=… to choose)
	@python -m tools.build_site
	@KV_CHROMIUM="$$(tools/chromium.sh)" python -m pytest $(PYTEST_ARGS)

check: environment-dev ## lint and check types
	ruff check
	ruff format --check
	mypy
	zizmor --offline --quiet --persona=pedantic .github/workflows
	codespell
	biome ci --colors=off
	tsc --project jsconfig.json
	tsc --project tools/jsconfig.json

site: environment ## build the site into site/
	@python -m tools.build_site

bench: environment-dev ## print every measurement (tools/bench_*.py) beside what it is measured against
	@python -m tools.build_site
	@for part in tools/bench_*.py; do \
		KV_CHROMIUM="$$(tools/chromium.sh)" python -m "tools.$$(basename "$$part" .py)" || exit; \
	done

format: environment-dev ## put the sources into their usual form
	ruff check --fix
	ruff format
	biome check --write

lock: environment-dev ## pin the newest releases that pyproject.toml and package.json allow
	tools/lock.sh --upgrade
	npm install --package-lock-only --ignore-scripts

golden: environment-dev ## write tests/golden anew (ORACLE=folder with the figures the engines gave)
	@python -m tools.golden $(ORACLE)

clean: ## remove everything that was built or installed here
	rm -rf .venv node_modules site build dist .cache .hypothesis .mypy_cache .pytest_cache .ruff_cache test-results
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

environment:
	@tools/environment.sh site
	@tools/node-modules.sh

environment-dev:
	@tools/environment.sh dev
	@tools/node-modules.sh
