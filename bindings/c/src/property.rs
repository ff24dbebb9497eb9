//! The filter property of a RocksDB table is a sealed filter after a header.

use lacuna_rocksdb_property::Property;

/// First bytes of a sealed filter.
const MAGIC: &[u8] = b"LCNA";

/// The sealed filter in the property of a RocksDB table; all other bytes as they are, to be refused in the filter's words.
pub(crate) fn without_header(bytes: &[u8]) -> &[u8] {
    if bytes.starts_with(MAGIC) {
        return bytes;
    }
    match Property::parse(bytes) {
        Ok(property) if property.sealed.starts_with(MAGIC) => property.sealed,
        _ => bytes,
    }
}
