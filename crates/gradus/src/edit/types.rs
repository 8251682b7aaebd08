//! Other types and layouts of inputs and outputs, and the nodes between them and the model.

use gradus_core::convert::{Rules, i64_of};
use gradus_core::graph::edit::{Made, Step};
use gradus_core::graph::{Attribute, Content, Standard, Type};
use gradus_core::sort::SharedSort;
use gradus_core::{Class, DType, Number, Shape, Tensor};

use super::apply::quoted;
use super::{Arc, DeclaredDim, Editor, Error, Kind, Renames, Result, ValueId};
use gradus_formats::onnx::number_of;
use gradus_formats::openvino::element_type;

/// The factor and the summand by which the elements of an image become those that a model wants:
/// none, one, or one for each channel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scaling {
    /// Factors.
    pub scale: Vec<f64>,
    /// Summands.
    pub offset: Vec<f64>,
}

/// Nodes after an input or before an output, in the operators of the model, and constants that they
/// read.
struct Chain {
    standard: Standard,
    nodes: Vec<Made>,
    constants: Vec<(Arc<str>, Tensor)>,
}

impl Chain {
    fn push(&mut self, operator: &'static str, inputs: Vec<Arc<str>>, to: &Arc<str>) {
        self.nodes.push(made(operator, inputs, to, Vec::new()));
    }

    fn cast(&mut self, from: &Arc<str>, to: &Arc<str>, dtype: DType) -> Result<()> {
        self.nodes.push(match self.standard {
            Standard::OpenVino => {
                let name = element_type(dtype).ok_or_else(|| {
                    let what = "cannot cast: the element type";
                    Error::mismatch(Kind::Unsupported, what, dtype, "one that OpenVINO has")
                })?;
                let attributes = Attribute::list([("destination_type", Content::Text(name.into()))]);
                made("Convert", vec![from.clone()], to, attributes)
            }
            _ => cast(from, to, dtype),
        });
        Ok(())
    }

    fn transpose(&mut self, from: &Arc<str>, to: &Arc<str>, perm: Vec<i64>, order: Arc<str>) {
        if self.standard == Standard::OpenVino {
            self.constants.push((order.clone(), Tensor::vector(&perm)));
            return self.push("Transpose", vec![from.clone(), order], to);
        }
        let attributes = Attribute::list([("perm", Content::Ints(perm.into()))]);
        self.nodes.push(made("Transpose", vec![from.clone()], to, attributes));
    }

    /// The operators, in their order.
    fn operators(&self) -> String {
        self.nodes.iter().map(|made| made.operator).collect::<Vec<_>>().join(", ")
    }
}

fn made(operator: &'static str, inputs: Vec<Arc<str>>, to: &Arc<str>, attributes: Vec<Attribute>) -> Made {
    let (name, outputs) = (format!("{to}/{operator}").into(), vec![to.clone()]);
    Made { name, operator, version: 1, inputs, outputs, attributes }
}

/// A node that casts a value to another.
pub(super) fn cast(from: &Arc<str>, to: &Arc<str>, dtype: DType) -> Made {
    let number = Content::Int(number_of(dtype).unwrap_or(0));
    made("Cast", vec![from.clone()], to, Attribute::list([("to", number)]))
}

/// A value of the interface that nodes are put next to.
struct Port {
    name: Arc<str>,
    dtype: DType,
    sizes: Vec<DeclaredDim>,
    is_input: bool,
}

impl Editor {
    /// Lets an input have another element type: a Cast, and a product and a sum where it is scaled,
    /// lead to what the model reads.
    pub(super) fn input_type(&mut self, input: &str, dtype: DType, scaling: &Scaling) -> Result<()> {
        let id = self.now.input(input)?;
        let port = self.port(id, "change the type of")?;
        check_cast(&port, dtype)?;
        let inner = self.fresh(&format!("{}_{}", port.name, port.dtype.name()));
        let mut chain = self.chain();
        let multiply = if chain.standard == Standard::OpenVino { "Multiply" } else { "Mul" };
        let steps = [(multiply, "scale", &scaling.scale), ("Add", "offset", &scaling.offset)];
        let steps: Vec<_> = steps.into_iter().filter(|(_, _, numbers)| !numbers.is_empty()).collect();
        let name_of = |step: usize| {
            let is_last = step == steps.len();
            if is_last { inner.clone() } else { self.fresh(&format!("{}_step{step}", port.name)) }
        };
        let mut from = name_of(0);
        chain.cast(&port.name, &from, port.dtype)?;
        for (index, (operator, what, numbers)) in steps.iter().enumerate() {
            let (to, constant) = (name_of(index + 1), self.fresh(&format!("{}_{what}", port.name)));
            chain.constants.push((constant.clone(), numbers_of(&port, what, numbers)?));
            chain.push(operator, vec![from, constant], &to);
            from = to;
        }
        let of = Type::Tensor(Some(dtype), Some(port.sizes.clone()));
        let note = format!(
            "changed the type of input {} from {} to {dtype}, with {} after it",
            quoted(&port.name),
            port.dtype,
            chain.operators()
        );
        self.put(&port, &inner, of, chain)?;
        self.note(note);
        Ok(())
    }

