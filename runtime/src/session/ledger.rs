//! Tokens and money of one run: charged to a state and its ancestors, and to a budget that runs share.

use super::parts::Extra;
use super::{At, QuestionFailure, Session};
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

/// An account of a state that has bounds.
#[derive(Debug, Clone, Default)]
struct StateAccount {
    account: Account,
    /// Soft bounds of tokens and of cost that were told.
    warned: [bool; 2],
}

/// What a call under way may take.
#[derive(Debug)]
pub(super) struct Reserved {
    bound: Usage,
    prices: Prices,
    states: Vec<StateId>,
    hold: Option<Hold>,
}

/// Why a call cannot be paid for now.
enum Refusal {
    /// A limit forbids it.
    Limit(LimitKind),
    /// There may be room when other calls of the run have ended.
    Later,
}

/// Whether a call may be made.
pub(super) enum Admission {
    /// It is paid for.
    Made,
    /// It waits for what other calls of the run give back.
    Waits,
    /// A limit forbids it, and the machine will be told.
    Refused,
}

#[derive(Debug, Default)]
pub(super) struct Ledger {
    places: BTreeMap<(MemberPath, StateId), StateAccount>,
    under_way: BTreeMap<At, Reserved>,
    pub(super) total: Usage,
}

/// Accounts as data.
#[derive(Debug, Clone)]
pub(super) struct Saved {
    /// What states have spent, and which of their soft bounds were told.
    pub(super) accounts: Vec<(MemberPath, StateId, Amount, [bool; 2])>,
    /// What is held for calls under way, and in which states.
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

    /// Whether something is held for a call.
    pub(super) fn is_held(&self, at: &At) -> bool {
        self.under_way.contains_key(at)
    }

    /// Gives back what is held for a call that was not made.
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

    /// Pays for a call beforehand. Where anything bounds it, the question says how long its answer may be.
    fn reserve(
        &mut self,
        machine: &dyn Machine,
        at: &At,
        question: &mut Question,
        shared: Option<&Budget>,
    ) -> Result<(), Refusal> {
        let tables = machine.tables();
        let row = &tables.steps[at.1.step.index()];
        let prices = question.model.prices;
        let mut states = Vec::new();
        let (mut room, mut later) = (Caps::default(), Caps::default());
        let mut state = row.state;
        loop {
            let caps = caps(&machine.limits(state));
            if !caps.is_none() {
                let place = self.places.entry((at.0.clone(), state)).or_default();
                room = room.tighter(place.account.room(caps));
                later = later.tighter(caps.room(place.account.spent));
                states.push(state);
            }
            if state.index() == 0 {
                break;
            }
            state = tables.states[state.index()].parent;
        }
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
            Some(budget) => budget
                .hold(|shared| measure(room.tighter(shared)))
                .map(|(hold, bound)| (Some(hold), bound)),
            None => measure(room).map(|(_, bound)| (None, bound)),
        };
        let (hold, bound) = held.map_err(|kind| {
            // What the run's own calls may give back may be room enough.
            let shared = shared.map_or_else(Caps::default, |budget| {
                let own = self.under_way.values().filter(|reserved| reserved.hold.is_some());
                let own = own.map(|Reserved { bound, prices, .. }| prices.amount(*bound));
                budget.room().wider(own.fold(Amount::default(), Amount::plus))
            });
            let waits = !self.under_way.is_empty() && measure(later.tighter(shared)).is_ok();
            if waits { Refusal::Later } else { Refusal::Limit(kind) }
        })?;
        let Some(bound) = bound else {
            // Nothing bounds it: what it takes is only added up.
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
}

/// What is known of a call that has ended.
#[derive(Default)]
pub(super) struct Bill {
    /// What it took, if somebody says so.
    pub(super) usage: Option<Usage>,
    /// Whether it may have been billed where nobody says.
    pub(super) billed: bool,
    /// Whether its answer was cut off at its limit of tokens.
    pub(super) cut: bool,
    /// That limit.
    pub(super) allowed: Option<u64>,
}

impl Bill {
    /// Of a call that was allowed so many tokens.
    pub(super) fn of(answer: &Result<Answer, OracleError>, allowed: Option<u64>) -> Self {
        match answer {
            Ok(Answer { usage, cut, .. }) => {
                Self { usage: *usage, billed: true, cut: *cut, allowed }
            }
            Err(error) => Self::nothing(error.may_be_billed()),
        }
    }

