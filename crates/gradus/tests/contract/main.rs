//! Contracts, written in each language, compiled and run, against the expressions of the library;
//! and these against inference and runs at the same sizes.

#![allow(clippy::unwrap_used, reason = "a test may fail by a panic")]

#[path = "../common"]
mod common {
    pub mod folder;
    pub mod nodes;
    pub mod sketch;
}
mod conditional;
mod graphs;
mod nodes;
mod programs;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::process::Command;

use common::folder::models;
use common::sketch::{Sketch, tensor_type};
use conditional::conditional;
use fastrand::Rng;
use gradus::contract::{Contract, ContractCondition, Language, OutputSize};
use gradus::dim::Symbols;
use gradus::graph::{Content, DeclaredDim, Type};
use gradus::infer::{InferOptions, InputFact, Why};
use gradus::{DType, Dim, Model, Number, RunOptions, Shape, Tensor, Value};
use graphs::{Needs, graphs};
use programs::{Folder, LANGUAGES, Sizes, compare, evaluated, run};

/// Random sizes: most as the shapes of inputs say, some not.
fn random_sizes(contract: &Contract, rng: &mut Rng, large: bool) -> Sizes {
    let pick = |rng: &mut Rng| match rng.usize(0..20) {
        0..4 => rng.i64(0..3),
        4..8 => 1 << rng.u32(0..8),
        8 if large => [i64::MAX, i64::MIN, -1, 1 << 62, 1 << 32][rng.usize(0..5)],
        9 if large => rng.i64(..) >> rng.u32(0..60),
        _ => rng.i64(1..40),
    };
    let symbols = contract.symbols();
    let of: HashMap<_, _> = symbols.symbols().iter().map(|symbol| (symbol.name.clone(), pick(rng))).collect();
    let value = |dim: Dim| symbols.evaluate(dim, &|name| of.get(name).copied());
    let inputs = contract.inputs().iter().map(|input| {
        let size = |&dim: &Dim| match rng.usize(0..30) {
            0 => pick(rng),
            _ => value(dim).unwrap_or(1),
        };
        input.shape.iter().map(size).collect()
    });
    let inputs = inputs.collect();
    Sizes(inputs, contract.parameters().map(|(symbol, _)| of[symbol]).collect())
}

/// The answer of inference where every input has sizes that are numbers: the sizes of the outputs,
/// or the first problem.
fn inferred(
    model: &Model,
    contract: &Contract,
    sizes: &Sizes,
) -> Result<Vec<Option<Vec<Option<i64>>>>, String> {
    let mut options = InferOptions::default();
    for (input, given) in contract.inputs().iter().zip(&sizes.0) {
        let known = given
            .iter()
            .map(|&size| Ok(DeclaredDim::Known(usize::try_from(size).map_err(|e| e.to_string())?)));
        let of = Type::Tensor(None, Some(known.collect::<Result<_, String>>()?));
        options.sizes.inputs.insert(input.name.clone(), InputFact::Type(of));
    }
    let inference = model.infer(&options).map_err(|error| error.to_string())?;
    if let Some(problem) = inference.problems().first() {
        return Err(format!("{}: {}", problem.place, problem.message));
    }
    let dims = |id| inference.fact(id).as_tensor()?.dims.clone();
    Ok(model
        .graph()
        .outputs()
        .iter()
        .map(|&id| Some(dims(id)?.iter().map(|dim| dim.known()).collect()))
        .collect())
}

