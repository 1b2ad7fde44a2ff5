//! What calls take, and what they may take together: tokens and money.
//!
//! A call is paid for before it is made: the most that it can take is held, and given back when it is known what it took. So
//! what is spent never passes a bound, however many calls are under way. A call of which nobody says what it took counts as what was held.

use chartc_core::machine::LimitKind;
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Tokens of an answer that are paid for beforehand where the client does not say `max_tokens`.
pub const OUTPUT: u64 = 4096;

/// What one call took, as its provider says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens sent.
    pub input_tokens: u64,
    /// Tokens answered, reasoning included.
    pub output_tokens: u64,
    /// Millionths of the unit that prices are in, if the provider says so itself.
    pub cost: Option<u64>,
}

/// Tokens and money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Amount {
    /// In and out.
    pub tokens: u64,
    /// Millionths of the unit that prices are in.
    pub cost: u64,
}

impl Amount {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.saturating_add(other.cost),
        }
    }

    /// What is left of it.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            cost: self.cost.saturating_sub(other.cost),
        }
    }
}

/// What a million tokens cost, in millionths; `None` where the client does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Prices {
    /// Of those that are sent.
    pub input: Option<u64>,
    /// Of those that are answered.
    pub output: Option<u64>,
}

impl Prices {
    /// What tokens cost, rounded up. What has no price counts as free.
    pub fn of(self, input_tokens: u64, output_tokens: u64) -> u64 {
        let sum = u128::from(input_tokens) * u128::from(self.input.unwrap_or(0))
            + u128::from(output_tokens) * u128::from(self.output.unwrap_or(0));
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    /// What a call took. The provider's own word on its cost goes first.
    pub fn amount(self, usage: Usage) -> Amount {
        Amount {
            tokens: usage.input_tokens.saturating_add(usage.output_tokens),
            cost: usage.cost.unwrap_or_else(|| self.of(usage.input_tokens, usage.output_tokens)),
        }
    }
}

/// Bounds; `None` is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Caps {
    /// Tokens, in and out.
    pub tokens: Option<u64>,
    /// Millionths of the unit that prices are in.
    pub cost: Option<u64>,
}

impl Caps {
    /// What may still be taken of each.
    pub(crate) fn room(self, taken: Amount) -> Self {
        Self {
            tokens: self.tokens.map(|cap| cap.saturating_sub(taken.tokens)),
            cost: self.cost.map(|cap| cap.saturating_sub(taken.cost)),
        }
    }

    /// With so much more.
    pub(crate) fn wider(self, more: Amount) -> Self {
        Self {
            tokens: self.tokens.map(|room| room.saturating_add(more.tokens)),
            cost: self.cost.map(|room| room.saturating_add(more.cost)),
        }
    }

    /// The tighter of two.
    pub(crate) fn tighter(self, other: Self) -> Self {
        let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        Self { tokens: least(self.tokens, other.tokens), cost: least(self.cost, other.cost) }
    }

    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// The most that an answer may have, if what is sent and it are to fit in here; the limit that leaves no room for a single token.
    pub(crate) fn output(
        self,
        input_tokens: u64,
        wanted: Option<u64>,
        prices: Prices,
    ) -> Result<u64, LimitKind> {
        let mut most = wanted.unwrap_or(OUTPUT);
        let mut fit = |room: u64, kind: LimitKind| {
            // Who says how long an answer may be wants all of it; else it may be shorter than usual.
            if room == 0 || wanted.is_some_and(|wanted| room < wanted) {
                return Err(kind);
            }
            most = most.min(room);
            Ok(())
        };
        if let Some(tokens) = self.tokens {
            fit(tokens.saturating_sub(input_tokens), LimitKind::Tokens)?;
        }
        // What a call without a price costs shows only afterwards, so that one is made as long as any money is left.
        if self.cost == Some(0) && (prices.input.is_none() || prices.output.is_none()) {
            return Err(LimitKind::Cost);
        }
        if let Some(cost) = self.cost {
            let rest = cost.checked_sub(prices.of(input_tokens, 0)).ok_or(LimitKind::Cost)?;
            let room = match prices.output.unwrap_or(0) {
                0 => u64::MAX,
                price => {
                    let tokens = u128::from(rest) * 1_000_000 / u128::from(price);
                    u64::try_from(tokens).unwrap_or(u64::MAX)
                }
            };
            // Two roundings up of one sum may come out one higher.
            let over = prices.of(input_tokens, room) > cost;
            fit(room.saturating_sub(u64::from(over)), LimitKind::Cost)?;
        }
        Ok(most)
    }
}

/// What has been spent of bounds, and what calls under way may still take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Account {
    /// By calls that have ended.
    pub spent: Amount,
    /// The most that calls under way can take.
    #[serde(skip)]
    pub held: Amount,
}

impl Account {
    pub(crate) fn room(self, caps: Caps) -> Caps {
        caps.room(self.spent.plus(self.held))
    }

    pub(crate) fn hold(&mut self, bound: Amount) {
        self.held = self.held.plus(bound);
    }

    pub(crate) fn settle(&mut self, bound: Amount, actual: Amount) {
        self.held = self.held.minus(bound);
        self.spent = self.spent.plus(actual);
    }
}

/// A bound that several runs share. Clones are the same budget.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    caps: Caps,
    account: Arc<Mutex<Account>>,
}

impl Budget {
    /// Nothing spent yet.
    pub fn new(caps: Caps) -> Self {
        Self { caps, account: Arc::default() }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What calls that have ended took.
    pub fn spent(&self) -> Amount {
        self.account().spent
    }

    /// What may still be taken, beside the calls under way.
    pub fn room(&self) -> Caps {
        self.account().room(self.caps)
    }

    /// Pays for a call beforehand, by what it can take at most. `bound` gets what there is room for, and says how much of it
    /// is wanted; nobody else takes of the budget meanwhile.
    ///
    /// # Errors
    /// The limit that it would pass.
    pub(crate) fn hold<R>(
        &self,
        bound: impl FnOnce(Caps) -> Result<(Amount, R), LimitKind>,
    ) -> Result<(Hold, R), LimitKind> {
        let mut account = self.account();
        let (amount, rest) = bound(account.room(self.caps))?;
        account.hold(amount);
        Ok((Hold { budget: self.clone(), bound: Some(amount) }, rest))
    }
}

impl Budget {
    /// Holds for a call of a run that goes on what was held for it before.
    pub(crate) fn hold_again(&self, amount: Amount) -> Hold {
        self.account().hold(amount);
        Hold { budget: self.clone(), bound: Some(amount) }
    }
}

/// What a call under way may take of a shared budget. Dropped unsettled, it counts as taken.
#[derive(Debug)]
pub(crate) struct Hold {
    budget: Budget,
    bound: Option<Amount>,
}

impl Hold {
    /// The call took this.
    pub(crate) fn settle(mut self, actual: Amount) {
        if let Some(bound) = self.bound.take() {
            self.budget.account().settle(bound, actual);
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(bound) = self.bound.take() {
            self.budget.account().settle(bound, bound);
        }
    }
}
