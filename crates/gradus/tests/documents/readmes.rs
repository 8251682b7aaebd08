//! The page of the project, and those of its packages: short, and with links that lead somewhere.

use std::path::{Path, PathBuf};

/// Words of the page of the project, as `wc -w` counts them.
const MAX_WORDS: usize = 900;

/// Where links of packages lead: registries show their pages without the files beside them.
pub(super) fn repository() -> String {
    let manifest = std::fs::read_to_string("../../Cargo.toml").unwrap();
    let line = manifest.lines().find_map(|line| line.strip_prefix("repository = ")).unwrap();
    format!("{}/blob/main/", line.trim_matches('"'))
}

#[test]
fn readmes_are_short_and_their_links_lead_somewhere() {
    let root = Path::new("../..");
    let mut pages = vec![root.join("README.md")];
    pages.extend(
        std::fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path().join("README.md")),
    );
    pages.retain(|page| page.exists());
    assert!(pages.len() > 10, "{pages:?}");
    let text = std::fs::read_to_string(&pages[0]).unwrap();
    assert!(text.split_whitespace().count() <= MAX_WORDS, "README.md has more than {MAX_WORDS} words");

    let repository = repository();
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        let targets = text.split("](").skip(1).map(|rest| rest.split(')').next().unwrap());
        for target in targets {
            let path: PathBuf = if let Some(path) = target.strip_prefix(&repository) {
                root.join(path)
            } else if target.starts_with("https://") {
                continue;
            } else {
                assert!(page == root.join("README.md"), "{}: {target} is not absolute", page.display());
                root.join(target)
            };
            assert!(path.exists(), "{}: {target} leads nowhere", page.display());
        }
    }
}
