//! The keys of points: if points of runs have the same key, the same inputs continue both in the same way.
//!
//! **The problem.** The search ends only if it recognizes points. But the state of a machine never repeats: the clock goes on, counters
//! grow, and texts differ.
//!
//! **The idea.** A key is written from what the machine keeps: the configuration, histories, counters, the walk, open steps, deadlines and
//! data (`Keys::key`). What decides nothing is omitted, and numbers are cut off where larger ones make no difference (`relevant` knows
//! both). A single deadline is either due or not; only if several are pending, their remaining times are in the key, and the caller learns
//! that they race.
//!
//! The models' tool calls are compared with each other only. So keys number interchangeable tools and values in the order of their first
//! occurrence (`Called`), and one point represents several; their number is its weight.
//!
//! Keys are bytes (`Bytes`), so that they can be compared and hashed at once.
//!
//! **Example.** In the example of [`super`], the key of a point is "not ended; `work` is active; `tries` is 0, 1, or at least 2", and
//! nothing else. If a prompt showed a variable `note`, keys would still omit it. If the chart had `when tries == 5`, keys would distinguish
//! `tries` up to 6.

use super::moves::AbstractLimits;
use super::relevant::{Read, Relevant, Slot};
use super::values::tried;
use super::watched::watched;
use chartc_core::arena::{StateId, StepId, ToolId, ToolSetId, VarId};
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::{Call, Calls, Facts, Interpreter};
use chartc_core::machine::{LOOP, StepKey};
use chartc_core::model::{Chart, Field, Limits, StepKind, StreakOf, Subject, VariableKind};
use chartc_core::program::Caller;
use chartc_core::store::bits;
use chartc_core::tables::TriggerRow;

/// The quantities that keys count although they decide no moves, because the goal of the search is about them.
#[derive(Debug, Clone, Default)]
pub(super) struct Counting {
    /// The number of turns, cut off at this number.
    pub(super) turns: Option<u32>,
    /// The number of model calls, cut off at this number.
    pub(super) calls: Option<u32>,
}

/// Writes the keys of the points of one chart.
pub(super) struct Keys<'c> {
    chart: &'c Chart,
    relevant: &'c Relevant<'c>,
    pub(super) counting: Counting,
    /// The deadlines in time; and the deadlines in turns, each with the state whose turns it counts.
    timed: Vec<usize>,
    turned: Vec<(usize, StateId)>,
    /// The states with limits: whether keys have the counter of calls, and that of turns.
    limited: Vec<(StateId, bool, bool)>,
    /// By state: whether the turns in it are counted; and whether those since its entry are.
    counted_in: Vec<bool>,
    counted_here: Vec<bool>,
    /// By variable, and by step: whether its value or answer decides moves.
    decides: Vec<bool>,
    answers: Vec<bool>,
    called: Called<'c>,
}

impl<'c> Keys<'c> {
    /// Prepares the keys. With `is_blind`, points are the same even if they differ in which of several interchangeable tools was called, or
    /// in its arguments.
    pub(super) fn new(
        chart: &'c Chart,
        relevant: &'c Relevant<'c>,
        tables: &chartc_core::tables::Tables,
        limits: &AbstractLimits,
        is_blind: bool,
    ) -> Self {
        let (mut timed, mut turned) = (Vec::new(), Vec::new());
        for row in &tables.transitions {
            let Some(slot) = row.trigger.deadline() else { continue };
            if matches!(row.trigger, TriggerRow::AfterTurns(_)) {
                turned.push((slot as usize, row.source));
            } else {
                timed.push(slot as usize);
            }
        }
        let limited = |s: &StateId| chart.state(*s).limits != Limits::default();
        let kept = |s: StateId| {
            let (calls, turns) = limits.omits(s);
            (s, !calls, !turns)
        };
        let limited: Vec<_> = chart.state_ids().filter(limited).map(kept).collect();
        let mut counted_in = vec![false; chart.states.len()];
        let bounded = limited.iter().filter(|(.., turns)| *turns).map(|(state, ..)| *state);
        for state in bounded.chain(relevant.counters.turns_in.keys().copied()) {
            counted_in[state.index()] = true;
        }
        let mut counted_here = relevant.leaves.turns.clone();
        for (_, state) in &turned {
            counted_here[state.index()] = true;
        }
        Self {
            chart,
            relevant,
            counting: Counting::default(),
            timed,
            turned,
            limited,
            counted_in,
            counted_here,
            decides: (0..chart.variables.len())
                .map(|i| relevant.slots.contains(&Slot::Variable(VarId::at(i))))
                .collect(),
            answers: (0..chart.steps.len())
                .map(|i| relevant.slots.contains(&Slot::Answer(StepId::at(i))))
                .collect(),
            called: Called::new(chart, relevant, is_blind),
        }
    }

