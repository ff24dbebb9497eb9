//! The proxy as a process.

mod metrics;
mod status;
pub(crate) mod top;

use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use lacuna_base::{Error, Result};
use lacuna_proxy::{
    Auto, CacheCounts, CacheSettings, Counts, Explanation, Options, Proxy, Registered, Suggestions, Upstream,
    guard_sql, log_sql, run_sql, unguard_sql, unlog_sql,
};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;
use tokio::signal::unix::Signal;

use crate::commands::proxy::{InitArgs, ProxyArgs, of_file};
use crate::errors;
use crate::monitoring;
use crate::output::Output;
use crate::service::{reload_signal, say, start_log, stop_signal};
use metrics::Monitoring;
use status::Place;

/// Prints whether a cache could answer the statement.
pub(crate) fn explain(sql: &str) -> errors::Result<()> {
    let mut output = Output::new();
    let explanation = lacuna_proxy::explain(sql);
    output.line(&explanation.to_string())?;
    if let Some(line) = of_auto(&explanation) {
        output.line(line)?;
    }
    output.finish()
}

/// Puts guards on tables, or what their log needs, or takes it away; or prints the SQL that would.
pub(crate) fn init(args: &InitArgs) -> errors::Result<()> {
    let registered: Registered = args.register.join(",").parse()?;
    let sql = match &args.account_role {
        _ if args.log && args.remove => unlog_sql(&registered),
        _ if args.log => log_sql(&registered),
        Some(role) if !args.remove => guard_sql(&registered, role),
        _ => unguard_sql(&registered),
    };
    let mut output = Output::new();
    match args.account.as_deref().filter(|_| !args.dry_run) {
        None => output.line(sql.trim_end())?,
        Some(account) => {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| Error::unavailable(error.to_string()))?;
            runtime.block_on(run_sql(account, &sql))?;
            let what = if args.log { "what the log needs is" } else { "the guard triggers are" };
            output.line(&format!("{what} {}", if args.remove { "gone" } else { "there" }))?;
        }
    }
    output.finish()
}

/// What `--auto` makes of a read.
const fn of_auto(explanation: &Explanation) -> Option<&'static str> {
    match explanation {
        Explanation::Cacheable { .. } => Some(
            "--auto registers such a column once a cache of it would have answered --auto-spared statements (100), and a fifth \
             of those that bound it, if type and rights allow it",
        ),
        Explanation::Counted { .. } => {
            Some("--auto counts it for such a column, though the cache would not answer it")
        }
        _ => None,
    }
}

