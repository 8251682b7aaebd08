//! `gradus lint` as it is typed, with what it prints and its exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use std::path::Path;

use common::{folder, gradus, misused, prints, scratch};
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
