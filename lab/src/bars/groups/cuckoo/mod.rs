//! The cuckoo filter in standard Bloom filters, its bits, and what node filters send.

mod exchange;
mod insertion;

use lacuna_base::hash::IntegerHasher;
use lacuna_base::{Result, U64Range};
use lacuna_bench::harness::{Rounds, dependent};
use lacuna_families::CuckooTable;

use super::contest::{PlannedFilter, add_single, points};
use crate::bars::bar::Bar;
use crate::bars::bar::Limit::AtMost;
use crate::bars::setting::Setting;
use lacuna_cli::Progress;

/// Bits per key of the contest: a table of 10-bit fingerprints at 95 % load takes 10.5.
const BITS: f64 = 11.0;

/// Measures lookups, insertion, memory, and the bytes of node filters.
pub(super) fn run(setting: &Setting, progress: &Progress) -> Result<Vec<Bar>> {
    progress.say("cuckoo: drawing keys and queries");
    let keys = setting.keys(&format!("uniform:{}", setting.speed_keys()))?;
    let mut bars = Vec::new();
    for (kind, law) in [("absent", "points:N"), ("present", "points:N:hit")] {
        let ends = setting.ranges(&law.replace('N', &setting.questions().to_string()), &keys)?;
        bars.extend(lookup_bars(setting, progress, kind, &keys, &points(&ends))?);
    }
    bars.extend(insertion::bars(setting, progress));
    bars.extend(memory_bars(setting));
    bars.extend(exchange::bars());
    Ok(bars)
}

/// The sealed filter and the live table, each question waiting for the answer before.
fn lookup_bars(
    setting: &Setting,
    progress: &Progress,
    kind: &str,
    keys: &[u64],
    pool: &[U64Range],
) -> Result<[Bar; 2]> {
    let open = |spec| PlannedFilter::try_new(spec, BITS, setting.seed)?.open(keys);
    let (bloom, cuckoo, table) = (open("bloom")?, open("cuckoo")?, filled(keys, 10));
    let (table, hasher) = (&table, IntegerHasher::new(0));
    let live = move |point: U64Range| table.may_contain(hasher.hash(point.lo()));
    let mut rounds = Rounds::new();
    let yardstick = add_single(&mut rounds, "bloom", &*bloom, pool);
    let tasks = [
        ("cuckoo", add_single(&mut rounds, "cuckoo", &*cuckoo, pool)),
        ("cuckoo table", rounds.add_serial("cuckoo table", pool.len(), move || dependent(pool, 1, live))),
    ];
    let of = setting.query_rounds();
    let timings =
        rounds.run(of, &mut |round| progress.say(format!("cuckoo: {kind} keys, round {round} of {of}")));
    Ok(tasks.map(|(name, task)| {
        let name = format!("{name} lookup, {kind}, {BITS} bits");
        Bar::times_longer(name, &timings, [task, yardstick], AtMost(1.3))
    }))
}

/// Memory at the declared capacity, and the most while growing to eight times as many, beside
/// `(log2(1 / rate) + 3) / 0.95` bits a key.
fn memory_bars(setting: &Setting) -> Vec<Bar> {
    let capacity = setting.rate_keys() as u64 / 4;
    let rates = [0.03, 0.01, 0.001, 0.0001].into_iter();
    let measure = |rate: f64| {
        let (mut table, hasher) = (CuckooTable::for_rate(capacity, rate), IntegerHasher::new(setting.seed));
        let (mut at_capacity, mut growing) = (0.0, 0.0f64);
        for key in 0..8 * capacity {
            table.insert_mut(hasher.hash(key)).expect("it grows");
            let bits = || table.memory_bytes() as f64 * 8.0 / (key + 1) as f64;
            if key + 1 == capacity {
                at_capacity = bits();
            } else if key + 1 > capacity && key % 64 == 0 {
                growing = growing.max(bits());
            }
        }
        let ideal = ((1.0 / rate).log2() + 3.0) / 0.95;
        [("at capacity", at_capacity, 1.1), ("while growing", growing, 1.3)].map(|(when, bits, max)| {
            let name = format!("cuckoo memory {when}, rate {rate}");
            let (value, beside) = (format!("{bits:.2} bits a key"), format!("{ideal:.2} bits a key"));
            Bar::number(name, value, beside, bits / ideal, AtMost(max))
        })
    };
    rates.flat_map(measure).collect()
}

/// A table of `keys`.
fn filled(keys: &[u64], fingerprint_bits: u32) -> CuckooTable {
    let (mut table, hasher) = (CuckooTable::new(keys.len() as u64, fingerprint_bits), IntegerHasher::new(0));
    let hashes: Vec<u64> = keys.iter().map(|&key| hasher.hash(key)).collect();
    table.insert_all_mut(&hashes).expect("it grows");
    table
}
