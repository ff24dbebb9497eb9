//! How a database is shaped.

use lacuna_rocksdb::RangeFilters;
use rust_rocksdb::{
    BlockBasedOptions, Cache, DBCompactionStyle, DBCompressionType, Options, UniversalCompactOptions,
};

/// Which files compactions make.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// `kCompactionStyleLevel`: one sorted run a level.
    Levelled,
    /// `kCompactionStyleUniversal` with `max_size_amplification_percent = 100 / (size_ratio - 1)`: up to `size_ratio`
    /// runs above one large last one, which is what lazy levelling has.
    Universal,
}

/// Levels, files and caches of a database.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Layout {
    /// Levels below level 0.
    pub levels: usize,
    /// How many times more keys each level holds than the one above.
    pub size_ratio: u64,
    /// About the bytes of a file, before compression.
    pub file_bytes: u64,
    /// Bytes of the block cache. Index blocks and filters of ours lie beside it, on the heap of each open table.
    pub cache_bytes: u64,
    /// Whether level 2 is compressed with LZ4, and levels from 3 on with ZSTD.
    pub compressed: bool,
    /// Bits per key of RocksDB's own Bloom filter, if it has one.
    pub bloom_bits: Option<f64>,
    /// Whether reads go past the page cache of the operating system, where the file system lets them.
    pub direct_reads: bool,
    /// Which files compactions make; `None` leaves the files as they are written.
    pub compactions: Option<Style>,
}

impl Layout {
    /// Three uncompressed levels of size ratio 10, files of 4 MiB, direct reads, no compactions.
    pub const PLAIN: Self = Self {
        levels: 3,
        size_ratio: 10,
        file_bytes: 4 << 20,
        cache_bytes: 8 << 20,
        compressed: false,
        bloom_bits: None,
        direct_reads: true,
        compactions: None,
    };

    /// The compression of a level.
    pub(crate) fn compression(&self, level: usize) -> DBCompressionType {
        match level {
            _ if !self.compressed => DBCompressionType::None,
            0 | 1 => DBCompressionType::None,
            2 => DBCompressionType::Lz4,
            _ => DBCompressionType::Zstd,
        }
    }

    /// Options of the database; `level` is the one that files are written for outside of it.
    pub(crate) fn options(&self, lacuna: Option<&RangeFilters>, level: Option<usize>) -> Options {
        let mut options = Options::default();
        options.create_if_missing(true);
        options.set_block_based_table_factory(&self.table());
        match level {
            Some(level) => options.set_compression_type(self.compression(level)),
            None => {
                let levels: Vec<_> = (0..=self.levels).map(|level| self.compression(level)).collect();
                options.set_compression_per_level(&levels);
            }
        }
        options.set_num_levels(i32::try_from(self.levels + 1).unwrap_or(7));
        options.set_level_compaction_dynamic_level_bytes(false);
        options.set_use_direct_reads(self.direct_reads);
        self.set_compactions(&mut options);
        if let Some(lacuna) = lacuna {
            lacuna.install(&mut options);
        }
        options
    }

    fn table(&self) -> BlockBasedOptions {
        let mut table = BlockBasedOptions::default();
        let cache = usize::try_from(self.cache_bytes).unwrap_or(usize::MAX);
        table.set_block_cache(&Cache::new_lru_cache(cache));
        if let Some(bits) = self.bloom_bits {
            table.set_bloom_filter(bits, false);
        }
        table
    }

    /// As in the paper of Proteus, the first level holds four files and memory one of their size; level 0 is emptied.
    fn set_compactions(&self, options: &mut Options) {
        options.set_target_file_size_base(self.file_bytes);
        options.set_write_buffer_size(usize::try_from(self.file_bytes).unwrap_or(usize::MAX));
        options.set_max_bytes_for_level_base(4 * self.file_bytes);
        options.set_max_bytes_for_level_multiplier(self.size_ratio as f64);
        options.set_max_background_jobs(2);
        // Until the levels are written.
        options.set_disable_auto_compactions(true);
        match self.compactions {
            None => {}
            Some(Style::Levelled) => options.set_level_zero_file_num_compaction_trigger(2),
            Some(Style::Universal) => {
                let ratio = i32::try_from(self.size_ratio).unwrap_or(10).max(2);
                let mut universal = UniversalCompactOptions::default();
                universal.set_max_size_amplification_percent(100 / (ratio - 1));
                options.set_compaction_style(DBCompactionStyle::Universal);
                options.set_universal_compaction_options(&universal);
                options.set_level_zero_file_num_compaction_trigger(ratio);
            }
        }
    }
}
