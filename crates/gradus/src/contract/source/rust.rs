//! Contracts as modules of Rust.

use std::fmt::Write as _;

use super::{FormulaWriter, SourceCheck, StructField};
use crate::contract::{Contract, ContractElement, Language};

/// The parameters of functions of two numbers.
const NUMBERS: &str = "a: Option<i64>, b: Option<i64>";

/// Functions in the order in which they are written: name, parameters, type and body.
const FUNCTIONS: [(&str, &str, &str, &str); 14] = [
    ("add", NUMBERS, "i64", "a?.checked_add(b?)"),
    ("multiply", NUMBERS, "i64", "a?.checked_mul(b?)"),
    (
        "floor_divide",
        NUMBERS,
        "i64",
        "let (a, b) = (a?, b?);
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })",
    ),
    ("min", NUMBERS, "i64", "Some(a?.min(b?))"),
    ("max", NUMBERS, "i64", "Some(a?.max(b?))"),
    ("broadcast", NUMBERS, "i64", "if a? == 1 { b } else { a }"),
    ("equal", NUMBERS, "bool", "Some(a? == b?)"),
    ("at_most", NUMBERS, "bool", "Some(a? <= b?)"),
    ("at_least", NUMBERS, "bool", "Some(a? >= b?)"),
    ("unequal", NUMBERS, "bool", "Some(a? != b?)"),
    (
        "broadcasts",
        NUMBERS,
        "bool",
        "let (a, b) = (a?, b?);
    Some(a == b || a == 1 || b == 1)",
    ),
    ("implies", "when: Option<bool>, holds: Option<bool>", "bool", "if when? { holds } else { Some(true) }"),
    ("both", "a: Option<bool>, b: Option<bool>", "bool", "Some(a? && b?)"),
    ("pick", "when: Option<bool>, a: Option<i64>, b: Option<i64>", "i64", "if when? { a } else { b }"),
];

const REFUSED: &str = r#"/// Sizes that the model does not take.
#[allow(dead_code)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The condition that does not hold.
    pub condition: &'static str,
    /// The node that needs it, or `the inputs`.
    pub place: &'static str,
}

impl core::fmt::Display for Refused {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "sizes do not meet a condition: {} ({})", self.condition, self.place)
    }
}

impl core::error::Error for Refused {}

const TOO_LARGE: Refused =
    Refused { condition: "each number fits 64 bits and no divisor is zero", place: "the formulas" };
"#;

const REQUIRE: &str = r"
fn require(holds: Option<bool>, condition: &'static str, place: &'static str) -> Result<(), Refused> {
    match holds {
        Some(true) => Ok(()),
        Some(false) => Err(Refused { condition, place }),
        None => Err(TOO_LARGE),
    }
}
";

/// The Rust module for a contract.
pub(super) fn source(contract: &Contract, title: &str) -> String {
    let mut formulas = FormulaWriter::new(contract, Language::Rust, "");
    let mut body = String::new();
    for ContractElement { argument, variable, .. } in &contract.elements {
        let _ = writeln!(body, "    let {variable} = {argument};");
    }
    for (variable, argument, axis) in formulas.definitions() {
        let _ = writeln!(body, "    let {variable} = Some({argument}[{axis}]);");
    }
    let checks = formulas.checks();
    for check in &checks {
        let SourceCheck { holds, text, place, .. } = check;
        let require = format!("    require({holds}, {text:?}, {place:?})?;");
        let _ = match check.guard(|variable| format!("{variable}.is_some()"), " && ") {
            Some(guard) => writeln!(body, "    if {guard} {{\n    {require}\n    }}"),
            None => writeln!(body, "{require}"),
        };
    }
    let fields = formulas.fields();
    let positive = formulas.positive_symbols();
    let positive = positive.iter().map(|symbol| format!("{symbol} >= Some(1)")).collect::<Vec<_>>();
    let mut declared = String::new();
    let _ = writeln!(body, "    Ok(Shapes {{");
    for StructField { name, about, values, is_shape, is_partial } in &fields {
        let value = |formula: &Option<String>| match formula {
            Some(formula) if *is_partial => format!("Some(exact({formula})?)"),
            Some(formula) => format!("exact({formula})?"),
            None => "None".to_owned(),
        };
        let all = values.iter().map(value).collect::<Vec<_>>().join(", ");
        let of = if *is_partial { "Option<i64>" } else { "i64" };
        let (of, value) = match values.len() {
            len if *is_shape => (format!("[{of}; {len}]"), format!("[{all}]")),
            _ if name == "peak_bytes" && !positive.is_empty() => {
                (of.to_owned(), format!("if {} {{ {all} }} else {{ None }}", positive.join(" && ")))
            }
            _ => (of.to_owned(), all),
        };
        let _ = writeln!(declared, "    /// {}\n    pub {name}: {of},", capitalized(about));
        let _ = writeln!(body, "        {name}: {value},");
    }
    body.push_str("    })\n}\n");

    let mut text = String::from("// Shapes of a model, by `gradus infer --emit rust`.\n//\n");
    for line in formulas.head(title) {
        let _ = writeln!(text, "// {line}");
    }
    text.push('\n');
    if let Ok(bytes) = i64::try_from(contract.constant_bytes) {
        let _ = writeln!(
            text,
            "/// Bytes of all constants.\n#[allow(dead_code)]\npub const CONSTANT_BYTES: i64 = {bytes};\n"
        );
    }
    let _ = writeln!(
        text,
        "/// Shapes and memory for sizes that the model takes.\n#[allow(dead_code)]\n#[derive(Clone, Copy, \
         Debug, PartialEq, Eq)]\npub struct Shapes {{\n{declared}}}\n\n{REFUSED}"
    );
    let mut arguments: Vec<_> = contract
        .inputs
        .iter()
        .map(|input| format!("{}: [i64; {}]", input.argument, input.shape.len()))
        .collect();
    arguments.extend(contract.parameters.iter().map(|(_, name)| format!("{name}: i64")));
    arguments.extend(contract.elements.iter().map(|of| format!("{}: Option<i64>", of.argument)));
    let _ = write!(
        text,
        "/// Shapes and memory for these sizes of the inputs.\n///\n/// # Errors\n/// The condition that does not \
         hold.\n#[allow(dead_code, clippy::too_many_arguments, clippy::too_many_lines)]\npub fn shapes({}) -> \
         Result<Shapes, Refused> {{\n{body}",
        arguments.join(", ")
    );
    if !checks.is_empty() {
        text.push_str(REQUIRE);
    }
    if body.contains("exact(") {
        text.push_str(
            "\nfn exact(value: Option<i64>) -> Result<i64, Refused> {\n    value.ok_or(TOO_LARGE)\n}\n",
        );
    }
    for (name, parameters, of, body) in FUNCTIONS {
        if formulas.used.contains(name) {
            let _ = writeln!(text, "\nfn {name}({parameters}) -> Option<{of}> {{\n    {body}\n}}");
        }
    }
    text
}

/// Text whose first letter is a capital.
pub(super) fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
