//! The yardstick beside its peer: our standard Bloom filter and crate `fastbloom`.
//!
//! Both get the same number of bits (to the next 64), the same number of hashes a key, and the same 64-bit hash of each
//! key, computed within the timed loop: `fastbloom` takes it through `insert_hash` and `contains_hash`. Ours is asked
//! through `may_contain` of the erased filter, a trait object, as users of `open` have it; the peer is a type whose
//! question is compiled into the loop. The peer has no way to ask for many keys at once, so that our batches stand beside its
//! independent questions. Our build contains the order check, the checksum and the envelope. Each bar is the middle of three
//! runs. `docs/design/bloom.md` says why this peer, and what was tried.

use fastbloom::BloomFilter;
use lacuna_base::hash::IntegerHasher;
use lacuna_base::{Budget, DynFilter, Result, U64Range};
use lacuna_bench::harness::{Rounds, TaskId};

use super::contest::{PlannedFilter, add_one_by_one, add_points, in_runs, points};
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::AtMost;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

/// Bits per key, and the best number of hashes for them.
const BUDGETS: [(f64, u32); 2] = [(14.0, 10), (18.0, 12)];
/// Longest question and build, in the peer's.
const MAX: f64 = 1.0;

/// Measures all budgets.
pub(super) fn run(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    progress.say("peer-bloom: drawing keys and queries");
    let keys = setting.keys(&format!("uniform:{}", setting.speed_keys()))?;
    let pool = |law: &str| -> Result<_> { Ok(points(&setting.ranges(law, &keys)?)) };
    let count = setting.questions();
    let pools =
        [("absent", pool(&format!("points:{count}"))?), ("present", pool(&format!("points:{count}:hit"))?)];
    let mut bars = Vec::new();
    for (bits, hash_count) in BUDGETS {
        let ours = PlannedFilter::try_new(&format!("bloom:k={hash_count}"), bits, setting.seed)?;
        let theirs = Peer::new(bits, hash_count, keys.len(), setting.seed);
        bars.extend(in_runs(|run| {
            let say = |step: &str| progress.say(format!("peer-bloom: {bits} bits, run {run}: {step}"));
            say("building filters");
            let filters = (ours.open(&keys)?, theirs.build(&keys));
            let contest = Contest { setting, bits, ours: &*filters.0, peer: &theirs, theirs: &filters.1 };
            let mut bars = Vec::new();
            for (kind, pool) in &pools {
                bars.extend(contest.query_bars(&say, kind, pool));
            }
            bars.push(build_bar(setting, &say, bits, &keys, &ours, &theirs));
            Ok(bars)
        })?);
    }
    Ok(bars)
}

/// How to build and ask the peer.
struct Peer {
    bit_count: usize,
    hash_count: u32,
    hasher: IntegerHasher,
}

impl Peer {
    fn new(bits: f64, hash_count: u32, key_count: usize, seed: u64) -> Self {
        let budget = Budget::bits_per_key(bits).expect("the budgets of this file are sound");
        let bit_count = budget.payload_bytes(key_count) * 8;
        Self { bit_count, hash_count, hasher: IntegerHasher::new(seed) }
    }

    fn build(&self, keys: &[u64]) -> BloomFilter {
        let mut filter = BloomFilter::with_num_bits(self.bit_count).hashes(self.hash_count);
        for &key in keys {
            filter.insert_hash(self.hasher.hash(key));
        }
        filter
    }

    /// A question to `filter` as the harness asks it.
    fn question<'a>(&self, filter: &'a BloomFilter) -> impl Fn(U64Range) -> bool + Copy + use<'a> {
        let hasher = self.hasher;
        move |point| filter.contains_hash(hasher.hash(point.lo()))
    }
}

/// Two opened filters of one budget.
struct Contest<'a> {
    setting: &'a Setting,
    bits: f64,
    ours: &'a DynFilter<u64>,
    peer: &'a Peer,
    theirs: &'a BloomFilter,
}

impl Contest<'_> {
    fn query_bars(&self, say: &dyn Fn(&str), kind: &str, pool: &[U64Range]) -> [Bar; 4] {
        let mut rounds = Rounds::new();
        let ours = add_points(&mut rounds, "bloom", self.ours, pool);
        let [single, predicted, independent] =
            add_one_by_one(&mut rounds, "fastbloom", pool, self.peer.question(self.theirs));
        let (bits, of) = (self.bits, self.setting.query_rounds());
        let timings = rounds.run(of, &mut |round| say(&format!("{kind} keys, round {round} of {of}")));
        let bar = |way: &str, tasks: [TaskId; 2]| {
            Bar::times_longer(format!("bloom {way}, {kind}, {bits} bits"), &timings, tasks, AtMost(MAX))
        };
        [
            bar("single", [ours.dependent, single]),
            bar("predicted", [ours.predicted, predicted]),
            bar("independent", [ours.independent, independent]),
            bar("batched", [ours.batched, independent]),
        ]
    }
}

fn build_bar(
    setting: &Setting,
    say: &dyn Fn(&str),
    bits: f64,
    keys: &[u64],
    ours: &PlannedFilter,
    theirs: &Peer,
) -> Bar {
    let mut rounds = Rounds::new();
    let our_build = ours.add_build(&mut rounds, keys);
    let their_build = rounds.add("fastbloom", keys.len(), || theirs.build(keys));
    let of = setting.build_rounds();
    let timings = rounds.run(of, &mut |round| say(&format!("builds, round {round} of {of}")));
    let name = format!("bloom build per key, {bits} bits");
    Bar::times_longer(name, &timings, [our_build, their_build], AtMost(MAX))
}
