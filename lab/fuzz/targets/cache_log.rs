//! The range cache's log from any bytes: read or refused, and what is read is written back to the same records.

#![no_main]

use lacuna_cache_protocol::{read_chunk, write_chunk};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(records) = read_chunk(bytes) else {
        return;
    };
    let mut written = Vec::new();
    write_chunk(&mut written, &records);
    assert_eq!(read_chunk(&written).expect("just written"), records);
});
