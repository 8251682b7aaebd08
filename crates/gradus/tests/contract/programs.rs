//! Contracts as programs of each language, which are compiled, run and compared with the reference.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use gradus::contract::{Contract, Language, OutputSize};

/// Sizes of the inputs of a contract, and then the parameters.
#[derive(Clone, Debug)]
pub struct Sizes(pub Vec<Vec<i64>>, pub Vec<i64>);

/// The answer of the library, which has no source: numbers of all fields, or the refusal.
pub fn evaluated(contract: &Contract, sizes: &Sizes) -> Result<Vec<i64>, String> {
    let inputs = contract.inputs().iter().map(|input| &*input.name);
    let inputs: Vec<_> = inputs.zip(sizes.0.iter().map(Vec::as_slice)).collect();
    let parameters = contract.parameters().map(|(symbol, _)| symbol);
    let parameters: Vec<_> = parameters.zip(sizes.1.iter().copied()).collect();
    let shapes = contract.shapes(&inputs, &parameters).map_err(|error| {
        let text = error.message().strip_prefix("sizes do not meet a condition: ").unwrap();
        gradus::text::escaped(text).into_owned()
    })?;
    let mut fields = Vec::new();
    for (output, found) in contract.outputs().iter().zip(shapes.outputs) {
        let sizes = found.sizes.unwrap_or_default();
        fields.extend(sizes.iter().map(|(least, _)| *least));
        if output.shape.iter().flatten().any(|size| matches!(size, OutputSize::Between(..))) {
            fields.extend(sizes.iter().map(|(_, most)| most.unwrap_or(-1)));
        }
        fields.extend(output.bytes.map(|_| found.bytes.unwrap_or(-1)));
    }
    fields.extend(shapes.input_bytes);
    fields.push(shapes.peak_bytes.unwrap_or(-1));
    Ok(fields)
}

/// The fields of the result: the name, and how many numbers it has where it is a list.
fn fields(contract: &Contract) -> Vec<(String, Option<usize>)> {
    let mut fields = Vec::new();
    for output in contract.outputs() {
        let field = &output.field;
        if let Some(shape) = &output.shape {
            if shape.iter().all(|size| matches!(size, OutputSize::Exact(_))) {
                fields.push((field.clone(), Some(shape.len())));
            } else {
                fields.push((format!("{field}_min"), Some(shape.len())));
                fields.push((format!("{field}_max"), Some(shape.len())));
            }
        }
        match output.bytes {
            Some(OutputSize::Exact(_)) => fields.push((format!("{field}_bytes"), None)),
            Some(OutputSize::Between(..)) => fields.push((format!("{field}_bytes_max"), None)),
            None => {}
        }
    }
    fields.extend(contract.input_bytes().map(|_| ("input_bytes".to_owned(), None)));
    fields.push(("peak_bytes".to_owned(), None));
    fields
}

/// A call of a contract in a language, with literal sizes.
fn arguments(contract: &Contract, sizes: &Sizes, language: Language) -> String {
    let integer = |size: &i64| match language {
        Language::C if *size == i64::MIN => "INT64_MIN".to_owned(),
        Language::C => format!("INT64_C({size})"),
        _ => size.to_string(),
    };
    let list = |sizes: &Vec<i64>| {
        let items = sizes.iter().map(integer).collect::<Vec<_>>().join(", ");
        if language == Language::C { format!("(const int64_t[]){{{items}}}") } else { format!("[{items}]") }
    };
    let mut lists = sizes.0.iter().map(list).chain(sizes.1.iter().map(integer)).collect::<Vec<_>>();
    assert_eq!(lists.len(), contract.inputs().len() + contract.parameters().count());
    // Elements are left out.
    let absent = match language {
        Language::Rust => "None",
        Language::C => "NULL",
        _ => "",
    };
    if !absent.is_empty() {
        lists.extend(contract.elements().iter().map(|_| absent.to_owned()));
    }
    lists.join(", ")
}

