//! What is done to a chart, before it is known what the chart waits for: it becomes a step of a script while the chart runs.

use super::answers;
use super::driver::{self, Follower, Log, Script, Scripted, Step};
use super::random::{Random, value};
use chartc_core::arena::EventId;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Charge, Element, ErrorKind, Input, LimitKind, Record};
use chartc_core::model::{Chart, Function, FunctionKind, Type, VariableKind};
use chartc_core::plan::Plan;
use std::sync::Arc;

/// One thing to do; numbers choose among what there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Starts the machine, again if it runs.
    Start,
    /// A turn.
    Turn,
    /// The clock goes on by so many milliseconds.
    Wait(u32),
    /// The clock goes to the next deadline.
    Due,
    /// An event, with data made from the second number.
    Event(u8, u16),
    /// An answer to something that waits for one, of a kind made from the second number.
    Answer(u8, u16),
    /// A value for an input.
    Set(u8, u16),
}

/// Chooses acts as a busy host does: many answers, some events and turns.
pub(crate) fn acts(random: &mut Random, length: usize) -> Vec<Act> {
    let mut out = Vec::new();
    for nth in 0..length {
        let (which, seed) = (random.number() as u8, random.number() as u16);
        out.push(match random.below(20) {
            0 if nth > 3 => Act::Set(which, seed),
            0..=2 if nth <= 3 => Act::Set(which, seed),
            _ if nth < 6 && random.one_in(3) => Act::Start,
            0..=5 => Act::Event(which, seed),
            6..=8 => Act::Turn,
            9 | 10 => Act::Wait(u32::from(seed) % 9000),
            11 => Act::Due,
            _ => Act::Answer(which, seed),
        });
    }
    out
}

/// Inputs that a run is given after its end.
pub(super) const AFTER_END: u32 = 3;

/// Macrosteps without end that a run may have: each is a thousand microsteps.
pub(super) const CIRCLES: u32 = 1;

/// The step that an act becomes.
pub(super) fn step(
    chart: &Arc<Chart>,
    act: Act,
    follower: &Follower,
    deadline: Option<u64>,
    now: &mut u64,
) -> Step {
    let one_of = |which: u8, n: usize| usize::from(which) % n.max(1);
    match act {
        Act::Start => Step::Give(*now, Input::Start),
        Act::Turn => Step::Give(*now, Input::Turn),
        Act::Wait(more) => {
            *now += u64::from(more);
            Step::Give(*now, Input::Tick)
        }
        Act::Due => {
            *now = deadline.filter(|d| d.saturating_sub(*now) < 1 << 40).unwrap_or(*now).max(*now);
            Step::Give(*now, Input::Tick)
        }
        Act::Event(..) if chart.events.is_empty() => Step::Give(*now, Input::Turn),
        Act::Event(which, seed) => {
            let mut random = Random::new(u64::from(seed));
            // Mostly one that some line may take.
            let id = match follower.enabled.as_slice() {
                enabled @ [_, ..] if !random.one_in(4) => {
                    enabled[one_of(which, enabled.len())].index()
                }
                _ => one_of(which, chart.events.len()),
            };
            let fields = chart.events[id].fields.iter();
            let mut payload: Vec<_> = fields.map(|f| value(&mut random, chart, &f.ty, 3)).collect();
            if random.one_in(30) {
                payload.pop();
            }
            *now += random.number() % 50;
            Step::Give(*now, Input::Event(EventId::at(id), payload))
        }
        Act::Answer(..) if follower.open.is_empty() => Step::Give(*now, Input::Turn),
        Act::Answer(which, seed) => {
            let open = &follower.open[one_of(which, follower.open.len())];
            let mut random = Random::new(u64::from(seed));
            let mut key = open.key;
            if random.one_in(25) {
                key.attempt += 1;
            }
            if random.one_in(25) {
                key.element = if key.element.is_some() { None } else { Some(Element::at(0)) };
            }
            if random.one_in(20) {
                let kinds = [LimitKind::Tokens, LimitKind::Cost];
                return Step::Give(*now, Input::Exhausted(key, kinds[random.below(2)]));
            }
            if random.one_in(20) {
                return Step::Give(*now, Input::Unmade(key));
            }
            if random.one_in(6) {
                let (tokens, cost) = (random.below(400) as u64, random.below(400_000) as u64);
                return Step::Give(*now, Input::Charge(key, Charge { tokens, cost }));
            }
            let offers = open.offers.clone();
            let open = answers::Open { key: open.key, tool: open.tool, offers };
            Step::Give(*now, Input::Answer(key, answers::outcome(chart, &mut random, &open)))
        }
        Act::Set(which, seed) => {
            let inputs: Vec<_> =
                chart.variables.iter().filter(|v| v.kind == VariableKind::Input).collect();
            let Some(row) = inputs.get(one_of(which, inputs.len())) else {
                return Step::Give(*now, Input::Tick);
            };
            let mut random = Random::new(u64::from(seed));
            let ty = if random.one_in(12) { &Type::Json } else { &row.ty };
            Step::Set(row.name.clone(), value(&mut random, chart, ty, 3))
        }
    }
}

