//! A run: load, warm up, measure, drain, check.
//!
//! The clock runs from the first operation until everything that was acknowledged is in the store. So write-back pays
//! for the writes that it put off. After each fiftieth of the operations, the bytes are read that log servers hold and
//! must not evict. After the drain every record is read from the store itself: each acknowledged write must be there.
//!
//! A figure measures one system at many shares of scans. Then the system stays at work between its runs: it settles in place of
//! stopping, and what is missing in its cache is cached again.
//!
//! Where setups are compared they may take turns: a machine that is slower for a while is so for all of them. A turn,
//! too, pays for the writes that it put off, and every other turn begins with the last of them.

mod load;
mod one_run;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use lacuna_base::{Error, Result};
use tokio::runtime::Runtime;

use crate::cache_bench::interrupt;
use crate::cache_bench::row::Row;
use crate::cache_bench::servers::{Databases, start_redis};
use crate::cache_bench::setup::{Length, Setup, StoreKind, System};
use one_run::Run;

/// Parts of a run; pinned bytes are read after each.
const PARTS: u32 = 50;

/// Runs of one process: what they share.
#[derive(Default)]
pub(crate) struct Bench {
    data_folder: Option<PathBuf>,
    /// One for each setup that is at work at once.
    databases: Vec<Databases>,
    /// Systems that stay at work between runs, by their place among the databases.
    kept: BTreeMap<usize, Kept>,
    runs: u64,
}

/// A system that is at work, its cache warm.
struct Kept {
    /// What a setup has in common with those that it can be measured with next.
    what: String,
    run: Run,
    runtime: Runtime,
}

/// The results of setups that took turns.
#[derive(Debug)]
pub(crate) struct Turns<const N: usize> {
    /// All turns of each together.
    pub(crate) rows: [Row; N],
    /// Operations a second of each, turn by turn.
    rates: Vec<[f64; N]>,
}

impl<const N: usize> Turns<N> {
    /// Operations a second of one over those of another, made within each turn: the least, the median and the greatest of the
    /// turns, whose number is odd.
    pub(crate) fn ratios(&self, one: usize, other: usize) -> [f64; 3] {
        let mut ratios: Vec<f64> = self.rates.iter().map(|rates| rates[one] / rates[other]).collect();
        ratios.sort_by(f64::total_cmp);
        [ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]]
    }
}

impl Bench {
    /// Runs whose stores have their data in `folder` where they have little memory.
    pub(crate) fn with_data_folder(folder: Option<PathBuf>) -> Self {
        Self { data_folder: folder, ..Self::default() }
    }

    /// Measures one setup at a place of its own, with the system that the last call has left there, if that is the same but for the
    /// share of scans, the choices and the length: warming a cache takes longer than most runs. Several stay at work, each at its
    /// place.
    ///
    /// # Errors
    /// As [`Bench::measure`].
    pub(crate) fn measure_at(
        &mut self,
        place: usize,
        setup: Setup,
        say: &mut dyn FnMut(String),
    ) -> Result<Row> {
        let (whole, stays) = (setup.length, stays(&setup));
        let what = what_stays(&setup);
        let (runtime, mut run) = match self.kept.remove(&place) {
            Some(mut kept) if kept.what == what => {
                interrupt::check()?;
                say(format!("{}: warming up again", kept.run.name()));
                until_interrupted(&kept.runtime, kept.run.resume(setup.checked()?))?;
                (kept.runtime, kept.run)
            }
            other => {
                other.map(|kept| self.end(kept.runtime, kept.run, say)).transpose()?;
                self.prepare(place, setup, say)?
            }
        };
        say(format!("{}: measuring", run.name()));
        until_interrupted(&runtime, run.go(whole, PARTS))?;
        if !stays {
            return self.end(runtime, run, say);
        }
        say(format!("{}: draining", run.name()));
        let row = until_interrupted(&runtime, run.pause())?;
        if row.failures == 0 && row.lost_updates == 0 {
            self.kept.insert(place, Kept { what, run, runtime });
        }
        Ok(row)
    }

    /// Ends the systems that stay at work at this place and those after it.
    ///
    /// # Errors
    /// `Unavailable` if one does not end well.
    pub(crate) fn end_from(&mut self, place: usize, say: &mut dyn FnMut(String)) -> Result<()> {
        for (_, kept) in self.kept.split_off(&place) {
            self.end(kept.runtime, kept.run, say)?;
        }
        Ok(())
    }

