//! The times and amounts of auctions.

use chartc_core::expr::{Map, Value};
use serde::{Deserialize, Serialize};

/// The maximum of each time, in seconds: 366 days.
const LONGEST: f64 = 366.0 * 24.0 * 60.0 * 60.0;

/// The times and amounts of auctions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AuctionSettings {
    /// The seconds from the opening of one auction to that of the next.
    pub period_seconds: f64,
    /// The seconds for which an auction is open. Later bids count for the next auction.
    pub bidding_window_seconds: f64,
    /// The seconds before the first auction opens.
    pub first_auction_delay_seconds: f64,
    /// The seconds that a model may take to answer with a score.
    pub scoring_seconds: f64,
    /// The minimum bid, which is also the minimum price for the winner.
    pub minimum_bid: i64,
    /// The scrip that is minted for each point of the score, which ranges from 0 to 100.
    pub scrip_per_point: i64,
    /// The score if no model gives one.
    pub default_score: i64,
    /// The maximum number of submissions at a time.
    pub max_submissions: u64,
    /// The maximum number of auctions in the history.
    pub max_history: u64,
}

impl Default for AuctionSettings {
    fn default() -> Self {
        Self {
            period_seconds: 60.0,
            bidding_window_seconds: 30.0,
            first_auction_delay_seconds: 30.0,
            scoring_seconds: 20.0,
            minimum_bid: 0,
            scrip_per_point: 1,
            default_score: 0,
            max_submissions: 1_000,
            max_history: 100,
        }
    }
}

impl AuctionSettings {
    /// Checks that the settings are in range and fit together.
    ///
    /// # Errors
    /// A description of the first setting that does not fit.
    pub fn check(&self) -> Result<(), String> {
        let times = [
            ("period_seconds", self.period_seconds, true),
            ("bidding_window_seconds", self.bidding_window_seconds, true),
            ("first_auction_delay_seconds", self.first_auction_delay_seconds, false),
            ("scoring_seconds", self.scoring_seconds, false),
        ];
        for (name, seconds, is_span) in times {
            // The comparison also refuses NaN.
            let fits = (0.0..=LONGEST).contains(&seconds) && !(is_span && ms(seconds) == 0);
            if !fits {
                let least = if is_span { "above 0" } else { "0 or more" };
                return Err(format!("`{name}` is {least} and at most {LONGEST}; it is {seconds}"));
            }
        }
        if self.ms().window + self.ms().patience > self.ms().period {
            return Err(format!(
                "an auction of {} seconds and a score within {} do not fit into a period of {}",
                self.bidding_window_seconds, self.scoring_seconds, self.period_seconds
            ));
        }
        if self.minimum_bid < 0 || self.scrip_per_point < 0 {
            return Err("`minimum_bid` and `scrip_per_point` are 0 or more".into());
        }
        if self.scrip_per_point > i64::MAX / 100 {
            return Err("`scrip_per_point` is too large".into());
        }
        if !(0..=100).contains(&self.default_score) {
            return Err(format!("`default_score` is from 0 to 100; it is {}", self.default_score));
        }
        Ok(())
    }

    /// The params of the auction's chart.
    pub fn params(&self) -> Map {
        let Spans { period, window, first_delay, patience } = self.ms();
        let mut params = Map::new();
        params.insert("period".into(), Value::Duration(period));
        params.insert("window".into(), Value::Duration(window));
        params.insert("first_delay".into(), Value::Duration(first_delay));
        params.insert("patience".into(), Value::Duration(patience));
        params
    }

    pub(super) fn ms(&self) -> Spans {
        Spans {
            period: ms(self.period_seconds),
            window: ms(self.bidding_window_seconds),
            first_delay: ms(self.first_auction_delay_seconds),
            patience: ms(self.scoring_seconds),
        }
    }
}

/// The times in milliseconds.
pub(super) struct Spans {
    pub(super) period: u64,
    pub(super) window: u64,
    pub(super) first_delay: u64,
    pub(super) patience: u64,
}

fn ms(seconds: f64) -> u64 {
    (seconds * 1000.0).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_amounts_fit_each_other() {
        let usual = AuctionSettings::default();
        assert_eq!(usual.check(), Ok(()));
        let faulty = [
            AuctionSettings { period_seconds: 0.0, ..usual.clone() },
            AuctionSettings { period_seconds: f64::NAN, ..usual.clone() },
            AuctionSettings { period_seconds: f64::INFINITY, ..usual.clone() },
            AuctionSettings { first_auction_delay_seconds: -1.0, ..usual.clone() },
            AuctionSettings { bidding_window_seconds: 0.0001, ..usual.clone() },
            AuctionSettings { bidding_window_seconds: 41.0, ..usual.clone() },
            AuctionSettings { minimum_bid: -1, ..usual.clone() },
            AuctionSettings { scrip_per_point: i64::MAX, ..usual.clone() },
            AuctionSettings { default_score: 101, ..usual.clone() },
        ];
        for settings in faulty {
            assert!(settings.check().is_err(), "{settings:?}");
        }
        let at_the_edge = AuctionSettings {
            bidding_window_seconds: 60.0,
            scoring_seconds: 0.0,
            first_auction_delay_seconds: 0.0,
            ..usual
        };
        assert_eq!(at_the_edge.check(), Ok(()));
        assert_eq!(at_the_edge.params().get("window"), Some(&Value::Duration(60_000)));
    }
}
