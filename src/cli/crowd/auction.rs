//! The mint's auctions: a chart of ours, which the world runs.

use super::super::live::is_live;
use super::answer_source::{AnswerSource, OracleArgs};
use chartc_check::compile::check_within;
use chartc_core::model::Chart;
use chartc_runtime::clock::Clock;
use chartc_text::load::Memory;
use chartc_world::{AuctionConfig, AuctionSettings};
use std::sync::Arc;

/// The agent of the world that holds them.
pub(super) const NAME: &str = "genesis_mint";

/// What happens when, as a chart.
const CHART: &str = include_str!("../../../charts/auction.chart");

/// The chart.
pub(super) fn chart() -> miette::Result<Chart> {
    let file = "auction.chart".to_owned();
    let done = check_within(std::slice::from_ref(&file), &Memory::of(&file, CHART), 0);
    let chart = done.charts.first().map(|checked| checked.chart().clone());
    chart.ok_or_else(|| miette::miette!("the chart of auctions has errors"))
}

/// The settings, in the auction's own words.
pub(super) fn settings(config: &AuctionConfig) -> AuctionSettings {
    let seconds = |milliseconds: u64| milliseconds as f64 / 1000.0;
    let usual = AuctionSettings::default();
    let rest = seconds(config.period.saturating_sub(config.bidding_window));
    let score = config.default_score.map(|score| i64::try_from(score).unwrap_or(i64::MAX));
    AuctionSettings {
        // Without a time of its own the score has what is left of the period, and no longer than usual.
        scoring_seconds: config.scoring_time.map_or(rest.min(usual.scoring_seconds), seconds),
        period_seconds: seconds(config.period),
        bidding_window_seconds: seconds(config.bidding_window),
        first_auction_delay_seconds: seconds(config.first_delay),
        minimum_bid: config.minimum_bid,
        scrip_per_point: config.scrip_per_point,
        default_score: score.unwrap_or(usual.default_score),
        max_submissions: config.max_submissions.unwrap_or(usual.max_submissions),
        max_history: config.max_history.unwrap_or(usual.max_history),
    }
}

/// Who scores: whom the run file names, else a real model where one answers the agents, else nobody, so that the default score counts.
pub(super) fn answer_source(
    chart: &Chart,
    own: Option<&str>,
    args: OracleArgs<'_>,
    clock: &Arc<dyn Clock>,
) -> miette::Result<AnswerSource> {
    let live = args.llm.filter(|llm| is_live(Some(llm)));
    let args = OracleArgs { llm: own.or(live), human: None, functions: None, ..args };
    AnswerSource::from_args(&[chart], args, clock)
}
