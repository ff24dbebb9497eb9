//! Empty ranges that need no query of the store: windows over real keys, half of which hold no key.
//!
//! Every window is read once. Then one client reads: half of its scans are parts of windows without a row, the others
//! whole windows with rows; beside it another inserts rows into empty windows and removes them again. The cache is too
//! small for all results, so that most empty ranges are known to the owner alone. The right answer of a scan is known
//! where no write of its window was under way meanwhile.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use lacuna_base::{Error, Result};
use lacuna_cache::sql::{DomainType, Options, Schema, SqlValue, Table};
use lacuna_workload::{Keys, Rng, real_sets};
use tokio::sync::Semaphore;

use super::{Bar, Effort, Limit};
use crate::cache_bench::bare::Bare;
use crate::cache_bench::run::{Bench, runtime, until_interrupted};
use crate::cache_bench::servers::folder;
use crate::cache_bench::system::not_written;

/// Real keys that the windows lie over.
const SETS: [&str; 2] = ["commit_times", "osm_node_ids"];
/// Neighbouring keys of a set.
const KEYS: usize = 20_000;
/// Windows of each kind.
const WINDOWS: usize = 2_000;
/// Gaps between neighbours in the width of a window.
const GAPS_WIDE: u64 = 4;
/// Rows of one statement while loading.
const BATCH: usize = 500;
/// Memory for cached results.
const CACHE_BYTES: usize = 256 << 10;
/// Scans for each write beside them.
const SCANS_A_WRITE: u64 = 100;
/// Scans for each request of the hit bar.
const SCANS_A_REQUEST: u64 = 10;

/// Windows of equal width, by their first values.
struct Windows {
    width: u64,
    full: Vec<u64>,
    empty: Vec<Window>,
}

/// A window that had no row in the beginning.
struct Window {
    first: u64,
    /// Where a row may be.
    place: AtomicU64,
    /// Rises with each step: no row, being inserted, a row at the place, being removed.
    steps: AtomicU64,
}

/// What is known of a window at one moment.
#[derive(PartialEq, Eq)]
enum Known {
    NoRow,
    RowAt(u64),
    Changing,
}

/// What scans of empty ranges found.
#[derive(Debug, Default)]
struct Seen {
    empty: u64,
    statements: u64,
    wrong: u64,
    checked: u64,
}

impl Windows {
    fn over(keys: &[u64], seed: u64) -> Result<Self> {
        let mut gaps: Vec<u64> = keys.windows(2).map(|pair| pair[1] - pair[0]).collect();
        gaps.sort_unstable();
        let width = (GAPS_WIDE * gaps[gaps.len() / 2]).max(8);
        let held: BTreeSet<u64> = keys.iter().map(|key| key / width).collect();
        let (min, max) = (keys[0] / width, keys[keys.len() - 1] / width);
        let mut rng = Rng::new(seed);
        let mut empty = BTreeSet::new();
        for _ in 0..WINDOWS * 1_000 {
            let window = rng.between(min, max);
            if !held.contains(&window) && empty.insert(window) && empty.len() == WINDOWS {
                break;
            }
        }
        if empty.len() < WINDOWS {
            return Err(Error::invalid_input("these keys lie too close for windows without any"));
        }
        let step = held.len() / WINDOWS.min(held.len());
        let full = held.into_iter().step_by(step).take(WINDOWS).map(|window| window * width).collect();
        let empty = empty.into_iter().map(|window| Window::at(window * width)).collect();
        Ok(Self { width, full, empty })
    }

    fn whole(&self, first: u64) -> std::ops::RangeInclusive<i64> {
        range(first, first + self.width - 1)
    }
}

impl Window {
    const fn at(first: u64) -> Self {
        Self { first, place: AtomicU64::new(0), steps: AtomicU64::new(0) }
    }

    fn step(&self) {
        self.steps.fetch_add(1, Ordering::SeqCst);
    }

    fn known(&self) -> (u64, Known) {
        let steps = self.steps.load(Ordering::SeqCst);
        let known = match steps % 4 {
            0 => Known::NoRow,
            2 => Known::RowAt(self.place.load(Ordering::SeqCst)),
            _ => Known::Changing,
        };
        (steps, known)
    }
}

fn range(lo: u64, hi: u64) -> std::ops::RangeInclusive<i64> {
    lo.cast_signed()..=hi.cast_signed()
}

