//! The contract of docs/numerics.md about sums: their error, and the same bits for every number of
//! threads.

use gradus::convert::{Rules, nearest_f32, nearest_f64};
use gradus::graph::{self, Builder, Content, Origin, Standard};
use gradus::{DType, Destination, Model, Number, RunOptions, Shape, Sums, Tensor, Value};

use crate::common::one::One;
use crate::common::sketch::Sketch;

/// A model of one node.
fn model(operator: &str, version: i64, inputs: usize, attributes: Vec<(&str, Content)>) -> Model {
    let one = One::of(Standard::Onnx, operator, version).undeclared();
    let one = one.inputs(&vec![Tensor::scalar(0f32); inputs]);
    attributes.into_iter().fold(one, |one, (name, content)| one.attribute(name, content)).model().0
}

fn run(model: &Model, inputs: &[Tensor]) -> Tensor {
    run_with(Sums::default(), model, inputs)
}

fn run_with(sums: Sums, model: &Model, inputs: &[Tensor]) -> Tensor {
    let mut options = RunOptions::default();
    options.sums = sums;
    let given = inputs.iter().enumerate().map(|(i, tensor)| (format!("x{i}"), Value::from(tensor.clone())));
    let program = model.compile(&[], &options).unwrap();
    let outputs = program.run(given).unwrap();
    outputs[0].tensor().unwrap().clone()
}

/// Integers of at most 24 bits with a sign, by 2^-20: float32 holds them exactly.
fn random(random: &mut fastrand::Rng, dims: &[usize]) -> (Vec<i128>, Tensor) {
    let shape = Shape::new(dims).unwrap();
    let whole: Vec<_> =
        (0..shape.len()).map(|_| i128::from(random.i32(-(1 << 24)..1 << 24) >> random.u32(0..20))).collect();
    let numbers = whole.iter().map(|&x| Number::Float(nearest_f64(Number::Int(x)) / 1048576.0));
    (whole.clone(), Tensor::from_numbers(DType::F32, shape, numbers, Rules::IEEE).unwrap())
}

/// Checks a sum of products: within half a unit in the last place of the result and n 2^-53 of the
/// sum of the products' magnitudes. Products are by 2^-40.
fn check(got: f64, pairs: &[(i128, i128)]) {
    let exact: i128 = pairs.iter().map(|(a, b)| a * b).sum();
    let magnitude: i128 = pairs.iter().map(|(a, b)| (a * b).abs()).sum();
    let [exact, magnitude, count] =
        [exact, magnitude, i128::try_from(pairs.len()).unwrap()].map(|x| nearest_f64(Number::Int(x)));
    let got = got * 2f64.powi(40);
    // The exact sum has at most 60 bits, so that float64 rounds it by less than the bound.
    let bound = exact.abs() * 2f64.powi(-24) * 1.000_001 + count * 2f64.powi(-53) * magnitude;
    assert!((got - exact).abs() <= bound, "{got} instead of {exact}");
}

#[test]
fn products_of_matrices_and_convolutions_are_within_their_bound() {
    let mut rng = fastrand::Rng::with_seed(1);
    for _ in 0..20 {
        let [rows, inner, columns] = [1..6, 1..400, 1..300].map(|range| rng.usize(range));
        let (rows_of, left) = random(&mut rng, &[rows, inner]);
        let (columns_of, right) = random(&mut rng, &[inner, columns]);
        let product = run(&model("MatMul", 13, 2, vec![]), &[left, right]);
        for (at, number) in product.numbers().unwrap().enumerate() {
            let (row, column) = (at / columns, at % columns);
            let pairs: Vec<_> =
                (0..inner).map(|k| (rows_of[row * inner + k], columns_of[k * columns + column])).collect();
            check(nearest_f64(number), &pairs);
        }
        let [channels, filters, size] = [1..5, 1..6, 3..9].map(|range| rng.usize(range));
        let (x, image) = random(&mut rng, &[1, channels, size, size]);
        let (w, weights) = random(&mut rng, &[filters, channels, 3, 3]);
        let pads = vec![("pads", Content::Ints([1; 4].into()))];
        let sums = run(&model("Conv", 11, 2, pads), &[image, weights]);
        for (at, number) in sums.numbers().unwrap().enumerate() {
            let (filter, row, column) = (at / size / size, at / size % size, at % size);
            let mut pairs = Vec::new();
            for (tap, &weight) in w[filter * channels * 9..][..channels * 9].iter().enumerate() {
                let (channel, y, z) = (tap / 9, row + tap / 3 % 3, column + tap % 3);
                if (1..=size).contains(&y) && (1..=size).contains(&z) {
                    pairs.push((x[(channel * size + y - 1) * size + z - 1], weight));
                }
            }
            check(nearest_f64(number), &pairs);
        }
    }
}