    /// Lets an output have another element type, by a Cast before it.
    pub(super) fn output_type(&mut self, output: &str, dtype: DType) -> Result<()> {
        let id = self.output(output)?;
        let port = self.port(id, "change the type of")?;
        check_cast(&port, dtype)?;
        let inner = self.fresh(&format!("{}_{}", port.name, port.dtype.name()));
        let mut chain = self.chain();
        chain.cast(&inner, &port.name, dtype)?;
        let of = Type::Tensor(Some(dtype), Some(port.sizes.clone()));
        let (name, before, operators) = (quoted(&port.name), port.dtype, chain.operators());
        self.put(&port, &inner, of, chain)?;
        self.note(format_args!(
            "changed the type of output {name} from {before} to {dtype}, with {operators} before it"
        ));
        Ok(())
    }

    /// Gives an input or an output its axes in another order, by a Transpose.
    pub(super) fn layout(&mut self, name: &str, layout: &str) -> Result<()> {
        let id = self.now.input(name).or_else(|error| self.output(name).map_err(|_| error))?;
        let port = self.port(id, "change the layout of")?;
        let order = axes(&port, layout)?;
        let (from, to) = (order.0, order.1);
        let place = |axis: &char, list: &[char]| list.iter().position(|other| other == axis).unwrap_or(0);
        let outer: Vec<_> = to.iter().map(|axis| port.sizes[place(axis, &from)].clone()).collect();
        let inner = self.fresh(&format!("{}_{}", port.name, from.iter().collect::<String>().to_lowercase()));
        let (source, target) = if port.is_input { (&to, &from) } else { (&from, &to) };
        let perm = target.iter().map(|axis| i64_of(place(axis, source))).collect();
        let mut chain = self.chain();
        let [from_value, to_value] = if port.is_input { [&port.name, &inner] } else { [&inner, &port.name] };
        chain.transpose(from_value, to_value, perm, self.fresh(&format!("{inner}_order")));
        let of = Type::Tensor(Some(port.dtype), Some(outer));
        let (is, side) = if port.is_input { ("input", "after") } else { ("output", "before") };
        let [from, to] = [&from, &to].map(|axes| axes.iter().collect::<String>());
        let note = format!(
            "changed the layout of {is} {} from {from} to {to}, with Transpose {side} it",
            quoted(&port.name)
        );
        self.put(&port, &inner, of, chain)?;
        self.note(note);
        Ok(())
    }

    /// The output of that name.
    pub(super) fn output(&self, name: &str) -> Result<ValueId> {
        let graph = self.graph();
        let names = || graph.outputs().iter().map(|&id| &*graph.value(id).name);
        let found = graph.outputs().iter().find(|&&id| *graph.value(id).name == *name);
        found.copied().ok_or_else(|| Error::unknown("output", name, names()))
    }

    /// No nodes yet.
    fn chain(&self) -> Chain {
        Chain { standard: self.now.source().standard, nodes: Vec::new(), constants: Vec::new() }
    }

    /// The type of an input or output that nodes can be put next to.
    fn port(&self, id: ValueId, what: &str) -> Result<Port> {
        let graph = self.graph();
        let (info, is_input) = (graph.value(id), graph.inputs().contains(&id));
        let name = quoted(&info.name);
        let fail = |why: &str| Err(Error::new(Kind::Usage, format!("cannot {what} {name}: {why}")));
        if is_input && graph.outputs().contains(&id) {
            return fail("it is an input and an output");
        }
        if graph.constant(id).is_some() {
            return fail("it has a default (--no-default takes it)");
        }
        self.must_have_casts(&format!("{what} {name}"))?;
        match &info.declared {
            Some(Type::Tensor(Some(dtype), Some(sizes))) => {
                Ok(Port { name: info.name.clone(), dtype: *dtype, sizes: sizes.clone(), is_input })
            }
            _ => fail("the model does not declare its element type and rank"),
        }
    }

    /// Returns an error for operator sets without the Cast and the arithmetic that edits write.
    pub(super) fn must_have_casts(&self, what: &str) -> Result<()> {
        /// The oldest operator set whose arithmetic broadcasts, and whose Cast names types by
        /// numbers.
        const OLDEST: i64 = 7;
        let own = self.now.source().opsets.iter().find(|(domain, _)| domain.is_empty());
        let Some((_, version)) = own.filter(|(_, version)| *version < OLDEST) else { return Ok(()) };
        let what = format_args!("cannot {what}: the operator set");
        Err(Error::mismatch(Kind::Unsupported, what, version, format_args!("at least {OLDEST}")))
    }

