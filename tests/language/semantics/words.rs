//! Words for what records say.

use super::Sim;
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::machine::{ErrorKind, Fallback, LimitKind, Loss, StepKey};

pub(super) fn lost(loss: Loss) -> &'static str {
    match loss {
        Loss::Guard => "guard",
        Loss::Fault => "fault",
        Loss::Scope => "scope",
        Loss::Preempted => "preempted",
    }
}

pub(super) fn fell_back(why: Fallback) -> &'static str {
    match why {
        Fallback::NoOption => "no option",
        Fallback::Unusable => "unusable",
        Fallback::Stale => "stale",
        Fallback::Failed => "failed",
        Fallback::NoLine => "no line",
    }
}

pub(super) fn error(kind: ErrorKind) -> &'static str {
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
    }
}

pub(super) fn shown(value: &Value) -> String {
    chartc_core::expr::format::str(value).expect("small")
}

impl Sim {
    /// An element of a step, as `search[1]`.
    pub(super) fn element(&self, key: StepKey) -> String {
        let name = self.step_name(key.step);
        key.element.map_or(name.clone(), |element| format!("{name}[{}]", element.index()))
    }

    pub(super) fn prompt(&mut self, key: StepKey) -> String {
        self.machine.prompt(key).expect("it can be written")
    }
}
