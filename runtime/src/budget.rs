//! Token and money budgets: what calls have used, and what they may use together.
//!
//! The problem: calls run concurrently, and what a call uses is known only after it. The idea: before a call is made, the maximum that it
//! can use is *held*; afterwards the hold is replaced by what it did use. So the bound is never exceeded. With a cap of 10,000 tokens:
//!
//! ```text
//! call a: prompt 2,000 tokens, max_tokens 4,000     held 6,000, room 4,000
//! call b: prompt 3,000 tokens, max_tokens 4,000     needs 7,000: refused with `limit.tokens`
//! a ends, used 2,500                                spent 2,500, held 0, room 7,500
//! ```
//!
//! If the provider does not report what a call used, the whole hold counts as spent.

use chartc_core::machine::LimitKind;
use chartc_core::tables::{ClientRow, is_free};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The maximum length of an answer, in tokens, for which a call is charged in advance if its client sets no `max_tokens`.
pub const OUTPUT: u64 = 4096;

/// The use of one call, as its provider reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Usage {
    /// The tokens of the prompt.
    pub input_tokens: u64,
    /// The tokens of the answer, including reasoning.
    pub output_tokens: u64,
    /// The cost in millionths of the unit of the prices, if the provider reports it itself.
    pub cost: Option<u64>,
}

/// A number of tokens and an amount of money.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Amount {
    /// Tokens, of prompts and answers together.
    pub tokens: u64,
    /// Money, in millionths of the unit of the prices.
    pub cost: u64,
}

impl Amount {
    /// The sum of both amounts; it saturates.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_add(other.tokens),
            cost: self.cost.saturating_add(other.cost),
        }
    }

    /// The difference, at least zero.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        Self {
            tokens: self.tokens.saturating_sub(other.tokens),
            cost: self.cost.saturating_sub(other.cost),
        }
    }
}

/// The prices of a million tokens, in millionths of the unit; `None` if the client sets none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Prices {
    /// The price of prompt tokens.
    pub input: Option<u64>,
    /// The price of answer tokens.
    pub output: Option<u64>,
}

impl Prices {
    /// The prices of a client. Models that run locally are free unless the client sets prices.
    pub fn of_client(row: &ClientRow) -> Self {
        let (input, output) = (row.input_price, row.output_price);
        let is_free = input.is_none() && output.is_none() && is_free(&row.model);
        if is_free { Self { input: Some(0), output: Some(0) } } else { Self { input, output } }
    }

    /// The cost of tokens, rounded up to a millionth of the unit. Tokens without a price are free.
    pub fn of(self, input_tokens: u64, output_tokens: u64) -> u64 {
        let sum = u128::from(input_tokens) * u128::from(self.input.unwrap_or(0))
            + u128::from(output_tokens) * u128::from(self.output.unwrap_or(0));
        u64::try_from(sum.div_ceil(1_000_000)).unwrap_or(u64::MAX)
    }

    /// The amount that a call has used. A cost that the provider reports takes precedence over the prices.
    pub fn amount(self, usage: Usage) -> Amount {
        Amount {
            tokens: usage.input_tokens.saturating_add(usage.output_tokens),
            cost: usage.cost.unwrap_or_else(|| self.of(usage.input_tokens, usage.output_tokens)),
        }
    }
}

/// Upper bounds; `None` for no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Caps {
    /// The bound on tokens, of prompts and answers together.
    pub tokens: Option<u64>,
    /// The bound on the cost, in millionths of the unit of the prices.
    pub cost: Option<u64>,
}

impl Caps {
    /// The bounds that remain after an amount was used.
    pub(crate) fn room(self, taken: Amount) -> Self {
        Self {
            tokens: self.tokens.map(|cap| cap.saturating_sub(taken.tokens)),
            cost: self.cost.map(|cap| cap.saturating_sub(taken.cost)),
        }
    }

    /// The bounds, raised by an amount.
    pub(crate) fn wider(self, more: Amount) -> Self {
        Self {
            tokens: self.tokens.map(|room| room.saturating_add(more.tokens)),
            cost: self.cost.map(|room| room.saturating_add(more.cost)),
        }
    }

    /// The minimum of both bounds.
    pub(crate) fn tighter(self, other: Self) -> Self {
        let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        Self { tokens: least(self.tokens, other.tokens), cost: least(self.cost, other.cost) }
    }

    pub(crate) fn is_none(self) -> bool {
        self == Self::default()
    }

    /// The maximum number of answer tokens such that prompt and answer stay within these bounds. The error is the limit that does not
    /// allow it.
    pub(crate) fn output(
        self,
        input_tokens: u64,
        wanted: Option<u64>,
        prices: Prices,
    ) -> Result<u64, LimitKind> {
        let mut most = wanted.unwrap_or(OUTPUT);
        let mut fit = |room: u64, kind: LimitKind| {
            // A client that sets `max_tokens` needs all of them. Without it, a shorter answer than the default is acceptable.
            if room == 0 || wanted.is_some_and(|wanted| room < wanted) {
                return Err(kind);
            }
            most = most.min(room);
            Ok(())
        };
        if let Some(tokens) = self.tokens {
            fit(tokens.saturating_sub(input_tokens), LimitKind::Tokens)?;
        }
        // The cost of a call without a price is known only afterwards, so such calls are made as long as any money is left.
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
            // `prices.of` rounds up, so that the computed number of tokens may cost one millionth too much.
            let over = prices.of(input_tokens, room) > cost;
            fit(room.saturating_sub(u64::from(over)), LimitKind::Cost)?;
        }
        Ok(most)
    }
}

/// The amount spent so far, and the maximum that the calls under way can still use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Account {
    /// The use of the calls that have ended.
    pub spent: Amount,
    /// The maximum use of the calls under way.
    // Not saved: a resumed run holds again for each call that is still open.
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

/// A bound that several runs share. All clones are the same budget.
#[derive(Debug, Clone, Default)]
pub struct Budget {
    caps: Caps,
    account: Arc<Mutex<Account>>,
}

impl Budget {
    /// Creates a budget of which nothing is spent.
    pub fn new(caps: Caps) -> Self {
        Self { caps, account: Arc::default() }
    }

    fn account(&self) -> MutexGuard<'_, Account> {
        self.account.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The use of the calls that have ended.
    pub fn spent(&self) -> Amount {
        self.account().spent
    }

    /// The bounds that remain, after the calls that have ended and the maximum of those under way.
    pub fn room(&self) -> Caps {
        self.account().room(self.caps)
    }

    /// Holds the maximum use of a call. `bound` gets the room that is left and returns the amount to hold; the budget stays locked
    /// meanwhile, so that no other call takes the same room.
    ///
    /// # Errors
    /// The limit that the call would exceed.
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
    /// Holds an amount again that a saved run had held for a call. It does not check the bounds, because the call may have been made
    /// already.
    pub(crate) fn hold_again(&self, amount: Amount) -> Hold {
        self.account().hold(amount);
        Hold { budget: self.clone(), bound: Some(amount) }
    }
}

/// The hold of a call on a shared budget. If it is dropped without `settle`, all of it counts as spent.
#[derive(Debug)]
pub(crate) struct Hold {
    budget: Budget,
    bound: Option<Amount>,
}

impl Hold {
    /// Replaces the hold by the amount that the call has used.
    pub(crate) fn settle(mut self, actual: Amount) {
        if let Some(bound) = self.bound.take() {
            self.budget.account().settle(bound, actual);
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        // An abandoned call may have been charged, so its whole hold counts as spent.
        if let Some(bound) = self.bound.take() {
            self.budget.account().settle(bound, bound);
        }
    }
}
