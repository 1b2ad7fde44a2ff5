//! The analyses are sound: random charts, run on random inputs, never do what their facts exclude.

mod broken;
mod costs;
mod data;
mod data_charts;
mod proofs;
pub(crate) mod random;
mod ranges;
pub(crate) mod recorder;
mod talks;

use crate::interpreter::Log;
use chartc::Compilation;
use chartc::load::Memory;
use chartc::span::Span;
use chartc_compiler::analysis::facts::reach::is_leaf;
use chartc_compiler::analysis::facts::reach::scope;
use chartc_compiler::analysis::facts::{Facts, cover, deadline, endless};
use chartc_compiler::analysis::turn::{calls, walk};
use chartc_core::arena::{ChoiceId, EventId, StateId, StepId, TransitionId};
use chartc_core::expr::Value;
use chartc_core::host::{Host, Machine};
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Effect, ErrorKind, Input, Loss, Outcome, Record, StepKey};
use chartc_core::model::{Chart, Status, Trigger};
use chartc_core::plan::Plan;
use random::Random;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::{cell::Cell, rc::Rc};

/// The number of generated charts; about two in three compile.
const CHARTS: u64 = 200;
/// The most records of an input that are examined.
const MOST_RECORDS: usize = 200;
/// The number of inputs for each chart.
const INPUTS: usize = 60;

/// A host whose only function returns a value set by the test, constant during one input: functions in conditions are pure.
#[derive(Default, Clone)]
struct Told(Rc<Cell<bool>>);

impl Host for Told {
    fn call(&mut self, _: &str, _: &[Value]) -> Result<Value, String> {
        Ok(Value::Bool(self.0.get()))
    }
}

/// The claims about a chart.
struct Claims {
    facts: Facts,
    shadowed: BTreeSet<TransitionId>,
    undriven: BTreeSet<StateId>,
    hidden: BTreeSet<StepId>,
    /// Steps whose states are always left before the walk reaches them.
    unreached: BTreeSet<StepId>,
    /// Options that no question offers.
    unoffered: BTreeSet<ChoiceId>,
    circles: BTreeSet<TransitionId>,
    traps: Vec<endless::Trap>,
    /// Transitions that exit and re-enter a parallel.
    resets: BTreeMap<TransitionId, StateId>,
    /// Transitions that exit and re-enter a state if it is active.
    restarts: BTreeMap<TransitionId, StateId>,
    /// By state: whether a transition may exit it while the run continues.
    left: Vec<bool>,
    unhandled: BTreeSet<EventId>,
    /// Lines whose conditions always hold.
    needless: BTreeSet<TransitionId>,
    /// Deadlines that never fire, unless the run was stopped as a livelock.
    late: BTreeSet<TransitionId>,
    /// By state: the states that lead to it.
    leads: Vec<Vec<bool>>,
    /// Rows of the table that no move needs.
    idle: Vec<usize>,
    /// Whether no run ends `ok` unless something fails.
    fails: bool,
}

