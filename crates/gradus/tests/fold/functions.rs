//! Folding of models with functions: which bodies take the place of their calls.

use std::collections::HashSet;

use gradus::check::VerifyOptions;
use gradus::element::Bool;
use gradus::fold::{FoldOptions, RuleSet};
use gradus::graph::Graph;
use gradus::{DType, Model, Tensor};

use crate::common::protobuf::{field, int, message};
use crate::common::sketch::Sketch;

const DOMAIN: &str = "local";

/// The fields of a message that are messages or text.
fn fields(mut bytes: &[u8]) -> Vec<(usize, &[u8])> {
    fn varint(bytes: &mut &[u8]) -> usize {
        let (mut value, mut shift) = (0, 0);
        while let Some((&byte, rest)) = bytes.split_first() {
            *bytes = rest;
            value |= usize::from(byte & 127) << shift;
            shift += 7;
            if byte < 128 {
                break;
            }
        }
        value
    }
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = varint(&mut bytes);
        if tag & 7 == 2 {
            let (content, rest) = bytes.split_at(value);
            found.push((tag >> 3, content));
            bytes = rest;
        }
    }
    found
}

/// `OperatorSetIdProto`.
fn opset(number: u64, domain: &str, version: i64) -> Vec<u8> {
    message(number, &[field(1, domain), int(2, version)])
}

/// A function whose nodes are those of a sketch, in the operator set of that number.
fn function(name: &str, slots: [&[&str]; 2], attribute: &str, version: i64, nodes: Sketch) -> Vec<u8> {
    let model = nodes.model();
    let graph = fields(model.bytes().unwrap()).into_iter().find(|(number, _)| *number == 7).unwrap().1;
    let mut out = field(1, name);
    slots[0].iter().for_each(|input| out.extend(field(4, input)));
    slots[1].iter().for_each(|output| out.extend(field(5, output)));
    if !attribute.is_empty() {
        out.extend(field(6, attribute));
    }
    for (_, node) in fields(graph).into_iter().filter(|(number, _)| *number == 1) {
        out.extend(field(7, node));
    }
    out.extend([opset(9, "", version), opset(9, DOMAIN, 1)].concat());
    out.extend(field(10, DOMAIN));
    out
}

/// The model, whose output is t, with functions.
fn model(sketch: Sketch, functions: &[Vec<u8>]) -> Model {
    let main = sketch.text("y = Relu(t); return y: float32[n, ]").model();
    let mut bytes = main.bytes().unwrap().to_vec();
    bytes.extend(opset(8, DOMAIN, 1));
    for function in functions {
        bytes.extend(field(25, function));
    }
    Model::from_bytes(&bytes.into()).unwrap()
}

fn x() -> Sketch {
    Sketch::of("x: float32[n, 4]")
}

/// A body with the inputs that it reads, which are none of the function.
fn body(inputs: &[&str]) -> Sketch {
    inputs.iter().fold(Sketch::new(), |sketch, input| sketch.input(input, DType::F32, &["n", "4"]))
}

fn end(sketch: Sketch, output: &str) -> Sketch {
    sketch.output(output, DType::F32, &["n", "4"])
}

fn count(graph: &Graph) -> usize {
    graph.nodes().iter().map(|node| 1 + node.graphs().map(|inner| count(inner)).sum::<usize>()).sum()
}

/// The operators of the folded main graph, which gives the same bits and does not change again.
fn folded(model: &Model) -> String {
    let options = FoldOptions::default();
    let fold = model.fold(&options).unwrap();
    let after = model.edited(&fold.model).unwrap();
    let verified = model.verify(&after, options.rules, &VerifyOptions::default()).unwrap();
    assert!(verified.runs > 0 && verified.elements > 0, "{verified:?}");
    let all = |model: &Model| {
        let source = model.source();
        count(&source.graph) + source.functions.iter().map(|each| count(&each.body)).sum::<usize>()
    };
    assert_eq!(fold.report.nodes(), (all(model), all(&after)));
    assert!(all(&after) <= all(model));
    let again = after.edited(&after.fold(&options).unwrap().model).unwrap();
    assert!(again.bytes() == after.bytes(), "folding again changes the model");
    let names: Vec<_> = after.graph().nodes().iter().map(|node| &*node.operator.name).collect();
    names.join(" ")
}

#[test]
fn a_function_that_is_called_once_is_inlined_and_folded() {
    let once = x().text("t = local.f@1(x)");
    let flat = end(body(&["a"]).text("s = Shape(a); b = Reshape(a, s); c = Sin(b)"), "c");
    let before = model(once, &[function("f", [&["a"], &["c"]], "", 20, flat)]);
    assert_eq!(folded(&before), "Sin Relu");
    let mut options = FoldOptions::default();
    options.rules = RuleSet::default().without("called-functions").unwrap();
    assert_eq!(before.fold(&options).unwrap().report.nodes(), (5, 5));
}

