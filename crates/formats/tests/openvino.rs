//! IR written: what was made in memory is read back as it was, and of what was read only that
//! changes which an edit names.
#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use gradus_core::graph::edit::{Edit, Inlined, Kept, Made, Renames, Step};
use gradus_core::graph::{
    Attribute, Builder, Content, DeclaredDim, Graph, Model, Origin, Port, Ports, Slices, Standard, Type,
};
use gradus_core::{DType, Kind, Limits, Shape, Tensor};
use gradus_formats::openvino::{Written, edit_model, encode_model, read_model};
use gradus_formats::{Files, InMemory};

fn model(graph: Graph) -> Model {
    let mut model = Model::new(Standard::OpenVino);
    model.graph = graph;
    model
}

fn read(xml: &[u8], bin: &[u8]) -> Model {
    let files = HashMap::from([("m.bin".to_owned(), Bytes::copy_from_slice(bin))]);
    let files: Arc<dyn Files> = Arc::new(InMemory(files));
    read_model(xml, "m.bin", &files, &Limits::DEFAULT).unwrap()
}

fn written(graph: Graph) -> (Model, Written) {
    let written = encode_model(&model(graph)).unwrap();
    (read(&written.xml.to_bytes(&[]).unwrap(), &written.bin.to_bytes(&[]).unwrap()), written)
}

fn of(dtype: DType, sizes: &[DeclaredDim]) -> Type {
    Type::Tensor(Some(dtype), Some(sizes.to_vec()))
}

/// Everything that a graph says, in lines.
fn told(graph: &Graph) -> Vec<String> {
    let name = |id| graph.value(id).name.to_string();
    let mut lines = Vec::new();
    for (what, list) in [("input", graph.inputs()), ("output", graph.outputs())] {
        for &id in list {
            let info = graph.value(id);
            lines.push(format!("{what} {} {:?} {:?}", info.name, info.aliases, info.declared));
        }
    }
    let mut constants: Vec<_> = graph
        .constants()
        .iter()
        .map(|(id, constant)| {
            let tensor = constant.tensor().unwrap();
            let elements =
                tensor.texts().map_or_else(|_| format!("{:?}", tensor.bytes()), |texts| format!("{texts:?}"));
            format!("constant {} {}{} {elements}", name(*id), tensor.dtype(), tensor.shape())
        })
        .collect();
    constants.sort();
    lines.extend(constants);
    for &index in graph.order() {
        let node = &graph.nodes()[index];
        let names = |list: &[Option<_>]| list.iter().map(|id| name(id.unwrap())).collect::<Vec<_>>();
        lines.push(format!("node {} {} {:?}", node.name, node.operator, node.version));
        lines.push(format!("  {:?} -> {:?}", names(&node.inputs), names(&node.outputs)));
        for attribute in &node.attributes {
            match &attribute.content {
                Content::Graph(inner) => {
                    lines.extend(told(inner).iter().map(|line| format!("  {} | {line}", attribute.name)));
                }
                other => lines.push(format!("  {} = {other:?}", attribute.name)),
            }
        }
        for id in node.outputs.iter().flatten() {
            lines.push(format!("  {:?}", graph.value(*id).declared));
        }
    }
    lines
}

