//! Conditions and loops of old programs, whose bodies are blocks.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use gradus_core::graph::{Attribute, Builder, Content, Origin, Type};
use gradus_core::{Error, Kind, Result, Tensor};

use super::{BlockScope, DescReader, OpDesc, any_size, current};
use crate::paddle::choices::BlockChoice;

impl<'a> DescReader<'a, '_> {
    /// The block of an operation, and a graph of that name for it.
    fn nested(
        &mut self,
        scope: &BlockScope,
        operation: &OpDesc<'a>,
        name: &str,
    ) -> Result<(BlockScope, Vec<OpDesc<'a>>)> {
        let most = self.limits.max_depth;
        if scope.depth >= most {
            return Err(Error::new(Kind::Limit, format!("blocks are nested more than {most} deep")));
        }
        let body =
            operation.body.ok_or_else(|| Error::new(Kind::Graph, "attribute \"sub_block\" is missing"))?;
        let operations = self.open(body, operation.span)?;
        self.charge(operation.span, scope.current.len().saturating_mul(128))?;
        let inner = BlockScope {
            builder: Builder::nested(name),
            current: scope.current.clone(),
            fetched: Vec::new(),
            lengths: HashMap::new(),
            depth: scope.depth + 1,
        };
        Ok((inner, operations))
    }

    /// Two blocks of which one runs, and variables that are those of either.
    pub(super) fn choose(
        &mut self,
        scope: &mut BlockScope,
        operation: &OpDesc<'a>,
        choice: &BlockChoice<'_, 'a>,
    ) -> Result<()> {
        let mut attributes = Vec::new();
        let [yes, no, outputs] = &choice.values;
        let around = self.written_around(scope, &choice.branches)?;
        for ((block, values), name) in
            choice.branches.into_iter().zip([yes, no]).zip(["then_branch", "else_branch"])
        {
            let (mut inner, operations) = self.nested(scope, block, name)?;
            self.operations(&mut inner, &operations)?;
            self.close(block);
            for value in values.iter().chain(&around) {
                let key = current(&inner, value);
                inner.builder.output(&key);
            }
            let graph = Content::Graph(Arc::new(inner.builder.finish()?));
            attributes.push(Attribute { name: name.into(), content: graph });
        }
        let [yes, _] = choice.branches;
        let condition = yes.values("Cond").first().map(|name| current(scope, name));
        let outputs = [&outputs[..], &around].concat();
        self.node(scope, operation.span, ("", "if"), &[condition], &outputs, attributes)
    }

    /// Variables around the bodies of operations that these write, or the bodies within them.
    fn written_around(&mut self, scope: &BlockScope, operations: &[&OpDesc<'a>]) -> Result<Vec<&'a str>> {
        let (mut names, mut seen) = (Vec::new(), HashSet::new());
        for operation in operations {
            let (inner, body) = self.nested(scope, operation, "")?;
            self.arrays.clear();
            for within in &body {
                let own = within.writes().filter(|name| scope.current.contains_key(*name));
                names.extend(own.filter(|name| seen.insert(*name)));
                if within.body.is_some() {
                    let deeper = self.written_around(&inner, &[within])?;
                    names.extend(deeper.into_iter().filter(|name| seen.insert(*name)));
                }
            }
            self.close(operation);
        }
        Ok(names)
    }

    /// A block that runs if a condition holds. A variable that nothing has written before is zero
    /// if it does not: a program reads it only if it does.
    pub(super) fn condition(&mut self, scope: &mut BlockScope, operation: &OpDesc<'a>) -> Result<()> {
        let mut outputs: Vec<_> = operation.writes().collect();
        let around = self.written_around(scope, &[operation])?;
        outputs.extend(around.iter().filter(|name| !operation.writes().any(|own| own == **name)));
        let (mut yes, operations) = self.nested(scope, operation, "then_branch")?;
        self.operations(&mut yes, &operations)?;
        self.close(operation);
        let mut no = BlockScope {
            builder: Builder::nested("else_branch"),
            current: scope.current.clone(),
            fetched: Vec::new(),
            lengths: HashMap::new(),
            depth: scope.depth + 1,
        };
        for name in &outputs {
            let key = current(&yes, name);
            yes.builder.output(&key);
            if !no.current.contains_key(*name) {
                let Some(Type::Tensor(Some(dtype), dims)) = self.types.get(name) else {
                    return Err(Error::mismatch(
                        Kind::Unsupported,
                        format_args!("the type of variable \"{name}\""),
                        "unknown",
                        "that of a tensor",
                    ));
                };
                let attributes = [
                    ("shape", Content::Ints(dims.iter().flatten().map(any_size).collect())),
                    ("value", Content::Tensor(Tensor::scalar(0i64).into())),
                    ("dtype", Content::Bytes(dtype.name().into())),
                ];
                let attributes =
                    attributes.map(|(name, content)| Attribute { name: name.into(), content }).into();
                self.node(&mut no, operation.span, ("", "full"), &[], &[name], attributes)?;
                let value = no.builder.reference(&current(&no, name));
                no.builder.info(value).declared = None;
            }
            let key = current(&no, name);
            no.builder.output(&key);
        }
        let condition = operation.values("Cond").first().map(|name| current(scope, name));
        let attributes = [("then_branch", yes), ("else_branch", no)].map(|(name, branch)| {
            let graph = Content::Graph(Arc::new(branch.builder.finish()?));
            Ok(Attribute { name: name.into(), content: graph })
        });
        let attributes = attributes.into_iter().collect::<Result<Vec<_>>>()?;
        self.node(scope, operation.span, ("", "if"), &[condition], &outputs, attributes)
    }

    /// `select_input`: of two variables the second, if a number is not zero.
    pub(super) fn select(&mut self, scope: &mut BlockScope, operation: &OpDesc<'a>) -> Result<()> {
        let (&[no, yes], Some(mask)) = (operation.values("X"), operation.values("Mask").first()) else {
            return self.keep(scope, operation);
        };
        let truth = Content::Bytes("bool".into());
        let mask = Some(current(scope, mask));
        let condition = self.helper(scope, operation.span, "cast", &[mask], "dtype", truth)?;
        let attributes = [("then_branch", yes), ("else_branch", no)].map(|(branch, name)| {
            let mut builder = Builder::nested(branch);
            builder.output(&current(scope, name));
            let graph = Content::Graph(Arc::new(builder.finish()?));
            Ok(Attribute { name: branch.into(), content: graph })
        });
        let attributes = attributes.into_iter().collect::<Result<Vec<_>>>()?;
        let outputs: Vec<_> = operation.writes().collect();
        self.node(scope, operation.span, ("", "if"), &[Some(condition)], &outputs, attributes)
    }

    /// `write_to_array`: the array is an output, of which a new state is made.
    pub(super) fn write(&mut self, scope: &mut BlockScope, operation: &OpDesc<'a>) -> Result<()> {
        let array: Vec<_> = operation.writes().collect();
        let mut inputs = vec![array.first().map(|name| current(scope, name))];
        let mut attributes = Vec::new();
        inputs.extend(operation.values("X").first().map(|name| Some(current(scope, name))));
        if let Some(place) = operation.values("I").first().map(|name| current(scope, name)) {
            if scope.lengths.get(&place).is_some_and(|of| inputs.first() == Some(&Some(of.clone()))) {
                attributes.push(Attribute { name: "append".into(), content: Content::Int(1) });
            } else {
                inputs.push(Some(place));
            }
        }
        self.node(scope, operation.span, ("", "array_write"), &inputs, &array, attributes)
    }

    /// `while`: what its block writes of the variables around it is carried.
    pub(super) fn repeat(&mut self, scope: &mut BlockScope, operation: &OpDesc<'a>) -> Result<()> {
        let &[condition] = operation.values("Condition") else {
            return Err(Error::new(Kind::Graph, "input \"Condition\" is missing"));
        };
        let carried = self.written_around(scope, &[operation])?;
        let (mut inner, operations) = self.nested(scope, operation, "body")?;
        for lead in ["#run", "#goes_on"] {
            inner.builder.define(lead, Origin::Input)?;
        }
        for name in &carried {
            let key = self.next_key(name);
            let value = inner.builder.define(&key, Origin::Input)?;
            inner.builder.info(value).declared = self.types.get(name).cloned();
            inner.current.insert((*name).to_owned(), key);
        }
        self.operations(&mut inner, &operations)?;
        self.close(operation);
        for name in [condition].iter().chain(&carried) {
            let key = current(&inner, name);
            inner.builder.output(&key);
        }
        let graph = Content::Graph(Arc::new(inner.builder.finish()?));
        let first = [None, Some(current(scope, condition))];
        let inputs: Vec<_> =
            first.into_iter().chain(carried.iter().map(|name| Some(current(scope, name)))).collect();
        let attributes = vec![Attribute { name: "body".into(), content: graph }];
        self.node(scope, operation.span, ("", "while"), &inputs, &carried, attributes)
    }
}