    /// Writes the key of the machine's point. Returns whether deadlines race at the point, and how many points it represents.
    pub(super) fn key<H: Host>(&self, machine: &Interpreter<H>, to: &mut Bytes) -> (bool, usize) {
        to.0.clear();
        let at = machine.standing();
        let facts = machine.facts();
        // Nothing follows the end of a run, so all ends with one status are one point.
        if let Some(status) = machine.ended() {
            to.number(1 + status as u64);
            to.count(at.turns, self.counting.turns);
            to.count(at.cells.counts(StateId(0)).calls, self.counting.calls);
            return (false, 1);
        }
        to.number(0);
        to.bits(at.cells.configuration);
        to.bits(at.cells.history);
        to.number(u64::from(at.dead));
        to.count(at.turns, self.counting.turns);
        to.count(at.cells.counts(StateId(0)).calls, self.counting.calls);
        let param = |id: VarId| facts.variables.get(id.index()).cloned().flatten();
        let Relevant { counters, leaves: here, .. } = self.relevant;
        // Numbers from `most` on give all comparisons the same results.
        let upto = |n: u64, read: &Read| match read {
            Read::Never => None,
            Read::Exactly => Some(n),
            Read::UpTo(bounds) => {
                let mut most = 0;
                for bound in bounds {
                    let Some(bound) = bound.above(&param) else { return Some(n) };
                    most = most.max(u64::try_from(bound).unwrap_or(0));
                }
                Some(n.min(most))
            }
        };
        to.optional(upto(u64::from(at.turns), &counters.turns));
        for state in bits::iter(at.cells.configuration) {
            let row = at.cells.counts(StateId::at(state));
            if here.turns[state] {
                to.optional(upto(u64::from(row.turns_here), &counters.turns_here));
            }
            if here.fails[state] {
                to.optional(upto(u64::from(row.fails_here), &counters.fails_here));
            }
        }
        for (state, read) in &counters.turns_in {
            to.optional(upto(u64::from(at.cells.counts(*state).turns_in), read));
        }
        for (state, calls, turns) in &self.limited {
            let limits = &self.chart.state(*state).limits;
            let row = at.cells.counts(*state);
            let bound = |a: Option<i64>, b: Option<i64>| {
                a.into_iter().chain(b).max().map(|n| u32::try_from(n).unwrap_or(u32::MAX))
            };
            // Distinguishes a counter at its bound from one beyond it.
            let most = |n: Option<u32>| n.map(|n| n.saturating_add(1));
            if *calls {
                to.count(row.calls, most(bound(limits.calls, limits.calls_warn)));
            }
            if *turns {
                to.count(row.turns_in, most(bound(limits.turns, limits.turns_warn)));
            }
        }
        if at.walking {
            to.number(1 + u64::from(at.stopped));
            for walk in at.cells.walks {
                let marks = [walk.spent, walk.turn_taken].map(u64::from);
                to.number(walk.stage as u64 + 3 * marks[0] + 6 * marks[1]);
                to.number(u64::from(walk.cursor));
                to.number(u64::from(walk.leaf));
                to.number(u64::from(walk.calls));
                to.number(walk.at.map_or(0, |step| 1 + u64::from(step.0)));
            }
            to.bits_of(at.cells.touched, &self.counted_in);
            to.bits_of(at.cells.unbroken, &self.counted_here);
        } else {
            to.number(0);
        }
        let key = |to: &mut Bytes, key: &StepKey| {
            to.number(u64::from(key.step.0));
            to.number(u64::from(key.leaf.0));
            // Further failures after the last retry make no difference.
            let retries = self.chart.steps[key.step.index()].failure.retry.times;
            to.number(u64::from(key.attempt.min(retries.saturating_add(1))));
        };
        let mut met = Met::default();
        for question in at.questions {
            key(to, &question.key);
            to.number(question.calling.map_or(0, |(choice, _)| 1 + u64::from(choice.0)));
            if let Some((_, tool)) = question.calling {
                self.called.tool(to, &mut met, tool);
            }
        }
        to.mark();
        for (step, register) in at.cells.steps.iter().enumerate() {
            let has = [register.pending.is_some(), register.called > 0, register.due];
            if has == [false; 3] {
                continue;
            }
            // Without them, what one step has could be read as what another has.
            to.number(step as u64);
            for part in has {
                to.number(u64::from(part));
            }
            if let Some(pending) = &register.pending {
                key(to, pending);
            }
            if register.called > 0 {
                to.number(u64::from(register.called));
                match register.calling {
                    Some(tool) => self.called.tool(to, &mut met, tool),
                    None => to.mark(),
                }
            }
        }
        to.mark();
        let races = self.time(to, machine);
        self.data(to, &mut met, machine);
        (races, self.called.weight(&met))
    }