#[test]
fn constants_of_every_type_are_read_back_as_they_were() {
    let none = [
        "int2",
        "float8_e4m3fnuz",
        "float8_e5m2fnuz",
        "float6_e2m3",
        "float6_e3m2",
        "complex64",
        "complex128",
    ];
    let mut random = fastrand::Rng::with_seed(1);
    for &dtype in DType::ALL {
        for shape in [vec![], vec![0, 3], vec![9], vec![2, 5]] {
            let shape = Shape::new(shape).unwrap();
            let count = shape.len();
            let tensor = if dtype == DType::String {
                Tensor::from_text(shape, (0..count).map(|i| "ü".repeat(i % 3).into()).collect()).unwrap()
            } else if dtype.bits() <= 8 {
                let most = if dtype == DType::Bool { 1 } else { u8::MAX >> (8 - dtype.bits()) };
                let codes: Vec<_> = (0..count).map(|_| random.u8(..=most)).collect();
                Tensor::from_codes(dtype, shape, &codes).unwrap()
            } else {
                let bytes = (0..count * dtype.bits() / 8).map(|_| random.u8(..)).collect();
                Tensor::from_bytes(dtype, shape, bytes).unwrap()
            };
            let mut builder = Builder::new("g");
            builder.constant("c", tensor.clone().into()).unwrap();
            builder.output("c");
            let graph = builder.finish().unwrap();
            let Ok(written) = encode_model(&model(graph)) else {
                assert!(none.contains(&dtype.name()), "{dtype}");
                continue;
            };
            assert!(!none.contains(&dtype.name()), "{dtype}");
            let back = read(&written.xml.to_bytes(&[]).unwrap(), &written.bin.to_bytes(&[]).unwrap());
            assert_eq!(back.graph.constants()[0].1.tensor().unwrap(), tensor, "{dtype}{}", tensor.shape());
        }
    }
}

fn text(text: &str) -> Content {
    Content::Text(text.into())
}

/// A body that adds its input, and says whether to go on.
fn body() -> Graph {
    let mut body = Builder::new("body");
    for name in ["i", "carried"] {
        let id = body.define(name, Origin::Input).unwrap();
        let sizes = if name == "i" { vec![] } else { vec![DeclaredDim::Unknown, DeclaredDim::Known(4)] };
        body.info(id).declared = Some(of(if name == "i" { DType::I64 } else { DType::F32 }, &sizes));
    }
    body.constant("go", Tensor::from_codes(DType::Bool, Shape::vector(1), &[1]).unwrap().into()).unwrap();
    let add = vec![("auto_broadcast", text("numpy"))];
    body.apply("sum", "Add", 1, &["carried", "carried"], &["sum"], add).unwrap();
    let sum = body.reference("sum");
    body.info(sum).declared = Some(of(DType::F32, &[DeclaredDim::Unknown, DeclaredDim::Known(4)]));
    body.output("go");
    body.output("sum");
    body.finish().unwrap()
}

#[test]
fn bodies_names_and_bounds_are_read_back_as_they_were() {
    let mut builder = Builder::new("a <graph> & \"more\"");
    let x = builder.define("x,\u{e9}", Origin::Input).unwrap();
    let sizes = [DeclaredDim::Between(1, Some(10)), DeclaredDim::Known(4)];
    builder.info(x).declared = Some(of(DType::F32, &sizes));
    builder.info(x).aliases = vec!["back\\slash".into(), "<&\"'>".into()];
    builder.constant("trips", Tensor::scalar(3i64).into()).unwrap();
    builder.constant("go", Tensor::from_codes(DType::Bool, Shape::SCALAR, &[1]).unwrap().into()).unwrap();
    let port = |outer, inner| Port { outer, inner, slices: None };
    let slices = Slices { axis: 1, start: 0, end: -1, stride: 1, part_size: 1 };
    let ports = Ports {
        inputs: vec![port(2, 1)],
        outputs: vec![port(0, 1), Port { slices: Some(slices), ..port(1, 1) }],
        back_edges: vec![(1, 1)],
        condition: Some(0),
        iteration: Some(0),
    };
    let attributes =
        vec![("port_map", Content::Ports(Arc::new(ports))), ("body", Content::Graph(Arc::new(body())))];
    builder.apply("loop", "Loop", 5, &["trips", "go", "x,\u{e9}"], &["last", "all"], attributes).unwrap();
    for name in ["last", "all"] {
        let id = builder.output(name);
        builder.info(id).declared = Some(of(DType::F32, &[DeclaredDim::Unknown, DeclaredDim::Unknown]));
    }
    let graph = builder.finish().unwrap();
    let before = told(&graph);
    let (back, written) = written(graph);
    assert_eq!(back.graph.name(), "a <graph> & \"more\"");
    // The layer lends its outputs its name as well, which changes nothing else.
    let after: Vec<_> = told(&back.graph)
        .iter()
        .map(|line| line.replace("[\"loop.0\"]", "[]").replace("[\"loop.1\"]", "[]"))
        .collect();
    assert_eq!(after, before);
    // Equal constants lie at one place: those of the loop and of its body are the same byte, after
    // the number.
    assert_eq!(written.bin.len(), 9);
}

