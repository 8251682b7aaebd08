//! A layered layout: boxes in rows, each below those that it reads from, and edges that pass
//! between the boxes of the rows that they cross.
//!
//! 1. Ranks: a box stands below all that it reads from, in the first row that is not full.
//! 2. Long edges get a point in each row that they cross.
//! 3. Sweeps down and up put boxes and points near those that they are joined with
//!    ([`separated`] finds the nearest places at which nothing overlaps).

use gradus::sort::SharedSort;
use std::collections::HashMap;
use std::fmt::Write;

/// A box of the drawing.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) place: Place,
}

/// The row of a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// Above all others.
    First,
    /// Below all that it reads from.
    Inner,
    /// Below all others.
    Last,
}

/// An edge between boxes, by their indices, and where it begins and ends: distances from their left
/// sides.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) begin: f64,
    pub(crate) end: f64,
}

/// The finished layout.
#[derive(Clone, Debug, Default)]
pub(crate) struct LayeredLayout {
    pub(crate) width: f64,
    pub(crate) height: f64,
    /// The left upper corner of each box.
    pub(crate) corners: Vec<[f64; 2]>,
    /// The course of each edge, as the data of an SVG path.
    pub(crate) paths: Vec<String>,
}

/// The distance between rows, within which edges bend.
const ROW: f64 = 34.0;
/// The distance between boxes of a row, and of edges from them.
const GAP: f64 = 18.0;
/// The width of the rows, where boxes are narrower.
const WIDTH: f64 = 2400.0;
/// Points of edges in the rows that they cross. The longest edges go without where there are more.
const MAX_POINTS: usize = 100_000;
/// Sweeps that order and place, and then those that only place.
const SWEEPS: [usize; 2] = [10, 4];

/// A box, or a point of an edge, in its row.
#[derive(Clone, Copy, Debug)]
struct Spot {
    width: f64,
    /// The place of its middle.
    x: f64,
    is_point: bool,
}

/// A step of an edge from a row to the next: spots, and distances from their middles.
#[derive(Clone, Copy, Debug)]
struct Step {
    upper: usize,
    lower: usize,
    shifts: [f64; 2],
}

/// Lays out boxes, which are in the order of a run: edges go to later boxes, except some.
pub(crate) fn layered(items: &[Item], edges: &[Edge]) -> LayeredLayout {
    let ranks = ranks(items, edges);
    let mut spots: Vec<_> =
        items.iter().map(|item| Spot { width: item.width, x: 0.0, is_point: false }).collect();
    let mut rows = vec![Vec::new(); ranks.iter().max().map_or(0, |last| last + 1)];
    for (index, &rank) in ranks.iter().enumerate() {
        rows[rank].push(index);
    }
    let chains = chains(edges, &ranks, &mut spots, &mut rows);
    let mut steps = Vec::new();
    for (edge, chain) in edges.iter().zip(&chains) {
        let middle = |item: usize, at: f64| at - items[item].width / 2.0;
        let all: Vec<_> = [edge.from].iter().chain(chain).chain([&edge.to]).copied().collect();
        for pair in all.windows(2).filter(|_| ranks[edge.from] < ranks[edge.to]) {
            let begin = if pair[0] == edge.from { middle(edge.from, edge.begin) } else { 0.0 };
            let end = if pair[1] == edge.to { middle(edge.to, edge.end) } else { 0.0 };
            steps.push(Step { upper: pair[0], lower: pair[1], shifts: [begin, end] });
        }
    }
    sweep(&mut spots, &mut rows, &steps);

    let left = spots.iter().map(|spot| spot.x - spot.width / 2.0).fold(f64::INFINITY, f64::min);
    let mut layout = LayeredLayout::default();
    let mut bounds = Vec::with_capacity(rows.len());
    let mut top = 0.0;
    for row in &rows {
        let tallest = row.iter().filter_map(|&index| items.get(index)).map(|item| item.height);
        let bottom = top + tallest.fold(0.0, f64::max);
        bounds.push([top, bottom]);
        top = bottom + ROW;
    }
    layout.height = (top - ROW).max(0.0);
    for spot in &mut spots {
        spot.x -= left;
        layout.width = layout.width.max(spot.x + spot.width / 2.0);
    }
    layout.corners = (items.iter().zip(&spots).zip(&ranks))
        .map(|((item, spot), &rank)| [spot.x - item.width / 2.0, bounds[rank][0]])
        .collect();
    layout.paths = (edges.iter().zip(&chains))
        .map(|(edge, chain)| {
            let [from, to] = [edge.from, edge.to].map(|index| layout.corners[index]);
            let begin = [from[0] + edge.begin, from[1] + items[edge.from].height];
            let end = [to[0] + edge.end, to[1]];
            let rank = ranks[edge.from];
            let foot = (rank < ranks[edge.to]).then_some(bounds[rank][1]);
            let through = chain.iter().enumerate();
            let through = through.map(|(index, &point)| (spots[point].x, bounds[rank + 1 + index]));
            path(begin, foot, through, end)
        })
        .collect();
    layout
}

