//! Attributes: the one reader of what a node's attributes hold.
//!
//! A wrong type, a missing required attribute and an unknown attribute are errors, whoever reads
//! them: evaluation, inference, folding or conversion. ONNX stores typed values; OpenVINO stores
//! text, which is parsed; Paddle names element types.

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use gradus_core::graph::{Attribute, Content, Function, Graph, Ports, Standard, Strings};
use gradus_core::{DType, Error, Kind, Result, Tensor};
use gradus_formats::onnx::dtype_of;

use crate::normalize::{Change, Form};
use crate::operators::errors;
use crate::schema::{AttributeRule, Sort};

/// The values of a function's parameters, by name, as the call of the function gives them.
pub type Parameters<'a> = Rc<HashMap<&'a str, &'a Content>>;

/// Names and contents of the attributes of a node to be written.
pub type NewAttributes = Vec<(&'static str, Content)>;

/// The attributes of a node in the newest form of its operator, with a function's parameters
/// replaced by what the call says.
#[derive(Clone, Debug)]
pub struct Attributes<'a> {
    given: &'a [Attribute],
    form: Form,
    parameters: Parameters<'a>,
}

impl<'a> Attributes<'a> {
    /// The attributes of a node of a graph that is not a function's body.
    pub fn new(given: &'a [Attribute], form: Form) -> Attributes<'a> {
        Attributes { given, form, parameters: Parameters::default() }
    }

    /// The attributes of a node of a function's body.
    #[must_use]
    pub fn with_parameters(self, parameters: Parameters<'a>) -> Attributes<'a> {
        Attributes { parameters, ..self }
    }

    /// The form of the node's operator.
    /// The attributes that a call of a function hands to its body.
    pub fn handed_to(&self, function: &'a Function) -> Parameters<'a> {
        // Functions and calls may have many.
        let given: HashMap<_, _> =
            self.given.iter().rev().map(|attribute| (&*attribute.name, &attribute.content)).collect();
        let content = |(name, default): &'a (Arc<str>, Option<Attribute>)| {
            let given = given.get(self.form.name_of(name)).and_then(|content| self.resolved(content));
            let given = given.or_else(|| self.form.default_of(name));
            let content = given.or(default.as_ref().map(|default| &default.content))?;
            Some((&**name, content))
        };
        Rc::new(function.attributes.iter().filter_map(content).collect())
    }

    /// The form of the node, which says how its version spells its attributes.
    pub fn form(&self) -> Form {
        self.form
    }

    /// The content of an attribute, if it is given or older versions have a default of their own.
    pub fn get(&self, name: &str) -> Option<&'a Content> {
        let own = self.form.name_of(name);
        let attribute = self.given.iter().find(|attribute| &*attribute.name == own);
        let given = attribute.and_then(|attribute| self.resolved(&attribute.content));
        given.or_else(|| self.form.default_of(name))
    }

    /// Returns true if this form has another name for an attribute.
    fn renames(&self) -> bool {
        self.form.changes().any(|(change, _)| matches!(change, Change::Name(..)))
    }

    /// Tells of an attribute whether it may be given, under its name or one that this form has.
    pub fn given(&self) -> impl Fn(&str) -> bool + '_ {
        let renames = self.renames();
        move |name| renames || self.given.iter().any(|attribute| &*attribute.name == name)
    }

    /// Returns true if one of some attributes may be given, whose names are sorted.
    pub fn may_give_one_of(&self, sorted: &[&str]) -> bool {
        let is_listed = |attribute: &Attribute| sorted.binary_search(&&*attribute.name).is_ok();
        self.given.iter().any(is_listed) || !self.given.is_empty() && self.renames()
    }