    /// Puts nodes between a value of the interface, which gets a type, and the rest of the model,
    /// in which another name has its place.
    fn put(&mut self, port: &Port, inner: &Arc<str>, of: Type, chain: Chain) -> Result<()> {
        let keeping = self.keeping();
        self.change_names(&keeping, &Renames::from([(port.name.clone(), inner.clone())]))?;
        let mut edit = self.keeping();
        let graph = self.graph();
        let renamed = |ids: &[ValueId]| {
            let names = self.names_of(ids).into_iter();
            names.map(|name| if name == *inner { port.name.clone() } else { name }).collect()
        };
        let between: Vec<_> = chain.nodes.iter().flat_map(|made| &made.outputs).cloned().collect();
        let made = chain.nodes.into_iter().map(|made| Step::Made(Box::new(made)));
        if port.is_input {
            edit.inputs = Some(renamed(graph.inputs()));
            edit.nodes.splice(0..0, made);
        } else {
            edit.outputs = Some(renamed(graph.outputs()));
            edit.nodes.extend(made);
        }
        if chain.standard == Standard::OpenVino {
            // Files of OpenVINO say the type at each port: those between have that of the model.
            let between = between.into_iter().filter(|name| *name != port.name);
            let of = Type::Tensor(Some(port.dtype), Some(port.sizes.clone()));
            edit.types = between.map(|name| (name, of.clone())).collect();
        }
        edit.types.push((port.name.clone(), of));
        edit.constants = chain.constants;
        self.change(&edit)
    }
}

/// Returns an error where no Cast leads from one element type to another.
fn check_cast(port: &Port, dtype: DType) -> Result<()> {
    let name = quoted(&port.name);
    if dtype == port.dtype {
        let message = format!("cannot change the type of {name}: it is {dtype} already");
        return Err(Error::new(Kind::Usage, message));
    }
    let is_castable = |dtype: DType| !matches!(dtype.class(), Class::Complex | Class::Text);
    match [dtype, port.dtype].into_iter().find(|dtype| !is_castable(*dtype)) {
        Some(other) => {
            let what = format_args!("cannot change the type of {name}: the type");
            Err(Error::mismatch(Kind::Unsupported, what, other, "a real number"))
        }
        None => Ok(()),
    }
}

/// The numbers of a scaling as a tensor that broadcasts to an input: one for all, or one for each
/// index of the axis of channels, which is the second.
fn numbers_of(port: &Port, what: &str, numbers: &[f64]) -> Result<Tensor> {
    let name = quoted(&port.name);
    if port.dtype.class() != Class::Float {
        let got = format_args!("cannot scale input {name}: the type that the model reads");
        return Err(Error::mismatch(Kind::Usage, got, port.dtype, "a float"));
    }
    let mut shape = Vec::new();
    if numbers.len() != 1 {
        let channels = port.sizes.get(1);
        if !channels.is_some_and(|size| size.admits(numbers.len())) {
            let got = format_args!("cannot scale input {name}: the number of values of {what}");
            let of_axis = |size| format!("1, or the size of axis 1, which is {size}");
            let wanted = channels.map_or_else(|| "1".to_owned(), of_axis);
            return Err(Error::mismatch(Kind::Usage, got, numbers.len(), wanted));
        }
        shape.push(numbers.len());
        shape.resize(port.sizes.len() - 1, 1);
    }
    let shape = Shape::new(shape)?;
    Tensor::from_numbers(port.dtype, shape, numbers.iter().copied().map(Number::Float), Rules::IEEE)
}

/// The axes of a value in its order and in another, as letters. The first begin with N and C,
/// unless a text says both: `NCHW->NHWC`.
fn axes(port: &Port, layout: &str) -> Result<(Vec<char>, Vec<char>)> {
    let wrong = || {
        let what = format_args!("cannot change the layout of {}: the layout", quoted(&port.name));
        let wanted = format!("{} letters, each once, as NHWC or NCHW->NHWC", port.sizes.len());
        Error::mismatch(Kind::Usage, what, layout, wanted)
    };
    let letters = |text: &str| text.trim().to_uppercase().chars().collect::<Vec<_>>();
    let (from, to) = if let Some((from, to)) = layout.split_once("->") {
        (letters(from), letters(to))
    } else {
        let to = letters(layout);
        let is_first = |axis: &&char| matches!(**axis, 'N' | 'C');
        let rest = to.iter().filter(|axis| !is_first(axis)).copied();
        (['N', 'C'].into_iter().filter(|axis| to.contains(axis)).chain(rest).collect(), to)
    };
    let sorted = |axes: &[char]| {
        let mut axes = axes.to_vec();
        axes.shared_sort();
        axes
    };
    let each = sorted(&to);
    let is_once = each.windows(2).all(|pair| pair[0] != pair[1]);
    let is_letters = to.iter().all(|axis| axis.is_alphabetic());
    let fits = from.len() == port.sizes.len() && sorted(&from) == each && is_once && is_letters;
    if !fits {
        return Err(wrong());
    }
    Ok((from, to))
}
