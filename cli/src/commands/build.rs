//! `lacuna build`: keys in, one sealed filter out, and what was designed.

use std::io::{self, IsTerminal as _};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use lacuna_base::{
    Budget, BuildPlan, DynSpec, ENVELOPE_BYTES, Envelope, Error, Result as CoreResult, Sealed, Secret,
    SortedKeys,
};
use lacuna_families::internal::{HARDLY, judged_by};
use lacuna_families::{AutoSpec, DesignKey};
use lacuna_workload::{Kept, KeyType, Keys, Queries, QueryInput, TypedKeys, Want};

use crate::arguments::{KeyArgs, bits_per_key, byte_sample, integer_sample, spare_queries};
use crate::errors::Result;
use crate::filter_file::cut_trie;
use crate::output::{self, Output, SHOWN_LENGTHS, counted};
use crate::pending_file::PendingFile;
use crate::progress::Progress;
use crate::secret_file::SecretArgs;

const EXAMPLES: &str = "\
Examples:
  lacuna build --keys uniform:100k --filter grafite --bits-per-key 14 \\
      --out uniform.lacuna
  lacuna build --keys words.txt --filter bucketing --bits-per-key 12 \\
      --out words.lacuna
  lacuna build --keys uniform:100k --filter auto --bits-per-key 12 \\
      --sample correlated:10k:1-32:32 --measure --out designed.lacuna
  sort words.txt | lacuna build --keys - --filter grafite \\
      --bits-per-key 14 --out piped.lacuna
  lacuna build --keys temperatures.txt --key-type f64 --sort \\
      --filter bloom:k=7 --bits-per-key 10 --out temperatures.lacuna

The budget covers the payload: at most B bits for each distinct key, and
64 bytes. F names the type of its keys. It is written beside its name
and renamed: it is there whole or not at all.";

/// Build a filter over a set of keys
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    keys: KeyArgs,

    #[arg(long, value_name = "SPEC", help = format!("The family, with parameters if any, such as {}", examples()))]
    filter: String,

    /// Space for the filter in bits per distinct key, above 0 and at most 128
    #[arg(long, value_name = "B", allow_negative_numbers = true, value_parser = bits_per_key)]
    bits_per_key: f64,

    /// Empty queries to design for, such as correlated:10k:1-32:32 or `file:PATH`; families without a choice ignore them.
    /// Where the keys leave room for fewer, those are taken
    #[arg(long, value_name = "Q")]
    sample: Option<String>,

    /// With auto: also build every candidate and count its rate on the sample
    #[arg(long)]
    measure: bool,

    /// Seed of the hashes, of generated keys and of the sample
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,

    /// Threads that build ribbon, grafite and bucketing over many keys; other families take one. The bytes do not depend on it
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..))]
    threads: u16,

    #[command(flatten)]
    secret: SecretArgs,

    /// The file to write, or - for standard output, which then holds nothing else
    #[arg(long, value_name = "F")]
    out: PathBuf,
}

/// A spec of every family, for the help.
fn examples() -> String {
    let examples: Vec<&str> = lacuna_families::FAMILIES.iter().map(|family| family.example).collect();
    format!("auto, auto:price=20000, {}", examples.join(", "))
}

/// A filter just built, with what is said about it.
struct Built {
    sealed: Sealed,
    key_type: KeyType,
    spec: String,
    /// What is to be said of a sample that is smaller than was asked for.
    sample: Option<String>,
    /// The candidates that `auto` chose among.
    design: Option<String>,
    rate_bounds: [f64; 3],
    /// The predicted rate, where it is over one half.
    warning: Option<String>,
}

/// Builds the filter and prints its design.
pub(super) fn run(args: &BuildArgs) -> Result<()> {
    let budget = Budget::bits_per_key(args.bits_per_key)?;
    // The text names the same families in both key spaces; a wrong name is reported before the keys are read.
    lacuna_families::spec::<u64>(&args.filter)?;
    let secret = args.secret.load(&[&args.filter])?;
    if args.out == Path::new("-") {
        return write_to_output(args, budget, secret);
    }
    spare_inputs(args)?;
    let file = PendingFile::create(&args.out)?;
    let keys = args.keys.load(args.seed)?;
    let key_count = keys.keys.len();
    let built = build(args, budget, secret, keys)?;
    file.commit(built.sealed.as_bytes())?;
    print_design(args, key_count, &built)
}

