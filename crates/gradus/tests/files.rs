//! The files of a model's folder, where there are too many to map. This test is alone in its
//! process, as the count is the process's.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus::Kind;
use gradus::files::Folder;
use gradus::formats::Files;

#[test]
fn a_folder_maps_no_more_files_than_the_system_can() {
    let root = std::env::temp_dir().join(format!("gradus-maps-{}", std::process::id()));
    std::fs::create_dir(&root).unwrap();
    // One is mapped, one is read.
    for (name, len) in [("long", 20_000), ("short", 100)] {
        std::fs::File::create(root.join(name)).unwrap().set_len(len).unwrap();
    }
    let folder = Folder::of(&root.join("m.onnx"));
    // One file has many names.
    let open = |name: &str, i: usize| {
        folder.open(&format!("{}.{}{name}", "./".repeat(i % 200), "/".repeat(1 + i / 200)))
    };
    let refused = (0..40_000).find_map(|i| Some((i, open("long", i).err()?.kind())));
    assert_eq!(refused, Some((1 << 15, Kind::Limit)));
    assert!((0..100).all(|i| open("short", i).is_ok()));
    drop(folder);
    assert!(Folder::of(&root.join("m.onnx")).open("long").is_ok());
    std::fs::remove_dir_all(root).unwrap();
}
