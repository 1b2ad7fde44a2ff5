//! The tokens and the money of a run, which are charged to states with limits, and to a budget that several runs share.
//!
//! Before a call is made, the maximum that it can use is held in the account of each state with limits, from the step's state to the
//! root, and in the shared budget. Afterwards the hold is replaced by the actual use. If only the holds of other calls of this run leave
//! too little room, the call waits for them; otherwise it is refused, and the machine raises the limit's event.

use super::{At, Extra, QuestionFailure, Session};
use crate::budget::{Account, Amount, Budget, Caps, Hold, Prices, Usage};
use crate::error::RunError;
use crate::oracle::{Answer, OracleError, Question};
use crate::trace::{self, What};
use chartc_core::arena::StateId;
use chartc_core::family::MemberPath;
use chartc_core::host::Machine;
use chartc_core::machine::{Charge, Input, Instant, LimitKind};
use chartc_core::tables::LimitsRow;
use std::collections::BTreeMap;

/// The account of a state with limits.
#[derive(Debug, Clone, Default)]
struct StateAccount {
    account: Account,
    /// Whether the soft limits of tokens and of cost have been reported.
    warned: [bool; 2],
}

/// The maximum use of a call under way, with the accounts in which it is held.
#[derive(Debug)]
pub(super) struct Reserved {
    bound: Usage,
    prices: Prices,
    states: Vec<StateId>,
    hold: Option<Hold>,
}

/// The reason why a call cannot be admitted now.
enum Refusal {
    /// A limit does not allow the call.
    Limit(LimitKind),
    /// There may be room when other calls of the run have ended.
    Later,
}

/// The decision about a call.
pub(super) enum Admission {
    /// The call may be made; its maximum is held.
    Made,
    /// The call waits for what other calls of the run will release.
    Waits,
    /// A limit does not allow the call; the machine will be told.
    Refused,
}

/// The accounts of a run.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    places: BTreeMap<(MemberPath, StateId), StateAccount>,
    under_way: BTreeMap<At, Reserved>,
    pub(super) total: Usage,
}

/// The accounts as data, for a saved run.
#[derive(Debug, Clone)]
pub(super) struct Saved {
    /// The amounts that states have spent, and whether their soft limits have been reported.
    pub(super) accounts: Vec<(MemberPath, StateId, Amount, [bool; 2])>,
    /// The amounts that are held for calls under way, with their states.
    pub(super) held: Vec<(At, Usage, Prices, Vec<StateId>)>,
    pub(super) total: Usage,
}

fn caps(row: &LimitsRow) -> Caps {
    Caps { tokens: row.tokens, cost: row.cost }
}

impl Ledger {
    pub(super) const fn new() -> Self {
        let total = Usage { input_tokens: 0, output_tokens: 0, cost: None };
        Self { places: BTreeMap::new(), under_way: BTreeMap::new(), total }
    }

    pub(super) fn is_empty(&self) -> bool {
        let Self { places, under_way, total } = self;
        places.is_empty() && under_way.is_empty() && *total == Usage::default()
    }

    pub(super) fn save(&self) -> Saved {
        let accounts = self.places.iter().map(|((member, state), place)| {
            (member.clone(), *state, place.account.spent, place.warned)
        });
        let held = self.under_way.iter().map(|(at, Reserved { bound, prices, states, .. })| {
            (at.clone(), *bound, *prices, states.clone())
        });
        Saved { accounts: accounts.collect(), held: held.collect(), total: self.total }
    }

    pub(super) fn load(&mut self, saved: &Saved, shared: Option<&Budget>) {
        self.total = saved.total;
        for (member, state, spent, warned) in &saved.accounts {
            let account = Account { spent: *spent, ..Account::default() };
            let place = StateAccount { account, warned: *warned };
            self.places.insert((member.clone(), *state), place);
        }
        for (at, bound, prices, states) in &saved.held {
            let amount = prices.amount(*bound);
            for state in states {
                self.places.entry((at.0.clone(), *state)).or_default().account.hold(amount);
            }
            let hold = shared.map(|budget| budget.hold_again(amount));
            let (bound, prices, states) = (*bound, *prices, states.clone());
            self.under_way.insert(at.clone(), Reserved { bound, prices, states, hold });
        }
    }

    /// Whether an amount is held for a call.
    pub(super) fn is_held(&self, at: &At) -> bool {
        self.under_way.contains_key(at)
    }