    /// Measures one setup. Servers end with the thread that calls this.
    ///
    /// # Errors
    /// `InvalidInput` if its parts do not go together, `Unavailable` if a server is not installed, does not answer, or the
    /// run was interrupted.
    pub(crate) fn measure(&mut self, setup: Setup, say: &mut dyn FnMut(String)) -> Result<Row> {
        let whole = setup.length;
        let (runtime, mut run) = self.prepare(0, setup, say)?;
        say(format!("{}: measuring", run.name()));
        until_interrupted(&runtime, run.go(whole, PARTS))?;
        self.end(runtime, run, say)
    }

    /// Measures setups in `turns` turns each, an odd number, of an equal share of their lengths.
    ///
    /// # Errors
    /// As [`Bench::measure`].
    pub(crate) fn measure_in_turn<const N: usize>(
        &mut self,
        setups: [Setup; N],
        turns: u32,
        say: &mut dyn FnMut(String),
    ) -> Result<Turns<N>> {
        let shares = setups.each_ref().map(|setup| setup.length.share(turns));
        let mut all = Vec::new();
        for (place, setup) in setups.into_iter().enumerate() {
            all.push(self.prepare(place, setup, say)?);
        }
        let names = all.iter().map(|(_, run)| run.name()).collect::<Vec<_>>().join(", ");
        let mut rates = Vec::new();
        for turn in 1..=turns {
            say(format!("{names}: turn {turn} of {turns}"));
            let mut of_turn = [0.0; N];
            for step in 0..N {
                let place = if turn % 2 == 1 { step } else { N - 1 - step };
                let (runtime, run) = &mut all[place];
                of_turn[place] = until_interrupted(runtime, run.take_turn(shares[place]))?;
            }
            rates.push(of_turn);
        }
        let mut rows = Vec::new();
        for (runtime, run) in all {
            rows.push(self.end(runtime, run, say)?);
        }
        let rows: [Row; N] = rows.try_into().expect("each setup has a row");
        Ok(Turns { rows, rates })
    }

    /// Everything up to the first operation that counts.
    fn prepare(&mut self, place: usize, setup: Setup, say: &mut dyn FnMut(String)) -> Result<(Runtime, Run)> {
        let setup = setup.checked()?;
        interrupt::check()?;
        say(format!("{}: starting servers", setup.system.name()));
        while self.databases.len() <= place {
            self.databases.push(Databases::with_data_folder(self.data_folder.clone()));
        }
        let databases = &mut self.databases[place];
        databases.start(&setup)?;
        let servers = start_redis(&setup)?;
        self.runs += 1;
        let runtime = runtime()?;
        let run = until_interrupted(&runtime, Run::prepare(databases, servers, setup, self.runs, say))?;
        Ok((runtime, run))
    }

    /// Everything after the last operation.
    fn end(&mut self, runtime: Runtime, run: Run, say: &mut dyn FnMut(String)) -> Result<Row> {
        say(format!("{}: draining", run.name()));
        let row = until_interrupted(&runtime, run.end());
        runtime.shutdown_timeout(Duration::from_millis(200));
        row
    }
}

/// Whether a system can be measured again: one that has learned from its load, or notes its calls, begins anew, and so does one whose
/// versions only its own memory knows.
fn stays(setup: &Setup) -> bool {
    let learns = setup.beta.is_none() || setup.measures_sizes || setup.notes_log;
    let stays = match setup.system {
        System::Store => true,
        System::Lacuna(_) => !learns,
        _ => false,
    };
    stays && setup.store != StoreKind::Sqlite
}

/// A setup without what may be different next time.
fn what_stays(setup: &Setup) -> String {
    let length = Length::Operations(0);
    format!("{:?}", Setup { scan_percent: 0, length, seed: 0, ..setup.clone() })
}

/// As many threads as the machine of the published numbers has processors.
pub(crate) fn runtime() -> Result<Runtime> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| Error::unavailable(format!("no runtime: {error}")))
}

/// Does the work, unless Ctrl-C is pressed first.
pub(crate) fn until_interrupted<T>(runtime: &Runtime, work: impl Future<Output = Result<T>>) -> Result<T> {
    runtime.block_on(async {
        tokio::select! {
            done = work => done,
            why = interrupt::wait() => Err(why),
        }
    })
}
