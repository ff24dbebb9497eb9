//! What the filters cost and save in a RocksDB on disk, side by side in one run.
//!
//! `measure [KEYS [ROUNDS [ROUNDS_FROM_DISK]]]`: random keys, 100-byte rows, tables over several levels. Prints a table in Markdown for
//! [`docs/results/rocksdb/`](https://github.com/lacuna-db/lacuna/tree/main/docs/results/rocksdb/). Reads are taken twice: with all blocks in the block cache, in time on the processor, and with
//! direct input and output and a cache of 1 MB, so that blocks come from the disk, in wall time.

#![allow(clippy::unwrap_used, reason = "a measurement that fails has nothing to say")]

mod batches;
mod clock;
mod database;
mod reads;
mod seeks;
mod writes;

use database::{Home, Points, Setup};
use reads::{Reader, Scan};

const SPEC: &str = "grafite@14 codec=fixed_be:8";
const SEED: u64 = 7;

fn main() {
    let mut arguments = std::env::args().skip(1).map(|text| text.parse().expect("a number"));
    let keys: u64 = arguments.next().unwrap_or(1_000_000);
    let rounds: u64 = arguments.next().unwrap_or(9);
    let rounds_from_disk: u64 = arguments.next().unwrap_or(rounds);
    println!("{keys} keys, {rounds} rounds, filter `{SPEC}`, seed {SEED}\n");
    writes::compare(keys, rounds.min(3));
    let plain = Home::filled(Setup { spec: None, points: Points::Bloom }, keys);
    let guarded = Home::filled(Setup { spec: Some(SPEC), points: Points::Bloom }, keys);
    scans(&plain, &guarded, [rounds, rounds_from_disk]);
    seeks::compare(keys, [rounds, rounds_from_disk]);
    batches::compare(keys, rounds);
    points(keys, rounds);
}

/// Rounds from the cache, and from the disk.
type Rounds = [u64; 2];

fn scans(plain: &Home, guarded: &Home, rounds: Rounds) {
    println!("\n{}\n", guarded.shape());
    println!("| scans | blocks from | without | with | ratio | data blocks without | with |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for from_disk in from(rounds) {
        let [plain, guarded] = [plain, guarded].map(|home| home.open(from_disk));
        for scan in [Scan::Empty, Scan::EmptyReverse, Scan::OneRow, Scan::HundredRows] {
            let count = if from_disk { 2_000 } else { 20_000 };
            let [without, with] =
                Reader::compare([&plain, &guarded], scan, count, rounds[usize::from(from_disk)]);
            println!(
                "| {} | {} | {:.1} us | {:.1} us | {:.2} | {:.2} | {:.2} |",
                scan.name(),
                if from_disk { "disk" } else { "cache" },
                without.micros,
                with.micros,
                without.micros / with.micros,
                without.blocks,
                with.blocks
            );
        }
    }
}

/// Where blocks come from, if there are rounds for it.
pub(crate) fn from(rounds: Rounds) -> impl Iterator<Item = bool> {
    [true, false].into_iter().filter(move |&from_disk| rounds[usize::from(from_disk)] > 0)
}

fn points(keys: u64, rounds: u64) {
    println!("\n| point filter | read | without | with | ratio | data blocks without | with |");
    println!("| --- | --- | --- | --- | --- | --- | --- |");
    for points in [Points::None, Points::Bloom, Points::Ribbon] {
        let homes = [None, Some(SPEC)].map(|spec| Home::filled(Setup { spec, points }, keys / 2));
        let [plain, guarded] = homes.each_ref().map(|home| home.open(false));
        for scan in [
            Scan::AbsentGet,
            Scan::AbsentFilteredGet,
            Scan::AbsentPoint,
            Scan::PresentGet,
            Scan::PresentFilteredGet,
        ] {
            let [without, with] = Reader::compare([&plain, &guarded], scan, 20_000, rounds);
            println!(
                "| {points:?} | {} | {:.2} us | {:.2} us | {:.2} | {:.2} | {:.2} |",
                scan.name(),
                without.micros,
                with.micros,
                without.micros / with.micros,
                without.blocks,
                with.blocks
            );
        }
    }
}
