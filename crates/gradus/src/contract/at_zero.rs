//! Sizes of 0 that inference leaves out, as a `Reshape` to them may give another shape: a contract
//! has their conditions in place of a bound, and the shapes of outputs that differ as cases.

use gradus_core::Result;

use super::{Contract, ContractCondition, ContractOutput, OutputCase, OutputSize};
use crate::dim::{Claim, Condition, Dim, Ranges, Relation, Symbols};
use crate::model::Model;
use gradus_engine::infer::{InferOptions, ModelCondition, When, Why};

/// Maximum number of bounds of a contract below which conditions are looked for, and of bounds
/// below which others are.
pub(super) const MAX_BOUNDS: usize = 2;

impl Model {
    /// The contract, with the conditions below bounds that are taken for granted, `depth` of them at
    /// one time.
    pub(super) fn contract_at_zero(&self, options: &InferOptions, depth: usize) -> Result<Contract> {
        let mut inference = self.infer_as_declared(options)?;
        inference.must_be_consistent("cannot make a contract")?;
        let conditions = if depth > 0 { inference.conditions().to_vec() } else { Vec::new() };
        let bounds = conditions.iter().filter_map(|of| bound(inference.symbols_mut(), of));
        let bounds: Vec<_> = bounds.take(MAX_BOUNDS).collect();
        let mut contract = Contract::new(self, inference);
        for (bound, names) in bounds {
            let mut options = options.clone();
            options.sizes.dims.extend(names.iter().map(|name| (name.clone(), 0)));
            if let Ok(other) = self.contract_at_zero(&options, depth - 1) {
                contract.extend(bound, &names, &other);
            }
        }
        Ok(contract)
    }
}

/// The relation of a condition that is taken for granted, if it fails where some sizes are 0, and
/// nowhere else; and their names.
fn bound(symbols: &mut Symbols, of: &ModelCondition) -> Option<(Condition, Vec<String>)> {
    let is_bound = |of: &Condition| of.relation == Relation::AtLeast && of.right == Dim::ONE;
    let bound = of.relation.filter(|_| of.why == Why::Taken && of.when == When::Always).filter(is_bound)?;
    let below = symbols.opposite(&bound)?;
    let below = Claim::parse(&symbols.print_condition(&below)).ok()?;
    let names: Vec<_> =
        symbols.symbols_of(bound.left).into_iter().map(|symbol| symbol.name.to_string()).collect();
    let is_zero = |name: &String| {
        let size = symbols.find(name)?;
        let claim = Claim::parse(&format!("{} == 0", symbols.print(size))).ok()?;
        Some(claim.prove(std::slice::from_ref(&below), &Ranges::new(), None))
    };
    let fails = symbols.evaluate(bound.left, &|_| Some(0)).is_some_and(|value| value < 1);
    (fails && names.iter().all(|name| is_zero(name) == Some(true))).then_some((bound, names))
}

impl Contract {
    /// Puts the conditions of the contract for sizes of 0 in the place of a bound that they break,
    /// with cases of the outputs that have other sizes there.
    fn extend(&mut self, bound: Condition, zeros: &[String], other: &Contract) {
        let mut symbols = Symbols::default();
        for name in zeros {
            symbols.fix(name, 0);
        }
        let Some(below) = self.symbols.opposite(&bound) else { return };
        let Some(cases) = self.cases_of(other, below, &mut symbols) else { return };
        let Some(added) = self.conditions_of(other) else { return };
        for (output, cases) in self.outputs.iter_mut().zip(cases) {
            output.cases.extend(cases);
        }
        let parse = |symbols: &mut Symbols, of: &Condition, from: &Symbols| {
            symbols.parse_condition(&from.print_condition(of)).ok()
        };
        let always = other.conditions.iter().filter(|of| of.when.is_empty());
        let given: Vec<_> =
            always.filter_map(|of| parse(&mut symbols, &of.condition, &other.symbols)).collect();
        let mut all = Vec::new();
        for mut of in self.conditions.clone() {
            // The other contract has all that applies below the bound.
            if of.condition == bound || of.when.contains(&below) {
                continue;
            }
            let mut there = |of: &Condition| parse(&mut symbols, of, &self.symbols);
            let (condition, guards) =
                (there(&of.condition), of.when.iter().filter_map(there).collect::<Vec<_>>());
            let holds = added.iter().any(|other| other.condition == of.condition && other.when == of.when)
                || guards.iter().any(|guard| symbols.never_holds(guard))
                || condition.is_some_and(|condition| {
                    symbols.always_holds(&condition) || symbols.follows(&given, Some(&condition), None)
                });
            if !holds {
                of.when.push(bound);
                of.text = self.symbols.print_guarded(&of.condition, &of.when);
            }
            all.push(of);
        }
        all.extend(zeros.iter().filter_map(|name| self.size(name)));
        for mut of in added {
            let is_known = all.iter().any(|known| {
                known.condition == of.condition && known.when.iter().all(|guard| of.when.contains(guard))
            });
            if !is_known {
                of.when.push(below);
                of.text = self.symbols.print_guarded(&of.condition, &of.when);
                all.push(of);
            }
        }
        self.conditions = all;
    }

