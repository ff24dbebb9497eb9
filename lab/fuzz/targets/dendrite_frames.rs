//! Input of a dendrite from any bytes: frames, messages and first words are read or refused, and a message that is read
//! is written back to the same.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| lacuna_cache::cluster::testing::look_at(bytes));