#[test]
fn results_have_the_same_bits_for_every_number_of_threads() {
    let mut rng = fastrand::Rng::with_seed(2);
    let mut tensor = |dims: &[usize]| random(&mut rng, dims).1;
    let cases = [
        (model("MatMul", 13, 2, vec![]), vec![tensor(&[3, 70, 90]), tensor(&[90, 300])]),
        (model("Conv", 11, 2, vec![]), vec![tensor(&[2, 6, 20, 20]), tensor(&[8, 6, 3, 3])]),
        (
            model("Conv", 11, 2, vec![("group", Content::Int(6))]),
            vec![tensor(&[2, 6, 20, 20]), tensor(&[12, 1, 3, 3])],
        ),
        (
            model("MaxPool", 12, 1, vec![("kernel_shape", Content::Ints([3, 3].into()))]),
            vec![tensor(&[2, 6, 20, 20])],
        ),
        (model("Softmax", 13, 1, vec![]), vec![tensor(&[40, 50])]),
        (model("Attention", 23, 3, vec![]), [(); 3].map(|()| tensor(&[2, 4, 17, 8])).to_vec()),
        (
            model("LSTM", 14, 3, vec![("hidden_size", Content::Int(5))]),
            vec![tensor(&[6, 3, 4]), tensor(&[1, 20, 4]), tensor(&[1, 20, 5])],
        ),
    ];
    for ((model, inputs), sums) in
        cases.iter().flat_map(|case| [Sums::Float64, Sums::Float32].map(|sums| (case, sums)))
    {
        let bits = [1, 2, 7].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| run_with(sums, model, inputs)).bytes().unwrap().to_vec()
        });
        assert!(bits[0] == bits[1] && bits[1] == bits[2], "{:?} {sums:?}", model.graph().nodes()[0].operator);
    }
}

#[test]
fn later_runs_have_the_bits_of_the_first_one() {
    // From the second run on, constants of many elements are packed.
    let nodes = [
        ("MatMul(x, w)", vec![7, 300], vec![300, 60]),
        ("MatMul(w, x)", vec![300, 7], vec![3, 60, 300]),
        ("Gemm(x, w, transB=1)", vec![7, 300], vec![60, 300]),
        ("Gemm(w, x, transA=1, alpha=0.5)", vec![300, 7], vec![300, 60]),
        ("Conv(x, w, group=2)", vec![2, 60, 10, 10], vec![20, 30, 3, 3]),
    ];
    for ((node, dims, weights), sums) in
        nodes.iter().flat_map(|node| [Sums::Float64, Sums::Float32].map(|sums| (node, sums)))
    {
        let mut rng = fastrand::Rng::with_seed(8);
        let x = random(&mut rng, dims).1;
        let text = format!("x: float32{dims:?}; return y: float32; y = {node}");
        let model = Sketch::of(&text).constant("w", random(&mut rng, weights).1).model_of(17);
        let mut options = RunOptions::default();
        options.sums = sums;
        let program = model.compile(&[], &options).unwrap();
        let run = || program.run([("x", x.clone())]).unwrap()[0].tensor().unwrap().bytes().unwrap().to_vec();
        let first = run();
        assert!((0..2).all(|_| run() == first), "{node} {sums:?}");
    }
}

#[test]
fn a_batch_has_the_bits_of_its_slices() {
    let mut rng = fastrand::Rng::with_seed(3);
    let mut tensor = |dims: &[usize]| random(&mut rng, dims).1;
    let cases = [
        (model("MatMul", 13, 2, vec![]), [tensor(&[9, 5, 300]), tensor(&[300, 60])]),
        (model("Gemm", 13, 2, vec![]), [tensor(&[9, 300]), tensor(&[300, 60])]),
        (model("Conv", 11, 2, vec![]), [tensor(&[9, 30, 9, 9]), tensor(&[5, 30, 3, 3])]),
        (
            model("Conv", 11, 2, vec![("group", Content::Int(6))]),
            [tensor(&[9, 6, 9, 9]), tensor(&[6, 1, 3, 3])],
        ),
    ];
    for (model, [x, weights]) in cases {
        let whole = run_with(Sums::Float32, &model, &[x.clone(), weights.clone()]);
        let each = x.len() / 9;
        let numbers = x.elements::<f32>().unwrap();
        let slices = numbers.chunks(each).flat_map(|slice| {
            let shape = Shape::new([&[1], &x.shape().dims()[1..]].concat()).unwrap();
            let slice = Tensor::from_vec(shape, slice.to_vec()).unwrap();
            run_with(Sums::Float32, &model, &[slice, weights.clone()]).bytes().unwrap().to_vec()
        });
        assert!(slices.eq(whole.bytes().unwrap().iter().copied()), "{:?}", model.graph().nodes()[0].operator);
    }
}

#[test]
fn sums_in_float32_keep_their_bound() {
    let mut rng = fastrand::Rng::with_seed(4);
    for inner in [1, 2, 255, 256, 257, 3000] {
        let ((a, x), (b, y)) = (random(&mut rng, &[6, inner]), random(&mut rng, &[inner, 5]));
        let got = run_with(Sums::Float32, &model("MatMul", 13, 2, vec![]), &[x, y]);
        let roundings = f64::from(u32::try_from(inner.min(256) + inner.div_ceil(256) - 1).unwrap());
        let gamma = roundings * 2f64.powi(-24) / (1.0 - roundings * 2f64.powi(-24));
        for (at, got) in got.numbers().unwrap().map(nearest_f64).enumerate() {
            let terms = || (0..inner).map(|k| a[at / 5 * inner + k] * b[k * 5 + at % 5]);
            let real = |x: i128| nearest_f64(Number::Int(x)) / 2f64.powi(40);
            let (exact, magnitude) = (real(terms().sum()), real(terms().map(i128::abs).sum()));
            // The references are rounded to doubles.
            let allowed = gamma * magnitude * (1.0 + 2f64.powi(-50)) + exact.abs() * 2f64.powi(-52);
            assert!((got - exact).abs() <= allowed, "{inner} terms, element {at}: {got} for {exact}");
        }
    }
}