#[test]
fn random_graphs_are_read_back_as_they_were() {
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut builder = Builder::new("g");
        let mut values = Vec::new();
        for i in 0..random.usize(1..4) {
            let name = format!("input {i}");
            let id = builder.define(&name, Origin::Input).unwrap();
            let sizes: Vec<_> = (0..random.usize(1..4))
                .map(|_| match random.u8(..4) {
                    0 => DeclaredDim::Unknown,
                    1 => DeclaredDim::Between(random.usize(..3), None),
                    2 => DeclaredDim::Between(1, Some(random.usize(1..9))),
                    _ => DeclaredDim::Known(random.usize(..9)),
                })
                .collect();
            builder.info(id).declared = Some(of(DType::F32, &sizes));
            values.push(name);
        }
        for i in 0..random.usize(..4) {
            let name = format!("constant {i}");
            let elements: Vec<_> = (0..random.usize(1..20)).map(|_| random.i64(..3)).collect();
            builder.constant(&name, Tensor::vector(&elements).into()).unwrap();
            values.push(name);
        }
        for i in 0..random.usize(1..20) {
            let operators = [("ShapeOf", 3, 1), ("Concat", 1, 2), ("Gather", 8, 3), ("VariadicSplit", 1, 3)];
            let (operator, version, count) = operators[random.usize(..4)];
            let inputs: Vec<_> = (0..count).map(|_| values[random.usize(..values.len())].clone()).collect();
            let outputs: Vec<_> = (0..if operator == "VariadicSplit" { 3 } else { 1 })
                .map(|out| format!("value {i} {out}"))
                .collect();
            let borrowed = |list: &[String]| {
                list.iter().map(|name| -> &'static str { name.clone().leak() }).collect::<Vec<_>>()
            };
            let attributes = vec![("note", text(&format!("{}<&>\n\t\"", random.u64(..))))];
            builder
                .apply(
                    &format!("node {i}"),
                    operator,
                    version,
                    &borrowed(&inputs),
                    &borrowed(&outputs),
                    attributes,
                )
                .unwrap();
            for name in outputs {
                let id = builder.reference(&name);
                builder.info(id).declared =
                    Some(of(DType::I64, &[DeclaredDim::Unknown, DeclaredDim::Known(random.usize(..5))]));
                values.push(name);
            }
        }
        builder.output(values.last().unwrap());
        let graph = builder.finish().unwrap();
        let before = told(&graph);
        let (back, _) = written(graph);
        let own_names = |line: &String| {
            if line.starts_with("output") {
                line.split(" [").next().unwrap().to_owned()
            } else {
                line.clone()
            }
        };
        let (before, after): (Vec<_>, Vec<_>) =
            (before.iter().map(own_names).collect(), told(&back.graph).iter().map(own_names).collect());
        assert_eq!(after, before, "seed {seed}");
    }
}

