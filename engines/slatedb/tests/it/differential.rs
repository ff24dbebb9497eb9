//! Random work on a database with filters, on one without, and on a map: all three must always say the same.
//!
//! Puts, deletes, merges, flushes, compactions, snapshots and reopening; then scans in both directions between all
//! kinds of bounds, prefix scans and gets, and the same in batches, on the database and on its snapshots. Keys are few and
//! close together, so that tombstones, versions and near misses are everywhere.

use std::sync::Arc;

use lacuna_slatedb::{GapLearner, GapOptions, RangeFilters};
use lacuna_workload::Rng;
use slatedb::DbSnapshot;

use crate::support::{Model, Query, TestDb};

const STEPS: u64 = 120;
const QUERIES: u64 = 8;

/// Reads that must be skipped in a run of 960 queries. With keys this close together most queries hold one, and how many reads are
/// skipped differs by the family that `auto` takes: 50 show that filters were asked and believed, which is all that is
/// wanted here.
const MIN_SKIPPED: u64 = 50;

type DrawKey = fn(&mut Rng) -> Vec<u8>;

/// The three, and snapshots of all three.
struct World {
    case: String,
    rng: Rng,
    draw_key: DrawKey,
    filtered: TestDb,
    plain: TestDb,
    model: Model,
    snapshots: Vec<(Arc<DbSnapshot>, Arc<DbSnapshot>, Model)>,
    learner: Option<GapLearner>,
}

impl World {
    async fn new(spec: &str, seed: u64, draw_key: DrawKey) -> Self {
        Self {
            case: format!("{spec}, seed {seed}"),
            rng: Rng::new(seed),
            draw_key,
            filtered: TestDb::parse(spec).await,
            plain: TestDb::new(None).await,
            model: Model::new(),
            snapshots: Vec::new(),
            learner: None,
        }
    }

    /// As `new`; empty scans are looked into, with room for the gaps of few files only.
    async fn that_learns(spec: &str, seed: u64, draw_key: DrawKey) -> Self {
        let options = GapOptions::default().with_memory_bytes(24_000).with_memory_bytes_per_file(1_500);
        let options = options.with_hints(16);
        let lacuna = RangeFilters::parse(spec).unwrap().with_learned_gaps(options);
        let filtered = TestDb::new(Some(lacuna)).await;
        let learner = Some(filtered.learner());
        Self { filtered, learner, ..Self::new(spec, seed, draw_key).await }
    }

    async fn run(mut self) {
        for step in 0..STEPS {
            self.case = format!("{}, step {step}", self.case.split(", step").next().unwrap_or_default());
            self = self.act().await;
            self.check().await;
        }
        let stats = self.filtered.lacuna().stats();
        assert!(stats.skipped() > MIN_SKIPPED, "{}: nothing was skipped\n{stats}", self.case);
        assert_eq!((stats.build_failures, stats.open_failures), (0, 0), "{}\n{stats}", self.case);
        if self.learner.is_some() {
            let gaps = stats.gaps;
            assert!(stats.skipped_by_gap() > MIN_SKIPPED && gaps.refuted > 0, "{}\n{stats}", self.case);
            assert_eq!(gaps.failures, 0, "{}\n{stats}", self.case);
        }
    }

    async fn act(mut self) -> Self {
        match self.rng.below(20) {
            0..11 => self.write().await,
            11..15 => self.each_flushes().await,
            15 | 16 => self.each_compacts().await,
            17 => self.snapshot(),
            18 => drop(self.snapshots.pop()),
            _ => return self.reopen().await,
        }
        self
    }

    async fn write(&mut self) {
        for _ in 0..=self.rng.below(30) {
            let key = (self.draw_key)(&mut self.rng);
            let value = self.rng.below(1_000).to_string().into_bytes();
            let kind = self.rng.below(5);
            for db in [&self.filtered.db, &self.plain.db] {
                match kind {
                    0 => db.delete(&key).await.map(drop).unwrap(),
                    1 => db.merge(&key, &value).await.map(drop).unwrap(),
                    _ => db.put(&key, &value).await.map(drop).unwrap(),
                }
            }
            match kind {
                0 => drop(self.model.remove(&key)),
                1 => self.model.entry(key).or_default().extend(value),
                _ => drop(self.model.insert(key, value)),
            }
        }
    }

    async fn each_flushes(&self) {
        self.filtered.flush().await;
        self.plain.flush().await;
    }

