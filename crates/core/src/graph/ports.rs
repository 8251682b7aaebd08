//! How the inputs and outputs of a node are those of its inner graph, where the file says so one by
//! one (OpenVINO).

/// Values of a node and of its inner graph that are the same.
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
    /// Number of the input or output of the node.
    pub outer: usize,
    /// Number of the input or output of the graph.
    pub inner: usize,
    /// How each run takes or gives a slice of it, if each does.
    pub slices: Option<Slices>,
}

/// How the runs of a graph go through a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slices {
    /// Along which axis.
    pub axis: i64,
    /// Start of the first slice; a negative number counts from the end, which is -1.
    pub start: i64,
    /// End of the last slice; a negative number counts from the end, which is -1.
    pub end: i64,
    /// From one slice to the next; below zero for the way back.
    pub stride: i64,
    /// The size of a slice.
    pub part_size: i64,
}
