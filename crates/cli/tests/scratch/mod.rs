//! Folders for what commands write.

use std::path::{Path, PathBuf};

/// A folder that is removed when dropped.
pub struct Scratch(PathBuf);

impl Scratch {
    /// An empty folder of that name, which no other test has.
    pub fn new(name: &str) -> Scratch {
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Scratch(path)
    }

    #[allow(dead_code, reason = "not every test file asks for it")]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// The path of a file in it, as it is typed.
    #[allow(dead_code, reason = "not every test file types paths")]
    pub fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }

    /// Returns the output, with `OUT` for the folder.
    #[allow(dead_code, reason = "not every test file looks at what is printed")]
    pub fn without(&self, printed: Vec<u8>) -> String {
        String::from_utf8(printed).unwrap().replace(self.0.to_str().unwrap(), "OUT")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
