//! Shapes that a model runs with, for programs that are prepared for a range of shapes: the
//! smallest ones, those between, and the largest ones, each of which meets all conditions.

use std::fmt::Write as _;

use gradus_core::graph::{Standard, Type};
use gradus_core::text::name_in_message;
use gradus_core::{DType, Error, Kind, Result};

use super::{Contract, ContractOutput, OutputSize};
use crate::dim::{Bounds, Condition, Dim};
use crate::model::Model;
use gradus_engine::infer::InferOptions;

/// Maximum numbers of values of a size, and of points, that are tried.
const MAX_VALUES: usize = 64;
const MAX_POINTS: usize = 1 << 16;

/// The shapes of an input for which a program is prepared.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Profile {
    /// The name of the input.
    pub name: String,
    /// The smallest shape.
    pub min: Vec<i64>,
    /// A shape between both.
    pub opt: Vec<i64>,
    /// The largest shape.
    pub max: Vec<i64>,
}

/// A program that is prepared for shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deployment {
    /// Arguments of `TensorRT`'s `trtexec`.
    Trtexec,
    /// A `config.pbtxt` of Triton.
    Triton,
    /// Options of ONNX Runtime's `TensorRT` provider, a line each.
    OnnxRuntime,
}

gradus_core::names!(Deployment, "program" { Trtexec = "trtexec", Triton = "triton", OnnxRuntime = "ort" });

