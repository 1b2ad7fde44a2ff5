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

use crate::budget::Usage;
use crate::call::{FailureKind, Traced};
use crate::clock::{Clock, Sleep, VirtualClock};
use crate::driver::{CallId, Driver, Parts};
use crate::error::RunError;
use crate::host::{HostLog, Watched};
use crate::journal::{Begun, Call, CallJournal, Ending, Journaled, OpenCall, Outcome};
use crate::oracle::{Answer, Deny, OracleError};
use crate::session::Session;
use crate::settings::Overrides;
use crate::trace::{self, HostCall, Line, Origin, ReadError, Sink, What};
use chartc_core::expr::{self, Map};
use chartc_core::host::{Host, Machine};
use chartc_core::machine::Instant;
use chartc_core::visible;
use serde_json::Value;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::{fmt, io};

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
    let session = again(tape, machine, |session, driver| session.with_driver(driver))?;
    Ok(Replayed { lines: tape.len(), turns: session.turns(), answers: tape.answers() })
}

/// Executes a machine as the trace says. `with` gives the session its driver.
fn again<M: Machine>(
    tape: &Tape,
    machine: M,
    with: impl FnOnce(Session<M, Tape>, Arc<dyn Driver>) -> Session<M, Tape>,
) -> Result<Session<M, Tape>, ReplayError> {
    let Some(Line { what: What::Run { clock, .. }, .. }) = tape.first() else {
        return Err(ReplayError::NoRun);
    };
    let clock = Arc::new(ReplayClock::new(tape.clone(), clock == "real"));
    let recalled = Arc::new(tape.recalled(clock.clone()));
    let driver = Arc::new(Journaled::new(recalled, Arc::new(Parts::of(Arc::new(Deny)))));
    let session = Session::new(machine, Arc::new(Deny), clock.clone(), tape.clone())
        .with_host_log(tape.log())
        .with_origin(tape.origin());
    let mut session = with(session, driver);
    for (name, value) in tape.variables().iter() {
        // Params and vars are refused here, as only inputs can be set. An input with a wrong value shows as a difference in the first
        // line.
        if *value != expr::Value::None {
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
    if wait > 0 && clock.is_real() && is_of_the_host(line) {
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
    if wait == 0 && is_of_the_host(line) {
        return of_the_host(session, &line.what);
    }
    if wait > 0 {
        once(session.advance(wait))
    } else if ends_a_call(&line.what) {
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
    if let What::Overrides { overrides } = what {
        return Some(session.set_overrides(Overrides::of_value(overrides)));
    }
    if let What::Acted { .. } | What::NotActed { .. } | What::HostNote { .. } | What::World { .. } =
        what
    {
        return Some(session.say(what.clone()));
    }
    if let What::Event { event, data } | What::NotTaken { input: event, data, .. } = what
        && event != "turn"
    {
        let data = if let expr::Value::Map(data) = data { data.clone() } else { Map::new() };
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

// The clock of a replay.

/// A clock that jumps from deadline to deadline like a virtual clock, but never past the time of the next line.
///
/// If the recorded run used real time, even the immediate consequences of an event took some. So the present time is then that of the
/// next line, unless that line is something for which the run waits.
#[derive(Debug, Clone)]
struct ReplayClock {
    tape: Tape,
    time: VirtualClock,
    is_real: bool,
}

impl ReplayClock {
    fn new(tape: Tape, is_real: bool) -> Self {
        // A run of a store may begin when its clock has run for some time.
        let time = VirtualClock::starting_at(tape.line(0).map_or(0, |line| line.at_ms));
        Self { tape, time, is_real }
    }

    /// Whether the recorded run used real time.
    const fn is_real(&self) -> bool {
        self.is_real
    }

    /// The time that has certainly been reached.
    fn reached(&self) -> Instant {
        self.time.now()
    }
}

impl Clock for ReplayClock {
    fn now(&self) -> Instant {
        if self.is_real
            && let Some((index, line)) = self.tape.next()
            && !self.tape.wakes(index)
        {
            self.time.move_to(line.at_ms);
        }
        self.time.now()
    }

    fn sleep_until(&self, at: Instant) -> Sleep {
        let clock = self.clone();
        let mut sleep = self.time.sleep_until(at);
        Box::pin(std::future::poll_fn(move |cx| {
            if clock.now() >= at { Poll::Ready(()) } else { sleep.as_mut().poll(cx) }
        }))
    }

    fn jump(&self) -> bool {
        let Some((_, line)) = self.tape.next() else { return false };
        if self.is_real {
            self.time.move_to(line.at_ms)
        } else {
            self.time.jump_at_most(line.at_ms)
        }
    }
}

// Differences between a trace and its replay, as messages.

/// The maximum length of a line in a message, in characters.
const SHOWN: usize = 600;

/// The number of equal characters that are shown before the first difference of two texts.
const NEAR: usize = 40;

/// The first line that differs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// The number of the line in the trace, from 1, not counting empty lines.
    pub line: usize,
    /// The line of the trace; `None` after its end.
    pub recorded: Option<String>,
    /// The line that the run writes now; `None` if it writes no further line.
    pub now: Option<String>,
}

impl Difference {
    /// The first field that differs: its path, its recorded value, and its value now.
    pub fn field(&self) -> Option<(String, String, String)> {
        let parsed = |text: &Option<String>| serde_json::from_str(text.as_ref()?).ok();
        let (a, b): (Value, Value) = (parsed(&self.recorded)?, parsed(&self.now)?);
        first(&a, &b, String::new())
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "line {} differs", self.line)?;
        let or = |text: &Option<String>, none: &str| match text {
            Some(text) => short(text, SHOWN),
            None => none.to_owned(),
        };
        writeln!(f, "  trace: {}", or(&self.recorded, "(it ends here)"))?;
        write!(f, "  now:   {}", or(&self.now, "(nothing: the run waits for the host)"))?;
        if let Some((field, a, b)) = self.field() {
            write!(
                f,
                "\n  `{}` is {} in the trace and {} now",
                visible::line(&field),
                short(&a, 200),
                short(&b, 200)
            )?;
        }
        Ok(())
    }
}

fn short(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", visible::line(&text[..end])),
        None => visible::line(text).into_owned(),
    }
}

fn first(a: &Value, b: &Value, path: String) -> Option<(String, String, String)> {
    let below =
        |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match (a, b) {
        _ if a == b => None,
        (Value::Object(a), Value::Object(b)) => {
            // `kind` is compared first, because it says most about the difference.
            let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
            names.sort_by_key(|name| (*name != "kind", (*name).clone()));
            let of = |map: &serde_json::Map<String, Value>, name: &String| {
                map.get(name).cloned().unwrap_or_default()
            };
            names.into_iter().find_map(|name| first(&of(a, name), &of(b, name), below(name)))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let pairs = a.iter().zip(b).enumerate();
            pairs.into_iter().find_map(|(i, (a, b))| first(a, b, below(&i.to_string())))
        }
        (Value::String(a), Value::String(b)) => {
            let (a, b) = apart(a, b);
            Some((path, a, b))
        }
        _ => Some((path, a.to_string(), b.to_string())),
    }
}

/// Both texts, shortened to start a little before their first difference.
fn apart(a: &str, b: &str) -> (String, String) {
    let same = a.char_indices().zip(b.chars()).find(|((_, a), b)| a != b);
    let part = same.map_or(a.len().min(b.len()), |((at, _), _)| at);
    let from = a[..part].char_indices().rev().nth(NEAR).map_or(0, |(at, _)| at);
    let quoted = |text: &str| {
        let text = Value::String(text[from..].to_owned()).to_string();
        if from > 0 { text.replacen('"', "\"…", 1) } else { text }
    };
    (quoted(a), quoted(b))
}

// The answers of models, people, tools and host functions, taken from a trace.

/// The journal of calls that a trace is, and the host that answers from it. A call ends when the next line of the trace is the line about
/// its end.
#[derive(Debug, Clone)]
pub struct Recalled {
    tape: Tape,
    clock: Arc<ReplayClock>,
}

impl Recalled {
    fn new(tape: Tape, clock: Arc<ReplayClock>) -> Self {
        Self { tape, clock }
    }

    /// Waits until the next line ends the call that the last line has started. `read` recognises that line. A `usage` line may come
    /// before it.
    fn wait(
        &self,
        read: impl Fn(&What, &What, Taken) -> Option<Outcome> + Send + 'static,
    ) -> Ending {
        let Self { tape, clock } = self.clone();
        let begun = tape.last();
        Box::pin(poll_fn(move |_| {
            let (Some(begun), Some((index, line))) = (&begun, tape.next()) else {
                return Poll::Pending;
            };
            // A line of another chart, or of a later time, does not end this call.
            if line.child != begun.child || line.at_ms > clock.now() {
                return Poll::Pending;
            }
            let ended = match (&line.what, tape.line(index + 1)) {
                (What::Usage { .. }, Some(end)) if end.child == line.child => {
                    read(&begun.what, &end.what, taken(&line.what))
                }
                _ => {
                    let waits = tape.waits_after(index);
                    read(&begun.what, &line.what, Taken { waits, ..Taken::default() })
                }
            };
            match ended {
                Some(ended) => {
                    tape.count_answer();
                    Poll::Ready(ended)
                }
                None => Poll::Pending,
            }
        }))
    }
}

/// The provider's data about a call: its use, and whether the answer was cut off; and whether the attempt after it waited.
#[derive(Clone, Copy, Default)]
struct Taken {
    usage: Option<Usage>,
    cut: bool,
    waits: bool,
}

fn taken(what: &What) -> Taken {
    let What::Usage { input_tokens, output_tokens, cost, assumed, cut, .. } = what else {
        return Taken::default();
    };
    let (input_tokens, output_tokens) = (*input_tokens, *output_tokens);
    let cost = Some((cost * 1e6).round() as u64);
    let usage = (!assumed).then_some(Usage { input_tokens, output_tokens, cost });
    Taken { usage, cut: *cut, waits: false }
}

impl CallJournal for Recalled {
    fn begin(&self, _: &CallId, call: Call) -> Result<Begun, OracleError> {
        Ok(Begun::Recorded(match call {
            Call::Question(_) => {
                self.wait(|begun, line, taken| answered(begun, line, taken).map(Outcome::Answer))
            }
            Call::Tool(_) => {
                self.wait(|begun, line, taken| returned(begun, line, taken).map(Outcome::Result))
            }
        }))
    }

    fn keeps_time(&self) -> bool {
        true
    }

    /// If the trace goes on after the failed call that comes next, the failure did not end the run, so a model had answered.
    fn has_answered(&self) -> bool {
        self.tape.next().is_some_and(|(index, _)| self.tape.line(index + 1).is_some())
    }

    fn name(&self) -> Option<String> {
        match self.tape.first() {
            Some(Line { what: What::Run { oracle, .. }, .. }) => Some(oracle.clone()),
            Some(_) | None => None,
        }
    }
}

/// An error of the trace.
fn recorded(error: &str, why: &str, retry_after: Option<u64>, traced: Traced) -> OracleError {
    let (kind, why, trace) = (FailureKind::of(error), why.to_owned(), Some(traced));
    OracleError::Recorded { kind, why, retry_after, trace }
}

/// Reads a line as the end of a question; `None` if it is none.
fn answered(
    question: &What,
    line: &What,
    Taken { usage, cut, .. }: Taken,
) -> Option<Result<Answer, OracleError>> {
    let What::Question { step: asked, attempt: nth, which: of, .. } = question else { return None };
    if let What::Answer { step, attempt, text, which, .. }
    | What::Unusable { step, attempt, text, which, .. } = line
        && (step, attempt, which) == (asked, nth, of)
    {
        return Some(Ok(Answer { text: text.clone(), usage, cut }));
    }
    if let What::CallFailed { step, attempt, error, why, retry_after_ms, doubt, which } = line
        && (step, attempt, which) == (asked, nth, of)
    {
        // A question has always waited.
        let traced = Traced { doubt: *doubt, waits: true };
        return Some(Err(recorded(error, why, *retry_after_ms, traced)));
    }
    None
}

/// Reads a line as the end of a tool call; `None` if it is none.
fn returned(call: &What, line: &What, taken: Taken) -> Option<Result<expr::Value, OracleError>> {
    let What::ToolCall { step: of, tool: called, which: one, .. } = call else { return None };
    if let What::ToolResult { step, tool, value, which } = line
        && (step, tool, which) == (of, called, one)
    {
        return Some(Ok(value.clone()));
    }
    if let What::ToolFailed { step, tool, error, why, retry_after_ms, doubt, which } = line
        && (step, tool, which) == (of, called, one)
    {
        let traced = Traced { doubt: *doubt, waits: taken.waits };
        return Some(Err(recorded(error, why, *retry_after_ms, traced)));
    }
    None
}

impl Host for Recalled {
    fn call(&mut self, function: &str, _arguments: &[expr::Value]) -> Result<expr::Value, String> {
        // Other arguments need no check here: the `note` line that follows contains them and would differ.
        match self.tape.call() {
            Some(call) if call.function == function => match call.failed {
                Some(why) => Err(why),
                None => Ok(call.value),
            },
            Some(call) => Err(format!(
                "the trace has a call of `{}` here, not of `{function}`",
                call.function
            )),
            None => Err(format!("the trace has no further result of `{function}`")),
        }
    }
}

// Rewinding: the state of a run at a line of its trace.

/// The state of a run at a line of its trace.
pub struct Rewound<M> {
    /// The session after the step that wrote the line. Calls that have no result by then are open.
    pub session: Session<M, Tape>,
    /// The trace up to the line, and the further lines of the same step.
    pub lines: Vec<Line>,
    /// The calls that have ended by then, answered or cancelled, in the order in which they were started.
    pub calls: Vec<CallId>,
}

/// Replays the first `count` lines of a trace, to the end of the step that wrote the last of them. No later answer is returned, and no
/// time passes after them. The calls get ids as those of `run`.
///
/// # Errors
/// The first difference.
pub fn rewind<M: Machine>(
    tape: &Tape,
    machine: M,
    run: &str,
    count: usize,
) -> Result<Rewound<M>, ReplayError> {
    tape.end_after(count);
    let calls = Calls::default();
    let mut session = again(tape, machine, |session, driver| {
        let noted = Journaled::new(Arc::new(calls.clone()), driver);
        session.with_driver(Arc::new(noted)).with_run(run)
    })?;
    // An error is dropped: a run that has stopped at this point stops again when it continues.
    drop(once(session.advance(0)));
    Ok(Rewound { session, lines: tape.written(), calls: calls.over() })
}

/// A journal in memory: the calls in the order of their start, and whether each has ended.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<Vec<(CallId, bool)>>>);

/// A call under way. Dropping it marks the call as ended.
struct UnderWay(Calls, usize);

impl Calls {
    fn all(&self) -> MutexGuard<'_, Vec<(CallId, bool)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn over(&self) -> Vec<CallId> {
        self.all().iter().filter(|(_, is_over)| *is_over).map(|(id, _)| id.clone()).collect()
    }
}

impl CallJournal for Calls {
    fn begin(&self, id: &CallId, call: Call) -> Result<Begun, OracleError> {
        let mut all = self.all();
        all.push((id.clone(), false));
        Ok(Begun::Make(call, Box::new(UnderWay(self.clone(), all.len() - 1))))
    }
}

impl OpenCall for UnderWay {
    fn end(&mut self, _: &Outcome) -> Result<(), OracleError> {
        Ok(())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some((_, is_over)) = self.0.all().get_mut(self.1) {
            *is_over = true;
        }
    }
}

// The position in a trace during its replay.

/// A trace and a position in it. As the sink of a run, it accepts lines that equal the recorded ones and refuses the first that differs.
/// Clones share the position.
#[derive(Debug, Clone)]
pub struct Tape {
    lines: Arc<Vec<Line>>,
    texts: Arc<Vec<String>>,
    place: Arc<Mutex<Progress>>,
    log: HostLog,
}

/// The position in a trace, and what has happened up to it.
#[derive(Debug, Default)]
struct Progress {
    /// The index of the next line, from 0.
    next: usize,
    answers: usize,
    /// The recorded calls of host functions that were not repeated yet.
    calls: VecDeque<HostCall>,
    difference: Option<Difference>,
    /// The number of lines to replay; `None` for all.
    until: Option<usize>,
    /// The lines that the run has written after those.
    beyond: Vec<Line>,
}

impl Progress {
    /// Whether all lines to replay have come.
    fn is_over(&self) -> bool {
        self.until.is_some_and(|until| self.next >= until)
    }
}

impl Tape {
    /// Parses a trace.
    ///
    /// # Errors
    /// The first line that cannot be parsed.
    pub fn read(text: &str) -> Result<Self, ReadError> {
        let texts = text.lines().filter(|l| !l.trim().is_empty()).map(|l| l.trim().to_owned());
        let (lines, kept): (Vec<Line>, Vec<String>) =
            trace::read(text)?.into_iter().zip(texts).unzip();
        let call = |line: &Line| {
            if let What::Note { call, .. } = &line.what { call.clone() } else { None }
        };
        let calls = lines.iter().filter_map(call);
        let place = Progress { calls: calls.collect(), ..Progress::default() };
        Ok(Self {
            texts: Arc::new(kept),
            lines: Arc::new(lines),
            place: Arc::new(Mutex::new(place)),
            log: HostLog::default(),
        })
    }

    /// The host that returns the recorded results of host functions.
    pub fn host(&self) -> Watched<Recalled> {
        let clock = Arc::new(ReplayClock::new(self.clone(), false));
        Watched::new(self.recalled(clock), self.log())
    }

    /// The values of params, inputs and vars before the start, by name.
    pub fn variables(&self) -> Map {
        match self.first().map(|line| &line.what) {
            Some(What::Run { variables: expr::Value::Map(map), .. }) => map.clone(),
            _ => Map::new(),
        }
    }

    /// The first line of the trace.
    pub fn first(&self) -> Option<&Line> {
        self.lines.first()
    }

    /// The settings with which the run was started.
    pub fn origin(&self) -> Origin {
        match self.first().map(|line| &line.what) {
            Some(What::Run { file, calls_per_turn, clock, children, .. }) => Origin {
                file: file.clone(),
                calls_per_turn: *calls_per_turn,
                real_clock: clock == "real",
                children_last: children.is_empty(),
            },
            _ => Origin::default(),
        }
    }

    fn log(&self) -> HostLog {
        self.log.clone()
    }

    fn recalled(&self, clock: Arc<ReplayClock>) -> Recalled {
        Recalled::new(self.clone(), clock)
    }

    fn place(&self) -> MutexGuard<'_, Progress> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn len(&self) -> usize {
        self.lines.len()
    }

    fn answers(&self) -> usize {
        self.place().answers
    }

    /// Counts an answer that was taken from the trace.
    fn count_answer(&self) {
        self.place().answers += 1;
    }

    /// Ends the replay after this number of lines: no answer comes after them, and no time passes.
    fn end_after(&self, lines: usize) {
        self.place().until = Some(lines);
    }

    /// The lines that the run has written so far, including those after the end of the replay.
    fn written(&self) -> Vec<Line> {
        let place = self.place();
        let until = place.until.unwrap_or(usize::MAX).min(place.next);
        self.lines.iter().take(until).chain(&place.beyond).cloned().collect()
    }

    /// The next line, and its index.
    fn next(&self) -> Option<(usize, Line)> {
        let place = self.place();
        if place.is_over() {
            return None;
        }
        let next = place.next;
        self.lines.get(next).map(|line| (next, line.clone()))
    }

    /// Whether the attempt that follows the failed tool call of a line waited.
    fn waits_after(&self, index: usize) -> bool {
        let Some(Line { child, what: What::ToolFailed { step, which, .. }, .. }) = self.line(index)
        else {
            return false;
        };
        let later = self.lines[index..].iter().filter(|line| line.child == *child);
        let next = later.map(|line| &line.what).find_map(|what| match what {
            What::Waiting { step: of, which: one, .. } => Some((true, of, one)),
            What::ToolCall { step: of, which: one, .. } => Some((false, of, one)),
            _ => None,
        });
        next.is_some_and(|(waits, of, one)| waits && (of, one) == (step, which))
    }

    /// The line with an index.
    fn line(&self, index: usize) -> Option<&Line> {
        self.lines.get(index)
    }

    /// Whether a run waits for this line because it comes from outside. The end of a call is a `usage` line, if there is one, and a line
    /// with the result: the run waits for the first of both.
    fn wakes(&self, index: usize) -> bool {
        let Some(line) = self.line(index) else { return false };
        let beside = |other: Option<usize>| {
            other.and_then(|other| self.line(other)).filter(|other| other.child == line.child)
        };
        if let What::Usage { .. } = line.what {
            return beside(Some(index + 1)).is_some_and(|end| ends_a_call(&end.what));
        }
        let told = beside(index.checked_sub(1));
        let is_told = told.is_some_and(|told| matches!(told.what, What::Usage { .. }));
        is_of_the_host(line) || (ends_a_call(&line.what) && !is_told)
    }

    /// The line before the next one.
    fn last(&self) -> Option<Line> {
        let next = self.place().next;
        self.lines.get(next.checked_sub(1)?).cloned()
    }

    /// The next recorded call of a host function.
    fn call(&self) -> Option<HostCall> {
        self.place().calls.pop_front()
    }

    fn difference(&self) -> Option<Difference> {
        self.place().difference.clone()
    }

    /// The difference that the next line does not come.
    fn missing(&self) -> Difference {
        let next = self.place().next;
        Difference { line: next + 1, recorded: self.texts.get(next).cloned(), now: None }
    }
}

impl Sink for Tape {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        let now = serde_json::to_string(line)?;
        let mut place = self.place();
        // Beyond the end of the replay, lines are collected instead of compared.
        if place.is_over() {
            place.beyond.push(line.clone());
            return Ok(());
        }
        let recorded = self.texts.get(place.next).cloned();
        if recorded.as_ref().is_some_and(|recorded| is_same(recorded, &now)) {
            place.next += 1;
            return Ok(());
        }
        let difference = Difference { line: place.next + 1, recorded, now: Some(now) };
        // Only the first difference counts; later ones follow from it.
        place.difference.get_or_insert(difference);
        Err(io::Error::other("the run differs from its trace"))
    }
}

