//! Random charts as numbers: each list of numbers means some chart, so that taking rows away and making numbers smaller, as
//! proptest does with what it has found, leaves a chart. Zero is the plainest of everything.

use crate::batch::act::Act;
use proptest::collection::vec;
use proptest::prelude::*;

/// Which states a chart may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Flavour {
    /// One level.
    Flat,
    /// States in states.
    Tree,
    /// One parallel of simple regions, and states beside it.
    Orthogonal,
    /// States of all kinds.
    Regions,
    /// And steps, questions, tools, limits.
    Agent,
    /// The same in a parallel from the start, and more of them: calls of several regions are open at once.
    Talk,
}

impl Flavour {
    /// Whether it has steps, questions, tools and limits.
    pub(crate) fn is_agent(self) -> bool {
        self >= Self::Agent
    }
}

/// What kind of chart is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Taste {
    pub(crate) flavour: Flavour,
    /// Texts, lists, maps and JSON are among its data; without them it needs no allocator.
    pub(crate) words: bool,
    /// Nothing is in it that has to be remembered beside data: no deadlines, no sent events, no steps.
    pub(crate) plain: bool,
}

const fn taste(flavour: Flavour, words: bool, plain: bool) -> Taste {
    Taste { flavour, words, plain }
}

/// One after the other in a batch. Half of them can be written out as code.
pub(crate) const TASTES: &[Taste] = &[
    taste(Flavour::Flat, false, true),
    taste(Flavour::Agent, true, false),
    taste(Flavour::Tree, false, true),
    taste(Flavour::Regions, false, false),
    taste(Flavour::Orthogonal, false, true),
    taste(Flavour::Agent, true, false),
    taste(Flavour::Tree, true, true),
    taste(Flavour::Regions, true, false),
    taste(Flavour::Orthogonal, false, true),
    taste(Flavour::Agent, true, false),
    taste(Flavour::Flat, true, true),
    taste(Flavour::Tree, true, false),
    TALK,
];

/// Of regions that ask and call in one turn.
pub(crate) const TALK: Taste = taste(Flavour::Talk, true, false);

/// A chart.
#[derive(Debug, Clone)]
pub(crate) struct Spec {
    pub(crate) taste: Taste,
    pub(crate) nodes: Vec<Node>,
    pub(crate) lines: Vec<Line>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) steps: Vec<Step>,
    pub(crate) allows: Vec<(u8, u8, u8)>,
    /// What is said once for the whole chart.
    pub(crate) whole: u8,
}

/// A state of any kind.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Node {
    pub(crate) parent: u8,
    pub(crate) kind: u8,
    /// Chooses its initial child, its default, its status, what it takes.
    pub(crate) pick: u8,
    /// Chooses whether its initial or default has several targets and actions.
    pub(crate) more: u8,
}

/// A line of a state.
#[derive(Debug, Clone)]
pub(crate) struct Line {
    pub(crate) source: u8,
    pub(crate) trigger: u8,
    /// Chooses among triggers of a kind.
    pub(crate) which: u8,
    pub(crate) guard: u8,
    pub(crate) arrow: u8,
    pub(crate) target: u8,
    pub(crate) actions: Vec<u8>,
}

/// What stands in a state beside its lines: an `enter` or `exit` block, deferred events, limits, advice.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    pub(crate) state: u8,
    pub(crate) kind: u8,
    pub(crate) actions: Vec<u8>,
}

/// A step of a state.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Step {
    pub(crate) state: u8,
    pub(crate) kind: u8,
    pub(crate) guard: u8,
    pub(crate) target: u8,
    pub(crate) pick: u8,
}

fn node() -> impl Strategy<Value = Node> {
    any::<[u8; 4]>().prop_map(|[parent, kind, pick, more]| Node { parent, kind, pick, more })
}