    /// Nobody says what it took.
    pub(super) fn nothing(billed: bool) -> Self {
        Self { billed, ..Self::default() }
    }
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Settles a call that was made and of which nobody says what it took: it may have been billed.
    pub(super) fn settle_unknown(
        &mut self,
        now: Instant,
        at: &At,
        prices: Prices,
    ) -> Result<(), RunError> {
        let charge = self.settle_call(now, at, prices, Bill::nothing(true))?;
        self.extra
            .busy
            .ready
            .extend(charge.map(|charge| (at.clone(), Input::Charge(at.1, charge))));
        Ok(())
    }

    /// Pays for a call beforehand.
    pub(super) fn reserve(&mut self, at: &At, question: &mut Question) -> Admission {
        let Some(machine) = self.family.member(&at.0) else { return Admission::Made };
        match self.extra.rare.ledger.reserve(machine, at, question, self.common.budget.as_ref()) {
            Ok(()) => Admission::Made,
            Err(Refusal::Later) => Admission::Waits,
            Err(Refusal::Limit(kind)) => {
                let what = if kind == LimitKind::Cost { "cost" } else { "tokens" };
                let why = format!("the limit of {what} leaves no room for the call");
                self.record_question_failure(at, &question.step, QuestionFailure::Limit, &why);
                self.extra.busy.ready.push_back((at.clone(), Input::Exhausted(at.1, kind)));
                Admission::Refused
            }
        }
    }

    /// A call has ended. What it took counts; where nobody says, and it may have been billed, what was held for it.
    pub(super) fn settle_call(
        &mut self,
        now: Instant,
        at: &At,
        prices: Prices,
        bill: Bill,
    ) -> Result<Option<Charge>, RunError> {
        let Bill { usage, billed, cut, allowed } = bill;
        let reserved = self.extra.rare.ledger.under_way.remove(at);
        let assumed = usage.is_none();
        let usage = match (usage, &reserved) {
            (Some(usage), _) => Some(usage),
            (None, Some(reserved)) if billed => Some(reserved.bound),
            // A line says that it was cut off.
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
        let total = &mut self.extra.rare.ledger.total;
        total.input_tokens = total.input_tokens.saturating_add(input_tokens);
        total.output_tokens = total.output_tokens.saturating_add(output_tokens);
        total.cost = Some(total.cost.unwrap_or(0).saturating_add(taken.cost));
        let (child, step) = (self.path(&at.0), self.step_name(&at.0, at.1));
        let cost = taken.cost as f64 / 1e6;
        let (attempt, which) = (at.1.attempt, self.which(at));
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
        let machine = self.family.member(&at.0);
        let is_read = machine.is_some_and(|machine| machine.tables().reads_amounts);
        let Amount { tokens, cost } = taken;
        Ok(is_read.then_some(Charge { tokens, cost }))
    }

    fn charge(&mut self, at: &At, state: StateId, held: Amount, taken: Amount) {
        let Some(machine) = self.family.member(&at.0) else { return };
        let limits = machine.limits(state);
        let Extra { rare, busy, .. } = &mut *self.extra;
        let place = rare.ledger.places.entry((at.0.clone(), state)).or_default();
        place.account.settle(held, taken);
        let spent = place.account.spent;
        let bounds = [
            (LimitKind::Tokens, limits.tokens_warn, spent.tokens),
            (LimitKind::Cost, limits.cost_warn, spent.cost),
        ];
        for (warned, (kind, bound, spent)) in place.warned.iter_mut().zip(bounds) {
            if bound.is_some_and(|bound| spent >= bound) && !*warned {
                *warned = true;
                busy.ready.push_back((at.clone(), Input::Warn(kind)));
            }
        }
    }

    /// Tokens and money that calls have taken, those included of which only the bound is known.
    pub fn spent(&self) -> Usage {
        self.extra.rare.ledger.total
    }
}