fn rust_program(of: &[(String, Contract, Vec<Sizes>)]) -> String {
    let mut text = String::from("#![deny(warnings)]\n");
    for (name, ..) in of {
        let _ = writeln!(text, "mod {name};");
    }
    text.push_str("trait Shown { fn shown(&self) -> String; }\n");
    text.push_str("impl Shown for i64 { fn shown(&self) -> String { self.to_string() } }\n");
    text.push_str(
        "impl Shown for Option<i64> { fn shown(&self) -> String { self.unwrap_or(-1).to_string() } }\n",
    );
    text.push_str(
        "fn show(line: &mut String, value: &dyn Shown) { line.push(' '); line.push_str(&value.shown()); }\n",
    );
    for (name, contract, cases) in of {
        let _ = writeln!(text, "fn show_{name}(result: Result<{name}::Shapes, {name}::Refused>) {{");
        text.push_str(
            "    match result {\n        Ok(shapes) => {\n            let mut line = String::from(\"ok\");\n",
        );
        for (field, list) in fields(contract) {
            let _ = match list {
                Some(_) => writeln!(
                    text,
                    "            shapes.{field}.iter().for_each(|size| show(&mut line, size));"
                ),
                None => writeln!(text, "            show(&mut line, &shapes.{field});"),
            };
        }
        text.push_str("            println!(\"{line}\");\n        }\n");
        text.push_str("        Err(refused) => println!(\"refused {} ({})\", refused.condition, refused.place),\n    }\n}\n");
        let _ = writeln!(text, "fn run_{name}() {{");
        for sizes in cases {
            let call = arguments(contract, sizes, Language::Rust);
            let _ = writeln!(text, "    show_{name}({name}::shapes({call}));");
        }
        text.push_str("}\n");
    }
    text.push_str("fn main() {\n");
    for (name, ..) in of {
        let _ = writeln!(text, "    run_{name}();");
    }
    text + "}\n"
}

fn c_program(of: &[(String, Contract, Vec<Sizes>)]) -> String {
    let mut text = String::from("#include <stdio.h>\n#include <inttypes.h>\n");
    for (name, ..) in of {
        let _ = writeln!(text, "#include \"{name}.h\"\n#include \"{name}.h\"");
    }
    for (name, contract, cases) in of {
        let _ = writeln!(
            text,
            "static void show_{name}(const char *refused, const struct {name}_result *result)\n{{\n    if (refused) \
             {{\n        printf(\"refused %s\\n\", refused);\n        return;\n    }}\n    printf(\"ok\");"
        );
        for (field, list) in fields(contract) {
            let one = |of: &str| format!("    printf(\" %\" PRId64, result->{of});\n");
            match list {
                Some(len) => (0..len).for_each(|axis| text.push_str(&one(&format!("{field}[{axis}]")))),
                None => text.push_str(&one(&field)),
            }
        }
        let _ = writeln!(
            text,
            "    printf(\"\\n\");\n}}\nstatic void run_{name}(void)\n{{\n    struct {name}_result result;"
        );
        for sizes in cases {
            let call = arguments(contract, sizes, Language::C);
            let comma = if call.is_empty() { "" } else { ", " };
            // The order of evaluation of arguments is not fixed.
            let _ = writeln!(
                text,
                "    {{\n        const char *refused = {name}_shapes({call}{comma}&result);\n        \
                 show_{name}(refused, &result);\n    }}"
            );
        }
        text.push_str("}\n");
    }
    text.push_str("int main(void)\n{\n");
    for (name, ..) in of {
        let _ = writeln!(text, "    run_{name}();");
    }
    text + "    return 0;\n}\n"
}

