//! The parts of a session: those that it shares with other sessions, and those that are absent most of the time.

use super::begin::ElementPlace;
use super::calls::Call;
use super::heard::Heard;
use super::history::History;
use super::ledger::Ledger;
use super::patience::{Backoff, Failure};
use super::spare::{Parts, Pool, Spare};
use super::{At, CallPlace, MAX_CALLS, named};
use crate::budget::Budget;
use crate::clock::Clock;
use crate::driver::{self, Driver};
use crate::executor::Used;
use crate::host::HostLog;
use crate::oracle::{Oracle, Question};
use crate::trace::Origin;
use chartc_core::expr::Value;
use chartc_core::family::Tasks;
use chartc_core::machine::{Input, LimitKind};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Weak};

/// What sessions can share: oracle, tools, clock and bounds.
#[derive(Clone)]
pub(super) struct Common {
    pub(super) driver: Arc<dyn Driver>,
    /// What the driver is made of, unless it is the host's own.
    pub(super) parts: driver::Parts,
    pub(super) clock: Arc<dyn Clock>,
    /// How long to wait after failed calls.
    pub(super) backoff: Backoff,
    /// The budget that runs share.
    pub(super) budget: Option<Budget>,
    pub(super) max_calls: u32,
    /// At most so many of the last transitions are remembered, whatever the chart says.
    pub(super) history: Option<u32>,
    /// Calls stay open until they are answered from outside: no prompt is rendered and nobody is asked.
    pub(super) manual: bool,
}

thread_local! {
    /// What the last new session of this thread got.
    static LAST: RefCell<Weak<Common>> = const { RefCell::new(Weak::new()) };
}

impl Common {
    /// For a new session. Consecutive sessions of a thread with the same oracle and clock share one value.
    pub(super) fn of(oracle: Arc<dyn Oracle>, clock: Arc<dyn Clock>) -> Arc<Self> {
        let last = LAST.try_with(|last| last.borrow().upgrade()).ok().flatten();
        let is_same = |last: &Arc<Self>| {
            Arc::ptr_eq(&last.parts.oracle, &oracle) && Arc::ptr_eq(&last.clock, &clock)
        };
        if let Some(last) = last.filter(is_same) {
            return last;
        }
        let parts = driver::Parts::of(oracle);
        let made = Arc::new(Self {
            driver: Arc::new(parts.clone()),
            parts,
            clock,
            backoff: Backoff::default(),
            budget: None,
            max_calls: MAX_CALLS,
            history: None,
            manual: false,
        });
        let _ = LAST.try_with(|last| *last.borrow_mut() = Arc::downgrade(&made));
        made
    }
}

/// The data of a session besides its machine and its counters.
#[derive(Default)]
pub(super) struct Extra {
    /// Whose run it is, for the names of its calls.
    pub(super) run: Option<Arc<str>>,
    /// Calls of host functions that are not in the trace yet.
    pub(super) host_log: Option<HostLog>,
    /// The last transitions.
    pub(super) history: History,
    pub(super) rare: Spare<Rare>,
    pub(super) busy: Spare<Busy>,
}

/// Data that a waiting session may have; most sessions have none of it.
#[derive(Default)]
pub(super) struct Rare {
    /// How the run was started, until that is in the trace.
    pub(super) origin: Origin,
    /// The names of calls that were under way when another version of the chart called their steps otherwise.
    pub(super) old_names: BTreeMap<At, named::Spot>,
    /// The last failures of calls, for their next attempts.
    pub(super) failures: BTreeMap<CallPlace, Failure>,
    /// Tokens and money.
    pub(super) ledger: Ledger,
    /// What was wrong with the last answer, for the re-ask.
    pub(super) complaints: BTreeMap<CallPlace, (u32, String)>,
    /// What the steps have said since the last turn began.
    pub(super) heard: Heard,
    /// What prompts end with.
    pub(super) section: String,
    /// What the models of open `llm` steps have called, since the event for which the step was started.
    pub(super) used: BTreeMap<CallPlace, (u32, Vec<Used>)>,
    /// The hard limit that was reached last.
    pub(super) limit: Option<LimitKind>,
    pub(super) summary: Option<String>,
    /// The step that made this turn's walk fail.
    pub(super) failed: Option<String>,
    /// Calls since the last event or turn that are made for elements, by the element.
    pub(super) recent_calls: BTreeMap<ElementPlace, u32>,
}

