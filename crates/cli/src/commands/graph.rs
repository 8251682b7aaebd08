//! `gradus graph`: the graph of a model as a diagram.

use gradus_report::{DiagramFormat, diagram};

use super::given;
use crate::args::{self, Diagram};
use crate::diagnostics::Failure;
use crate::output;

/// Runs `gradus graph`: prints a diagram of a model.
pub(crate) fn graph(args: &args::GraphArgs) -> Result<(), Failure> {
    let options = given::infer_options(&args.sizes)?;
    let format = match args.format {
        Diagram::Dot => DiagramFormat::Dot,
        Diagram::Mermaid => DiagramFormat::Mermaid,
        Diagram::Svg => DiagramFormat::Svg,
    };
    let model = given::set(&args.limits.open(&args.model)?, &args.sizes.shapes.inputs)?;
    let drawn = diagram(&model, &options, format, args.depth);
    output::print(drawn.map_err(|error| error.in_file(args.model.display()))?.as_bytes())
}
