//! Contracts as headers of C.

use std::fmt::Write as _;

use super::rust::capitalized;
use super::{FormulaWriter, SourceCheck, StructField};
use crate::contract::names::identifier;
use crate::contract::{Contract, ContractElement, Language};

/// Functions by name, in the order in which they are written. `NUMBER` stands for the type, and
/// `NAME` for the name.
const FUNCTIONS: [(&str, &str); 15] = [
    ("number", "NUMBER NAME(int64_t value)\n{\n    NUMBER result = {value, 1};\n    return result;\n}\n"),
    (
        "add",
        "NUMBER NAME(NUMBER a, NUMBER b)
{
    NUMBER result = {0, 0};
    if (a.known && b.known && (b.value < 0 ? a.value >= INT64_MIN - b.value : a.value <= INT64_MAX - b.value)) {
        result.value = a.value + b.value;
        result.known = 1;
    }
    return result;
}
",
    ),
    (
        "multiply",
        "NUMBER NAME(NUMBER a, NUMBER b)
{
    NUMBER result = {0, 0};
    int fits = a.known && b.known;
    if (fits && a.value > 0) {
        fits = b.value > 0 ? a.value <= INT64_MAX / b.value : b.value >= INT64_MIN / a.value;
    } else if (fits && a.value < 0) {
        fits = b.value > 0 ? a.value >= INT64_MIN / b.value : b.value >= INT64_MAX / a.value;
    }
    if (fits) {
        result.value = a.value * b.value;
        result.known = 1;
    }
    return result;
}
",
    ),
    (
        "floor_divide",
        "NUMBER NAME(NUMBER a, NUMBER b)
{
    NUMBER result = {0, 0};
    if (a.known && b.known && b.value != 0 && !(a.value == INT64_MIN && b.value == -1)) {
        result.value = a.value / b.value;
        if (a.value % b.value != 0 && (a.value < 0) != (b.value < 0)) {
            result.value -= 1;
        }
        result.known = 1;
    }
    return result;
}
",
    ),
    (
        "min",
        "NUMBER NAME(NUMBER a, NUMBER b)
{
    NUMBER result = {a.value < b.value ? a.value : b.value, a.known && b.known};
    return result;
}
",
    ),
    (
        "max",
        "NUMBER NAME(NUMBER a, NUMBER b)
{
    NUMBER result = {a.value > b.value ? a.value : b.value, a.known && b.known};
    return result;
}
",
    ),
    ("broadcast", "NUMBER NAME(NUMBER a, NUMBER b)\n{\n    return a.known && a.value == 1 ? b : a;\n}\n"),
    ("equal", "int NAME(NUMBER a, NUMBER b)\n{\n    return a.known && b.known ? a.value == b.value : -1;\n}\n"),
    ("at_most", "int NAME(NUMBER a, NUMBER b)\n{\n    return a.known && b.known ? a.value <= b.value : -1;\n}\n"),
    ("at_least", "int NAME(NUMBER a, NUMBER b)\n{\n    return a.known && b.known ? a.value >= b.value : -1;\n}\n"),
    ("unequal", "int NAME(NUMBER a, NUMBER b)\n{\n    return a.known && b.known ? a.value != b.value : -1;\n}\n"),
    (
        "broadcasts",
        "int NAME(NUMBER a, NUMBER b)
{
    if (!a.known || !b.known) {
        return -1;
    }
    return a.value == b.value || a.value == 1 || b.value == 1;
}
",
    ),
    ("implies", "int NAME(int when, int holds)\n{\n    return when > 0 ? holds : when < 0 ? -1 : 1;\n}\n"),
    ("both", "int NAME(int a, int b)\n{\n    return a < 0 || b < 0 ? -1 : a && b;\n}\n"),
    (
        "pick",
        "NUMBER NAME(int when, NUMBER a, NUMBER b)
{
    NUMBER none = {0, 0};
    return when > 0 ? a : when < 0 ? none : b;
}
",
    ),
];

const TOO_LARGE: &str = "\"each number fits 64 bits and no divisor is zero (the formulas)\"";

/// The fields of the result, declared; and in `body` the statements that set them.
fn declared(fields: &[StructField], exact: &str, body: &mut String) -> String {
    let mut declared = String::new();
    for StructField { name, about, values, is_shape, is_partial } in fields {
        for (axis, formula) in values.iter().enumerate() {
            let place =
                if *is_shape { format!("result_->{name}[{axis}]") } else { format!("result_->{name}") };
            let _ = match formula {
                Some(formula) => {
                    writeln!(
                        body,
                        "    if (!{exact}({formula}, &{place})) {{\n        return {TOO_LARGE};\n    }}"
                    )
                }
                None => writeln!(body, "    {place} = -1;"),
            };
        }
        let size = is_shape.then_some(values.len());
        let unknown = if *is_partial { " Unknown: -1." } else { "" };
        let about = capitalized(about);
        let _ = match size {
            // C has no arrays without elements.
            Some(0) => writeln!(declared, "    // No sizes: {about}"),
            Some(len) => writeln!(declared, "    // {about}{unknown}\n    int64_t {name}[{len}];"),
            None => writeln!(declared, "    // {about}{unknown}\n    int64_t {name};"),
        };
    }
    declared
}

