//! The task that reads the log: one stream, and another one once that has broken.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use lacuna_base::{Error, Result};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::account::Account;
use super::changes::Changes;
use super::control::Control;
use super::held::{Held, SETTLING};
use super::lines::Line;
use super::snapshots::Snapshot;
use super::stream::{Item, Lsn, Stream};
use super::{Log, lines};
use crate::cache::Cache;
use crate::cache::results::Hold;
use crate::cache::span::Touched;

/// How long a round waits until the server has written the log so far without being asked, before it is made to.
const WRITTEN: Duration = Duration::from_millis(3);
/// How long after that it is made to again: once a record ends a page, the place after it comes with the next record.
const WRITTEN_AGAIN: Duration = Duration::from_millis(30);
/// A round that takes longer is the end of the stream.
const LONGEST_ROUND: Duration = Duration::from_secs(10);
/// Pause before another stream is tried.
const RETRY: Duration = Duration::from_millis(500);

/// Reads the log until it is dropped, over connections of its own.
pub(in crate::cache) async fn follow(cache: Arc<Cache>, log: Arc<Log>) {
    // Nothing is kept that was read before a stream has begun.
    let mut everything = Some(hold_everything(&cache));
    let mut last = String::new();
    loop {
        let (server, url) = log.server();
        log.holds_for(server);
        let mut held = Held::default();
        let why = tokio::select! {
            why = stream(&url, &cache, &log, &mut everything, &mut held) => why,
            () = log.has_left(server) => Error::unavailable("the account goes on to another server"),
        };
        if cache.minds_gaps() {
            everything.get_or_insert_with(|| hold_everything(&cache));
        }
        held.all().for_each(|hold| cache.release(hold));
        let problem = why.to_string();
        let was_read = log.problem().is_none();
        if was_read || last != problem {
            tracing::warn!(%why, "the log of the database is not read");
        }
        log.set_problem(Some(problem.clone()));
        last = problem;
        tokio::select! {
            () = sleep(RETRY) => {}
            () = log.has_left(server) => {}
        }
    }
}

/// Reads one stream until it can not.
async fn stream(
    url: &str,
    cache: &Cache,
    log: &Log,
    everything: &mut Option<Hold>,
    held: &mut Held,
) -> Error {
    match Follower::open(url, cache, log, held).await {
        Ok(mut follower) => follower.run(everything).await,
        Err(why) => why,
    }
}

fn hold_everything(cache: &Cache) -> Hold {
    // Definitions too: a change of one that was not read may be over when the stream begins.
    cache.results.hold(Touched::unknown(), None).0
}

/// One stream.
#[derive(Debug)]
struct Follower<'c> {
    cache: &'c Cache,
    log: &'c Log,
    control: Control,
    stream: Stream,
    changes: Changes,
    /// The reading of the catalogue by which the first line of the open transaction was understood.
    begun: u64,
    held: &'c mut Held,
}

impl<'c> Follower<'c> {
    async fn open(url: &str, cache: &'c Cache, log: &'c Log, held: &'c mut Held) -> Result<Self> {
        let stream = Stream::open(&Account::read(url)?, log).await?;
        let control = Control::open(url, stream.slot()).await?;
        Ok(Self { cache, log, control, stream, changes: Changes::default(), begun: 0, held })
    }

    /// Reads until it can not; `everything` is released once all that this stream does not have is shown by reads.
    async fn run(&mut self, everything: &mut Option<Hold>) -> Error {
        let Err(why) = self.read(everything).await;
        why
    }

    async fn read(&mut self, everything: &mut Option<Hold>) -> Result<Infallible> {
        self.stream.start().await?;
        self.begin().await?;
        if let Some(hold) = everything.take() {
            self.cache.release(hold);
        }
        self.log.set_problem(None);
        loop {
            tokio::select! {
                item = self.stream.next() => self.take(item?).await?,
                () = self.log.is_asked() => self.round().await?,
                () = until(self.held.due()) => {
                    let (_, snapshot) = self.place().await?;
                    self.settle(&snapshot);
                }
            }
        }
    }

    /// Waits until reads show everything that was committed before the slot was made: it may have been in the log already and
    /// among the running transactions still.
    async fn begin(&mut self) -> Result<()> {
        self.log.waits("reads do not show yet what was committed before the log is read");
        let newest = self.control.newest().await?;
        loop {
            let (_, snapshot) = self.place().await?;
            if snapshot.is_past(newest) {
                return Ok(());
            }
            if let Ok(item) = timeout(SETTLING, self.stream.next()).await {
                self.take(item?).await?;
            }
        }
    }

    /// Reads until everything has come that is in the log when it begins.
    async fn round(&mut self) -> Result<()> {
        let wanted = self.log.wanted();
        let (place, snapshot) = self.place().await?;
        self.settle(&snapshot);
        let (begun, mut patience) = (Instant::now(), WRITTEN);
        while self.stream.position() < place {
            if let Ok(item) = timeout(patience, self.stream.next()).await {
                self.take(item?).await?;
            } else if begun.elapsed() > LONGEST_ROUND {
                return Err(Error::unavailable(
                    "the stream of the log does not come as far as the log is written",
                ));
            } else {
                // A commit that does not wait for the disk is not sent before it is there.
                self.control.push().await?;
                patience = WRITTEN_AGAIN;
            }
        }
        self.log.ended(wanted);
        Ok(())
    }

    async fn take(&mut self, item: Item) -> Result<()> {
        let line = match &item {
            Item::Position => return self.stream.confirm().await,
            Item::LongLine => {
                self.changes.lose_sight();
                return Ok(());
            }
            Item::Line(line) => lines::read(line),
        };
        let reading = self.cache.reading();
        if matches!(line, Line::Begin) {
            self.begun = reading.number;
        }
        if let Some((number, touched)) = self.changes.take(&line, &reading.catalogue) {
            self.hold(number, touched);
        }
        Ok(())
    }

    /// Holds what a transaction has touched until reads show it.
    fn hold(&mut self, number: u32, touched: Touched) {
        // Columns may have other names and types by now.
        let is_doubtful = self.held.defines()
            || !self.cache.results.knows_definitions()
            || self.begun != self.cache.reading().number;
        let touched = if is_doubtful && !touched.may_define {
            Touched { is_all: true, ..Touched::default() }
        } else {
            touched
        };
        if touched.is_nothing() {
            return;
        }
        let defines = touched.may_define;
        let (hold, dropped) = self.cache.results.hold(touched, None);
        self.cache.counters.logged(dropped);
        if !self.cache.settles() {
            self.cache.release(hold);
            return;
        }
        self.held.add(number, hold, defines);
    }

    /// Releases what reads show by now.
    fn settle(&mut self, snapshot: &Snapshot) {
        self.held.settled(snapshot).into_iter().for_each(|hold| self.cache.release(hold));
    }

    /// How far the log is written, and which transactions run.
    async fn place(&mut self) -> Result<(Lsn, Snapshot)> {
        // Before the number is asked for, so that it is younger than all of them.
        let count = self.log.unsettled().len();
        if count > 0 {
            let newest = self.control.newest().await?;
            for hold in self.log.unsettled().drain(..count) {
                self.held.add_registration(newest, hold);
            }
        }
        self.control.place().await
    }
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}