    /// All attributes that are given.
    pub fn all(&self) -> impl Iterator<Item = (&'a str, &'a Content)> + '_ {
        self.given.iter().filter_map(|attribute| Some((&*attribute.name, self.resolved(&attribute.content)?)))
    }

    /// The attributes that are given and that the newest form has, by their names in it.
    pub fn newest(&self) -> Vec<(&'a str, &'a Content)> {
        let mut newest: Vec<_> = self.all().collect();
        for (change, _) in self.form.changes() {
            match *change {
                Change::Input(_, attribute) => {
                    let own = self.form.name_of(attribute);
                    newest.retain(|(name, _)| *name != own);
                }
                Change::Name(attribute, own) => {
                    let renamed = newest.iter_mut().filter(|(name, _)| *name == own);
                    renamed.for_each(|(name, _)| *name = attribute);
                }
                _ => {}
            }
        }
        newest
    }

    /// All attributes that are given, apart from the graph.
    pub fn owned(&self) -> Vec<Attribute> {
        let owned =
            |(name, content): (&str, &Content)| Attribute { name: name.into(), content: content.clone() };
        self.all().map(owned).collect()
    }

    /// Returns nothing for a parameter that the call leaves out.
    fn resolved(&self, content: &'a Content) -> Option<&'a Content> {
        match content {
            Content::Parameter(name) => self.parameters.get(&**name).copied(),
            other => Some(other),
        }
    }

    /// Reads an attribute, if it is given, by a function that returns nothing for a wrong type.
    fn read<T>(
        &self,
        name: &str,
        wanted: &str,
        read: impl FnOnce(&'a Content) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(content) = self.get(name) else { return Ok(None) };
        read(content).map(Some).ok_or_else(|| wrong(name, content, wanted))
    }

    /// An integer, if it is given.
    ///
    /// # Errors
    /// [`Kind::Type`] if it is something else, as for all functions here.
    pub fn int(&self, name: &str) -> Result<Option<i64>> {
        self.read(name, "an integer", |content| match content {
            Content::Int(value) => Some(*value),
            Content::Text(text) => text.trim().parse().ok(),
            _ => None,
        })
    }

    /// An integer, or the default.
    pub fn int_or(&self, name: &str, default: i64) -> Result<i64> {
        Ok(self.int(name)?.unwrap_or(default))
    }

    /// Checks that an integer is the only one that is known, or not given.
    pub fn only_int(&self, name: &str, known: i64) -> Result<()> {
        match self.int_or(name, known)? {
            given if given == known => Ok(()),
            other => Err(errors::value(format_args!("attribute \"{name}\""), other, known)),
        }
    }

    /// A bool, or the default.
    pub fn flag(&self, name: &str, default: bool) -> Result<bool> {
        let flag = self.read(name, "true or false", |content| match content {
            Content::Text(text) => flag_of(text),
            Content::Int(value) => Some(*value != 0),
            _ => None,
        });
        Ok(flag?.unwrap_or(default))
    }

    /// A float, if it is given.
    pub fn float(&self, name: &str) -> Result<Option<f32>> {
        self.read(name, "a float", |content| match content {
            Content::Float(value) => Some(*value),
            Content::Text(text) => text.trim().parse().ok(),
            _ => None,
        })
    }

    /// Integers, if they are given; a single integer is a list of one.
    pub fn ints(&self, name: &str) -> Result<Option<&'a [i64]>> {
        self.read(name, "a list of integers", |content| match content {
            Content::Ints(values) => Some(&**values),
            Content::Int(value) => Some(std::slice::from_ref(value)),
            _ => None,
        })
    }

    /// Floats, if they are given.
    pub fn floats(&self, name: &str) -> Result<Option<&'a [f32]>> {
        self.read(name, "a list of floats", |content| match content {
            Content::Floats(values) => Some(&**values),
            _ => None,
        })
    }

    /// Texts as bytes, if they are given.
    pub fn strings(&self, name: &str) -> Result<Option<&'a Strings>> {
        self.read(name, "a list of texts", |content| match content {
            Content::Strings(all) => Some(all),
            _ => None,
        })
    }

    /// Texts, if they are given.
    pub fn texts(&self, name: &str) -> Result<Option<Vec<&'a str>>> {
        self.read(name, "a list of texts", |content| match content {
            Content::Strings(all) => all.iter().map(|text| std::str::from_utf8(text).ok()).collect(),
            _ => None,
        })
    }

    /// Integers, if they are given, also as text.
    pub fn list(&self, name: &str) -> Result<Option<Vec<i64>>> {
        self.read(name, "a list of integers", |content| match content {
            Content::Ints(values) => Some(values.to_vec()),
            Content::Int(value) => Some(vec![*value]),
            Content::Text(text) => list_of(text),
            _ => None,
        })
    }

    /// Floats, if they are given, also as text.
    pub fn numbers(&self, name: &str) -> Result<Option<Vec<f64>>> {
        self.read(name, "floats", |content| match content {
            Content::Floats(values) => Some(values.iter().copied().map(f64::from).collect()),
            Content::Float(value) => Some(vec![f64::from(*value)]),
            Content::Text(text) => list_of::<f32>(text).map(|all| all.into_iter().map(f64::from).collect()),
            _ => None,
        })
    }

    /// Text, if it is given.
    pub fn text(&self, name: &str) -> Result<Option<&'a str>> {
        if self.get(name).is_some_and(|content| !is_utf8(content)) {
            return Err(not_utf8(name));
        }
        self.read(name, "text", |content| match content {
            Content::Text(text) => Some(&**text),
            Content::Bytes(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        })
    }

    /// An element type, if it is given: a number of ONNX's enumeration, or a name.
    pub fn dtype(&self, name: &str) -> Result<Option<DType>> {
        self.read(name, "an element type", |content| match content {
            Content::Int(number) => dtype_of(*number),
            Content::Text(text) => text.parse().ok(),
            Content::Bytes(bytes) => std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()),
            _ => None,
        })
    }

    /// The element type of indices, sizes or counts, if it is given: int32 or int64.
    pub fn index_dtype(&self, name: &str) -> Result<Option<DType>> {
        match self.dtype(name)? {
            Some(other) if !matches!(other, DType::I32 | DType::I64) => {
                let what = format_args!("attribute \"{name}\"");
                Err(Error::mismatch(Kind::Type, what, other, "int32 or int64"))
            }
            dtype => Ok(dtype),
        }
    }

    /// A tensor, if it is given.
    ///
    /// # Errors
    /// [`Kind::Type`] if it is something else; whatever is wrong with its elements.
    pub fn tensor(&self, name: &str) -> Result<Option<Tensor>> {
        let constant = self.read(name, "a tensor", |content| match content {
            Content::Tensor(constant) => Some(constant),
            _ => None,
        });
        constant?.map(gradus_core::graph::Constant::tensor).transpose()
    }

    /// A graph, if it is given.
    pub fn graph(&self, name: &str) -> Result<Option<&'a Arc<Graph>>> {
        self.read(name, "a graph", |content| match content {
            Content::Graph(graph) => Some(graph),
            _ => None,
        })
    }

    /// How the values of a node are those of its graph, if it is given.
    pub fn ports(&self, name: &str) -> Result<Option<&'a Ports>> {
        self.read(name, "a map of ports", |content| match content {
            Content::Ports(ports) => Some(&**ports),
            _ => None,
        })
    }

    /// Checks that required attributes are given, that the signature has all that are, and that
    /// each has its type.
    ///
    /// # Errors
    /// [`Kind::Graph`], [`Kind::Type`].
    pub fn check(&self, operator: &str, rules: &[AttributeRule], standard: Standard) -> Result<()> {
        if let Some(rule) = rules.iter().find(|rule| rule.required && self.get(rule.name).is_none()) {
            return Err(missing(rule.name));
        }
        self.check_contents(rules, standard)?;
        // OpenVINO and Paddle write attributes that their specifications do not have.
        if standard != Standard::Onnx {
            return Ok(());
        }
        for (name, content) in self.all() {
            let Some(rule) = rules.iter().find(|rule| rule.name == name) else {
                let known: Vec<_> = rules.iter().map(|rule| rule.name).collect();
                let known = if known.is_empty() { "no attributes".to_owned() } else { known.join(", ") };
                let message = format!("unknown attribute \"{name}\"; {operator} has {known}");
                return Err(Error::new(Kind::Graph, message).with_got(name).with_wanted(known));
            };
            if !admits(rule.sort, content) {
                return Err(wrong(name, content, &format!("{:?}", rule.sort).to_lowercase()));
            }
            if !is_utf8(content) {
                return Err(not_utf8(name));
            }
        }
        Ok(())
    }

    /// Checks attributes that are element types, and numbers that are text.
    ///
    /// # Errors
    /// [`Kind::Type`] if one is something else.
    pub fn check_contents(&self, rules: &[AttributeRule], standard: Standard) -> Result<()> {
        if standard == Standard::Paddle || self.given.is_empty() {
            return Ok(());
        }
        let is_given = self.given();
        rules.iter().filter(|rule| is_given(rule.name)).try_for_each(|rule| {
            self.check_element_type(rule)?;
            self.check_number(rule)
        })
    }

    /// Checks an attribute that is an element type. 0 is ONNX's number for none.
    fn check_element_type(&self, rule: &AttributeRule) -> Result<()> {
        if !ELEMENT_TYPES.contains(&rule.name) {
            return Ok(());
        }
        let is_none = !rule.required && matches!(self.get(rule.name), Some(Content::Int(0)));
        if is_none { Ok(()) } else { self.dtype(rule.name).map(|_| ()) }
    }

    /// Checks an attribute that is a number as text, or a list of numbers.
    fn check_number(&self, rule: &AttributeRule) -> Result<()> {
        let Some(content @ Content::Text(text)) = self.get(rule.name) else { return Ok(()) };
        match rule.sort {
            Sort::Int if flag_of(text).is_none() && text.trim().parse::<i64>().is_err() => {
                Err(wrong(rule.name, content, "an integer, true or false"))
            }
            Sort::Float if !text.trim().parse::<f64>().is_ok_and(|number| !number.is_nan()) => {
                Err(wrong(rule.name, content, "a number"))
            }
            Sort::Ints | Sort::Floats if list_of::<f64>(text).is_none() => {
                Err(wrong(rule.name, content, "a list of numbers"))
            }
            _ => Ok(()),
        }
    }
}

