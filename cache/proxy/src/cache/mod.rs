//! Replies to range reads of registered columns, kept in memory, and never older than the last write that was answered.
//!
//! | file | idea |
//! | --- | --- |
//! | `registered.rs`, `settings.rs` | what a user says: columns, roles that may write, bytes |
//! | `results/`, `entries.rs`, `span.rs` | entries, the writes that hold them back, and the reads that fill them |
//! | `room.rs` | memory for replies that are on their way |
//! | `plans.rs`, `values.rs`, `effect.rs` | what a statement with its values does |
//! | `shadow.rs`, `compare.rs` | what would have been shown beside what the server says |
//! | `status/`, `shown.rs` | which intervals are there, and intervals as people read them |
//! | `identity.rs`, `starts.rs` | whose session it is, in which settings, and at which server |
//! | `guard.rs` | triggers by which writes past the proxy fail |
//! | `log/` | writes past the proxy, as the log of the database has them |
//! | `auto.rs`, `watch/register.rs` | columns that are registered, or taken off the list, while it runs |
//! | `catalogue/`, `watch/` | tables, columns and rights, at the start and as long as the proxy runs |
//! | `watch/servers.rs`, `watch/go_on.rs` | a server that takes the place of another one |
//! | `xids.rs` | numbers of transactions |
//! | `counters.rs` | what happened |
//!
//! `customer = 7` is asked twice: the second reply has the bytes of the first. A client's `UPDATE … WHERE customer = 7` holds
//! `[7, 7]` from before it is sent until it is answered: the entry is dropped, and a reply that was read before cannot be kept
//! after.
//!
//! Guarantee: a read that begins after a write was answered shows it or a later state, as long as all writes come through
//! this proxy. That is what is checked of the roles at the start, and watched; what cannot be known counts as a write to
//! everything.

mod auto;
mod catalogue;
mod compare;
mod counters;
mod effect;
mod entries;
mod guard;
mod identity;
mod log;
mod plans;
mod registered;
mod results;
mod room;
mod settings;
mod shadow;
mod shown;
mod span;
mod sql_names;
mod starts;
mod status;
mod values;
mod watch;
mod xids;

use std::collections::{HashMap, VecDeque};
use std::mem;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use crate::suggest::Suggestions;
use crate::upstream::Connector;
use lacuna_base::{Error, Result};
use tokio::sync::{Notify, oneshot, watch as watch_channel};
use tokio::time::timeout;

use auto::Advisor;
pub use auto::{Auto, AutoCounts};
use catalogue::Catalogue;
pub(crate) use catalogue::{Meant, ReadingMark};
pub(crate) use compare::{Verdict, compare, of_error};
pub use counters::CacheCounts;
use counters::Counters;
pub(crate) use counters::{add_duration, count};
pub(crate) use effect::{CHANGED, Effect, effect, meant, runs_early};
pub(crate) use entries::About;
use guard::Guard;
pub use guard::{guard_sql, run_sql, unguard_sql};
use identity::Identities;
pub(crate) use identity::{Answer, Identity, NoIdentity, QUESTION};
pub(crate) use log::Log;
pub use log::{log_sql, unlog_sql};
use plans::Plans;
pub(crate) use plans::{AsOf, Plan, Prepared};
use registered::Column;
pub use registered::Registered;
pub(crate) use registered::full_name;
use results::Longest;
pub(crate) use results::{Hold, Results, Ticket};
pub(crate) use room::Room;
use room::Rooms;
pub use settings::CacheSettings;
#[cfg(feature = "flaws")]
pub use settings::Flaw;
pub(crate) use shadow::{Comparison, Shadow};
pub use shadow::{Difference, ShadowCounts};
pub(crate) use span::Touched;
use starts::Starts;
pub use status::{CacheStatus, ColumnStatus, HotRange, Segment};
pub(crate) use watch::Watch;

/// The cache of a proxy.
#[derive(Debug)]
pub(crate) struct Cache {
    pub(crate) results: Results,
    pub(crate) plans: Plans,
    pub(crate) counters: Counters,
    /// Set if nothing is answered, only compared.
    pub(crate) shadow: Option<Shadow>,
    /// Set if columns are registered while it runs, by what sessions ask.
    advisor: Option<Advisor>,
    /// Whether columns are registered while it runs, because they are asked for.
    grows: bool,
    /// Columns that are to be registered, or taken off the list.
    asked: Mutex<VecDeque<Asked>>,
    /// Set if triggers let no others write.
    guard: Option<Arc<Guard>>,
    /// Set if writes past the proxy are read in the log.
    pub(crate) log: Option<Arc<Log>>,
    /// Most bytes of all replies.
    max_bytes: usize,
    /// Longest reply that is kept.
    pub(crate) max_reply: usize,
    /// What replies take that are on their way.
    rooms: Arc<Rooms>,
    identities: Identities,
    starts: Starts,
    catalogue: RwLock<Reading>,
    /// Server processes of the proxy's own sessions, and those whose session has ended.
    processes: Mutex<Processes>,
    wake: Notify,
    /// Whether another process has taken a table: its cache would not see the writes of sessions here.
    pub(crate) is_superseded: watch_channel::Sender<bool>,
    #[cfg(feature = "flaws")]
    flaw: Option<Flaw>,
}