#[test]
fn what_openvino_has_not_is_refused() {
    let message = |builder: Builder| encode_model(&model(builder.finish().unwrap())).unwrap_err().to_string();
    let mut builder = Builder::new("g");
    builder.constant("c", Tensor::zeros(DType::C64, Shape::SCALAR).unwrap().into()).unwrap();
    assert_eq!(
        message(builder),
        "constant \"c\": cannot write for OpenVINO: the element type is complex64, expected one that OpenVINO has"
    );
    let mut builder = Builder::new("g");
    builder.define("x", Origin::Input).unwrap();
    builder
        .apply("n", "Op", 1, &["x"], &["y"], vec![("t", Content::Tensor(Tensor::scalar(1i64).into()))])
        .unwrap();
    assert_eq!(
        message(builder),
        "node \"n\": attribute \"t\" is a tensor, which a file of OpenVINO cannot hold"
    );
    let mut builder = Builder::new("g");
    builder.define("x", Origin::Input).unwrap();
    builder.apply("n", "Op", 1, &["x"], &["y"], vec![("a b", text("1"))]).unwrap();
    assert_eq!(
        message(builder),
        "node \"n\": cannot write for OpenVINO: attribute name \"a b\" is not an XML name"
    );
}

/// A model as somebody else may have written it, with what we know nothing of.
const FILE: &str = r#"<?xml version='1.0'?>
<!-- by hand -->
<net name="n" version="11" strange="yes">
  <layers>
    <layer id="7" name="x" type="Parameter" version="opset1"><data shape="?,4" element_type="f32" unknown="1"/>
      <output><port id="0" precision="FP32" names="x"><dim>-1</dim><dim>4</dim><rt_info><a value="1"/></rt_info></port></output>
    </layer>
    <layer id="3" name="w" type="Const" version="opset1"><data element_type="f32" shape="4" offset="64" size="16"/>
      <output><port id="0" precision="FP32"><dim>4</dim></port></output>
    </layer>
    <layer id="4" name="v" type="Const" version="opset1"><data element_type="f32" shape="4" offset="128" size="16"/>
      <output><port id="0" precision="FP32"><dim>4</dim></port></output>
    </layer>
    <!-- the sum -->
    <layer id="5" name="add" type="Add" version="opset1"><data auto_broadcast="numpy"/>
      <input><port id="0" precision="FP32"><dim>-1</dim><dim>4</dim></port><port id="1" precision="FP32"><dim>4</dim></port></input>
      <output><port id="2" precision="FP32" names="sum"><dim>-1</dim><dim>4</dim></port></output>
      <rt_info><attribute name="fused_names" value="add"/></rt_info>
    </layer>
    <layer id="9" name="mystery" type="Mystery" version="mine"><data odd="&lt;7"/>
      <input><port id="0" precision="FP32"><dim>-1</dim><dim>4</dim></port><port id="1" precision="FP32"><dim>4</dim></port></input>
      <output><port id="2" precision="FP32" names="out"><dim>-1</dim><dim>4</dim></port></output>
    </layer>
    <layer id="1" name="out/sink" type="Result" version="opset1" output_names="out"><input><port id="0" precision="FP32"><dim>-1</dim><dim>4</dim></port></input></layer>
  </layers>
  <edges>
    <edge from-layer="7" from-port="0" to-layer="5" to-port="0"/>
    <edge from-layer="3" from-port="0" to-layer="5" to-port="1"/>
    <edge from-layer="5" from-port="2" to-layer="9" to-port="0"/>
    <edge from-layer="4" from-port="0" to-layer="9" to-port="1"/>
    <edge from-layer="9" from-port="2" to-layer="1" to-port="0"/>
  </edges>
  <rt_info><deep><a value="b"/></deep></rt_info>
</net>
"#;

fn bin() -> Vec<u8> {
    (0..160).collect()
}

fn edited(xml: &str, edit: &Edit) -> (String, Vec<u8>, Model) {
    let (text, bin) = (Bytes::copy_from_slice(xml.as_bytes()), bin());
    let before = read(&text, &bin);
    let written =
        edit_model(&text, bin.len(), &before, &before.apply(edit).unwrap(), &Renames::new()).unwrap();
    let (xml, bin) = (written.xml.to_bytes(&text).unwrap(), written.bin.to_bytes(&bin).unwrap());
    let after = read(&xml, &bin);
    (String::from_utf8(xml.to_vec()).unwrap(), bin.to_vec(), after)
}

