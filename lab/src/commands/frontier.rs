//! `lacuna-lab frontier`: every family beside every other, on one page.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::Args;
use lacuna_base::Error;
use lacuna_workload::parse_count;

use crate::frontier::{Contender, Scale, Scene, SceneResult, contenders, run_scene, scenes, to_page};
use lacuna_cli::{Output, PendingFile, Progress, Result, on_interrupt};

const EXAMPLES: &str = "\
Examples:
  lacuna-lab frontier --keys 10k --queries 2k --only clustered,ribbon,bloom --no-times
  lacuna-lab frontier --out docs/results/frontier.md

Rates and sizes repeat from the seed; times need a machine with nothing else to do. Ctrl-C ends the run and
keeps what is done. Real key sets come from the folder that LACUNA_DATA names.";

/// Compare every family with every other: rates, sizes, times
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct FrontierArgs {
    /// Keys of generated sets, one number or several
    #[arg(long, value_name = "N,..", default_value = "1M,10M", value_delimiter = ',')]
    keys: Vec<String>,

    /// Ranges of each length that are asked
    #[arg(long, value_name = "N", default_value = "100k")]
    queries: String,

    /// Key sets, filters or both that are run; of what is not named, all
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    only: Vec<String>,

    /// Leave times out
    #[arg(long)]
    no_times: bool,

    /// Write the page here instead of printing it
    #[arg(long, value_name = "F")]
    out: Option<PathBuf>,

    /// Seed of keys, ranges and hashes
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// Runs all scenes, or those before an interrupt.
pub(super) fn run(args: &FrontierArgs) -> Result<()> {
    let query_count = usize::try_from(parse_count(&args.queries)?).unwrap_or(usize::MAX);
    for keys in &args.keys {
        parse_count(keys)?;
    }
    let (scenes, contenders) = chosen(args)?;
    let is_stopped = stop_flag()?;
    let pending = args.out.as_deref().map(PendingFile::create).transpose()?;
    let scale = Scale { query_count, seed: args.seed, with_times: !args.no_times };
    let results = results(&scenes, &contenders, scale, &is_stopped)?;
    let missing = scenes.len() - results.iter().filter(|result| result.is_whole).count();
    let page = to_page(&results, &command_line(args), query_count, missing);
    let mut out = Output::new();
    match pending {
        Some(file) => {
            file.commit(page.as_bytes())?;
            out.line(&format!("{} of {} scenes", scenes.len() - missing, scenes.len()))?;
        }
        None => out.text(&page)?,
    }
    out.finish()
}

/// Set by Ctrl-C.
fn stop_flag() -> Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    on_interrupt(move || set.store(true, Ordering::SeqCst))
        .map_err(|error| Error::unavailable("Ctrl-C cannot be received").with_source(error))?;
    Ok(flag)
}

fn results(
    scenes: &[Scene],
    contenders: &[Contender],
    scale: Scale,
    is_stopped: &AtomicBool,
) -> Result<Vec<SceneResult>> {
    let progress = Progress::steps("frontier", scenes.len() as u64);
    let is_stopped = || is_stopped.load(Ordering::SeqCst);
    let mut results = Vec::new();
    for (done, scene) in scenes.iter().enumerate() {
        if is_stopped() {
            break;
        }
        progress.set(done as u64);
        let mut say = |step: &str| progress.say(format!("{scene}: {step}"));
        results.push(run_scene(scene, contenders, scale, &mut say, &is_stopped)?);
    }
    Ok(results)
}

/// The scenes and filters that `--only` leaves.
fn chosen(args: &FrontierArgs) -> Result<(Vec<Scene>, Vec<Contender>)> {
    let counts: Vec<&str> = args.keys.iter().map(String::as_str).collect();
    let (mut scenes, mut filters) = (scenes(&counts), contenders());
    for name in &args.only {
        if !scenes.iter().any(|scene| scene.set() == name)
            && !filters.iter().any(|filter| filter.is_called(name))
        {
            let message = format!("--only {name}: there is no such key set and no such filter");
            return Err(Error::invalid_input(message).into());
        }
    }
    let names = || args.only.iter().map(String::as_str);
    if scenes.iter().any(|scene| names().any(|name| scene.set() == name)) {
        scenes.retain(|scene| names().any(|name| scene.set() == name));
    }
    if filters.iter().any(|filter| names().any(|name| filter.is_called(name))) {
        filters.retain(|filter| names().any(|name| filter.is_called(name)));
    }
    Ok((scenes, filters))
}

/// The command that gives the same page again.
fn command_line(args: &FrontierArgs) -> String {
    let only = if args.only.is_empty() { String::new() } else { format!(" --only {}", args.only.join(",")) };
    let times = if args.no_times { " --no-times" } else { "" };
    let keys = args.keys.join(",");
    format!(
        "cargo run --release -p lacuna-lab -- frontier --keys {keys} --queries {} --seed {}{only}{times}",
        args.queries, args.seed
    )
}