impl Claims {
    fn of(done: &Compilation) -> Self {
        let (chart, map) = (done.charts[0].chart(), done.charts[0].map());
        let facts = Facts::new(chart);
        // The spans of the findings of one rule.
        let told = |name: &str| -> BTreeSet<Span> {
            let all = done.diagnostics.iter().chain(&done.silent);
            let all = all.filter(|found| found.rule.name == name);
            all.flat_map(|d| std::iter::once(d.span).chain(d.related.iter().map(|r| r.0))).collect()
        };
        let (unoffered, echoes) = (told("dead-option"), told("event-cycle"));
        let lines = || (0..chart.transitions.len()).map(TransitionId::at);
        Self {
            shadowed: cover::shadows(chart, &facts).0.iter().map(|s| s.transition).collect(),
            undriven: endless::undriven(chart, &facts).into_iter().collect(),
            hidden: calls::hidden(chart, &facts).into_iter().map(|h| h.step).collect(),
            unreached: walk::unreached(chart, &facts).iter().map(|u| u.step).collect(),
            unoffered: lines()
                .filter(|line| unoffered.contains(&map.transition(*line).trigger))
                .filter_map(|line| match chart.transition(line).trigger {
                    Trigger::Choice(choice) => Some(choice),
                    _ => None,
                })
                .collect(),
            circles: endless::livelocks(chart, &facts)
                .into_iter()
                // A cycle under several guards is not caused by any single one.
                .filter_map(|l| <[TransitionId; 1]>::try_from(l.given).ok())
                .flatten()
                .chain(lines().filter(|line| {
                    let spans = map.transition(*line);
                    echoes.contains(&spans.trigger) || echoes.contains(&spans.whole)
                }))
                .collect(),
            traps: endless::traps(chart, &facts),
            resets: deadline::resets(chart, &facts)
                .iter()
                .map(|r| (r.transition, r.parallel))
                .collect(),
            restarts: deadline::restarts(chart, &facts)
                .iter()
                .map(|r| (r.transition, r.state))
                .collect(),
            left: deadline::left(chart, &facts),
            unhandled: deadline::unhandled(chart, &facts).iter().map(|u| u.event).collect(),
            needless: needless(chart),
            late: deadline::dead(chart, &facts).iter().map(|d| d.transition).collect(),
            leads: chart.state_ids().map(|s| facts.moves.leads_to([s])).collect(),
            idle: (0..chart.permissions.len()).filter(|row| !facts.scopes.used[*row]).collect(),
            fails: !told("success-by-failure").is_empty(),
            facts,
        }
    }

    /// The first record that violates a claim.
    fn refuted(
        &self,
        chart: &Arc<Chart>,
        active: &[StateId],
        records: &[Record],
        stopped: bool,
    ) -> Option<String> {
        let leaves: Vec<StateId> = active.iter().copied().filter(|s| is_leaf(chart, *s)).collect();
        let mut active: BTreeSet<StateId> = active.iter().copied().collect();
        let started = active.clone();
        let livelock = records.contains(&Record::Error(ErrorKind::Livelock));
        let ended = records.iter().any(|r| matches!(r, Record::Ended(_)));
        for record in records.iter().take(MOST_RECORDS) {
            match record {
                Record::Entered(state) => {
                    active.insert(*state);
                    if !self.facts.reach.can_enter(*state) {
                        return Some(format!("entered {}", chart.state(*state).path));
                    }
                    for trap in &self.traps {
                        let inside =
                            |s: &StateId| trap.states.iter().any(|t| chart.contains(*t, *s));
                        let caught = active.iter().any(inside);
                        let out = chart.state(*state).parent == Some(StateId(0))
                            && !trap.states.iter().any(|t| chart.contains(*state, *t));
                        if caught && out && !active_only(chart, trap, *state, &active) {
                            return Some(format!("left a trap for {}", chart.state(*state).path));
                        }
                    }
                    let leads = &self.leads[state.index()];
                    if let Some(lost) = leaves.iter().find(|s| !leads[s.index()]) {
                        let (to, from) = (&chart.state(*state).path, &chart.state(*lost).path);
                        return Some(format!("{to} came after {from}"));
                    }
                }
                Record::Exited(state) => {
                    if self.undriven.contains(state) && !ended {
                        return Some(format!("left {}", chart.state(*state).path));
                    }
                    if !self.left[state.index()] && !ended {
                        return Some(format!("left {}", chart.state(*state).path));
                    }
                    active.remove(state);
                }
                Record::Taken(line) => {
                    if !self.facts.reach.can_take(*line) {
                        return Some(format!("took {line:?}"));
                    }
                    if self.shadowed.contains(line) {
                        return Some(format!("took the shadowed {line:?}"));
                    }
                    let again = self.restarts.get(line).filter(|s| started.contains(s));
                    if let Some(state) = self.resets.get(line).or(again)
                        && !records.contains(&Record::Exited(*state))
                    {
                        return Some(format!("took {line:?} and stayed in {state:?}"));
                    }
                    if self.idle.iter().any(|row| uses(chart, *row, *line, &started)) {
                        return Some(format!("{line:?} needs a row that was called idle"));
                    }
                    if self.late.contains(line) && !stopped {
                        return Some(format!("the deadline {line:?} came"));
                    }
                    if self.circles.contains(line) && !livelock {
                        return Some(format!("took {line:?} and came to rest"));
                    }
                }
                Record::Started(key) => {
                    if self.hidden.contains(&key.step) || self.unreached.contains(&key.step) {
                        return Some(format!("started {:?}", key.step));
                    }
                }
                Record::Event(event) | Record::Delivered(event) | Record::Recalled(event) => {
                    let refused = records.contains(&Record::Refused(*event))
                        || records.contains(&Record::Deferred(*event));
                    if self.unhandled.contains(event) && !refused {
                        return Some(format!("handled {event:?}"));
                    }
                }
                Record::Lost(line, Loss::Guard | Loss::Fault) if self.needless.contains(line) => {
                    return Some(format!("the condition of {line:?} did not hold"));
                }
                Record::Lost(..)
                | Record::Sent(..)
                | Record::SendCanceled(_)
                | Record::Posted(..)
                | Record::Undelivered(..)
                | Record::Turn(_)
                | Record::Refused(_)
                | Record::Deferred(_)
                | Record::Denied(_)
                | Record::Skipped(_)
                | Record::Done(_)
                | Record::Chosen(_)
                | Record::Unasked(_)
                | Record::Called(..)
                | Record::Returned(..)
                | Record::CallFailed(..)
                | Record::Forbidden(..)
                | Record::Retried(_)
                | Record::Failed(_)
                | Record::ElementDone(_)
                | Record::ElementLost(_)
                | Record::Fallback(..)
                | Record::Dropped(_)
                | Record::WalkEnded(_)
                | Record::Error(_)
                | Record::Warned(_)
                | Record::TurnEnded(_)
                | Record::Ended(_) => {}
            }
        }
        None
    }
}

