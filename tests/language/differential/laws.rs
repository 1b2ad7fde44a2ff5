//! What holds of every run of the interpreter.

use crate::batch::act::{Act, Moment, play, prepared};
use crate::batch::driver::{self, Scripted};
use crate::batch::interpreted;
use crate::batch::random::Random;
use chartc_core::arena::StateId;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::Record;
use chartc_core::model::Chart;
use chartc_core::plan::Plan;
use chartc_core::saved::Saved;
use chartc_core::semantics::{MICROSTEPS, is_legal};
use chartc_core::store::bits;
use std::sync::Arc;

/// How much happened in runs that kept all laws.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Happened {
    pub(super) inputs: usize,
    pub(super) taken: usize,
    pub(super) answers: usize,
    pub(super) ended: usize,
}

/// Runs the acts and gives the first law that does not hold.
pub(super) fn kept(chart: &Arc<Chart>, seed: u8, acts: &[Act]) -> Result<Happened, String> {
    let plan = Plan::new(chart);
    let script = prepared("r", chart, &mut Random::new(u64::from(seed)));
    let mut happened = Happened::default();
    let mut moves = Moves::new(&plan);
    let mut other: Option<Interpreter<Scripted>> = None;
    let host = Scripted::of(&script);
    let (script, text) = play(&plan, script, acts, &mut |moment| {
        happened.inputs += 1;
        happened.taken +=
            moment.log.records.iter().filter(|r| matches!(r, Record::Taken(_))).count();
        happened.ended +=
            moment.log.records.iter().filter(|r| matches!(r, Record::Ended(_))).count();
        happened.answers += usize::from(driver::is_answer(moment.step));
        moves.follow(&moment)?;
        if let Some(machine) = &mut other {
            let shown = moment.before.clone().step(machine, &host, moment.step);
            same("restored before the last input", moment.shown, &shown)?;
        }
        other = Some(restored(&plan, moment.machine, &host)?);
        Ok(())
    })?;
    let again = driver::read(&driver::write(&script)).unwrap_or_default();
    let again = again.first().ok_or("the script is not read")?;
    same("run again", &text, &interpreted(&plan, again))?;
    Ok(happened)
}

/// The machine, stopped, written down, read and gone on with.
fn restored(
    plan: &Plan,
    machine: &Interpreter<Scripted>,
    host: &Scripted,
) -> Result<Interpreter<Scripted>, String> {
    let json = serde_json::to_string(&machine.save()).map_err(|e| e.to_string())?;
    let read: Saved = serde_json::from_str(&json).map_err(|e| format!("{e}: {json}"))?;
    let made = Interpreter::resume(plan, [], host.clone(), &read);
    made.map_err(|e| format!("not restored: {e}: {json}"))
}

fn same(what: &str, one: &str, other: &str) -> Result<(), String> {
    match crate::batch::difference(one, other, false) {
        None => Ok(()),
        Some(fault) => Err(format!("{what} (the lower line), it goes on otherwise:\n{fault}")),
    }
}

/// The configuration as the records tell it.
struct Moves<'p> {
    plan: &'p Plan,
    configuration: Vec<u64>,
}

impl<'p> Moves<'p> {
    fn new(plan: &'p Plan) -> Self {
        Self { plan, configuration: vec![0; plan.tables().states.len().div_ceil(64)] }
    }

    /// Every microstep leaves from the inside out, enters from the outside in, and ends in a legal configuration; the last
    /// one is that of the machine; every macrostep ends.
    fn follow(&mut self, moment: &Moment<'_>) -> Result<(), String> {
        let records = &moment.log.records;
        let told = |why: &str, at: usize| {
            let from = at.saturating_sub(12);
            let near = &records[from..records.len().min(at + 2)];
            Err(format!("{why}, at {} of {near:?}\n{}", at - from, moment.shown))
        };
        let ended = records.iter().any(|r| matches!(r, Record::Ended(_)));
        let (mut exited, mut entered) = (None::<StateId>, None::<StateId>);
        let mut microsteps = 0;
        for (at, record) in records.iter().enumerate() {
            match record {
                Record::Taken(_) => {
                    if exited.is_some() || entered.is_some() {
                        if !is_legal(self.plan.tables(), &self.configuration) {
                            return told("the microstep before left an illegal configuration", at);
                        }
                        microsteps += 1;
                    }
                    (exited, entered) = (None, None);
                }
                Record::Exited(state) => {
                    if ended && records[at..].iter().all(after_the_end) {
                        break;
                    }
                    if entered.is_some() || exited.is_some_and(|before| before <= *state) {
                        return told("left out of order", at);
                    }
                    if !bits::has(&self.configuration, state.index()) {
                        return told("left what is not active", at);
                    }
                    bits::remove(&mut self.configuration, state.index());
                    exited = Some(*state);
                }
                Record::Entered(state) => {
                    if entered.is_some_and(|before| before >= *state) {
                        return told("entered out of order", at);
                    }
                    if bits::has(&self.configuration, state.index()) {
                        return told("entered what is active", at);
                    }
                    bits::insert(&mut self.configuration, state.index());
                    entered = Some(*state);
                }
                _ => {}
            }
        }
        let active = moment.machine.configuration();
        if self.configuration != active {
            return told("the machine is elsewhere than its records say", records.len());
        }
        let started = active.iter().any(|word| *word != 0);
        if started && !is_legal(self.plan.tables(), active) {
            return told("an illegal configuration", records.len());
        }
        // A turn, and the deadlines that came due, may take several macrosteps.
        let most = (MICROSTEPS as usize + 2) * (4 + 2 * moment.log.effects.len() + 400);
        if microsteps > most {
            return told("no end of a macrostep", records.len());
        }
        Ok(())
    }
}

/// What is told while the run ends: the configuration stays to be read.
fn after_the_end(record: &Record) -> bool {
    matches!(
        record,
        Record::Exited(_)
            | Record::Error(_)
            | Record::Sent(..)
            | Record::SendCanceled(_)
            | Record::Refused(_)
            | Record::Ended(_)
            | Record::TurnEnded(_)
            | Record::WalkEnded(_)
    )
}