/// A script without steps: values for the params that need one and for the host's functions.
pub(crate) fn prepared(label: &str, chart: &Arc<Chart>, random: &mut Random) -> Script {
    let params = chart.variables.iter().filter(|row| row.default.is_none());
    let params = params.filter(|row| matches!(row.kind, VariableKind::Param { .. }));
    let params: Vec<_> =
        params.map(|row| (row.name.clone(), value(random, chart, &row.ty, 3))).collect();
    let mut answers = |row: &Function| match &row.kind {
        FunctionKind::Pure { result, .. } => {
            (0..8).map(|_| value(random, chart, result, 3)).collect()
        }
        FunctionKind::Effect => Vec::new(),
    };
    let answers = chart.functions.iter().map(|row| (row.name.clone(), answers(row))).collect();
    Script { chart: label.to_owned(), kin: false, params, answers, steps: Vec::new() }
}

/// A step that was just taken.
pub(crate) struct Moment<'m> {
    /// The machine behind it.
    pub(crate) machine: &'m Interpreter<Scripted>,
    /// Who followed it, as before the step.
    pub(crate) before: &'m Follower,
    /// The step.
    pub(crate) step: &'m Step,
    /// What came of it.
    pub(crate) shown: &'m str,
    /// What was told during it.
    pub(crate) log: &'m Log,
}

/// Runs acts in the interpreter, and calls `beside` after each: the script that they became, and what came of it.
///
/// # Errors
/// That of `beside`.
pub(crate) fn play(
    plan: &Plan,
    mut script: Script,
    acts: &[Act],
    beside: &mut dyn FnMut(Moment<'_>) -> Result<(), String>,
) -> Result<(Script, String), String> {
    let host = Scripted::of(&script);
    let Ok(mut machine) = Interpreter::new(plan, host.clone(), script.params.clone()) else {
        return Ok((script, driver::UNMADE.to_owned()));
    };
    let mut follower = Follower::default();
    let mut out = driver::fixed(&machine);
    let mut now = 0;
    let (mut after_end, mut circles) = (0, 0);
    for act in acts {
        after_end += u32::from(machine.ended().is_some());
        if after_end > AFTER_END || circles > CIRCLES {
            break;
        }
        let deadline = machine.next_deadline();
        let step = step(plan.chart(), *act, &follower, deadline, &mut now);
        let before = follower.clone();
        let shown = follower.step(&mut machine, &host, &step);
        out += &shown;
        let log = &follower.log;
        circles += u32::from(log.records.contains(&Record::Error(ErrorKind::Livelock)));
        beside(Moment { machine: &machine, before: &before, step: &step, shown: &shown, log })?;
        script.steps.push(step);
    }
    Ok((script, out))
}