/// Whether the transition makes the move that a permission permits.
fn uses(chart: &Arc<Chart>, row: usize, line: TransitionId, active: &BTreeSet<StateId>) -> bool {
    let (row, line) = (&chart.permissions[row], chart.transition(line));
    let moves = line.trigger.step().is_some() || matches!(line.trigger, Trigger::Choice(_));
    let leaves = row.from.is_none_or(|from| active.contains(&from));
    moves && leaves && line.targets.iter().any(|target| target.state == row.to)
}

/// Whether the record is a failure transition.
fn is_failure(chart: &Arc<Chart>, record: &Record) -> bool {
    let Record::Taken(line) = record else { return false };
    let trigger = &chart.transition(*line).trigger;
    matches!(trigger, Trigger::StepError(_) | Trigger::StepTimeout(..) | Trigger::StepElse(_))
}

/// Lines whose conditions always hold.
fn needless(chart: &Arc<Chart>) -> BTreeSet<TransitionId> {
    let lines = chart.transitions.iter().enumerate();
    let needless = lines.filter(|(_, line)| {
        line.guard.as_ref().is_some_and(|g| scope(chart, line).is_opened_by(chart, g))
    });
    needless.map(|(nth, _)| TransitionId::at(nth)).collect()
}

/// Whether the state contains every active state of the trap.
fn active_only(
    chart: &Arc<Chart>,
    trap: &endless::Trap,
    state: StateId,
    active: &BTreeSet<StateId>,
) -> bool {
    let held = active.iter().filter(|s| trap.states.iter().any(|t| chart.contains(*t, **s)));
    held.into_iter().all(|s| chart.contains(state, *s))
}

fn options(
    machine: &mut Interpreter<impl Host>,
    key: StepKey,
    random: &mut Random,
) -> Outcome<Vec<Value>> {
    let offers = machine.options(key);
    if offers.is_empty() || random.below(5) == 0 {
        return Outcome::Unusable;
    }
    Outcome::Choice(offers[random.below(offers.len())].choice, Vec::new())
}

