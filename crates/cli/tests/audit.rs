//! `gradus audit`: programs that depend on what they should not are found by command lines.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;
#[path = "../../gradus/tests/common/sketch.rs"]
mod sketch;

use common::{folder, gradus, in_shell, misused, prints};
use serde_json::Value;
use sketch::Sketch;
use snapbox::str;

/// The model that is audited, and the program that runs it as it is.
const MODEL: &str = "x: float32[batch, 3]; y = Abs(x); return y: float32[batch, 3]";
const RUN: &str = "\"$0\" run \"$1\" -i \"$2\" -o \"$3\"";

/// Models with the outputs of programs that have a fault, by the invariance that it breaks.
const FAULTS: [(&str, &str); 3] = [
    (
        "rows",
        "x: float32[batch, 3]; a = Abs(x); one = [1]; zero = [0]; end = [9]; first = Slice(x, zero, one, zero); \
         others = Slice(x, one, end, zero); next = Concat(others, first, axis=0); y = Add(a, next); \
         return y: float32[batch, 3]",
    ),
    (
        "place",
        "x: float32[batch, 3]; a = Abs(x); shape = Shape(x, end=1); zero = [0]; one = [1]; at = Squeeze(zero); \
         step = Squeeze(one); end = Squeeze(shape); all = Range(at, end, step); each = CastLike(all, x); \
         column = Unsqueeze(each, one); y = Add(a, column); return y: float32[batch, 3]",
    ),
    (
        "batch",
        "x: float32[batch, 3]; a = Abs(x); shape = Shape(x, end=1); rows = CastLike(shape, x); y = Add(a, rows); \
         return y: float32[batch, 3]",
    ),
];

/// The invariances of an audit with another status than `holds` and `not applicable`, by name.
fn broken(arguments: &[&str], code: i32) -> Vec<(String, String)> {
    let printed = gradus(&[arguments, &["--json"]].concat()).assert().code(code);
    let printed: Value = serde_json::from_slice(&printed.get_output().stdout).unwrap();
    assert_eq!(printed["same"], (code == 0));
    let all = printed["runtimes"][0]["invariances"].as_array().unwrap();
    let text = |check: &Value, field: &str| check[field].as_str().unwrap().to_owned();
    let of = |check| (text(check, "name"), text(check, "status"));
    all.iter().map(of).filter(|(_, status)| !["holds", "not applicable"].contains(&&**status)).collect()
}