#[test]
fn softmax_in_float32_rounds_exponents_and_exponentials() {
    let mut rng = fastrand::Rng::with_seed(6);
    let (rows, size) = (5, 300);
    let x: Vec<f32> = (0..rows * size).map(|_| (rng.f32() - 0.5) * 80.0).collect();
    let tensor = Tensor::from_vec(Shape::new([rows, size]).unwrap(), x.clone()).unwrap();
    let softmax = model("Softmax", 13, 1, vec![]);
    let of = |sums| run_with(sums, &softmax, std::slice::from_ref(&tensor));
    let (single, double) = (of(Sums::Float32), of(Sums::Float64));
    assert!(single.bytes().unwrap() != double.bytes().unwrap());
    let (singles, doubles) = (single.elements::<f32>().unwrap(), double.elements::<f32>().unwrap());
    for (at, (&y, &z)) in singles.iter().zip(doubles.iter()).enumerate() {
        let row = &x[at / size * size..][..size];
        let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        // Roundings of two exponents, of their exponentials, and of both results.
        let allowed = f64::from(z) * (2.0 * f64::from(most - x[at]) + 90.0) * 2f64.powi(-24);
        assert!((f64::from(y) - f64::from(z)).abs() <= allowed, "element {at}: {y} for {z}");
    }
}

#[test]
fn float32_is_for_products_of_float32_alone() {
    let many = |dims: &[usize], number: u8| {
        let shape = Shape::new(dims).unwrap();
        Tensor::from_vec(shape.clone(), vec![number; shape.len()]).unwrap()
    };
    // An odd sum that float32 lacks: 1,001 times 255 times 255.
    let shapes = [
        ("MatMulInteger", [vec![1, 1001], vec![1001, 8]]),
        ("ConvInteger", [vec![1, 1001, 1, 4], vec![6, 1001, 1, 1]]),
    ];
    for (operator, dims) in shapes {
        let inputs = dims.map(|dims| many(&dims, 255));
        let got = run_with(Sums::Float32, &model(operator, 10, 2, vec![]), &inputs);
        assert!(got.numbers().unwrap().all(|x| x == Number::Int(1001 * 255 * 255)), "{operator}");
    }
    // States of recurrent networks have more digits than float32 after the first step.
    let mut rng = fastrand::Rng::with_seed(5);
    let inputs = [&[6, 3, 4][..], &[1, 20, 4], &[1, 20, 5]].map(|dims| random(&mut rng, dims).1);
    let lstm = model("LSTM", 14, 3, vec![("hidden_size", Content::Int(5))]);
    let bits =
        [Sums::Float64, Sums::Float32].map(|sums| run_with(sums, &lstm, &inputs).bytes().unwrap().to_vec());
    assert!(bits[0] == bits[1]);
}

/// A convolution, as a plain loop over channels and taps adds it up.
struct Loop<'a> {
    x: &'a [f32],
    weights: &'a [f32],
    channels: usize,
    filters: usize,
    groups: usize,
    size: [usize; 2],
    kernel: [usize; 2],
    strides: [usize; 2],
    dilations: [usize; 2],
    pads: [usize; 4],
    transposed: bool,
}

impl Loop<'_> {
    fn windows(&self) -> [usize; 2] {
        [0, 1].map(|axis| {
            let (window, pads) =
                ((self.kernel[axis] - 1) * self.dilations[axis] + 1, self.pads[axis] + self.pads[axis + 2]);
            if self.transposed {
                ((self.size[axis] - 1) * self.strides[axis] + window).saturating_sub(pads)
            } else {
                (self.size[axis] + pads).checked_sub(window).map_or(0, |room| room / self.strides[axis] + 1)
            }
        })
    }

    /// The element below a tap of a window along an axis.
    fn source(&self, axis: usize, window: usize, tap: usize) -> Option<usize> {
        let (tap, stride, begin) = (tap * self.dilations[axis], self.strides[axis], self.pads[axis]);
        let at = if self.transposed {
            let at = (window + begin).checked_sub(tap)?;
            if at % stride != 0 {
                return None;
            }
            at / stride
        } else {
            (window * stride + tap).checked_sub(begin)?
        };
        (at < self.size[axis]).then_some(at)
    }

    fn results(&self, batch: usize) -> Vec<f32> {
        let [inner, outer] = [self.channels, self.filters].map(|count| count / self.groups);
        let ([height, width], [rows, columns]) = (self.windows(), self.kernel);
        let mut results = Vec::new();
        for at in 0..batch * self.filters * height * width {
            let (y, x, filter) = (at / width % height, at % width, at / (width * height) % self.filters);
            let sample = at / (width * height * self.filters);
            let mut sum = 0.0;
            for term in 0..inner * rows * columns {
                let (channel, row, column) =
                    (filter / outer * inner + term / (rows * columns), term / columns % rows, term % columns);
                let place = self.source(0, y, row).zip(self.source(1, x, column));
                let element = place.map_or(0.0, |(y, x)| {
                    self.x[((sample * self.channels + channel) * self.size[0] + y) * self.size[1] + x]
                });
                let [first, second, of_second] = if self.transposed {
                    [channel, filter % outer, outer]
                } else {
                    [filter, channel % inner, inner]
                };
                let weight = self.weights[((first * of_second + second) * rows + row) * columns + column];
                sum += f64::from(element) * f64::from(weight);
            }
            #[allow(clippy::cast_possible_truncation, clippy::as_conversions, reason = "rounding is meant")]
            results.push(sum as f32);
        }
        results
    }
}