/// The share of empty ranges that need no statement, and that no scan is wrong.
pub(super) fn gaps(_: &mut Bench, effort: &Effort, say: &mut dyn FnMut(String)) -> Result<Vec<Bar>> {
    let mut bars = Vec::new();
    for name in SETS {
        let set = real_sets().into_iter().find(|set| set.name() == name);
        let set = set.ok_or_else(|| Error::invalid_input(format!("there is no key set `{name}`")))?;
        say(format!("empty ranges of {name}"));
        let Keys::U64(keys) = set.load()? else {
            return Err(Error::invalid_input(format!("{name} holds no integers")));
        };
        let from = keys.len().saturating_sub(KEYS) / 2;
        let keys = &keys[from..keys.len().min(from + KEYS)];
        let runtime = runtime()?;
        let seen = until_interrupted(&runtime, measure(keys, effort))?;
        let twin = if set.is_twin() { ", a generated twin" } else { "" };
        let without = 100.0 * (1.0 - seen.statements as f64 / seen.empty.max(1) as f64);
        bars.push(Bar::number(
            format!("empty ranges of `{name}` that need no statement, %"),
            format!("{} statements", seen.statements),
            format!("{} empty ranges{twin}", seen.empty),
            without,
            Limit::AtLeast(95.0),
        ));
        bars.push(Bar::number(
            format!("scans of `{name}` that show another row than there is"),
            seen.wrong.to_string(),
            format!("{} that are known", seen.checked),
            seen.wrong as f64,
            Limit::AtMost(0.0),
        ));
    }
    Ok(bars)
}

async fn measure(keys: &[u64], effort: &Effort) -> Result<Seen> {
    let folder = folder()?;
    let url = format!("sqlite:{}", folder.path().join("gaps.db").display());
    load(&url, keys).await?;
    let cache = Options::new(&url).with_cache_bytes(CACHE_BYTES).open().await?;
    let table = cache.table(Schema::new("points", "id").with_domain("id", DomainType::Integer)).await?;
    let windows = Arc::new(Windows::over(keys, effort.seed)?);
    for first in windows.full.iter().copied().chain(windows.empty.iter().map(|window| window.first)) {
        table.get("id", windows.whole(first)).await?;
    }
    let may_write = Arc::new(Semaphore::new(0));
    let writer = tokio::spawn(write(table.clone(), windows.clone(), may_write.clone(), effort.seed));
    let seen = scan(&table, &windows, effort, &may_write).await;
    may_write.close();
    writer.await.map_err(|_| Error::unavailable("a task of the bench ended"))??;
    cache.stop().await?;
    seen
}

async fn load(url: &str, keys: &[u64]) -> Result<()> {
    let bare = Bare::open(url, 1).await?;
    bare.run("CREATE TABLE points (id INTEGER PRIMARY KEY)").await?;
    for keys in keys.chunks(BATCH) {
        let rows: Vec<String> = keys.iter().map(|key| format!("({key})")).collect();
        bare.run(&format!("INSERT INTO points VALUES {}", rows.join(", "))).await?;
    }
    bare.close().await;
    Ok(())
}

/// Whole windows with rows, and parts of windows without, chosen at random.
async fn scan(table: &Table, windows: &Windows, effort: &Effort, may_write: &Semaphore) -> Result<Seen> {
    let (mut seen, mut rng) = (Seen::default(), Rng::with_stream(effort.seed, 1));
    for scan in 1..=effort.requests as u64 * SCANS_A_REQUEST {
        if scan % SCANS_A_WRITE == 0 {
            may_write.add_permits(1);
        }
        if rng.below(2) == 0 {
            let rows = table.get("id", windows.whole(windows.full[rng.index(windows.full.len())])).await?;
            seen.checked += 1;
            seen.wrong += u64::from(rows.is_empty());
            continue;
        }
        let window = &windows.empty[rng.index(windows.empty.len())];
        let lo = window.first + rng.below(windows.width);
        let hi = rng.between(lo, window.first + windows.width - 1);
        let (before, asked) = (window.known(), table.counts().store_queries);
        let rows = table.get("id", range(lo, hi)).await?;
        let after = window.known();
        let expected = match after.1 {
            Known::RowAt(place) if (lo..=hi).contains(&place) => 1,
            _ => 0,
        };
        if before == after && after.1 != Known::Changing {
            seen.checked += 1;
            seen.wrong += u64::from(rows.len() != expected);
        }
        if rows.is_empty() {
            seen.empty += 1;
            seen.statements += table.counts().store_queries - asked;
        }
    }
    Ok(seen)
}

/// Inserts a row into a window without one, or removes it, whenever it may.
async fn write(table: Table, windows: Arc<Windows>, may: Arc<Semaphore>, seed: u64) -> Result<()> {
    let mut rng = Rng::with_stream(seed, 2);
    while let Ok(permit) = may.acquire().await {
        permit.forget();
        let window = &windows.empty[rng.index(windows.empty.len())];
        if window.known().1 == Known::NoRow {
            window.place.store(rng.between(window.first, window.first + windows.width - 1), Ordering::SeqCst);
        }
        let id = SqlValue::Integer(window.place.load(Ordering::SeqCst).cast_signed());
        let is_there = matches!(window.known().1, Known::RowAt(_));
        window.step();
        if is_there {
            let row = table.known_row([("id", id)])?;
            table.delete(&row).await.map_err(not_written)?;
        } else {
            table.insert([("id", id)]).await.map_err(not_written)?;
        }
        window.step();
    }
    Ok(())
}