/// Names in a file are in the order of the alphabet.
#[test]
fn an_input_is_known_by_the_name_of_its_layer() {
    let xml = FILE.replace("names=\"x\"", "names=\"concatenated,x\"");
    let model = read(xml.as_bytes(), &bin());
    let input = model.graph.value(model.graph.inputs()[0]);
    assert_eq!((&*input.name, &*input.aliases), ("x", &["concatenated".into()][..]));
}

#[test]
fn an_edit_of_nothing_changes_nothing_but_where_constants_lie() {
    for mark in ["", "\u{feff}"] {
        let file = format!("{mark}{FILE}");
        let (xml, bin, _) = edited(&file, &Edit::keeping(0..2));
        let moved = file.replace("offset=\"64\"", "offset=\"0\"").replace("offset=\"128\"", "offset=\"64\"");
        assert_eq!(xml, moved);
        assert_eq!(bin, [&self::bin()[64..80], &[0; 48], &self::bin()[128..144]].concat());
    }
}

#[test]
fn what_points_into_the_file_of_constants_and_is_not_known_keeps_it_as_it_is() {
    let file = FILE.replace("odd=", "offset=\"3\" size=\"5\" odd=");
    let (xml, bin, _) = edited(&file, &Edit::keeping(0..2));
    assert_eq!((xml, bin), (file, self::bin()));
}

#[test]
fn only_what_an_edit_names_changes() {
    let mut edit = Edit::keeping([1]);
    edit.nodes[0] = Step::Kept(Kept { node: 1, inputs: vec![(0, "x".into())], ..Kept::default() });
    edit.dropped.insert("w".into());
    let (xml, bin, after) = edited(FILE, &edit);
    let cut = |text: &str, from: &str, to: &str| {
        let (start, end) = (text.find(from).unwrap(), text.find(to).unwrap());
        let start = text[..start].trim_end().len();
        format!("{}{}", &text[..start], &text[text[..end].trim_end().len()..])
    };
    let mut want = cut(FILE, "<layer id=\"3\"", "<layer id=\"4\"");
    want = cut(&want, "<layer id=\"5\"", "<layer id=\"9\"");
    want = cut(&want, "<edge from-layer=\"7\"", "<edge from-layer=\"5\"");
    want = want.replace("from-layer=\"5\" from-port=\"2\"", "from-layer=\"7\" from-port=\"0\"");
    want = want.replace("offset=\"128\"", "offset=\"0\"");
    assert_eq!(xml, want);
    assert_eq!(bin, &self::bin()[128..144]);
    assert_eq!(after.graph.nodes().len(), 1);
}

#[test]
fn new_layers_stand_before_those_that_they_come_before() {
    let made = Made {
        name: "shape".into(),
        operator: "ShapeOf",
        version: 3,
        inputs: vec!["x".into()],
        outputs: vec!["shape".into()],
        attributes: Attribute::list([("output_type", text("i64"))]),
    };
    let mut edit = Edit::keeping([0, 1]);
    edit.nodes.insert(1, Step::Made(Box::new(made)));
    edit.constants.push(("k".into(), Tensor::vector(&[1f32, 2.0, 3.0, 4.0])));
    edit.nodes[2] = Step::Kept(Kept { node: 1, inputs: vec![(1, "k".into())], ..Kept::default() });
    edit.dropped.insert("v".into());
    edit.types.push(("sum".into(), of(DType::F32, &[DeclaredDim::Known(2), DeclaredDim::Known(4)])));
    edit.types.push(("x".into(), of(DType::F32, &[DeclaredDim::Known(2), DeclaredDim::Known(4)])));
    edit.types.push(("shape".into(), of(DType::I64, &[DeclaredDim::Known(2)])));
    let (xml, bin, after) = edited(FILE, &edit);
    assert_eq!(bin.len(), 16 + 16);
    let graph = &after.graph;
    let operators: Vec<_> = graph.nodes().iter().map(|node| node.operator.to_string()).collect();
    assert_eq!(operators, ["Add", "ShapeOf", "mine.Mystery"]);
    for name in ["x", "sum"] {
        let id = graph.find(name).unwrap();
        assert_eq!(graph.value(id).declared.as_ref().unwrap().to_string(), "float32[2, 4]", "{name}");
    }
    assert!(xml.contains("<data shape=\"2,4\" element_type=\"f32\" unknown=\"1\"/>"), "{xml}");
    let k = graph.constant(graph.nodes()[2].inputs[1].unwrap()).unwrap().tensor().unwrap();
    assert_eq!(k.elements::<f32>().unwrap()[..], [1.0, 2.0, 3.0, 4.0]);
    assert!(
        xml.contains("<!-- the sum -->") && xml.contains("<attribute name=\"fused_names\" value=\"add\"/>")
    );
    assert_eq!(graph.value(graph.outputs()[0]).name.as_ref(), "out");
}

