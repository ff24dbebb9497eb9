//! `lacuna query`: one range from the arguments, or many from a file or a pipe.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use lacuna_workload::{KeyType, QueryLines, parse_query_file, parse_range};

use self::ask::{AnyAsker, BATCH, Ends};
use crate::asked_type::AskedType;
use crate::errors::{Failure, Result};
use crate::filter_file::{key_type_for, read_filter};
use crate::output::Output;

mod ask;

const EXAMPLES: &str = "\
Examples:
  lacuna query uniform.lacuna 1000 2000
  lacuna query words.lacuna apple apricot
  printf '17 29\\n5 5\\n' | lacuna query uniform.lacuna --batch -
  lacuna query temperatures.lacuna -1.5 20
  lacuna build --keys words.txt --filter surf --bits-per-key 60 \\
      --out trie.lacuna
  lacuna query trie.lacuna --count apple apricot
  lacuna query trie.lacuna --seek apple apricot
  printf 'a\\tm\\nn\\tz\\n' | lacuna query trie.lacuna --seek-last --batch -

One line an answer: `no` is always true, `maybe` means go and read.
Ranges include both ends. LO without HI asks for one key.

--count says how many keys the range holds: one number if that is
certain, else `MIN-MAX`, between which the truth always lies (at most 2
apart, unless the filter was cut to its budget). --seek says where the
first key of the range can be: `from KEY`, with no key of the range
before KEY. --seek-last looks from the other end: `through KEY`, or
`below KEY` if KEY itself is not there. Both say `no` if the range holds
no key. Bytes that are not text are shown as `\\xff`.

The file names the type of its keys, and keys of another type are
refused; only a filter from a program that named none needs --key-type.
Of moments, a bare day is its start as LO and its end as HI. Write `--`
before a LO that starts with a dash and is no number.

A batch holds one `LO HI`, or one key, a line, with blanks, a tab or a
comma between; text keys need the tab. Blank lines are left out, but an
empty line of text or hex keys asks for the empty string, as in a file
of keys. A file may be .gz. Answers to a pipe come 1,024 at a time. With
--exit-code a script needs no output: 0 if any answer is not `no`, 1 if
every one is.";

/// Ask a filter whether a range can hold a key
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct QueryArgs {
    /// A filter written by `lacuna build`
    #[arg(value_name = "F")]
    filter: PathBuf,

    /// Smallest key of the range
    #[arg(value_name = "LO", required_unless_present = "batch", allow_negative_numbers = true)]
    lo: Option<OsString>,

    /// Largest key of the range [default: LO]
    #[arg(value_name = "HI", allow_negative_numbers = true)]
    hi: Option<OsString>,

    /// A file of ranges, or - for standard input
    #[arg(long, value_name = "FILE", conflicts_with_all = ["lo", "hi"])]
    batch: Option<PathBuf>,

    /// Count the keys of the range, without reading any (surf)
    #[arg(long, group = "question")]
    count: bool,

    /// Name the smallest place in the range where a key can be (surf)
    #[arg(long, group = "question")]
    seek: bool,

    /// Name the largest place in the range where a key can be (surf)
    #[arg(long, group = "question")]
    seek_last: bool,

    /// Exit with 1 if every answer is `no`, as grep does
    #[arg(long)]
    exit_code: bool,

    /// How the keys are written, if the filter does not say: u64, i64, f64, date, timestamp-s, -ms or -us, text or hex
    #[arg(long, value_name = "T")]
    key_type: Option<AskedType>,
}

/// Exit code with --exit-code when every answer is `no`.
const ALL_NO: u8 = 1;

/// The question put to each range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Question {
    MayContain,
    Count,
    SeekFirst,
    SeekLast,
}

impl QueryArgs {
    fn question(&self) -> Question {
        match (self.count, self.seek, self.seek_last) {
            (true, _, _) => Question::Count,
            (_, true, _) => Question::SeekFirst,
            (_, _, true) => Question::SeekLast,
            _ => Question::MayContain,
        }
    }
}

/// Prints an answer for each range.
pub(super) fn run(args: &QueryArgs) -> Result<()> {
    let (envelope, bytes) = read_filter(&args.filter)?;
    let asker = AnyAsker::open(envelope.key_space, bytes, args.question())
        .map_err(|error| error.with_context(args.filter.display().to_string()))?;
    let key_type = key_type_for(&envelope, args.key_type)?;
    let out = Output::new();
    let mut out = if args.exit_code { out.without_need_of_a_reader() } else { out };
    let any_maybe = match (&args.lo, &args.hi, &args.batch) {
        (Some(lo), hi, _) => {
            let hi = hi.as_ref().unwrap_or(lo);
            let ends = parse_range(key_type, lo.as_encoded_bytes(), hi.as_encoded_bytes())?;
            asker.answer_ends(&[ends], key_type, &mut out)?
        }
        (_, _, Some(batch)) if batch == Path::new("-") => answer_stream(&asker, key_type, &mut out)?,
        (_, _, Some(batch)) => {
            asker.answer_queries(&parse_query_file(batch, key_type)?, key_type, &mut out)?
        }
        _ => unreachable!("the arguments require LO or a batch"),
    };
    out.finish()?;
    if args.exit_code && !any_maybe { Err(Failure::Exit(ALL_NO)) } else { Ok(()) }
}

/// Answers standard input as it comes; the answers before a wrong line are printed. Gives whether any was not `no`.
fn answer_stream(asker: &AnyAsker, key_type: KeyType, out: &mut Output) -> Result<bool> {
    let mut lines = QueryLines::new(io::stdin().lock(), key_type);
    let mut any_maybe = false;
    loop {
        let mut wrong = None;
        let good =
            lines.by_ref().take(BATCH).map_while(|line| line.map_err(|error| wrong = Some(error)).ok());
        let batch: Vec<Ends<'_>> = good.map(|line| (line.low, line.high)).collect();
        any_maybe |= asker.answer_ends(&batch, key_type, out)?;
        out.flush()?;
        match wrong {
            Some(error) => return Err(error.with_context("standard input").into()),
            None if batch.len() < BATCH => return Ok(any_maybe),
            None => {}
        }
    }
}
