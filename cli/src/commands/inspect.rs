//! `lacuna inspect`: what a sealed filter says about itself, with every byte checked.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use lacuna_base::{
    AlignedBytes, ENVELOPE_BYTES, ENVELOPE_VERSION, Envelope, Error, KeySpaceId, KeyType, RangeFilter as _,
    TimeUnit,
};
use lacuna_families::AnyFilter;
use serde::Serialize;

use crate::errors::Result;
use crate::filter_file::{cut_trie, key_space_name, read_filter};
use crate::key_text::integer_text;
use crate::output::{self, Output, SHOWN_LENGTHS, with_commas};

const EXAMPLES: &str = "\
Examples:
  lacuna inspect uniform.lacuna
  lacuna inspect uniform.lacuna --format json

Both checksums are verified; a damaged file is refused. Smallest and
largest key of byte strings are the integers that stand for them. JSON
has the integer that stands for a key of another type, as for u64.";

/// Show what a filter is, how large it is and what it promises
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct InspectArgs {
    /// A filter written by `lacuna build`
    #[arg(value_name = "F")]
    filter: PathBuf,

    /// How to print it
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// How the inspection is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Aligned columns for people
    Table,
    /// One JSON object on a line
    Json,
}

/// Everything that is known without the keys.
#[derive(Debug, Serialize)]
struct Inspection {
    file: String,
    family: &'static str,
    kind: u16,
    envelope_version: u8,
    payload_version: u16,
    key_space: &'static str,
    key_type: &'static str,
    time_unit: Option<&'static str>,
    codec: u16,
    codec_parameter: u64,
    key_count: u64,
    smallest: Option<u64>,
    largest: Option<u64>,
    payload_bytes: usize,
    sealed_bytes: usize,
    memory_bytes: usize,
    bits_per_key: Option<f64>,
    rate_bound_1: f64,
    rate_bound_32: f64,
    rate_bound_1024: f64,
    verified: bool,
}

/// Prints the inspection.
pub(super) fn run(args: &InspectArgs) -> Result<()> {
    // Read once: it may be a pipe.
    let (envelope, bytes) = read_filter(&args.filter)?;
    let (inspection, key_type) = inspect(&args.filter, &envelope, bytes.clone())?;
    let mut out = Output::new();
    match args.format {
        Format::Table => {
            let cut = cut_trie(envelope.key_space, bytes).map(|cut| ("trie", cut.to_owned()));
            let pairs: Vec<_> = pairs(&inspection, key_type).into_iter().chain(cut).collect();
            out.pairs(&pairs)?;
        }
        Format::Json => out.line(&serde_json::to_string(&inspection).map_err(unwritable)?)?,
    }
    out.finish()
}

fn inspect(path: &Path, envelope: &Envelope, bytes: AlignedBytes) -> Result<(Inspection, KeyType)> {
    let filter =
        AnyFilter::open_verified(bytes).map_err(|error| error.with_context(path.display().to_string()))?.1;
    let (sealed_bytes, memory_bytes, bounds) = match &filter {
        AnyFilter::U64(filter) => {
            (filter.size_in_bytes(), filter.memory_bytes(), bounds(|n| filter.rate_bound(n)))
        }
        AnyFilter::Bytes(filter) => {
            (filter.size_in_bytes(), filter.memory_bytes(), bounds(|n| filter.rate_bound(n)))
        }
    };
    let key_count = envelope.key_count;
    let payload_bytes = sealed_bytes - ENVELOPE_BYTES;
    let any = key_count > 0;
    let inspection = Inspection {
        file: path.display().to_string(),
        family: lacuna_families::family(envelope.kind)?.kind.name(),
        kind: envelope.kind.0,
        envelope_version: ENVELOPE_VERSION,
        payload_version: envelope.payload_version,
        key_space: key_space_text(envelope.key_space),
        key_type: envelope.key_type.name(),
        time_unit: envelope.key_type.time_unit().map(TimeUnit::name),
        codec: envelope.codec.number,
        codec_parameter: envelope.codec.parameter,
        key_count,
        smallest: any.then_some(envelope.smallest),
        largest: any.then_some(envelope.largest),
        payload_bytes,
        sealed_bytes,
        memory_bytes,
        bits_per_key: any.then(|| payload_bytes as f64 * 8.0 / key_count as f64),
        rate_bound_1: bounds[0],
        rate_bound_32: bounds[1],
        rate_bound_1024: bounds[2],
        verified: true,
    };
    Ok((inspection, envelope.key_type))
}

fn bounds(rate_bound: impl Fn(u64) -> f64) -> [f64; 3] {
    SHOWN_LENGTHS.map(rate_bound)
}

fn key_space_text(key_space: KeySpaceId) -> &'static str {
    match key_space {
        KeySpaceId::U64 => "u64",
        KeySpaceId::Bytes => "bytes",
    }
}

fn pairs(found: &Inspection, key_type: KeyType) -> Vec<(&'static str, String)> {
    let end = |key: Option<u64>| match key {
        Some(key) if found.key_space == "bytes" => format!("{key:#018x} after the common prefix"),
        Some(key) => integer_text(key, key_type),
        None => "none".to_owned(),
    };
    let bounds = [found.rate_bound_1, found.rate_bound_32, found.rate_bound_1024];
    let bytes = |count: usize| format!("{} bytes", output::counted(count));
    let bits_per_key = found.bits_per_key.map_or("none".to_owned(), |bits| format!("{bits:.2}"));
    vec![
        ("file", found.file.clone()),
        (
            "family",
            format!("{} (kind {}), payload version {}", found.family, found.kind, found.payload_version),
        ),
        ("envelope", format!("version {}, {ENVELOPE_BYTES} bytes", found.envelope_version)),
        ("keys", format!("{} {}", with_commas(found.key_count), keys_text(found.key_space))),
        ("key type", key_type.to_string()),
        ("codec", format!("{}, parameter {}", found.codec, found.codec_parameter)),
        ("smallest", end(found.smallest)),
        ("largest", end(found.largest)),
        ("payload", format!("{}, {bits_per_key} bits per key", bytes(found.payload_bytes))),
        ("sealed", bytes(found.sealed_bytes)),
        ("memory", bytes(found.memory_bytes)),
        ("rate bound", output::rate_bounds(&SHOWN_LENGTHS, &bounds)),
        ("checksums", "verified".to_owned()),
    ]
}

fn keys_text(key_space: &str) -> &'static str {
    if key_space == "bytes" { key_space_name(KeySpaceId::Bytes) } else { key_space_name(KeySpaceId::U64) }
}

fn unwritable(error: serde_json::Error) -> Error {
    Error::unavailable(format!("the JSON cannot be written: {error}")).with_source(error)
}
