//! Rounds that pass a bound and not what counts towards it.

use super::track::Track;
use super::{Round, Rounds, few_writers};
use crate::facts::Facts;
use crate::facts::counter::{Bound, Change, Owner, Writer, bounds, is_lasting};
use crate::facts::graph::Node;
use crate::facts::reach::entries;
use crate::facts::uses::{assigned, reads};
use chartc_core::arena::{StateId, StepId, TransitionId, VarId};
use chartc_core::model::{AskOn, Chart, CompareOp, Limits, StepKind, Transition, Trigger};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Lines that are looked at; a chart with more is built by a program.
const MOST: usize = 64;

/// A line with a bound on rounds that do not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncounted {
    /// The line that asks.
    pub line: TransitionId,
    /// The counter.
    pub counter: VarId,
    /// Where it is counted instead.
    pub counted: Writer,
    /// The other lines of the shortest such round; with `line` where that leads back, from where it asks where it leads out.
    pub way: Vec<TransitionId>,
    /// Whether `line` is part of the round.
    pub leads_back: bool,
}

/// Every such line, ascending: rounds that need nothing from the host, past a condition on a counter which steps, options and conditions
/// count, though not in this round. Where other ways round the same states count, only if nothing else bounds them.
pub fn uncounted(chart: &Chart, facts: &Facts) -> Vec<Uncounted> {
    let mut found = Vec::new();
    let mut known: BTreeMap<VarId, Option<(Vec<Writer>, Track<'_>)>> = BTreeMap::new();
    let mut rounds = None;
    let mut looked = 0;
    for (i, line) in chart.transitions.iter().enumerate() {
        let id = TransitionId::at(i);
        let Some(guard) = &line.guard else { continue };
        if !facts.reach.takes(id) || line.targets.is_empty() || !is_alone(chart, line) {
            continue;
        }
        for bound in bounds(chart, guard) {
            if !is_lasting(chart, bound.counter) || looked == MOST {
                continue;
            }
            let counted = known.entry(bound.counter).or_insert_with(|| {
                let writers = few_writers(chart, bound.counter)?;
                is_counted(chart, &writers)
                    .then(|| (writers, Track::of(chart, facts, bound.counter)))
            });
            let Some((writers, track)) = counted else { continue };
            looked += 1;
            let rounds = rounds.get_or_insert_with(|| Rounds::of(facts));
            found.extend(one(chart, facts, rounds, (id, &bound), writers, track));
        }
    }
    found.dedup_by_key(|u| (u.line, u.counter));
    found
}

fn one(
    chart: &Chart,
    facts: &Facts,
    rounds: &Rounds,
    (id, bound): (TransitionId, &Bound<'_>),
    writers: &[Writer],
    track: &Track<'_>,
) -> Option<Uncounted> {
    let up = writers.iter().any(|w| matches!(w.change, Change::By(by) if by > 0));
    let low = matches!(bound.op, CompareOp::Less | CompareOp::LessEqual);
    let toward = |w: &&Writer| matches!(w.change, Change::By(_));
    let round = rounds.around(chart, facts, super::Asker::Line(id))?;
    let leads_back = rounds.at(facts, Node::Line(id)) == round.component;
    // Going on as long as there is room, or leaving as soon as there is none.
    if leads_back != (up == low) {
        return None;
    }
    let counted = writers.iter().filter(toward).find(|w| takes(facts, w))?;
    let passes = writers.iter().filter(toward).any(|w| rounds.passes(chart, facts, w, &round));
    if passes && (!leads_back || is_bounded(chart, facts, &round)) {
        return None;
    }
    if !leads_back && asks_otherwise(chart, facts, id, &round) {
        return None;
    }
    let from: Vec<Node> = if leads_back {
        if track.is_set_at(Node::Line(id)) {
            return None;
        }
        entries(chart, chart.transition(id)).into_iter().map(Node::Entered).collect()
    } else {
        facts.places.line(id).within.iter().copied().map(Node::Active).collect()
    };
    let way = round_without(chart, facts, id, &from, track)?;
    (leads_back || !way.is_empty()).then_some(Uncounted {
        line: id,
        counter: bound.counter,
        counted: *counted,
        way,
        leads_back,
    })
}

fn takes(facts: &Facts, writer: &Writer) -> bool {
    match writer.owner {
        Owner::Line(id) => facts.reach.takes(id),
        Owner::State(id) => facts.reach.enters(id),
        Owner::Step(_) => true,
    }
}

/// Whether it is counted in one direction only, and by what the chart does itself.
fn is_counted(chart: &Chart, writers: &[Writer]) -> bool {
    let mut ways = BTreeSet::new();
    for writer in writers {
        match writer.change {
            Change::By(by) => {
                ways.insert(by > 0);
                if let Owner::Line(id) = writer.owner
                    && !is_alone(chart, chart.transition(id))
                {
                    return false;
                }
            }
            Change::To(_) => {}
            Change::Other => return false,
        }
    }
    ways.len() == 1
}

/// Whether a line is taken without the host, a person and the clock.
fn is_alone(chart: &Chart, line: &Transition) -> bool {
    match &line.trigger {
        Trigger::StepDone(step)
        | Trigger::StepError(step)
        | Trigger::StepTimeout(step, _)
        | Trigger::StepDoubt(step)
        | Trigger::StepElse(step) => is_own(chart, *step),
        Trigger::Choice(_) => {
            !chart.steps.iter().any(|s| matches!(s.kind, StepKind::Ask { on: AskOn::Event(_), .. }))
        }
        Trigger::When | Trigger::StateDone(_) | Trigger::Turn => true,
        Trigger::Event(_)
        | Trigger::AnyEvent
        | Trigger::AnyOccurrence
        | Trigger::After(_)
        | Trigger::AfterTurns(_)
        | Trigger::Error(_)
        | Trigger::LimitWarn(_) => false,
    }
}

fn is_own(chart: &Chart, step: StepId) -> bool {
    match &chart.steps[step.index()].kind {
        StepKind::Human(_) | StepKind::Run(_) | StepKind::Ask { on: AskOn::Event(_), .. } => false,
        StepKind::Llm
        | StepKind::Ask { on: AskOn::Turn, .. }
        | StepKind::Code(_)
        | StepKind::Call(..) => true,
    }
}

/// Whether limits or the clock end what goes on in the component.
fn is_bounded(chart: &Chart, facts: &Facts, round: &Round) -> bool {
    let inside = |s: StateId| s == StateId::at(0) || round.active[s.index()];
    let limited = |limits: &Limits| *limits != Limits::default();
    let clock = |(i, line): (usize, &Transition)| {
        matches!(line.trigger, Trigger::After(_) | Trigger::AfterTurns(_))
            && facts.places.lines[i].within.iter().any(|s| inside(*s))
    };
    chart.state_ids().any(|s| inside(s) && limited(&chart.state(s).limits))
        || chart.transitions.iter().enumerate().any(clock)
}

/// Whether another condition in the component reads what is set there.
fn asks_otherwise(chart: &Chart, facts: &Facts, own: TransitionId, round: &Round) -> bool {
    let here = |within: &[StateId]| round.is_in(within);
    let mut set = BTreeSet::new();
    for (i, line) in chart.transitions.iter().enumerate() {
        if here(&facts.places.lines[i].within) {
            set.extend(assigned(&line.actions));
        }
    }
    for state in chart.state_ids().filter(|s| round.holds[s.index()]) {
        let row = chart.state(state);
        row.entry.iter().chain(&row.exit).for_each(|b| set.extend(assigned(b)));
    }
    for (i, step) in chart.steps.iter().enumerate() {
        if let StepKind::Code(block) = &step.kind
            && here(&facts.places.steps[i].within)
        {
            set.extend(assigned(block));
        }
    }
    chart.transitions.iter().enumerate().any(|(i, line)| {
        let mut read = BTreeSet::new();
        let local = line.guard.as_ref().is_some_and(|g| reads(chart, g, &mut read));
        let clock = matches!(line.trigger, Trigger::After(_) | Trigger::AfterTurns(_));
        TransitionId::at(i) != own
            && here(&facts.places.lines[i].within)
            && (local || clock || !read.is_disjoint(&set))
    })
}

/// The lines of the shortest way from these nodes to where the line asks that does not set the counter.
fn round_without(
    chart: &Chart,
    facts: &Facts,
    line: TransitionId,
    from: &[Node],
    track: &Track<'_>,
) -> Option<Vec<TransitionId>> {
    let goals: BTreeSet<StateId> = facts.places.line(line).within.iter().copied().collect();
    let mut seen: Vec<Option<Option<Node>>> = vec![None; facts.moves.nodes()];
    let mut open: VecDeque<(Node, Option<Node>)> = from.iter().map(|n| (*n, None)).collect();
    let starts: BTreeSet<usize> = from.iter().map(|n| facts.moves.place(*n)).collect();
    while let Some((node, before)) = open.pop_front() {
        let place = facts.moves.place(node);
        // Where it begins in what it looks for, it has to come back there.
        let first = before.is_none();
        let back = before.is_some() && starts.contains(&place);
        if seen[place].is_some() && !(back && seen[place] == Some(None)) {
            continue;
        }
        let goal = matches!(node, Node::Active(s) if goals.contains(&s));
        let arrives = goal && (!first || !starts.contains(&place));
        if arrives {
            let mut lines = Vec::new();
            let mut at = before;
            while let Some(node) = at {
                if let Node::Line(id) = node {
                    lines.push(id);
                }
                at = seen[facts.moves.place(node)].flatten();
            }
            lines.reverse();
            return Some(lines);
        }
        seen[place] = Some(before);
        let open_to_all = match node {
            Node::Line(id) => is_alone(chart, chart.transition(id)) && id != line,
            Node::Active(_) | Node::Entered(_) | Node::Any(_) => true,
        };
        if open_to_all && !track.is_set_at(node) {
            // What goes on around all states leads from each to each.
            let inward = facts.moves.next(node).filter(|n| *n != Node::Active(StateId::at(0)));
            open.extend(inward.map(|next| (next, Some(node))));
        }
    }
    None
}
