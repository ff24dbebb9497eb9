//! The filter property of a RocksDB table is a sealed filter after a header.

use lacuna_base::Result;
use lacuna_rocksdb_property::Property;

/// First bytes of a sealed filter.
const MAGIC: &[u8] = b"LCNA";
/// Where they are in a property.
const IN_PROPERTY: std::ops::Range<usize> = 16..20;

/// The sealed filter in the property of a RocksDB table; all other bytes as they are, to be refused in the filter's words.
///
/// # Errors
/// `Unsupported` for a property that is newer than this code.
pub(crate) fn without_header(bytes: &[u8]) -> Result<&[u8]> {
    if bytes.starts_with(MAGIC) || bytes.get(IN_PROPERTY) != Some(MAGIC) {
        return Ok(bytes);
    }
    Property::parse(bytes).map(|property| property.sealed)
}