#[test]
fn convolutions_have_the_bits_of_a_loop() {
    let mut rng = fastrand::Rng::with_seed(3);
    for case in 0..120 {
        let transposed = case % 3 == 0;
        let groups = rng.usize(1..4);
        let (channels, filters, batch) =
            (groups * rng.usize(1..4), groups * rng.usize(1..7), rng.usize(1..3));
        let mut two = |range: std::ops::Range<usize>| [rng.usize(range.clone()), rng.usize(range)];
        let (size, kernel, strides, dilations) = (two(1..24), two(1..4), two(1..4), two(1..3));
        let pads = [two(0..3), two(0..3)].concat().try_into().unwrap();
        let mut floats = |count: usize| -> Vec<f32> { (0..count).map(|_| rng.f32() - 0.5).collect() };
        let x = floats(batch * channels * size[0] * size[1]);
        let dims = if transposed { [channels, filters / groups] } else { [filters, channels / groups] };
        let weights = floats(dims[0] * dims[1] * kernel[0] * kernel[1]);
        let by_loop = Loop {
            x: &x,
            weights: &weights,
            channels,
            filters,
            groups,
            size,
            kernel,
            strides,
            dilations,
            pads,
            transposed,
        };
        if by_loop.windows().contains(&0) {
            continue;
        }
        let ints = |list: &[usize]| Content::Ints(list.iter().map(|&x| i64::try_from(x).unwrap()).collect());
        let attributes = vec![
            ("strides", ints(&strides)),
            ("dilations", ints(&dilations)),
            ("pads", ints(&pads)),
            ("group", Content::Int(i64::try_from(groups).unwrap())),
        ];
        let model = model(if transposed { "ConvTranspose" } else { "Conv" }, 11, 2, attributes);
        let x =
            Tensor::from_vec(Shape::new([batch, channels, size[0], size[1]]).unwrap(), x.clone()).unwrap();
        let dims = Shape::new([dims[0], dims[1], kernel[0], kernel[1]]).unwrap();
        let weights = Tensor::from_vec(dims, weights.clone()).unwrap();
        let got = run(&model, &[x, weights]);
        let bits = |all: &[f32]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert!(bits(&got.elements::<f32>().unwrap()) == bits(&by_loop.results(batch)), "case {case}");
    }
}

#[test]
fn padding_of_a_convolution_is_zeros() {
    let image = Tensor::from_vec(Shape::new([1, 1, 2]).unwrap(), vec![1f32, 2.0]).unwrap();
    let weights = Tensor::from_vec(Shape::new([1, 1, 2]).unwrap(), vec![f32::INFINITY, 1.0]).unwrap();
    let pads = vec![("pads", Content::Ints([1, 0].into()))];
    let sums = run(&model("Conv", 11, 2, pads), &[image, weights]);
    let sums = sums.elements::<f32>().unwrap();
    assert!(sums[0].is_nan() && sums[1] == f32::INFINITY, "{sums:?}");
    // A filter for each channel.
    let image = Tensor::from_vec(Shape::new([1, 2, 2]).unwrap(), vec![1f32, 2.0, 3.0, 4.0]).unwrap();
    let weights =
        Tensor::from_vec(Shape::new([2, 1, 2]).unwrap(), vec![f32::INFINITY, 1.0, 1.0, 10.0]).unwrap();
    let attributes = vec![("pads", Content::Ints([1, 0].into())), ("group", Content::Int(2))];
    let sums = run(&model("Conv", 11, 2, attributes), &[image, weights]);
    let sums = sums.elements::<f32>().unwrap();
    assert!(sums[0].is_nan() && sums[1..] == [f32::INFINITY, 30.0, 43.0], "{sums:?}");
}

#[test]
fn grouped_convolutions_of_volumes_add_channels_and_taps_in_order() {
    let mut rng = fastrand::Rng::with_seed(4);
    let (whole_x, x) = random(&mut rng, &[1, 4, 4, 5, 6]);
    let (whole_w, weights) = random(&mut rng, &[2, 2, 2, 1, 3]);
    let attributes = vec![
        ("group", Content::Int(2)),
        ("strides", Content::Ints([1, 2, 2].into())),
        ("dilations", Content::Ints([2, 1, 1].into())),
        ("pads", Content::Ints([1, 0, 2, 0, 1, 1].into())),
    ];
    let got = run(&model("Conv", 11, 2, attributes), &[x, weights]);
    assert_eq!(got.shape().dims(), [1, 2, 3, 3, 4]);
    for (at, got) in got.elements::<f32>().unwrap().iter().enumerate() {
        let (filter, z, y, x) = (at / 36, at / 12 % 3, at / 4 % 3, at % 4);
        let mut sum = 0.0;
        for term in 0..12 {
            let (channel, depth, column) = (term / 6, term / 3 % 2, term % 3);
            let place = (z + 2 * depth).checked_sub(1).zip((2 * x + column).checked_sub(2));
            if let Some((z, x)) = place.filter(|&(z, x)| z < 4 && x < 6) {
                let [x, w] = [
                    whole_x[(((2 * filter + channel) * 4 + z) * 5 + 2 * y) * 6 + x],
                    whole_w[((filter * 2 + channel) * 2 + depth) * 3 + column],
                ];
                sum += nearest_f64(Number::Int(x)) * nearest_f64(Number::Int(w));
            }
        }
        #[allow(clippy::cast_possible_truncation, clippy::as_conversions, reason = "rounding is meant")]
        let wanted = (sum / 2f64.powi(40)) as f32;
        assert_eq!(got.to_bits(), wanted.to_bits(), "element {at}");
    }
}

