//! Plans of memory: no two values that live at the same step overlap, and the arena is seldom larger
//! than the most bytes that live at one step.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "common/sketch.rs"]
mod sketch;

use gradus::cost::{Block, MemoryPlan};
use gradus::infer::InferOptions;
use gradus::{DType, Kind, Model, Shape, Tensor};
use sketch::Sketch;

fn plan(model: &Model, dims: &[(&str, i64)], alignment: u64) -> MemoryPlan {
    let mut options = InferOptions::default();
    options.dims = dims.iter().map(|&(name, size)| (name.to_owned(), size)).collect();
    model.cost(&options).unwrap().plan(model, alignment).unwrap()
}

/// Checks a plan by its blocks alone.
fn check(plan: &MemoryPlan, model: &Model) {
    let round = |bytes: u128| bytes.next_multiple_of(plan.alignment.into());
    let own: Vec<_> = plan.blocks.iter().filter(|block| block.shares.is_none()).collect();
    let steps = |block: &Block| block.life.made..=block.life.last;
    for (index, a) in own.iter().enumerate() {
        assert_eq!(a.offset % u128::from(plan.alignment), 0);
        assert!(a.offset + a.bytes <= plan.bytes, "{a:?}");
        for b in &own[..index] {
            let beside = steps(a).start() <= steps(b).end() && steps(b).start() <= steps(a).end();
            let overlap = a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes;
            assert!(!(beside && overlap), "{a:?} and {b:?}");
        }
    }
    let order = model.graph().order();
    let live =
        |step| own.iter().filter(|it| steps(it).contains(&step)).map(|it| round(it.bytes)).sum::<u128>();
    assert_eq!(plan.live, (0..order.len()).map(live).max().unwrap_or(0));
    assert!(plan.live <= plan.bytes && plan.bytes <= plan.apart);
    assert_eq!(plan.apart, own.iter().map(|it| round(it.bytes)).sum::<u128>());
    // A value that shares bytes lives within the life of those.
    for block in plan.blocks.iter().filter(|block| block.shares.is_some()) {
        let root = own.iter().find(|it| it.value == block.shares).unwrap();
        assert_eq!(root.offset, block.offset);
        assert!(root.bytes >= block.bytes && root.life.last >= block.life.last, "{root:?} and {block:?}");
    }
    // Each value of a node has a place.
    let outputs = order.iter().flat_map(|&index| model.graph().nodes()[index].outputs.iter().flatten());
    let planned: Vec<_> = plan.blocks.iter().filter_map(|block| block.value).collect();
    assert_eq!(outputs.copied().collect::<Vec<_>>(), planned);
}

/// A model of random nodes: functions of an element, sums of two values of one length, and values of
/// other lengths, read by random later nodes.
fn random_model(random: &mut fastrand::Rng) -> Model {
    let mut sketch = Sketch::new().input("v0", DType::F32, &["n"]).ints("flat", &[-1]);
    // The values by how many times the input they are.
    let mut values = vec![("v0".to_owned(), 1)];
    for index in 1..random.usize(5..60) {
        let name = format!("v{index}");
        let recent = values.len().saturating_sub(8);
        let (a, times) = values[random.usize(recent..values.len())].clone();
        let (b, more) = values[random.usize(..values.len())].clone();
        let (operator, inputs, times) = match random.u8(..4) {
            0 if times + more < 100 => ("Concat", vec![&*a, &*b], times + more),
            1 => ("Reshape", vec![&*a, "flat"], times),
            2 if times == more => ("Add", vec![&*a, &*b], times),
            _ => ("Relu", vec![&*a], times),
        };
        let axis = vec![("axis", gradus::graph::Content::Int(0))];
        let attributes = if operator == "Concat" { axis } else { Vec::new() };
        sketch = sketch.with(operator, &inputs, &[&name], attributes);
        values.push((name, times));
    }
    let (last, _) = values.last().unwrap();
    sketch.output(last, DType::F32, &["m"]).model()
}

#[test]
fn values_that_live_at_one_time_never_overlap() {
    let mut random = fastrand::Rng::with_seed(1);
    let (mut exact, rounds) = (0, 300);
    for _ in 0..rounds {
        let model = random_model(&mut random);
        let plan = plan(&model, &[("n", random.i64(1..1000))], 1 << random.u32(..9));
        check(&plan, &model);
        exact += usize::from(plan.bytes == plan.live);
        assert!(plan.bytes * 3 <= plan.live * 4, "{} bytes for {}", plan.bytes, plan.live);
    }
    assert!(exact * 5 >= rounds * 4, "{exact} of {rounds} plans are as small as what lives at one time");
}

