//! How the inputs and outputs of a node are those of its inner graph, where the file says so one by
//! one (OpenVINO).

/// Which values of a node and of its inner graph are the same.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ports {
    /// Inputs: of the node, and of the graph.
    pub inputs: Vec<Port>,
    /// Outputs: of the node, and of the graph.
    pub outputs: Vec<Port>,
    /// Outputs of the graph, and the inputs of it that they are in the next run.
    pub back_edges: Vec<(usize, usize)>,
    /// The output that says whether there is a next run.
    pub condition: Option<usize>,
    /// The input that is the number of the run.
    pub iteration: Option<usize>,
}

/// A value of a node that is, or consists of, values of the inner graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    /// Which input or output of the node.
    pub outer: usize,
    /// Which input or output of the graph.
    pub inner: usize,
    /// How each run takes or gives a slice of it, if each does.
    pub slices: Option<Slices>,
}

/// How the runs of a graph go through a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slices {
    /// Along which axis.
    pub axis: i64,
    /// Where the first slice begins; below zero from the end, which is -1.
    pub start: i64,
    /// Where the last slice ends, in the same way.
    pub end: i64,
    /// From one slice to the next; below zero for the way back.
    pub stride: i64,
    /// The size of a slice.
    pub part_size: i64,
}