/// A batch normalization of channels [0, 1, 4, 5] and [2, 3, 6, 7], whose means are 2.5 and 4.5 and
/// whose variances are 4.25, with a running mean of 0 and a running variance of 1.
fn batch_normalization(version: i64, outputs: usize, test: Option<i64>) -> Vec<Vec<f64>> {
    let x: Vec<_> = (0..8).map(Number::Int).collect();
    let x = Tensor::from_numbers(DType::F64, Shape::new([2, 2, 2]).unwrap(), x, Rules::IEEE).unwrap();
    let two = |x: f64| Tensor::vector(&[x, x]);
    let mut node = One::of(Standard::Onnx, "BatchNormalization", version)
        .inputs(&[x, two(1.0), two(0.0), two(0.0), two(1.0)])
        .attribute("epsilon", Content::Float(0.0))
        .attribute("momentum", Content::Float(0.5))
        .outputs(outputs);
    if let Some(test) = test {
        node = node.attribute("is_test", Content::Int(test));
    }
    if version == 1 {
        node = node.attribute("consumed_inputs", Content::Ints([0, 0, 0, 1, 1].into()));
    }
    let (model, given) = node.model();
    let outputs = model.run(given).unwrap();
    outputs.iter().map(|(_, value)| value.tensor().unwrap().elements::<f64>().unwrap().to_vec()).collect()
}

#[test]
fn older_batch_normalizations_train_where_their_text_says_so() {
    let means = [2.5, 2.5, 4.5, 4.5];
    let trained: Vec<_> =
        (0..8u8).map(|x| (f64::from(x) - means[usize::from(x % 4)]) / f64::sqrt(4.25)).collect();
    let tested: Vec<_> = (0..8).map(f64::from).collect();
    let statistics = [vec![1.25, 2.25], vec![2.625, 2.625], vec![2.5, 4.5], vec![4.25, 4.25]];
    for version in [1, 6] {
        assert_eq!(batch_normalization(version, 1, Some(1)), [&tested[..]]);
        assert_eq!(batch_normalization(version, 1, Some(0)), [&trained[..]]);
        assert_eq!(batch_normalization(version, 1, None), [&trained[..]]);
        let all = batch_normalization(version, 5, None);
        assert_eq!((&all[0], &all[1..]), (&trained, &statistics[..]));
    }
    for version in [7, 9] {
        assert_eq!(batch_normalization(version, 1, None), [&tested[..]]);
        let all = batch_normalization(version, 5, None);
        assert_eq!((&all[0], &all[1..]), (&trained, &statistics[..]));
    }
}

#[test]
fn nearest_elements_are_those_of_exact_coordinates() {
    // 4/4.5 of the operand is covered: the first coordinate is 1/6 + 1/3 - 1/2, which is zero.
    let attributes = ["half_pixel_symmetric", "nearest", "ceil"].map(|text| Content::Bytes(text.into()));
    let names = ["coordinate_transformation_mode", "mode", "nearest_mode"];
    let model = model("Resize", 19, 3, names.into_iter().zip(attributes).collect());
    let floats =
        |values: &[f32]| Tensor::from_vec(Shape::new([values.len()]).unwrap(), values.to_vec()).unwrap();
    let got = run(&model, &[floats(&[1.0, 2.0, 3.0]), floats(&[]), floats(&[1.5])]);
    assert_eq!(got.elements::<f32>().unwrap()[..], [1.0, 2.0, 3.0, 3.0]);
}

#[test]
fn corners_are_aligned_with_those_of_the_result() {
    // The length of the result is 5*scale without its fraction. Coordinates of align_corners and of
    // tf_crop_and_resize end at the end of the operand, or of its region; only half_pixel_symmetric
    // knows the fraction.
    let thirds = [1.0, 3.0, 17.0 / 3.0, 9.0, 41.0 / 3.0, 19.0, 25.0];
    let cases: [(&str, &str, f32, &[f64]); 10] = [
        ("align_corners", "linear", 1.5, &thirds),
        ("align_corners", "linear", 0.7, &[1.0, 9.0, 25.0]),
        ("align_corners", "linear", 0.3, &[1.0]),
        ("align_corners", "cubic", 0.7, &[1.0, 9.0, 25.0]),
        ("align_corners", "nearest", 1.5, &[1.0, 4.0, 4.0, 9.0, 16.0, 16.0, 25.0]),
        ("align_corners", "nearest", 0.7, &[1.0, 9.0, 25.0]),
        (
            "tf_crop_and_resize",
            "linear",
            1.5,
            &[4.0, 17.0 / 3.0, 22.0 / 3.0, 9.0, 34.0 / 3.0, 41.0 / 3.0, 16.0],
        ),
        ("tf_crop_and_resize", "linear", 0.3, &[9.0]),
        ("tf_crop_and_resize", "nearest", 0.7, &[4.0, 9.0, 16.0]),
        ("half_pixel_symmetric", "linear", 1.5, &thirds),
    ];
    let floats =
        |values: &[f32]| Tensor::from_vec(Shape::new([values.len()]).unwrap(), values.to_vec()).unwrap();
    for (coordinates, mode, scale, expected) in cases {
        for version in [11, 13, 18, 19] {
            if version < 19 && coordinates == "half_pixel_symmetric" {
                continue;
            }
            let attributes = [("coordinate_transformation_mode", coordinates), ("mode", mode)];
            let attributes = attributes.map(|(name, text)| (name, Content::Bytes(text.into())));
            let model = model("Resize", version, 3, attributes.into_iter().collect());
            let got =
                run(&model, &[floats(&[1.0, 4.0, 9.0, 16.0, 25.0]), floats(&[0.25, 0.75]), floats(&[scale])]);
            let expected: Vec<_> = expected.iter().map(|&x| nearest_f32(Number::Float(x))).collect();
            assert_eq!(
                got.elements::<f32>().unwrap()[..],
                expected,
                "{coordinates} {mode} {scale} {version}"
            );
        }
    }
}

