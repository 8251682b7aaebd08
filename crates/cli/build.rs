//! Names the build by the sources of all crates: findings that one build keeps are no other's.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// Crates that the command does not use.
const ABOVE: [&str; 3] = ["c", "python", "testkit"];

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    let mut hasher = DefaultHasher::new();
    // A published package is alone in its folder, and its version names the build.
    if Path::new("../core/src").is_dir() {
        let mut sources = vec![PathBuf::from("../../Cargo.lock")];
        let crates =
            entries(Path::new(".."))?.into_iter().filter(|it| !ABOVE.iter().any(|name| it.ends_with(name)));
        sources.extend(crates.map(|folder| folder.join("src")));
        for source in sources.iter().filter(|source| source.exists()) {
            println!("cargo::rerun-if-changed={}", source.display());
            hash(source, &mut hasher)?;
        }
    }
    println!("cargo::rustc-env=GRADUS_SOURCES={:016x}", hasher.finish());
    Ok(())
}

/// The content of a folder, sorted, so that two builds of the same sources have the same name.
fn entries(folder: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut entries =
        fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

fn hash(source: &Path, hasher: &mut DefaultHasher) -> std::io::Result<()> {
    if source.is_dir() {
        return entries(source)?.iter().try_for_each(|entry| hash(entry, hasher));
    }
    source.hash(hasher);
    fs::read(source)?.hash(hasher);
    Ok(())
}