/// The row of each box.
fn ranks(items: &[Item], edges: &[Edge]) -> Vec<usize> {
    let mut before = vec![Vec::new(); items.len()];
    let mut after = vec![Vec::new(); items.len()];
    for edge in edges.iter().filter(|edge| edge.from < edge.to) {
        before[edge.to].push(edge.from);
        after[edge.from].push(edge.to);
    }
    let has_first = items.iter().any(|item| item.place == Place::First);
    let mut ranks = vec![0; items.len()];
    let mut widths: Vec<f64> = Vec::new();
    // A row takes a box that is wider than rows are, if it has no other.
    let is_full = |widths: &[f64], rank: usize, item: &Item| {
        widths.get(rank).is_some_and(|&width| width > 0.0 && width + GAP + item.width > WIDTH)
    };
    let add = |widths: &mut Vec<f64>, rank: usize, item: &Item| {
        widths.resize(widths.len().max(rank + 1), 0.0);
        widths[rank] += item.width + GAP;
    };
    for (index, item) in items.iter().enumerate().filter(|(_, item)| item.place == Place::Inner) {
        let above = before[index].iter().filter(|&&from| items[from].place == Place::Inner);
        let mut rank = above.map(|&from| ranks[from] + 1).max().unwrap_or(usize::from(has_first));
        while is_full(&widths, rank, item) {
            rank += 1;
        }
        add(&mut widths, rank, item);
        ranks[index] = rank;
    }
    // A box that reads from none is just above the first that reads from it.
    for (index, item) in items.iter().enumerate().rev() {
        if item.place != Place::Inner || before[index].iter().any(|&from| items[from].place == Place::Inner) {
            continue;
        }
        let below = after[index].iter().filter(|&&to| items[to].place == Place::Inner);
        let Some(next) = below.map(|&to| ranks[to]).min() else { continue };
        let lowest = (ranks[index] + 1..next).rev().find(|&rank| !is_full(&widths, rank, item));
        if let Some(rank) = lowest {
            widths[ranks[index]] -= item.width + GAP;
            add(&mut widths, rank, item);
            ranks[index] = rank;
        }
    }
    let last = items.iter().zip(&ranks).filter(|(item, _)| item.place == Place::Inner);
    let last = last.map(|(_, rank)| rank + 1).max().unwrap_or(usize::from(has_first));
    for (rank, _) in ranks.iter_mut().zip(items).filter(|(_, item)| item.place == Place::Last) {
        *rank = last;
    }
    ranks
}

/// The points of each edge in the rows between its ends. Edges that begin at one place share them.
fn chains(
    edges: &[Edge],
    ranks: &[usize],
    spots: &mut Vec<Spot>,
    rows: &mut [Vec<usize>],
) -> Vec<Vec<usize>> {
    let mut order: Vec<_> = (0..edges.len()).collect();
    let span = |edge: &Edge| ranks[edge.to].saturating_sub(ranks[edge.from] + 1);
    order.shared_sort_by_key(|&index| span(&edges[index]));
    let mut shared: HashMap<(usize, u64), Vec<usize>> = HashMap::new();
    let mut chains = vec![Vec::new(); edges.len()];
    let mut count = 0;
    for index in order {
        let edge = &edges[index];
        let span = span(edge);
        let known = shared.entry((edge.from, edge.begin.to_bits())).or_default();
        count += span.saturating_sub(known.len());
        if count > MAX_POINTS {
            break;
        }
        while known.len() < span {
            rows[ranks[edge.from] + 1 + known.len()].push(spots.len());
            known.push(spots.len());
            spots.push(Spot { width: 0.0, x: 0.0, is_point: true });
        }
        chains[index] = known[..span].to_vec();
    }
    chains
}