#[test]
fn scales_are_above_zero() {
    let image = Tensor::from_vec(Shape::new([1, 2]).unwrap(), vec![1.0f32, 2.0]).unwrap();
    for scale in [0.0, -1.0, f32::INFINITY, f32::NAN] {
        let constants = [Tensor::vector::<f32>(&[]), Tensor::vector(&[1.0, scale])];
        let one =
            One::of(Standard::Onnx, "Resize", 19).inputs(std::slice::from_ref(&image)).constants(&constants);
        let (model, given) = one.model();
        let error = model.run(&given).unwrap_err().to_string();
        assert!(error.contains(&format!("scale of axis 1 is {scale}, expected a number above 0")), "{error}");
    }
}

/// Nodes that add products along rows: of a row of the first input and the second, or ones.
fn sums_of_rows(rows: usize, inner: usize) -> Vec<(Model, [Vec<usize>; 2])> {
    let axes = || vec![("axes", Content::Ints([1].into()))];
    let (matrix, row) = (vec![rows, inner], vec![1, inner]);
    let equation = Content::Bytes("ij,kj->ik".into());
    vec![
        (model("Gemm", 13, 2, vec![("transB", Content::Int(1))]), [matrix.clone(), row.clone()]),
        (model("Conv", 11, 2, vec![]), [vec![1, inner, 1, rows], vec![1, inner, 1, 1]]),
        (
            model("Conv", 11, 2, vec![("group", Content::Int(i64::try_from(rows).unwrap()))]),
            [vec![1, rows, inner], vec![rows, 1, inner]],
        ),
        (model("Einsum", 12, 2, vec![("equation", equation)]), [matrix.clone(), row]),
        (model("ReduceSum", 1, 1, axes()), [matrix.clone(), vec![]]),
        (model("ReduceSumSquare", 1, 1, axes()), [matrix, vec![]]),
    ]
}

#[test]
fn sums_are_added_as_the_run_asks() {
    let mut rng = fastrand::Rng::with_seed(9);
    let (rows, inner) = (3, 700);
    // Magnitudes are so far apart that float64 loses some.
    let mut floats = |dtype: DType, dims: &Vec<usize>| {
        let mut number = || Number::Float((rng.f64() - 0.5) * 2f64.powi(rng.i32(-45..45)));
        let shape = Shape::new(dims.clone()).unwrap();
        let numbers: Vec<_> = (0..shape.len()).map(|_| number()).collect();
        Tensor::from_numbers(dtype, shape, numbers, Rules::IEEE).unwrap()
    };
    let types = [(DType::F32, Destination::Narrow), (DType::F64, Destination::Double)];
    let cases =
        types.into_iter().flat_map(|to| sums_of_rows(rows, inner).into_iter().map(move |case| (case, to)));
    for ((model, dims), (dtype, to)) in cases {
        let operator = model.graph().nodes()[0].operator.name.clone();
        let given = dims.iter().filter(|dims| !dims.is_empty());
        let inputs: Vec<_> = given.map(|dims| floats(dtype, dims)).collect();
        let numbers = |tensor: &Tensor| tensor.numbers().unwrap().map(nearest_f64).collect::<Vec<_>>();
        let x = numbers(&inputs[0]);
        let x = |row: usize, k: usize| {
            if dims[0].len() == 4 { x[k * rows + row] } else { x[row * inner + k] }
        };
        let y = inputs.get(1).map_or_else(|| vec![1.0; inner], numbers);
        let term = |row: usize, k: usize| {
            let y = y[(row * inner + k) % y.len()];
            (x(row, k), if &*operator == "ReduceSumSquare" { x(row, k) } else { y })
        };
        for sums in Sums::ALL {
            let got = run_with(sums, &model, &inputs);
            let sum = |row| Number::Float(sums.of((0..inner).map(|k| term(row, k)), to));
            let want =
                Tensor::from_numbers(dtype, got.shape().clone(), (0..rows).map(sum), Rules::IEEE).unwrap();
            assert_eq!(got.bytes().unwrap(), want.bytes().unwrap(), "{operator} {dtype} {}", sums.name());
        }
    }
}

#[test]
fn statistics_and_means_add_as_the_run_asks() {
    let large = 2f64.powi(60);
    let axes = || vec![("axes", Content::Ints([1].into())), ("keepdims", Content::Int(0))];
    let kernel = || vec![("kernel_shape", Content::Ints([4].into()))];
    // The number that is lost where float64 adds one after the other, in four numbers whose mean is
    // it.
    let cases = [
        (model("AveragePool", 11, 1, kernel()), vec![1, 1, 4], 1.0),
        (model("GlobalAveragePool", 1, 1, vec![]), vec![1, 1, 4], 1.0),
        (model("ReduceMean", 13, 1, axes()), vec![1, 4], 1.0),
        (model("ReduceLogSum", 13, 1, axes()), vec![1, 4], 4f64.ln()),
    ];
    for (model, dims, want) in cases {
        let operator = model.graph().nodes()[0].operator.name.clone();
        for (dtype, sums, is_exact) in [
            (DType::F32, Sums::Float64, false),
            (DType::F32, Sums::Exact, true),
            (DType::F64, Sums::Float64, true),
            (DType::F64, Sums::Exact, true),
        ] {
            let numbers = [large, 4.0, -large, 0.0].map(Number::Float);
            let x =
                Tensor::from_numbers(dtype, Shape::new(dims.clone()).unwrap(), numbers, Rules::IEEE).unwrap();
            let got = nearest_f64(run_with(sums, &model, &[x]).only_number().unwrap());
            let close = (got - want).abs() < 1e-6;
            assert_eq!(close, is_exact, "{operator} of {dtype}, {}: {got}", sums.name());
        }
    }
}

