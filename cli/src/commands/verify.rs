//! `lacuna verify`: a filter against the keys it was built from; what it promises is put to the proof.

use std::path::PathBuf;

use clap::Args;
use lacuna_base::{Budget, ENVELOPE_BYTES, Envelope, Error, RangeFilter as _, Result as CoreResult};
use lacuna_families::AnyFilter;
use lacuna_families::internal::HARDLY;
use lacuna_workload::{Kept, KeyType, Keys, QueryInput, TypedKeys};

use crate::arguments::{KeyArgs, bits_per_key};
use crate::checks::{Finding, Rate, check_presence, measure_rate};
use crate::errors::{Failure, Result, unless_reader_gone};
use crate::filter_file::{key_space_name, key_type_for, open_filter, unit_missing};
use crate::output::{self, Output, counted, with_commas};
use crate::progress::Progress;

/// The queries that are asked by default.
const USUAL_QUERIES: [&str; 3] = ["points:100k", "uniform:100k:1-32", "correlated:100k:1-32:32"];

const EXAMPLES: &str = "\
Examples:
  lacuna verify uniform.lacuna --keys uniform:100k
  lacuna verify uniform.lacuna --keys uniform:100k --bits-per-key 14 \\
      --queries correlated:50k:1-1024:1k
  lacuna verify temperatures.lacuna --keys temperatures.txt --sort

Every key is asked for: alone, in ranges around it, one by one and in
batches; a single `no` is a false negative. The measured rate must be
believable under the bound that the filter states. The file does not say
which budget was asked for; give --bits-per-key to have it checked.

Keys come as they came to `build`: same --sort and, for a generator,
same --seed. The filter names their type; one from a program that named
none needs --key-type. Exit code 1 if something does not hold.";

/// Prove that a filter keeps its promises for the keys it was built from
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct VerifyArgs {
    /// A filter written by `lacuna build`
    #[arg(value_name = "F")]
    filter: PathBuf,

    #[command(flatten)]
    keys: KeyArgs,

    /// Ranges to measure the rate with, such as uniform:1M:1-32 or `file:PATH` [default: points, uniform and correlated]
    #[arg(long, value_name = "Q")]
    queries: Option<String>,

    /// The budget that was asked for, to be checked
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = bits_per_key)]
    bits_per_key: Option<f64>,

    /// Seed of generated keys, of queries and of the ranges around keys
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
}

/// Prints the report; a promise that is not kept is a failure.
pub(super) fn run(args: &VerifyArgs) -> Result<()> {
    let budget = args.bits_per_key.map(Budget::bits_per_key).transpose()?;
    let inputs = query_inputs(args)?;
    let (envelope, filter) = open_filter(&args.filter)?;
    let keys = load_keys(args, &envelope)?;
    let mut findings = vec![key_finding(args, &envelope, &keys.keys)];
    findings.extend(presence_findings(&filter, &keys.keys, args.seed)?);
    findings.push(budget_finding(&filter, budget, keys.keys.len()));
    for input in &inputs {
        findings.push(rate_finding(args, input, &filter, &keys)?);
    }
    // The exit code is the verdict, whether anybody reads the report or not.
    unless_reader_gone(print_report(args, &envelope, &findings))?;
    judge(args, &findings)
}

fn query_inputs(args: &VerifyArgs) -> Result<Vec<QueryInput>> {
    let Some(text) = &args.queries else {
        return USUAL_QUERIES.iter().map(|text| Ok(QueryInput::parse(text)?)).collect();
    };
    match QueryInput::parse(text)? {
        QueryInput::Drawn(source) if source.kept != Kept::All => Err(Error::invalid_input(format!(
            "the queries `{text}` take keys out, but the filter holds them all; give points, uniform, correlated, split or \
             a file"
        ))
        .into()),
        input => Ok(vec![input]),
    }
}

/// The keys, read as keys of the filter's type.
fn load_keys(args: &VerifyArgs, envelope: &Envelope) -> Result<TypedKeys> {
    envelope.check_asked_directly().map_err(|error| error.with_context(args.filter.display().to_string()))?;
    let asked = match envelope.key_type {
        KeyType::Unknown if args.keys.key_type().is_none() => None,
        _ => Some(key_type_for(envelope, args.keys.key_type())?),
    };
    let keys = args.keys.load_as(asked, args.seed)?;
    // Whole seconds are seconds in a file of keys, and may be microseconds in a filter.
    let keys = match envelope.key_type.time_unit() {
        Some(unit) => keys.in_unit(unit),
        None => keys,
    };
    check_type(args, envelope, keys.key_type)?;
    Ok(keys)
}

fn check_type(args: &VerifyArgs, envelope: &Envelope, of_keys: KeyType) -> Result<()> {
    let name = args.keys.name();
    match envelope.key_type {
        KeyType::Unknown if of_keys.key_space() != Some(envelope.key_space) => {
            Err(Error::invalid_input(format!(
                "the keys of {name} are of type {of_keys}, but those of the filter are {}; give the --key-type that the \
                 filter was built with",
                key_space_name(envelope.key_space)
            ))
            .into())
        }
        // A file of columns names moments, and counts them in a unit that the filter need not have.
        KeyType::Unknown if of_keys.time_unit().is_some() && args.keys.key_type().is_none() => {
            Err(unit_missing().into())
        }
        KeyType::Unknown | KeyType::Tuple => Ok(()),
        noted if noted == of_keys => Ok(()),
        noted => Err(Error::invalid_input(format!(
            "the keys of {name} are of type {of_keys}, but those of the filter are of type {noted}; give the keys it was \
             built from"
        ))
        .into()),
    }
}

