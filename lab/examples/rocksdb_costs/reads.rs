//! Reads, with filters and without.

use lacuna_workload::Rng;
use rust_rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};
use rust_rocksdb::{DBRawIterator, ReadOptions};

use crate::SEED;
use crate::database::{GAP_BITS, Open, key};
use crate::writes::median;

/// What is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scan {
    Empty,
    EmptyReverse,
    OneRow,
    HundredRows,
    AbsentPoint,
    AbsentGet,
    AbsentFilteredGet,
    PresentGet,
    PresentFilteredGet,
}

/// One read of a kind, on average.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cost {
    pub(crate) micros: f64,
    pub(crate) blocks: f64,
}

impl Scan {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Empty => "empty, 32 wide",
            Self::EmptyReverse => "empty, 32 wide, backward",
            Self::OneRow => "one row",
            Self::HundredRows => "a hundred rows",
            Self::AbsentPoint => "absent as a scan of `[k, k]`",
            Self::AbsentGet => "absent `get`",
            Self::AbsentFilteredGet => "absent `get`, with: `filters.get`",
            Self::PresentGet => "present `get`",
            Self::PresentFilteredGet => "present `get`, with: `filters.get`",
        }
    }

    /// Bounds of the next read, the upper one excluded, and how many rows it must find at least.
    fn draw(self, rng: &mut Rng, open: &Open) -> (u64, u64) {
        let present = key(rng.below(open.keys));
        let absent = (rng.next_u64() >> GAP_BITS << GAP_BITS) | rng.between(1, (1 << GAP_BITS) - 100);
        match self {
            Self::Empty | Self::EmptyReverse => (absent, absent + 32),
            Self::OneRow => (present, present + 32),
            Self::HundredRows => (present, present.saturating_add(u64::MAX / open.keys * 100)),
            Self::AbsentPoint | Self::AbsentGet | Self::AbsentFilteredGet => (absent, absent + 1),
            Self::PresentGet | Self::PresentFilteredGet => (present, present + 1),
        }
    }

    fn finds(self) -> bool {
        match self {
            Self::OneRow | Self::HundredRows | Self::PresentGet | Self::PresentFilteredGet => true,
            Self::Empty
            | Self::EmptyReverse
            | Self::AbsentPoint
            | Self::AbsentGet
            | Self::AbsentFilteredGet => false,
        }
    }
}

pub(crate) struct Reader;

impl Reader {
    /// Medians over alternating rounds of `count` reads each, the first round of each being a warm-up.
    pub(crate) fn compare(opened: [&Open; 2], scan: Scan, count: u64, rounds: u64) -> [Cost; 2] {
        let mut micros = [Vec::new(), Vec::new()];
        let mut blocks = [0.0; 2];
        for round in 0..=rounds {
            for (place, open) in opened.into_iter().enumerate() {
                let cost = measure(open, scan, count, SEED + 1 + round);
                blocks[place] = cost.blocks;
                if round > 0 {
                    micros[place].push(cost.micros);
                }
            }
        }
        let [first, second] = micros.map(median);
        [Cost { micros: first, blocks: blocks[0] }, Cost { micros: second, blocks: blocks[1] }]
    }
}

fn measure(open: &Open, scan: Scan, count: u64, seed: u64) -> Cost {
    set_perf_stats(PerfStatsLevel::EnableCount);
    let mut context = PerfContext::default();
    context.reset();
    let mut rng = Rng::new(seed);
    let mut rows = 0;
    let seconds = open.clock().seconds(|| {
        for _ in 0..count {
            let (lo, hi) = scan.draw(&mut rng, open);
            rows += read(open, scan, lo, hi);
        }
    });
    let micros = seconds * 1e6 / count as f64;
    assert_eq!(rows > 0, scan.finds(), "{scan:?}");
    // A block that the cache holds counts too: it is looked at all the same.
    let blocks = context.metric(PerfMetric::BlockReadCount) + context.metric(PerfMetric::BlockCacheHitCount);
    Cost { micros, blocks: blocks as f64 / count as f64 }
}

fn read(open: &Open, scan: Scan, lo: u64, hi: u64) -> u64 {
    let own_get = || open.db.get_pinned(lo.to_be_bytes()).unwrap().is_some();
    match scan {
        Scan::AbsentGet | Scan::PresentGet => return u64::from(own_get()),
        Scan::AbsentFilteredGet | Scan::PresentFilteredGet if open.setup.spec.is_none() => {
            return u64::from(own_get());
        }
        Scan::AbsentFilteredGet | Scan::PresentFilteredGet => {
            return u64::from(open.lacuna.get(&open.db, lo.to_be_bytes()).unwrap().is_some());
        }
        Scan::Empty | Scan::EmptyReverse | Scan::OneRow | Scan::HundredRows | Scan::AbsentPoint => {}
    }
    let (lo, hi) = (lo.to_be_bytes(), hi.to_be_bytes());
    let reverse = scan == Scan::EmptyReverse;
    let options = if open.setup.spec.is_some() {
        let read = if reverse { open.lacuna.read_reverse(lo..hi) } else { open.lacuna.read(lo..hi) };
        read.into_options()
    } else {
        let mut options = ReadOptions::default();
        options.set_iterate_range(lo..hi);
        options
    };
    count_rows(open.db.raw_iterator_opt(options), reverse)
}

fn count_rows(mut rows: DBRawIterator<'_>, reverse: bool) -> u64 {
    let mut count = 0;
    if reverse {
        rows.seek_to_last();
    } else {
        rows.seek_to_first();
    }
    while rows.valid() {
        count += 1;
        if reverse { rows.prev() } else { rows.next() }
    }
    rows.status().unwrap();
    count
}
