//! Published packages hold all that their sources include.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::path::{Path, PathBuf};

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn sources_include_no_file_outside_their_package() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut seen = 0;
    for name in ["core", "kernels", "formats", "gpu", "gradus", "report", "cli"] {
        let mut files = Vec::new();
        sources(&crates.join(name).join("src"), &mut files);
        for file in files {
            let text = std::fs::read_to_string(&file).unwrap();
            let included = text.split("include_").skip(1).filter_map(|rest| rest.split_once("!(\""));
            for (macro_name, rest) in included {
                if !["str", "bytes"].contains(&macro_name) {
                    continue;
                }
                let path = rest.split('"').next().unwrap();
                let up = path.matches("../").count();
                let depth = file.strip_prefix(crates.join(name)).unwrap().components().count() - 1;
                assert!(up <= depth, "{}: {path} is outside the package", file.display());
                assert!(file.with_file_name("").join(path).is_file(), "{}: {path}", file.display());
                seen += 1;
            }
        }
    }
    assert!(seen > 3, "{seen} files are included");
}
