//! Runs a chart again from a trace: what the host did, what models, tools and host functions said, and when, is read from it, and each
//! line that the run writes is held against the line that stands there. Nobody is asked.
//!
//! The next line of the trace decides who is at work: an input, an event or a turn is put in by the replay, an answer is given by the
//! call that it belongs to, and everything else must come from the chart itself.

mod clock;
mod difference;
mod recalled;
mod rewound;
mod tape;

pub use difference::Difference;
pub use recalled::Recalled;
pub use rewound::{Rewound, rewind};
pub use tape::Tape;

use crate::clock::Clock;
use crate::error::RunError;
use crate::host::Watched;
use crate::session::Session;
use crate::trace::{Line, What};
use chartc_core::expr::{Map, Value};
use chartc_core::host::Machine;
use clock::ReplayClock;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};

/// A run that was the same again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed {
    /// Lines that are equal: all of the trace.
    pub lines: usize,
    /// Turns of the chart itself.
    pub turns: u32,
    /// Answers of models, people and tools, failures among them, that were taken from the trace.
    pub answers: usize,
}

/// A run that is not the same again, or cannot be made again.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The trace does not begin with the run of a chart.
    #[error("it does not begin with the `run` line of a chart, so there is nothing to replay")]
    NoRun,
    /// The first line that is not the same.
    #[error("{0}")]
    Different(Box<Difference>),
    /// The chart does not take what the host did.
    #[error("line {line}: the chart does not take it: {why}")]
    Refused {
        /// Of the trace, from 1.
        line: usize,
        /// What does not fit.
        why: RunError,
    },
}

/// The host of a chart that is run again. Machines are made with it.
pub type ReplayHost = Watched<Recalled>;

/// Runs a machine, made with [`Tape::host`] and the params of [`Tape::variables`], as the trace says.
///
/// # Errors
/// The first difference.
pub fn replay<M: Machine>(tape: &Tape, machine: M) -> Result<Replayed, ReplayError> {
    let session = again(tape, machine, |session, recalled| session.with_tools(recalled))?;
    Ok(Replayed { lines: tape.len(), turns: session.turns(), answers: tape.answers() })
}

/// Runs a machine as the trace says. `with` says who gets the calls of its session.
fn again<M: Machine>(
    tape: &Tape,
    machine: M,
    with: impl FnOnce(Session<M, Tape>, Arc<Recalled>) -> Session<M, Tape>,
) -> Result<Session<M, Tape>, ReplayError> {
    let Some(Line { what: What::Run { clock, .. }, .. }) = tape.first() else {
        return Err(ReplayError::NoRun);
    };
    let clock = Arc::new(ReplayClock::new(tape.clone(), clock == "real"));
    let recalled = Arc::new(tape.recalled(clock.clone()));
    let session = Session::new(machine, recalled.clone(), clock.clone(), tape.clone())
        .with_host_log(tape.log())
        .with_origin(tape.origin());
    let mut session = with(session, recalled);
    for (name, value) in tape.variables().iter() {
        // Of the variables only inputs are taken, and only what has a value was set; what does not fit shows in the first line.
        if *value != Value::None {
            let _ = session.input(name, value.clone());
        }
    }
    settled(tape, once(session.start()))?;
    while let Some((index, line)) = tape.next() {
        let before = (index, clock.reached());
        let result = step(&mut session, tape, &line, &clock);
        settled(tape, result)?;
        if tape.next().is_some_and(|(next, _)| (next, clock.reached()) == before) {
            return Err(ReplayError::Different(Box::new(tape.missing())));
        }
    }
    Ok(session)
}

/// Does what makes the next line come, or lets the time pass until it may. `None` where the run waits.
fn step<M: Machine>(
    session: &mut Session<M, Tape>,
    tape: &Tape,
    line: &Line,
    clock: &ReplayClock,
) -> Option<Result<(), RunError>> {
    let wait = line.at_ms.saturating_sub(clock.reached());
    if wait > 0 && clock.is_real() && tape::is_of_the_host(line) {
        // A deadline that is due at the same moment may have been later.
        clock.jump();
        return None;
    }
    let next = |nth| tape.line(tape.next()?.0 + nth).cloned();
    if wait == 0
        && let What::Resumed { .. } = line.what
    {
        return Some(session.replay_resume(line.what.clone(), next));
    }
    if wait == 0 && session.open_calls() > 0 {
        // A run of a store goes on after a crash without saying so.
        let place = tape.next().map(|(index, _)| index);
        let taken = session.replay_restore(next);
        if taken.is_err() || tape.next().map(|(index, _)| index) != place {
            return Some(taken);
        }
    }
    if wait == 0 && tape::is_of_the_host(line) {
        return of_the_host(session, &line.what);
    }
    if wait > 0 {
        once(session.advance(wait))
    } else if tape::ends_a_call(&line.what) {
        once(session.settle())
    } else {
        once(session.advance(0))
    }
}

/// Does what the host did.
fn of_the_host<M: Machine>(
    session: &mut Session<M, Tape>,
    what: &What,
) -> Option<Result<(), RunError>> {
    if let What::Input { name, value } = what {
        return Some(session.input(name, value.clone()));
    }
    if let What::Section { text } = what {
        return Some(session.set_section(text.clone()));
    }
    if let What::Acted { .. } | What::NotActed { .. } | What::HostNote { .. } | What::World { .. } =
        what
    {
        return Some(session.say(what.clone()));
    }
    if let What::Event { event, data } | What::NotTaken { input: event, data, .. } = what
        && event != "turn"
    {
        let data = if let Value::Map(data) = data { data.clone() } else { Map::new() };
        return once(session.post(event, data)).map(|sent| sent.map(drop));
    }
    once(session.begin_turn()).map(|turn| turn.map(drop))
}

/// Goes as far as it goes without waiting: time is moved by the clock, so what still waits then waits for the host.
fn once<T>(work: impl Future<Output = T>) -> Option<T> {
    match pin!(work).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

/// A run that stops where the trace does has stopped for the same reason.
fn settled(tape: &Tape, result: Option<Result<(), RunError>>) -> Result<(), ReplayError> {
    if let Some(difference) = tape.difference() {
        return Err(ReplayError::Different(Box::new(difference)));
    }
    match (result, tape.next()) {
        (Some(Err(why)), Some((index, _))) => Err(ReplayError::Refused { line: index + 1, why }),
        _ => Ok(()),
    }
}
