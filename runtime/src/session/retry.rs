//! How long a failed call is waited after, who is asked then, and how long a call may take.

use super::{At, Session, place_of};
use crate::clock::Clock;
use crate::driver::{CallId, Driver};
use crate::oracle::{Asking, OracleError, OracleErrorKind, Question};
use crate::trace;
use chartc_core::host::Machine;
use chartc_core::machine::Instant;
use chartc_core::tables::{ClientRow, Tables};
use serde::{Deserialize, Serialize};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

/// Waits between attempts of a call that failed: each twice as long as the one before, up to a bound, a part of it by chance so that many
/// agents do not come back at one moment. What a provider says itself goes first. An answer that means nothing is asked
/// again at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// Milliseconds after the first failure.
    pub first: u64,
    /// Milliseconds at most.
    pub most: u64,
    /// Makes the part by chance: equal seeds wait equally long.
    pub seed: u64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: 500, most: 30_000, seed: 0 }
    }
}

impl Backoff {
    /// No waiting.
    pub const NONE: Self = Self { first: 0, most: 0, seed: 0 };

    /// Milliseconds to wait after failure `nth` (from 1) of a call. `mark` tells calls apart.
    pub fn wait(self, nth: u32, retry_after: Option<u64>, mark: u64) -> u64 {
        let doubled = self.first.saturating_mul(1 << nth.saturating_sub(1).min(32));
        let whole = doubled.min(self.most);
        let half = whole / 2;
        let chance = scrambled(self.seed ^ scrambled(mark)) % (whole - half + 1);
        let wait = half + chance;
        retry_after.map_or(wait, |said| said.max(wait))
    }
}

/// SplitMix64, one step.
fn scrambled(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Milliseconds that a provider may ask to be left alone for. One that wants more is not asked again: the step has failed, and nothing waits.
pub const MOST_RETRY_AFTER: u64 = 5 * 60 * 1000;

/// The last failure of a call, for its next attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failure {
    /// The event that the step was started in.
    pub(super) event: u32,
    /// How many in a row.
    pub(super) count: u32,
    pub(super) retry_after: Option<u64>,
    /// Whether nobody is there who could do better later.
    pub(super) is_final: bool,
    /// The client for the next attempt.
    pub(super) client: String,
    /// Whether no attempt is left that could end otherwise: the server refuses such calls for good, and there is no other client.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_hopeless: bool,
    /// Why no model was there, for each of the failures in a row; shorter than their `count` if some failed for another reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) nobody: Vec<String>,
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Keeps the reason why a call failed, for its next attempt. Returns why the run must end: no model has answered yet, and no client of
    /// the chain can be asked.
    pub(super) fn keep_failure(
        &mut self,
        at: &At,
        question: &Question,
        error: &OracleError,
    ) -> Option<String> {
        let (member, key) = at;
        let tables = self.family.member(member)?.tables();
        let client = next_client(tables, &question.client);
        let place = place_of(member, *key);
        let last = self.extra.rare.failures.remove(&place).filter(|last| last.event == key.event);
        let (count, mut nobody) =
            last.map_or((1, Vec::new()), |last| (last.count + 1, last.nobody));
        if error.is_unavailable() {
            nobody.push(error.to_string());
        }
        let other = client != question.client;
        // A chain may lead back to its beginning.
        let is_last = !other || count as usize >= tables.clients.len();
        let begins = !self.answered && !self.common.driver.has_answered();
        if begins && is_last && nobody.len() == count as usize {
            nobody.dedup();
            return Some(nobody.join("; "));
        }
        // Another client has nothing to recover from.
        let retry_after = error.retry_after().filter(|_| !other);
        let is_final = other || error.kind() == OracleErrorKind::Denied;
        let is_hopeless = is_last && error.kind() == OracleErrorKind::Rejected;
        let event = key.event;
        let failure = Failure { event, count, retry_after, is_final, client, is_hopeless, nobody };
        self.extra.rare.failures.insert(place, failure);
        None
    }

    /// Forgets the clients of the chain that could not be asked, if no model has answered yet: a run that continues begins with the first of
    /// them again. Returns whether there are any.
    pub(super) fn forget_chain(&mut self, (member, key): &At) -> bool {
        let place = place_of(member, *key);
        let failures = &mut self.extra.rare.failures;
        let is_any = failures.get(&place).is_some_and(|last| !last.nobody.is_empty());
        let forgets = is_any && !self.answered;
        if forgets {
            self.extra.rare.failures.remove(&place);
        }
        forgets
    }
}

/// The client that a failed one falls back to; itself, where it has none.
pub(super) fn next_client(tables: &Tables<'_>, failed: &str) -> String {
    let row = |name: &str| tables.clients.iter().find(|row| row.name == name);
    let next = row(failed).and_then(|row| tables.clients.get(row.fallback?.index()));
    next.map_or(failed, |row: &ClientRow<'_>| row.name).to_owned()
}

/// Puts a question, with the time that its client allows from `since` on.
pub(super) fn ask_with_timeout(
    driver: &Arc<dyn Driver>,
    clock: &Arc<dyn Clock>,
    id: &CallId,
    question: Arc<Question>,
    since: Instant,
) -> Asking {
    let timeout = question.model.timeout.filter(|_| !driver.keeps_time());
    let mut asking = driver.ask(id, question);
    let Some(timeout) = timeout else { return asking };
    let mut sleep = clock.sleep_until(since.saturating_add(timeout));
    Box::pin(poll_fn(move |cx| match asking.as_mut().poll(cx) {
        Poll::Ready(answer) => Poll::Ready(answer),
        Poll::Pending => sleep.as_mut().poll(cx).map(|()| Err(OracleError::Timeout(timeout))),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_a_bound_and_differ_between_agents() {
        let one = Backoff { first: 1000, most: 5000, seed: 1 };
        for (nth, whole) in [(1, 1000), (2, 2000), (3, 4000), (4, 5000), (40, 5000)] {
            let waits: Vec<u64> = (0..200).map(|mark| one.wait(nth, None, mark)).collect();
            assert!(waits.iter().all(|w| (whole / 2..=whole).contains(w)), "{nth}: {waits:?}");
            assert!(waits.iter().any(|w| *w != waits[0]), "{nth}");
        }
        assert_eq!(one.wait(2, None, 7), one.wait(2, None, 7));
        let other = Backoff { seed: 2, ..one };
        assert!((0..20).any(|mark| one.wait(1, None, mark) != other.wait(1, None, mark)));
    }

    #[test]
    fn what_the_provider_says_goes_first_unless_it_is_too_short() {
        let one = Backoff { first: 1000, most: 5000, seed: 1 };
        assert_eq!(one.wait(1, Some(20_000), 3), 20_000);
        assert!(one.wait(1, Some(1), 3) >= 500);
        assert_eq!(Backoff::NONE.wait(9, None, 3), 0);
    }
}