/// Data that a session has only while it handles an input or has calls under way.
#[derive(Default)]
pub(super) struct Busy {
    /// Calls under way, in the order they were started.
    pub(super) calls: Vec<Call>,
    /// What waits to be told to the machine, and the call that it is about.
    pub(super) ready: VecDeque<(At, Input<Vec<Value>>)>,
    /// The answer that is being handed over, and its question.
    pub(super) last_answer: Option<(String, Arc<Question>)>,
    /// Why the machine judged that an answer from outside does not fit.
    pub(super) misfit: Option<String>,
    /// Data of the event that is being handed over, for its line in the trace.
    pub(super) sending: Option<Value>,
    /// Inputs that the machines still have to handle, after an input at which the run has broken off.
    pub(super) tasks: Tasks,
}

static NO_EXTRA: Extra = Extra {
    run: None,
    host_log: None,
    history: History::new(),
    rare: Spare::new(),
    busy: Spare::new(),
};

static NO_RARE: Rare = Rare {
    origin: Origin::NONE,
    old_names: BTreeMap::new(),
    failures: BTreeMap::new(),
    ledger: Ledger::new(),
    complaints: BTreeMap::new(),
    heard: Heard::new(),
    section: String::new(),
    used: BTreeMap::new(),
    limit: None,
    summary: None,
    failed: None,
    recent_calls: BTreeMap::new(),
};

static NO_BUSY: Busy = Busy {
    calls: Vec::new(),
    ready: VecDeque::new(),
    last_answer: None,
    misfit: None,
    sending: None,
    tasks: Tasks::new(),
};

thread_local! {
    static EXTRAS: Pool<Extra> = const { RefCell::new(Vec::new()) };
    static RARES: Pool<Rare> = const { RefCell::new(Vec::new()) };
    static BUSIES: Pool<Busy> = const { RefCell::new(Vec::new()) };
}

impl Parts for Extra {
    fn nothing() -> &'static Self {
        &NO_EXTRA
    }

    fn is_nothing(&self) -> bool {
        let Self { run, host_log, history, rare, busy } = self;
        run.is_none()
            && host_log.is_none()
            && history.is_empty()
            && rare.is_nothing()
            && busy.is_nothing()
    }

    fn with_pool<R>(act: impl FnOnce(&Pool<Self>) -> R) -> Option<R> {
        EXTRAS.try_with(act).ok()
    }
}

impl Parts for Rare {
    fn nothing() -> &'static Self {
        &NO_RARE
    }

    fn is_nothing(&self) -> bool {
        let Self {
            origin,
            old_names,
            failures,
            ledger,
            complaints,
            heard,
            section,
            used,
            limit,
            summary,
            failed,
            recent_calls,
        } = self;
        *origin == Origin::NONE
            && old_names.is_empty()
            && failures.is_empty()
            && ledger.is_empty()
            && complaints.is_empty()
            && heard.is_empty()
            && section.is_empty()
            && used.is_empty()
            && limit.is_none()
            && summary.is_none()
            && failed.is_none()
            && recent_calls.is_empty()
    }

    fn with_pool<R>(act: impl FnOnce(&Pool<Self>) -> R) -> Option<R> {
        RARES.try_with(act).ok()
    }
}

impl Parts for Busy {
    fn nothing() -> &'static Self {
        &NO_BUSY
    }

    fn is_nothing(&self) -> bool {
        let Self { calls, ready, last_answer, misfit, sending, tasks } = self;
        calls.is_empty()
            && ready.is_empty()
            && last_answer.is_none()
            && misfit.is_none()
            && sending.is_none()
            && tasks.is_empty()
    }

    fn with_pool<R>(act: impl FnOnce(&Pool<Self>) -> R) -> Option<R> {
        BUSIES.try_with(act).ok()
    }
}