/// A reading of the catalogue.
#[derive(Debug, Clone)]
pub(crate) struct Reading {
    /// Counts readings that differ in anything.
    pub(crate) number: u64,
    /// Counts those that differ in what a session is asked for: schemas, roles and settings.
    pub(crate) surroundings: u64,
    /// All transactions below this number had ended before the catalogue was read last.
    pub(crate) oldest: u64,
    pub(crate) catalogue: Arc<Catalogue>,
}

impl Reading {
    pub(crate) const fn mark(&self) -> ReadingMark {
        ReadingMark { number: self.number, oldest: self.oldest }
    }
}

/// What is to become of columns, and where the answer goes.
#[derive(Debug)]
enum Asked {
    /// It is to be registered: whether it is a new one, or why it is not.
    Register(Column, oneshot::Sender<Result<bool, String>>),
    /// They are to be taken off the list: those that were on it.
    Unregister(Registered, oneshot::Sender<Registered>),
}

/// Server processes of the server of this number. At another one processes of other programs have the same numbers.
#[derive(Debug, Default)]
struct Processes {
    server: u64,
    /// With the start of their server, once the session has named it: a server that starts anew gives the same numbers to others.
    serving: HashMap<i32, Option<String>>,
    left: HashMap<i32, Option<String>>,
    /// Holds of sessions whose process is not known: they last as long as the proxy is at this server.
    lasting: Vec<Hold>,
}

impl Processes {
    /// Whether it is one of the proxy's own, at the server that was started then.
    fn has(&self, pid: i32, started: &str) -> bool {
        let has = |of: &HashMap<i32, Option<String>>| {
            of.get(&pid).is_some_and(|of| of.as_deref().is_none_or(|of| of == started))
        };
        has(&self.serving) || has(&self.left)
    }
}

impl Cache {
    /// Checks the catalogue, claims the tables, and watches both until the result is dropped.
    ///
    /// # Errors
    /// `InvalidInput` with the reasons why the columns cannot be cached, `Unavailable` if another process caches a
    /// table or the database does not answer.
    pub(crate) async fn start(
        settings: &CacheSettings,
        suggestions: Option<&Arc<Suggestions>>,
        connector: &Arc<Connector>,
    ) -> Result<(Arc<Self>, Watch)> {
        Watch::start(settings, suggestions, connector).await
    }

    fn new(
        settings: &CacheSettings,
        catalogue: Catalogue,
        advisor: Option<Advisor>,
        guard: Option<Arc<Guard>>,
        log: Option<Arc<Log>>,
    ) -> Self {
        let results = Results::new(settings.registered.place_count(), settings.bytes);
        #[cfg(feature = "flaws")]
        let results = results.with_flaw(settings.flaw);
        Self {
            results,
            plans: Plans::default(),
            counters: Counters::default(),
            shadow: settings.is_shadow.then(Shadow::default),
            advisor,
            grows: settings.grows,
            asked: Mutex::default(),
            guard,
            log,
            max_bytes: settings.bytes,
            max_reply: (settings.bytes / 8).min(MAX_REPLY),
            rooms: Arc::new(Rooms::new(settings.bytes / 4)),
            identities: Identities::default(),
            starts: Starts::default(),
            catalogue: RwLock::new(Reading {
                number: 1,
                surroundings: 1,
                oldest: 0,
                catalogue: Arc::new(catalogue),
            }),
            processes: Mutex::default(),
            wake: Notify::new(),
            is_superseded: watch_channel::Sender::new(false),
            #[cfg(feature = "flaws")]
            flaw: settings.flaw,
        }
    }

    /// Room for a reply that is on its way to be kept or compared.
    pub(crate) fn room(&self) -> Room {
        Room::of(self.rooms.clone())
    }

