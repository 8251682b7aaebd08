//! `gradus cases`: test cases of operators.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

mod common;

use common::{folder, gradus, misused};
use snapbox::str;

#[test]
fn cases_are_folders_of_models_and_data() {
    let folder = folder("cases");
    let path = folder.to_str().unwrap();
    let made = gradus(&["cases", "Add", "--count", "3", "-o", path]).assert().code(0);
    made.stdout_eq(str![[r#"
3 cases of Add-14 -> [..]

"#]]);
    let case = folder.join("test_add_0002");
    let (model, data) = (case.join("model.onnx"), case.join("test_data_set_0"));
    let first = std::fs::read(&model).unwrap();
    assert!(data.join("input_0.pb").is_file() && data.join("output_0.pb").is_file());
    // More cases begin with the same ones; another seed makes others.
    gradus(&["cases", "Add", "--count", "5", "-o", path]).assert().code(0);
    assert_eq!(std::fs::read(&model).unwrap(), first);
    let json =
        gradus(&["cases", "Add", "--count", "5", "--seed", "2", "-o", path, "--json"]).assert().code(0);
    let json: serde_json::Value = serde_json::from_slice(&json.get_output().stdout).unwrap();
    assert_eq!((&json["opset"], json["cases"].as_array().unwrap().len()), (&14.into(), 5));
    assert_ne!(std::fs::read(&model).unwrap(), first);
    // An older operator set has an older version.
    let older = gradus(&["cases", "Add", "--count", "1", "--opset", "12", "-o", path]).assert().code(0);
    older.stdout_eq(str![[r#"
1 case of Add-7 -> [..]

"#]]);
}

#[test]
fn operators_without_cases_are_told() {
    misused(
        &["cases", "Sofmax", "-o", "nowhere"],
        str![[r#"
error: unknown operator "Sofmax"; did you mean "Softmax"?

"#]],
    );
    let random = gradus(&["cases", "RandomUniform", "-o", "nowhere"]).assert();
    let told = String::from_utf8_lossy(&random.get_output().stderr).into_owned();
    assert_eq!(
        told,
        "error: cannot make cases of RandomUniform: its outputs depend on more than its inputs\n"
    );
}