impl Contract {
    /// The shapes of each input that has an axis, at sizes within bounds that meet all conditions:
    /// the smallest sizes, from 1 on unless a range begins at 0, those in the middle, and the largest
    /// ones.
    ///
    /// # Errors
    /// [`Kind::Usage`] if sizes have no upper bound; [`Kind::Unsupported`] if no sizes are found
    /// that meet all conditions.
    ///
    /// ```
    /// use gradus::infer::InferOptions;
    /// let model = gradus::Model::open("../../examples/positions.onnx")?;
    /// let mut options = InferOptions::default();
    /// options.sizes.assume.ranges.insert("batch".into(), (1, Some(8)));
    /// options.sizes.assume.ranges.insert("seq".into(), (1, Some(512)));
    /// let profiles = model.contract(&options)?.profiles()?;
    /// assert_eq!((&profiles[0].min[..], &profiles[0].max[..]), (&[1, 1][..], &[8, 512][..]));
    /// # Ok::<(), gradus::Error>(())
    /// ```
    pub fn profiles(&self) -> Result<Vec<Profile>> {
        let sizes: Vec<_> = self.inputs.iter().flat_map(|input| input.shape.iter().copied()).collect();
        let mut open = Vec::new();
        let mut endless = Vec::new();
        for index in self.used_symbols(&sizes) {
            let name = &*self.symbols.symbols()[index].name;
            match self.bounds_of(name) {
                (least, Some(most)) => open.push(Open { name, least, most }),
                _ => endless.push(name_in_message(name)),
            }
        }
        if !endless.is_empty() {
            let listed = |before: &str, after: &str, between: &str| {
                let each = endless.iter().map(|name| format!("{before}{name}{after}"));
                each.collect::<Vec<_>>().join(between)
            };
            let what = format!("no profile: largest size of {}", listed("\"", "\"", ", "));
            return Err(Error::mismatch(
                Kind::Usage,
                what,
                "unknown",
                listed("--range '", "=FIRST..LAST'", " "),
            ));
        }
        let values = |order: &dyn Fn(&Open<'_>, i64) -> i64| {
            let one = |of: &Open<'_>| {
                let count = i64::try_from(MAX_VALUES).unwrap_or(i64::MAX);
                let count = of.most.saturating_sub(of.least).saturating_add(1).clamp(0, count);
                (0..count).map(|at| order(of, at)).collect::<Vec<_>>()
            };
            open.iter().map(one).collect::<Vec<_>>()
        };
        let names: Vec<_> = open.iter().map(|of| of.name).collect();
        let min = self.first_point(&names, &values(&|of, at| of.least + at))?;
        let opt = self.first_point(&names, &values(&|of, at| of.near_middle(at)))?;
        let max = self.first_point(&names, &values(&|of, at| of.most - at))?;
        let shape = |point: &[i64], shape: &[Dim]| {
            let of = |name: &str| names.iter().position(|known| *known == name).map(|at| point[at]);
            shape.iter().map(|&dim| self.symbols.evaluate(dim, &of).unwrap_or_default()).collect()
        };
        let profile = |input: &super::ContractInput| Profile {
            name: input.name.clone(),
            min: shape(&min, &input.shape),
            opt: shape(&opt, &input.shape),
            max: shape(&max, &input.shape),
        };
        Ok(self.inputs.iter().map(profile).collect())
    }

    /// The bounds of a size by the conditions that compare it with a number: from 1 on, unless the
    /// range that was given begins at 0.
    fn bounds_of(&self, name: &str) -> (i64, Option<i64>) {
        let dim = self.symbols.find(name).unwrap_or(Dim::ZERO);
        let always = self.conditions.iter().filter(|of| of.when.is_empty()).map(|of| of.condition);
        let about = always.filter(|of| of.left == dim).filter_map(|of| of.bounds());
        let bounds = about.fold(self.symbols.bounds(dim), Bounds::and);
        let least =
            self.symbols.bounds_of_input(name).and_then(Bounds::lower).map_or(1, |least| least.min(1));
        (bounds.lower().unwrap_or(0).max(least), bounds.upper())
    }

    /// The first combination of values that meets all conditions, with the earlier values of
    /// earlier names.
    fn first_point(&self, names: &[&str], values: &[Vec<i64>]) -> Result<Vec<i64>> {
        let mut at = vec![0; values.len()];
        let mut refused = None;
        for _ in 0..MAX_POINTS {
            let point: Option<Vec<_>> =
                values.iter().zip(&at).map(|(all, &at)| all.get(at).copied()).collect();
            let Some(point) = point else { break };
            match self.unmet(names, &point) {
                None => return Ok(point),
                Some((text, last)) => {
                    refused.get_or_insert(text);
                    // The last name that the condition is about changes first.
                    at[last + 1..].fill(0);
                    let Some(next) = (0..=last).rev().find(|&i| at[i] + 1 < values[i].len()) else { break };
                    at[next] += 1;
                    at[next + 1..].fill(0);
                }
            }
        }
        let why = refused.map_or_else(String::new, |text| format!(": {text}"));
        Err(Error::new(
            Kind::Unsupported,
            format!("no profile: no sizes are found that meet all conditions{why}"),
        ))
    }

    /// The first condition that sizes do not meet, and the last name that it is about.
    fn unmet(&self, names: &[&str], point: &[i64]) -> Option<(String, usize)> {
        let place = |name: &str| names.iter().position(|known| *known == name);
        let holds = |of: &Condition| {
            let value = |dim| self.symbols.evaluate(dim, &|name| place(name).map(|at| point[at]));
            value(of.left).zip(value(of.right)).is_some_and(|(left, right)| of.relation.holds(left, right))
        };
        let unmet = self.conditions.iter().find(|of| of.when.iter().all(holds) && !holds(&of.condition))?;
        let sides = unmet.when.iter().chain([&unmet.condition]).flat_map(|of| [of.left, of.right]);
        let symbols = sides.flat_map(|dim| self.symbols.symbols_of(dim));
        let last = symbols.filter_map(|symbol| place(&symbol.name)).max().unwrap_or(0);
        Some((format!("{} ({})", unmet.text, unmet.place), last))
    }
}

/// A size of inputs that is not one number.
struct Open<'c> {
    name: &'c str,
    least: i64,
    most: i64,
}

