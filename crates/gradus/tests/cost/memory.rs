//! Plans of memory: no two values that live at the same step overlap, and the arena is seldom larger
//! than the most bytes that live at one step.

use gradus::cost::{Block, MemoryPlan};
use gradus::infer::{InferOptions, Reuse};
use gradus::{DType, Kind, Model, Shape, Tensor};

use crate::common::sketch::Sketch;

fn plan(model: &Model, dims: &[(&str, i64)], alignment: u64) -> MemoryPlan {
    let mut options = InferOptions::default();
    options.sizes.dims = dims.iter().map(|&(name, size)| (name.to_owned(), size)).collect();
    model.cost(&options).unwrap().plan(model, alignment, Reuse::Views).unwrap()
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
    let mut sketch = Sketch::of("v0: float32[n]; flat = [-1]");
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
            _ => ("Neg", vec![&*a], times),
        };
        let axis = vec![("axis", gradus::graph::Content::Int(0))];
        let attributes = if operator == "Concat" { axis } else { Vec::new() };
        sketch = sketch.with(operator, &inputs, &[&name], attributes);
        values.push((name, times));
    }
    let (last, _) = values.last().unwrap();
    sketch.output(last, DType::F32, &["m"]).model()
}

/// Runs a random model in one arena, each node element by element where the plan has its values.
fn run_in_arena(model: &Model, plan: &MemoryPlan, input: &[f32]) -> Vec<f32> {
    let graph = model.graph();
    let usize_of = |bytes: u128| usize::try_from(bytes / 4).unwrap();
    let mut arena = vec![f32::NAN; usize_of(plan.bytes)];
    let place = |id| {
        plan.blocks.iter().find(|it| it.value == Some(id)).map(|it| (usize_of(it.offset), usize_of(it.bytes)))
    };
    let read =
        |arena: &[f32], id, at: usize| place(id).map_or_else(|| input[at], |(from, _)| arena[from + at]);
    for &index in graph.order() {
        let node = &graph.nodes()[index];
        let [a, b] = [0, 1].map(|at| node.inputs.get(at).copied().flatten());
        let (a, b) = (a.unwrap(), b.unwrap_or(a.unwrap()));
        let (to, length) = place(node.outputs[0].unwrap()).unwrap();
        let middle = place(a).map_or(input.len(), |(_, length)| length);
        for at in 0..length {
            arena[to + at] = match &*node.operator.name {
                "Add" => read(&arena, a, at) + read(&arena, b, at),
                "Neg" => -read(&arena, a, at),
                "Concat" if at >= middle => read(&arena, b, at - middle),
                _ => read(&arena, a, at),
            };
        }
    }
    let (from, length) = place(graph.outputs()[0]).unwrap();
    arena[from..from + length].to_vec()
}

#[test]
fn values_in_place_are_those_of_values_apart() {
    let mut random = fastrand::Rng::with_seed(2);
    let mut smaller = [0; 2];
    for _ in 0..200 {
        let model = random_model(&mut random);
        let input: Vec<f32> = (0..random.u8(1..20)).map(f32::from).collect();
        let mut options = InferOptions::default();
        options.sizes.dims = [("n".to_owned(), input.len().try_into().unwrap())].into();
        let mut cost = model.cost(&options).unwrap();
        let [apart, views, in_place] =
            [Reuse::None, Reuse::Views, Reuse::InPlace].map(|reuse| cost.plan(&model, 4, reuse).unwrap());
        check(&in_place, &model);
        let wanted = run_in_arena(&model, &apart, &input);
        assert_eq!(run_in_arena(&model, &views, &input), wanted);
        assert_eq!(run_in_arena(&model, &in_place, &input), wanted);
        assert_eq!(cost.memory.in_place.unwrap().bytes.known(), in_place.live.try_into().ok());
        smaller[0] += usize::from(views.live < apart.live);
        smaller[1] += usize::from(in_place.live < views.live);
    }
    assert!(smaller.iter().all(|&models| models > 30), "{smaller:?} models need less by each kind of reuse");
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
    let model = Sketch::of(
        "x: float32[8, 8]; flat = [-1]; a = Relu(x); b = Reshape(a, flat); c = Identity(b);
         y = Relu(c); return y: float32[64]",
    )
    .model();
    let plan = plan(&model, &[], 1);
    check(&plan, &model);
    assert_eq!((plan.bytes, plan.apart), (512, 512));
    let [a, b, c, _] = &plan.blocks[..] else { panic!("{plan:?}") };
    assert_eq!([a.shares, b.shares, c.shares], [None, a.value, a.value]);
    assert_eq!((a.life.made, a.life.last), (0, 3));
}