    /// The values of the vars that decide moves, for reports.
    pub(super) fn values<H: Host>(&self, machine: &Interpreter<H>) -> Vec<(VarId, Value)> {
        let rows = self.chart.variables.iter().zip(machine.facts().variables).enumerate();
        rows.filter_map(|(i, (row, value))| {
            let id = VarId::at(i);
            let is_var = matches!(row.kind, VariableKind::Var { .. });
            let decides = is_var && self.decides[i];
            decides.then(|| value.clone().map(|value| (id, value))).flatten()
        })
        .collect()
    }

    /// Writes the deadlines that are pending. Returns whether their order depends on how long the host waits.
    fn time<H: Host>(&self, to: &mut Bytes, machine: &Interpreter<H>) -> bool {
        let at = machine.standing();
        let mut waiting = Vec::new();
        for slot in &self.timed {
            let due = at.cells.deadlines[*slot];
            if due != u64::MAX {
                to.number(*slot as u64);
                waiting.push(due.saturating_sub(at.now));
            }
        }
        to.mark();
        let facts = machine.facts();
        for sent in at.sends {
            to.number(u64::from(sent.event.0));
            to.number(sent.id.map_or(0, |id| 1 + u64::from(id.0)));
            to.text(&format!("{:?}", sent.to));
            // A deferred event has no time.
            to.number(u64::from(sent.is_deferred()));
            waiting.extend((!sent.is_deferred()).then(|| sent.due.saturating_sub(at.now)));
            let payload = facts.sent.get(sent.slot as usize);
            for (nth, value) in payload.into_iter().flatten().enumerate() {
                if self.relevant.slots.contains(&Slot::Field(sent.event, nth as u32)) {
                    to.value(value);
                }
            }
        }
        to.mark();
        let tables = machine.tables();
        for (state, ..) in &self.limited {
            let limits = &self.chart.state(*state).limits;
            if !machine.is_active(*state) {
                continue;
            }
            for bound in [limits.time_warn, limits.time].into_iter().flatten() {
                let due = at.cells.entered_at(*state, tables).saturating_add(bound);
                if due > at.now {
                    to.number(u64::from(state.0));
                    waiting.push(due - at.now);
                }
            }
        }
        to.mark();
        // A single deadline is due before or after whatever the host does, so the remaining time does not matter.
        let races = waiting.len() > 1;
        for left in waiting {
            to.number(if races { left } else { u64::from(left > 0) });
        }
        for (slot, state) in &self.turned {
            let bound = at.cells.deadlines[*slot];
            if bound != u64::MAX {
                let here = u64::from(at.cells.counts(*state).turns_here);
                to.number(*slot as u64);
                to.number(bound.saturating_sub(here));
            }
        }
        to.mark();
        races
    }