fn python_program(of: &[(String, Contract, Vec<Sizes>)]) -> String {
    let mut text = String::from("import sys\nsys.stdout.reconfigure(encoding='utf-8')\n");
    text.push_str("def shown(value):\n    return -1 if value is None else value\n");
    for (name, contract, cases) in of {
        let _ = writeln!(
            text,
            "import {name}\ndef run(*sizes):\n    try:\n        result = {name}.shapes(*sizes)"
        );
        let _ = writeln!(text, "    except {name}.Refused as error:");
        text.push_str(
            "        print(f'refused {error.condition} ({error.place})')\n        return\n    line = []\n",
        );
        for (field, list) in fields(contract) {
            let _ = match list {
                Some(_) => writeln!(text, "    line += result.{field}"),
                None => writeln!(text, "    line.append(result.{field})"),
            };
        }
        text.push_str("    print('ok', *map(shown, line))\n");
        for sizes in cases {
            let _ = writeln!(text, "run({})", arguments(contract, sizes, Language::Python));
        }
    }
    text
}

pub fn run(command: &mut Command, what: &str) -> String {
    let done = command.output().unwrap_or_else(|error| panic!("{what}: {error}"));
    let errors = String::from_utf8_lossy(&done.stderr);
    assert!(
        done.status.success() && errors.is_empty(),
        "{what}: {}",
        errors.chars().take(4000).collect::<String>()
    );
    String::from_utf8(done.stdout).unwrap()
}

/// A folder of its own, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path =
            Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("contract-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub const LANGUAGES: [Language; 3] = [Language::Rust, Language::C, Language::Python];

/// Compiles and runs contracts in some languages, and compares all results with the reference.
/// Returns how many cases are accepted and refused.
pub fn compare(name: &str, of: &[(String, Contract, Vec<Sizes>)], languages: &[Language]) -> (usize, usize) {
    let folder = Folder::new(name);
    let wanted: Vec<_> = of
        .iter()
        .flat_map(|(name, contract, cases)| cases.iter().map(move |sizes| (name, contract, sizes)))
        .map(|(name, contract, sizes)| match evaluated(contract, sizes) {
            Ok(fields) => {
                let fields: Vec<_> = fields.iter().map(ToString::to_string).collect();
                (name, sizes, format!("ok {}", fields.join(" ")))
            }
            Err(refused) => (name, sizes, format!("refused {refused}")),
        })
        .collect();
    for &language in languages {
        let (ending, program, main) = match language {
            Language::Rust => ("rs", rust_program(of), "main.rs"),
            Language::C => ("h", c_program(of), "main.c"),
            _ => ("py", python_program(of), "main.py"),
        };
        for (name, contract, _) in of {
            folder.write(&format!("{name}.{ending}"), &contract.source(language, &format!("{name}.onnx")));
        }
        folder.write(main, &program);
        let binary = folder.0.join("main");
        let output = match language {
            Language::Rust => {
                let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
                let mut command = Command::new(rustc);
                command.current_dir(&folder.0).args(["--edition=2024", "main.rs", "-o", "main"]);
                run(&mut command, "rustc");
                run(&mut Command::new(&binary), "the program of Rust")
            }
            Language::C => {
                let mut command = Command::new("cc");
                command.current_dir(&folder.0).args([
                    "-std=c99",
                    "-Wall",
                    "-Wextra",
                    "-Werror",
                    "-Wno-overlength-strings",
                ]);
                run(command.args(["main.c", "-o", "main"]), "cc");
                run(&mut Command::new(&binary), "the program of C")
            }
            _ => {
                let mut command = Command::new("python3");
                run(command.current_dir(&folder.0).args(["-W", "error", "-B", "main.py"]), "python3")
            }
        };
        let lines: Vec<_> = output.lines().collect();
        assert_eq!(lines.len(), wanted.len(), "{language:?}");
        for (line, (name, sizes, wanted)) in lines.into_iter().zip(&wanted) {
            assert_eq!(line, wanted, "{name} in {language:?} at {sizes:?}");
        }
    }
    let accepted = wanted.iter().filter(|(_, _, line)| line.starts_with("ok")).count();
    (accepted, wanted.len() - accepted)
}
