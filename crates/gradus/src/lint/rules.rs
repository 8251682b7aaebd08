//! The table of rules.

use super::{Fix, LintRule, Severity, constants, file, graphs, quantization, runtimes, sizes};

/// Rows: code, name, severity and function of each rule; its texts, and the change that mends it.
macro_rules! rules {
    ($(
        $code:ident $name:literal $severity:ident => $search:path,
            finds $finds:literal why $why:literal mend $mend:literal $(fix $fix:ident)?;
    )*) => {
        /// All rules, by their code.
        pub const RULES: &[LintRule] = &[$(LintRule {
            code: stringify!($code),
            name: $name,
            severity: Severity::$severity,
            finds: $finds,
            why: $why,
            mend: $mend,
            fix: [$(Some(Fix::$fix),)? None][0],
            search: $search,
        }),*];
    };
}

rules! {
    GR101 "contradiction" Error => sizes::contradictions,
        finds "a node whose inputs do not go together, or a declared type that no run has"
        why "Every run fails."
        mend "Mend the export: `gradus infer MODEL --why VALUE` shows where its shape comes from.";
    GR102 "single-size" Warning => sizes::single_sizes,
        finds "a named size for which the model runs with one number alone"
        why "The name promises a size that may vary, and a constant was baked in when the model was exported."
        mend "Export the size as dynamic, or make it dynamic again (docs/how-to/make-dynamic.md); or declare the number: \
         `gradus infer MODEL --dim NAME=NUMBER -o FIXED`.";
    GR103 "size-condition" Note => sizes::conditions,
        finds "a condition of sizes without which every run fails"
        why "Callers meet it as an error in the middle of a run."
        mend "Check it in front of the model: `gradus infer MODEL --emit python` writes a function that does.";
    GR104 "element-range" Note => sizes::elements,
        finds "an input whose elements are looked up in a table, and must lie within it"
        why "Some runtimes read beyond the table without an error."
        mend "Check it in front of the model, as GR103.";
    GR105 "unknown-size" Warning => sizes::unknown_sizes,
        finds "a value whose rank or sizes cannot be known before a run"
        why "Memory cannot be planned, and nothing after it is checked."
        mend "Give the types of inputs that have none (`--input-shape`), or register the operator that is not known.";
    GR106 "wrong-declaration" Warning => sizes::wrong_declarations,
        finds "a declared shape of a value that no run shows"
        why "Runtimes that believe it plan too little memory, or refuse the model."
        mend "`gradus fold MODEL -o MENDED` writes the shapes that are inferred." fix Fold;
    GR107 "unnamed-size" Note => sizes::unnamed_sizes,
        finds "an axis of an input that has neither a size nor a name"
        why "No message, contract or tool can speak of it, and equal sizes cannot be told."
        mend "Name it when exporting, or `gradus infer MODEL --input-shape 'x=batch,3,h,w' -o NAMED`.";
    GR108 "invented-name" Note => sizes::invented_names,
        finds "a name of a size that an exporter made up"
        why "It says nothing to those who read it, and changes with the next export."
        mend "As GR107.";
    GR201 "unused-input" Warning => graphs::unused_inputs,
        finds "an input that no output depends on"
        why "Callers must give what is not used; often a mask was lost in the export."
        mend "Look at the export; remove the input if it is right.";
    GR202 "unneeded-node" Warning => graphs::unneeded_nodes,
        finds "a node that no output depends on"
        why "Some runtimes compute it."
        mend "`gradus fold MODEL -o SMALL` removes it." fix Fold;
    GR203 "duplicate-node" Note => graphs::duplicate_nodes,
        finds "a node that computes what another does"
        why "It is computed twice."
        mend "`gradus fold MODEL -o SMALL` keeps one of them." fix Fold;
    GR204 "foldable-nodes" Note => graphs::foldable_nodes,
        finds "nodes that folding removes without changing a bit"
        why "They take time and memory in each run."
        mend "`gradus fold MODEL -o SMALL`." fix Fold;
    GR205 "random-node" Note => graphs::random_nodes,
        finds "a node that draws random numbers"
        why "Two runs differ, and no test can compare them."
        mend "Export the model for inference; give the numbers as an input where they are meant.";
    GR206 "unknown-operator" Warning => graphs::unknown_operators,
        finds "a node of an operator that is in no standard that Gradus knows"
        why "Only the runtime that it was made for runs the model."
        mend "Replace it by operators of the standard, or ship its function in the model.";
    GR301 "not-run" Error => runtimes::not_run,
        finds "a node that a runtime of `--for` does not run"
        why "The runtime refuses the model."
        mend "`gradus convert MODEL --for RUNTIME -o OUT` writes what it runs, where that is possible.";
    GR302 "runtime-dependent" Warning => runtimes::always_different,
        finds "a node for which runtimes return different results in every run"
        why "The model gives other answers where it is deployed than where it was tested."
        mend "Write the node in another way; docs/compare.md says what each runtime returns.";
    GR303 "sometimes-different" Note => runtimes::sometimes_different,
        finds "a node for which runtimes return different results for some sizes or data"
        why "As GR302, for the inputs that it names."
        mend "As GR302, or keep such inputs away.";
    GR401 "nan-constant" Warning => constants::nan,
        finds "a constant with NaN"
        why "Most results that depend on it are NaN: training or an export failed."
        mend "Export the model again from weights that are numbers.";
    GR402 "infinite-constant" Note => constants::infinite,
        finds "a constant with infinities"
        why "Masks have them on purpose; elsewhere a conversion to a narrower type overflowed."
        mend "Look whether it is a mask.";
    GR403 "subnormal-constant" Note => constants::subnormal,
        finds "a constant with subnormal numbers"
        why "Some runtimes read them as 0, others compute slowly with them."
        mend "Set them to 0 when exporting, if no result needs them.";
    GR404 "copied-constant" Note => constants::copies,
        finds "a constant of 1 KiB or more with the elements of another"
        why "The file, and often memory, holds it twice."
        mend "`gradus edit MODEL --share-weights -o SMALL`, or tie the weights when exporting." fix ShareWeights;
    GR405 "constant-in-node" Note => constants::in_nodes,
        finds "a constant of 1 KiB or more in a node Constant"
        why "Tools that count or quantize weights do not see it, and it cannot be kept in a file of its own."
        mend "Export it as an initializer.";
    GR406 "float64-constant" Warning => constants::float64,
        finds "a constant of float64 in a model of narrower floats"
        why "What depends on it is computed in float64, which devices lack or run slowly."
        mend "Cast it when exporting: a number of Python became float64.";
    GR407 "int64-constant" Note => constants::int64,
        finds "a constant of integers of 64 bits that takes 1 MiB or more"
        why "Half of it is zeros, and devices cast it when they load it."
        mend "Use int32 where the operators that read it take it.";
    GR408 "bad-scale" Error => quantization::bad_scales,
        finds "a scale of quantized numbers that is 0, negative or no number"
        why "Numbers are divided by it."
        mend "Quantize again: the range of a channel was empty.";
    GR409 "unread-constant" Warning => constants::unread,
        finds "a constant that no output depends on"
        why "The file is larger than it need be."
        mend "`gradus edit MODEL --extract : -o SMALL` leaves it out." fix Extract;
    GR410 "overflow-in-float16" Warning => quantization::overflows,
        finds "a cast of constants to float16 that makes them infinite"
        why "A mask of -1e9 becomes -inf, and rows of infinities become NaN."
        mend "Use at least -65504, or keep the node in float32.";
    GR411 "cast-codes" Warning => quantization::cast_codes,
        finds "a result of QuantizeLinear that is cast, and not dequantized"
        why "Codes are no numbers without their scale and zero point."
        mend "Read it by DequantizeLinear.";
    GR501 "too-large" Error => file::too_large,
        finds "an ONNX file of 2 GiB or more"
        why "protobuf does not read it, and so most runtimes do not."
        mend "Keep the weights in a file of their own.";
    GR502 "machine-path" Note => file::machine_paths,
        finds "a path of the machine that wrote the file"
        why "It names people and folders to all who get the model, and makes each export another file."
        mend "Export without traces of the source, or `gradus edit MODEL --no-docs -o CLEAN`." fix NoDocs;
    GR503 "unreadable-constant" Error => constants::unreadable,
        finds "a constant whose elements cannot be read: a file that is missing, too short, or outside the folder of the model"
        why "The model cannot be loaded."
        mend "Ship the file next to the model.";
    GR601 "peak" Error => file::peak,
        finds "a peak of memory above `--max-peak`"
        why "It was asked for."
        mend "`gradus cost MODEL` shows the node of the peak, and `--fit` the largest size that fits.";
    GR602 "parameters" Error => file::parameters,
        finds "more parameters than `--max-parameters`"
        why "It was asked for."
        mend "`gradus cost MODEL` shows which nodes have them.";
}