/// Holds verdicts and sizes of a contract against inference at numbers. Accepted sizes have no
/// problem; sizes that are refused have one, unless an assumption refuses them.
fn as_inferred(name: &str, model: &Model, contract: &Contract, sizes: &Sizes) -> Result<(), String> {
    let found = inferred(model, contract, sizes);
    match (evaluated(contract, sizes), found) {
        // Conditions that are not checked may be those.
        (Ok(_), Err(_)) if !contract.unchecked().is_empty() => {}
        (Ok(_), Err(problem)) => return Err(format!("{name} accepts {sizes:?}, but: {problem}")),
        (Ok(fields), Ok(outputs)) => {
            let mut fields = fields.into_iter();
            for (output, known) in contract.outputs().iter().zip(outputs) {
                let Some(shape) = &output.shape else { continue };
                let least: Vec<_> = shape.iter().map(|_| fields.next().unwrap()).collect();
                let is_exact = shape.iter().all(|size| matches!(size, OutputSize::Exact(_)));
                let most: Vec<_> = if is_exact {
                    least.clone()
                } else {
                    shape.iter().map(|_| fields.next().unwrap()).collect()
                };
                fields.by_ref().take(usize::from(output.bytes.is_some())).for_each(drop);
                let known = known.unwrap_or_else(|| vec![None; shape.len()]);
                assert_eq!(known.len(), shape.len(), "{name}: {}", output.name);
                for (axis, size) in known.into_iter().enumerate() {
                    let Some(size) = size else { continue };
                    let within = least[axis] <= size && (most[axis] == -1 || size <= most[axis]);
                    if !within {
                        let output = &output.name;
                        return Err(format!(
                            "{name}: axis {axis} of {output} is {size} at {sizes:?}, not {least:?}"
                        ));
                    }
                }
            }
        }
        (Err(_), _) => {}
    }
    Ok(())
}

/// The contract of a model with random cases.
fn cased(name: &str, model: &Model, rng: &mut Rng, count: usize) -> (String, Contract, Vec<Sizes>) {
    let (contract, cases, wrong) = random_cases(name, model, rng, count);
    assert!(wrong.is_empty(), "{wrong:#?}");
    (name.to_owned(), contract, cases)
}