/// Makes sure that writing the filter does not destroy what it is built from.
fn spare_inputs(args: &BuildArgs) -> CoreResult<()> {
    args.keys.spare(&args.out, "--out")?;
    args.secret.spare(&args.out, "--out")?;
    match args.sample.as_deref() {
        Some(sample) => spare_queries(&QueryInput::parse(sample)?, &args.out, "--out"),
        None => Ok(()),
    }
}

/// Writes the filter to standard output.
fn write_to_output(args: &BuildArgs, budget: Budget, secret: Option<Secret>) -> Result<()> {
    if io::stdout().is_terminal() {
        let message = "a filter is no text for a terminal; send it to a file or a pipe, or give --out a name";
        return Err(Error::invalid_input(message).into());
    }
    let built = build(args, budget, secret, args.keys.load(args.seed)?)?;
    let mut out = Output::new();
    out.bytes(built.sealed.as_bytes())?;
    out.finish()
}

/// The plan with what the command line says beside budget and sample.
fn completed<K: DesignKey + ?Sized>(
    args: &BuildArgs,
    plan: BuildPlan<K>,
    key_type: KeyType,
    secret: Option<Secret>,
) -> BuildPlan<K> {
    let threads = NonZeroUsize::new(usize::from(args.threads)).unwrap_or(NonZeroUsize::MIN);
    plan.with_seed(args.seed).with_key_type(key_type).with_secret(secret).with_threads(threads)
}

fn build(args: &BuildArgs, budget: Budget, secret: Option<Secret>, keys: TypedKeys) -> CoreResult<Built> {
    let key_type = keys.key_type;
    let (keys, queries, sample) = sample_queries(args, keys)?;
    let _progress = Progress::spinner(format!("building {} over {} keys", args.filter, counted(keys.len())));
    let built = match &keys {
        Keys::U64(keys) => {
            let plan = BuildPlan::new(budget).with_sample(Arc::new(integer_sample(&queries)));
            let plan = completed(args, plan, key_type, secret);
            seal(args, &*lacuna_families::spec::<u64>(&args.filter)?, keys, plan)
        }
        Keys::Bytes(keys) => {
            let plan = BuildPlan::new(budget).with_sample(Arc::new(byte_sample(&queries)));
            let plan = completed(args, plan, key_type, secret);
            seal(args, &*lacuna_families::spec::<[u8]>(&args.filter)?, keys, plan)
        }
    }?;
    Ok(Built { sample, ..built })
}

fn seal<K: DesignKey + ?Sized>(
    args: &BuildArgs,
    spec: &dyn DynSpec<K>,
    column: &K::Column,
    plan: BuildPlan<K>,
) -> CoreResult<Built> {
    let keys = SortedKeys::try_new(column)?;
    let design = args.filter.parse::<AutoSpec>().ok().map(|auto| auto.design(keys, &plan)).transpose()?;
    let sealed = match &design {
        Some(design) => design.build()?,
        None => spec.build(keys, &plan)?,
    };
    let filter = lacuna_families::open::<K, _>(sealed.clone())?;
    Ok(Built {
        sealed,
        key_type: plan.key_type(),
        spec: spec.name(),
        sample: None,
        design: design.map(|design| design_table(&design, args.measure)).transpose()?,
        rate_bounds: SHOWN_LENGTHS.map(|length| filter.rate_bound(length)),
        warning: warning(args, keys, &plan),
    })
}

