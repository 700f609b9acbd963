# make run: the demo. make extra EXTRA=anthropic: what the models of that provider take; EXTRA=mcp: what MCP servers do.
# make test: the tests.
# make check: what CI runs. make check-long: what takes longer than that. make chaos: processes that die and fight.
# make bench: what it costs; make bench-others: beside others. make mutate: what no test notices.
.PHONY: run extra test test-model test-mcp check check-long chaos bench bench-others mutate format lock
ARGS ?=
CHAOS_SECONDS ?= 30

export PYTHON

run:
	@scripts/setup run
	@exec .venv/bin/pilothouse demo $(ARGS)

extra:
	@scripts/setup run
	@scripts/extra $(EXTRA)

# Side by side; `make test ARGS=…` runs what it names in one process.
test:
	@scripts/setup test
	@scripts/test $(ARGS)

# A real model, a small one on loopback, over each wire. Fetches 130 MB the first time.
test-model:
	@scripts/setup test
	@scripts/test-model $(ARGS)

# MCP servers of others: git, filesystem, everything. Fetches them the first time; two of them need Node.
test-mcp:
	@scripts/setup test
	@scripts/test-mcp $(ARGS)

check:
	@scripts/setup test
	@scripts/check

check-long:
	@scripts/setup test
	@scripts/check-long

# Bots are killed for so many seconds on each database.
chaos:
	@scripts/setup test
	@scripts/test tests/chaos --chaos-seconds $(CHAOS_SECONDS) $(ARGS)

# A JSON line a figure; each is a ratio to a floor that is measured in the same run. ARGS="appends" only that part.
bench:
	@scripts/setup test
	.venv/bin/python -m benchmarks $(ARGS)

# Appends beside those of LangGraph's savers and of DBOS, which are fetched the first time.
bench-others:
	@scripts/setup test
	@scripts/bench-others

# Mutations of the rules that no test notices. Long: of some modules with ARGS="'agent.rules.steps*'".
mutate:
	@scripts/setup test
	.venv/bin/mutmut run --max-children 1 $(ARGS)
	.venv/bin/mutmut results

# Takes the pictures of docs/images anew; ARGS="NAME" only that one. Needs Chromium and the fonts of
# Debian's fonts-dejavu-core, fonts-liberation and fonts-noto-color-emoji.
pictures:
	@scripts/setup test
	.venv/bin/python -m pictures $(ARGS)

format:
	@scripts/setup test
	.venv/bin/ruff check --fix-only --quiet .
	.venv/bin/ruff format .

# Needs uv on the PATH. A lock for what runs, one for the tests, and one for each kind of model provider: each for
# every supported Python, with hashes and without any index address.
COMPILE = uv pip compile pyproject.toml --group build --universal --python-version 3.11 --generate-hashes --no-emit-index-url --quiet
lock:
	$(COMPILE) -o requirements.lock
	$(COMPILE) --group test --extra openai --extra anthropic --extra mcp -c requirements.lock -o requirements-test.lock
	mkdir -p locks
	for extra in openai anthropic google bedrock mcp; do \
		$(COMPILE) --extra $$extra -c requirements.lock -o locks/$$extra.lock || exit 1; \
	done
