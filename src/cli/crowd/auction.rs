//! The mint's auctions. A chart that is part of this program runs them as an agent of the world.

use super::super::live::is_live;
use super::answer_source::{AnswerSource, OracleArgs};
use chartc_check::compile::check_within;
use chartc_core::model::Chart;
use chartc_runtime::clock::Clock;
use chartc_text::load::Memory;
use chartc_world::{AuctionConfig, AuctionSettings};
use std::sync::Arc;

/// The name of the agent that runs them.
pub(super) const NAME: &str = "genesis_mint";

/// The source of the chart.
const CHART: &str = include_str!("../../../charts/auction.chart");

/// Compiles the chart.
pub(super) fn chart() -> miette::Result<Chart> {
    let file = "auction.chart".to_owned();
    let done = check_within(std::slice::from_ref(&file), &Memory::of(&file, CHART), 0);
    let chart = done.charts.first().map(|checked| checked.chart().clone());
    chart.ok_or_else(|| miette::miette!("the chart of auctions has errors"))
}

/// Converts the settings of a run file into those of the auctioneer.
pub(super) fn settings(config: &AuctionConfig) -> AuctionSettings {
    let seconds = |milliseconds: u64| milliseconds as f64 / 1000.0;
    let usual = AuctionSettings::default();
    let rest = seconds(config.period.saturating_sub(config.bidding_window));
    let score = config.default_score.map(|score| i64::try_from(score).unwrap_or(i64::MAX));
    AuctionSettings {
        // By default scoring takes what is left of the period behind the bidding, at most the usual time, so that it ends before the next
        // auction.
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

/// The source of scores: the one that the run file names, else the real model that answers the agents. Without either nobody scores, and
/// the default score counts.
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
