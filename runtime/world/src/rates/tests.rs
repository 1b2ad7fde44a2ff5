//! Windows against an independent recount, and budgets.

use super::*;
use crate::config::{LlmBudget, RunFile};
use proptest::prelude::*;

fn windows(text: &str) -> Windows {
    let file = RunFile::parse(text).unwrap_or_else(|fault| panic!("{fault}"));
    Windows::new(&file.rate_limiting)
}

const TEXT: &str = "rate_limiting:
  window_seconds: 1
  resources: {llm_calls: {max_per_window: 3}, llm_tokens: {max_per_window: 100}}
  providers:
    x: {window_seconds: 2, resources: {llm_calls: {max_per_window: 5}, llm_tokens: {max_per_window: 150}}}
";

/// The most of a resource in any stretch of `length`.
fn most(uses: &[(u64, u64)], length: u64) -> u64 {
    let within = |from: u64| uses.iter().filter(move |(at, _)| *at >= from && *at < from + length);
    uses.iter().map(|(from, _)| within(*from).map(|(_, n)| n).sum()).max().unwrap_or(0)
}

proptest! {
    #[test]
    fn no_window_is_exceeded_and_the_time_named_is_the_first_with_room(
        calls in proptest::collection::vec((0..3_usize, 0..400_u64, 1..120_u64, 0..=100_u64, any::<bool>()), 1..80)
    ) {
        let mut windows = windows(TEXT);
        let mut now = 0;
        let mut uses: Vec<(usize, u64, u64)> = Vec::new();
        for (agent, wait, tokens, percent, is_settled) in calls {
            now += wait;
            let name = ["ada", "bob", "cleo"][agent];
            let amounts = [("llm_calls", 1), ("llm_tokens", tokens)];
            let ticket = loop {
                match windows.admit(name, "x", &amounts, now) {
                    Ok(ticket) => break Some(ticket),
                    Err(Refusal::Full { until, .. }) => {
                        prop_assert!(until > now);
                        prop_assert!(windows.room(name, "x", &amounts, until - 1).is_err());
                        now = until;
                    }
                    Err(Refusal::TooLarge { resource, wanted, most, .. }) => {
                        prop_assert_eq!((resource.as_str(), wanted, most), ("llm_tokens", tokens, 100));
                        prop_assert!(tokens > 100);
                        break None;
                    }
                }
            };
            let Some(ticket) = ticket else { continue };
            let actual = if is_settled { tokens * percent / 100 } else { tokens };
            if is_settled {
                windows.settle(name, "x", ticket, "llm_tokens", actual);
            }
            uses.push((agent, now, actual));
            // A checkpoint changes nothing.
            if uses.len().is_multiple_of(5) {
                let text = serde_json::to_string(&windows.save()).expect("JSON");
                windows.load(serde_json::from_str(&text).expect("the same"));
            }
        }
        for agent in 0..3 {
            let of = |n: fn(u64) -> u64| -> Vec<(u64, u64)> {
                uses.iter().filter(|u| u.0 == agent).map(|u| (u.1, n(u.2))).collect()
            };
            prop_assert!(most(&of(|_| 1), 1000) <= 3);
            prop_assert!(most(&of(|n| n), 1000) <= 100);
        }
        let all = |n: fn(u64) -> u64| -> Vec<(u64, u64)> {
            uses.iter().map(|u| (u.1, n(u.2))).collect()
        };
        prop_assert!(most(&all(|_| 1), 2000) <= 5);
        prop_assert!(most(&all(|n| n), 2000) <= 150);
    }
}

#[test]
fn what_never_fits_is_refused_by_name() {
    let mut windows = windows(TEXT);
    let refused = windows.admit("ada", "x", &[("llm_tokens", 101)], 0).expect_err("too large");
    let said =
        "it can take 101 llm_tokens, and an agent has 100 in a whole window: raise max_per_window";
    assert_eq!(refused.to_string(), said);
    assert_eq!(windows.most("x", "llm_tokens"), Some(100));
    assert_eq!(windows.most("y", "actions"), None);
}

#[test]
fn a_provider_without_windows_of_its_own_has_those_of_the_star() {
    let text = "rate_limiting: {providers: {'*': {resources: {llm_calls: {max_per_window: 1}}}}}";
    let mut windows = windows(text);
    let one = [("llm_calls", 1)];
    assert!(windows.admit("ada", "x", &one, 0).is_ok());
    assert!(windows.admit("ada", "y", &one, 0).is_ok(), "each has a window of its own");
    let full = Err(Refusal::Full { until: 60_000, whose: Whose::Provider });
    assert_eq!(windows.admit("bob", "x", &one, 9), full);
    assert!(windows.admit("bob", "", &one, 9).is_ok(), "no provider");
    assert!(windows.admit("bob", "x", &one, 60_000).is_ok());
}

#[test]
fn what_is_switched_off_bounds_nothing() {
    let mut windows = windows(&TEXT.replace("rate_limiting:", "rate_limiting:\n  enabled: false"));
    for _ in 0..10 {
        assert!(windows.admit("ada", "x", &[("llm_calls", 1000)], 0).is_ok());
    }
}

#[test]
fn agents_that_have_gone_are_forgotten() {
    let mut windows = windows(TEXT);
    for n in 0..100_000 {
        let name = format!("agent_{n}");
        let admitted = windows.admit(&name, "", &[("llm_calls", 1)], n * 100);
        assert!(admitted.is_ok());
        assert!(windows.uses.agents.len() <= 2 * SWEEP, "{}", windows.uses.agents.len());
    }
}

#[test]
fn a_budget_is_checked_before_and_deducted_after() {
    let mut budgets = Budgets::default();
    budgets.set("ada", LlmBudget { llm_calls: Some(2), llm_tokens: Some(100), cost: Some(50) });
    assert_eq!(budgets.check("bob"), Ok(()));
    let bound = Spent { llm_calls: 1, llm_tokens: 90, cost: 10 };
    budgets.hold("ada", bound);
    assert_eq!(budgets.check("ada"), Ok(()));
    budgets.hold("ada", bound);
    let full = budgets.check("ada").expect_err("calls under way count");
    assert_eq!(full.to_string(), "the budget of `ada` is used up: 2 of 2 llm_calls");
    budgets.settle("ada", bound, Spent { llm_calls: 0, llm_tokens: 0, cost: 0 });
    budgets.settle("ada", bound, Spent { llm_calls: 1, llm_tokens: 30, cost: 60 });
    let full = budgets.check("ada").expect_err("the money is gone");
    assert_eq!((full.what, full.spent, full.most), ("cost", 60, 50));
    let mut again = Budgets::default();
    again.set("ada", LlmBudget::default());
    again.load(budgets.save());
    assert_eq!(again.check("ada"), Ok(()), "nothing bounds it now");
    assert_eq!(again.spent("ada").llm_tokens, 30);
}
