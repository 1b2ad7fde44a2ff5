//! Retries: the waiting time after a failed call, the client of the next attempt, and the timeout of a call.

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

/// The waiting times between the attempts at a call. Each is twice as long as the previous one, up to a maximum, and partly random, so
/// that many agents do not try again at the same moment. A longer time that the provider asks for takes precedence. After an unusable
/// answer, the question is asked again at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backoff {
    /// The waiting time after the first failure, in milliseconds.
    pub first: u64,
    /// The maximum waiting time, in milliseconds.
    pub most: u64,
    /// The seed of the random part. Equal seeds give equal waiting times.
    pub seed: u64,
}

impl Default for Backoff {
    fn default() -> Self {
        Self { first: 500, most: 30_000, seed: 0 }
    }
}

impl Backoff {
    /// No waiting time.
    pub const NONE: Self = Self { first: 0, most: 0, seed: 0 };

    /// The waiting time after failure `nth` (from 1) of a call, in milliseconds. `mark` distinguishes calls, so that they wait
    /// differently.
    pub fn wait(self, nth: u32, retry_after: Option<u64>, mark: u64) -> u64 {
        // The exponent is bounded, because a shift by 64 or more would overflow; `most` bounds the result.
        let doubled = self.first.saturating_mul(1 << nth.saturating_sub(1).min(32));
        let whole = doubled.min(self.most);
        // Half of the time is fixed, the other half is random.
        let half = whole / 2;
        let chance = scrambled(self.seed ^ scrambled(mark)) % (whole - half + 1);
        let wait = half + chance;
        retry_after.map_or(wait, |said| said.max(wait))
    }
}

/// One step of SplitMix64.
fn scrambled(mut x: u64) -> u64 {
    x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The maximum time that a provider may ask to wait, in milliseconds. If it asks for more, there is no further attempt, and the step
/// fails.
pub const MOST_RETRY_AFTER: u64 = 5 * 60 * 1000;

/// The last failure of a call, for its next attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Failure {
    /// The number of the event in which the step was started.
    pub(super) event: u32,
    /// The number of failures in a row.
    pub(super) count: u32,
    pub(super) retry_after: Option<u64>,
    /// Whether waiting would not help: the next attempt asks another client, or no model may be asked at all.
    pub(super) is_final: bool,
    /// The client of the next attempt.
    pub(super) client: String,
    /// Whether no further attempt can succeed: the server refuses such calls for good, and there is no other client.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_hopeless: bool,
    /// The errors of unavailable models, one per failure in a row; fewer than `count` if some failures had another reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) nobody: Vec<String>,
}

impl<M: Machine, T: trace::Sink> Session<M, T> {
    /// Keeps a failure for the next attempt of the call. Returns a reason if the run must end: no model has answered yet, and no client
    /// of the fallback chain is available.
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
        // Collected over the chain of fallbacks: the run ends only if every client was unavailable.
        if error.is_unavailable() {
            nobody.push(error.to_string());
        }
        let other = client != question.client;
        // A chain of fallbacks may be a cycle, so it ends after as many failures as there are clients.
        let is_last = !other || count as usize >= tables.clients.len();
        let begins = !self.answered && !self.common.driver.has_answered();
        if begins && is_last && nobody.len() == count as usize {
            nobody.dedup();
            return Some(nobody.join("; "));
        }
        // The time that the failed provider asks for does not concern another client.
        let retry_after = error.retry_after().filter(|_| !other);
        let is_final = other || error.kind() == OracleErrorKind::Denied;
        let is_hopeless = is_last && error.kind() == OracleErrorKind::Rejected;
        let event = key.event;
        let failure = Failure { event, count, retry_after, is_final, client, is_hopeless, nobody };
        self.extra.rare.failures.insert(place, failure);
        None
    }

    /// Forgets which clients of the fallback chain were unavailable, if no model has answered yet: a resumed run starts with the first
    /// client again. Returns whether there were any.
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

/// The client to which a failed one falls back; the failed one itself if it has no fallback.
pub(super) fn next_client(tables: &Tables<'_>, failed: &str) -> String {
    let row = |name: &str| tables.clients.iter().find(|row| row.name == name);
    let next = row(failed).and_then(|row| tables.clients.get(row.fallback?.index()));
    next.map_or(failed, |row: &ClientRow<'_>| row.name).to_owned()
}

/// Asks a question, with the timeout of its client counted from `since`.
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
    // The timeout of a resumed call includes the time before it was saved.
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
