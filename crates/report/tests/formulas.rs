//! The formulas of a page have the values that the library computes, and names mean nothing to
//! HTML. `conformance/report_browser.py` holds the page's own script against the command.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use gradus::graph::{Builder, DeclaredDim, Model as Source, Origin, Standard, Type};
use gradus::infer::InferOptions;
use gradus::{Dim, Model};
use serde_json::Value;

/// The block of data of a page.
fn data(html: &str) -> Value {
    let (_, rest) = html.split_once("<script id=\"data\" type=\"application/json\">").unwrap();
    serde_json::from_str(rest.split_once("</script>").unwrap().0).unwrap()
}

fn integer(value: &Value) -> i128 {
    value.as_i64().map_or_else(|| value.as_str().unwrap().parse().unwrap(), i128::from)
}

/// The values of all formulas. A second reading of the form that `assets/formulas.js` evaluates.
fn evaluate(data: &Value, sizes: &[i64]) -> Vec<Option<i128>> {
    let mut values: Vec<Option<i128>> = Vec::new();
    for entry in data["formulas"].as_array().unwrap() {
        let Some(list) = entry.as_array() else {
            values.push(Some(integer(entry)));
            continue;
        };
        let index = |value: &Value| usize::try_from(value.as_u64().unwrap()).unwrap();
        let operands = || list[1..].iter().map(|operand| values[index(operand)]);
        let both = || Some((values[index(&list[1])]?, values[index(&list[2])]?));
        let value = match list[0].as_str().unwrap() {
            "s" => Some(i128::from(sizes[index(&list[1])])),
            "/" => both().filter(|(_, b)| *b != 0).map(|(a, b)| {
                let quotient = a / b;
                if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
            }),
            "min" => operands().collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().min()),
            "max" => operands().collect::<Option<Vec<_>>>().and_then(|all| all.into_iter().max()),
            "b" => {
                values[index(&list[1])].and_then(|a| if a == 1 { values[index(&list[2])] } else { Some(a) })
            }
            "+" => list[1..].iter().try_fold(0, |sum, product| {
                let product = product.as_array().unwrap();
                let mut factors = product[1..].iter().map(|factor| values[index(factor)]);
                Some(sum + factors.try_fold(integer(&product[0]), |all, factor| Some(all * factor?))?)
            }),
            form => panic!("{form}"),
        };
        values.push(value);
    }
    values
}

#[test]
fn formulas_have_the_values_of_the_library() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut compared = 0;
    for file in std::fs::read_dir(examples).unwrap() {
        let path = file.unwrap().path();
        let Ok(model) = Model::open(&path) else { continue };
        compared += compare(&model, &path.display().to_string());
    }
    assert!(compared > 1000, "{compared} values were compared");
}

/// Compares the sizes of all values, and the costs of all nodes, at random sizes.
fn compare(model: &Model, name: &str) -> usize {
    let options = InferOptions::default();
    let data = data(&gradus_report::report(model, name, &options).unwrap().html);
    let mut cost = model.cost(&options).unwrap();
    let names: Vec<_> =
        data["symbols"].as_array().unwrap().iter().map(|symbol| symbol["name"].as_str().unwrap()).collect();
    let mut random = fastrand::Rng::with_seed(1);
    let mut compared = 0;
    for _ in 0..20 {
        let sizes: Vec<_> = names.iter().map(|_| random.i64(0..40)).collect();
        let values = evaluate(&data, &sizes);
        let graph = model.graph();
        let bytes: Vec<_> = graph.ids().map(|id| cost.bytes(id)).collect();
        let inference = cost.inference();
        let size = |of: &str| names.iter().position(|name| *name == of).map(|index| sizes[index]);
        let mut check = |formula: &Value, dim: Option<Dim>| {
            let shown = formula.as_u64().and_then(|index| values[usize::try_from(index).unwrap()]);
            let wanted = dim.and_then(|dim| inference.symbols().evaluate(dim, &size));
            assert_eq!(shown, wanted.map(i128::from), "{name} {formula}: {dim:?} at {sizes:?}");
            compared += 1;
        };
        for id in graph.ids() {
            check(&data["values"]["bytes"][id.index()], bytes[id.index()]);
            let dims = inference.fact(id).as_tensor().and_then(|fact| fact.dims.clone());
            let shape =
                data["values"]["shape"][id.index()].as_u64().map(|index| usize::try_from(index).unwrap());
            for (axis, &dim) in dims.iter().flat_map(|dims| dims.iter()).enumerate() {
                check(&data["shapes"][shape.unwrap()][axis], Some(dim));
            }
        }
        for (index, node) in cost.nodes.iter().enumerate() {
            let nodes = &data["nodes"];
            check(&nodes["macs"][index], node.counts.macs);
            check(&nodes["operations"][index], node.counts.operations);
            check(&nodes["arithmetic"][index], node.counts.arithmetic);
            check(&nodes["comparisons"][index], node.counts.comparisons);
            check(&nodes["transcendentals"][index], node.counts.transcendentals);
            check(&nodes["bytes_read"][index], node.counts.bytes_read);
            check(&nodes["bytes_written"][index], node.counts.bytes_written);
        }
        check(&data["totals"]["macs"], cost.total.counts.macs);
        check(&data["totals"]["peak"], cost.memory.peak.map(|peak| peak.bytes));
        check(&data["totals"]["in_place"], cost.memory.in_place.map(|peak| peak.bytes));
    }
    compared
}