#[test]
fn outputs_of_elementwise_nodes_take_the_room_of_what_ends() {
    let sketch = || Sketch::of("x: float32[8, 8]; a = Relu(x)");
    let place_of = |sketch: Sketch, output: &str, dtype| {
        let model = sketch.output(output, dtype, &[]).model();
        let mut cost = model.cost(&InferOptions::default()).unwrap();
        let plan = cost.plan(&model, 1, Reuse::InPlace).unwrap();
        check(&plan, &model);
        assert_eq!(cost.memory.in_place.unwrap().bytes.known(), plan.live.try_into().ok());
        let named = |id| model.graph().value(id).name.to_string();
        let block = plan.blocks.iter().find(|it| it.value.is_some_and(|id| named(id) == output)).unwrap();
        block.shares.map(named)
    };
    let taken = Some("a".to_owned());
    assert_eq!(place_of(sketch().text("y = Exp(a)"), "y", DType::F32), taken);
    assert_eq!(place_of(sketch().text("y = Add(x, a)"), "y", DType::F32), taken);
    assert_eq!(place_of(sketch().text("y = Mul(a, a)"), "y", DType::F32), taken);
    // A view of it ends as well.
    let view = || sketch().text("flat = [-1]; b = Reshape(a, flat)");
    assert_eq!(place_of(view().text("y = Exp(b)"), "y", DType::F32), taken);
    // Bits of another size, another shape, inputs that are needed later or are none of a node.
    assert_eq!(place_of(sketch().text("y = IsNaN(a)"), "y", DType::Bool), None);
    assert_eq!(place_of(sketch().text("y = Transpose(a)"), "y", DType::F32), None);
    assert_eq!(place_of(sketch().text("y = Softmax(a)"), "y", DType::F32), None);
    let later = view().text("y = Exp(a); z = Neg(b)");
    assert_eq!(place_of(later.text("return z: float32[64]"), "y", DType::F32), None);
    assert_eq!(place_of(sketch().text("y = Exp(a); return a: float32[]"), "y", DType::F32), None);
    assert_eq!(place_of(Sketch::of("a: float32[8]; y = Exp(a)"), "y", DType::F32), None);
    // A row is read as another column is written.
    let outer = Sketch::of("x: float32[8, 1]; row = [1, 8]; a = Relu(x)");
    let outer = outer.text("b = Reshape(a, row); y = Add(a, b)");
    assert_eq!(place_of(outer, "y", DType::F32), None);
}

#[test]
fn graphs_within_nodes_have_a_block_while_they_run() {
    let branch = |operator| {
        Sketch::nested().node(operator, &["x"], &["t"]).text("u = Neg(t); return u: float32[]").graph()
    };
    let model = Sketch::of("x: float32[16]; which: bool[]")
        .with("If", &["which"], &["y"], vec![("then_branch", branch("Relu")), ("else_branch", branch("Abs"))])
        .text("return y: float32[16]")
        .model();
    let plan = plan(&model, &[], 64);
    check(&plan, &model);
    let blocks: Vec<_> = plan.blocks.iter().map(|it| (it.value.is_some(), it.bytes)).collect();
    assert_eq!(blocks, [(false, 64), (true, 64)]);
    assert_eq!(plan.bytes, 128);
}

#[test]
fn sizes_that_the_data_decide_have_room_for_the_most() {
    let model = Sketch::of("x: float32[10]; where = NonZero(x); return where: int64[1, k]").model();
    assert_eq!(plan(&model, &[], 1).bytes, 80);
}

#[test]
fn open_sizes_are_refused() {
    let model = Sketch::of("x: float32[n]; t = 1.0; y = Add(x, t); return y: float32[n]").model();
    let refusal = |alignment| {
        let error =
            model.cost(&InferOptions::default()).unwrap().plan(&model, alignment, Reuse::Views).unwrap_err();
        (error.kind(), error.message().to_owned())
    };
    let open = "cannot plan memory: the number of bytes of y is 4*n, expected a number (--dim)";
    assert_eq!(refusal(64), (Kind::Usage, open.to_owned()));
    let alignment = "cannot plan memory: the alignment is 0, expected at least 1";
    assert_eq!(refusal(0), (Kind::Usage, alignment.to_owned()));
}

#[test]
fn sizes_that_contradict_the_model_are_told() {
    let model = Sketch::of("x: float32[n, k]")
        .constant("t", Tensor::from_vec(Shape::new([4]).unwrap(), vec![1f32; 4]).unwrap())
        .text("sum = Add(x, t); y = NonZero(sum); return y: int64[2, ?]")
        .model();
    let mut options = InferOptions::default();
    options.sizes.dims.insert("k".to_owned(), 3);
    let mut cost = model.cost(&options).unwrap();
    let message =
        "the model contradicts itself: node \"make sum\" (Add): cannot broadcast: size is 3, expected 4 or 1";
    for (what, error) in [
        ("plan memory", cost.plan(&model, 1, Reuse::Views).unwrap_err()),
        ("fit", cost.fit(&model, 9, Reuse::None).unwrap_err()),
    ] {
        assert_eq!((error.kind(), error.message()), (Kind::Graph, &*format!("cannot {what}: {message}")));
    }
}
