//! What the demo stores: the machine's own files by time, or the keys of a file.

use std::path::Path;
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use lacuna_base::Error;
use lacuna_workload::{KeySource, Keys, ReadOptions};
use walkdir::WalkDir;

use crate::errors::Result;
use crate::output::counted;
use crate::progress::Progress;

/// Bytes of a value: what a small record of metadata takes.
const VALUE_BYTES: usize = 100;

/// A row of the store.
pub(super) type Row = (Bytes, Bytes);

/// Rows in key order, how their keys are read, and what they are.
#[derive(Debug)]
pub(super) struct Source {
    /// Rows in key order, keys distinct.
    pub(super) rows: Vec<Row>,
    /// The codec for them.
    pub(super) codec: &'static str,
    /// Bytes at the start of a key that hold its place in the order, as a big-endian integer.
    pub(super) place_at: usize,
    /// One sentence.
    pub(super) story: String,
}

impl Source {
    /// Bytes of all rows.
    pub(super) fn bytes(&self) -> u64 {
        self.rows.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum()
    }
}

/// Every file under `folder`: the key is its modification time in seconds and its path.
pub(super) fn files_under(folder: &Path) -> Result<Source> {
    let progress = Progress::spinner(format!("reading the times of files under {}", folder.display()));
    if !folder.is_dir() {
        let message =
            format!("`{}` is not a folder that can be read; give one that holds files", folder.display());
        return Err(Error::invalid_input(message).into());
    }
    let mut rows: Vec<Row> = WalkDir::new(folder)
        .same_file_system(true)
        .into_iter()
        .filter_map(|entry| row_of(&entry.ok()?))
        .collect();
    drop(progress);
    rows.sort_unstable();
    rows.dedup_by(|a, b| a.0 == b.0);
    let story = format!(
        "Every file under {} by the second it was last changed: {} rows.",
        folder.display(),
        counted(rows.len())
    );
    Ok(Source { rows, codec: "head:8", place_at: 0, story })
}

/// The row of a file; none for folders and for what cannot be looked at.
fn row_of(entry: &walkdir::DirEntry) -> Option<Row> {
    let metadata = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let changed = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
    let path = entry.path().as_os_str().as_encoded_bytes();
    let key = [&changed.as_secs().to_be_bytes()[..], path].concat();
    Some((key.into(), value(format!("{} bytes", metadata.len()).as_bytes())))
}

/// The keys of a file or generator.
pub(super) fn keys_of(source: &str, options: &ReadOptions, seed: u64) -> Result<Source> {
    let progress = Progress::spinner(format!("reading {source}"));
    let keys = KeySource::parse(source)?.load(options, seed, &mut |_| {})?;
    drop(progress);
    let story = format!("The keys of {source}: {} rows.", counted(keys.len()));
    let source = match &keys {
        Keys::U64(keys) => {
            let rows = keys.iter().map(|key| (Bytes::copy_from_slice(&key.to_be_bytes()), value(b"")));
            Source { rows: rows.collect(), codec: "fixed_be:8", place_at: 0, story }
        }
        Keys::Bytes(keys) => {
            let place_at = match (keys.is_empty(), keys.last()) {
                (false, Some(last)) => lacuna_base::Window::common_prefix_len(keys.get(0), last),
                _ => 0,
            };
            let rows = keys.iter().map(|key| (Bytes::copy_from_slice(key), value(b"")));
            Source { rows: rows.collect(), codec: "bytes", place_at, story }
        }
    };
    Ok(source)
}

/// A value of [`VALUE_BYTES`] that begins with `text`.
fn value(text: &[u8]) -> Bytes {
    let mut value = vec![b' '; VALUE_BYTES];
    let taken = text.len().min(VALUE_BYTES);
    value[..taken].copy_from_slice(&text[..taken]);
    value.into()
}