#[test]
fn a_branch_takes_the_place_of_its_node() {
    let branch = |negate: bool| {
        let mut inner = Builder::new("branch");
        let p = inner.define("p", Origin::Input).unwrap();
        inner.info(p).declared = Some(of(DType::F32, &[DeclaredDim::Unknown]));
        inner.constant("one", Tensor::scalar(1f32).into()).unwrap();
        let operator = if negate { "Subtract" } else { "Add" };
        inner.apply("inner", operator, 1, &["p", "one"], &["inner"], vec![]).unwrap();
        inner.apply("more", operator, 1, &["inner", "one"], &["result"], vec![]).unwrap();
        inner.output("result");
        Content::Graph(Arc::new(inner.finish().unwrap()))
    };
    let port = |outer, inner| Port { outer, inner, slices: None };
    let ports = Ports { inputs: vec![port(1, 0)], outputs: vec![port(0, 0)], ..Ports::default() };
    let ports = || Content::Ports(Arc::new(ports.clone()));
    let mut builder = Builder::new("g");
    for (name, dtype) in [("c", DType::Bool), ("x", DType::F32)] {
        let id = builder.define(name, Origin::Input).unwrap();
        builder.info(id).declared = Some(of(dtype, &[DeclaredDim::Unknown]));
    }
    let attributes = vec![
        ("then_port_map", ports()),
        ("then_body", branch(false)),
        ("else_port_map", ports()),
        ("else_body", branch(true)),
    ];
    builder.apply("if", "If", 8, &["c", "x"], &["y"], attributes).unwrap();
    builder.output("y");
    let (_, first) = written(builder.finish().unwrap());
    let (xml, bin) = (first.xml.to_bytes(&[]).unwrap(), first.bin.to_bytes(&[]).unwrap());
    let before = read(&xml, &bin);
    let names = [("p".into(), "x".into()), ("result".into(), "y".into()), ("inner".into(), "inner_1".into())];
    let inlined = Inlined { node: 0, graph: 1, edit: Edit::keeping(0..2), names: names.into() };
    let edit = Edit { nodes: vec![Step::Inlined(Box::new(inlined))], ..Edit::default() };
    let after = edit_model(&xml, bin.len(), &before, &before.apply(&edit).unwrap(), &Renames::new()).unwrap();
    let after = read(&after.xml.to_bytes(&xml).unwrap(), &after.bin.to_bytes(&bin).unwrap());
    let lines: Vec<_> = told(&after.graph)
        .into_iter()
        .filter(|line| line.starts_with("node") || line.contains("->"))
        .collect();
    assert_eq!(
        lines,
        [
            "node inner Subtract Some(1)",
            "  [\"x\", \"one\"] -> [\"inner_1\"]",
            "node if Subtract Some(1)",
            "  [\"inner_1\", \"one\"] -> [\"y\"]",
        ]
    );
}