    /// Writes the variables and answers that decide moves.
    fn data<'m, H: Host>(&self, to: &mut Bytes, met: &mut Met<'m>, machine: &'m Interpreter<H>) {
        let facts = machine.facts();
        let param = |id: VarId| facts.variables.get(id.index()).cloned().flatten();
        for (i, (row, value)) in self.chart.variables.iter().zip(facts.variables).enumerate() {
            if !self.decides[i] {
                continue;
            }
            let Some(value) = value else {
                to.mark();
                continue;
            };
            let counted = &self.relevant.variables[i];
            let is_var = matches!(row.kind, VariableKind::Var { .. });
            match value {
                // A variable that only grows is cut off above all numbers with which it is compared.
                Value::Int(n) if is_var && !counted.is_opaque && counted.up && !counted.down => {
                    let mut bounds = counted.bounds.iter().map(|bound| bound.above(&param));
                    let most = bounds.try_fold(i64::MIN, |most, b| Some(most.max(b?)));
                    to.number(most.map_or(*n, |most| (*n).min(most)) as u64);
                }
                Value::Int(n) if is_var && !counted.is_opaque && counted.down && !counted.up => {
                    let mut bounds = counted.bounds.iter().map(|bound| bound.below(&param));
                    let least = bounds.try_fold(i64::MAX, |least, b| Some(least.min(b?)));
                    to.number(least.map_or(*n, |least| (*n).max(least)) as u64);
                }
                _ => to.value(value),
            }
        }
        to.mark();
        for (i, answer) in facts.answers.iter().enumerate() {
            if let Some(answer) = answer
                && self.answers[i]
            {
                to.number(i as u64);
                to.value(answer);
            }
        }
        to.mark();
        let counters = &self.relevant.counters;
        if counters.last_result {
            to.text(&facts.last_result.text);
        }
        if counters.last_failed {
            to.mark();
            to.number(u64::from(facts.last_result.failed));
        }
        let most = |read: &Read| match read {
            Read::UpTo(bounds) => {
                bounds.iter().try_fold(0, |most: i64, bound| Some(most.max(bound.above(&param)?)))
            }
            Read::Never | Read::Exactly => None,
        };
        self.called.key(to, met, &facts, &most);
    }
}

// The encoding of keys as bytes.

/// A sequence of numbers, texts and separators. Different sequences have different encodings, so that equal bytes mean equal keys.
#[derive(Debug, Default)]
pub(super) struct Bytes(pub(super) Vec<u8>);

impl Bytes {
    /// A number, seven bits a byte, the lowest first. The last byte is less than 0x7f, so that 0x7f can separate.
    pub(super) fn number(&mut self, mut n: u64) {
        while n >= 0x7f {
            self.0.push(0x80 | (n & 0x7f) as u8);
            n >>= 7;
        }
        self.0.push(n as u8);
    }

    /// A separator: a byte that occurs in no number.
    pub(super) fn mark(&mut self) {
        self.0.push(0x7f);
    }

    /// A number, or nothing.
    pub(super) fn optional(&mut self, n: Option<u64>) {
        if let Some(n) = n {
            self.number(n);
        }
    }

    /// A counter, cut off at `most`; nothing if that is `None`.
    pub(super) fn count(&mut self, n: u32, most: Option<u32>) {
        self.optional(most.map(|most| u64::from(n.min(most))));
    }

    /// The indices in a set.
    pub(super) fn bits(&mut self, set: &[u64]) {
        for bit in bits::iter(set) {
            self.number(bit as u64);
        }
        self.mark();
    }

    /// The indices in a set for which `counts` is true.
    pub(super) fn bits_of(&mut self, set: &[u64], counts: &[bool]) {
        for bit in bits::iter(set).filter(|bit| counts[*bit]) {
            self.number(bit as u64);
        }
        self.mark();
    }

    /// A text, after its length in bytes.
    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.0.extend(text.as_bytes());
    }

    /// A value, after a number for its type.
    pub(super) fn value(&mut self, value: &Value) {
        match value {
            Value::None => self.number(0),
            Value::Bool(value) => self.number(1 + u64::from(*value)),
            Value::Int(n) => {
                self.number(3);
                self.number(*n as u64);
            }
            Value::Float(x) => {
                self.number(4);
                self.number(x.to_bits());
            }
            Value::Text(text) => {
                self.number(5);
                self.text(text);
            }
            Value::Duration(n) => {
                self.number(6);
                self.number(*n);
            }
            Value::List(items) => {
                self.number(7);
                self.number(items.len() as u64);
                for item in items {
                    self.value(item);
                }
            }
            Value::Map(map) => {
                self.number(8);
                self.number(map.len() as u64);
                for (key, value) in map.iter() {
                    self.text(key);
                    self.value(value);
                }
            }
        }
    }
}

// The part of a key that records the tool calls of models.
//
// Only streaks and the detection of loops read the arguments of a call, and they only compare them with those of earlier calls. So tools
// that belong to the same sets are interchangeable, and so are the values of their arguments. A key numbers both in the order of their
// first occurrence: the open calls `read("a")` and `read("b")` become the first tool with the values 0 and 1. One point then represents
// all points with its key, and their number is its weight.

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
    let watched = watched(chart);
    // A tool whose result is read, that the chart itself calls, or that a `check` line names can be told apart from others.
    let is_told = |tool: ToolId| {
        watched.iter().any(|row| *row.subject == Subject::Tool(tool))
            || relevant.slots.contains(&Slot::Result(tool))
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
