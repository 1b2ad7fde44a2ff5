//! The part of a key that records the tool calls of models.
//!
//! Only streaks and the detection of loops read the arguments of a call, and they only compare them with those of earlier calls. So tools
//! that belong to the same sets are interchangeable, and so are the values of their arguments. A key numbers both in the order of their
//! first occurrence: the open calls `read("a")` and `read("b")` become the first tool with the values 0 and 1. One point then represents
//! all points with its key, and their number is its weight.

use super::bytes::Bytes;
use super::read::Read;
use super::relevant::Relevant;
use super::slot::Slot;
use super::values::tried;
use chartc_core::arena::{ToolId, ToolSetId};
use chartc_core::expr::Value;
use chartc_core::interpreter::Facts;
use chartc_core::interpreter::{Call, Calls};
use chartc_core::machine::LOOP;
use chartc_core::model::{Chart, Field, StepKind, StreakOf};
use chartc_core::program::Caller;

/// The maximum number of tools of a chart whose tools are interchangeable. If there are more, each is distinguished.
const MOST: usize = 64;

/// The way in which the keys of a chart record calls.
pub(super) struct Called<'c> {
    /// By tool: the first of the tools that are interchangeable with it, and the number of these.
    groups: Vec<(u32, usize)>,
    /// By tool, and by argument: whether a streak reads the argument.
    read: Vec<Vec<bool>>,
    /// The number of values that are tried for arguments, if only the equality of arguments matters.
    values: Option<usize>,
    /// How exactly `streak(tool)` matters.
    streak: &'c Read,
    /// For each `streak` of an argument: how exactly it matters, and by tool, the index of the argument.
    streaks: Vec<(&'c Read, Vec<Option<usize>>)>,
    /// Whether keys need the last call and how often it was repeated, because equal calls in succession raise an error or are read.
    loops: bool,
}

/// The tools and values that a key contains so far, in the order of their first occurrence.
#[derive(Default)]
pub(super) struct Met<'m> {
    tools: Vec<ToolId>,
    values: Vec<&'m Value>,
}

impl<'c> Called<'c> {
    /// Without `is_blind`, keys distinguish all tools and values.
    pub(super) fn new(chart: &'c Chart, relevant: &'c Relevant<'c>, is_blind: bool) -> Self {
        let counters = &relevant.counters;
        let is_blind = is_blind && !counters.repeated;
        let place = |set: &ToolSetId, name: &str| {
            let mut places = vec![None; chart.tools.len()];
            for tool in chart.tools_of(*set) {
                let params = &chart.tools[tool.index()].params;
                places[tool.index()] = params.iter().position(|param| param.name == name);
            }
            places
        };
        let streaks = counters.streaks.iter().filter_map(|(of, read)| match of {
            StreakOf::Argument(set, name) => Some((read, place(set, name))),
            StreakOf::Tool => None,
        });
        let ids = (0..chart.tools.len()).map(ToolId::at);
        let is_read = |tool: ToolId| {
            let count = chart.tools[tool.index()].params.len() as u32;
            (0..count).map(|nth| relevant.slots.contains(&Slot::Passed(tool, nth))).collect()
        };
        let read: Vec<Vec<bool>> = ids.map(is_read).collect();
        Self {
            groups: groups(chart, relevant, is_blind),
            values: values(chart, relevant, &read).filter(|_| is_blind),
            read,
            streak: &counters.streak,
            streaks: streaks.collect(),
            loops: counters.loops || counters.repeated,
        }
    }

    /// Writes a tool: its group, and its number among the tools of the group that have occurred.
    pub(super) fn tool(&self, to: &mut Bytes, met: &mut Met<'_>, tool: ToolId) {
        let (group, count) = self.groups[tool.index()];
        to.number(u64::from(group));
        if count > 1 {
            let mut alike = met.tools.iter().filter(|t| self.groups[t.index()].0 == group);
            let nth = alike.position(|other| *other == tool);
            to.number(nth.unwrap_or_else(|| {
                met.tools.push(tool);
                met.tools.iter().filter(|t| self.groups[t.index()].0 == group).count() - 1
            }) as u64);
        }
    }

    /// The number of points that this key represents: one for each choice of interchangeable tools and values.
    pub(super) fn weight(&self, met: &Met<'_>) -> usize {
        // The first tool of a group is any of its tools, the second any of the others, and so on.
        let nth = |nth: usize, tool: &ToolId| {
            let (group, count) = self.groups[tool.index()];
            let before = met.tools[..nth].iter().filter(|t| self.groups[t.index()].0 == group);
            count - before.count()
        };
        let tools = met.tools.iter().enumerate().map(|(i, tool)| nth(i, tool));
        let most = self.values.unwrap_or_default();
        let values = (0..met.values.len()).map(|i| most.saturating_sub(i).max(1));
        tools.chain(values).fold(1, usize::saturating_mul)
    }

