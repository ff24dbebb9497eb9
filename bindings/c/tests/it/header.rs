//! The checked-in header is what the sources say.

use std::fs;
use std::path::Path;

/// The version as macros, which cbindgen has no words for.
fn version_macros() -> String {
    let version = env!("CARGO_PKG_VERSION");
    let mut numbers = version.split('.');
    let macros = ["MAJOR", "MINOR", "PATCH"].map(|part| {
        let number = numbers.next().expect("three numbers");
        format!("#define LACUNA_VERSION_{part} {number}\n")
    });
    format!(
        "\n// The version of this header; `lacuna_version` gives that of the library. Until 1.0 the SONAME changes with\n\
         // LACUNA_VERSION_MINOR, and a program needs a library of the same.\n{}#define LACUNA_VERSION \"{version}\"",
        macros.concat()
    )
}

#[test]
fn the_header_is_what_the_sources_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    config.after_includes = Some(version_macros());
    let bindings = cbindgen::generate_with_config(folder, config).unwrap();
    let mut written = Vec::new();
    bindings.write(&mut written);
    let header = folder.join("include/lacuna.h");
    if std::env::var_os("LACUNA_BLESS").is_some() {
        fs::write(&header, &written).unwrap();
    }
    let checked_in = fs::read(&header).unwrap_or_default();
    assert!(
        checked_in == written,
        "include/lacuna.h is out of date: run `LACUNA_BLESS=1 cargo test -p lacuna-c --test it header`, and review the change"
    );
}