#[test]
fn names_of_bodies_are_new() {
    let around = x().text("b = Sin(x); t = local.f@1(b)");
    let inner = body(&["a"]).text("b = Cos(a); x = Exp(b); c = Neg(x)");
    let before = model(around, &[function("f", [&["a"], &["c"]], "", 20, end(inner, "c"))]);
    assert_eq!(folded(&before), "Sin Cos Exp Neg Relu");
}

#[test]
fn attributes_are_those_of_the_call_through_functions_and_graphs() {
    let branch = |name: &str, operator: &str| {
        let leaky = format!("{name} = LeakyRelu(own, alpha=$alpha)");
        format!("{{own = {operator}(b); {leaky}; return {name}: float32[n, 4]}}")
    };
    let (then, otherwise) = (branch("t", "Sin"), branch("e", "Cos"));
    let inner = body(&["a"]).text(&format!(
        "b = Neg(a); m = ReduceMax(b); l = ReduceMin(b); q = Less(l, m); one = Squeeze(q);
         c = If(one, then_branch={then}, else_branch={otherwise})"
    ));
    let inner = function("f", [&["a"], &["c"]], "alpha", 20, end(inner, "c"));
    let outer = body(&["p"]).text("r = local.f@1(p, alpha=$beta)");
    let outer = function("g", [&["p"], &["r"]], "beta", 20, end(outer, "r"));
    for given in [", beta=0.25", ""] {
        let before = model(x().text(&format!("t = local.g@1(x{given})")), &[outer.clone(), inner.clone()]);
        assert_eq!(folded(&before), "Neg ReduceMax ReduceMin Less Squeeze If Relu");
    }
}

/// ONNX Runtime refuses a graph in which two nodes have one name, as nodes of two calls without one
/// had.
#[test]
fn names_of_nodes_are_new() {
    let inner =
        function("f", [&["a"], &["c"]], "", 20, end(body(&["a"]).text("b = Sin(a); c = Cos(b)"), "c"));
    let twice = body(&["p"]).unnamed("local.f@1", "p", "q").unnamed("local.f@1", "q", "r");
    let outer = function("g", [&["p"], &["r"]], "", 20, end(twice, "r"));
    let before = model(x().unnamed("local.g@1", "x", "t"), &[inner, outer]);
    let after = before.edited(&before.fold(&FoldOptions::default()).unwrap().model).unwrap();
    let names: Vec<_> = after.graph().nodes().iter().map(|node| node.name.clone()).collect();
    let distinct: HashSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
}

/// A branch in a function has a required attribute that only the call gives.
#[test]
fn required_attributes_of_branches_are_those_of_the_call() {
    let then = "{f = Constant(value_float=$v); t = Mul(a, f); return t: float32[n, 4]}";
    let otherwise = "{e = Neg(a); return e: float32[n, 4]}";
    let text = format!("q: bool[]; c = If(q, then_branch={then}, else_branch={otherwise})");
    let inner = function("f", [&["a", "q"], &["c"]], "v", 20, end(body(&["a"]).text(&text), "c"));
    let once = x().text("q: bool[]; t = local.f@1(x, q, v=1.5)");
    assert_eq!(folded(&model(once, &[inner])), "If Relu");
}

#[test]
fn functions_that_are_called_again_are_inlined_where_fewer_nodes_are_left() {
    let twice = || x().text("p = local.f@1(x); t = local.f@1(p)");
    let chain = |names: &[(&str, &str, &str)]| {
        let nodes = names
            .iter()
            .fold(body(&["a"]), |sketch, (operator, from, to)| sketch.node(operator, &[from], &[to]));
        function("f", [&["a"], &["c"]], "", 20, end(nodes, "c"))
    };
    let long = chain(&[("Cos", "a", "b"), ("Exp", "b", "d"), ("Sin", "d", "e"), ("Neg", "e", "c")]);
    assert_eq!(folded(&model(twice(), &[long])), "f f Relu");
    // Neg(Neg(x)) is x, across both calls.
    let short = chain(&[("Identity", "a", "b"), ("Identity", "b", "d"), ("Neg", "d", "c")]);
    assert_eq!(folded(&model(twice(), &[short])), "Relu");
}

/// The operators of the first function of the folded model.
fn folded_body(model: &Model) -> String {
    folded(model);
    let after = model.edited(&model.fold(&FoldOptions::default()).unwrap().model).unwrap();
    let nodes = after.source().functions[0].body.nodes().iter();
    nodes.map(|node| &*node.operator.name).collect::<Vec<_>>().join(" ")
}

