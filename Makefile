# demo   the main job: an embedded store that skips empty ranges
# demo-proxy   a proxy with its cache before PostgreSQL: direct, relayed and cached side by side
# test   everything that must hold; what continuous integration runs
# install-c   the libraries for C and C++ into PREFIX
# package-cassandra   the plug-in's jar, and its checksum
# book   the documentation as a web site
# All but demo-proxy, which takes an installed PostgreSQL, do their own set-up on a machine with a Rust toolchain.

CARGO ?= cargo
STAGE := .ci/stage
TARGET := $(or $(CARGO_TARGET_DIR),target)
TOOLS := $(or $(LACUNA_TOOLS),$(HOME)/.cache/lacuna)
DENY_VERSION := 0.20.2
DENY := $(TOOLS)/bin/cargo-deny-$(DENY_VERSION)
MDBOOK_VERSION := 0.5.4
MDBOOK := $(TOOLS)/bin/mdbook-$(MDBOOK_VERSION)

# Every test runs with all internal checks on and all features: one profile and one set of features is one compilation.
TESTS := --profile checked --locked --workspace --all-features

# For commands that link RocksDB, which is compiled once into a cache outside the checkout.
WITH_ROCKSDB := .ci/with-rocksdb

# Measurements, which no user builds.
LAB = $(CARGO) run --release --locked -p lacuna-lab $(FEATURES) --
PAPER_FEATURES_rocksdb := --features rocksdb
PAPER_FEATURES_rangeqc := --features cache

.PHONY: demo demo-proxy test test-cassandra test-supply test-build test-features test-rocksdb test-compiled test-programs test-bindings install-c package-c package-cassandra python book fresh-stages test-long bench paper bars bars-cache fuzz fmt clean servers

demo:
	$(CARGO) build --release --locked
	$(TARGET)/release/lacuna demo $(ARGS)

demo-proxy:
	$(CARGO) build --release --locked -p lacuna-cli --features proxy
	.ci/demo-proxy $(TARGET)/release/lacuna

# Many tests wait for servers: with twice as many at once as a small machine has cores, they take half the time.
test: export RUST_TEST_THREADS := 4
test: export LACUNA_REQUIRE := all
test: export LACUNA_WITHOUT_FEATURES := $(abspath $(TARGET))/without-features/lacuna
test: export LACUNA_STAGES := $(abspath $(TARGET))/stages
test: fresh-stages
	$(STAGE) "packages of the machine" .ci/packages servers browser rocksdb c python java
	$(STAGE) format $(CARGO) fmt --all --check
	$(STAGE) "crates of others" $(CARGO) fetch --locked
	$(MAKE) --no-print-directory --jobs=4 test-cassandra test-programs test-bindings test-supply || { cat $(LACUNA_STAGES); exit 2; }
	@cat $(LACUNA_STAGES)

# Clusters that mostly wait, and beside them all else, which gives way to them.
test-cassandra:
	$(STAGE) cassandra .ci/cassandra

test-supply test-build test-features test-rocksdb test-compiled test-programs test-bindings: BESIDE = nice -n 10 $(STAGE)

# Compiles a tool where there is none yet, beside what else has one compiler at work.
test-supply: $(DENY)
	$(BESIDE) "supply chain" $(DENY) --offline check --hide-inclusion-graph licenses bans sources

test-build:
	$(BESIDE) build .ci/without-features

# Beside the default build and what else needs no RocksDB: each of the two often has only one compiler at work.
test-rocksdb:
	$(BESIDE) rocksdb .ci/rocksdb

test-features: test-build
	$(BESIDE) "features, each alone" .ci/features
	$(BESIDE) words lab/words
	$(BESIDE) names lab/names
	$(BESIDE) packages .ci/package

test-compiled: test-features test-rocksdb
	$(BESIDE) lints $(WITH_ROCKSDB) $(CARGO) clippy --profile checked --locked --workspace --all-targets --all-features -- -D warnings
	$(BESIDE) docs $(WITH_ROCKSDB) env RUSTDOCFLAGS="-D warnings" $(CARGO) doc --profile checked --locked --workspace --all-features --no-deps --lib
	$(BESIDE) "tests, compiled" $(WITH_ROCKSDB) $(CARGO) test $(TESTS) --quiet --no-run --tests

# Most of these wait for servers, while the compilers of the others work.
test-programs: test-compiled
	$(BESIDE) tests $(WITH_ROCKSDB) .ci/tests $(TESTS) --quiet --tests

test-bindings: test-compiled
	$(BESIDE) "examples of the documentation" $(WITH_ROCKSDB) $(CARGO) test $(TESTS) --quiet --doc
	$(BESIDE) "without real keys" $(WITH_ROCKSDB) .ci/without-data $(TESTS) --quiet
	$(BESIDE) "C and C++" $(WITH_ROCKSDB) env LACUNA_COMMAND=$(LACUNA_WITHOUT_FEATURES) .ci/c
	$(BESIDE) python env LACUNA_COMMAND=$(LACUNA_WITHOUT_FEATURES) .ci/python