/// Whether two lines are equal as JSON, ignoring blanks and the order of fields. The ids of questions are ignored, too: they depend on
/// the name of the run, which a trace does not contain, and earlier versions wrote none.
fn is_same(a: &str, b: &str) -> bool {
    let parsed = |text| serde_json::from_str::<serde_json::Value>(text).ok().map(without_id);
    a == b || parsed(a).is_some_and(|a| Some(a) == parsed(b))
}

fn without_id(mut line: serde_json::Value) -> serde_json::Value {
    let is_of_a_call = |kind: &str| ["question", "answer", "unusable"].contains(&kind);
    if line["kind"].as_str().is_some_and(is_of_a_call)
        && let Some(line) = line.as_object_mut()
    {
        line.remove("id");
    }
    line
}

/// Whether a line may be the end of a call to a model, a person or a tool.
fn ends_a_call(what: &What) -> bool {
    matches!(
        what,
        What::Usage { .. }
            | What::Answer { .. }
            | What::Unusable { .. }
            | What::CallFailed { .. }
            | What::ToolResult { .. }
            | What::ToolFailed { .. }
    )
}

/// Whether a line may be an action of the host. An event may also come from another chart.
fn is_of_the_host(line: &Line) -> bool {
    let is_host = matches!(
        line.what,
        What::Input { .. }
            | What::Event { .. }
            | What::Turn { .. }
            | What::NotTaken { .. }
            | What::Acted { .. }
            | What::NotActed { .. }
            | What::Section { .. }
            | What::Overrides { .. }
            | What::HostNote { .. }
            | What::Resumed { .. }
    );
    // Inputs and events of child charts come from the chart itself.
    is_host && line.child.is_empty()
}