/// The page marks the sizes with which a condition does not hold: its relations are those of
/// inference, at all sizes.
#[test]
fn conditions_hold_where_those_of_the_library_do() {
    let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
    let mut random = fastrand::Rng::with_seed(2);
    let (mut held, mut failed) = (0, 0);
    for name in ["heads.onnx", "positions.onnx", "embedding.onnx", "baked.onnx", "loop.onnx"] {
        let model = Model::open(format!("{examples}/{name}")).unwrap();
        let options = InferOptions::default();
        let data = data(&gradus_report::report(&model, name, &options).unwrap().html);
        let inference = model.infer(&options).unwrap();
        let symbols: Vec<_> = data["symbols"].as_array().unwrap().iter().collect();
        for _ in 0..50 {
            let mut size = || {
                let bits = random.u8(1..30);
                random.i64(0..1 << bits)
            };
            let sizes: Vec<_> = symbols.iter().map(|_| size()).collect();
            let values = evaluate(&data, &sizes);
            let at = |of: &str| Some(sizes[symbols.iter().position(|symbol| symbol["name"] == of)?]);
            for (told, of) in data["conditions"].as_array().unwrap().iter().zip(inference.conditions()) {
                let Some(relation) = of.relation else { continue };
                let side = |side: &str| values[usize::try_from(integer(&told["holds"][side])).unwrap()];
                let (left, right) = (side("left").unwrap(), side("right").unwrap());
                let is = |dim| i128::from(inference.symbols().evaluate(dim, &at).unwrap());
                assert_eq!((left, right), (is(relation.left), is(relation.right)), "{name}: {}", of.text);
                assert_eq!(
                    (told["holds"]["relation"].as_str(), told["text"].as_str()),
                    (Some(relation.relation.symbol()), Some(&*of.text))
                );
                let [left, right] = [left, right].map(|number| i64::try_from(number).unwrap());
                let count = if relation.relation.holds(left, right) { &mut held } else { &mut failed };
                *count += 1;
            }
        }
    }
    assert!(held > 20 && failed > 20, "{held} {failed}");
}

/// A model of one node `Abs` whose names are that text.
fn named(name: &str, operator: &str) -> Model {
    let mut graph = Builder::new(name);
    let input = format!("in {name}");
    let id = graph.define(&input, Origin::Input).unwrap();
    let sizes = vec![DeclaredDim::Symbol("batch".into()), DeclaredDim::Known(3)];
    graph.info(id).declared = Some(Type::Tensor(Some(gradus::DType::F32), Some(sizes)));
    graph.apply(name, operator, 17, &[&*input], &[name], Vec::new()).unwrap();
    graph.output(name);
    let mut source = Source::new(Standard::Onnx);
    name.clone_into(&mut source.producer);
    source.opsets = vec![("".into(), 17)];
    source.graph = graph.finish().unwrap();
    Model::from_source(source)
}