    /// Releases the hold of a call that was not made.
    pub(super) fn release(&mut self, at: &At) {
        let Some(Reserved { bound, prices, states, hold }) = self.under_way.remove(at) else {
            return;
        };
        let held = prices.amount(bound);
        for state in states {
            let place = self.places.entry((at.0.clone(), state)).or_default();
            place.account.settle(held, Amount::default());
        }
        if let Some(hold) = hold {
            hold.settle(Amount::default());
        }
    }

    /// Holds the maximum use of a call in all accounts that limit it. Sets `max_tokens` of the question to what the limits allow.
    fn reserve(
        &mut self,
        machine: &dyn Machine,
        at: &At,
        question: &mut Question,
        shared: Option<&Budget>,
    ) -> Result<(), Refusal> {
        let prices = question.model.prices;
        let (states, room, later) = self.limits(machine, at);
        let input_tokens = question.token_bound();
        let wanted = question.model.max_tokens;
        let measure = |room: Caps| {
            if room.is_none() {
                return Ok((Amount::default(), None));
            }
            let output_tokens = room.output(input_tokens, wanted, prices)?;
            let bound = Usage { input_tokens, output_tokens, cost: None };
            Ok((prices.amount(bound), Some(bound)))
        };
        let held = match shared {
            // The budget stays locked during the computation, so that no other run takes the same room.
            Some(budget) => budget
                .hold(|shared| measure(room.tighter(shared)))
                .map(|(hold, bound)| (Some(hold), bound)),
            None => measure(room).map(|(_, bound)| (None, bound)),
        };
        let (hold, bound) = held.map_err(|kind| {
            // Would there be room if all calls under way used nothing? Then the call can wait for them.
            let shared = shared.map_or_else(Caps::default, |budget| {
                let own = self.under_way.values().filter(|reserved| reserved.hold.is_some());
                let own = own.map(|Reserved { bound, prices, .. }| prices.amount(*bound));
                budget.room().wider(own.fold(Amount::default(), Amount::plus))
            });
            let waits = !self.under_way.is_empty() && measure(later.tighter(shared)).is_ok();
            if waits { Refusal::Later } else { Refusal::Limit(kind) }
        })?;
        let Some(bound) = bound else {
            // Nothing limits the call. Its use is only added to the total.
            drop(hold);
            return Ok(());
        };
        question.model.max_tokens = Some(bound.output_tokens);
        let amount = prices.amount(bound);
        for state in &states {
            let place = self.places.entry((at.0.clone(), *state)).or_default();
            place.account.hold(amount);
        }
        self.under_way.insert(at.clone(), Reserved { bound, prices, states, hold });
        Ok(())
    }

    /// The states whose limits a call counts against, the room that they leave now, and the room if all calls under way
    /// used nothing.
    fn limits(&mut self, machine: &dyn Machine, at: &At) -> (Vec<StateId>, Caps, Caps) {
        let tables = machine.tables();
        let mut states = Vec::new();
        let (mut room, mut later) = (Caps::default(), Caps::default());
        let mut state = tables.steps[at.1.step.index()].state;
        // The limits of all ancestors apply; the tightest one decides.
        loop {
            let caps = caps(&machine.limits(state));
            if !caps.is_none() {
                let place = self.places.entry((at.0.clone(), state)).or_default();
                room = room.tighter(place.account.room(caps));
                later = later.tighter(caps.room(place.account.spent));
                states.push(state);
            }
            if state.index() == 0 {
                return (states, room, later);
            }
            state = tables.states[state.index()].parent;
        }
    }
}

/// The use of a call that has ended, as far as it is known.
#[derive(Default)]
pub(super) struct Bill {
    /// The use that the provider reports.
    pub(super) usage: Option<Usage>,
    /// Whether the provider may charge for the call although it reports nothing.
    pub(super) billed: bool,
    /// Whether the answer was cut off at the maximum number of tokens.
    pub(super) cut: bool,
    /// The maximum number of tokens of the answer.
    pub(super) allowed: Option<u64>,
}

impl Bill {
    /// The bill of a question with this maximum number of answer tokens.
    pub(super) fn of(answer: &Result<Answer, OracleError>, allowed: Option<u64>) -> Self {
        match answer {
            Ok(Answer { usage, cut, .. }) => {
                Self { usage: *usage, billed: true, cut: *cut, allowed }
            }
            Err(error) => Self::nothing(error.may_be_billed()),
        }
    }

