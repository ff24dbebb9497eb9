# demo   the main job: an embedded store that skips empty ranges
# test   everything that must hold; what continuous integration runs
# Both do their own set-up on a machine with a Rust toolchain.

CARGO ?= cargo
STAGE := .ci/stage
TOOLS := $(or $(LACUNA_TOOLS),$(HOME)/.cache/lacuna)
DENY_VERSION := 0.20.2
DENY := $(TOOLS)/bin/cargo-deny-$(DENY_VERSION)

# The crates below the engines: few dependencies, so they are cheap to build a second time with every check on.
CHECKED := -p lacuna-core -p lacuna-succinct -p lacuna-filters -p lacuna-guard -p lacuna-workload -p lacuna-testkit \
	-p lacuna-range-cache -p lacuna-node-filters

# The browser that the report is looked at in.
SUDO := $(if $(filter 0,$(shell id -u)),,sudo)
FIND_BROWSER := command -v chromium || command -v chromium-browser || command -v google-chrome

# For commands that link RocksDB, which is compiled once into a cache outside the checkout.
WITH_ROCKSDB := .ci/with-rocksdb

.PHONY: demo test test-long bench bars fmt clean browser

demo:
	$(CARGO) build --release --locked
	target/release/lacuna demo $(ARGS)

test: export LACUNA_REQUIRE := all
test: $(DENY) browser
	$(STAGE) format $(CARGO) fmt --all --check
	$(STAGE) "supply chain" $(CARGO) fetch --locked
	$(STAGE) "supply chain" $(DENY) --offline check --hide-inclusion-graph licenses bans sources
	$(STAGE) build $(CARGO) build --release --locked
	$(STAGE) rocksdb .ci/rocksdb
	$(STAGE) lints $(WITH_ROCKSDB) $(CARGO) clippy --release --locked --workspace --all-targets -- -D warnings
	$(STAGE) docs $(WITH_ROCKSDB) env RUSTDOCFLAGS="-D warnings" $(CARGO) doc --release --locked --workspace --no-deps --lib
	$(STAGE) tests $(WITH_ROCKSDB) $(CARGO) test --release --locked --workspace --quiet
	$(STAGE) "example in C++" $(WITH_ROCKSDB) .ci/cpp-example
	$(STAGE) "tests, all checks on" $(CARGO) test --profile checked --locked --quiet $(CHECKED) --lib --tests

test-long: export LACUNA_REQUIRE := all
test-long: export LACUNA_LONG := 1
test-long: browser
	$(STAGE) "long tests, all checks on" $(CARGO) test --profile checked --locked $(CHECKED) --lib --tests
	$(STAGE) "long tests" $(WITH_ROCKSDB) $(CARGO) test --release --locked --workspace --tests

bench:
	$(CARGO) build --release --locked
	target/release/lacuna bench filters --filters bloom,blocked_bloom,prefix_bloom,bucketing,grafite \
		--keys uniform:1M --queries split:200k:32:1024 --bits-per-key 10,14,18 --report docs/results/filters $(ARGS)

bars:
	$(CARGO) run --release --locked -p lacuna-bars -- $(ARGS)

browser:
	@($(FIND_BROWSER)) > /dev/null || $(STAGE) "install chromium" $(SUDO) sh -c \
		'apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium'

fmt:
	$(CARGO) fmt --all

clean:
	$(CARGO) clean

$(DENY):
	$(STAGE) "install cargo-deny" $(CARGO) install --locked cargo-deny --version $(DENY_VERSION) --root $(TOOLS) --force
	mv $(TOOLS)/bin/cargo-deny $@
