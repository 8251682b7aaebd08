//! Evaluation of `TfIdfVectorizer`, and its graph of comparisons.

use std::collections::HashMap;

use gradus_core::convert::{i64_of, product, usize_of_i64};
use gradus_core::sort::SharedSort;
use gradus_core::{DType, Error, Kind, Result, Shape, Tensor, Value};

use crate::attributes::{Attributes, required};
use crate::errors;
use crate::floats::Ring;
use crate::graphs::unsupported;
use crate::lowering::terms::{cast, with};
use crate::lowering::{LoweredValue, Lowering, int};
use crate::op::EvalContext;
use crate::output::allowed;
use crate::words;

/// A token of a text: an integer or a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Token<'a> {
    Integer(i64),
    Word(&'a str),
}

/// The attributes of `TfIdfVectorizer`.
#[derive(Debug)]
pub struct Grams<'a> {
    pool: Vec<Token<'a>>,
    /// Starts of the n-grams of each length in the pool.
    starts: Vec<usize>,
    /// The coordinate of each n-gram in the output.
    indexes: Vec<usize>,
    weights: Option<&'a [f32]>,
    mode: &'a str,
    shortest: usize,
    longest: usize,
    skips: usize,
    width: i64,
}

impl<'a> Grams<'a> {
    /// The n-grams of a `TfIdfVectorizer`, as attributes give them.
    pub fn of(attributes: &Attributes<'a>) -> Result<Grams<'a>> {
        let pool: Vec<_> = match (attributes.ints("pool_int64s")?, attributes.texts("pool_strings")?) {
            (Some(all), None) => all.iter().map(|&integer| Token::Integer(integer)).collect(),
            (None, Some(all)) => all.into_iter().map(Token::Word).collect(),
            (given, _) => {
                let got = if given.is_some() { 2 } else { 0 };
                return Err(Error::mismatch(
                    Kind::Graph,
                    "the number of attributes that give a pool",
                    got,
                    1,
                ));
            }
        };
        let mode = words::GRAMS.of(attributes)?;
        let list = |name: &str| {
            let all = required(name, attributes.ints(name)?)?;
            let wrong = |x| errors::value(format_args!("attribute \"{name}\""), x, "at least 0");
            all.iter().map(|&x| usize_of_i64(x).ok_or_else(|| wrong(x))).collect::<Result<Vec<_>>>()
        };
        let at_least = |name: &str, least: i64| {
            let given = required(name, attributes.int(name)?)?;
            let size = usize_of_i64(given).filter(|_| given >= least);
            size.ok_or_else(|| {
                errors::value(format_args!("attribute \"{name}\""), given, format_args!("at least {least}"))
            })
        };
        let (starts, indexes) = (list("ngram_counts")?, list("ngram_indexes")?);
        let order = starts.iter().copied().zip(starts.iter().skip(1).copied().chain([pool.len()]));
        if let Some((start, end)) = order.clone().find(|(start, end)| start > end) {
            return Err(errors::value(
                "a start in attribute \"ngram_counts\"",
                start,
                format!("at most {end}"),
            ));
        }
        let count: usize = order.enumerate().map(|(n, (start, end))| (end - start) / (n + 1)).sum();
        errors::expect_count("elements of attribute \"ngram_indexes\"", indexes.len(), count)?;
        let last = attributes.ints("ngram_indexes")?.and_then(|all| all.iter().max().copied());
        let width = last.map_or(0, |last| last.saturating_add(1));
        let weights = attributes.floats("weights")?.filter(|weights| !weights.is_empty() && mode != "TF");
        if let Some(weights) = weights
            && usize_of_i64(width).is_none_or(|width| weights.len() < width)
        {
            let wanted = format_args!("at least {width}");
            return Err(errors::count("elements of attribute \"weights\"", weights.len(), wanted));
        }
        let (shortest, longest) = (at_least("min_gram_length", 1)?, at_least("max_gram_length", 1)?);
        if shortest > longest {
            let wanted = format_args!("at most {longest}, the maximum");
            return Err(errors::value("attribute \"min_gram_length\"", shortest, wanted));
        }
        let given = attributes.floats("weights")?.map_or(0, <[f32]>::len);
        if given > 0 && given != indexes.len() {
            return Err(errors::count("elements of attribute \"weights\"", given, indexes.len()));
        }
        let skips = at_least("max_skip_count", 0)?;
        Ok(Grams { pool, starts, indexes, weights, mode, shortest, longest, skips, width })
    }

    /// The number of coordinates.
    pub fn width(&self) -> i64 {
        self.width
    }

    /// Checks that the pool holds what the input does.
    pub fn check(&self, dtype: DType) -> Result<()> {
        let words = dtype == DType::String;
        match self.pool.first() {
            Some(Token::Integer(_)) if words => Err(errors::dtype(dtype, "int32 or int64, as the pool")),
            Some(Token::Word(_)) if !words => Err(errors::dtype(dtype, "string, as the pool")),
            _ => Ok(()),
        }
    }

    /// The coordinate of each n-gram whose length is counted.
    fn coordinates(&self) -> HashMap<&[Token<'a>], usize> {
        let mut all = HashMap::new();
        let mut indexes = self.indexes.iter();
        let ends = self.starts.iter().skip(1).copied().chain([self.pool.len()]);
        for (n, (&start, end)) in self.starts.iter().zip(ends).enumerate() {
            for (gram, &index) in self.pool[start..end].chunks_exact(n + 1).zip(indexes.by_ref()) {
                if (self.shortest..=self.longest).contains(&(n + 1)) {
                    all.insert(gram, index);
                }
            }
        }
        all
    }
}

/// `TfIdfVectorizer`. Weights belong to coordinates, as in ONNX Runtime and in ONNX's reference;
/// the text gives them to n-grams, which is the same where coordinates count n-grams.
pub fn tf_idf(attributes: &Attributes<'_>, cx: &mut EvalContext<'_>) -> Result<Vec<Value>> {
    let grams = Grams::of(attributes)?;
    let data = cx.tensor(0)?;
    grams.check(data.dtype())?;
    cx.reserve(product(data.len() + 2 * grams.pool.len(), 4 * size_of::<Token<'_>>()))?;
    let tokens: Vec<_> = match data.dtype() {
        DType::String => data.texts()?.iter().map(|text| Token::Word(text)).collect(),
        _ => cx.integers(0)?.into_iter().map(Token::Integer).collect(),
    };
    let (dtype, shape) = cx.output(0)?;
    allowed(cx, dtype, shape.dims())?;
    let mut counts = vec![0.0f64; shape.len()];
    let width = shape.dims().last().copied().unwrap_or(0);
    let row = data.shape().dims().last().copied().unwrap_or(1);
    let coordinates = grams.coordinates();
    let lengths: Vec<_> =
        (1..=grams.starts.len()).filter(|n| (grams.shortest..=grams.longest).contains(n)).collect();
    for (tokens, counts) in tokens.chunks(row.max(1)).zip(counts.chunks_mut(width.max(1))) {
        for distance in 1..=grams.skips.saturating_add(1).min(row.max(1)) {
            // A single token has no distance.
            for &n in lengths.iter().filter(|&&n| n > 1 || distance == 1) {
                let span = (n - 1).saturating_mul(distance).saturating_add(1);
                let windows = tokens.windows(span.max(1));
                cx.run.touch(product(windows.len(), n))?;
                for window in windows {
                    let gram: Vec<_> = window.iter().step_by(distance).copied().collect();
                    if let Some(&index) = coordinates.get(&gram[..]) {
                        counts[index] += 1.0;
                    }
                }
            }
        }
        for (index, count) in counts.iter_mut().enumerate().filter(|_| grams.mode != "TF") {
            let weight = grams.weights.map_or(1.0, |weights| weights[index].into());
            *count = weight * if grams.mode == "IDF" { count.min(1.0) } else { *count };
        }
    }
    Ok(vec![f64::tensor(dtype, shape, &counts)?.into()])
}

/// Maximum of comparisons of a list of n-grams with windows of one distance.
const MAX_COMPARISONS: usize = 64;

/// `TfIdfVectorizer` of integers: each n-gram is compared with all windows of its length and
/// distance, and the windows that are equal are counted.
pub fn compared_grams(l: &mut Lowering<'_>) -> Result<Vec<LoweredValue>> {
    let grams = Grams::of(&l.attributes)?;
    let (dtype, rank) = (l.dtype_of(0)?, l.rank_of(0)?);
    grams.check(dtype)?;
    if dtype == DType::String {
        return Err(unsupported("TfIdfVectorizer of strings"));
    }
    let (mut x, first, last) = (l.input(0)?, l.list(&[0])?, l.list(&[2])?);
    if dtype != DType::I64 {
        x = l.cast(x, DType::I64)?;
    }
    if rank == 1 {
        x = l.apply("Unsqueeze", &[x, first], &[])?;
    }
    let mut all: Vec<(Vec<i64>, usize)> = Vec::new();
    for (gram, index) in grams.coordinates() {
        let integer = |token: &Token<'_>| if let Token::Integer(x) = token { Some(*x) } else { None };
        all.extend(gram.iter().map(integer).collect::<Option<_>>().map(|gram| (gram, index)));
    }
    all.shared_sort_by(|(a, i), (b, j)| (a.len(), i, a).cmp(&(b.len(), j, b)));
    let second = l.list(&[1])?;
    let mut counts = Vec::new();
    for grams_of_length in all.chunk_by(|(a, _), (b, _)| a.len() == b.len()) {
        let n = grams_of_length[0].0.len();
        let distances = if n == 1 { 1 } else { grams.skips.saturating_add(1) };
        if distances.saturating_mul(n) > MAX_COMPARISONS {
            return Err(unsupported("TfIdfVectorizer of as many lengths and distances"));
        }
        let columns = (0..n).map(|at| {
            let column: Vec<_> = grams_of_length.iter().map(|(gram, _)| gram[at]).collect();
            l.constant(Tensor::from_vec(Shape::new([column.len(), 1])?, column)?)
        });
        let columns = columns.collect::<Result<Vec<_>>>()?;
        let mut sum = None;
        for distance in (1..=distances).map(i64_of) {
            let mut equal = None;
            for (at, &column) in columns.iter().enumerate() {
                let behind = i64_of(n - 1 - at) * distance;
                let start = l.list(&[i64_of(at) * distance])?;
                let end = l.list(&[if behind == 0 { i64::MAX } else { -behind }])?;
                let part = l.apply("Slice", &[x, start, end, second], &[])?;
                let part = l.apply("Unsqueeze", &[part, second], &[])?;
                let own = l.apply("Equal", &[part, column], &[])?;
                equal = Some(match equal {
                    Some(equal) => l.apply("And", &[equal, own], &[])?,
                    None => own,
                });
            }
            let equal = equal.ok_or_else(|| errors::missing("element of an n-gram"))?;
            let found =
                with("ReduceSum", [cast(equal, DType::I64), last.into()], [int("keepdims", 0)]).put(l)?;
            sum = Some(match sum {
                Some(sum) => l.apply("Add", &[sum, found], &[])?,
                None => found,
            });
        }
        counts.extend(sum);
    }
    if counts.is_empty() {
        return Err(unsupported("TfIdfVectorizer that counts no n-grams"));
    }
    let counts = l.apply("Concat", &counts, &[int("axis", 1)])?;
    // A column of zeros for coordinates of no n-gram.
    let pads = l.list(&[0, 0, 0, 1])?;
    let counts = l.apply("Pad", &[counts, pads], &[])?;
    let width = usize_of_i64(grams.width()).filter(|&width| width <= 1 << 24);
    let width = width.ok_or_else(|| unsupported("TfIdfVectorizer of as many coordinates"))?;
    let mut places: Vec<Vec<usize>> = vec![Vec::new(); width];
    for (place, (_, index)) in all.iter().enumerate() {
        places[*index].push(place);
    }
    let mut value = None;
    for turn in 0..places.iter().map(Vec::len).max().unwrap_or(0) {
        let own = |places: &Vec<usize>| i64_of(places.get(turn).copied().unwrap_or(all.len()));
        let own = l.list(&places.iter().map(own).collect::<Vec<_>>())?;
        let part = l.apply("Gather", &[counts, own], &[int("axis", 1)])?;
        value = Some(match value {
            Some(value) => l.apply("Add", &[value, part], &[])?,
            None => part,
        });
    }
    let mut value = value.ok_or_else(|| errors::missing("coordinate of an n-gram"))?;
    if grams.mode == "IDF" {
        let one = l.constant(Tensor::scalar(1i64))?;
        value = l.apply("Min", &[value, one], &[])?;
    }
    let mut value = l.cast(value, DType::F32)?;
    if let Some(weights) = grams.weights {
        let weights = l.constant(Tensor::vector(&weights[..width]))?;
        value = l.apply("Mul", &[value, weights], &[])?;
    }
    Ok(vec![if rank == 1 { l.apply("Squeeze", &[value, first], &[])? } else { value }])
}
