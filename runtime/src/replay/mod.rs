//! Replay: executes a run again from its trace, without asking anybody, and compares each line.
//!
//! The problem: a trace is a record of what happened; does the chart really do that, and does a changed chart still? The idea: everything
//! that came from outside (events, inputs, answers, results of host functions, and their times) is read from the trace, and everything
//! else must come from the chart. The next line decides what happens: the replay itself sends an input, event or turn; a call returns an
//! answer if the line is that answer; any other line must be written by the chart, or the replay ends with the first [`Difference`].
//!
//! ```text
//! line 2  {"kind":"event","event":"reply",…}       the replay sends `reply` to the session, which writes the same line
//! line 3  {"kind":"taken",…}                       the chart writes it by itself: compared
//! line 4  {"kind":"question","step":"triage",…}    the chart writes it; the call stays pending
//! line 5  {"kind":"answer","step":"triage",…}      the pending call returns the text of this line
//! line 6  {"kind":"taken","at_ms":840,…}           the chart writes another target now: line 6 differs
//! ```

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

/// The result of a replay without differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Replayed {
    /// The number of lines of the trace, all of which are equal.
    pub lines: usize,
    /// The number of turns of the run, without those of child charts.
    pub turns: u32,
    /// The number of answers of models, people and tools that were taken from the trace, including failures.
    pub answers: usize,
}

/// The reason why a run cannot be replayed, or is not the same.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// The trace does not begin with the `run` line of a chart.
    #[error("it does not begin with the `run` line of a chart, so there is nothing to replay")]
    NoRun,
    /// A line differs; the first one that does.
    #[error("{0}")]
    Different(Box<Difference>),
    /// The chart refuses an input or event of the trace.
    #[error("line {line}: the chart does not take it: {why}")]
    Refused {
        /// The number of the line, from 1.
        line: usize,
        /// The reason.
        why: RunError,
    },
}

/// The host of a replayed chart, with which its machine is created.
pub type ReplayHost = Watched<Recalled>;

/// Replays a trace. `machine` must have been created with [`Tape::host`] and the params among [`Tape::variables`].
///
/// # Errors
/// The first difference.
pub fn replay<M: Machine>(tape: &Tape, machine: M) -> Result<Replayed, ReplayError> {
    let session = again(tape, machine, |session, recalled| session.with_tools(recalled))?;
    Ok(Replayed { lines: tape.len(), turns: session.turns(), answers: tape.answers() })
}

/// Executes a machine as the trace says. `with` sets who gets the calls of the session.
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
        // Params and vars are refused here, as only inputs can be set. An input with a wrong value shows as a difference in the first
        // line.
        if *value != Value::None {
            let _ = session.input(name, value.clone());
        }
    }
    settled(tape, once(session.start()))?;
    while let Some((index, line)) = tape.next() {
        let before = (index, clock.reached());
        let result = step(&mut session, tape, &line, &clock);
        settled(tape, result)?;
        // Neither the trace nor the time has advanced, so the line never comes.
        if tape.next().is_some_and(|(next, _)| (next, clock.reached()) == before) {
            return Err(ReplayError::Different(Box::new(tape.missing())));
        }
    }
    Ok(session)
}

/// Causes the next line, or lets time pass until it may come. `None` if the run is waiting.
fn step<M: Machine>(
    session: &mut Session<M, Tape>,
    tape: &Tape,
    line: &Line,
    clock: &ReplayClock,
) -> Option<Result<(), RunError>> {
    let wait = line.at_ms.saturating_sub(clock.reached());
    if wait > 0 && clock.is_real() && tape::is_of_the_host(line) {
        // In real time, a deadline of the same moment may have fired first, so the host's line is not sent before the time is reached.
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
        // A stored run continues after a crash without writing a line about it.
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

/// Repeats an action of the host.
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

/// Polls once. The replay moves the time itself, so work that is still pending waits for the next line of the trace.
fn once<T>(work: impl Future<Output = T>) -> Option<T> {
    match pin!(work).as_mut().poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(result) => Some(result),
        Poll::Pending => None,
    }
}

/// Reports a difference, or an error of the session before the end of the trace. At its end, the recorded run has stopped with the same
/// error.
fn settled(tape: &Tape, result: Option<Result<(), RunError>>) -> Result<(), ReplayError> {
    if let Some(difference) = tape.difference() {
        return Err(ReplayError::Different(Box::new(difference)));
    }
    match (result, tape.next()) {
        (Some(Err(why)), Some((index, _))) => Err(ReplayError::Refused { line: index + 1, why }),
        _ => Ok(()),
    }
}