#[test]
fn an_edit_of_another_graph_or_file_is_an_error() {
    let text = Bytes::from_static(FILE.as_bytes());
    let before = read(&text, &bin());
    let refused = |edit: &Edit| before.apply(edit).unwrap_err().to_string();
    assert_eq!(refused(&Edit::keeping([7])), "cannot edit the graph: the edit is about another one");
    assert_eq!(
        refused(&Edit::keeping([1])),
        "line 20, column 5: node \"mystery\": input 0 is undefined value \"sum\""
    );
    let other = Model::new(Standard::OpenVino);
    let written =
        |before: &Model, len, after: &Model| edit_model(&text, len, before, after, &Renames::new()).map(drop);
    let refused = |before: &Model, len, after| written(before, len, after).unwrap_err().to_string();
    assert_eq!(refused(&other, 160, &before), "the graph is not that of the file");
    assert_eq!(
        refused(&before, 130, &before),
        "line 11, column 58: 16 bytes at 128 are wanted of the file of constants, which has 130"
    );
}

/// An IR whose one input is followed by some text.
fn with(header: &str, port: &str, rest: &str) -> String {
    format!(
        "<net version=\"11\"{header}><layers><layer id=\"0\" type=\"Parameter\" version=\"opset1\"><data shape=\"3\" \
         element_type=\"f32\" /><output><port id=\"0\">{port}</port></output></layer><layer id=\"1\" type=\"Result\" \
         version=\"opset1\"><input><port id=\"0\" /></input></layer></layers><edges><edge from-layer=\"0\" from-port=\"0\" \
         to-layer=\"1\" to-port=\"0\" /></edges>{rest}</net>"
    )
}

#[test]
fn texts_that_cost_more_than_their_length_are_refused_at_once() {
    let files: Arc<dyn Files> = Arc::new(InMemory(HashMap::new()));
    let reads = |text: &str| read_model(text.as_bytes(), "m.bin", &files, &Limits::DEFAULT);
    assert!(reads(&with("", "<dim>3</dim>", "")).is_ok());
    let many = |count, name: &str| {
        let each = (0..count).map(|i| format!(" {name}{i}=\"{i}\""));
        each.collect::<Vec<_>>().concat()
    };
    let (spaces, attributes) = (many(300, "xmlns:a"), many(20_000, "a"));
    let nested = ["<rt_info>", &"<a value=\"\">".repeat(100), &"</a>".repeat(100), "</rt_info>"].concat();
    for text in [with(&spaces, "", ""), with(&attributes, "", ""), with("", "", &nested)] {
        assert_eq!(reads(&text).unwrap_err().kind(), Kind::Limit);
    }
}

#[test]
fn comments_and_other_namespaces_are_no_part_of_a_model() {
    let files: Arc<dyn Files> = Arc::new(InMemory(HashMap::new()));
    let text = with(" xmlns:q=\"q\"", "<dim><!-- three -->3</dim>", "").replace(
        "<layer id=\"1\" type=\"Result\"",
        "<layer id=\"2\" type=\"Abs\" version=\"opset1\"><data q:a=\"1\" /><input><port id=\"0\" /></input>\
         <output><port id=\"1\"><dim>3</dim></port></output></layer><layer id=\"1\" type=\"Result\"",
    );
    let text = text.replace(
        "to-layer=\"1\" to-port=\"0\" />",
        "to-layer=\"2\" to-port=\"0\" /><edge from-layer=\"2\" \
                            from-port=\"1\" to-layer=\"1\" to-port=\"0\" />",
    );
    let model = read_model(text.as_bytes(), "m.bin", &files, &Limits::DEFAULT).unwrap();
    assert_eq!(
        model.graph.value(model.graph.inputs()[0]).declared.as_ref().unwrap().to_string(),
        "float32[3]"
    );
    assert!(model.graph.nodes()[0].attributes.is_empty());
}