    /// The catalogue as it was read last.
    pub(crate) fn reading(&self) -> Reading {
        self.catalogue.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Takes a reading; results begin anew if it differs from the last one.
    fn read(&self, mut catalogue: Catalogue, oldest: u64) {
        let mut known = self.catalogue.write().unwrap_or_else(PoisonError::into_inner);
        let number = known.number + 1;
        known.oldest = oldest;
        catalogue.continues(&known.catalogue, ReadingMark { number, oldest });
        if *known.catalogue != catalogue {
            let has_moved = !known.catalogue.has_same_surroundings(&catalogue);
            let surroundings = known.surroundings + u64::from(has_moved);
            *known = Reading { number, surroundings, oldest, catalogue: Arc::new(catalogue) };
            self.results.read_anew(number);
        }
    }

    /// Its sessions and its account are at the server of this number from now on, and nothing that was known of the last one is true
    /// of it. Call it while nothing is shown.
    fn goes_to_server(&self, server: u64) {
        let mut known = self.catalogue.write().unwrap_or_else(PoisonError::into_inner);
        let (number, surroundings) = (known.number + 1, known.surroundings + 1);
        // What is prepared there until it is read is of no transaction that is known.
        *known = Reading { number, surroundings, oldest: 0, catalogue: known.catalogue.clone() };
        self.results.read_anew(number);
        drop(known);
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        let left = mem::replace(&mut *processes, Processes { server, ..Processes::default() });
        drop(processes);
        // What they have not committed they never will, as far as this server is concerned.
        self.results.settle(&self.results.doubted());
        left.lasting.into_iter().for_each(|hold| self.release(hold));
    }

    /// The identity of a session that has answered so.
    pub(crate) fn identity(&self, answer: &Answer) -> std::result::Result<Identity, NoIdentity> {
        count(&self.counters.questions);
        self.process_started(answer);
        let reading = self.reading();
        let found = self.identities.of(answer, &reading, self.has_roles());
        match &found {
            Err(NoIdentity::Start) => {
                self.starts.differ(&answer.started, &reading.catalogue.start.0);
                self.distrust();
            }
            // Its server was not looked at.
            Err(NoIdentity::Database) => {}
            _ => self.starts.agree(),
        }
        found
    }

    /// Whether a transaction that has written is remembered to its end: what it wrote may be registered meanwhile.
    pub(crate) fn remembers_writers(&self) -> bool {
        #[cfg(feature = "flaws")]
        if self.flaw == Some(Flaw::NoLongView) {
            return false;
        }
        self.advisor.is_some() || self.grows
    }

    /// Whether a hit waits for the log.
    pub(crate) fn waits_for_log(&self) -> bool {
        #[cfg(feature = "flaws")]
        if self.flaw == Some(Flaw::NoLogWait) {
            return false;
        }
        self.log.is_some()
    }

    /// Whether what a transaction in the log has touched is held until reads show it.
    #[cfg(feature = "flaws")]
    fn settles(&self) -> bool {
        self.flaw != Some(Flaw::NoSettling)
    }

    #[cfg(not(feature = "flaws"))]
    #[expect(clippy::unused_self, reason = "a control of the tests asks for it")]
    const fn settles(&self) -> bool {
        true
    }

    /// Whether everything is dropped when the stream of the log ends, and nothing kept before the next one has begun.
    #[cfg(feature = "flaws")]
    fn minds_gaps(&self) -> bool {
        self.flaw != Some(Flaw::NoGap)
    }

    #[cfg(not(feature = "flaws"))]
    #[expect(clippy::unused_self, reason = "a control of the tests asks for it")]
    const fn minds_gaps(&self) -> bool {
        true
    }

    #[cfg(feature = "flaws")]
    fn has_roles(&self) -> bool {
        self.flaw != Some(Flaw::NoRole)
    }

    #[cfg(not(feature = "flaws"))]
    #[expect(clippy::unused_self, reason = "a control of the tests asks for it")]
    const fn has_roles(&self) -> bool {
        true
    }

    /// Nothing is shown until the catalogue was read again, which begins now.
    pub(crate) fn distrust(&self) {
        self.results.distrust();
        self.wake.notify_one();
    }

    /// Whether columns are registered while it runs, because they are asked for.
    pub(crate) const fn takes_columns(&self) -> bool {
        self.grows
    }

    /// Registers a column, and returns whether it is a new one.
    ///
    /// # Errors
    /// Why it is not registered.
    pub(crate) async fn register(&self, column: &Column) -> Result<bool, String> {
        let (answer, answered) = oneshot::channel();
        self.ask(Asked::Register(column.clone(), answer));
        answered.await.unwrap_or_else(|_| Err(STOPS.to_owned()))
    }

    /// Takes columns off the list, and returns those that were on it.
    ///
    /// # Errors
    /// `Unavailable` if the proxy stops meanwhile.
    pub(crate) async fn unregister(&self, columns: &Registered) -> Result<Registered> {
        let (answer, answered) = oneshot::channel();
        self.ask(Asked::Unregister(columns.clone(), answer));
        answered.await.map_err(|_| Error::unavailable(STOPS))
    }

    fn ask(&self, asked: Asked) {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner).push_back(asked);
        self.wake.notify_one();
    }