#[test]
fn published_architectures_need_no_more_than_what_lives_at_one_time() {
    for (name, dims) in [
        ("resnet50", &[("batch", 4)][..]),
        ("mobilenet_v2", &[("batch", 4)]),
        ("bert_base", &[("batch", 2), ("seq", 128)]),
        ("gpt2", &[("batch", 1), ("seq", 1024)]),
    ] {
        let model = Model::open(format!("tests/architectures/{name}.onnx")).unwrap();
        let plan = plan(&model, dims, 64);
        check(&plan, &model);
        assert_eq!(plan.bytes, plan.live, "{name}");
    }
}

#[test]
fn values_share_the_bytes_that_they_are_a_view_of() {
    let model = Sketch::new()
        .input("x", DType::F32, &["8", "8"])
        .ints("flat", &[-1])
        .node("Relu", &["x"], &["a"])
        .node("Reshape", &["a", "flat"], &["b"])
        .node("Identity", &["b"], &["c"])
        .node("Relu", &["c"], &["y"])
        .output("y", DType::F32, &["64"])
        .model();
    let plan = plan(&model, &[], 1);
    check(&plan, &model);
    assert_eq!((plan.bytes, plan.apart), (512, 512));
    let [a, b, c, _] = &plan.blocks[..] else { panic!("{plan:?}") };
    assert_eq!([a.shares, b.shares, c.shares], [None, a.value, a.value]);
    assert_eq!((a.life.made, a.life.last), (0, 3));
}

#[test]
fn graphs_within_nodes_have_a_block_while_they_run() {
    let branch = |operator| {
        Sketch::nested()
            .node(operator, &["x"], &["t"])
            .node("Neg", &["t"], &["u"])
            .output("u", DType::F32, &[])
            .graph()
    };
    let model = Sketch::new()
        .input("x", DType::F32, &["16"])
        .input("which", DType::Bool, &[])
        .with("If", &["which"], &["y"], vec![("then_branch", branch("Relu")), ("else_branch", branch("Abs"))])
        .output("y", DType::F32, &["16"])
        .model();
    let plan = plan(&model, &[], 64);
    check(&plan, &model);
    let blocks: Vec<_> = plan.blocks.iter().map(|it| (it.value.is_some(), it.bytes)).collect();
    assert_eq!(blocks, [(false, 64), (true, 64)]);
    assert_eq!(plan.bytes, 128);
}

#[test]
fn sizes_that_the_data_decide_have_room_for_the_most() {
    let model = Sketch::new()
        .input("x", DType::F32, &["10"])
        .node("NonZero", &["x"], &["where"])
        .output("where", DType::I64, &["1", "k"])
        .model();
    assert_eq!(plan(&model, &[], 1).bytes, 80);
}

#[test]
fn open_sizes_are_refused() {
    let model = Sketch::new()
        .input("x", DType::F32, &["n"])
        .constant("t", Tensor::scalar(1f32))
        .node("Add", &["x", "t"], &["y"])
        .output("y", DType::F32, &["n"])
        .model();
    let refusal = |alignment| {
        let error = model.cost(&InferOptions::default()).unwrap().plan(&model, alignment).unwrap_err();
        (error.kind(), error.message().to_owned())
    };
    let open = "cannot plan memory: the number of bytes of y is 4*n, expected a number (--dim)";
    assert_eq!(refusal(64), (Kind::Usage, open.to_owned()));
    let alignment = "cannot plan memory: the alignment is 0, expected at least 1";
    assert_eq!(refusal(0), (Kind::Usage, alignment.to_owned()));
}

#[test]
fn sizes_that_contradict_the_model_are_told() {
    let model = Sketch::new()
        .input("x", DType::F32, &["n", "k"])
        .constant("t", Tensor::from_vec(Shape::new([4]).unwrap(), vec![1f32; 4]).unwrap())
        .node("Add", &["x", "t"], &["sum"])
        .node("NonZero", &["sum"], &["y"])
        .output("y", DType::I64, &["2", "?"])
        .model();
    let mut options = InferOptions::default();
    options.dims.insert("k".to_owned(), 3);
    let mut cost = model.cost(&options).unwrap();
    let message =
        "the model contradicts itself: node \"make sum\" (Add): cannot broadcast: size is 3, expected 4 or 1";
    for (what, error) in
        [("plan memory", cost.plan(&model, 1).unwrap_err()), ("fit", cost.fit(&model, 9).unwrap_err())]
    {
        assert_eq!((error.kind(), error.message()), (Kind::Graph, &*format!("cannot {what}: {message}")));
    }
}
