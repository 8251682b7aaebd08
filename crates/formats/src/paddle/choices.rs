//! Branches of old programs: pairs of blocks, and the operators that choose of what they write.

use std::collections::{HashMap, HashSet};

use super::desc::OpDesc;

/// Blocks of a branch, and the variables that are chosen of what they write.
pub(super) struct BlockChoice<'s, 'a> {
    /// The block that runs if the condition is true, and the other.
    pub(super) branches: [&'s OpDesc<'a>; 2],
    /// The variables: what either block writes, and their own names.
    pub(super) values: [Vec<&'a str>; 3],
}

/// Pairs of `conditional_block` of which `select_input` chooses.
#[derive(Default)]
pub(super) struct Choices<'s, 'a> {
    /// By the place where the first variable is chosen.
    pub(super) all: HashMap<usize, BlockChoice<'s, 'a>>,
    /// Indices of the other operations that belong to a choice.
    pub(super) within: HashSet<usize>,
}

impl<'s, 'a> Choices<'s, 'a> {
    /// Finds the pairs of conditional blocks among operations, and what chooses from them.
    pub(super) fn of(operations: &'s [OpDesc<'a>]) -> Choices<'s, 'a> {
        let (mut writers, mut read, mut first) = (HashMap::new(), HashSet::new(), HashMap::new());
        for (place, block) in operations.iter().enumerate() {
            if block.name == "conditional_block" && block.int("is_scalar_condition") == Some(1) {
                writers.extend(block.writes().map(|name| (name, (place, block))));
            }
        }
        let mut choices = Choices::default();
        for (place, operation) in operations.iter().enumerate() {
            let of_both = match (operation.name, operation.values("X"), operation.writes().next()) {
                ("select_input", &[no, yes], Some(output)) => {
                    let both = (writers.get(yes), writers.get(no));
                    if let (Some(&(then, first)), Some(&(other, second))) = both
                        && then != other
                    {
                        Some(([yes, no, output], (then, first), (other, second)))
                    } else {
                        None
                    }
                }
                _ => None,
            };
            let Some((names, (then, yes), (other, no))) = of_both else {
                read.extend(operation.inputs.iter().flat_map(|(_, names)| names.iter().copied()));
                continue;
            };
            let start = *first.entry((then, other)).or_insert(place);
            choices.within.extend([then, other, place].into_iter().filter(|&part| part != start));
            let choice = choices.all.entry(start);
            let choice =
                choice.or_insert_with(|| BlockChoice { branches: [yes, no], values: <_>::default() });
            choice.values.iter_mut().zip(names).for_each(|(all, name)| all.push(name));
        }
        // Something else reads what a block writes: all stay what they are.
        let alone = |block: &OpDesc<'a>| block.writes().all(|name| !read.contains(name));
        if choices.all.values().all(|choice| choice.branches.into_iter().all(alone)) {
            choices
        } else {
            Choices::default()
        }
    }
}