/// Runs the chart and returns the first violation with the run that led to it.
fn play(chart: &Arc<Chart>, claims: &Claims, random: &mut Random) -> Option<String> {
    let plan = Plan::new(chart);
    let told = Told::default();
    let mut machine = Interpreter::new(&plan, told.clone(), []).expect("no params");
    let mut open: Vec<StepKey> = Vec::new();
    let mut now = 0;
    let (mut stopped, mut failed) = (false, false);
    let mut active: Vec<StateId> = Vec::new();
    for step in 0..INPUTS {
        for name in ["x", "y"] {
            let value = Value::Bool(random.below(2) == 0);
            machine.set_input(name, value).expect("a declared input");
        }
        machine.set_input("n", Value::Int(random.below(8) as i64)).expect("a declared input");
        told.0.set(random.below(2) == 0);
        let input = match (step, random.below(8)) {
            (0, _) => Input::Start,
            (_, 0 | 1) if !open.is_empty() => {
                let key = open.remove(random.below(open.len()));
                let ask = matches!(
                    chart.steps[key.step.index()].kind,
                    chartc_core::model::StepKind::Ask { .. }
                );
                let offers = if ask { machine.options(key) } else { Vec::new() };
                if let Some(offer) = offers.iter().find(|o| claims.unoffered.contains(&o.choice)) {
                    return Some(format!("offered {:?}", offer.choice));
                }
                let outcome = match random.below(6) {
                    0 => Outcome::Failed(vec![Value::Text("down".into())]),
                    _ if ask => options(&mut machine, key, random),
                    _ if machine.calls(key).is_some() => Outcome::Done(vec![Value::Bool(true)]),
                    _ if !machine.step_tools(key).is_empty() && random.below(3) > 0 => {
                        Outcome::Call(machine.step_tools(key)[0], Vec::new())
                    }
                    _ => Outcome::Done(vec![Value::Text("fine".into())]),
                };
                Input::Answer(key, outcome)
            }
            (_, 2 | 3) => Input::Turn,
            (_, 4) => {
                now += 4000;
                Input::Tick
            }
            _ => Input::Event(EventId::at(random.below(chart.events.len())), Vec::new()),
        };
        let shown = format!("{input:?}");
        let mut log = Log::default();
        if machine.handle(input, now, &mut log).is_err() {
            continue;
        }
        for effect in &log.effects {
            match effect {
                Effect::Start(key) | Effect::Ask(key) | Effect::Call(key, _) => open.push(*key),
                Effect::Cancel(key) => open.retain(|k| k != key),
                Effect::Ended(_) => {}
            }
        }
        stopped |= log.records.contains(&Record::Error(ErrorKind::Livelock));
        if let Some(fault) = claims.refuted(chart, &active, &log.records, stopped) {
            return Some(format!("{fault} on {shown}\n{:?}", log.records));
        }
        failed |= log.records.iter().any(|r| is_failure(chart, r));
        if claims.fails && !failed && log.records.contains(&Record::Ended(Status::Ok)) {
            return Some(format!("nothing failed, and it ended on {shown}\n{:?}", log.records));
        }
        active = chart.state_ids().filter(|s| machine.is_active(*s)).collect();
        if log.effects.iter().any(|e| matches!(e, Effect::Ended(_))) {
            break;
        }
    }
    None
}

#[test]
fn what_cannot_happen_does_not() {
    let (mut compiled, mut claimed) = (0, [0; 16]);
    for seed in test_support::project::seeds(CHARTS) {
        let mut random = Random::new(seed);
        let text = random::chart(&mut random);
        let done = chartc::check(&["a.chart".into()], &Memory::of("a.chart", &text));
        let Some(checked) = done.charts.first() else { continue };
        compiled += 1;
        let chart = checked.chart();
        let claims = Claims::of(&done);
        let counts = [
            claims.shadowed.len(),
            claims.undriven.len(),
            claims.hidden.len(),
            claims.circles.len(),
            claims.traps.len(),
            chart.state_ids().filter(|s| !claims.facts.reach.can_enter(*s)).count(),
            claims.resets.len(),
            claims.restarts.len(),
            claims.left.iter().filter(|l| !**l).count(),
            claims.unhandled.len(),
            claims.needless.len(),
            claims.late.len(),
            claims.unreached.len(),
            claims.unoffered.len(),
            claims.idle.len(),
            usize::from(claims.fails),
        ];
        claimed.iter_mut().zip(counts).for_each(|(all, n)| *all += n);
        for _ in 0..4 {
            if let Some(fault) = play(chart, &claims, &mut random) {
                panic!("seed {seed}: {fault}\n{text}");
            }
        }
    }
    assert!(compiled > CHARTS / 3, "only {compiled} charts compile");
    assert!(claimed.iter().all(|n| *n > 2), "too few claims of {compiled} charts: {claimed:?}");
}
