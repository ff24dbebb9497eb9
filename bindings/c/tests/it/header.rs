//! The checked-in header is what the sources say.

use std::fs;
use std::path::Path;

#[test]
fn the_header_is_what_the_sources_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let bindings = cbindgen::generate_with_config(folder, config).unwrap();
    let mut written = Vec::new();
    bindings.write(&mut written);
    let header = folder.join("include/lacuna.h");
    if std::env::var_os("LACUNA_BLESS").is_some() {
        fs::write(&header, &written).unwrap();
    }
    let checked_in = fs::read(&header).unwrap_or_default();
    assert!(checked_in == written, "include/lacuna.h is out of date; bless it and review the change");
}
