//! `gradus report` as it is typed: the page that it writes, with what it prints and its exit
//! status.
//!
//! `SNAPSHOTS=overwrite cargo test -p gradus-cli` writes what is printed into this file.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use std::path::Path;

use common::{folder, gradus, misused};
use snapbox::str;

/// The page of a model, which is written without errors.
fn page(model: &str, folder: &Path) -> String {
    let path = folder.join("page.html");
    gradus(&["report", model, "-o", path.to_str().unwrap()]).assert().code(0);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_page_is_one_file_that_loads_nothing() {
    let folder = folder("report");
    let page = page("examples/heads.onnx", &folder);
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>"));
    assert!(page.contains("default-src 'none'; style-src 'sha256-"));
    for reference in ["src=\"", "url(", "@import", "http://", "https://", "href=\"/"] {
        let at = page.find(reference).map(|at| &page[at..(at + 60).min(page.len())]);
        // The name of the namespace of SVG is no address.
        assert!(at.is_none_or(|text| text.starts_with("http://www.w3.org/2000/svg")), "{at:?}");
    }
    assert!(page.contains("<h1 class=\"name\" title=\"examples/heads.onnx\">heads.onnx</h1>"));
    assert!(page.contains("Folding</a> removes 12 of 14 nodes."));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_written_is_told() {
    let folder = folder("report-told");
    let to = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    gradus(&["report", "examples/heads.onnx", "-o", &to("a.html")]).assert().code(0).stdout_eq(str![[r#"
examples/heads.onnx -> [..]a.html, [..] bytes
14 of 14 shapes known, 0 contradictions

"#]]);
    gradus(&["report", "examples/heads.onnx", "-o", &to("pages/"), "--dim", "batch=2", "--json"])
        .assert()
        .code(0)
        .stdout_eq(str![[r#"
{"model":"examples/heads.onnx","output":"[..]pages/heads.onnx.html","bytes":[..],"nodes":14,"parameters":5,"symbols":["seq"],"shapes":{"values":14,"known":14},"warnings":[],"problems":[],"fold":{"before":14,"after":2,"proof":{"up_to":"bits","outputs":[{"name":"y","proved":true}]}},"conversions":[{"to":"openvino","notes":0,"lost":1}]}

"#]]);
    assert!(folder.join("pages/heads.onnx.html").is_file());
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn outputs_are_pages() {
    misused(
        &["report", "examples/heads.onnx", "-o", "heads.onnx"],
        str![[r#"
error: --output is heads.onnx, expected a file that ends in .html, or a folder

"#]],
    );
    misused(
        &["report", "examples/heads.onnx", "examples/loop.onnx", "-o", "a.html"],
        str![[r#"
error: --output is a.html, expected a folder (with a / at its end if it does not exist), as there are several models

"#]],
    );
    misused(
        &["report", "examples/heads.onnx", "-o", "a.html", "--dim", "batch"],
        str![[r#"
error: --dim is batch, expected NAME=NUMBER

"#]],
    );
}

#[test]
fn several_pages_have_an_index() {
    let folder = folder("report-index");
    let to = folder.join("pages/");
    let broken = folder.join("<broken>.onnx");
    std::fs::write(&broken, "no model").unwrap();
    let models = ["examples/heads.onnx", "examples/range.xml", broken.to_str().unwrap()];
    let words = [&["report"][..], &models, &["-o", to.to_str().unwrap()]].concat();
    gradus(&words).assert().code(1);
    let index = std::fs::read_to_string(to.join("index.html")).unwrap();
    assert!(index.contains("3 models"));
    for name in ["heads.onnx", "range.xml"] {
        assert!(index.contains(&format!("<a href=\"./{name}.html\">{name}</a>")), "{index}");
        assert!(to.join(format!("{name}.html")).is_file());
    }
    assert!(index.contains("64*batch*seq") && index.contains("folding removes 12 nodes"));
    assert!(index.contains("&lt;broken&gt;.onnx") && !index.contains("<broken>"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn graph_is_drawn_in_both_languages() {
    gradus(&["graph", "examples/positions.onnx"]).assert().code(0).stdout_eq(str![[r#"
digraph {
  node [shape=box]
  i0 [label="tokens", shape=ellipse]
  n0 [label="Shape/nlength"]
  n1 [label="Range/npos"]
  n2 [label="Size/ncount"]
  n3 [label="Cast/nto_float"]
  n4 [label="Cast/nseq_to_float"]
  n5 [label="Div/nphase"]
  i0 -> n0 [label="int64[batch, seq]"]
  n0 -> n1 [label="int64[1]"]
  i0 -> n2 [label="int64[batch, seq]"]
  n1 -> n3 [label="int64[seq]"]
  n0 -> n4 [label="int64[1]"]
  n3 -> n5 [label="float32[seq]"]
  n4 -> n5 [label="float32[1]"]
  o0 [label="position_ids", shape=ellipse]
  n1 -> o0 [label="int64[seq]"]
  o1 [label="phase", shape=ellipse]
  n5 -> o1 [label="float32[seq]"]
  o2 [label="token_count", shape=ellipse]
  n2 -> o2 [label="int64[]"]
}

"#]]);
    let mermaid = ["graph", "examples/function.onnx", "--format", "mermaid"];
    gradus(&mermaid).assert().code(0).stdout_eq(str![[r#"
flowchart TB
  i0(["x"])
  n0["example.Scaled<br>halve"]
  n1["example.Scaled<br>tenth"]
  i0 -->|"float32#91;n#93;"| n0
  i0 -->|"float32#91;n#93;"| n1
  o0(["half"])
  n0 -->|"float32#91;n#93;"| o0
  o1(["tenth"])
  n1 -->|"float32#91;n#93;"| o1

"#]]);
}

#[test]
fn graph_is_drawn_as_a_picture() {
    let svg = ["graph", "examples/heads.onnx", "--format", "svg", "--dim", "batch=3"];
    let done = gradus(&svg).assert().code(0).stderr_eq("").get_output().stdout.clone();
    let text = String::from_utf8(done).unwrap();
    assert!(text.starts_with("<svg xmlns=") && text.ends_with("</svg>\n"), "{text}");
    assert!(text.contains(">float32[3, 2, seq, 4]</text>"), "{text}");
}

#[test]
fn an_audit_is_a_section_of_the_page() {
    let folder = folder("report-audit");
    let path = folder.join("page.html");
    let audit =
        ["report", "examples/heads.onnx", "--audit", "gradus", "-o", path.to_str().unwrap(), "--json"];
    let done = gradus(&audit).assert().code(0).get_output().stdout.clone();
    assert!(String::from_utf8(done).unwrap().contains(r#""audits":[{"runtime":"gradus","differ":[]}]"#));
    let page = std::fs::read_to_string(path).unwrap();
    let section = page.split("What changes the bits").nth(1).unwrap().split("</section>").next().unwrap();
    assert!(section.contains("<th scope=\"row\">batch</th><td>holds ("), "{section}");
    assert!(!page.contains("<strong>differs"));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_folded_model_is_shown_beside_the_model() {
    let folder = folder("report-beside");
    let (folded, page) = (folder.join("folded.onnx"), folder.join("both.html"));
    let [folded, page] = [&folded, &page].map(|path| path.to_str().unwrap());
    let model = "examples/heads.onnx";
    gradus(&["fold", model, "-o", folded, "-q"]).assert().code(0);
    let report = ["report", folded, "--compare", model, "-o", page, "--json"];
    let done = gradus(&report).assert().code(0).stderr_eq("").get_output().stdout.clone();
    assert!(String::from_utf8(done).unwrap().contains(r#""compared":"examples/heads.onnx""#));
    let html = std::fs::read_to_string(page).unwrap();
    let row = r#"<tr><th class="name" scope="row">Shape</th><td class="number">0</td><td class="number">3</td></tr>"#;
    assert!(html.contains("Compared with <span") && html.contains(row), "{html}");
    assert!(html.contains("Values of nodes that have other types or shapes (0)"), "{html}");
    let two = ["report", model, folded, "--compare", model, "-o", folder.to_str().unwrap()];
    gradus(&two).assert().code(2).stdout_eq("").stderr_eq(str![[r#"
error: --compare shows one model next to another, but there are several models

"#]]);
    std::fs::remove_dir_all(folder).unwrap();
}