#[test]
fn normalizations_and_attention_add_as_the_run_asks() {
    let (large, unit) = (2f64.powi(40), 2f64.powi(-20));
    let row = [large, unit, -large, 0.0];
    let of = |dims: &[usize], numbers: &[f64]| {
        let numbers = numbers.iter().map(|&x| Number::Float(x));
        Tensor::from_numbers(DType::F32, Shape::new(dims).unwrap(), numbers, Rules::IEEE).unwrap()
    };
    // All keys have the same score, so that the result is the mean of the values.
    let (query, keys, values) =
        (of(&[1, 1, 1, 1], &[0.0]), of(&[1, 1, 4, 1], &[1.0; 4]), of(&[1, 1, 4, 1], &row));
    let attention = model("Attention", 23, 3, vec![]);
    let mean = |sums| {
        nearest_f64(
            run_with(sums, &attention, &[query.clone(), keys.clone(), values.clone()]).only_number().unwrap(),
        )
    };
    assert_eq!([mean(Sums::Float64), mean(Sums::Exact)], [0.0, unit / 4.0]);
    // The mean of the row is lost relative to the deviation but not where it is a summand of its
    // own.
    let x = of(&[1, 4], &row);
    let normalized = model("LayerNormalization", 17, 2, vec![("epsilon", Content::Float(0.0))]);
    let scale = of(&[4], &[2f64.powi(41); 4]);
    let last = |sums| {
        nearest_f64(
            run_with(sums, &normalized, &[x.clone(), scale.clone()]).numbers().unwrap().nth(3).unwrap(),
        )
    };
    assert!(
        last(Sums::Float64) == 0.0 && last(Sums::Exact) < 0.0,
        "{} {}",
        last(Sums::Float64),
        last(Sums::Exact)
    );
}