/// The contract of a model, random cases, and those in which inference at numbers disagrees.
fn random_cases(
    name: &str,
    model: &Model,
    rng: &mut Rng,
    count: usize,
) -> (Contract, Vec<Sizes>, Vec<String>) {
    let mut wrong = Vec::new();
    let contract = model.contract(&InferOptions::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    let cases: Vec<_> = (0..count).map(|case| random_sizes(&contract, rng, case % 3 == 0)).collect();
    for sizes in &cases {
        let small = sizes.0.iter().flatten().all(|size| (0..1 << 20).contains(size));
        // Symbols that no axis is alone have no numbers in inference.
        if small && sizes.1.is_empty() {
            wrong.extend(as_inferred(name, model, &contract, sizes).err());
        }
    }
    (contract, cases, wrong)
}

fn expression(rng: &mut Rng, depth: usize) -> String {
    if depth == 0 || rng.usize(0..5) == 0 {
        return match rng.usize(0..4) {
            0 => rng.i64(-9..60).to_string(),
            _ => ["a", "b", "c"][rng.usize(0..3)].to_owned(),
        };
    }
    let (left, right) = (expression(rng, depth - 1), expression(rng, depth - 1));
    match rng.usize(0..10) {
        0..3 => format!("({left} + {right})"),
        3 => format!("({left} - {right})"),
        9 => format!("({left})*({right})"),
        4 => format!("(({left})//({right}))"),
        5 => format!("(({left})%({right}))"),
        6 => format!("min({left}, {right})"),
        7 => format!("max({left}, {right})"),
        _ => format!("broadcast({left}, {right})"),
    }
}

/// A model whose inputs have random expressions as sizes, and are its outputs.
fn of_expressions(rng: &mut Rng) -> Model {
    let alone: &[&str] = if rng.usize(0..4) == 0 { &["a", "b"] } else { &["a", "b", "c"] };
    let mut sketch = Sketch::new().input("x", DType::F32, alone);
    for index in 0..2 {
        let sizes: Vec<_> = (0..3)
            .map(|_| {
                loop {
                    let text = expression(rng, 4);
                    // Texts that are no expressions are names.
                    if Symbols::default().parse(&text).is_ok_and(|dim| dim.known().is_none()) {
                        break text;
                    }
                }
            })
            .collect();
        let sizes: Vec<_> = sizes.iter().map(String::as_str).collect();
        let name = format!("y{index}");
        sketch = sketch.input(&name, DType::I64, &sizes).node("Abs", &[&name], &[&format!("z{index}")]);
        sketch = sketch.output(&format!("z{index}"), DType::I64, &["?", "?", "?"]);
    }
    sketch.text("w = Abs(x)").output("w", DType::F32, &["?"; 3][..alone.len()]).model()
}

fn example(name: &str) -> Model {
    Model::open(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/").to_owned() + name).unwrap()
}

#[test]
fn contracts_equal_the_library_in_every_language() {
    let mut rng = Rng::with_seed(7);
    let mut of = Vec::new();
    for name in ["positions.onnx", "heads.onnx", "loop.onnx", "function.onnx", "range.onnx", "range.xml"] {
        of.push(cased(&name.replace('.', "_"), &example(name), &mut rng, 40));
    }
    for (name, model) in conditional() {
        of.push(cased(name, &model, &mut rng, 80));
    }
    let (accepted, refused) = compare("models", &of, &LANGUAGES);
    assert!(accepted > 200 && refused > 200, "{accepted} accepted, {refused} refused");
}

/// Keywords and alternative tokens of C23, C++26, Rust and Python, lowercase as identifiers are.
const KEYWORDS: &str = "\
    abstract alignas alignof and and_eq as asm assert async atomic_cancel atomic_commit atomic_noexcept auto \
    await become bitand bitor bool box break case catch char char16_t char32_t char8_t class co_await \
    co_return co_yield compl concept const const_cast consteval constexpr constinit continue \
    contract_assert crate decltype def default del delete do double dyn dynamic_cast elif else enum except \
    explicit export extern false final finally float fn for friend from gen global goto if impl import in \
    inline int is lambda let long loop macro match mod module move mut mutable namespace new noexcept \
    nonlocal not not_eq nullptr operator or or_eq override pass priv private protected pub public raise \
    ref reflexpr register reinterpret_cast requires restrict return self short signed sizeof static \
    static_assert static_cast struct super switch synchronized template this thread_local throw trait true \
    try type typedef typeid typename typeof typeof_unqual union unsafe unsigned unsized use using virtual \
    void volatile wchar_t where while with xor xor_eq yield \
    linux unix i386 errno stdin print len max min size_t int64_t";

/// Contracts compile, in C++ too, whatever words name inputs, sizes and outputs.
#[test]
fn words_of_languages_are_no_identifiers() {
    let mut sketch = Sketch::new();
    for word in KEYWORDS.split(' ') {
        sketch = sketch.input(word, DType::F32, &[word, "2"]);
    }
    for word in KEYWORDS.split(' ') {
        let output = format!("{word} ");
        sketch = sketch.node("Abs", &[word], &[&output]).output(&output, DType::F32, &["?", "2"]);
    }
    let mut rng = Rng::with_seed(5);
    let of = [cased("words", &sketch.model(), &mut rng, 3)];
    compare("words", &of, &LANGUAGES);
    if Command::new("c++").arg("--version").output().is_ok_and(|found| found.status.success()) {
        let folder = Folder::new("cpp");
        folder.write("words.h", &of[0].1.source(Language::C, "words.onnx"));
        folder.write("main.cpp", "#include \"words.h\"\n");
        let mut command = Command::new("c++");
        command.current_dir(&folder.0).args(["-std=c++20", "-fsyntax-only", "main.cpp"]);
        run(&mut command, "c++");
    }
}

#[test]
fn random_expressions_equal_the_library_in_every_language() {
    let mut rng = Rng::with_seed(11);
    let mut of = Vec::new();
    while of.len() < 30 {
        let model = of_expressions(&mut rng);
        // Some sizes are below zero whatever the symbols are.
        if model.contract(&InferOptions::default()).is_ok() {
            of.push(cased(&format!("m{}", of.len()), &model, &mut rng, 40));
        }
    }
    let (accepted, refused) = compare("expressions", &of, &LANGUAGES);
    assert!(accepted > 100 && refused > 100, "{accepted} accepted, {refused} refused");
}

#[test]
fn accepted_sizes_run_and_refused_sizes_do_not() {
    let mut rng = Rng::with_seed(5);
    let mut ran = [0, 0];
    for (name, model) in conditional() {
        let contract = model.contract(&InferOptions::default()).unwrap();
        let program = model.compile(&[], &RunOptions::default()).unwrap();
        for _ in 0..60 {
            let sizes = random_sizes(&contract, &mut rng, false);
            if sizes.0.iter().flatten().any(|size| *size < 0) {
                continue;
            }
            let verdict = evaluated(&contract, &sizes);
            let inputs = contract.inputs().iter().zip(&sizes.0).map(|(input, sizes)| {
                let sizes: Vec<_> = sizes.iter().map(|&size| usize::try_from(size).unwrap()).collect();
                let shape = Shape::new(&*sizes).unwrap();
                let count = sizes.iter().product();
                (input.name.clone(), Value::from(Tensor::from_vec(shape, vec![1.0f32; count]).unwrap()))
            });
            let result = program.run(inputs);
            ran[usize::from(verdict.is_ok())] += 1;
            match (&verdict, result) {
                (Ok(_), Err(error)) => panic!("{name} accepts {sizes:?}, but: {error}"),
                // The contract alone asks that axes of one name have one size.
                (Err(refused), Ok(_)) => {
                    assert!(refused.ends_with("(the inputs)"), "{name} refuses {sizes:?}: {refused}");
                }
                _ => {}
            }
        }
    }
    assert!(ran[0] > 50 && ran[1] > 200, "{ran:?}");
}

#[test]
fn conditions_have_their_reasons() {
    let text = |name: &str| {
        let (_, model) = conditional().into_iter().find(|(of, _)| *of == name).unwrap();
        let contract = model.contract(&InferOptions::default()).unwrap();
        let conditions = contract.conditions().iter();
        conditions.map(|of| format!("{} ({})", of.text, of.place)).collect::<Vec<_>>()
    };
    let sizes =
        |names: &[&str]| names.iter().map(|name| format!("{name} >= 0 (the inputs)")).collect::<Vec<_>>();
    let held = |name: &str, names: &[&str], conditions: &[&str]| {
        let wanted = sizes(names).into_iter().chain(conditions.iter().map(ToString::to_string));
        assert_eq!(text(name), wanted.collect::<Vec<_>>(), "{name}");
    };
    held(
        "blocks",
        &["batch", "h"],
        &["h%32 == 0 (node \"make y\" (Reshape))", "batch >= 1 (node \"make y\" (Reshape))"],
    );
    held("inner", &["n", "k", "l", "m"], &["k == l (node \"make y\" (MatMul))"]);
    held(
        "sums",
        &["n", "k", "m", "l"],
        &["n broadcasts with m (node \"make y\" (Add))", "k broadcasts with l (node \"make y\" (Add))"],
    );
    held("window", &["h"], &["h >= 3 (node \"make y\" (Conv))"]);
    let row = |text: &str, loop_of: &str| {
        format!("{text} (node \"make {loop_of}\".body/node \"make row\" (Gather))")
    };
    let counted = ["m - 3*((n + 1)//3) + 1 >= 0", "m >= 2 if n >= 2"].map(|text| row(text, "end"));
    held("counted", &["n", "m"], &counted.each_ref().map(|of| &**of));
    let iterations = ["m - n >= 0", "m >= 1 if n >= 1"].map(|text| row(text, "rows"));
    held("iterations", &["n", "m"], &iterations.each_ref().map(|of| &**of));
    // The body needs `n >= 1`, and runs for these sizes alone.
    held("each", &["n"], &[]);
    held("halves", &["n"], &["n == 8 (node \"make y\" (Split))"]);
    held("positional", &["batch", "seq"], &["seq <= 16 (node \"make y\" (Add))"]);
    held("last", &["batch", "seq"], &[]);
    held("lookup", &["batch", "seq"], &["seq <= 16 (node \"make y\" (Gather))"]);
    let element =
        ["n >= seq - 2", "seq + n >= 3"].map(|of| format!("{of} (node \"make z\" (GatherElements))"));
    held("element", &["rows", "seq", "n"], &element.each_ref().map(|of| &**of));
    for (name, operator) in [("tuple", "GatherND"), ("update", "ScatterND")] {
        let place =
            ["n >= rows + 1", "m >= seq + 1"].map(|of| format!("{of} (node \"make z\" ({operator}))"));
        held(name, &["rows", "seq", "n", "m"], &place.each_ref().map(|of| &**of));
    }
    held("greatest", &["rows", "seq"], &["seq >= min(rows, 1) (node \"make y\" (ArgMax))"]);
    held("put", &["rows"], &["rows >= 3 (node \"make y\" (ScatterElements))"]);
    held("first", &["rows", "n", "m"], &["min(n*m, n) <= rows (node \"make z\" (GatherElements))"]);
    held("edges", &["nodes", "edges"], &["nodes >= min(edges, 1) (node \"make y\" (Gather))"]);
    held(
        "grid",
        &["batch", "seq", "past"],
        &["seq + past <= 16 if seq >= 1 and batch >= 1 (node \"make y\" (Gather))"],
    );
    held(
        "flat",
        &["batch", "seq", "past"],
        &["batch*seq + batch*past <= 16 if seq >= 1 (node \"make y\" (Gather))"],
    );
    held(
        "stacked",
        &["batch", "seq", "past", "k", "l"],
        &[
            "k >= seq + past if batch >= 1 and seq >= 1 (node \"make y\" (GatherND))",
            "l >= batch if seq >= 1 (node \"make y\" (GatherND))",
        ],
    );
    // `max(n*m, h) >= 1` is taken for granted: the heads of none at all are no quotient.
    let heads = ["h%4 == 0", "max(n*m, h) >= 1"].map(|of| format!("{of} (node \"make y\" (Reshape))"));
    held("heads", &["n", "m", "h"], &heads.each_ref().map(|of| &**of));
    held("rows", &["batch", "seq"], &[]);
    let planes = ["batch == 0 if n <= 0"].map(|of| format!("{of} (node \"make planes\" (Reshape))"));
    held("planes", &["batch", "n"], &planes.each_ref().map(|of| &**of));
    let emptied = ["seq >= 0 (the inputs)", "seq == batch*seq if batch >= 1 (node \"make y\" (Reshape))"];
    assert_eq!(text("emptied"), [&emptied[..], &["batch >= 0 (the inputs)"]].concat());
    held("remainder", &["n"], &["n >= 1 (node \"make y\" (Mod))"]);
    held("scanned", &["n", "m"], &["n >= 1 (node \"make y\" (Scan))"]);
    held("pieces", &["n", "m"], &["n >= 1 (node \"make y\" (ConcatFromSequence))"]);
    assert_eq!(text("hostile").len(), 3);

    let (_, model) = conditional().into_iter().find(|(of, _)| *of == "window").unwrap();
    let mut options = InferOptions::default();
    options.sizes.assume.conditions.push("h % 4 == 0".to_owned());
    let contract = model.contract(&options).unwrap();
    let texts: Vec<_> = contract.conditions().iter().map(|of| &*of.text).collect();
    assert_eq!(texts, ["h >= 0", "h >= 4", "h % 4 == 0"]);
    assert_eq!(contract.parameters().count(), 0);
    options.sizes.assume.conditions = vec!["h in {8, 16, 24, 64}".to_owned()];
    let contract = model.contract(&options).unwrap();
    let is_taken = |h: &i64| evaluated(&contract, &Sizes(vec![vec![1, 2, *h]], Vec::new())).is_ok();
    assert_eq!((0..80).filter(is_taken).collect::<Vec<_>>(), [8, 16, 24, 64]);
    let mut drawn = BTreeMap::from([("h".to_owned(), 30)]);
    assert!(options.sizes.assume.meet(&mut drawn, &BTreeMap::new()) && drawn["h"] == 24, "{drawn:?}");
}

/// Indices that are computed from sizes in ways that are not followed.
#[test]
fn indices_that_are_not_followed_are_listed() {
    let model = Sketch::of(
        "x: float32[rows, seq]; y: float32[n, m]; zero = 0; one = 1; pair = [-1, 2];
         twice = [2]; shape = Shape(x); len = Gather(shape, one); row = Range(zero, len, one);
         all = Tile(row, twice); places = Reshape(all, pair); z = GatherND(y, places);
         return z: float32[?]",
    )
    .model();
    let contract = model.contract(&InferOptions::default()).unwrap();
    let unchecked: Vec<_> = contract.unchecked().iter().map(|it| (&*it.text, &*it.place)).collect();
    assert_eq!(unchecked, [("indices are within sizes n, m", "node \"make z\" (GatherND)")]);
    let mut options = InferOptions::default();
    options.sizes.dims.insert("seq".to_owned(), 0);
    assert_eq!(model.contract(&options).unwrap().unchecked(), []);
}

/// Elements of an input that are looked up, moved and shifted.
#[test]
fn elements_that_are_looked_up_are_listed() {
    let model = Sketch::of(
        "table: float32[rows, 4]; ids: int32[batch, seq]; two = 2; axis = [0];
         wide = Cast(ids, to=7); all = Unsqueeze(wide, axis); places = Add(all, two);
         z = Gather(table, places)",
    )
    .output("z", DType::F32, &["?"; 4])
    .model();
    let contract = model.contract(&InferOptions::default()).unwrap();
    let unchecked: Vec<_> = contract.unchecked().iter().map(|it| &*it.text).collect();
    assert_eq!(unchecked, ["-rows - 2 <= elements of \"ids\" <= rows - 3"]);
}

/// Programs run a model in which only a declared shape is wrong, and so a contract is made.
#[test]
fn wrong_declared_shapes_are_told_and_do_not_matter() {
    let mut sketch = Sketch::of("x: float32[n, 4]; t = Relu(x)");
    let id = sketch.0.reference("t");
    sketch.0.info(id).declared = Some(tensor_type(DType::F32, &["7"]));
    let model = sketch.text("y = Neg(t); return y: float32[n, 4]").model();
    let inference = model.infer(&InferOptions::default()).unwrap();
    let warnings: Vec<_> = inference.warnings().iter().map(|it| (&*it.place, &*it.message)).collect();
    assert_eq!(warnings, [("value \"t\"", "rank is 2, expected 1 as declared")]);
    assert_eq!(inference.problems(), []);
    model.contract(&InferOptions::default()).unwrap();
}

/// A graph that may not run asks for nothing when it does not: the sizes that it refuses are legal
/// for the others.
#[test]
fn conditions_of_graphs_that_may_not_run_are_not_the_models() {
    for (name, model, needs) in graphs() {
        let contract = model.contract(&InferOptions::default()).unwrap();
        let conditions: Vec<_> = contract.conditions().iter().map(|of| &*of.text).collect();
        assert_eq!(conditions.contains(&"k == 1"), needs == Needs::Always, "{name}: {conditions:?}");
        let unchecked = contract.unchecked().iter().map(|of| &*of.text);
        let of_elements = contract.of_elements().iter().map(|of| &*of.text);
        let told = unchecked
            .chain(of_elements)
            .chain(conditions.iter().copied())
            .any(|text| text.starts_with("k == 1 if "));
        // A loop is seen for all its iterations, and then for the first.
        assert!(told || needs != Needs::Perhaps, "{name}: {:?}", contract.unchecked());
        assert!(!told || needs != Needs::Never, "{name}: {:?}", contract.unchecked());
    }
}

/// A truth value and a number choose branches: conditions of the branches are checked where the
/// contract is given them, and a branch that always fails is not chosen.
#[test]
fn elements_that_choose_branches_are_arguments() {
    let squeezed = |axis: i64| {
        let ints = Sketch::nested().ints("axes", &[axis]);
        ints.node("Squeeze", &["x", "axes"], &["z"]).output("z", DType::F32, &[""]).graph()
    };
    let rates = |number: i64, otherwise: Content| {
        let sketch = Sketch::nested().constant("rate", Tensor::scalar(number));
        let branches = vec![("then_branch", squeezed(1)), ("else_branch", otherwise)];
        let sketch = sketch.node("Equal", &["sr", "rate"], &["is"]).with("If", &["is"], &["w"], branches);
        sketch.output("w", DType::F32, &[""]).graph()
    };
    // No axis 7 to squeeze.
    let chain = rates(16000, rates(8000, squeezed(7)));
    let model = Sketch::of("x: float32[n, k]; c: bool[]; sr: int64[]")
        .with("If", &["c"], &["y"], vec![("then_branch", squeezed(0)), ("else_branch", chain)])
        .text("return y: float32[?]")
        .model();
    let contract = model.contract(&InferOptions::default()).unwrap();
    let texts: Vec<_> = contract.of_elements().iter().map(|of| &*of.text).collect();
    let wanted = [
        "n == 1 if c == 1",
        "k == 1 if c == 0 and sr == 16000",
        "k == 1 if c == 0 and sr == 8000",
        "sr in {8000, 16000} if c == 0",
    ];
    for text in wanted {
        assert!(texts.contains(&text), "{text}: {texts:?}");
    }
    assert_eq!((texts.len(), contract.unchecked()), (wanted.len(), &[][..]));
    let sets: Vec<_> = contract.of_elements().iter().filter_map(ContractCondition::among).collect();
    assert_eq!(sets, [[8000, 16000]]);
    // Random inputs are drawn from the set, where its branch is chosen.
    let inference = model.infer(&InferOptions::default()).unwrap();
    let drawn = (0..60).map(|seed| {
        let number = |value: Value| match value.tensor().unwrap().numbers().unwrap().next() {
            Some(Number::Int(number)) => number,
            other => panic!("{other:?}"),
        };
        let all: Vec<_> = model.chosen_inputs(&inference, seed).unwrap();
        <[i128; 2]>::try_from(all.into_iter().map(|(_, value)| number(value)).collect::<Vec<_>>()).unwrap()
    });
    let rates: BTreeSet<_> = drawn.filter(|[chosen, _]| *chosen == 0).map(|[_, rate]| rate).collect();
    assert_eq!(rates, BTreeSet::from([8000, 16000]));
    let names: Vec<_> = contract.elements().iter().map(|of| (&*of.argument, &*of.text)).collect();
    assert_eq!(names, [("c", "element 0 of input \"c\""), ("sr", "element 0 of input \"sr\"")]);
    let source = contract.source(Language::Python, "m.onnx");
    let script = format!(
        "{source}\n\nfor given in {{}}, {{'c': 1}}, {{'c': 0}}, {{'c': 0, 'sr': 8000}}, {{'c': 0, 'sr': 7}}:\n    \
         row = ''\n    for sizes in [1, 2], [2, 1], [1, 1]:\n        try: shapes(sizes, **given); row += 'y'\n        \
         except Refused: row += 'n'\n    print(row)\n"
    );
    let run = Command::new("python3").arg("-c").arg(script).output().unwrap();
    let printed = String::from_utf8_lossy(&run.stdout);
    assert_eq!(
        printed.split_whitespace().collect::<Vec<_>>(),
        ["yyy", "yny", "yyy", "nyy", "nnn"],
        "{run:?}"
    );
}

/// Sizes that suit no branch are refused, whichever is chosen.
#[test]
fn sizes_that_suit_no_branch_are_refused() {
    let squeezed = |len: usize| {
        let rows = Tensor::from_vec(Shape::new([len]).unwrap(), vec![0.5f32; len]).unwrap();
        let text = "z = MatMul(x, rows); return z: float32[?]";
        Sketch::nested().constant("rows", rows).text(text).graph()
    };
    let model = Sketch::of("x: float32[n, k]; c: bool[]")
        .with("If", &["c"], &["y"], vec![("then_branch", squeezed(6)), ("else_branch", squeezed(3))])
        .text("return y: float32[?]")
        .model();
    let contract = model.contract(&InferOptions::default()).unwrap();
    let taken = (0..9).filter(|&k| evaluated(&contract, &Sizes(vec![vec![2, k]], Vec::new())).is_ok());
    assert_eq!(taken.collect::<Vec<_>>(), [3, 6]);
    let sets: Vec<_> = contract.conditions().iter().filter_map(ContractCondition::among).collect();
    assert_eq!(sets, [[3, 6]]);
}

#[test]
fn nodes_that_nobody_knows_are_listed() {
    let sketch = Sketch::of("x: float32[n, 4]; t = Mystery(x)");
    let model = sketch.text("y = Relu(t); return y: float32[n, 4]").model();
    let contract = model.contract(&InferOptions::default()).unwrap();
    let unchecked: Vec<_> = contract.unchecked().iter().map(|it| (&*it.text, &*it.place)).collect();
    let why = "what it wants is not known: the operator is not known";
    assert_eq!(unchecked, [(why, "node \"make t\" (Mystery)")]);
}

#[test]
#[ignore = "needs GRADUS_CORPUS, a folder of models"]
fn corpus_contracts_equal_inference() {
    let corpus = std::env::var_os("GRADUS_CORPUS").expect("GRADUS_CORPUS names a folder of models");
    let mut rng = Rng::with_seed(3);
    let (mut of, mut wrong, mut exact, mut all) = (Vec::new(), Vec::new(), 0, 0);
    let (mut needed_all, mut not_followed) = (0, 0);
    for path in models(Path::new(&corpus), &["onnx", "xml"]) {
        let Ok(model) = Model::open(&path) else { continue };
        let Ok(contract) = model.contract(&InferOptions::default()) else { continue };
        let inference = model.infer(&InferOptions::default()).unwrap();
        let needed = inference.conditions().iter().filter(|of| of.why != Why::Declared);
        needed_all += needed.clone().count();
        not_followed += needed.filter(|of| of.relation.is_none() && of.elements.is_none()).count();
        let outputs = contract.outputs().iter().filter_map(|output| output.shape.as_ref());
        exact += outputs.clone().flatten().filter(|size| matches!(size, OutputSize::Exact(_))).count();
        all += outputs.flatten().count();
        // Inference at numbers takes long for large models.
        let count = if model.graph().nodes().len() < 5000 { 12 } else { 2 };
        let name = format!("m{}", of.len());
        let (contract, cases, found) = random_cases(&path.display().to_string(), &model, &mut rng, count);
        wrong.extend(found);
        of.push((name, contract, cases));
    }
    let (accepted, refused) = compare("corpus", &of, &[Language::C, Language::Python]);
    println!(
        "{} models, {accepted} accepted and {refused} refused sizes, {exact} of {all} sizes of outputs exact, {} models \
         decided in full, {not_followed} of {needed_all} conditions not followed",
        of.len(),
        of.iter().filter(|(_, contract, _)| contract.unchecked().is_empty()).count()
    );
    assert!(!of.is_empty() && wrong.is_empty(), "{wrong:#?}");
}
