//! Identifiers that every language of contracts takes, from names of models.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

/// Words that no identifier may be: keywords of C, C++, Rust and Python, names that their headers
/// define as macros, and names that the written functions use.
static RESERVED: LazyLock<HashSet<&str>> = LazyLock::new(|| WORDS.split(' ').collect());
const WORDS: &str = "\
    abstract add alignas alignof and and_eq as asm assert async at_least at_most atomic_cancel \
    atomic_commit atomic_noexcept auto await become bitand bitor bool box break broadcast \
    broadcasts case catch cdecl char char16_t char32_t char8_t class co_await co_return co_yield \
    compl complex concept condition const const_cast constant_bytes consteval constexpr constinit \
    continue contract_assert core crate dataclass decltype def default del delete do double dyn \
    dynamic_cast elif else enum equal errno exact except explicit export extern false far final \
    finally float floor_divide fn for friend from gen global goto i32 i386 i64 if imaginary impl \
    import in inline input_bytes int int64_t interface is isinstance lambda len let linux long \
    loop macro macro_rules major match max min minor mod module move multiply mut mutable \
    namespace near new noexcept none nonlocal noreturn not not_eq nullptr number object offsetof \
    ok operator option or or_eq out override pascal pass peak_bytes place print priv private \
    protected pub public raise raw ref reflexpr refused register reinterpret_cast require requires \
    restrict result return safe self sequence shapes short signed sizeof some static static_assert \
    static_cast stderr stdin stdout str struct super switch synchronized template this \
    thread_local throw trait transaction_safe true try tuple type typedef typeid typename typeof \
    typeof_unqual union unix unsafe unsigned unsized use using usize virtual void volatile wchar_t \
    where while with xor xor_eq yield";
/// Maximum number of characters of a name, before it is made unique.
const LONGEST: usize = 60;
/// Endings of the fields of an output.
const ENDINGS: [&str; 6] = ["", "_min", "_max", "_bytes", "_bytes_min", "_bytes_max"];

/// Identifiers that are given: arguments and variables, and fields of the result.
#[derive(Debug)]
pub(super) struct Names {
    plain: HashSet<String>,
    fields: HashSet<String>,
    /// The number that the next name of a base is tried with.
    next: HashMap<String, usize>,
}

impl Names {
    /// No names yet, but for the fields that every result has.
    pub(super) fn new() -> Names {
        // Fields that every result has.
        let fields = ["input_bytes", "peak_bytes"].map(str::to_owned).into();
        Names { plain: HashSet::new(), fields, next: HashMap::new() }
    }

    /// A name for an argument or a variable.
    pub(super) fn plain(&mut self, name: &str) -> String {
        let name = unique(name, &mut self.next, |name| self.plain.contains(name));
        self.plain.insert(name.clone());
        name
    }

    /// A name for an output, to which endings can be appended.
    pub(super) fn field(&mut self, name: &str) -> String {
        let taken =
            |name: &str| ENDINGS.iter().any(|ending| self.fields.contains(&format!("{name}{ending}")));
        let name = unique(name, &mut self.next, taken);
        self.fields.extend(ENDINGS.iter().map(|ending| format!("{name}{ending}")));
        name
    }
}

/// An identifier like a name: lowercase ASCII letters, digits, and single underscores between.
pub(super) fn identifier(name: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { ' ' };
    let words: String = name.chars().map(plain).collect();
    let words = words.split_whitespace().collect::<Vec<_>>().join("_");
    let mut short: String = words.chars().take(LONGEST).collect();
    short.truncate(short.trim_end_matches('_').len());
    match short.chars().next() {
        None => "value".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("v{short}"),
        Some(_) => short,
    }
}

fn unique(name: &str, next: &mut HashMap<String, usize>, taken: impl Fn(&str) -> bool) -> String {
    let base = identifier(name);
    let is_free = |name: &str| !RESERVED.contains(name) && !taken(name);
    if is_free(&base) {
        return base;
    }
    let number = next.entry(base.clone()).or_insert(2);
    loop {
        let name = format!("{base}_{number}");
        *number += 1;
        if is_free(&name) {
            return name;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_and_unique() {
        let mut names = Names::new();
        let made = ["x", "X", "x*/", "int", "é", "", "7th", "a__b_", "/enc/layer.0/MatMul_output_0"];
        let made = made.map(|name| names.plain(name));
        assert_eq!(
            made,
            ["x", "x_2", "x_3", "int_2", "value", "value_2", "v7th", "a_b", "enc_layer_0_matmul_output_0"]
        );
        assert_eq!(["y_bytes", "y", "y"].map(|name| names.field(name)), ["y_bytes", "y_2", "y_3"]);
    }

    #[test]
    fn many_equal_names_are_numbered_fast() {
        let mut names = Names::new();
        let last = (0..2000).map(|_| names.plain("数")).last();
        assert_eq!(last.as_deref(), Some("value_2000"));
    }
}