    async fn each_compacts(&mut self) {
        let everything = self.rng.below(2) == 0;
        self.each_flushes().await;
        self.filtered.compact(everything).await;
        self.plain.compact(everything).await;
    }

    fn snapshot(&mut self) {
        let (filtered, plain) = (self.filtered.db.snapshot().unwrap(), self.plain.db.snapshot().unwrap());
        self.snapshots.push((filtered, plain, self.model.clone()));
    }

    async fn reopen(mut self) -> Self {
        self.snapshots.clear();
        Self { filtered: self.filtered.reopen().await, plain: self.plain.reopen().await, ..self }
    }

    async fn check(&mut self) {
        let mut queries = Vec::new();
        for _ in 0..QUERIES {
            let query = Query::draw(&mut self.rng, self.draw_key);
            if let Some(learner) = &mut self.learner {
                query.hint(self.filtered.lacuna(), &self.filtered.db).await;
                for (filtered, ..) in &self.snapshots {
                    query.hint(self.filtered.lacuna(), &**filtered).await;
                }
                learner.follow_all(&self.filtered.db).await;
            }
            query.check(&self.filtered.db, &self.plain.db, &self.model, &self.case).await;
            for (filtered, plain, model) in &self.snapshots {
                query.check(&**filtered, &**plain, model, &format!("{}, snapshot", self.case)).await;
            }
            queries.push(query);
        }
        let lacuna = self.filtered.lacuna();
        Query::check_batch(&queries, lacuna, &self.filtered.db, &self.model, &self.case).await;
        for (filtered, _, model) in &self.snapshots {
            let case = format!("{}, snapshot", self.case);
            Query::check_batch(&queries, lacuna, &**filtered, model, &case).await;
        }
        if let Some(learner) = &mut self.learner {
            learner.follow_all(&self.filtered.db).await;
        }
    }
}

/// Eight bytes: a few clusters of integers with small gaps.
fn integer_key(rng: &mut Rng) -> Vec<u8> {
    let cluster = rng.below(6) << 40;
    (cluster + rng.below(80) * 7).to_be_bytes().to_vec()
}

/// One to six bytes at the rims of the alphabet.
fn string_key(rng: &mut Rng) -> Vec<u8> {
    let letters = [0, 1, b'a', b'z', 0xFE, 0xFF];
    (0..=rng.index(6)).map(|_| letters[rng.index(letters.len())]).collect()
}

async fn run_families(codec: &str, first_seed: u64, draw_key: DrawKey) {
    for (seed, family) in (first_seed..).zip(lacuna_families::FAMILIES) {
        let spec = format!("{}@16 codec={codec} seed={seed}", family.example);
        println!("differential: {spec}");
        World::new(&spec, seed, draw_key).await.run().await;
    }
}

#[tokio::test]
async fn strings_read_the_same_with_filters() {
    run_families("bytes", 100, string_key).await;
}

#[tokio::test]
async fn integers_read_the_same_with_filters() {
    run_families("fixed_be:8", 200, integer_key).await;
}

#[tokio::test]
async fn integers_as_strings_read_the_same_with_filters() {
    run_families("bytes", 300, integer_key).await;
}

#[tokio::test]
async fn prefixes_with_suffixes_read_the_same_with_filters() {
    run_families("composite:4,4", 400, integer_key).await;
}

/// Filters that are wrong often, so that gaps have something to do, under codecs of every kind.
#[tokio::test]
async fn learned_gaps_change_no_answer() {
    let cases: [(&str, DrawKey); 6] = [
        ("bloom@2 codec=fixed_be:8", integer_key),
        ("bucketing@2 codec=fixed_be:8", integer_key),
        ("bloom@2 codec=bytes", string_key),
        ("prefix_bloom@2 codec=bytes", integer_key),
        ("bloom@2 codec=composite:4,4", integer_key),
        ("bloom@2 codec=head:2", string_key),
    ];
    for (seed, (spec, draw_key)) in (500..).zip(cases) {
        println!("differential with learned gaps: {spec}, seed {seed}");
        World::that_learns(spec, seed, draw_key).await.run().await;
    }
}

#[tokio::test]
async fn designed_integers_read_the_same() {
    World::new("auto@16 codec=fixed_be:8 seed=7", 500, integer_key).await.run().await;
}

#[tokio::test]
async fn designed_strings_read_the_same() {
    World::new("auto:price=1000000@16 seed=8", 501, string_key).await.run().await;
}
