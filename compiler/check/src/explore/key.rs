//! The keys of points: if points of runs have the same key, the same inputs continue both in the same way.
//!
//! A key is written from what the machine keeps: the configuration, histories, counters, the walk, open steps, deadlines and data. What
//! decides nothing is omitted, and numbers are cut off where larger ones make no difference. In the example of [`super`], the key of a
//! point is "not ended; `work` is active; `tries` is 0, 1, or at least 2", and nothing else.

use super::abstract_limits::AbstractLimits;
use super::bytes::Bytes;
use super::called::{Called, Met};
use super::read::Read;
use super::relevant::Relevant;
use super::slot::Slot;
use chartc_core::arena::{StateId, StepId, VarId};
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::StepKey;
use chartc_core::model::{Chart, Limits, VariableKind};
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
        tables: &chartc_core::tables::Tables<'_>,
        limits: &AbstractLimits,
        is_blind: bool,
    ) -> Self {
        let (mut timed, mut turned) = (Vec::new(), Vec::new());
        for row in tables.transitions {
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
    pub(super) fn key<H: Host>(
        &self,
        machine: &Interpreter<'_, H>,
        to: &mut Bytes,
    ) -> (bool, usize) {
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
            let retries = self.chart.steps[key.step.index()].failure.retries;
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
            if register.due {
                to.number(step as u64);
            }
        }
        to.mark();
        let races = self.time(to, machine);
        self.data(to, &mut met, machine);
        (races, self.called.weight(&met))
    }

    /// The values of the vars that decide moves, for reports.
    pub(super) fn values<H: Host>(&self, machine: &Interpreter<'_, H>) -> Vec<(VarId, Value)> {
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
    fn time<H: Host>(&self, to: &mut Bytes, machine: &Interpreter<'_, H>) -> bool {
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
            waiting.push(sent.due.saturating_sub(at.now));
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
    fn data<'m, H: Host>(
        &self,
        to: &mut Bytes,
        met: &mut Met<'m>,
        machine: &'m Interpreter<'_, H>,
    ) {
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
            to.text(facts.last_result);
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
