//! Models in folders.

use std::path::{Path, PathBuf};

/// Files of these endings in a folder and the folders within, in order.
pub fn models(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(models(&path, endings));
        } else if path.extension().is_some_and(|ending| endings.iter().any(|own| ending == *own)) {
            found.push(path);
        }
    }
    found.sort();
    found
}