#[test]
fn planted_dependences_are_found_and_named() {
    let folder = folder("audit-planted");
    let path = |name: &str, text: &str| {
        let path = folder.join(format!("{name}.onnx"));
        Sketch::of(text).model().save(&path).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let model = path("model", MODEL);
    let audited = |program: &str, code| {
        broken(&["audit", &model, "--with", program, "--rows", "3", "--runs", "1"], code)
    };
    assert_eq!(audited(&in_shell(RUN), 0), []);
    let differs = |name: &str| vec![(name.to_owned(), "differs".to_owned())];
    let mut leaky = String::new();
    for (name, text) in FAULTS {
        leaky = path(name, text);
        let line = format!("\"$0\" run \"{leaky}\" -i \"$2\" -o \"$3\"");
        assert_eq!(audited(&in_shell(&line), 1), differs(name));
    }
    // Another model for more than two threads, and for models that are not optimized.
    for (name, word, test) in
        [("threads", "{threads}", "-gt 2"), ("optimization", "{optimizations}", "= off")]
    {
        let line = format!("[ $5 {test} ] && set -- \"{leaky}\" \"$2\" \"$3\"; {RUN}");
        let program = format!("{} {word}", in_shell(&line));
        assert_eq!(audited(&program, 1), differs(name));
    }
    // Every second run is another one; nothing else can be told then.
    let count = folder.join("count");
    let (line, count) = (format!("set -- \"{leaky}\" \"$2\" \"$3\""), count.display());
    let line = format!("if mkdir \"{count}\" 2>/dev/null; then {line}; else rmdir \"{count}\"; fi; {RUN}");
    let found = audited(&in_shell(&line), 1);
    assert_eq!(found[0], ("runs".to_owned(), "differs".to_owned()));
    assert!(found[1..].iter().all(|(_, status)| status == "unsteady"), "{found:?}");
}

#[test]
fn the_smallest_pair_is_shown_and_saved() {
    let folder = folder("audit-saved");
    let path = |name: &str, text: &str| {
        let path = folder.join(name);
        Sketch::of(text).model().save(&path).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (model, leaky) = (path("model.onnx", MODEL), path("leaky.onnx", FAULTS[2].1));
    let program = in_shell(&format!("\"$0\" run \"{leaky}\" -i \"$2\" -o \"$3\""));
    let case = folder.join("case");
    let case = case.to_str().unwrap();
    let audited = ["audit", &model, "--with", &program, "--only", "batch,chunks", "--save-case", case];
    let printed = gradus(&audited).assert().code(1);
    printed.stdout_eq(str![[r#"
cmd:[..]: 1 of 2 invariances differ; rows are counted by batch

invariance  result          pairs  outputs that differ  largest
batch       differs         1      y                    [..] ulp
chunks      not applicable

batch: first at node "make y" (onnx Abs), value y
batch: smallest pair: row 0 of 2 equal rows, and row 0 of 1 equal rows; 2 of 8 rows; 0 of 6 elements are not 0
batch: saved the pair in [..]case/cmd-1/batch
chunks: no input has "past" in its name

"#]]);
    // The saved runs are those that differ.
    for (side, wanted) in [("first", "2.0"), ("second", "1.0")] {
        let inputs = format!("{case}/cmd-1/batch/{side}.npz");
        let run = gradus(&["run", &leaky, "-i", &inputs]).assert().code(0);
        let printed = String::from_utf8_lossy(&run.get_output().stdout).into_owned();
        assert!(printed.contains(wanted), "{printed}");
    }
}

#[test]
fn gradus_keeps_all_invariances_of_the_examples() {
    for model in ["embedding", "function", "heads", "loop", "positions", "range", "baked"] {
        let path = format!("examples/{model}.onnx");
        // The positions of a sequence are elements of its rows.
        let inherent = [("place".to_owned(), "inherent".to_owned())];
        let wanted = if model == "positions" { &inherent[..] } else { &[] };
        assert_eq!(broken(&["audit", &path, "--with", "gradus", "--runs", "2"], 0), wanted, "{model}");
    }
}

#[test]
fn an_audit_prints_a_line_for_each_invariance() {
    prints(
        &["audit", "examples/heads.onnx", "--with", "gradus", "--only", "batch,padding,optimization"],
        str![[r#"
gradus: 0 of 3 invariances differ; rows are counted by batch

invariance    result          pairs  outputs that differ  largest
batch         holds           21
padding       not applicable
optimization  not applicable

padding: no input has "mask" in its name; --mask names one
optimization: Gradus has no optimizations that a switch turns off

"#]],
    );
}

#[test]
fn wrong_arguments_are_told() {
    misused(
        &["audit", "examples/heads.onnx", "--with", "gradus", "--only", "thread"],
        str![[r#"
error: invalid value 'thread' for '--only <NAME,…>': unknown invariance "thread"; did you mean "threads"?

For more information, try '--help'.

"#]],
    );
    misused(
        &["audit", "examples/heads.onnx", "--with", "gradus", "--batch", "bach"],
        str![[r#"
error: examples/heads.onnx: unknown dimension of the inputs "bach"; did you mean "batch"?

"#]],
    );
    misused(
        &["audit", "examples/heads.onnx", "--with", "gradus", "--rows", "0"],
        str![[r#"
error: invalid value '0' for '--rows <N>': expected a number from 1 on, got "0"

For more information, try '--help'.

"#]],
    );
}