    /// The condition that a number is a size.
    fn size(&self, name: &str) -> Option<ContractCondition> {
        let condition = Condition::new(self.symbols.find(name)?, Relation::AtLeast, Dim::ZERO);
        let (text, place) = (self.symbols.print_condition(&condition), "the inputs".to_owned());
        let is_known = self.conditions.iter().any(|of| of.condition == condition && of.when.is_empty());
        (!is_known).then(|| ContractCondition { condition, when: Vec::new(), text, place })
    }

    /// The cases of each output by another contract, where some sizes are numbers; nothing if they
    /// are not exact, or if the contracts differ in conditions that sizes do not decide.
    fn cases_of(
        &mut self,
        other: &Contract,
        below: Condition,
        symbols: &mut Symbols,
    ) -> Option<Vec<Vec<OutputCase>>> {
        let texts = |all: &[ContractCondition]| all.iter().map(|of| of.text.clone()).collect::<Vec<_>>();
        let is_same = other.unchecked.iter().all(|of| self.unchecked.contains(of))
            && texts(&self.of_elements) == texts(&other.of_elements);
        let outputs = self.outputs.clone();
        { outputs }
            .iter()
            .zip(&other.outputs)
            .map(|(own, one)| self.cases_of_output(own, one, (other, below), symbols))
            .collect::<Option<_>>()
            .filter(|_| is_same)
    }

    fn cases_of_output(
        &mut self,
        own: &ContractOutput,
        one: &ContractOutput,
        (other, below): (&Contract, Condition),
        symbols: &mut Symbols,
    ) -> Option<Vec<OutputCase>> {
        let Some(shape) = &own.shape else { return Some(Vec::new()) };
        let of_other = one.shape.as_ref().filter(|other| other.len() == shape.len())?;
        let exact = |size: &OutputSize| match *size {
            OutputSize::Exact(dim) => Some(dim),
            OutputSize::Between(..) => None,
        };
        let mut cases = Vec::new();
        for OutputCase { when, shape, bytes } in &one.cases {
            let when = when.iter().map(|of| self.condition_of(other, of));
            let when = [Some(below)].into_iter().chain(when).collect::<Option<_>>()?;
            cases.push((when, shape.clone(), *bytes));
        }
        let mut is_same = |(own, one): (&OutputSize, &OutputSize)| match (own, one) {
            (OutputSize::Exact(own), OutputSize::Exact(one)) => {
                let own = symbols.parse(&self.symbols.print(*own).to_string()).ok();
                own.is_some() && own == symbols.parse(&other.symbols.print(*one).to_string()).ok()
            }
            _ => *own == OutputSize::Between(0, None),
        };
        if !shape.iter().zip(of_other).all(&mut is_same) {
            let shape = of_other.iter().map(exact).collect::<Option<_>>()?;
            cases.push((vec![below], shape, one.bytes.as_ref().and_then(exact)));
        }
        // A field holds a number or a range, in all cases.
        if !cases.is_empty() && shape.iter().chain(&own.bytes).any(|size| exact(size).is_none()) {
            return None;
        }
        let case = |(when, shape, bytes): (_, Vec<Dim>, Option<Dim>)| {
            let shape = shape.into_iter().map(|dim| self.dim_of(other, dim)).collect::<Option<_>>()?;
            let bytes = bytes.and_then(|bytes| self.dim_of(other, bytes));
            (bytes.is_some() == own.bytes.is_some()).then_some(OutputCase { when, shape, bytes })
        };
        cases.into_iter().map(case).collect()
    }

    /// An expression of another contract by the symbols of this one; nothing if bounds that are
    /// taken for granted here simplify it.
    fn dim_of(&mut self, other: &Contract, dim: Dim) -> Option<Dim> {
        let text = other.symbols.print(dim).to_string();
        let mut plain = Symbols::default();
        let (own, meant) = (self.symbols.parse(&text).ok()?, plain.parse(&text).ok()?);
        (plain.parse(&self.symbols.print(own).to_string()).ok()? == meant).then_some(own)
    }

    fn condition_of(&mut self, other: &Contract, of: &Condition) -> Option<Condition> {
        let [left, right] = [of.left, of.right].map(|dim| self.dim_of(other, dim));
        Some(Condition::new(left?, of.relation, right?))
    }

    /// The conditions of another contract between the symbols of this one, but for those that hold
    /// for all sizes; nothing if bounds that are taken for granted here simplify one of them.
    fn conditions_of(&mut self, other: &Contract) -> Option<Vec<ContractCondition>> {
        let mut plain = Symbols::default();
        let mut all = Vec::new();
        for of in &other.conditions {
            let condition = self.condition_of(other, &of.condition)?;
            let guards = of.when.iter().map(|guard| self.condition_of(other, guard));
            let when = guards.collect::<Option<_>>()?;
            let meant = plain.parse_condition(&other.symbols.print_condition(&of.condition)).ok()?;
            if !plain.always_holds(&meant) {
                all.push(ContractCondition { condition, when, ..of.clone() });
            }
        }
        Some(all)
    }
}