/// The attributes that are an element type.
pub const ELEMENT_TYPES: [&str; 14] = [
    "classes_index_type",
    "convert_type",
    "count_element_type",
    "destination_type",
    "dtype",
    "index_element_type",
    "output_datatype",
    "output_dtype",
    "output_type",
    "precision",
    "roi_num_type",
    "sequence_length_type",
    "softmax_precision",
    "to",
];

fn not_utf8(name: &str) -> Error {
    Error::mismatch(Kind::Type, format_args!("attribute \"{name}\""), "a string of bytes", "UTF-8")
}

/// Returns false if an attribute has a string that is no text.
fn is_utf8(content: &Content) -> bool {
    let is_text = |bytes: &[u8]| std::str::from_utf8(bytes).is_ok();
    match content {
        Content::Bytes(bytes) => is_text(bytes),
        Content::Strings(all) => all.distinct().iter().all(|bytes| is_text(bytes)),
        _ => true,
    }
}

/// Unwraps an attribute that must be given.
pub fn required<T>(name: &str, content: Option<T>) -> Result<T> {
    content.ok_or_else(|| missing(name))
}

/// Returns the error of an attribute that must be given.
pub fn missing(name: &str) -> Error {
    errors::missing(format_args!("attribute \"{name}\""))
}

/// Returns the error of an attribute of another kind than the operator reads.
pub fn wrong(name: &str, content: &Content, wanted: &str) -> Error {
    let got = match content {
        Content::Text(text) => format!("\"{text}\""),
        other => other.sort().to_owned(),
    };
    Error::mismatch(Kind::Type, format_args!("attribute \"{name}\""), got, wanted)
}

