//! Levels written file by file.
//!
//! Two databases can only be compared if they differ in their filters alone, and compactions of two runs give
//! different trees. So each level's files are written outside the database, with its collectors and compression, and
//! taken in from the last level up: RocksDB puts a file as deep as no other file overlaps it, which is its level.

use crate::engine::half_zero_value;
use lacuna_base::{ByteColumn, Result};
use lacuna_rocksdb::RangeFilters;
use lacuna_workload::Rng;
use rust_rocksdb::{DB, IngestExternalFileOptions, Options, SstFileWriter};
use std::path::{Path, PathBuf};

use crate::engine::rocksdb::database::failed;
use crate::engine::rocksdb::layout::Layout;

/// Values of a database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Values {
    pub(crate) bytes: usize,
    pub(crate) seed: u64,
}

/// Writes `levels`, uppermost first, into files in `folder`, and takes them into `db`.
pub(crate) fn write_levels(
    db: &DB,
    folder: &Path,
    layout: &Layout,
    lacuna: Option<&RangeFilters>,
    levels: &[ByteColumn],
    values: Values,
) -> Result<()> {
    let mut rng = Rng::new(values.seed);
    for (place, keys) in levels.iter().enumerate().rev() {
        let options = layout.options(lacuna, Some(place + 1));
        let files = write_files(folder, &options, layout.file_bytes, keys, values.bytes, &mut rng)?;
        if !files.is_empty() {
            let mut taking = IngestExternalFileOptions::default();
            taking.set_move_files(true);
            db.ingest_external_file_opts(&taking, files).map_err(failed)?;
        }
    }
    Ok(())
}

/// The sorted files of one level.
fn write_files(
    folder: &Path,
    options: &Options,
    file_bytes: u64,
    keys: &ByteColumn,
    value_bytes: usize,
    rng: &mut Rng,
) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut value = Vec::new();
    let mut keys = keys.iter().peekable();
    while keys.peek().is_some() {
        let path = folder.join(format!("level-{}.sst", files.len()));
        let mut writer = SstFileWriter::create(options);
        writer.open(&path).map_err(failed)?;
        let mut written = 0;
        while written < file_bytes
            && let Some(key) = keys.next()
        {
            half_zero_value(rng, value_bytes, &mut value);
            writer.put(key, &value).map_err(failed)?;
            written += (key.len() + value.len()) as u64;
        }
        writer.finish().map_err(failed)?;
        files.push(path);
    }
    Ok(files)
}
