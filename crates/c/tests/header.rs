//! The header is the one that the functions make. `GRADUS_WRITE_DOCUMENTS=1` writes it.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::path::Path;
use std::{env, fs};

#[test]
fn the_header_is_up_to_date() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let mut made = Vec::new();
    cbindgen::generate_with_config(folder, config).unwrap().write(&mut made);
    let made = String::from_utf8(made).unwrap();
    let path = folder.join("include/gradus.h");
    if env::var_os("GRADUS_WRITE_DOCUMENTS").is_some() {
        fs::write(&path, &made).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(found == made, "GRADUS_WRITE_DOCUMENTS=1 cargo test -p gradus-c --test header writes it anew");
}