impl Open<'_> {
    /// Numbers around the middle: first itself, then one more, one less, and so on.
    fn near_middle(&self, at: i64) -> i64 {
        let middle = self.least + (self.most - self.least) / 2;
        let apart = (at + 1) / 2;
        (if at % 2 == 1 { middle + apart } else { middle - apart }).clamp(self.least, self.most)
    }
}

impl Model {
    /// The shapes that a program is prepared for, in its notation, from the sizes within bounds at
    /// which the model runs. The title is the name of the model there.
    ///
    /// # Errors
    /// As [`Model::contract`] and [`Contract::profiles`]; [`Kind::Unsupported`] if a name, a type
    /// or a rank has no place in the notation.
    pub fn deployment(&self, options: &InferOptions, to: Deployment, title: &str) -> Result<String> {
        let contract = self.contract(options)?;
        let profiles = contract.profiles()?;
        match to {
            Deployment::Trtexec => listed(&profiles, ["--minShapes", "--optShapes", "--maxShapes"], " "),
            Deployment::OnnxRuntime => {
                let names = ["trt_profile_min_shapes", "trt_profile_opt_shapes", "trt_profile_max_shapes"];
                listed(&profiles, names, "\n")
            }
            Deployment::Triton => triton(self, &contract, &profiles, title),
        }
    }
}

/// `NAME=input:1x8,other:1x4`, three times.
fn listed(profiles: &[Profile], names: [&str; 3], between: &str) -> Result<String> {
    for profile in profiles {
        // Both programs split lists at commas and colons, and shells at spaces.
        let is_plain = |c: char| c.is_alphanumeric() || "_-./".contains(c);
        if profile.name.is_empty() || !profile.name.chars().all(is_plain) {
            let message = format!(
                "no profile: input \"{}\" has a name that the notation cannot hold, only letters, digits, _, -, . and /",
                name_in_message(&profile.name)
            );
            return Err(Error::new(Kind::Unsupported, message));
        }
    }
    let shapes = |of: fn(&Profile) -> &[i64]| {
        let one = |profile: &Profile| {
            let sizes: Vec<_> = of(profile).iter().map(ToString::to_string).collect();
            format!("{}:{}", profile.name, sizes.join("x"))
        };
        profiles.iter().map(one).collect::<Vec<_>>().join(",")
    };
    let all = [shapes(|of| &of.min), shapes(|of| &of.opt), shapes(|of| &of.max)];
    let all: Vec<_> = names.iter().zip(all).map(|(name, shapes)| format!("{name}={shapes}")).collect();
    Ok(all.join(between) + "\n")
}