#[test]
fn bodies_that_stay_are_folded_by_what_holds_for_every_call() {
    let times = |count: usize| {
        let call = |at| format!("v{} = local.f@1(v{at}, one, alpha=0.25);", at + 1);
        let calls = (0..count).map(call).collect::<String>();
        x().text(&format!("one = 1.0; v0 = Identity(x); {calls} t = Identity(v{count})"))
    };
    let inner = {
        let sketch = body(&["a", "k"]).text(
            "b = Cos(a); d = Cos(a); two = Constant(value=float32[](2)); three = Constant(value=float32[](3));
             six = Mul(two, three); e = LeakyRelu(b, alpha=$alpha); g = LeakyRelu(e, alpha=$alpha);
             h = Div(g, six); j = Add(h, d); i = Add(j, k); unread = Sin(d); c = Identity(i)",
        );
        function("f", [&["a", "k"], &["c"]], "alpha", 20, end(sketch, "c"))
    };
    assert_eq!(folded_body(&model(times(8), &[inner])), "Constant Cos LeakyRelu LeakyRelu Div Add Add");
}

/// Two Concats are found to be equal when their inputs were joined.
#[test]
fn bodies_that_stay_are_folded_until_nothing_changes() {
    let call = |at| format!("v{} = local.f@1(v{at})", at + 1);
    let calls = (0..8).map(call).collect::<Vec<_>>().join("; ");
    let inner = body(&["a"]).text(
        "one by four = Constant(value=int64[2](1, 4)); zero = Constant(value=int64[1](0));
         one = Constant(value=int64[1](1)); p = Reshape(a, one by four); q = Concat(p, p, axis=0);
         r = Concat(p, q, axis=0); s = Concat(p, q, axis=0); t = Concat(p, p, p, axis=0);
         u = Mul(r, s); v = Add(u, t); c = Slice(v, zero, one, zero)",
    );
    let inner = function("f", [&["a"], &["c"]], "", 20, end(inner, "c"));
    let once = |model: &Model| model.edited(&model.fold(&FoldOptions::default()).unwrap().model).unwrap();
    let model = model(x().text(&format!("v0 = Identity(x); {calls}; t = Identity(v8)")), &[inner]);
    assert_eq!(folded_body(&model).replace("Constant ", ""), "Reshape Concat Mul Add Slice");
    let after = once(&model);
    assert!(once(&after).bytes() == after.bytes());
}

#[test]
fn functions_that_may_mean_something_else_stay() {
    let once = || x().text("t = local.f@1(x)");
    let sine =
        |version| function("f", [&["a"], &["c"]], "", version, end(body(&["a"]).text("c = Sin(a)"), "c"));
    assert_eq!(folded(&model(once(), &[sine(20)])), "Sin Relu");
    assert_eq!(folded(&model(once(), &[sine(18)])), "f Relu");
    // The output is an input.
    let same = function("f", [&["c"], &["c"]], "", 20, end(body(&["c"]).text("d = Sin(c)"), "d"));
    assert_eq!(folded(&model(once(), &[same])), "f Relu");
}

#[test]
fn missing_inputs_and_outputs_stay_missing() {
    let inner = body(&["a", "lo"]).text("c = Clip(a, lo); d = Sin(c)");
    let of = function("f", [&["a", "lo"], &["c", "d"]], "", 20, end(inner, "d"));
    let given = x().text("bound = 0.5; , t = local.f@1(x, bound)");
    assert_eq!(folded(&model(given, std::slice::from_ref(&of))), "Clip Sin Relu");
    assert_eq!(folded(&model(x().text("t = local.f@1(x)"), &[of])), "Clip Relu");
}

/// Calls within graphs read the values around them.
#[test]
fn calls_within_graphs_are_inlined() {
    let of = function("f", [&["a"], &["c"]], "", 20, end(body(&["a"]).text("c = Sin(a)"), "c"));
    let branch = |name: &str| format!("{{{name} = local.f@1(x); return {name}: float32[n, 4]}}");
    let (then, otherwise) = (branch("p"), branch("e"));
    let sketch = format!("q: bool[]; t = If(q, then_branch={then}, else_branch={otherwise})");
    let before = model(x().text(&sketch), &[of]);
    let fold = before.fold(&FoldOptions::default()).unwrap();
    let after = before.edited(&fold.model).unwrap();
    assert!(after.source().functions.is_empty());
    assert_eq!(fold.report.nodes(), (5, 4));
    let x = Tensor::from_vec(gradus::Shape::new(vec![1, 4]).unwrap(), vec![1f32, -2.0, 0.5, 3.0]).unwrap();
    let run = |model: &Model| {
        let q = Tensor::scalar(Bool::from(true));
        format!("{:?}", model.run([("x", x.clone()), ("q", q)]).unwrap())
    };
    assert_eq!(run(&before), run(&after));
}