#[test]
fn names_mean_nothing_to_html() {
    for (name, shown) in [
        ("</script><script>alert(1)</script>", "</script><script>alert(1)</script>"),
        ("<!--<script>", "<!--<script>"),
        ("\"'`onload=x &amp; ]]>", "\"'`onload=x &amp; ]]>"),
        ("a\u{0}b\u{1b}[2J\r\nc", r"a\u{0}b\u{1b}[2J\r\nc"),
        ("a\u{202e}gpj.exe\u{2066}", r"a\u{202e}gpj.exe\u{2066}"),
        ("\u{2028}größe/π 🙂\\u003c", r"\u{2028}größe/π 🙂\u003c"),
    ] {
        let model = named(name, "Abs");
        let report = gradus_report::report(&model, name, &InferOptions::default()).unwrap();
        let scripts = report.html.matches("<script").count();
        assert_eq!((scripts, report.html.matches("</script").count()), (5, 5), "{name:?}");
        assert!(!report.html.contains("<!--"), "{name:?}");
        assert!(!report.html.contains(['\u{0}', '\u{1b}', '\u{202e}', '\u{2066}', '\r']), "{name:?}");
        let data = data(&report.html);
        // The node has the name of its output.
        assert_eq!(data["nodes"]["name"][0], 0);
        assert_eq!(
            data["values"]["name"].as_array().unwrap().iter().filter(|name| **name == shown).count(),
            1
        );
    }
}

#[test]
fn what_cannot_be_known_or_converted_is_said() {
    let open = |file: &str| {
        let path = format!("{}/../../examples/{file}", env!("CARGO_MANIFEST_DIR"));
        gradus_report::report(&Model::open(path).unwrap(), file, &InferOptions::default()).unwrap()
    };
    let none = named("no equivalent", "NobodysOperator");
    let report = gradus_report::report(&none, "unknown.onnx", &InferOptions::default()).unwrap();
    assert!(report.summary.conversions[0].outcome.is_err());
    assert!(report.html.contains("No conversion to OpenVINO: "));
    let report = open("heads.onnx");
    assert_eq!(report.summary.fold.unwrap().nodes(), (14, 2));
    assert_eq!(report.summary.symbols, ["batch", "seq"]);
}

#[test]
fn problems_are_listed() {
    let mut graph = Builder::new("wrong");
    for (name, size) in [("a", 2), ("b", 3)] {
        let id = graph.define(name, Origin::Input).unwrap();
        let sizes = vec![DeclaredDim::Known(size)];
        graph.info(id).declared = Some(Type::Tensor(Some(gradus::DType::F32), Some(sizes)));
    }
    graph.apply("sum", "Add", 17, &["a", "b"], &["c"], Vec::new()).unwrap();
    graph.output("c");
    let mut source = Source::new(Standard::Onnx);
    source.opsets = vec![("".into(), 17)];
    source.graph = graph.finish().unwrap();
    let report =
        gradus_report::report(&Model::from_source(source), "wrong.onnx", &InferOptions::default()).unwrap();
    assert_eq!(report.summary.problems.len(), 1);
    assert!(report.html.contains("1 contradiction</a>"));
    assert!(report.html.contains("<section id=\"problems\""));
}

#[test]
fn sequences_are_drawn_where_programs_differ() {
    let path = "../../conformance/recorded/paddle/sequences.pir/model.json";
    let report = gradus_report::report(&Model::open(path).unwrap(), "m", &InferOptions::default()).unwrap();
    let section = report.html.split("id=\"sequences\"").nth(1).unwrap().split("</section>").next().unwrap();
    let found = Model::open(path).unwrap().sequences(&InferOptions::default()).unwrap();
    for sequence in found.iter().take(20) {
        assert!(section.contains(&sequence.call), "{}", sequence.call);
    }
    let differing =
        found.iter().take(20).flat_map(|of| &of.results).filter_map(|(_, result)| result.as_ref().ok());
    let drawn = differing.filter(|found| !found.exact && !found.parts.is_empty()).count();
    assert!(drawn > 0);
    assert_eq!(section.matches("<svg").count(), drawn);
    // A model without sequences has no section.
    let heads = Model::open("../../examples/heads.onnx").unwrap();
    let report = gradus_report::report(&heads, "heads", &InferOptions::default()).unwrap();
    assert!(!report.html.contains("id=\"sequences\""));
}