fn line() -> impl Strategy<Value = Line> {
    (any::<[u8; 6]>(), vec(any::<u8>(), 0..4)).prop_map(|(n, actions)| {
        let [source, trigger, which, guard, arrow, target] = n;
        Line { source, trigger, which, guard, arrow, target, actions }
    })
}

fn block() -> impl Strategy<Value = Block> {
    (any::<(u8, u8)>(), vec(any::<u8>(), 1..5)).prop_map(|((state, kind), actions)| Block {
        state,
        kind,
        actions,
    })
}

fn step() -> impl Strategy<Value = Step> {
    any::<[u8; 5]>().prop_map(|[state, kind, guard, target, pick]| Step {
        state,
        kind,
        guard,
        target,
        pick,
    })
}

/// A chart of any kind, with 2 to 40 states.
pub(crate) fn spec() -> impl Strategy<Value = Spec> {
    proptest::sample::select(TASTES).prop_flat_map(spec_of)
}

/// A chart of one kind, with 2 to 40 states.
pub(crate) fn spec_of(taste: Taste) -> impl Strategy<Value = Spec> {
    sized(taste, prop_oneof![3 => 2..8_usize, 4 => 8..18_usize, 2 => 18..41_usize])
}

/// Charts that run each other: the first runs the others, the second the third.
pub(crate) fn kin() -> impl Strategy<Value = Vec<Spec>> {
    let agent = prop_oneof![Just(true), Just(false)];
    (agent.clone(), agent).prop_flat_map(|(first, second)| {
        let one = taste(if first { Flavour::Agent } else { Flavour::Regions }, true, false);
        let other = taste(if second { Flavour::Agent } else { Flavour::Tree }, true, false);
        let last = sized(taste(Flavour::Tree, true, false), 2..6_usize);
        (sized(one, 2..9_usize), sized(other, 2..7_usize), last).prop_map(
            |(mut one, mut other, last)| {
                // Those that run others do so from the start, beside what else they do.
                for spec in [&mut one, &mut other] {
                    let first = Step { state: 0, kind: 0, guard: 0, target: 1, pick: spec.whole };
                    spec.steps.insert(0, first);
                }
                vec![one, other, last]
            },
        )
    })
}

fn sized(taste: Taste, size: impl Strategy<Value = usize>) -> impl Strategy<Value = Spec> {
    size.prop_flat_map(move |size| {
        let talks = taste.flavour == Flavour::Talk;
        let steps = if talks { size..=2 * size } else { 0..=size / 2 + 2 };
        let lines = if talks { 0..=size } else { size / 2..=5 * size / 2 };
        // Enough for a parallel and what is in its regions.
        let least = if talks { 8 } else { 2 };
        (
            vec(node(), least..=size.max(least)),
            vec(line(), lines),
            vec(block(), 0..=size),
            vec(step(), steps),
            vec(any::<(u8, u8, u8)>(), 0..5),
            any::<u8>(),
        )
            .prop_map(move |(nodes, lines, blocks, steps, allows, whole)| Spec {
                taste,
                nodes,
                lines,
                blocks,
                steps,
                allows,
                whole,
            })
    })
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        8 => any::<(u8, u16)>().prop_map(|(which, seed)| Act::Event(which, seed)),
        5 => Just(Act::Turn),
        2 => (0..9000_u32).prop_map(Act::Wait),
        2 => Just(Act::Due),
        9 => any::<(u8, u16)>().prop_map(|(which, seed)| Act::Answer(which, seed)),
        2 => any::<(u8, u16)>().prop_map(|(which, seed)| Act::Set(which, seed)),
    ]
}

/// What is done to a chart: a start, and up to `length` inputs.
pub(crate) fn acts(length: usize) -> impl Strategy<Value = Vec<Act>> {
    (proptest::option::weighted(0.3, any::<(u8, u16)>()), vec(act(), length / 4..=length)).prop_map(
        |(first, acts)| {
            let first = first.map(|(which, seed)| Act::Set(which, seed));
            first.into_iter().chain([Act::Start]).chain(acts).collect()
        },
    )
}
