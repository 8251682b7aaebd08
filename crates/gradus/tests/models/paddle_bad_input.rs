//! Damaged Paddle programs: each a clear error with its place, in bounded time and memory.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gradus::infer::InferOptions;
use gradus::{Error, Kind, Model, RunOptions, Tensor};

fn attempt(bytes: &[u8]) -> Result<(), Error> {
    let model = Model::from_bytes(&bytes.to_vec().into())?;
    model.infer(&InferOptions::default())?;
    model.run::<&str, Tensor>([]).map(|_| ())
}

/// A program of one block.
fn program(operations: &[&str]) -> String {
    let operations = operations.join(",");
    format!(
        r##"{{"base_code":{{"magic":"pir","version":4}},"program":{{"regions":[{{"#":"region_0","blocks":[{{"#":"block_0","args":[],"ops":[{operations}]}}]}}]}}}}"##
    )
}

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/recorded/paddle").join(name)
}

const FULL: &str = r##"{"#":"1.full","A":[{"N":"shape","AT":{"#":"1.a_intarray","D":[1]}},{"N":"value","AT":{"#":"0.a_f64","D":2.0}},{"N":"dtype","AT":{"#":"1.a_dtype","D":"float32"}}],"I":[],"O":[{"%":1,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[1],"NCHW",[],0]}}]}"##;

fn fetch(id: i64) -> String {
    format!(
        r##"{{"#":"1.fetch","A":[{{"N":"col","AT":{{"#":"0.a_i32","D":0}}}}],"I":[{{"%":{id}}}],"O":[{{"%":99}}]}}"##
    )
}