    /// The bill of a call whose use nobody reports.
    pub(super) fn nothing(billed: bool) -> Self {
        Self { billed, ..Self::default() }
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Settles a call that was made and whose use nobody reports: it may have been charged, so its whole hold counts.
    pub(super) fn settle_unknown(
        &mut self,
        now: Instant,
        at: &At,
        prices: Prices,
    ) -> Result<(), RunError> {
        let charge = self.settle_call(now, at, prices, Bill::nothing(true))?;
        self.extra.ready.extend(charge.map(|charge| (at.clone(), Input::Charge(at.1, charge))));
        Ok(())
    }

    /// Holds the maximum use of a call. If a limit does not allow it, queues an input that tells the machine.
    pub(super) fn reserve(&mut self, at: &At, question: &mut Question) -> Admission {
        let Some(machine) = self.family.member(&at.0) else { return Admission::Made };
        match self.extra.ledger.reserve(machine, at, question, self.common.budget.as_ref()) {
            Ok(()) => Admission::Made,
            Err(Refusal::Later) => Admission::Waits,
            Err(Refusal::Limit(kind)) => {
                let what = if kind == LimitKind::Cost { "cost" } else { "tokens" };
                let why = format!("the limit of {what} leaves no room for the call");
                self.record_question_failure(at, &question.step, QuestionFailure::Limit, &why);
                self.extra.ready.push_back((at.clone(), Input::Exhausted(at.1, kind)));
                Admission::Refused
            }
        }
    }

    /// Settles a call that has ended. Its reported use counts; without a report, its hold counts if the provider may charge for the call.
    /// Writes the `usage` line. Returns the charge for the machine if the chart reads amounts.
    pub(super) fn settle_call(
        &mut self,
        now: Instant,
        at: &At,
        prices: Prices,
        bill: Bill,
    ) -> Result<Option<Charge>, RunError> {
        let Bill { usage, billed, cut, allowed } = bill;
        let reserved = self.extra.ledger.under_way.remove(at);
        let assumed = usage.is_none();
        let usage = match (usage, &reserved) {
            (Some(usage), _) => Some(usage),
            (None, Some(reserved)) if billed => Some(reserved.bound),
            // A `usage` line is written in any case, as it records that the answer was cut off.
            (None, _) if cut => Some(Usage::default()),
            (None, _) => None,
        };
        let taken = usage.map_or_else(Amount::default, |usage| prices.amount(usage));
        if let Some(Reserved { bound, prices, states, hold }) = reserved {
            let held = prices.amount(bound);
            for state in &states {
                self.charge(at, *state, held, taken);
            }
            if let Some(hold) = hold {
                hold.settle(taken);
            }
        }
        let Some(Usage { input_tokens, output_tokens, .. }) = usage else { return Ok(None) };
        let total = &mut self.extra.ledger.total;
        total.input_tokens = total.input_tokens.saturating_add(input_tokens);
        total.output_tokens = total.output_tokens.saturating_add(output_tokens);
        total.cost = Some(total.cost.unwrap_or(0).saturating_add(taken.cost));
        let (child, step) = (self.path(&at.0), self.step_name(&at.0, at.1));
        let cost = taken.cost as f64 / 1e6;
        let (attempt, which) = (at.1.attempt, self.which(at));
        // Worth a note only if the provider reports more than was allowed, as limits may then be exceeded.
        let allowed = allowed.filter(|allowed| !assumed && output_tokens > *allowed);
        let what = What::Usage {
            step,
            attempt,
            input_tokens,
            output_tokens,
            cost,
            assumed,
            cut,
            allowed,
            which,
        };
        self.tracer.put(now, &child, what)?;
        // Most charts read no amounts, and need no input for them.
        let machine = self.family.member(&at.0);
        let is_read = machine.is_some_and(|machine| machine.tables().reads_amounts);
        let Amount { tokens, cost } = taken;
        Ok(is_read.then_some(Charge { tokens, cost }))
    }

    fn charge(&mut self, at: &At, state: StateId, held: Amount, taken: Amount) {
        let Some(machine) = self.family.member(&at.0) else { return };
        let limits = machine.limits(state);
        let Extra { ledger, ready, .. } = &mut *self.extra;
        let place = ledger.places.entry((at.0.clone(), state)).or_default();
        place.account.settle(held, taken);
        let spent = place.account.spent;
        let bounds = [
            (LimitKind::Tokens, limits.tokens_warn, spent.tokens),
            (LimitKind::Cost, limits.cost_warn, spent.cost),
        ];
        for (warned, (kind, bound, spent)) in place.warned.iter_mut().zip(bounds) {
            // Each soft limit is reported once.
            if bound.is_some_and(|bound| spent >= bound) && !*warned {
                *warned = true;
                ready.push_back((at.clone(), Input::Warn(kind)));
            }
        }
    }

    /// The total use of the run's calls, counting the hold of those whose use is unknown.
    pub fn spent(&self) -> Usage {
        self.extra.ledger.total
    }
}
