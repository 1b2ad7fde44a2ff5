//! The fields of a session that it can share with other sessions, and the fields that are usually absent.

use super::begin::ElementPlace;
use super::calls::{Backoff, Call, Failure};
use super::history::History;
use super::ledger::Ledger;
use super::turn_outcome::TurnOutcome;
use super::{At, CallPlace, MAX_CALLS, saved};
use crate::budget::Budget;
use crate::clock::Clock;
use crate::driver::{self, Driver};
use crate::executor::Used;
use crate::form::ActionForm;
use crate::host::HostLog;
use crate::oracle::{Oracle, Question};
use crate::trace::Origin;
use chartc_core::expr::Value;
use chartc_core::family::Tasks;
use chartc_core::machine::{Input, LimitKind};
use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, Weak};

/// The fields that sessions can share: oracle, tools, clock and bounds.
#[derive(Clone)]
pub(super) struct Common {
    pub(super) driver: Arc<dyn Driver>,
    /// The parts of the driver, unless the host has set a driver of its own.
    pub(super) parts: driver::Parts,
    pub(super) clock: Arc<dyn Clock>,
    /// The waiting times after failed calls.
    pub(super) backoff: Backoff,
    /// The budget of tokens and money, which several runs can share.
    pub(super) budget: Option<Budget>,
    /// The maximum number of calls per event or turn.
    pub(super) max_calls: u32,
    /// The maximum number of transitions in the history, even if the chart asks for more.
    pub(super) history: Option<u32>,
    /// Whether calls stay open until the host answers them. Then no prompt is rendered, and no oracle or tool is called.
    pub(super) manual: bool,
    /// The form of actions if a client sets none.
    pub(super) actions: ActionForm,
}

thread_local! {
    /// The shared fields of the last session that was created on this thread.
    static LAST: RefCell<Weak<Common>> = const { RefCell::new(Weak::new()) };
}

impl Common {
    /// The shared fields of a new session. Consecutive sessions of a thread with the same oracle and clock share one value.
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
            actions: ActionForm::Any,
        });
        let _ = LAST.try_with(|last| *last.borrow_mut() = Arc::downgrade(&made));
        made
    }
}

/// The fields of a session other than its machine and its counters.
#[derive(Default)]
pub(super) struct Extra {
    /// The name of the run, which is part of the ids of its calls.
    pub(super) run: Option<Arc<str>>,
    /// The calls of host functions that are not in the trace yet.
    pub(super) host_log: Option<HostLog>,
    /// The last transitions.
    pub(super) history: History,
    pub(super) rare: LazyBox<RareParts>,
    pub(super) busy: LazyBox<CallsUnderWay>,
}

/// Fields that a waiting session may need; most sessions need none of them.
#[derive(Default)]
pub(super) struct RareParts {
    /// The settings with which the run was started, until they are written to the trace.
    pub(super) origin: Origin,
    /// The names of calls that were started in another version of the chart, in which their steps had other names.
    pub(super) old_names: BTreeMap<At, saved::CallSite>,
    /// The last failures of calls that will be attempted again.
    pub(super) failures: BTreeMap<CallPlace, Failure>,
    /// The tokens and the money of the run.
    pub(super) ledger: Ledger,
    /// The reasons why the last answers were unusable, for the next attempts, each with the event in which the step was started.
    pub(super) complaints: BTreeMap<CallPlace, (u32, String)>,
    /// The actions that steps have chosen, and their failures, since the last turn began.
    pub(super) heard: TurnOutcome,
    /// The host's text at the end of prompts.
    pub(super) section: String,
    /// The tools that the models of open `llm` steps have called, each with the event in which the step was started.
    pub(super) used: BTreeMap<CallPlace, (u32, Vec<Used>)>,
    /// The last hard limit that was reached.
    pub(super) limit: Option<LimitKind>,
    /// The reason why a limit has ended the run.
    pub(super) summary: Option<String>,
    /// The step whose failure ended the walk of this turn.
    pub(super) failed: Option<String>,
    /// The number of calls for each element since the last event or turn.
    pub(super) recent_calls: BTreeMap<ElementPlace, u32>,
}