/// Orders and places the spots of all rows.
fn sweep(spots: &mut [Spot], rows: &mut [Vec<usize>], steps: &[Step]) {
    // The spots above and below each, with the distance at which the edge would be straight.
    let mut above = vec![Vec::new(); spots.len()];
    let mut below = vec![Vec::new(); spots.len()];
    for step in steps {
        above[step.lower].push((step.upper, step.shifts[0] - step.shifts[1]));
        below[step.upper].push((step.lower, step.shifts[1] - step.shifts[0]));
    }
    for row in rows.iter() {
        separated(spots, row, &vec![0.0; row.len()]);
    }
    let wanted = |spots: &[Spot], index: usize, sides: &[&Vec<Vec<(usize, f64)>>]| {
        let joined = sides.iter().flat_map(|side| &side[index]);
        let (mut sum, mut count) = (0.0, 0.0);
        for &(other, shift) in joined {
            sum += spots[other].x + shift;
            count += 1.0;
        }
        if count > 0.0 { sum / count } else { spots[index].x }
    };
    let [ordering, placing] = SWEEPS;
    for number in 0..ordering + placing {
        let is_down = number % 2 == 0;
        let sides: &[_] = match (number < ordering, is_down) {
            (true, true) => &[&above],
            (true, false) => &[&below],
            (false, _) => &[&above, &below],
        };
        let count = rows.len();
        for at in 0..count {
            let row = &mut rows[if is_down { at } else { count - 1 - at }];
            let mut places: Vec<_> = row.iter().map(|&index| (wanted(spots, index, sides), index)).collect();
            if number < ordering {
                places.shared_sort_by(|a, b| a.0.total_cmp(&b.0));
                row.clear();
                row.extend(places.iter().map(|(_, index)| index));
            }
            let places: Vec<_> = places.into_iter().map(|(place, _)| place).collect();
            separated(spots, row, &places);
        }
    }
}

/// Puts the spots of a row as near as possible to the wanted places of their middles, in order and
/// without overlaps: the sum of squares is the smallest. Points weigh more, so that edges are
/// straight.
fn separated(spots: &mut [Spot], row: &[usize], wanted: &[f64]) {
    // Distances from the first spot, of which the wanted places are freed: what is left must rise.
    let mut distance = 0.0;
    let mut distances = Vec::with_capacity(row.len());
    for (number, &index) in row.iter().enumerate() {
        if let Some(before) = number.checked_sub(1).map(|before| spots[row[before]]) {
            distance += f64::midpoint(before.width, spots[index].width) + GAP;
        }
        distances.push(distance);
    }
    // Runs of spots that are pushed together: the mean, its weight, and their number.
    let mut runs: Vec<(f64, f64, usize)> = Vec::new();
    for (number, &index) in row.iter().enumerate() {
        let weight = if spots[index].is_point { 4.0 } else { 1.0 };
        let mut run = (wanted[number] - distances[number], weight, 1);
        while let Some(&(mean, weight, count)) = runs.last().filter(|last| last.0 > run.0) {
            runs.pop();
            run = ((mean * weight + run.0 * run.1) / (weight + run.1), weight + run.1, count + run.2);
        }
        runs.push(run);
    }
    let places = runs.iter().flat_map(|&(mean, _, count)| std::iter::repeat_n(mean, count));
    for ((&index, place), distance) in row.iter().zip(places).zip(distances) {
        spots[index].x = place + distance;
    }
}