fn admits(sort: Sort, content: &Content) -> bool {
    matches!(
        (sort, content),
        (Sort::Float, Content::Float(_))
            | (Sort::Int, Content::Int(_))
            | (Sort::String, Content::Bytes(_))
            | (Sort::Tensor | Sort::SparseTensor, Content::Tensor(_))
            | (Sort::Graph, Content::Graph(_))
            | (Sort::Type, Content::Type(_))
            | (Sort::Floats, Content::Floats(_))
            | (Sort::Ints, Content::Ints(_))
            | (Sort::Strings, Content::Strings(_))
    )
}

/// A bool as text, in letters of any case, as OpenVINO reads it.
fn flag_of(text: &str) -> Option<bool> {
    match &*text.trim().to_ascii_lowercase() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// Numbers as text, separated by commas.
fn list_of<T: std::str::FromStr>(text: &str) -> Option<Vec<T>> {
    if text.trim().is_empty() {
        return Some(Vec::new());
    }
    text.split(',').map(|number| number.trim().parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schema::attribute;

    fn read<T>(content: Content, read: impl FnOnce(&Attributes<'_>) -> Result<T>) -> Result<T> {
        let given = [Attribute { name: "a".into(), content }];
        read(&Attributes::new(&given, Form::NEWEST))
    }

    #[test]
    fn integers_are_numbers_or_text() {
        let int = |content| read(content, |a| a.int("a"));
        assert_eq!(int(Content::Int(-3)).unwrap(), Some(-3));
        assert_eq!(int(Content::Text(" 7 ".into())).unwrap(), Some(7));
        assert_eq!(read(Content::Int(1), |a| a.int("b")).unwrap(), None);
        let error = int(Content::Text("seven".into())).unwrap_err();
        assert_eq!(error.message(), "attribute \"a\" is \"seven\", expected an integer");
        assert_eq!((error.got(), error.wanted()), (Some("\"seven\""), Some("an integer")));
        assert!(int(Content::Float(1.0)).is_err());
    }

    #[test]
    fn flags_lists_and_types_say_what_they_expect() {
        for (text, flag) in [("True", true), ("TRUE", true), (" 1", true), ("FALSE", false), ("0", false)] {
            assert_eq!(read(Content::Text(text.into()), |a| a.flag("a", !flag)).unwrap(), flag);
        }
        assert!(read(Content::Text("yes".into()), |a| a.flag("a", false)).is_err());
        assert!(read(Content::Int(0), |a| a.flag("b", true)).unwrap());
        assert_eq!(read(Content::Text("1, -2".into()), |a| a.list("a")).unwrap(), Some(vec![1, -2]));
        assert_eq!(read(Content::Text(String::new().into()), |a| a.list("a")).unwrap(), Some(vec![]));
        assert!(read(Content::Text("1,x".into()), |a| a.list("a")).is_err());
        assert_eq!(read(Content::Int(7), |a| a.dtype("a")).unwrap(), Some(DType::I64));
        let error = read(Content::Text("bogus".into()), |a| a.dtype("a")).unwrap_err();
        assert_eq!(error.message(), "attribute \"a\" is \"bogus\", expected an element type");
    }

    #[test]
    fn a_parameter_is_what_the_call_gives() {
        let given = [Attribute { name: "axis".into(), content: Content::Parameter("p".into()) }];
        let five = Content::Int(5);
        let parameters = Parameters::new(HashMap::from([("p", &five)]));
        let attributes = Attributes::new(&given, Form::NEWEST);
        assert_eq!(attributes.clone().with_parameters(parameters).int("axis").unwrap(), Some(5));
        assert_eq!(attributes.int("axis").unwrap(), None);
    }

    #[test]
    fn unknown_attributes_name_the_known_ones() {
        let rules = [attribute("axis", Sort::Int, true)];
        let check = |content| read(content, |a| a.check("Concat", &rules, Standard::Onnx));
        assert_eq!(check(Content::Int(1)).unwrap_err().message(), "attribute \"axis\" is missing");
        let given = [("axis", 1), ("aksis", 2)];
        let given = given.map(|(name, value)| Attribute { name: name.into(), content: Content::Int(value) });
        let error =
            Attributes::new(&given, Form::NEWEST).check("Concat", &rules, Standard::Onnx).unwrap_err();
        assert_eq!(error.message(), "unknown attribute \"aksis\"; Concat has axis");
    }
}