/// The header of C for a contract.
pub(super) fn source(contract: &Contract, title: &str) -> String {
    let stem = title.rsplit_once('.').map_or(title, |(stem, _)| stem);
    let prefix = identifier(stem);
    let mut formulas = FormulaWriter::new(contract, Language::C, &prefix);
    let number = format!("struct {prefix}_number");
    let mut body = String::new();
    for (variable, argument, axis) in formulas.definitions() {
        let value = formulas.call("number", &[&format!("{argument}[{axis}]")]);
        let _ = writeln!(body, "    const {number} {variable} = {value};");
    }
    for ContractElement { argument, variable, .. } in &contract.elements {
        let given = format!("{argument} != NULL");
        let _ = writeln!(body, "    const {number} {variable} = {{{given} ? *{argument} : 0, {given}}};");
    }
    let fields = formulas.fields();
    let checks = formulas.checks();
    if !checks.is_empty() {
        body.push_str("    int holds_;\n");
    }
    let exact = formulas.function("exact");
    for check in &checks {
        let SourceCheck { holds, text, place, .. } = check;
        let guard = check.guard(|variable| format!("{variable}.known"), " && ");
        if let Some(guard) = &guard {
            let _ = writeln!(body, "    if ({guard}) {{");
        }
        let refused = literal(&format!("{text} ({place})"));
        let _ = writeln!(
            body,
            "    holds_ = {holds};\n    if (holds_ != 1) {{\n        return holds_ == 0 ? {refused} : {TOO_LARGE};\n    }}"
        );
        if guard.is_some() {
            body.push_str("    }\n");
        }
    }
    let declared = declared(&fields, &exact, &mut body);
    let positive = formulas.positive_symbols();
    if !positive.is_empty() {
        let zero: Vec<_> = positive.iter().map(|symbol| format!("{symbol}.value < 1")).collect();
        let _ =
            writeln!(body, "    if ({}) {{\n        result_->peak_bytes = -1;\n    }}", zero.join(" || "));
    }

    let guard = format!("{}_SHAPES_H", prefix.to_uppercase());
    let mut text = String::from("// Shapes of a model, by `gradus infer --emit c`.\n//\n");
    for line in formulas.head(title) {
        let _ = writeln!(text, "// {}", line.replace("??", "? ?"));
    }
    let _ =
        writeln!(text, "\n#ifndef {guard}\n#define {guard}\n\n#include <stddef.h>\n#include <stdint.h>\n");
    if let Ok(bytes) = i64::try_from(contract.constant_bytes) {
        let (upper, bytes) = (prefix.to_uppercase(), formulas.literal(bytes));
        let _ = writeln!(text, "// Bytes of all constants.\n#define {upper}_CONSTANT_BYTES {bytes}\n");
    }
    let declared = declared.replace("??", "? ?");
    let _ = writeln!(
        text,
        "// Shapes and memory for sizes that the model takes.\nstruct {prefix}_result {{\n{declared}}};\n\n// A \
         number, unless it exceeds 64 bits or comes from a division by zero.\n{number} {{\n    int64_t value;\n    \
         int known;\n}};\n"
    );
    for (name, function) in FUNCTIONS {
        if formulas.used.contains(name) {
            let function = function.replace("NAME", &formulas.function(name)).replace("NUMBER", &number);
            let _ = writeln!(text, "static inline {function}");
        }
    }
    if body.contains(&format!("{exact}(")) {
        let _ = writeln!(
            text,
            "static inline int {exact}({number} of, int64_t *value)\n{{\n    *value = of.value;\n    return \
             of.known;\n}}\n"
        );
    }
    let mut arguments: Vec<_> = contract
        .inputs
        .iter()
        .map(|input| format!("const int64_t {}[{}]", input.argument, input.shape.len()))
        .collect();
    arguments.extend(contract.parameters.iter().map(|(_, name)| format!("int64_t {name}")));
    arguments.extend(contract.elements.iter().map(|of| format!("const int64_t *{}", of.argument)));
    arguments.push(format!("struct {prefix}_result *result_"));
    let _ = write!(
        text,
        "// Writes shapes and memory for these sizes of the inputs, and returns NULL; or returns the condition \
         that\n// does not hold, and leaves the result undefined.\nstatic inline const char \
         *{prefix}_shapes({})\n{{\n{body}    return NULL;\n}}\n\n#endif\n",
        arguments.join(", ")
    );
    text
}

/// Text as a string literal of ASCII characters, without trigraphs.
fn literal(text: &str) -> String {
    let mut literal = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' | b'?' => {
                literal.push('\\');
                literal.push(char::from(byte));
            }
            b' '..=b'~' => literal.push(char::from(byte)),
            _ => {
                let _ = write!(literal, "\\{byte:03o}");
            }
        }
    }
    literal.push('"');
    literal
}
