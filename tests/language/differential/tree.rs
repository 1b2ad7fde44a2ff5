//! The states of a random chart: kinds and parents that fit each other.

use super::spec::{Flavour, Node};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Atomic,
    Compound,
    Parallel,
    Final,
    History { deep: bool },
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) kind: Kind,
    pub(super) parent: usize,
    pub(super) path: String,
    pub(super) children: Vec<usize>,
    pub(super) pick: u8,
    pub(super) more: u8,
    depth: u8,
}

impl State {
    /// The last part of its path.
    pub(super) fn name(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or_default()
    }

    /// Whether it can be a region, an initial or a default state.
    pub(super) fn is_place(&self) -> bool {
        matches!(self.kind, Kind::Atomic | Kind::Compound | Kind::Parallel)
    }

    /// How many arguments it takes.
    pub(super) fn takes(&self) -> u8 {
        if self.kind == Kind::Final { self.pick % 3 } else { 0 }
    }
}

/// Levels of states.
const DEPTH: u8 = 6;

/// The states, the chart first and each before what is in it.
pub(super) fn tree(flavour: Flavour, nodes: &[Node]) -> Vec<State> {
    let state = |kind, parent, path, node: &Node, depth| {
        let (pick, more) = (node.pick, node.more);
        State { kind, parent, path, children: Vec::new(), pick, more, depth }
    };
    let mut states = vec![state(Kind::Compound, 0, String::new(), &nodes[0], 0)];
    let mut containers = vec![0];
    // Of the one parallel, which is the first state.
    let regions = 2 + usize::from(nodes[0].more) % 3;
    let has_regions = matches!(flavour, Flavour::Orthogonal | Flavour::Talk);
    for (nth, node) in nodes.iter().enumerate() {
        let parent = match flavour {
            Flavour::Flat => 0,
            Flavour::Orthogonal | Flavour::Talk if nth == 0 => 0,
            Flavour::Orthogonal | Flavour::Talk if nth <= regions => 1,
            Flavour::Orthogonal => match usize::from(node.parent) % 8 {
                0 => 0,
                region => 2 + region % regions,
            },
            // Few beside the parallel.
            Flavour::Talk if node.parent >= 24 => {
                containers[1 + usize::from(node.parent) % (containers.len() - 1)]
            }
            Flavour::Tree | Flavour::Regions | Flavour::Agent | Flavour::Talk => {
                containers[usize::from(node.parent) % containers.len()]
            }
        };
        let kind = match (node.kind % 16, states[parent].kind) {
            _ if has_regions && nth == 0 => Kind::Parallel,
            _ if has_regions && nth <= regions => Kind::Compound,
            (15, Kind::Compound) if flavour == Flavour::Orthogonal => Kind::Final,
            _ if flavour == Flavour::Orthogonal => Kind::Atomic,
            (0..=5, _) => Kind::Atomic,
            (15, Kind::Compound) => Kind::Final,
            (14, Kind::Compound) if parent != 0 => Kind::Final,
            (6..=9, _) if flavour > Flavour::Flat => Kind::Compound,
            (10 | 11, _) if flavour > Flavour::Tree => Kind::Parallel,
            (12 | 13, _) if flavour > Flavour::Tree && parent != 0 => {
                Kind::History { deep: node.kind % 2 == 1 }
            }
            _ => Kind::Atomic,
        };
        let (id, depth) = (states.len(), states[parent].depth + 1);
        let above = &states[parent].path;
        let name = format!("{}{id}", if id % 3 == 2 { "S" } else { "s" });
        let path = if above.is_empty() { name } else { format!("{above}.{name}") };
        states.push(state(kind, parent, path, node, depth));
        states[parent].children.push(id);
        if matches!(kind, Kind::Compound | Kind::Parallel) && depth < DEPTH {
            containers.push(id);
        }
    }
    for id in (0..states.len()).rev() {
        repair(&mut states, id);
    }
    states
}

/// Makes a state another one where it has not the children that it needs; what is in it is in order already.
fn repair(states: &mut [State], id: usize) {
    let places =
        |states: &[State]| states[id].children.iter().filter(|c| states[**c].is_place()).count();
    if matches!(states[id].kind, Kind::Compound | Kind::Parallel)
        && places(states) == 0
        && let Some(first) = states[id].children.first().copied()
    {
        states[first].kind = Kind::Atomic;
    }
    states[id].kind = match (states[id].kind, places(states)) {
        (Kind::Compound | Kind::Parallel, 0) => Kind::Atomic,
        (Kind::Parallel, 1) => Kind::Compound,
        (kind, _) => kind,
    };
}

/// The `nth` of the states of `id` that can be initial or a default.
pub(super) fn place(states: &[State], id: usize, nth: u8) -> usize {
    let places: Vec<usize> =
        states[id].children.iter().copied().filter(|c| states[*c].is_place()).collect();
    places[usize::from(nth) % places.len()]
}

/// Two states in different regions of one parallel state, which is `id` or in it.
pub(super) fn apart(states: &[State], id: usize, which: u8, target: u8) -> Option<(usize, usize)> {
    let above =
        |i: &usize| std::iter::successors(Some(*i), |i| (*i != 0).then(|| states[*i].parent));
    let all: Vec<usize> = (0..states.len())
        .filter(|i| states[*i].kind == Kind::Parallel && above(i).any(|one| one == id))
        .collect();
    let parallel = all.get(usize::from(which) % all.len().max(1))?;
    let first = place(states, *parallel, target % 128);
    let second = place(states, *parallel, target % 128 + 1);
    Some((deeper(states, first, target), deeper(states, second, which)))
}

/// A state or one in it.
fn deeper(states: &[State], id: usize, pick: u8) -> usize {
    let inner = pick & 4 != 0 && matches!(states[id].kind, Kind::Compound | Kind::Parallel);
    if inner { place(states, id, pick >> 3) } else { id }
}

/// Where a state begins: a child or, now and then, a state in a child.
pub(super) fn initial(states: &[State], id: usize) -> usize {
    let pick = states[id].pick;
    deeper(states, place(states, id, pick / 8), pick)
}

/// Whether a state can be done: it has an end, or all its regions have.
pub(super) fn can_end(states: &[State], id: usize) -> bool {
    let mut inside = states[id].children.iter().copied();
    match states[id].kind {
        Kind::Compound => inside.any(|c| states[c].kind == Kind::Final),
        Kind::Parallel => {
            inside.all(|c| matches!(states[c].kind, Kind::History { .. }) || can_end(states, c))
        }
        Kind::Atomic | Kind::Final | Kind::History { .. } => false,
    }
}