fn key_finding(args: &VerifyArgs, envelope: &Envelope, keys: &Keys) -> Finding {
    let name = args.keys.name();
    if envelope.key_count != keys.len() as u64 {
        let (built, given) = (with_commas(envelope.key_count), counted(keys.len()));
        return Finding::new(
            "keys",
            false,
            format!("the filter was built from {built} keys, {name} holds {given}"),
        );
    }
    let ends_agree = match keys {
        Keys::U64(keys) => match (keys.first(), keys.last()) {
            (Some(&first), Some(&last)) => (first, last) == (envelope.smallest, envelope.largest),
            _ => true,
        },
        Keys::Bytes(_) => true,
    };
    let text =
        if ends_agree { "as many as the filter was built from" } else { "another smallest or largest key" };
    Finding::new("keys", ends_agree, format!("{} of {name}: {text}", counted(keys.len())))
}

fn presence_findings(filter: &AnyFilter, keys: &Keys, seed: u64) -> CoreResult<[Finding; 3]> {
    let _progress = Progress::spinner(format!("asking for {} keys", counted(keys.len())));
    let found = check_presence(filter, keys, seed)?;
    let first = found.first_denied.as_deref().unwrap_or_default();
    let denied = |count: u64| match count {
        0 => "none denied".to_owned(),
        _ => format!("{} denied, the first denial of all: {first}", with_commas(count)),
    };
    let [points, ranges, batched] = [found.points, found.ranges, found.batched].map(with_commas);
    let points = format!("{points} keys asked for, {}", denied(found.denied_points));
    let ranges = format!("{ranges} ranges around them, {}", denied(found.denied_ranges));
    let batched = format!(
        "{batched} ranges asked together, {} answered otherwise than alone",
        with_commas(found.differing)
    );
    Ok([
        Finding::new("points", found.denied_points == 0, points),
        Finding::new("ranges", found.denied_ranges == 0, ranges),
        Finding::new("batches", found.differing == 0, batched),
    ])
}

fn budget_finding(filter: &AnyFilter, budget: Option<Budget>, key_count: usize) -> Finding {
    let sealed_bytes = match filter {
        AnyFilter::U64(filter) => filter.size_in_bytes(),
        AnyFilter::Bytes(filter) => filter.size_in_bytes(),
    };
    let payload_bytes = sealed_bytes - ENVELOPE_BYTES;
    let size = format!(
        "{} bits per key: payload {} bytes, sealed {}",
        output::bits_per_key(payload_bytes, key_count),
        counted(payload_bytes),
        counted(sealed_bytes)
    );
    match budget {
        None => Finding::not_checked("budget", format!("{size}; --bits-per-key checks it")),
        Some(budget) => {
            let max = budget.payload_bytes(key_count);
            Finding::new(
                "budget",
                payload_bytes <= max,
                format!("{size}; at most {} payload bytes", counted(max)),
            )
        }
    }
}

fn rate_finding(
    args: &VerifyArgs,
    input: &QueryInput,
    filter: &AnyFilter,
    keys: &TypedKeys,
) -> CoreResult<Finding> {
    let _progress = Progress::spinner(format!("asking {input}"));
    let queries = match input.workload(keys.clone(), args.seed) {
        Ok(workload) => workload.queries,
        // Some key sets have no such ranges; that is reported only to a user who asked for them.
        Err(error) if args.queries.is_none() => return Ok(Finding::not_checked("rate", error.to_string())),
        Err(error) => return Err(error),
    };
    let rate = measure_rate(filter, &keys.keys, &queries)?;
    Ok(Finding::new("rate", rate.holds(), format!("{input}: {}", rate_text(&rate))))
}

fn rate_text(rate: &Rate) -> String {
    let hits = format!("{} of {} ranges with a key denied", with_commas(rate.denied), with_commas(rate.hits));
    if rate.empty == 0 {
        return hits;
    }
    let beyond = if rate.measured() > rate.stated() { ", which chance allows" } else { "" };
    let hardly = if rate.measured() > HARDLY { "; the filter hardly answers such queries" } else { "" };
    let empty = format!(
        "{} of {} empty ranges answered maybe: {}, stated bound {}{}{hardly}",
        with_commas(rate.false_positives),
        with_commas(rate.empty),
        output::rate(rate.measured()),
        output::bound(rate.stated()),
        if rate.holds() { beyond } else { "" },
    );
    if rate.hits == 0 { empty } else { format!("{empty}; {hits}") }
}

fn print_report(args: &VerifyArgs, envelope: &Envelope, findings: &[Finding]) -> Result<()> {
    let name = args.filter.display();
    let family = lacuna_families::family(envelope.kind)?.kind.name();
    let about = format!("{name}: {family} over {}", key_space_name(envelope.key_space));
    let mut out = Output::new();
    out.line(&Finding::new("filter", true, about).line())?;
    findings.iter().try_for_each(|finding| out.line(&finding.line()))?;
    out.finish()
}

/// The failure of what does not hold.
fn judge(args: &VerifyArgs, findings: &[Finding]) -> Result<()> {
    let name = args.filter.display();
    let failed: Vec<&str> = findings.iter().filter_map(Finding::failed_subject).collect();
    if failed.is_empty() {
        return Ok(());
    }
    let keys = args.keys.name();
    let doubt = match failed.contains(&"keys") {
        true => format!("; is {keys} what it was built from?"),
        false => String::new(),
    };
    Err(Failure::DoesNotHold(format!("{name} does not hold what it promises: {}{doubt}", failed.join(", "))))
}
