//! `gradus diff` as it is typed, with what it prints and its exit status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use std::path::{Path, PathBuf};

use common::{gradus, misused, prints};
use snapbox::{IntoData, str};

/// Returns the output about models that differ.
fn differ(arguments: &[&str], stdout: impl IntoData) {
    let arguments = [&["diff"], arguments].concat();
    gradus(&arguments).assert().code(1).stderr_eq("").stdout_eq(stdout);
}

/// An example in which some words are others of the same length.
fn changed(example: &str, words: &[(&str, &str)]) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(example);
    let mut bytes = std::fs::read(path).unwrap();
    for (before, after) in words {
        assert_eq!(before.len(), after.len());
        let places: Vec<_> =
            (0..bytes.len()).filter(|&at| bytes[at..].starts_with(before.as_bytes())).collect();
        assert!(!places.is_empty(), "{example} has {before}");
        for at in places {
            bytes[at..at + after.len()].copy_from_slice(after.as_bytes());
        }
    }
    let folder = std::env::temp_dir().join(format!("gradus-diff-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(example);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn equal_models_have_no_differences() {
    prints(&["diff", "examples/function.onnx", "examples/function.onnx"], "");
    prints(
        &["diff", "examples/range.xml", "examples/range.xml", "--json"],
        str![[r#"
{"before":"examples/range.xml","after":"examples/range.xml","equal":true,"model":[],"operators":{},"functions":[],"graphs":[]}

"#]],
    );
}

#[test]
fn reviewers_read_whether_models_are_the_same() {
    prints(
        &["diff", "examples/heads.onnx", "examples/heads.onnx", "--format", "markdown"],
        str![[r#"
### `examples/heads.onnx`

**The same bits, proved for all inputs and sizes**

| | before | after |
|---|---|---|
| nodes | `14` | the same |
| parameters | `5` | the same |
| MACs | `0` | the same |
| peak bytes of values | `64*batch*seq` | the same |
| inputs | `x: float32[batch, seq, 8]` | the same |
| outputs | `y: float32[batch, 2, seq, 4]` | the same |


"#]],
    );
    // Names are data: no table ends, nobody is mentioned.
    let path = changed("positions.onnx", &[("token_count", "@a|``<b>x|y"), ("seq_to_float", "s_```_@all_t")]);
    let shown = gradus(&["diff", "examples/positions.onnx", path.to_str().unwrap(), "--format", "markdown"]);
    shown.assert().code(1).stderr_eq("").stdout_eq(str![[r####"
### `[..]/positions.onnx`

**The same bits, proved for all inputs and sizes**

| | before | after |
|---|---|---|
| nodes | `6` | the same |
| parameters | `2` | the same |
| MACs | `0` | the same |
| peak bytes of values | `12*seq + 4*max(seq, 2) + 12` | the same |
| inputs | `tokens: int64[batch, seq]` | the same |
| outputs | `position_ids: int64[seq]`<br>`phase: float32[seq]`<br>`token_count: int64[]` | `position_ids: int64[seq]`<br>`phase: float32[seq]`<br>```@a/|``<b>x/|y: int64[]``` |

<details><summary>Differences</summary>

````text
outputs: 1 gone, 1 new
  - token_count: int64[]
  + @a|``<b>x|y: int64[]
nodes: 2 changed
  ~ node "count": Size(tokens) -> token_count
      ~ output 0: token_count -> @a|``<b>x|y
  ~ node "s_```_@all_t": Cast(seq) -> seq_float
      ~ name: seq_to_float -> s_```_@all_t
````

</details>

"####]]);
    let path = changed("loop.onnx", &[("Add", "Mul")]);
    let shown = gradus(&["diff", "examples/loop.onnx", path.to_str().unwrap(), "--format", "markdown"]);
    shown.assert().code(1).stderr_eq("").stdout_eq(str![[r####"
### `[..]/loop.onnx`

**Other results of `fibonacci`**

| | before | after |
|---|---|---|
| nodes | `1` | the same |
| parameters | `2` | the same |
| MACs | `0` | the same |
| peak bytes of values | `8*max(count, 0) + 50` | the same |
| inputs | `count: int64[]` | the same |
| outputs | `fibonacci: int64[max(count, 0)]` | the same |

<details><summary>Differences</summary>

```text
operators: Add 1 -> 0, Mul 0 -> 1
nodes in node "fib".body: 1 changed
  ~ node 1: Add(a, b) -> sum
      ~ operator: Add -> Mul
```

</details>

"####]]);
    misused(
        &["diff", "a.onnx", "b.onnx", "--format", "markdown", "--json"],
        str![[r#"
{"error":{"kind":"usage","message":"the argument '--format <FORM>' cannot be used with '--json'","where":null}}

"#]],
    );
}

#[test]
fn diff_shows_what_changed() {
    let path = changed(
        "positions.onnx",
        &[("batch", "lines"), ("token_count", "count_token"), ("seq_to_float", "SEQ_TO_FLOAT")],
    );
    differ(
        &["examples/positions.onnx", path.to_str().unwrap()],
        str![[r#"
inputs: 1 changed
  ~ tokens: int64[batch, seq] -> int64[lines, seq]
outputs: 1 gone, 1 new
  - token_count: int64[]
  + count_token: int64[]
nodes: 2 changed
  ~ node "count": Size(tokens) -> token_count
      ~ output 0: token_count -> count_token
  ~ node "SEQ_TO_FLOAT": Cast(seq) -> seq_float
      ~ name: seq_to_float -> SEQ_TO_FLOAT

"#]],
    );
    let path = changed("loop.onnx", &[("next_a", "NEXT_A"), ("Add", "Mul")]);
    differ(
        &["examples/loop.onnx", path.to_str().unwrap()],
        str![[r#"
operators: Add 1 -> 0, Mul 0 -> 1
outputs in node "fib".body: 1 gone, 1 new
  - next_a: int64[]
  + NEXT_A: int64[]
nodes in node "fib".body: 1 gone, 1 new, 1 changed
  - node 2: Identity(b) -> next_a
  + node 2: Identity(b) -> NEXT_A
  ~ node 1: Add(a, b) -> sum
      ~ operator: Add -> Mul

"#]],
    );
    let path = changed("function.onnx", &[("Scaled", "Halved")]);
    differ(
        &["examples/function.onnx", path.to_str().unwrap()],
        str![[r#"
operators: example.Halved 0 -> 2, example.Scaled 2 -> 0
functions: 1 gone, 1 new
  - example.Scaled: a graph, nodes: 2, constants: 1
  + example.Halved: a graph, nodes: 2, constants: 1
nodes: 2 changed
  ~ node "halve": example.Scaled(x) -> half
      ~ operator: example.Scaled -> example.Halved
  ~ node "tenth": example.Scaled(x) -> tenth
      ~ operator: example.Scaled -> example.Halved

"#]],
    );
    differ(
        &["examples/range.xml", "examples/range_const.xml"],
        str![[r#"
inputs: 3 gone
  - start: float32[]
  - step: float32[]
  - stop: float32[]
constants: 3 new
  + start: int32[] 2
  + step: int32[] 3
  + stop: int32[] 23

"#]],
    );
    differ(
        &["examples/range.onnx", "examples/range.xml", "--json"],
        str![[r#"
{"before":"examples/range.onnx","after":"examples/range.xml","equal":false,"model":[{"name":"format version","before":"6","after":"11"},{"name":"operator set /"/"","before":"11","after":null},{"name":"producer","before":"gradus examples","after":null},{"name":"standard","before":"onnx","after":"openvino"}],"operators":{},"functions":[],"graphs":[{"path":"","inputs":[{"name":"delta","before":"float32[]","after":null},{"name":"limit","before":"float32[]","after":null},{"name":"step","before":null,"after":"float32[]"},{"name":"stop","before":null,"after":"float32[]"}],"outputs":[{"name":"positions","before":"float32[n]","after":"int32[?]"}],"nodes":[{"name":"node /"positions/"","before":"Range(start, limit, delta) -> positions","after":"Range(start, stop, step) -> positions","parts":[{"name":"name","before":"pos","after":"positions"},{"name":"operator version","before":"11","after":"4"},{"name":"input 1","before":"limit","after":"stop"},{"name":"input 2","before":"delta","after":"step"},{"name":"attribute output_type","before":null,"after":"i32"}]}],"constants":[],"types":[]}]}

"#]],
    );
}

#[test]
fn what_cannot_be_compared_is_another_status() {
    misused(
        &["diff", "examples/range.onnx", "examples/missing.onnx"],
        str![[r#"
error: examples/missing.onnx: there is no such file

"#]],
    );
    misused(
        &["diff", "examples/range.onnx", "LICENSE-MIT", "--json"],
        str![[r#"
{"error":{"kind":"syntax","message":"this is not protobuf: invalid wire type: 7","where":{"file":"LICENSE-MIT","byte":14}}}

"#]],
    );
    misused(
        &["diff", "examples/range.onnx"],
        str![[r#"
error: the following required arguments were not provided:
  <AFTER>

Usage: gradus diff <BEFORE> <AFTER>

For more information, try '--help'.

"#]],
    );
}

#[test]
fn of_many_differences_the_first_are_shown() {
    let folder = std::env::temp_dir().join(format!("gradus-diff-many-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let model = |name: &str, inputs: std::ops::Range<usize>| {
        let layer = |id: usize| {
            format!(
                r#"<layer id="{id}" name="x{id}" type="Parameter" version="opset1"><data shape="" element_type="f32"/>
                <output><port id="0" precision="FP32"/></output></layer>"#
            )
        };
        let layers: Vec<_> = inputs.map(layer).collect();
        let path = folder.join(name);
        let text =
            format!(r#"<net name="m" version="11"><layers>{}</layers><edges/></net>"#, layers.join(""));
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let (few, many) = (model("few.xml", 0..1), model("many.xml", 0..24));
    let lines = |arguments: &[&str]| {
        let output = gradus(&[&["diff", &few, &many], arguments].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        let text = String::from_utf8(output.stdout).unwrap();
        (text.lines().count(), text.lines().last().unwrap().to_owned())
    };
    assert_eq!(lines(&[]), (22, "  … and 3 more new".to_owned()));
    // Names are cut, and what a terminal would obey is not passed on.
    let odd = folder.join("odd.xml");
    std::fs::write(
        &odd,
        std::fs::read_to_string(&few).unwrap().replace("x0", &format!("&#10;{}", "é".repeat(200))),
    )
    .unwrap();
    let output = gradus(&["diff", &few, odd.to_str().unwrap()]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains(&format!(r"+ \n{}…: float32[]", "é".repeat(158))), "{text}");
    assert_eq!(lines(&["--all"]), (24, "  + x9: float32[]".to_owned()));
}