/// Fields that a session needs only while it handles an input or has calls under way.
#[derive(Default)]
pub(super) struct CallsUnderWay {
    /// The calls under way, in the order in which they were started.
    pub(super) calls: Vec<Call>,
    /// The inputs that the machine has not handled yet, each with the call that it concerns.
    pub(super) ready: VecDeque<(At, Input<Vec<Value>>)>,
    /// The answer that is being passed to the machine, and its question.
    pub(super) last_answer: Option<(String, Arc<Question>)>,
    /// The reason why an answer of the host does not fit, as the machine has found.
    pub(super) misfit: Option<String>,
    /// The data of the event that is being handled, for its line in the trace.
    pub(super) sending: Option<Value>,
    /// The inputs that the machines still have to handle. They are left over if the run has failed at an input.
    pub(super) tasks: Tasks,
}

static NO_EXTRA: Extra = Extra {
    run: None,
    host_log: None,
    history: History::new(),
    rare: LazyBox::new(),
    busy: LazyBox::new(),
};

static NO_RARE: RareParts = RareParts {
    origin: Origin::NONE,
    old_names: BTreeMap::new(),
    failures: BTreeMap::new(),
    ledger: Ledger::new(),
    complaints: BTreeMap::new(),
    heard: TurnOutcome::new(),
    section: String::new(),
    used: BTreeMap::new(),
    limit: None,
    summary: None,
    failed: None,
    recent_calls: BTreeMap::new(),
};

static NO_BUSY: CallsUnderWay = CallsUnderWay {
    calls: Vec::new(),
    ready: VecDeque::new(),
    last_answer: None,
    misfit: None,
    sending: None,
    tasks: Tasks::new(),
};

thread_local! {
    static EXTRAS: Pool<Extra> = const { RefCell::new(Vec::new()) };
    static RARES: Pool<RareParts> = const { RefCell::new(Vec::new()) };
    static BUSIES: Pool<CallsUnderWay> = const { RefCell::new(Vec::new()) };
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

impl Parts for RareParts {
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

impl Parts for CallsUnderWay {
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

// Boxes for parts of a session that are absent most of the time.
//
// With many idle sessions, memory per session matters: an absent part takes one pointer. As parts come and go with every event, a thread
// keeps a few empty boxes for reuse, which saves allocations.

/// The maximum number of boxes of each type that a thread keeps for reuse.
const KEPT: usize = 4;

/// The boxes of a thread for reuse.
pub(super) type Pool<P> = RefCell<Vec<Box<P>>>;

/// A group of fields that are absent most of the time.
pub(super) trait Parts: Default + 'static {
    /// The value that absent parts have.
    fn nothing() -> &'static Self;

    /// Whether the parts equal [`Parts::nothing`], so that they can be dropped.
    fn is_nothing(&self) -> bool;

    /// Calls `act` with the boxes of the present thread; `None` if the thread is ending.
    fn with_pool<R>(act: impl FnOnce(&Pool<Self>) -> R) -> Option<R>;
}

/// Parts that take one pointer while they are absent. The first write creates them, and [`LazyBox::release_if_empty`] removes them.
pub(super) struct LazyBox<P: Parts>(Option<Box<P>>);

impl<P: Parts> LazyBox<P> {
    /// Creates absent parts.
    pub(super) const fn new() -> Self {
        Self(None)
    }

    /// Whether the parts are absent or empty.
    pub(super) fn is_nothing(&self) -> bool {
        self.0.as_ref().is_none_or(|parts| parts.is_nothing())
    }

    /// Gives the box back if the parts are empty.
    pub(super) fn release_if_empty(&mut self) {
        if let Some(parts) = self.0.take_if(|parts| parts.is_nothing()) {
            P::with_pool(|pool| {
                let mut pool = pool.borrow_mut();
                if pool.len() < KEPT {
                    pool.push(parts);
                }
            });
        }
    }

    /// The parts, if they are present.
    pub(super) fn get_mut(&mut self) -> Option<&mut P> {
        self.0.as_deref_mut()
    }
}

impl<P: Parts> Default for LazyBox<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P: Parts> Deref for LazyBox<P> {
    type Target = P;

    fn deref(&self) -> &P {
        match &self.0 {
            Some(parts) => parts,
            None => P::nothing(),
        }
    }
}

impl<P: Parts> DerefMut for LazyBox<P> {
    fn deref_mut(&mut self) -> &mut P {
        self.0.get_or_insert_with(|| {
            P::with_pool(|pool| pool.borrow_mut().pop()).flatten().unwrap_or_default()
        })
    }
}

/// A value that is accessed only through `&mut`, which makes it `Sync` without locking.
pub(super) struct Exclusive<T>(Mutex<T>);

impl<T> Exclusive<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(Mutex::new(value))
    }

    pub(super) fn get_mut(&mut self) -> &mut T {
        self.0.get_mut().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
