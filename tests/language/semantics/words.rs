//! Words for what records say.

use super::Sim;
use chartc_core::arena::{ChoiceId, EventId, ToolId, TransitionId};
use chartc_core::expr::Value;
use chartc_core::machine::{ErrorKind, Fallback, LimitKind, Loss, Record, WalkEnd};
use chartc_core::model::Trigger;

impl Sim {
    /// A record as a line of the trace.
    pub(super) fn tell(&self, record: Record) -> String {
        let event = |e: EventId| self.chart.events[e.index()].name.clone();
        let choice = |c: ChoiceId| self.chart.choices[c.index()].name.clone();
        let tool = |t: ToolId| self.chart.tools[t.index()].name.clone();
        match record {
            Record::Event(e) => format!("event {}", event(e)),
            Record::Sent(e, due) => format!("sent {} due {due}", event(e)),
            Record::Delivered(e) => format!("delivered {}", event(e)),
            Record::SendCanceled(e) => format!("canceled {}", event(e)),
            Record::Posted(e, to) => format!("posted {} {to:?}", event(e)),
            Record::Undelivered(e, to) => format!("undelivered {} {to:?}", event(e)),
            Record::Turn(n) => format!("turn {n}"),
            Record::Refused(e) => format!("refused {}", event(e)),
            Record::Deferred(e) => format!("deferred {}", event(e)),
            Record::Recalled(e) => format!("recalled {}", event(e)),
            Record::Lost(t, loss) => format!("lost {}: {}", self.line(t), lost(loss)),
            Record::Taken(t) => format!("taken {}", self.line(t)),
            Record::Exited(s) => format!("exited {}", self.chart.state(s).path),
            Record::Entered(s) => format!("entered {}", self.chart.state(s).path),
            Record::Denied(t) => format!("denied {}", self.line(t)),
            Record::Started(k) => format!("started {}", self.element(k)),
            Record::Skipped(s) => format!("skipped {}", self.step_name(s)),
            Record::Done(s) => format!("done {}", self.step_name(s)),
            Record::Chosen(c) => format!("chosen {}", choice(c)),
            Record::Unasked(c) => format!("unasked {}", choice(c)),
            Record::Called(_, Some(c), t) => format!("called {} by {}", tool(t), choice(c)),
            Record::Called(_, None, t) => format!("called {}", tool(t)),
            Record::Returned(_, t) => format!("returned {}", tool(t)),
            Record::CallFailed(_, t) => format!("call failed {}", tool(t)),
            Record::Forbidden(_, t) => format!("forbidden {}", tool(t)),
            Record::Retried(k) => format!("retried {}", self.step_name(k.step)),
            Record::ElementDone(k) => format!("done {}", self.element(k)),
            Record::ElementLost(k) => format!("lost {}", self.element(k)),
            Record::Failed(s) => format!("failed {}", self.step_name(s)),
            Record::Fallback(s, why) => {
                format!("fallback {}: {}", self.step_name(s), fell_back(why))
            }
            Record::Dropped(k) => format!("dropped {}", self.step_name(k.step)),
            Record::WalkEnded(WalkEnd::Calls(_)) => "walk ended: calls".to_owned(),
            Record::WalkEnded(why) => format!("walk ended: {why:?}"),
            Record::Error(kind) => format!("error {}", error(kind)),
            Record::Warned(kind) => format!("warned {kind:?}"),
            Record::TurnEnded(n) => format!("turn {n} ended"),
            Record::Ended(status) => format!("ended {}", status.word()),
        }
    }

    pub(super) fn line(&self, id: TransitionId) -> String {
        let line = self.chart.transition(id);
        let targets: Vec<&str> =
            line.targets.iter().map(|t| self.chart.state(t.state).path.as_str()).collect();
        let word = match &line.trigger {
            Trigger::When => "when",
            Trigger::Choice(_) => "may",
            Trigger::After(_) | Trigger::AfterTurns(_) => "after",
            _ => "on",
        };
        format!("{word} {} -> {}", self.chart.state(line.source).path, targets.join(", "))
    }
}

fn lost(loss: Loss) -> &'static str {
    match loss {
        Loss::Guard => "guard",
        Loss::Fault => "fault",
        Loss::Scope => "scope",
        Loss::Preempted => "preempted",
    }
}

fn fell_back(why: Fallback) -> &'static str {
    match why {
        Fallback::NoOption => "no option",
        Fallback::Unusable => "unusable",
        Fallback::Stale => "stale",
        Fallback::Failed => "failed",
        Fallback::NoLine => "no line",
    }
}

fn error(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Execution => "execution",
        ErrorKind::Livelock => "livelock",
        ErrorKind::Limit(LimitKind::Calls) => "limit calls",
        ErrorKind::Limit(LimitKind::Turns) => "limit turns",
        ErrorKind::Limit(LimitKind::Time) => "limit time",
        ErrorKind::Limit(LimitKind::Tokens) => "limit tokens",
        ErrorKind::Limit(LimitKind::Cost) => "limit cost",
        ErrorKind::StuckDead => "stuck dead",
        ErrorKind::StuckLoop => "stuck loop",
        ErrorKind::StuckTimeout => "stuck timeout",
    }
}

pub(super) fn shown(value: &Value) -> String {
    chartc_core::expr::format::str(value).expect("small")
}

/// A value, with quotes where it is a text.
pub(super) fn quoted(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("\"{text}\""),
        other => shown(other),
    }
}