fn operation(name: &str, inputs: &[i64], outputs: &[i64]) -> String {
    let list = |ids: &[i64]| ids.iter().map(|id| format!(r##"{{"%":{id}}}"##)).collect::<Vec<_>>().join(",");
    format!(r##"{{"#":"{name}","A":[],"I":[{}],"O":[{}]}}"##, list(inputs), list(outputs))
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn damaged_programs_of_pir_are_refused() {
    struct Case {
        about: &'static str,
        text: String,
        kind: Kind,
        message: &'static str,
    }
    let case = |about, text: &str, kind, message| Case { about, text: text.to_owned(), kind, message };
    let header = r#""base_code":{"magic":"pir","version":4}"#;
    let of = |operations: &[&str]| program(operations);
    let doubled = (2..60).map(|i| operation("0.combine", &[i - 1, i - 1], &[i])).collect::<Vec<_>>();
    let doubled: Vec<_> = std::iter::once(FULL).chain(doubled.iter().map(String::as_str)).collect();
    let cases = [
        case(
            "JSON that ends",
            "{",
            Kind::Syntax,
            "line 1, column 1: this is not a Paddle program: EOF while parsing an object",
        ),
        case(
            "another JSON",
            "{}",
            Kind::Syntax,
            "line 1, column 1: cannot read the Paddle program: \"base_code\" is missing",
        ),
        case(
            "another magic",
            r#"{"base_code":{"magic":"tea","version":4}}"#,
            Kind::Syntax,
            "line 1, column 1: this is not a Paddle program: its magic is \"tea\", not \"pir\"",
        ),
        case(
            "a newer version",
            r#"{"base_code":{"magic":"pir","version":5}}"#,
            Kind::Unsupported,
            "line 1, column 1: the program's version of PIR is 5; known are 0 to 4",
        ),
        case(
            "no program",
            &format!("{{{header}}}"),
            Kind::Syntax,
            "line 1, column 1: the file has no program",
        ),
        case(
            "no region",
            &format!(r#"{{{header},"program":{{"regions":[]}}}}"#),
            Kind::Graph,
            "line 1, column 1: the number of regions of the program is 0, expected 1",
        ),
        case(
            "no block, in the second line",
            &format!("{{{header},\n\"program\":{{\"regions\":[{{\"blocks\":[]}}]}}}}"),
            Kind::Unsupported,
            "line 2, column 23: the number of blocks of the region is 0, expected 1",
        ),
        case(
            "inputs that are no list",
            &of(&[r##"{"#":"1.cast","I":7,"O":[]}"##]),
            Kind::Syntax,
            "line 1, column 140: this is not an operation: invalid type: integer `7`, expected a sequence",
        ),
        case(
            "a value that nothing defines",
            &of(&[FULL, &fetch(7)]),
            Kind::Graph,
            "line 1, column 369: node 1: input 0 is undefined value \"%7\"",
        ),
        case(
            "a value that is defined twice",
            &of(&[FULL, FULL]),
            Kind::Graph,
            "line 1, column 369: operation \"full\": value \"%1\" is defined twice, first by node 0",
        ),
        case(
            "operations that need each other",
            &of(&[&operation("1.add", &[3, 3], &[2]), &operation("1.add", &[2, 2], &[3]), &fetch(3)]),
            Kind::Graph,
            "nodes form a cycle: node 0 needs node 1 needs node 0",
        ),
        case(
            "lists of lists, each twice as long as the one before",
            &of(&doubled),
            Kind::Graph,
            "line 1, column 430: operation \"combine\": number of outputs is 1, expected 4",
        ),
        case(
            "a loop without a body",
            &of(&[FULL, &operation("1.while", &[1, 1], &[2]), &fetch(2)]),
            Kind::Graph,
            "line 1, column 369: operation \"while\": the number of regions is 0, expected 1",
        ),
        case(
            "an attribute that is given twice",
            &of(&[
                r##"{"#":"1.full","A":[{"N":"a","AT":{"#":"0.a_i32","D":1}},{"N":"a","AT":{"#":"0.a_i32","D":1}}],"I":[],"O":[]}"##,
            ]),
            Kind::Graph,
            "line 1, column 140: operation \"full\": attribute \"a\" is given twice",
        ),
        case(
            "an attribute without content",
            &of(&[r##"{"#":"1.full","A":[{"N":"a","AT":{"#":"0.a_i32"}}],"I":[],"O":[]}"##]),
            Kind::Syntax,
            "line 1, column 122: operation \"full\": attribute \"a\": the content that its kind, a_i32, promises is missing",
        ),
        case(
            "a number that is neither",
            &of(&[r##"{"#":"1.full","A":[{"N":"a","AT":{"#":"0.a_f64","VD":"MUCH"}}],"I":[],"O":[]}"##]),
            Kind::Syntax,
            "line 1, column 122: operation \"full\": attribute \"a\": \"MUCH\" is not a number",
        ),
        case(
            "more elements than memory",
            &of(&[&FULL.replace("\"D\":[1]}", "\"D\":[4611686018427387904]}"), &fetch(1)]),
            Kind::Limit,
            "node 0 (paddle full-3): node 0 (onnx ConstantOfShape-25): cannot allocate: number of bytes next to the 24 in use is 129127208515966861440, expected at most 4294967296 (--max-bytes)",
        ),
        case(
            "an operator that is not run",
            &of(&[FULL, &operation("1.frobnicate", &[1], &[2]), &fetch(2)]),
            Kind::Unsupported,
            "line 1, column 369: node 1 (paddle frobnicate): cannot evaluate operator frobnicate of paddle",
        ),
        case(
            "a parameter without a type",
            &of(&[
                r##"{"#":"p","A":[0,1,1,"w"],"DA":[],"O":{"%":1,"TT":{"#":"0.t_dtensor","D":[{"#":"0.t_f32"},[-1],"NCHW",[],0]}},"QA":[]}"##,
            ]),
            Kind::Type,
            "line 1, column 122: operation \"p\": cannot read parameter \"w\": its type or shape is unknown",
        ),
    ];
    let mut wrong = Vec::new();
    for Case { about, text, kind, message } in cases {
        let error = attempt(text.as_bytes()).expect_err(about);
        if (error.kind(), error.to_string().as_str()) != (kind, message) {
            wrong.push(format!("{about}: {:?} {error}", error.kind()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn blocks_within_blocks_have_an_end() {
    let mut inner = String::new();
    for _ in 0..100 {
        inner = format!(
            r##"{{"#":"1.while","I":[{{"%":1}}],"O":[],"regions":[{{"blocks":[{{"ops":[{inner}]}}]}}]}}"##
        );
    }
    let started = Instant::now();
    let error = attempt(program(&[FULL, &inner]).as_bytes()).unwrap_err();
    assert_eq!((error.kind(), error.message()), (Kind::Limit, "blocks are nested more than 32 deep"));
    assert!(started.elapsed() < Duration::from_secs(5));
}

#[test]
fn every_truncation_is_an_error_or_a_program() {
    let started = Instant::now();
    for name in ["loops.pir/model.json", "parameters.pir/model.json", "loops.old/model.pdmodel"] {
        let whole = std::fs::read(recorded(name)).unwrap();
        let open = |bytes: &[u8]| Model::from_bytes(&bytes.to_vec().into());
        assert!(open(&whole).is_ok(), "{name}");
        let opened = (0..whole.len()).filter(|&len| open(&whole[..len]).is_ok()).count();
        // In protobuf, whole fields after the blocks may be missing.
        assert!(opened < 24, "{name}: {opened} truncations of {} bytes open", whole.len());
    }
    assert!(started.elapsed() < Duration::from_mins(1));
}

#[test]
fn damaged_old_programs_are_refused() {
    let whole = std::fs::read(recorded("loops.old/model.pdmodel")).unwrap();
    let message = |bytes: &[u8]| attempt(bytes).unwrap_err().to_string();
    assert_eq!(
        message(b"\x0a\x05ab"),
        "byte 0: this is not a Paddle program: the number of bytes that follow is 2, expected at least 5"
    );
    // The version is the message in field 4, whose field 1 it is.
    let newer = [&whole[..], b"\x22\x05\x08\x80\x92\xf4\x01"].concat();
    assert_eq!(message(&newer), "byte 0: the program's version is 4000000; known are those below 4000000");
    // The body of the loop is the attribute `sub_block`, of kind 8, with the number 1.
    let at = whole.windows(9).position(|part| part == b"sub_block").unwrap() + 9;
    assert_eq!(whole[at..at + 4], [0x10, 8, 0x60, 1]);
    let of = |block: u8| {
        let mut bytes = whole.clone();
        bytes[at + 3] = block;
        message(&bytes)
    };
    assert!(
        of(0).ends_with("operator \"while\": block 0 is the body of an operation within it"),
        "{}",
        of(0)
    );
    assert!(of(7).ends_with("operator \"while\": block 7 is wanted, but the program has 2"), "{}", of(7));
}

#[test]
fn damaged_parameters_are_refused_when_they_are_needed() {
    let folder = std::env::temp_dir().join(format!("gradus-paddle-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("model.json");
    std::fs::copy(recorded("parameters.pir/model.json"), &path).unwrap();
    let whole = std::fs::read(recorded("parameters.pir/model.pdiparams")).unwrap();
    let attempt = |bytes: Option<Vec<u8>>| {
        let file = folder.join("model.pdiparams");
        match bytes {
            Some(bytes) => std::fs::write(file, bytes).unwrap(),
            None => std::fs::remove_file(file).unwrap_or(()),
        }
        let model = Model::open(&path)?;
        // Shapes are known without the parameters.
        model.infer(&InferOptions::default()).unwrap();
        model.compile(&["fetch_name_2"], &RunOptions::default())?.run::<&str, Tensor>([])
    };
    assert!(attempt(Some(whole.clone())).is_ok());
    let changed = |at: usize, to: u8| {
        let mut bytes = whole.clone();
        bytes[at] = to;
        bytes
    };
    let cases: [(&str, Option<Vec<u8>>, Kind, &str); 9] = [
        ("no file", None, Kind::Io, "there is no such file"),
        (
            "an empty file",
            Some(vec![]),
            Kind::Syntax,
            "the number of bytes that follow is 0, expected at least 4",
        ),
        (
            "a file that ends",
            Some(whole[..whole.len() - 1].to_vec()),
            Kind::Syntax,
            "the number of bytes that follow is",
        ),
        (
            "a file that goes on",
            Some([&whole[..], b"x"].concat()),
            Kind::Syntax,
            "1 bytes follow the last of 2 parameters",
        ),
        ("another version", Some(changed(0, 9)), Kind::Unsupported, "the version is 9; known is 0"),
        ("many levels", Some(changed(11, 0xff)), Kind::Syntax, "the number of bytes that follow is"),
        ("a long description", Some(changed(19, 0x7f)), Kind::Syntax, "the number of bytes that follow is"),
        ("another type", Some(changed(21, 3)), Kind::Syntax, "expected float32"),
        ("a type that is not known", Some(changed(21, 99)), Kind::Type, "element type is 99, expected"),
    ];
    for (about, bytes, kind, part) in cases {
        let error = attempt(bytes).expect_err(about);
        assert_eq!(error.kind(), kind, "{about}: {error}");
        assert!(error.to_string().contains(part), "{about}: {error}");
        assert!(error.to_string().contains("model.pdiparams"), "{about}: {error}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}