# The libraries for C and C++ below PREFIX; with DESTDIR, LIBDIR and LACUNA_PROFILE as bindings/c/install has them.
PREFIX ?= /usr/local
install-c:
	@bindings/c/install "$(PREFIX)"

# The same as one file to unpack anywhere, in the target folder.
package-c:
	@bindings/c/package "$(TARGET)"

# The plug-in for Cassandra, for machines of this kind, and its checksum, in the target folder.
package-cassandra:
	@nodes/cassandra/package "$(TARGET)"

# The wheel for Python, in $(TARGET)/wheels.
python:
	.ci/python wheel

# The pages of docs/ as a web site with search, in $(TARGET)/book; its links are checked.
book: $(MDBOOK)
	$(STAGE) book .ci/book $(MDBOOK)

# The list of stages, with their minutes, which is printed at the end.
fresh-stages:
	@mkdir -p $(TARGET) && rm -f $(LACUNA_STAGES)

# Its build has no TLS and no orders of languages, and it takes functions of an index by their full names alone.
NOT_ON_18 := --skip encrypted:: --skip an_order_of_a_language --skip texts_in_another_order --skip what_only_looks_like

test-long: export LACUNA_REQUIRE := all
test-long: export LACUNA_LONG := 1
test-long: export LACUNA_WITHOUT_FEATURES := $(abspath $(TARGET))/without-features/lacuna
test-long:
	$(STAGE) "packages of the machine" .ci/packages servers browser
	$(STAGE) build .ci/without-features
	$(STAGE) "features, each alone" .ci/features all
	$(STAGE) "oldest compilers" .ci/oldest
	$(STAGE) ferretdb .ci/ferretdb
	$(STAGE) "long tests" $(WITH_ROCKSDB) $(CARGO) test $(TESTS) --tests
	$(STAGE) "a batch beside iterators" $(WITH_ROCKSDB) $(CARGO) test --release --locked -p lacuna-rocksdb --test it -- \
		--nocapture a_batch_is_faster_than_iterators
	$(STAGE) "PostgreSQL 18" env LACUNA_LONG=0 LACUNA_POSTGRES=$$(.ci/postgres-18) \
		$(CARGO) test --profile checked --locked -p lacuna-proxy --test it -- $(NOT_ON_18)
	$(STAGE) "long cassandra" .ci/cassandra -DforkCount=1 -Dlacuna.operations=20000 -Dlacuna.checks=20000 -Dlacuna.ring_changes=true
	$(STAGE) "cassandra under faults" .ci/cassandra -DforkCount=1 -Dtest=HistoryFaultsTest -Dlacuna.checks=200000
	$(STAGE) "cassandra, twelve nodes" .ci/cassandra -DforkCount=1 -Dtest=WorldTest -Dlacuna.world=12 -Dlacuna.checks=20000
	$(STAGE) "cassandra beside stock" .ci/cassandra -Dtest=BesideStockTest -Dlacuna.beside_stock=true -Dlacuna.operations=100000
	$(STAGE) "cassandra 5.0.0" .ci/cassandra -Dcassandra.version=5.0.0 -Dtest='ControlsTest,ExchangeTest'
	$(MAKE) fuzz

# A minute for each target; `lab/fuzz/run SECONDS TARGET` for longer.
fuzz:
	$(STAGE) fuzz lab/fuzz/run $(or $(FUZZ_SECONDS),60)

bench:
	$(CARGO) build --release --locked
	$(TARGET)/release/lacuna bench filters --filters bloom,blocked_bloom,prefix_bloom,bucketing,grafite \
		--keys uniform:1M --queries split:200k:32:1024 --bits-per-key 10,14,18 --report docs/results/filters $(ARGS)
	$(LAB) designer-grid --out docs/results/designer.md

# The figures and tables of a paper, such as `make paper NAME=rencoder ARGS="--figure 4"`; `make paper ARGS=--list` names them.
paper: FEATURES = $(PAPER_FEATURES_$(NAME))
paper:
	$(if $(filter rocksdb,$(NAME)),$(WITH_ROCKSDB)) $(LAB) paper $(NAME) $(ARGS)

bars:
	$(LAB) bars $(ARGS)

# The range cache over real servers; about 40 minutes. CACHE_ARGS="--only hit,beta --seconds 10" for less.
bars-cache: FEATURES = --features cache
bars-cache: servers
	$(LAB) cache-bars --out docs/results/cache $(CACHE_ARGS)

servers:
	@.ci/packages servers

fmt:
	$(CARGO) fmt --all

clean:
	$(CARGO) clean

$(DENY):
	$(STAGE) "install cargo-deny" $(CARGO) install --locked --debug cargo-deny --version $(DENY_VERSION) --root $(TOOLS) --force
	mv $(TOOLS)/bin/cargo-deny $@

# Without its server and its watch over files, which are two thirds of what it depends on.
$(MDBOOK):
	$(STAGE) "install mdbook" $(CARGO) install --locked --debug mdbook --version $(MDBOOK_VERSION) --no-default-features --features search \
		--root $(TOOLS) --force
	mv $(TOOLS)/bin/mdbook $@
