//! Equations of Einsum.

use std::ops::Range;

use gradus_core::sort::SharedSort;
use gradus_core::{Result, convert};

use crate::operators::errors;

/// The axes of an equation's terms and of its result, by name. Axes that the terms do not name have
/// names that are no letters, counted from the last one.
#[derive(Debug)]
pub struct Equation {
    pub terms: Vec<Vec<char>>,
    pub result: Vec<char>,
    /// The ellipsis of each term: its first axis, and the number of its axes.
    ellipses: Vec<Option<(usize, usize)>>,
    /// The number of axes of the longest ellipsis.
    most: usize,
}

impl Equation {
    /// For operands of these ranks.
    ///
    /// # Errors
    /// [`gradus_core::Kind::Shape`] if the terms do not fit the operands,
    /// [`gradus_core::Kind::Value`] if the result names an axis that no term has, or one twice.
    pub fn new(text: &str, ranks: &[usize]) -> Result<Equation> {
        let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (left, right) = match text.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (&*text, None),
        };
        let texts: Vec<_> = left.split(',').collect();
        errors::expect_count("terms of the equation", texts.len(), ranks.len())?;
        let open = |count: usize| {
            (0..count).rev().map(|axis| char::from_u32(0xf0000 + convert::small_u32(axis)).unwrap_or('?'))
        };
        let (mut terms, mut ellipses, mut most) = (Vec::new(), Vec::new(), 0);
        for (input, (term, &rank)) in texts.into_iter().zip(ranks).enumerate() {
            let (before, after) = term.split_once("...").unwrap_or((term, ""));
            let named = before.chars().count() + after.chars().count();
            let hidden = rank.checked_sub(named).filter(|&hidden| hidden == 0 || term.contains("..."));
            let hidden = hidden.ok_or_else(|| {
                errors::count(&format!("axes in term \"{term}\" for input {input}"), named, rank)
            })?;
            most = most.max(hidden);
            ellipses.push(term.find("...").map(|_| (before.chars().count(), hidden)));
            terms.push(before.chars().chain(open(hidden)).chain(after.chars()).collect::<Vec<_>>());
        }
        let count = |name: char| terms.iter().flatten().filter(|&&other| other == name).count();
        let result: Vec<_> = if let Some(right) = right {
            match right.split_once("...") {
                Some((before, after)) => before.chars().chain(open(most)).chain(after.chars()).collect(),
                None => right.chars().collect(),
            }
        } else {
            let mut once: Vec<_> =
                terms.iter().flatten().copied().filter(|c| c.is_ascii() && count(*c) == 1).collect();
            once.shared_sort();
            open(most).chain(once).collect()
        };
        if let Some(unknown) = result.iter().find(|&&name| count(name) == 0) {
            return Err(errors::value(
                "axis of the result",
                format_args!("'{unknown}'"),
                "an axis of a term",
            ));
        }
        let is_again = |&(at, name): &(usize, &char)| result[..at].contains(name);
        if let Some((_, again)) = result.iter().enumerate().find(is_again) {
            let got = format_args!("'{again}', which it has before");
            return Err(errors::value("axis of the result", got, "each axis once"));
        }
        Ok(Equation { terms, result, ellipses, most })
    }

    /// The equation, if all ellipses stand for the same number of axes, as ONNX wants it.
    ///
    /// # Errors
    /// [`gradus_core::Kind::Shape`] if they do not.
    pub fn of_equal_ellipses(self) -> Result<Equation> {
        match self.padding().into_iter().find(|(_, axes)| !axes.is_empty()) {
            None => Ok(self),
            Some((input, axes)) => {
                let what = format!("axes of the ellipsis for input {input}");
                Err(errors::count(&what, self.most - axes.len(), self.most))
            }
        }
    }

    /// For each input with an ellipsis, the axes of size 1 that make it as long as the longest.
    pub fn padding(&self) -> Vec<(usize, Range<usize>)> {
        let all = self.ellipses.iter().enumerate();
        all.filter_map(|(input, own)| own.map(|(at, len)| (input, at..at + self.most - len))).collect()
    }
}
