//! Mutation of files as trees: parts are removed, repeated, exchanged and replaced by others of the
//! same name; words of the tables of operators become other such words; numbers reach their ends.

use std::sync::LazyLock;

use fastrand::Rng;
use gradus::operators;
use libfuzzer_sys::fuzzer_mutate;

use crate::forms::Form;
use crate::tree::Tree;

/// Numbers at which sizes, axes, counts and types end.
const ENDS: [i64; 22] = [
    0,
    1,
    2,
    3,
    4,
    6,
    7,
    8,
    9,
    11,
    16,
    127,
    255,
    -1,
    -2,
    -5,
    1 << 31,
    (1 << 31) - 1,
    1 << 40,
    i64::MAX,
    i64::MIN,
    -1 << 31,
];

/// Names that stand for each other: operators of each standard, attributes of all.
static WORDS: LazyLock<Vec<Vec<&'static str>>> = LazyLock::new(|| {
    let mut words: Vec<Vec<&str>> = Vec::new();
    let mut standards = Vec::new();
    for row in operators::all() {
        if !standards.contains(&row.standard) {
            standards.push(row.standard);
            words.push(Vec::new());
        }
        let place = standards.iter().position(|&standard| standard == row.standard).unwrap_or(0);
        words[place].push(row.name);
    }
    let signatures = operators::all().flat_map(|row| row.signatures());
    let mut attributes: Vec<_> =
        signatures.flat_map(|signature| signature.attributes.iter().map(|rule| rule.name)).collect();
    attributes.sort_unstable();
    attributes.dedup();
    words.push(attributes);
    words.push(vec![
        "f32", "f16", "i64", "i32", "i8", "u8", "u4", "boolean", "string", "dynamic", "f64", "bf16",
    ]);
    words
});

fn pick<T: Copy>(random: &mut Rng, from: &[T]) -> Option<T> {
    (!from.is_empty()).then(|| from[random.usize(..from.len())])
}

fn number(random: &mut Rng, value: i64) -> i64 {
    match random.u8(..4) {
        0 => value.wrapping_add(random.i64(-2..3)),
        1 => random.i64(-1..20),
        _ => pick(random, &ENDS).unwrap_or(0),
    }
}

/// Bytes that differ: a list of integers in another item, a word as another word, others as the
/// fuzzer likes.
fn bytes(random: &mut Rng, old: &[u8]) -> Vec<u8> {
    if let Ok(text) = std::str::from_utf8(old) {
        let alike: Vec<_> = WORDS.iter().filter(|words| words.contains(&text)).collect();
        if let Some(word) = pick(random, &alike).and_then(|words| pick(random, words)) {
            return word.into();
        }
        let mut items: Vec<_> = text.split(',').map(str::to_owned).collect();
        let place = random.usize(..items.len());
        if let Ok(value) = items[place].trim().parse() {
            match random.u8(..8) {
                0 => drop(items.remove(place)),
                1 => items.insert(place, items[place].clone()),
                _ => items[place] = number(random, value).to_string(),
            }
            return items.join(",").into();
        }
    }
    let mut room = vec![0; old.len() + 8];
    room[..old.len()].copy_from_slice(old);
    let (size, most) = (old.len(), room.len());
    let size = fuzzer_mutate(&mut room, size, most);
    room.truncate(size);
    room
}

/// Makes one change.
fn change(random: &mut Rng, tree: &mut Tree, donor: &Tree) {
    let count = tree.count();
    if count == 0 {
        return;
    }
    let path = tree.path(random.usize(..count));
    let Some((&place, _)) = path.split_last() else { return };
    let Some(field) = tree.around(&path).map(|around| around[place].clone()) else { return };
    let mut same = Vec::new();
    donor.collect(&|other| other.label == field.label && *other != field, &mut same);
    let other = pick(random, &same).cloned();
    let Some(around) = tree.around(&path) else { return };
    match (random.u8(..10), other) {
        (0, _) => drop(around.remove(place)),
        (1, _) => around.insert(random.usize(..=around.len()), field),
        (2, _) => {
            let with = random.usize(..around.len());
            around.swap(place, with);
        }
        (3 | 4, Some(other)) => around.insert(place, other),
        (5 | 6, Some(other)) => around[place] = other,
        _ => match &mut around[place].tree {
            Tree::Bytes(old) => *old = bytes(random, old),
            Tree::Number(value) => *value = number(random, value.cast_signed()).cast_unsigned(),
            Tree::Raw(_) | Tree::Node(..) => {}
        },
    }
}

/// Changes a tree some times, with the parts of a donor, and writes it if there is room.
fn rewrite(random: &mut Rng, form: &dyn Form, mut tree: Tree, donor: &Tree, most: usize) -> Option<Vec<u8>> {
    for _ in 0..random.usize(1..4) {
        change(random, &mut tree, donor);
    }
    let written = form.write(&tree);
    (written.len() <= most).then_some(written)
}

fn put(out: &mut [u8], written: &[u8]) -> usize {
    out[..written.len()].copy_from_slice(written);
    written.len()
}

/// Mutates an input: as a tree of the first form that reads it, and sometimes as bytes.
pub fn mutate(data: &mut [u8], size: usize, most: usize, seed: u32, forms: &[&dyn Form]) -> usize {
    let mut random = Rng::with_seed(seed.into());
    if random.u8(..8) > 0
        && let Some((form, tree)) = forms.iter().find_map(|form| Some((form, form.read(&data[..size])?)))
    {
        let donor = tree.clone();
        if let Some(written) = rewrite(&mut random, *form, tree, &donor, most) {
            return put(data, &written);
        }
    }
    fuzzer_mutate(data, size, most)
}

/// Changes an input with the parts of another one.
pub fn cross(one: &[u8], other: &[u8], out: &mut [u8], seed: u32, forms: &[&dyn Form]) -> usize {
    let mut random = Rng::with_seed(seed.into());
    let crossed = forms.iter().find_map(|form| {
        let (tree, donor) = (form.read(one)?, form.read(other)?);
        rewrite(&mut random, *form, tree, &donor, out.len())
    });
    match crossed {
        Some(written) => put(out, &written),
        None => {
            let size = one.len().min(out.len());
            put(out, &one[..size])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forms::{Form, Json};

    #[test]
    fn parts_are_found_by_their_number() {
        let tree = Json.read(br#"{"a": [1, 2, {"b": "c"}], "d": 3}"#).unwrap();
        let labels = |number: usize| {
            let path = tree.path(number);
            let mut copy = tree.clone();
            let around = copy.around(&path).unwrap();
            String::from_utf8(around[*path.last().unwrap()].label.clone()).unwrap()
        };
        assert_eq!(tree.count(), 6);
        assert_eq!((0..6).map(labels).collect::<Vec<_>>(), ["a", "", "", "", "b", "d"]);
    }
}
