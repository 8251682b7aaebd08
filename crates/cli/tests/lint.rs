//! `gradus lint` as it is typed, with what it prints and its exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use common::{folder, gradus, misused, prints, scratch};
use sha2::{Digest, Sha256};
use snapbox::str;

/// The examples, without options of files around them.
fn lint(folder: &Path, arguments: &[&str]) -> snapbox::cmd::Command {
    gradus(&[&["lint"], arguments].concat()).current_dir(folder)
}

#[test]
fn findings_are_told_by_rule() {
    prints(
        &["lint", "examples/heads.onnx"],
        str![[r#"
GR203 note duplicate-node: a node that computes what another does
  node "shape_1" (Shape): computes what node "shape_0" computes
  node "shape_2" (Shape): computes what node "shape_0" computes
GR204 note foldable-nodes: nodes that folding removes without changing a bit
  the model: 12 of 14 nodes can be folded
3 notes

"#]],
    );
    gradus(&["lint", "examples/baked.onnx", "examples/range_const.xml"])
        .assert()
        .code(1)
        .stderr_eq(str![[r#"
2 models, 1 failed

"#]])
        .stdout_eq(str![[r#"
examples/baked.onnx
  GR102 warning single-size: a named size for which the model runs with one number alone
    node "view" (Reshape): the model runs only if batch == 1
  1 warning
examples/range_const.xml
  GR204 note foldable-nodes: nodes that folding removes without changing a bit
    the model: 1 of 1 nodes can be folded
  1 note

"#]]);
    prints(
        &["lint", "examples/baked.onnx", "--fail-on", "error", "--json"],
        str![[r#"
{"model":"examples/baked.onnx","findings":[{"code":"GR102","rule":"single-size","severity":"warning","place":"node /"view/" (Reshape)","message":"the model runs only if batch == 1"}],"unasked":[],"known":0}

"#]],
    );
    prints(
        &["lint", "examples/baked.onnx", "--fail-on", "never", "--format", "github"],
        str![[r#"
::warning file=examples/baked.onnx,title=GR102 single-size::node "view" (Reshape): the model runs only if batch == 1

"#]],
    );
    prints(
        &["lint", "examples/positions.onnx", "--select", "GR1"],
        str![[r#"
no findings

"#]],
    );
    prints(
        &["lint", "--rules", "--select", "GR6"],
        str![[r#"
GR601 peak (error): a peak of memory above `--max-peak`
  It was asked for.
  `gradus cost MODEL` shows the node of the peak, and `--fit` the largest size that fits.
GR602 parameters (error): more parameters than `--max-parameters`
  It was asked for.
  `gradus cost MODEL` shows which nodes have them.

"#]],
    );
    misused(
        &["lint", "examples/baked.onnx", "--ignore", "GR999"],
        str![[r#"
error: unknown rule "GR999"; did you mean "GR409"?

"#]],
    );
}

#[test]
fn what_can_be_mended_is_mended() {
    let folder = scratch("lint-fix");
    let read = |name: &str| std::fs::read(folder.join(name)).unwrap();
    let before = read("examples/heads.onnx");
    let fix = |arguments: &[&str]| lint(&folder, &[arguments, &["--fix"]].concat()).assert();
    fix(&["examples/heads.onnx", "-o", "mended.onnx"]).success().stdout_eq(str![[r#"
fixed GR203, GR204 -> mended.onnx
proved: 1 of 1 outputs, for all inputs and sizes
no findings

"#]]);
    assert_eq!(read("examples/heads.onnx"), before);
    // In place, and again: nothing is left to mend, and the file stays.
    fix(&["examples/heads.onnx", "--json"]).success().stdout_eq(str![[r#"
{"model":"examples/heads.onnx","findings":[],"unasked":[],"known":0,"fixed":{"output":"examples/heads.onnx","rules":["GR203","GR204"],"proof":{"up_to":"bits","outputs":[{"name":"y","proved":true}]},"runs":0}}

"#]]);
    assert_eq!(read("examples/heads.onnx"), read("mended.onnx"));
    fix(&["examples/heads.onnx", "examples/baked.onnx"]).code(1).stdout_eq(str![[r#"
examples/heads.onnx
  no findings
examples/baked.onnx
  GR102 warning single-size: a named size for which the model runs with one number alone
    node "view" (Reshape): the model runs only if batch == 1
  1 warning

"#]]);
    assert_eq!(read("examples/heads.onnx"), read("mended.onnx"));
    misused(
        &["lint", "examples/heads.onnx", "-o", "x.onnx"],
        str![[r#"
error: the following required arguments were not provided:
  --fix

Usage: gradus lint --fix --output <FILE|DIR> <MODEL>...

For more information, try '--help'.

"#]],
    );
}

#[test]
fn gitlab_reads_findings_as_code_quality() {
    let arguments = ["lint", "examples/baked.onnx", "examples/heads.onnx", "--format", "gitlab", "-q"];
    gradus(&arguments).assert().code(1).stderr_eq("").stdout_eq(str![[r#"
[{"description":"node /"view/" (Reshape): the model runs only if batch == 1","check_name":"GR102","fingerprint":"96a5c2bb1b14f6a074cdf249c018f05f","severity":"minor","location":{"path":"examples/baked.onnx","lines":{"begin":1}}},{"description":"node /"shape_1/" (Shape): computes what node /"shape_0/" computes","check_name":"GR203","fingerprint":"429c71b73800259af33badab79641b5f","severity":"info","location":{"path":"examples/heads.onnx","lines":{"begin":1}}},{"description":"node /"shape_2/" (Shape): computes what node /"shape_0/" computes","check_name":"GR203","fingerprint":"2dea64f8dcf887b3ec96f92e7966a0e8","severity":"info","location":{"path":"examples/heads.onnx","lines":{"begin":1}}},{"description":"the model: 12 of 14 nodes can be folded","check_name":"GR204","fingerprint":"c11e0f8307c1f55918a8ca33007c26bb","severity":"info","location":{"path":"examples/heads.onnx","lines":{"begin":1}}}]

"#]]);
}

#[test]
fn sarif_is_what_its_schema_says() {
    let output =
        gradus(&["lint", "examples", "--format", "sarif", "--fail-on", "never", "-q"]).output().unwrap();
    let log: serde_sarif::sarif::Sarif = serde_json::from_slice(&output.stdout).unwrap();
    let [run] = &log.runs[..] else { panic!("{} runs", log.runs.len()) };
    let results = run.results.as_deref().unwrap();
    let rules = run.tool.driver.rules.as_deref().unwrap();
    assert!(results.len() > 10 && rules.len() > 30);
    for result in results {
        let rule = &rules[usize::try_from(result.rule_index.unwrap()).unwrap()];
        assert_eq!(Some(&rule.id), result.rule_id.as_ref());
    }
}

#[test]
fn known_findings_are_not_told() {
    let folder = scratch("lint-baseline");
    lint(&folder, &["examples/baked.onnx", "--write-baseline", "known.json"]).assert().code(0);
    lint(&folder, &["examples/baked.onnx", "--baseline", "known.json"]).assert().code(0).stdout_eq(str![[
        r#"
no findings, 1 in the baseline

"#
    ]]);
    std::fs::write(folder.join("known.json"), "{}").unwrap();
    lint(&folder, &["examples/baked.onnx", "--baseline", "known.json"]).assert().code(1).stderr_eq(str![[
        r#"
error: known.json: cannot read the baseline: invalid type: map, expected a sequence at line 1 column 0

"#
    ]]);
}

#[test]
fn files_give_options() {
    let folder = scratch("lint-config");
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).unwrap();
    // An earlier run left its file here.
    let _ = std::fs::remove_file(folder.join("gradus.toml"));
    write("pyproject.toml", "[tool.gradus.lint]\nignore = [\"single-size\"]\n");
    lint(&folder, &["examples/baked.onnx"]).assert().code(0).stdout_eq(str![[r#"
no findings

"#]]);
    // The nearest file with a table of options counts, from folders below too.
    write("gradus.toml", "[lint]\nselect = [\"GR1\"]\nfail-on = \"error\"\nmax-peak = \"1kB\"\n");
    lint(&folder.join("examples"), &["baked.onnx"]).assert().code(0).stdout_eq(str![[r#"
GR102 warning single-size: a named size for which the model runs with one number alone
  node "view" (Reshape): the model runs only if batch == 1
1 warning

"#]]);
    lint(&folder, &["examples/baked.onnx", "--fail-on", "warning"]).assert().code(1);
    for (text, error) in [
        (
            "[lint]\nselct = []\n",
            str![[r#"
error: unknown field `selct`, expected one of `select`, `ignore`, `fail-on`, `for`, `max-peak`, `max-parameters`, `baseline`
 --> gradus.toml:1:1
  |
1 | [lint]
  | ^^^^^^

"#]],
        ),
        (
            "[lint]\nfail-on = \"fatal\"\n",
            str![[r#"
error: gradus.toml: fail-on: got "fatal", expected note, warning, error, never

"#]],
        ),
        (
            "[lint]\nmax-peak = \"1 furlong\"\n",
            str![[r#"
error: gradus.toml: max-peak: expected a number of bytes (500MB, 24GiB), got "1 furlong"

"#]],
        ),
        (
            "lint = \n",
            str![[r#"
error: string values must be quoted, expected literal string
 --> gradus.toml:1:8
  |
1 | lint = 
  |        ^

"#]],
        ),
    ] {
        write("gradus.toml", text);
        lint(&folder, &["examples/baked.onnx"]).assert().stdout_eq("").stderr_eq(error);
    }
}

#[test]
fn missing_files_of_constants_are_told() {
    let folder = folder("lint-missing");
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    std::fs::copy(examples.join("range_const.xml"), folder.join("range.xml")).unwrap();
    std::fs::write(folder.join("range.bin"), [0; 4]).unwrap();
    lint(&folder, &["range.xml", "--select", "GR503"]).assert().code(1).stdout_eq(str![[r#"
GR503 error unreadable-constant: a constant whose elements cannot be read: a file that is missing, too short, or outside the folder of the model
  constant "stop": range.bin: constant "stop": the length of the file is 4, expected at least 8
  constant "step": range.bin: constant "step": the length of the file is 4, expected at least 12
2 errors

"#]]);
}

/// A folder with the examples, whose findings are kept in `cache`.
struct Kept {
    folder: PathBuf,
}

const BATCH: &str = "the model runs only if batch == 1";

impl Kept {
    fn new(name: &str) -> Kept {
        let folder = scratch(name);
        let _ = std::fs::remove_dir_all(folder.join("cache"));
        Kept { folder }
    }

    /// The findings, a line each.
    fn told(&self, words: &[&str]) -> String {
        let always = ["--cache", "cache", "--fail-on", "never", "--format", "github"];
        let done = lint(&self.folder, &[words, &always].concat()).assert().code(0);
        String::from_utf8(done.get_output().stdout.clone()).unwrap()
    }

    /// The file of the entry that has a text, and all that it has.
    fn entry(&self, text: &str) -> Option<(PathBuf, String)> {
        let entries = std::fs::read_dir(self.folder.join("cache")).unwrap();
        let mut read = entries.map(|entry| entry.unwrap().path()).filter_map(|path| {
            let entry = std::fs::read_to_string(&path).ok()?;
            Some((path, entry))
        });
        read.find(|(_, entry)| entry.contains(text))
    }

    /// Replaces a text of an entry, whose digest stays right: findings that have it were kept.
    fn rewrite(&self, from: &str, to: &str) {
        let (path, entry) = self.entry(from).unwrap();
        let body = entry.split_once('\n').unwrap().1.replace(from, to);
        let key = path.file_stem().unwrap().to_str().unwrap();
        let digest = Sha256::new().chain_update(key).chain_update(&body).finalize();
        let mut sealed = String::new();
        digest.iter().for_each(|byte| write!(sealed, "{byte:02x}").unwrap());
        std::fs::write(path, format!("{sealed}\n{body}")).unwrap();
    }

    fn copy(&self, from: &str, to: &str) {
        let to = self.folder.join(to);
        std::fs::create_dir_all(to.parent().unwrap()).unwrap();
        std::fs::copy(self.folder.join(from), to).unwrap();
    }
}

#[test]
fn findings_are_kept_for_a_model_a_name_and_options() {
    let kept = Kept::new("lint-cache");
    let model = "examples/baked.onnx";
    let fresh = kept.told(&[model]);
    assert!(fresh.contains(BATCH));
    kept.rewrite(BATCH, "kept");
    assert_eq!(kept.told(&[model]), fresh.replace(BATCH, "kept"));
    // A copy of the name and the bytes has the findings; another name, bytes or options have not.
    kept.copy(model, "moved/baked.onnx");
    assert!(kept.told(&["moved/baked.onnx"]).contains("kept"));
    kept.copy(model, "named.onnx");
    kept.copy("examples/heads.onnx", "moved/baked.onnx");
    for words in [
        &["named.onnx"][..],
        &[model, "--max-parameters", "9999"],
        &[model, "--max-steps", "999"],
        &[model, "--ignore", "GR5"],
        &[model, "--for", "onnxruntime"],
        &[model, "--min", "batch=1"],
    ] {
        assert!(kept.told(words).contains(BATCH), "{words:?}");
    }
    assert!(kept.told(&["moved/baked.onnx"]).contains("GR204"));
    let fresh = lint(&kept.folder, &[model, "--no-cache", "--fail-on", "never"]).assert();
    assert!(String::from_utf8_lossy(&fresh.get_output().stdout).contains(BATCH));
    misused(
        &["lint", model, "--cache", "cache", "--no-cache"],
        str![[r#"
error: the argument '--cache <DIR>' cannot be used with '--no-cache'

Usage: gradus lint --cache <DIR> <MODEL>...

For more information, try '--help'.

"#]],
    );
    let closed = lint(&kept.folder, &[model, "--cache", "named.onnx/below"]).assert().code(1);
    closed.stderr_eq(str![[r#"
error: named.onnx/below: cannot write: Not a directory (os error 20)

"#]]);
}

#[test]
fn findings_are_kept_for_the_files_that_a_model_names() {
    let kept = Kept::new("lint-cache-files");
    let (model, weights, message) = (
        "examples/range_const.xml",
        kept.folder.join("examples/range_const.bin"),
        "1 of 1 nodes can be folded",
    );
    assert!(kept.told(&[model]).contains(message));
    kept.rewrite(message, "kept");
    assert!(kept.told(&[model]).contains("kept"));
    // Two models of the same name and bytes with other weights have entries of their own.
    kept.copy(model, "other/range_const.xml");
    let mut bytes = std::fs::read(&weights).unwrap();
    bytes[0] ^= 1;
    std::fs::write(kept.folder.join("other/range_const.bin"), &bytes).unwrap();
    assert!(kept.told(&["other/range_const.xml"]).contains(message));
    assert!(kept.told(&[model]).contains("kept"));
    // Nothing is kept of a model whose weights are missing.
    std::fs::remove_file(kept.folder.join("other/range_const.bin")).unwrap();
    let files = || std::fs::read_dir(kept.folder.join("cache")).unwrap().count();
    let before = files();
    lint(&kept.folder, &["other/range_const.xml", "--cache", "cache"]).assert().code(1);
    assert_eq!(files(), before);
}

#[test]
fn damaged_and_foreign_entries_are_replaced() {
    let kept = Kept::new("lint-cache-damaged");
    let model = "examples/baked.onnx";
    kept.told(&[model, "examples/heads.onnx"]);
    let (path, entry) = kept.entry(BATCH).unwrap();
    let (_, other) = kept.entry("GR204").unwrap();
    let deep = format!("{}\n{}", "0".repeat(64), "[".repeat(1 << 16));
    let damaged =
        [entry.replace(BATCH, "lost"), entry[..entry.len() / 2].to_owned(), other, deep, String::new()];
    for damaged in damaged {
        std::fs::write(&path, &damaged).unwrap();
        assert!(kept.told(&[model]).contains(BATCH), "{damaged:.80}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), entry);
    }
}
