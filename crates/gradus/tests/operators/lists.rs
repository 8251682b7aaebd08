//! The table of operators is the only place that knows operators: no list of their names stands
//! elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use gradus::graph::Standard;
use gradus::operators::{self, Row};

/// The names in a list that is no list of operators, at most.
const FEW: usize = 3;

/// Files that list more operators, by how many lists of them they have, and why: tables of their
/// own.
const LISTED: &[(&str, usize, &str)] = &[
    ("gradus/fold/rules/exact.rs", 3, "operators that a rule looks at"),
    ("gradus/fold/rules/fuse.rs", 2, "operators that a rule looks at"),
];

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

/// The lists of words in quotes, with nothing but commas or bars between.
fn lists(text: &str) -> Vec<Vec<&str>> {
    let (mut all, mut list, mut rest) = (Vec::new(), Vec::new(), text);
    while let Some((between, after)) = rest.split_once('"') {
        let Some((word, after)) = after.split_once('"') else { break };
        if !matches!(between.trim(), "," | "|") {
            all.push(std::mem::take(&mut list));
        }
        let is_word = !word.is_empty() && word.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if is_word {
            list.push(word);
            rest = after;
        } else {
            all.push(std::mem::take(&mut list));
            // A quote within a character or a text begins no word.
            rest = &rest[between.len() + 1..];
        }
    }
    all.push(list);
    all
}

/// Operators of ONNX and OpenVINO: Paddle's have names of all kinds of things.
#[test]
fn no_list_of_operators_stands_outside_the_tables() {
    let known: BTreeSet<_> =
        operators::all().filter(|row| row.standard != Standard::Paddle).map(|row| row.name).collect();
    let mut found = BTreeMap::new();
    for part in ["engine", "gradus", "operators"] {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(part).join("src");
        let table = source.join("table");
        for path in files(&source).into_iter().filter(|path| !path.starts_with(&table)) {
            let text = std::fs::read_to_string(&path).unwrap();
            let count = |list: &Vec<&str>| list.iter().filter(|word| known.contains(**word)).count();
            let lists = lists(&text).iter().filter(|list| count(list) > FEW).count();
            if lists > 0 {
                let file = path.strip_prefix(&source).unwrap().to_string_lossy().replace('\\', "/");
                found.insert(format!("{part}/{file}"), lists);
            }
        }
    }
    let listed: BTreeMap<_, _> = LISTED.iter().map(|(file, lists, _)| ((*file).to_owned(), *lists)).collect();
    assert_eq!(found, listed, "lists of four or more operators, by file");
}

/// Operators that no node runs.
const NOT_RUN: &str = "Adagrad Adam BeamSearch BitmaskDropout DynamicQuantizeLinear FlexAttention \
    FusedMatMulActivation GemmFloat8 GemmaRotaryEmbedding Gradient GreedySearch ImageDecoder \
    LongformerAttention MaxpoolWithMask MoE Momentum QMoE RelativePositionBias Sampling";

/// Operators that are converted to no other standard, for which no row says what that lacks.
const NOT_CONVERTED: &str = "Adagrad Adam Assign BeamSearch BitCast BitmaskDropout CastMap CategoryMapper \
    CausalConvWithState CropAndResize DictVectorizer DynamicQuantizeLinear FeatureVectorizer \
    FlexAttention FusedMatMulActivation GemmFloat8 GemmaRotaryEmbedding GeomSpace Gradient \
    GreedySearch ImageDecoder LinSpace LinearAttention LogSpace LongformerAttention MaxUnpool \
    MaxpoolWithMask MelWeightMatrix MoE Momentum MurmurHash3 NGramRepeatBlock OptionalHasElement \
    QMoE ReadValue RelativePositionBias RotaryEmbedding Sampling TensorScatter cholesky \
    cholesky_solve eig eigh eigvals eigvalsh lstsq lu lu_unpack matrix_rank nextafter qr svd \
    svdvals triangular_solve";

/// A row that is only a name compiles: one that is forgotten halfway is named here.
#[test]
fn every_row_is_inferred_run_and_converted() {
    let rows: Vec<_> = operators::all().filter(|row| !row.is_lowered()).collect();
    let without = |has: fn(&Row) -> bool| {
        rows.iter().filter(|row| !has(row)).map(|row| row.name).collect::<BTreeSet<_>>()
    };
    let words = |list: &'static str| list.split(' ').collect::<BTreeSet<_>>();
    assert_eq!(without(Row::is_inferred), BTreeSet::new());
    assert_eq!(without(|row| row.is_evaluated() || row.runs_by_conversion()), words(NOT_RUN));
    assert_eq!(without(|row| row.conversion().is_some() || row.lack.is_some()), words(NOT_CONVERTED));
}
