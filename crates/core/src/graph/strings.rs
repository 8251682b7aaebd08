//! Lists of byte strings.

use std::alloc::{Layout, handle_alloc_error};
use std::collections::{HashMap, TryReserveError};
use std::ops::Index;
use std::sync::Arc;

use bytes::Bytes;

use crate::error::{Error, Kind, Result};

/// A list of byte strings. Copies share them, and a list of few strings keeps each once: trees have
/// millions of modes, which are one of seven.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Strings(List);

/// Lists of at most 2^16 strings have the first form, so that equal lists have the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum List {
    /// The strings in the order of their first occurrence, and the index of each element.
    Few(Arc<[Bytes]>, Arc<[u16]>),
    Many(Arc<[Bytes]>),
}

impl Strings {
    /// Returns the number of elements.
    pub fn len(&self) -> usize {
        match &self.0 {
            List::Few(_, order) => order.len(),
            List::Many(all) => all.len(),
        }
    }

    /// Returns true if there are no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Bytes> + Clone {
        (0..self.len()).map(|at| &self[at])
    }

    /// The strings of the list; each once, if they are few.
    pub fn distinct(&self) -> &[Bytes] {
        match &self.0 {
            List::Few(distinct, _) => distinct,
            List::Many(all) => all,
        }
    }
}

impl Index<usize> for Strings {
    type Output = Bytes;

    fn index(&self, at: usize) -> &Bytes {
        match &self.0 {
            List::Few(distinct, order) => &distinct[usize::from(order[at])],
            List::Many(all) => &all[at],
        }
    }
}

/// A list that is made element by element.
#[derive(Debug, Default)]
pub struct StringsBuilder {
    distinct: Vec<Bytes>,
    known: HashMap<Bytes, u16>,
    order: Vec<u16>,
    /// All elements, once there are more strings than the order can tell apart.
    many: Option<Vec<Bytes>>,
}

impl StringsBuilder {
    /// Appends an element.
    ///
    /// # Errors
    /// [`Kind::Limit`] if the system has not as many bytes left.
    pub fn push(&mut self, text: Bytes) -> Result<()> {
        self.append(text).map_err(|_| {
            let message = "cannot allocate a list of strings: the system has not as many bytes left";
            Error::new(Kind::Limit, message)
        })
    }

    fn append(&mut self, text: Bytes) -> std::result::Result<(), TryReserveError> {
        if let Some(all) = &mut self.many {
            all.try_reserve(1)?;
            all.push(text);
            return Ok(());
        }
        let last = self.order.last().copied().filter(|&last| self.distinct[usize::from(last)] == text);
        if let Some(known) = last.or_else(|| self.known.get(&text).copied()) {
            self.order.try_reserve(1)?;
            self.order.push(known);
        } else if let Ok(new) = u16::try_from(self.distinct.len()) {
            self.order.try_reserve(1)?;
            self.known.try_reserve(1)?;
            self.distinct.try_reserve(1)?;
            self.order.push(new);
            self.known.insert(text.clone(), new);
            self.distinct.push(text);
        } else {
            let mut all = Vec::new();
            all.try_reserve(self.order.len() + 1)?;
            all.extend(self.order.iter().map(|&at| self.distinct[usize::from(at)].clone()));
            all.push(text);
            *self = StringsBuilder { many: Some(all), ..StringsBuilder::default() };
        }
        Ok(())
    }

    /// The list.
    pub fn finish(self) -> Strings {
        Strings(match self.many {
            Some(all) => List::Many(all.into()),
            None => List::Few(self.distinct.into(), self.order.into()),
        })
    }
}

impl FromIterator<Bytes> for Strings {
    fn from_iter<I: IntoIterator<Item = Bytes>>(all: I) -> Strings {
        let mut list = StringsBuilder::default();
        for text in all {
            if list.append(text).is_err() {
                handle_alloc_error(Layout::new::<Bytes>());
            }
        }
        list.finish()
    }
}

impl From<Vec<Bytes>> for Strings {
    fn from(all: Vec<Bytes>) -> Strings {
        all.into_iter().collect()
    }
}

impl<const N: usize> From<[Bytes; N]> for Strings {
    fn from(all: [Bytes; N]) -> Strings {
        all.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(count: usize, modulus: usize) -> Vec<Bytes> {
        (0..count).map(|at| Bytes::from((at % modulus).to_string())).collect()
    }

    #[test]
    fn lists_have_the_elements_that_they_are_made_of() {
        for (count, modulus) in [(0, 1), (5, 1), (7, 3), (70_000, 65_536), (70_000, 65_537), (70_000, 70_000)]
        {
            let all = numbered(count, modulus);
            let list = Strings::from(all.clone());
            assert_eq!(list.len(), count);
            assert!(list.iter().eq(&all), "{count} {modulus}");
            assert_eq!(list, all.into_iter().collect::<Strings>());
        }
    }

    #[test]
    fn few_strings_are_kept_once() {
        assert_eq!(Strings::from(numbered(70_000, 3)).distinct().len(), 3);
        assert_eq!(Strings::from(numbered(70_000, 65_537)).distinct().len(), 70_000);
    }
}