    /// Writes the value of an argument: itself, or its number among those that have occurred.
    fn value<'m>(&self, to: &mut Bytes, met: &mut Met<'m>, value: &'m Value) {
        if self.values.is_none() {
            return to.value(value);
        }
        let nth = met.values.iter().position(|other| *other == value);
        to.number(nth.unwrap_or_else(|| {
            met.values.push(value);
            met.values.len() - 1
        }) as u64);
    }

    /// Writes the calls under way, and what is read of those that have ended.
    pub(super) fn key<'m>(
        &self,
        to: &mut Bytes,
        met: &mut Met<'m>,
        facts: &Facts<'m>,
        most: &impl Fn(&Read) -> Option<i64>,
    ) {
        if *self.streak == Read::Never && self.streaks.is_empty() && !self.loops {
            return;
        }
        for (caller, call) in facts.calls.opened() {
            to.number(match caller {
                Caller::Question(leaf) => u64::from(leaf.0) << 1,
                Caller::Step(step) => u64::from(step.0) << 1 | 1,
            });
            self.tool(to, met, call.tool);
            let read = &self.read[call.tool.index()];
            for (value, _) in call.arguments.iter().zip(read).filter(|(_, is_read)| **is_read) {
                self.value(to, met, value);
            }
        }
        to.mark();
        let sure = |read: &Read, n: i64| match read {
            Read::UpTo(_) => most(read).map_or(n, |most| n.min(most)),
            Read::Never => 0,
            Read::Exactly => n,
        };
        if *self.streak != Read::Never {
            match facts.calls.ended().last() {
                Some((last, _)) => self.tool(to, met, last.tool),
                None => to.mark(),
            }
            to.number(sure(self.streak, facts.calls.streak()) as u64);
        }
        if self.loops {
            match facts.calls.ended().last() {
                Some((last, times)) => {
                    self.tool(to, met, last.tool);
                    last.arguments.iter().for_each(|value| self.value(to, met, value));
                    to.number(u64::from(times % LOOP));
                }
                None => to.mark(),
            }
        }
        for (read, places) in &self.streaks {
            let (last, count) = streak(facts.calls, places);
            to.number(sure(read, count) as u64);
            match last {
                Some(value) => self.value(to, met, value),
                None => to.mark(),
            }
        }
    }
}

/// The argument of the last call, and the number of calls in a row that had the same one.
fn streak<'m>(calls: &'m Calls, places: &[Option<usize>]) -> (Option<&'m Value>, i64) {
    let value = |call: &'m Call| call.arguments.get(places[call.tool.index()]?);
    let (mut last, mut count) = (None, 0);
    for (call, times) in calls.ended() {
        let value = value(call);
        count = if value.is_some() && value == last { count } else { 0 };
        count += if value.is_some() { i64::from(times) } else { 0 };
        last = value;
    }
    (last, count)
}

/// By tool: the first of the tools that are interchangeable with it, and the number of these.
fn groups(chart: &Chart, relevant: &Relevant<'_>, is_blind: bool) -> Vec<(u32, usize)> {
    let count = chart.tools.len();
    let mut groups: Vec<(u32, usize)> = (0..count).map(|i| (i as u32, 1)).collect();
    if !is_blind || count > MOST {
        return groups;
    }
    let sets: Vec<Vec<ToolId>> =
        (0..chart.tool_sets.len()).map(|i| chart.tools_of(ToolSetId::at(i))).collect();
    // A tool whose result is read, or that the chart itself calls, can be told apart from others.
    let is_told = |tool: ToolId| {
        relevant.slots.contains(&Slot::Result(tool))
            || chart.steps.iter().any(|step| matches!(step.kind, StepKind::Call(t, _) if t == tool))
    };
    let is_same = |(a, b): (&Field, &Field)| a.name == b.name && a.ty == b.ty;
    let is_alike = |a: ToolId, b: ToolId| {
        let (one, other) = (&chart.tools[a.index()], &chart.tools[b.index()]);
        one.result == other.result
            && one.params.len() == other.params.len()
            && one.params.iter().zip(&other.params).all(is_same)
            && sets.iter().all(|set| set.contains(&a) == set.contains(&b))
    };
    let ids: Vec<ToolId> = (0..count).map(ToolId::at).filter(|tool| !is_told(*tool)).collect();
    for (nth, tool) in ids.iter().enumerate() {
        if let Some(first) = ids[..nth].iter().find(|first| is_alike(**first, *tool)) {
            groups[tool.index()].0 = first.0;
            groups[first.index()].1 += 1;
        }
    }
    for tool in 0..count {
        groups[tool].1 = groups[groups[tool].0 as usize].1;
    }
    groups
}

/// The number of values that are tried for the arguments that are read. `None` if their types differ: only values of one type are
/// interchangeable.
fn values(chart: &Chart, relevant: &Relevant<'_>, read: &[Vec<bool>]) -> Option<usize> {
    let slots = |(i, read): (usize, &Vec<bool>)| {
        let places: Vec<u32> = (0..read.len() as u32).filter(|nth| read[*nth as usize]).collect();
        places.into_iter().map(move |nth| (ToolId::at(i), nth))
    };
    let mut slots = read.iter().enumerate().flat_map(slots);
    let ty = |(tool, nth): (ToolId, u32)| &chart.tools[tool.index()].params[nth as usize].ty;
    let first = slots.next()?;
    let is_one = slots.all(|slot| ty(slot) == ty(first));
    is_one.then(|| tried(chart, relevant, Slot::Passed(first.0, first.1)).values.len())
}