/// Relays until SIGTERM or Ctrl-C. `file` is where the arguments are from, if they are from one.
pub(crate) fn run(args: &ProxyArgs, file: Option<&Path>) -> Result<()> {
    start_log()?;
    let threads = args.threads.map_or_else(half_the_processors, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build();
    let runtime = runtime.map_err(|error| Error::unavailable(error.to_string()))?;
    runtime.block_on(serve(args, file))
}

fn half_the_processors() -> usize {
    std::thread::available_parallelism().map_or(1, |count| count.get().div_ceil(2))
}

async fn serve(args: &ProxyArgs, file: Option<&Path>) -> Result<()> {
    let (stop, reloads) = (stop_signal()?, reload_signal()?);
    let mut stop = pin!(stop);
    allow_connections();
    let listener = monitored(args).await?;
    let suggestions = (!args.no_suggestions).then(Arc::<Suggestions>::default);
    let proxy = tokio::select! {
        started = options(args, file, suggestions.clone())?.start() => started?,
        // A database that does not answer is waited for half a minute.
        () = &mut stop => return Ok(()),
    };
    say(&match proxy.socket() {
        Some(socket) => format!("listening at {} and {}", proxy.address(), socket.display()),
        None => format!("listening at {}", proxy.address()),
    });
    if let Some((listener, place)) = listener {
        say(&format!("metrics at http://{}/metrics", place.address));
        tokio::spawn(monitoring::serve(listener, Arc::new(Monitoring::new(proxy.monitor(), place))));
    }
    let is_superseded = tokio::select! {
        () = &mut stop => false,
        () = report(args.report_every, suggestions.as_deref(), &proxy) => false,
        () = reload(reloads, &proxy, registered(args)?, file) => false,
        () = proxy.superseded() => true,
    };
    let (counts, cached) = (proxy.counts(), proxy.cache_counts());
    proxy.drain(Duration::from_secs(args.drain)).await;
    print(suggestions.as_deref(), counts, cached);
    if is_superseded { Err(superseded()) } else { Ok(()) }
}

/// Where monitoring is answered; of a port alone that is this machine.
async fn monitored(args: &ProxyArgs) -> Result<Option<(TcpListener, Place)>> {
    let Some(asked) = args.metrics.as_deref() else { return Ok(None) };
    let is_port = asked.parse::<u16>().is_ok();
    let full = if is_port { format!("127.0.0.1:{asked}") } else { asked.to_owned() };
    let why = |why: std::io::Error| Error::unavailable(format!("{full} cannot be listened at: {why}"));
    let listener = TcpListener::bind(&full).await.map_err(why)?;
    let address = listener.local_addr().map_err(why)?;
    let name = full.rsplit_once(':').map_or("", |(name, _)| name).to_owned();
    Ok(Some((listener, Place { address, name, is_for_all: args.page })))
}

fn superseded() -> Error {
    let message = "another process has taken a registered table: this one was silent for too long, and its sessions have ended";
    Error::unavailable(message)
}

/// Each client takes two connections, and the system's first limit is mostly 1,024.
fn allow_connections() {
    let allowed = getrlimit(Resource::Nofile);
    // With the lower limit, clients beyond it wait or get an error.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: allowed.maximum, ..allowed });
}

fn options(args: &ProxyArgs, file: Option<&Path>, suggestions: Option<Arc<Suggestions>>) -> Result<Options> {
    let upstream = args.upstream.as_deref().ok_or_else(|| Error::invalid_input("--upstream is missing"))?;
    let mut options = Options::new(upstream.parse::<Upstream>()?)
        .with_listen(args.listen)
        .with_max_connections(args.max_connections)
        .with_max_message_bytes(args.max_message);
    if let (Some(certificate), Some(key)) = (&args.certificate, &args.key) {
        options = options.with_certificate(certificate, key);
    }
    if let Some(folder) = &args.unix_socket_dir {
        options = options.with_socket_folder(folder);
    }
    if let Some(file) = &args.logins {
        options = options.with_logins(file);
    }
    if let Some(settings) = cache(args)? {
        // A file may name more columns later.
        options = options.with_cache(if file.is_some() { settings.with_registration() } else { settings });
    }
    Ok(match suggestions {
        Some(suggestions) => options.with_suggestions(suggestions),
        None => options,
    })
}

/// The cache, if there is to be one: the command line asks for all that it needs.
fn cache(args: &ProxyArgs) -> Result<Option<CacheSettings>> {
    let Some(account) = &args.account else { return Ok(None) };
    let mut settings = CacheSettings::new(account, registered(args)?)
        .with_writers(args.writers.iter().cloned())
        .with_bytes((args.cache_mib as usize) << 20);
    if args.auto {
        let auto = Auto::default().with_min_spared(args.auto_spared);
        settings =
            settings.with_auto(auto.with_max_tables(args.auto_tables).with_max_columns(args.auto_columns));
    }
    settings = match args.writes.as_deref() {
        Some("guard") => settings.with_guards(),
        Some("log") => settings.with_log(),
        _ => settings,
    };
    Ok(match args.cache.as_deref() {
        Some("shadow") => Some(settings.with_shadow()),
        cache => cache.map(|_| settings),
    })
}

fn registered(args: &ProxyArgs) -> Result<Registered> {
    if args.register.is_empty() { Ok(Registered::default()) } else { args.register.join(",").parse() }
}

/// Reads files anew at each signal; never returns. `named` are the columns that the file has named at the start.
async fn reload(mut signals: Signal, proxy: &Proxy, mut named: Registered, file: Option<&Path>) {
    let file = file.filter(|_| proxy.cache_counts().is_some());
    while signals.recv().await.is_some() {
        match proxy.reload() {
            Ok(()) => say("certificate and logins were read anew, for clients that come from now on"),
            Err(why) => say(&format!("what was read before stays: {why}")),
        }
        let Some(file) = file else { continue };
        if let Err(why) = columns_of(file, proxy, &mut named).await {
            say(&format!("the list of registered columns stays as it was: {why}"));
        }
    }
    std::future::pending::<()>().await;
}

/// Registers the columns that a file names by now, and takes those off the list that it named before: others have registered
/// themselves.
async fn columns_of(file: &Path, proxy: &Proxy, named: &mut Registered) -> Result<()> {
    let columns = registered(&of_file(file)?)?;
    for (column, was_registered) in proxy.unregister(&named.without(&columns)).await? {
        if was_registered {
            say(&format!("{column} is not registered any more"));
        }
    }
    *named = columns;
    for (column, result) in proxy.register(named).await? {
        match result {
            Ok(true) => say(&format!("{column} is registered from now on")),
            Ok(false) => {}
            Err(why) => say(&format!("{column} is not registered: {why}")),
        }
    }
    Ok(())
}

/// Prints a report each time the interval has passed; never returns.
async fn report(every: Option<u64>, suggestions: Option<&Suggestions>, proxy: &Proxy) {
    let Some(seconds) = every else { return std::future::pending().await };
    loop {
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        print(suggestions, proxy.counts(), proxy.cache_counts());
    }
}

fn print(suggestions: Option<&Suggestions>, counts: Counts, cached: Option<CacheCounts>) {
    let Counts { open, sessions, refused, cancels, unfollowed, .. } = counts;
    say(&format!(
        "\n{sessions} sessions, {open} of them open, {unfollowed} not followed; {refused} clients refused; \
         {cancels} requests to cancel"
    ));
    if let Some(cached) = cached {
        say(cached.report().trim_end());
    }
    if let Some(suggestions) = suggestions {
        say(suggestions.report().trim_end());
    }
}