/// Exponentials, powers, logarithms, sines and cosines within operators have one result each, on
/// all platforms.
#[test]
fn bits_of_functions_within_operators_are_the_same_everywhere() {
    let mut rng = fastrand::Rng::with_seed(12);
    let mut floats = |dims: &[usize]| {
        let shape = Shape::new(dims).unwrap();
        let numbers: Vec<_> = (0..shape.len()).map(|_| Number::Float(rng.f64() * 8.0 - 4.0)).collect();
        Tensor::from_numbers(DType::F64, shape, numbers, Rules::IEEE).unwrap()
    };
    let (row, image) = (floats(&[4, 24]), floats(&[2, 3, 4, 8]));
    let [query, keys, values] = [(); 3].map(|()| floats(&[1, 4, 6, 8]));
    let int = |name, x| (name, Content::Int(x));
    let axes = || vec![("axes", Content::Ints([1].into()))];
    let kernel = || vec![("kernel_shape", Content::Ints([2, 2].into())), int("p", 3)];
    let length =
        Tensor::from_numbers(DType::I64, Shape::new([]).unwrap(), [Number::Int(24)], Rules::IEEE).unwrap();
    let window = |operator| model(operator, 17, 1, vec![int("output_datatype", 11)]);
    let signal = floats(&[1, 12, 1]);
    let cases = [
        (model("Softmax", 13, 1, vec![]), vec![row.clone()]),
        (model("LogSoftmax", 13, 1, vec![]), vec![row.clone()]),
        (model("ReduceLogSumExp", 13, 1, axes()), vec![row]),
        (model("ReduceLogSum", 13, 1, vec![]), vec![image.clone()]),
        (model("LpPool", 18, 1, kernel()), vec![image.clone()]),
        (model("LRN", 13, 1, vec![int("size", 3)]), vec![image]),
        (model("Attention", 23, 3, vec![("softcap", Content::Float(2.0))]), vec![query, keys, values]),
        (window("HannWindow"), vec![length.clone()]),
        (window("BlackmanWindow"), vec![length]),
        (model("DFT", 17, 1, vec![int("axis", 1)]), vec![signal]),
    ];
    let mut digest = 0xcbf2_9ce4_8422_2325u64;
    for (model, inputs) in &cases {
        for x in run(model, inputs).numbers().unwrap().map(nearest_f64) {
            digest = (digest ^ x.to_bits()).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }
    assert_eq!(digest, 0xc93d_f0af_c491_abc0);
}

/// A region that is far larger than the image has as many points as it has pixels, few of which
/// matter.
#[test]
fn regions_of_any_size_take_the_time_of_the_image() {
    let of = |dtype, dims: &[usize], numbers: &[Number]| {
        Tensor::from_numbers(dtype, Shape::new(dims).unwrap(), numbers.iter().copied(), Rules::IEEE).unwrap()
    };
    let points = 2e6;
    let image = of(DType::F32, &[1, 1, 4, 4], &[Number::Float(points * points); 16]);
    let region = [-1e6, -1e6, 1e6, 1e6].map(Number::Float);
    let (region, sample) = (of(DType::F32, &[1, 4], &region), of(DType::I64, &[1], &[Number::Int(0)]));
    for (mode, want) in [("avg", 36.0), ("max", points * points)] {
        let model = model("RoiAlign", 16, 3, vec![("mode", Content::Bytes(mode.into()))]);
        let got = run(&model, &[image.clone(), region.clone(), sample.clone()]);
        let got = nearest_f64(got.only_number().unwrap());
        assert!((got / want - 1.0).abs() < 1e-6, "{mode}: {got}");
    }
}

/// The bucket of a distance of 16 in the relative positions of T5, written in float16: ONNX
/// Runtime runs these nodes in float32 without a rounding between them, and takes bucket 1.
#[test]
fn nodes_of_float16_round_their_results() {
    let numbers = |values: &[f64]| {
        let numbers = values.iter().map(|&value| Number::Float(value));
        Tensor::from_numbers(DType::F16, Shape::new([values.len()]).unwrap(), numbers, Rules::IEEE).unwrap()
    };
    let mut builder = Builder::new("bucket");
    for key in ["x0", "x1", "x2", "x3"] {
        builder.define(key, Origin::Input).unwrap();
    }
    for (operator, version, inputs, output) in [
        ("Div", 14, &["x0", "x1"][..], "ratio"),
        ("Log", 13, &["ratio"], "log"),
        ("Div", 14, &["log", "x2"], "part"),
        ("Mul", 14, &["part", "x3"], "bucket"),
    ] {
        builder.apply(output, operator, version, inputs, &[output], vec![]).unwrap();
    }
    builder.output("bucket");
    let mut model = graph::Model::new(Standard::Onnx);
    model.graph = builder.finish().unwrap();
    let bucket = run(
        &Model::from_source(model),
        &[numbers(&[16.0]), numbers(&[8.0]), numbers(&[16f64.ln()]), numbers(&[8.0])],
    );
    assert_eq!(bucket.numbers().unwrap().collect::<Vec<_>>(), [Number::Float(2.0)]);
}

#[test]
fn sums_of_nothing_are_zero_without_a_sign() {
    let ints = |values: &[i64]| Content::Ints(values.into());
    let of = |dims: &[usize], x: f32| {
        let shape = Shape::new(dims).unwrap();
        let len = shape.len();
        Tensor::from_vec(shape, vec![x; len]).unwrap()
    };
    let image = || of(&[1, 1, 2, 2], -1.0);
    let regions = of(&[1, 4], 50.0);
    let none = || of(&[1, 1, 0, 2], 1.0);
    let pads = vec![("kernel_shape", ints(&[1, 1])), ("pads", ints(&[1, 1, 0, 0]))];
    let padded = [pads, vec![("count_include_pad", Content::Int(1))]].concat();
    let bilinear = || vec![("mode", Content::Bytes("linear".into()))];
    let cases = [
        ("GridSample", 20, vec![image(), of(&[1, 1, 1, 2], 5.0)], bilinear()),
        (
            "GridSample",
            20,
            vec![image(), of(&[1, 1, 1, 2], 5.0)],
            vec![("mode", Content::Bytes("nearest".into()))],
        ),
        ("RoiAlign", 16, vec![image(), regions, Tensor::vector(&[0i64])], vec![]),
        ("AveragePool", 19, vec![image()], padded),
        ("GlobalLpPool", 2, vec![none()], vec![]),
        ("Attention", 23, vec![of(&[1, 1, 1, 2], 1.0), none(), none()], vec![]),
    ];
    for (operator, version, inputs, attributes) in cases {
        let y = run(&model(operator, version, inputs.len(), attributes), &inputs);
        let first = y.elements::<f32>().unwrap()[0];
        assert_eq!(first.to_bits(), 0, "{operator}: {first:?}");
    }
}

#[test]
fn integers_that_are_picked_or_scaled_are_exact() {
    const LARGE: i64 = (1 << 53) + 1;
    let x = Tensor::from_vec(Shape::new([1, 1, 1, 2]).unwrap(), vec![LARGE, i64::MIN]).unwrap();
    let grid = Tensor::from_vec(Shape::new([1, 1, 1, 2]).unwrap(), vec![-1f32, 0.0]).unwrap();
    let nearest = model("GridSample", 20, 2, vec![("mode", Content::Bytes("nearest".into()))]);
    assert_eq!(*run(&nearest, &[x, grid]).elements::<i64>().unwrap(), [LARGE]);
    let (x, slopes) = (Tensor::vector(&[i64::MAX, -LARGE, i64::MIN]), Tensor::vector(&[0i64, 3, -1]));
    let scaled = run(&model("PRelu", 16, 2, vec![]), &[x, slopes]);
    assert_eq!(*scaled.elements::<i64>().unwrap(), [i64::MAX, -3 * LARGE, i64::MIN]);
}

/// The text of `CumSum` copies the first element as it is.
#[test]
fn cumulative_sums_begin_with_the_first_element() {
    let numbers = [-0f32, -0.0, 1.0];
    for (exclusive, reverse, wanted) in
        [(0, 0, [-0f32, -0.0, 1.0]), (0, 1, [1.0, 1.0, 1.0]), (1, 0, [0.0, 0.0, 0.0])]
    {
        let (model, given) = One::of(Standard::Onnx, "CumSum", 14)
            .inputs(&[Tensor::vector(&numbers), Tensor::scalar(0i64)])
            .attribute("exclusive", Content::Int(exclusive))
            .attribute("reverse", Content::Int(reverse))
            .model();
        let outputs = model.run(given).unwrap();
        let sums = outputs[0].tensor().unwrap().elements::<f32>().unwrap().into_owned();
        let bits = |all: &[f32]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&sums), bits(&wanted), "{exclusive} {reverse}");
    }
}