/// What is to be said of a filter that would answer "maybe" to most queries without a key.
fn warning<K: DesignKey + ?Sized>(
    args: &BuildArgs,
    keys: SortedKeys<'_, K>,
    plan: &BuildPlan<K>,
) -> Option<String> {
    let (plan, about) = judged_by(keys, plan.clone());
    let predicted = lacuna_families::predict::<K>(&args.filter, keys, &plan).ok()?;
    (predicted.rate > HARDLY).then(|| {
        format!(
            "hardly answers {about}: `maybe` to {:.0} % of those without a key; bench filters compares others",
            predicted.rate * 100.0
        )
    })
}

/// The candidates of a design, and with `measured` what each of them turned out to be.
fn design_table<K: DesignKey + ?Sized>(
    design: &lacuna_families::Design<'_, K>,
    measured: bool,
) -> CoreResult<String> {
    let mut table = design.to_string();
    if measured {
        for (candidate, measured) in design.candidates().iter().zip(design.measure()?) {
            let found = measured.map_or("does not fit".to_owned(), |found| {
                format!("rate {:.6}, payload {} bytes", found.rate, counted(found.payload_bytes))
            });
            table.push_str(&format!("measured {}: {found}\n", candidate.spec));
        }
    }
    Ok(table)
}

/// The keys as they were, the sample drawn between them, if one is asked for, and what is to be said of it.
fn sample_queries(args: &BuildArgs, keys: TypedKeys) -> CoreResult<(Keys, Queries, Option<String>)> {
    let Some(text) = &args.sample else { return Ok((keys.keys, Queries::U64(Vec::new()), None)) };
    let input = QueryInput::parse(text)?;
    let QueryInput::Drawn(source) = &input else {
        let workload = input.workload(keys, args.seed)?;
        return Ok((workload.inserted, workload.queries, None));
    };
    if source.kept != Kept::All || source.want != Want::Empty {
        return Err(Error::invalid_input(format!(
            "the sample `{text}` is not of empty queries between all keys; give points, uniform, correlated, split or a file"
        )));
    }
    let workload = source.workload_of_found(keys.keys, args.seed)?;
    let shortage = shortage(source.count, workload.queries.len());
    Ok((workload.inserted, workload.queries, shortage))
}

/// What is to be said where fewer queries were `found` than were `asked` for.
fn shortage(asked: usize, found: usize) -> Option<String> {
    let used = if found == 0 { "the filter is built as without a sample" } else { "they are the sample" };
    (found < asked).then(|| {
        let (found, asked) = (counted(found), counted(asked));
        format!("only {found} of {asked} empty queries were found between these keys; {used}")
    })
}

fn print_design(args: &BuildArgs, key_count: usize, built: &Built) -> Result<()> {
    let (payload_bytes, sealed_bytes) = (built.sealed.payload().len(), built.sealed.as_bytes().len());
    let mut out = Output::new();
    let mut pairs = vec![
        ("filter", built.spec.clone()),
        ("keys", format!("{} distinct keys of {}", counted(key_count), args.keys.name())),
        ("key type", built.key_type.to_string()),
        (
            "bits per key",
            format!("{} asked, {} got", args.bits_per_key, output::bits_per_key(payload_bytes, key_count)),
        ),
        (
            "sealed",
            format!(
                "{} bytes: payload {}, envelope {ENVELOPE_BYTES}",
                counted(sealed_bytes),
                counted(payload_bytes)
            ),
        ),
        ("rate bound", output::rate_bounds(&SHOWN_LENGTHS, &built.rate_bounds)),
        ("written to", args.out.display().to_string()),
    ];
    let cut = Envelope::open(built.sealed.as_bytes())
        .ok()
        .and_then(|(envelope, _)| cut_trie(envelope.key_space, built.sealed.clone().into_bytes()));
    pairs.extend(cut.map(|cut| ("trie", cut.to_owned())));
    pairs.extend(built.sample.clone().map(|sample| ("sample", sample)));
    pairs.extend(built.warning.clone().map(|warning| ("warning", warning)));
    out.pairs(&pairs)?;
    if let Some(design) = &built.design {
        out.line("")?;
        out.text(design)?;
    }
    out.finish()
}