/// The configuration of a model for Triton. Where all inputs and outputs begin with one size that
/// no other axis has, that is the batch.
fn triton(model: &Model, contract: &Contract, profiles: &[Profile], title: &str) -> Result<String> {
    let batch = batch(contract);
    let most = batch.and_then(|_| Some(profiles.first()?.max[0]));
    let program = match model.source().standard {
        Standard::Onnx => "platform: \"onnxruntime_onnx\"",
        Standard::OpenVino => "backend: \"openvino\"",
        Standard::Paddle => {
            let what = "no configuration: standard of the model";
            return Err(Error::mismatch(Kind::Unsupported, what, Standard::Paddle, "onnx or openvino"));
        }
    };
    let mut text = format!("name: {}\n{program}\nmax_batch_size: {}\n", quoted(title), most.unwrap_or(0));
    let mut put = |what: &str, name: &str, dtype: Option<DType>, dims: Option<Vec<i64>>| {
        let unknown = |of: &str| {
            let message =
                format!("no configuration: {of} of {what} \"{}\" is not known", name_in_message(name));
            Error::new(Kind::Unsupported, message)
        };
        let dtype = dtype.ok_or_else(|| unknown("the element type"))?;
        let dtype = triton_type(dtype).ok_or_else(|| {
            let message = format!(
                "no configuration: Triton has no type {}, that of \"{}\"",
                dtype.name(),
                name_in_message(name)
            );
            Error::new(Kind::Unsupported, message)
        })?;
        let dims = dims.ok_or_else(|| unknown("the rank"))?;
        let dims: Vec<_> = dims.iter().skip(usize::from(most.is_some())).map(ToString::to_string).collect();
        // A tensor without an axis of its own is one element to clients.
        let (dims, reshape) = if dims.is_empty() {
            ("1".to_owned(), "\n    reshape { shape: [ ] }")
        } else {
            (dims.join(", "), "")
        };
        let _ = writeln!(
            text,
            "{what} [\n  {{\n    name: {}\n    data_type: {dtype}\n    dims: [ {dims} ]{reshape}\n  }}\n]",
            quoted(name)
        );
        Ok::<_, Error>(())
    };
    let graph = model.graph();
    for info in graph.inputs().iter().filter(|id| graph.constant(**id).is_none()).map(|&id| graph.value(id)) {
        let fixed = |profile: &Profile| {
            let sizes = profile.min.iter().zip(&profile.max);
            sizes.map(|(min, max)| if min == max { *min } else { -1 }).collect()
        };
        let dims = profiles.iter().find(|profile| profile.name == *info.name).map(fixed);
        let (dtype, rank) = match &info.declared {
            Some(Type::Tensor(dtype, sizes)) => (*dtype, sizes.as_ref().map(Vec::len)),
            _ => (None, None),
        };
        // A tensor without axes has no profile.
        put("input", &info.name, dtype, dims.or_else(|| (rank == Some(0)).then(Vec::new)))?;
    }
    for ContractOutput { name, dtype, shape, .. } in &contract.outputs {
        let size = |size: &OutputSize| match size {
            OutputSize::Exact(dim) => dim.known().unwrap_or(-1),
            OutputSize::Between(..) => -1,
        };
        put("output", name, *dtype, shape.as_ref().map(|shape| shape.iter().map(size).collect()))?;
    }
    Ok(text)
}

/// The size that the first axis of all inputs and outputs is, and no other axis.
fn batch(contract: &Contract) -> Option<Dim> {
    let batch = *contract.inputs.first()?.shape.first()?;
    contract.symbols.as_symbol(batch)?;
    let leads = |sizes: Vec<Option<Dim>>| {
        sizes.split_first().is_some_and(|(first, others)| *first == Some(batch) && !others.contains(first))
    };
    let exact = |size: &OutputSize| match size {
        OutputSize::Exact(dim) => Some(*dim),
        OutputSize::Between(..) => None,
    };
    let inputs =
        contract.inputs.iter().all(|input| leads(input.shape.iter().map(|dim| Some(*dim)).collect()));
    let outputs = contract
        .outputs
        .iter()
        .all(|output| output.shape.as_ref().is_some_and(|shape| leads(shape.iter().map(exact).collect())));
    (inputs && outputs).then_some(batch)
}

/// A text of the protobuf notation.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => quoted.extend(['\\', char::from(byte)]),
            b' '..=b'~' => quoted.push(char::from(byte)),
            _ => _ = write!(quoted, "\\{byte:03o}"),
        }
    }
    quoted + "\""
}

/// The name of an element type in a configuration of Triton.
fn triton_type(dtype: DType) -> Option<&'static str> {
    Some(match dtype {
        DType::Bool => "TYPE_BOOL",
        DType::U8 => "TYPE_UINT8",
        DType::U16 => "TYPE_UINT16",
        DType::U32 => "TYPE_UINT32",
        DType::U64 => "TYPE_UINT64",
        DType::I8 => "TYPE_INT8",
        DType::I16 => "TYPE_INT16",
        DType::I32 => "TYPE_INT32",
        DType::I64 => "TYPE_INT64",
        DType::F16 => "TYPE_FP16",
        DType::BF16 => "TYPE_BF16",
        DType::F32 => "TYPE_FP32",
        DType::F64 => "TYPE_FP64",
        DType::String => "TYPE_STRING",
        _ => return None,
    })
}