/// The course of an edge, from the foot of its row through points of others. Back edges have no
/// foot.
fn path(
    begin: [f64; 2],
    foot: Option<f64>,
    through: impl Iterator<Item = (f64, [f64; 2])>,
    end: [f64; 2],
) -> String {
    let mut path = format!("M{:.0},{:.0}", begin[0], begin[1]);
    let [mut x, mut y] = begin;
    if let Some(foot) = foot.filter(|foot| *foot > y) {
        y = foot;
        let _ = write!(path, "V{y:.0}");
    }
    let bend = |path: &mut String, [x, y]: [f64; 2], to: [f64; 2]| {
        let middle = f64::midpoint(y, to[1]);
        // An edge that goes up leaves its box downwards all the same.
        let [first, second] = if to[1] > y { [middle; 2] } else { [y + ROW, to[1] - ROW] };
        let [to_x, to_y] = to;
        let _ = write!(path, "C{x:.0},{first:.0} {to_x:.0},{second:.0} {to_x:.0},{to_y:.0}");
    };
    for (next, [top, bottom]) in through {
        bend(&mut path, [x, y], [next, top]);
        [x, y] = [next, bottom];
        let _ = write!(path, "V{y:.0}");
    }
    bend(&mut path, [x, y], end);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(width: f64) -> Item {
        Item { width, height: 20.0, place: Place::Inner }
    }

    fn edge(from: usize, to: usize) -> Edge {
        Edge { from, to, begin: 5.0, end: 5.0 }
    }

    /// Boxes that overlap, by their indices.
    fn overlap(items: &[Item], layout: &LayeredLayout) -> Option<[usize; 2]> {
        let spans = |axis: usize, a: usize, b: usize| {
            let size = |of: usize| if axis == 0 { items[of].width } else { items[of].height };
            let [first, second] = [a, b].map(|of| layout.corners[of][axis]);
            first < second + size(b) && second < first + size(a)
        };
        let pairs = (0..items.len()).flat_map(|a| (0..a).map(move |b| [a, b]));
        pairs.into_iter().find(|&[a, b]| spans(0, a, b) && spans(1, a, b))
    }

    #[test]
    fn boxes_stand_below_what_they_read_and_apart() {
        let mut rng = fastrand::Rng::with_seed(3);
        for count in [0, 1, 2, 7, 40, 150] {
            let items: Vec<_> = (0..count).map(|_| item(rng.f64() * 300.0 + 20.0)).collect();
            let mut edges = Vec::new();
            for to in 1..count {
                edges.extend((0..rng.usize(0..4)).map(|_| edge(rng.usize(0..to), to)));
            }
            let layout = layered(&items, &edges);
            assert_eq!(overlap(&items, &layout), None, "of {count} boxes");
            for Edge { from, to, .. } in edges {
                assert!(layout.corners[from][1] + 20.0 < layout.corners[to][1], "{from} is not above {to}");
            }
            for (corner, item) in layout.corners.iter().zip(&items) {
                assert!(corner[0] > -1e-6 && corner[0] + item.width < layout.width + 1e-6);
                assert!(corner[1] + item.height < layout.height + 1e-6);
            }
        }
    }

    #[test]
    fn rows_end_where_they_are_full() {
        let items = vec![item(100.0); 400];
        let layout = layered(&items, &[]);
        assert!(layout.width <= WIDTH && layout.height > 10.0 * 20.0, "{} {}", layout.width, layout.height);
        assert_eq!(overlap(&items, &layout), None);
    }

    /// A chain, one box of which is read at the end: the edge passes next to the others.
    #[test]
    fn long_edges_pass_beside_boxes() {
        let items = vec![Item { width: 10.0, ..item(10.0) }; 6];
        let chain = (1..6).map(|to| edge(to - 1, to));
        let edges: Vec<_> = chain.chain([edge(0, 5)]).collect();
        let layout = layered(&items, &edges);
        // The edge passes each of the four rows between, on one side of the box there.
        let long = &layout.paths[5];
        let numbers = |at: char| long.split(at).skip(1).count();
        assert_eq!((numbers('V'), numbers('C')), (4, 5), "{long}");
        assert!(layout.width > 10.0);
    }

    #[test]
    fn edges_to_earlier_boxes_change_no_row() {
        let items = vec![item(10.0); 3];
        let forward = [edge(0, 1), edge(1, 2)];
        let both = [edge(0, 1), edge(1, 2), edge(2, 0)];
        assert_eq!(layered(&items, &forward).corners, layered(&items, &both).corners);
        assert!(layered(&items, &both).paths[2].starts_with('M'));
    }

    /// Every box is read by the last: there would be millions of points.
    #[test]
    fn many_long_edges_have_a_limited_number_of_points() {
        let count = 3000;
        let items = vec![item(2000.0); count];
        let chain = (1..count).map(|to| edge(to - 1, to));
        let edges: Vec<_> = chain.chain((0..count - 1).map(|from| edge(from, count - 1))).collect();
        let paths = layered(&items, &edges).paths;
        assert_eq!(paths.len(), edges.len());
        let points: usize = paths.iter().map(|path| path.matches('V').count()).sum();
        assert!(points < 10 * MAX_POINTS, "{points}");
    }

    #[test]
    fn places_are_the_nearest_without_overlaps() {
        let mut spots = vec![Spot { width: 10.0, x: 0.0, is_point: false }; 3];
        separated(&mut spots, &[0, 1, 2], &[0.0, 0.0, 100.0]);
        // The first two share what they lack.
        let apart = f64::midpoint(10.0, GAP);
        let found: Vec<_> = spots.iter().map(|spot| spot.x).collect();
        assert!(found.iter().zip([-apart, apart, 100.0]).all(|(a, b)| (a - b).abs() < 1e-9), "{found:?}");
    }
}
