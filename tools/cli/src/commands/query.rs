//! `lacuna query`: one range from the arguments, or many from a file or a pipe.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use lacuna_core::{ByteRange, DynFilter, Error, KeyRange, KeySpace, Result as CoreResult, U64Range};
use lacuna_filters::AnyFilter;
use lacuna_workload::{Key, KeyType, Queries, QueryLines, parse_query_file};

use crate::errors::Result;
use crate::filter_file::{key_type_for, open_filter};
use crate::output::Output;

/// Ranges asked in one call, so that their cache misses overlap.
const BATCH: usize = 1024;

const EXAMPLES: &str = "\
Examples:
  lacuna query uniform.lacuna 1000 2000
  lacuna query words.lacuna apple apricot
  printf '17 29\\n5 5\\n' | lacuna query uniform.lacuna --batch -
  lacuna query temperatures.lacuna --key-type f64 -- -1.5 20

One line an answer: `no` is always true, `maybe` means go and read. Ranges include both ends.
The file only knows integers from byte strings: keys that were built as f64, date or hex need the same
--key-type here. Write `--` before a LO that starts with a dash.
A batch holds one `LO HI` a line, text keys with a tab between; a file may be .gz. Answers to a pipe
come 1,024 at a time.";

/// Ask a filter whether a range can hold a key
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct QueryArgs {
    /// A filter written by `lacuna build`
    #[arg(value_name = "F")]
    filter: PathBuf,

    /// Smallest key of the range
    #[arg(
        value_name = "LO",
        required_unless_present = "batch",
        requires = "hi",
        allow_negative_numbers = true
    )]
    lo: Option<OsString>,

    /// Largest key of the range
    #[arg(value_name = "HI", allow_negative_numbers = true)]
    hi: Option<OsString>,

    /// A file of ranges, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["lo", "hi"])]
    batch: Option<PathBuf>,

    /// How the keys are written: u64, f64, date, text or hex [default: u64 or text, as the filter has it]
    #[arg(long, value_name = "T")]
    key_type: Option<KeyType>,
}

/// Prints an answer for each range.
pub(super) fn run(args: &QueryArgs) -> Result<()> {
    let (envelope, filter) = open_filter(&args.filter)?;
    let key_type = key_type_for(envelope.key_space, args.key_type)?;
    let mut out = Output::new();
    match (&args.lo, &args.hi, &args.batch) {
        (Some(lo), Some(hi), _) => {
            let ends = ends(lo.as_encoded_bytes(), hi.as_encoded_bytes(), key_type)?;
            answer_ends(&filter, &[ends], &mut out)?;
        }
        (_, _, Some(batch)) if batch == Path::new("-") => answer_stream(&filter, key_type, &mut out)?,
        (_, _, Some(batch)) => answer_queries(&filter, &parse_query_file(batch, key_type)?, &mut out)?,
        _ => unreachable!("the arguments require LO and HI, or a batch"),
    }
    out.finish()
}

/// Both ends of a range.
type Ends<'a> = (Key<'a>, Key<'a>);

fn ends<'a>(low: &'a [u8], high: &'a [u8], key_type: KeyType) -> CoreResult<Ends<'a>> {
    let ends = (key_type.parse_key(low)?, key_type.parse_key(high)?);
    if ends.0 <= ends.1 {
        return Ok(ends);
    }
    let (low, high) = (String::from_utf8_lossy(low), String::from_utf8_lossy(high));
    Err(Error::invalid_input(format!("the range runs backwards; give {high} before {low}")))
}

/// Answers standard input as it comes; the answers before a wrong line are printed.
fn answer_stream(filter: &AnyFilter, key_type: KeyType, out: &mut Output) -> Result<()> {
    let mut lines = QueryLines::new(io::stdin().lock(), key_type);
    loop {
        let mut wrong = None;
        let good =
            lines.by_ref().take(BATCH).map_while(|line| line.map_err(|error| wrong = Some(error)).ok());
        let batch: Vec<Ends<'_>> = good.map(|line| (line.low, line.high)).collect();
        answer_ends(filter, &batch, out)?;
        out.flush()?;
        match wrong {
            Some(error) => return Err(error.with_context("standard input").into()),
            None if batch.len() < BATCH => return Ok(()),
            None => {}
        }
    }
}

fn answer_ends(filter: &AnyFilter, ends: &[Ends<'_>], out: &mut Output) -> Result<()> {
    match filter {
        AnyFilter::U64(filter) => print_answers::<u64>(&**filter, ends.iter().map(integer_range), out),
        AnyFilter::Bytes(filter) => print_answers::<[u8]>(&**filter, ends.iter().map(byte_range), out),
    }
}

fn integer_range((low, high): &Ends<'_>) -> Option<U64Range> {
    match (low, high) {
        (Key::U64(low), Key::U64(high)) => U64Range::new(*low, *high),
        _ => None,
    }
}

fn byte_range<'a>((low, high): &'a Ends<'_>) -> Option<ByteRange<'a>> {
    match (low, high) {
        (Key::Bytes(low), Key::Bytes(high)) => ByteRange::new(low, high),
        _ => None,
    }
}

fn answer_queries(filter: &AnyFilter, queries: &Queries, out: &mut Output) -> Result<()> {
    match (filter, queries) {
        (AnyFilter::U64(filter), Queries::U64(ranges)) => {
            let ranges = ranges.iter().map(|&(low, high)| U64Range::new(low, high));
            print_answers::<u64>(&**filter, ranges, out)
        }
        (AnyFilter::Bytes(filter), Queries::Bytes(ranges)) => {
            let ranges = ranges.iter().map(|(low, high)| ByteRange::new(low, high));
            print_answers::<[u8]>(&**filter, ranges, out)
        }
        _ => unreachable!("the key type was chosen by the filter's key space"),
    }
}

fn print_answers<'a, K: KeySpace + ?Sized>(
    filter: &DynFilter<K>,
    ranges: impl Iterator<Item = Option<KeyRange<'a, K>>>,
    out: &mut Output,
) -> Result<()> {
    let mut ranges =
        ranges.map(|range| range.expect("kind and order of the ends were checked when they were read"));
    let mut answers = [false; BATCH];
    loop {
        let batch: Vec<KeyRange<'a, K>> = ranges.by_ref().take(BATCH).collect();
        if batch.is_empty() {
            return Ok(());
        }
        filter.may_contain_ranges(&batch, &mut answers[..batch.len()]);
        for &answer in &answers[..batch.len()] {
            out.line(if answer { "maybe" } else { "no" })?;
        }
    }
}