    /// The database has answered a write.
    pub(crate) fn release(&self, hold: Hold) {
        if self.results.release(hold) {
            self.wake.notify_one();
        }
    }

    /// The database will not answer a write: this process of this server may still commit it.
    pub(crate) fn doubt(&self, hold: Hold, server: u64, pid: Option<i32>) {
        if !self.results.is_clear(hold) {
            count(&self.counters.doubts);
        }
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        if processes.server != server {
            // What is committed at a server that was left is in no reply of this one.
            drop(processes);
            return self.release(hold);
        }
        match pid {
            Some(pid) => {
                self.results.doubt(hold, pid);
                self.wake.notify_one();
            }
            None => processes.lasting.push(hold),
        }
    }

    /// Lets the session of this process of this server write guarded tables.
    pub(crate) async fn admit(&self, server: u64, pid: i32) {
        let Some(guard) = &self.guard else { return };
        let admitted = timeout(ADMISSION, guard.admit(server, pid)).await;
        if let Err(why) = admitted.unwrap_or_else(|_| Err(Error::unavailable("the database does not answer")))
        {
            tracing::warn!(%why, pid, "a session may not write guarded tables");
        }
    }

    /// Whether the table of what would have been shown has texts of which equal ones may have other bytes.
    pub(crate) fn has_loose_texts(&self, comparison: &Comparison) -> bool {
        self.reading().catalogue.has_loose_texts(comparison.would_be.column)
    }

    /// The server has answered what would have been shown, and everything is held that it may have shown beside it.
    pub(crate) fn compared(&self, comparison: &Comparison, verdict: Verdict, answered: (usize, Instant)) {
        let Some(shadow) = &self.shadow else { return };
        let was_untouched = self.results.was_untouched(&comparison.would_be.watched);
        let overtaken = Verdict::Uncertain("a write was on its way at the same time");
        let verdict = if was_untouched { verdict } else { overtaken };
        shadow.ends(comparison, verdict, answered, &self.reading().catalogue);
    }

    /// Returns when another process has taken a table.
    pub(crate) async fn superseded(&self) {
        drop(self.is_superseded.subscribe().wait_for(|is_superseded| *is_superseded).await);
    }

    /// A session of this server is served by this process.
    pub(crate) fn process_serves(&self, server: u64, pid: i32) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        if processes.server == server {
            processes.left.remove(&pid);
            processes.serving.insert(pid, None);
        }
    }

    /// A session has named the start of its server.
    fn process_started(&self, answer: &Answer) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(started) = processes.serving.get_mut(&answer.pid) {
            *started = Some(answer.started.clone());
        }
    }

    /// The session has ended.
    pub(crate) fn process_left(&self, server: u64, pid: i32) {
        let mut processes = self.processes.lock().unwrap_or_else(PoisonError::into_inner);
        if processes.server == server {
            let started = processes.serving.remove(&pid).flatten();
            processes.left.insert(pid, started);
        }
    }

    /// Why nothing is shown, if that is so.
    fn closed(&self, held: Option<Longest>) -> Option<String> {
        let reading = self.reading();
        let of_log = || self.log.as_ref()?.problem();
        let two_servers = self.starts.problem(&reading.catalogue.start.0, Instant::now());
        two_servers
            .or_else(|| self.results.closed())
            .or_else(of_log)
            .or_else(|| held.and_then(holds_everything))
    }

    pub(crate) fn counts(&self) -> CacheCounts {
        let (entries, bytes) = self.results.size();
        let catalogue = self.reading().catalogue;
        let shadow = self.shadow.as_ref().map(Shadow::counts);
        let auto = self.advisor.as_ref().map(Advisor::counts);
        let held = self.results.held();
        CacheCounts {
            entries,
            bytes,
            tables: catalogue.table_count(),
            columns: catalogue.registered_columns().len(),
            closed: self.closed(held),
            held: held.map_or(Duration::ZERO, |held| held.age),
            shadow,
            auto,
            ..self.counters.counts()
        }
    }
}

/// What is said of a hold of everything that most statements would have ended by now.
fn holds_everything(Longest { process, age }: Longest) -> Option<String> {
    let who = process.map_or("a transaction".to_owned(), |process| format!("server process {process}"));
    let seconds = age.as_secs();
    (seconds > 0).then(|| format!("what {who} does may touch everything, and has not ended for {seconds} s"))
}

/// Why there is no answer to what was asked of columns.
const STOPS: &str = "the proxy stops";
/// How long a login waits until its session may write guarded tables. Without it the session's writes to them fail.
const ADMISSION: Duration = Duration::from_secs(5);
/// Longest reply that is kept, whatever the limit of all.
const MAX_REPLY: usize = 1 << 20;
