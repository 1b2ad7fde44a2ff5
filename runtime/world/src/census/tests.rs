//! Tests of the census with lines written by hand.

use super::*;
use chartc_core::expr::Map;
use chartc_core::expr::Value;
use chartc_core::model::{State, StateKind};
use chartc_runtime::trace::What;

fn line(at_ms: u64, what: What) -> Line {
    Line { v: 1, seq: 1, at_ms, child: String::new(), what }
}

/// `Chart` begins a run, `+path` enters, `-path` leaves, `=status` ends.
fn tell(census: &mut Census, agent: &str, at_ms: u64, words: &str) {
    for word in words.split_whitespace() {
        let rest = word.get(1..).unwrap_or_default().trim_start_matches('*').to_owned();
        let what = match word.as_bytes()[0] {
            b'+' => What::Entered { state: rest },
            b'-' => What::Exited { state: rest },
            b'=' => What::Ended { status: rest, result: Value::None, summary: None },
            _ => What::Run {
                chart: word.to_owned(),
                hash: String::new(),
                oracle: String::new(),
                variables: Value::None,
                file: String::new(),
                calls_per_turn: None,
                clock: String::new(),
                children: String::new(),
            },
        };
        census.observe(agent, &line(at_ms, what));
    }
}

fn ticks(census: &mut Census, tick: i64) {
    let data: Map = [("tick".to_owned(), Value::Int(tick))].into_iter().collect();
    let what = What::World { event: "tick_summary".to_owned(), data: Value::Map(data) };
    census.observe("", &line(0, what));
}

fn counts(census: &Census) -> String {
    let row = |row: &InState| {
        let ended = if row.ended.is_empty() { String::new() } else { format!("{:?}", row.ended) };
        format!("{}:{}{ended}", row.state, row.count)
    };
    let charts = census.state_distribution().into_iter().map(|chart| {
        let rows: Vec<String> = chart.states.iter().map(row).collect();
        format!("{} {}: {}", chart.chart, chart.agents, rows.join(" "))
    });
    charts.collect::<Vec<_>>().join("; ")
}

#[test]
fn being_in_a_state_is_being_in_those_around_it() {
    let mut census = Census::new();
    tell(&mut census, "ada", 0, "Shop +* +open +open.idle");
    tell(&mut census, "bob", 0, "Shop +* +open +open.busy");
    tell(&mut census, "cyd", 0, "Shop +* +shut");
    assert_eq!(census.agents_in_state("open").expect("a state"), ["ada", "bob"]);
    assert_eq!(census.agents_in_state("open.busy").expect("a state"), ["bob"]);
    assert_eq!(census.agents_in_state("busy").expect("a last segment"), ["bob"]);
    assert_eq!(census.agents_in_state("Shop").expect("a chart"), ["ada", "bob", "cyd"]);
    assert_eq!(census.count_in("Shop.open"), Ok(2));
    assert_eq!(counts(&census), "Shop 3: open.busy:1 open.idle:1 shut:1");
    tell(&mut census, "bob", 0, "-open.busy -open +shut");
    assert_eq!(census.count_in("open"), Ok(1));
    assert_eq!(census.configuration("bob"), ["shut"]);
    assert_eq!(counts(&census), "Shop 3: open.busy:0 open.idle:1 shut:2");
}

#[test]
fn parallel_regions_count_each() {
    let mut census = Census::new();
    tell(&mut census, "ada", 0, "Duo +* +l +l.a +r +r.x");
    assert_eq!(counts(&census), "Duo 1: l.a:1 r.x:1");
    assert_eq!(census.configuration("ada"), ["l.a", "r.x"]);
    tell(&mut census, "ada", 0, "-r.x +r.y");
    assert_eq!(census.configuration("ada"), ["l.a", "r.y"]);
}

#[test]
fn one_that_has_ended_counts_where_it_ended() {
    let mut census = Census::new();
    tell(&mut census, "ada", 0, "Shop +* +open +open.idle -open.idle -open +done -done -* =ok");
    tell(&mut census, "bob", 0, "Shop +* +open +open.idle -open.idle -open -* =limit");
    let expected = "Shop 2: done:1{\"ok\": 1} open.idle:1{\"limit\": 1}";
    assert_eq!(counts(&census), expected);
    assert_eq!(census.agents_in_state("open").expect("a state"), ["bob"]);
    assert_eq!(census.ended("bob"), Some("limit"));
    // It begins again.
    tell(&mut census, "bob", 0, "Shop +* +open +open.busy");
    assert_eq!(counts(&census), "Shop 2: done:1{\"ok\": 1} open.busy:1 open.idle:0");
    census.remove("ada");
    assert_eq!(counts(&census), "Shop 1: done:0 open.busy:1 open.idle:0");
}

#[test]
fn charts_of_steps_are_not_agents() {
    let mut census = Census::new();
    tell(&mut census, "ada", 0, "Shop +* +open");
    let below =
        Line { child: "fetch".to_owned(), ..line(0, What::Exited { state: "open".into() }) };
    census.observe("ada", &below);
    assert_eq!(counts(&census), "Shop 1: open:1");
}

#[test]
fn a_name_that_is_unknown_or_ambiguous_is_refused() {
    let mut census = Census::new();
    tell(&mut census, "ada", 0, "Shop +* +open +open.idle");
    tell(&mut census, "bob", 0, "Shop +* +shut +shut.idle");
    tell(&mut census, "cyd", 0, "Bank +* +open");
    assert_eq!(census.count_in("open"), Ok(2), "a path of two charts");
    assert_eq!(census.count_in("Bank.open"), Ok(1));
    assert_eq!(census.count_in("Shop.shut.idle"), Ok(1));
    assert_eq!(
        census.count_in("idle").expect_err("two paths").to_string(),
        "`idle` is ambiguous: open.idle, shut.idle"
    );
    let Err(Unknown::State { known, .. }) = census.count_in("opn") else { panic!("no state") };
    assert!(known.contains(&"open".to_owned()) && known.contains(&"Shop.shut.idle".to_owned()));
    assert!(census.count_in("Shop.opn").is_err() && census.count_in("").is_ok());
}

#[test]
fn a_chart_that_is_known_gives_document_order_and_empty_states() {
    let mut chart = Chart::empty("Shop");
    for name in ["shut", "open"] {
        let state =
            State { path: name.to_owned(), name: name.to_owned(), ..chart.states[0].clone() };
        chart.states.push(state);
    }
    chart.states[0].kind = StateKind::Compound { initial: Vec::new() };
    let mut census = Census::new();
    tell(&mut census, "ada", 0, "Shop +* +open");
    census.know(&chart);
    assert_eq!(counts(&census), "Shop 1: shut:0 open:1");
    assert_eq!(census.agents_in_state("shut"), Ok(Vec::new()));
}

#[test]
fn a_log_that_begins_in_the_middle_is_counted_as_far_as_it_tells() {
    let mut census = Census::new();
    tell(&mut census, "ada", 0, "-open.idle +open.busy");
    assert_eq!(census.agents_in_state("open").expect("a state"), ["ada"]);
    let resumed =
        What::Resumed { chart: "Shop".into(), hash: String::new(), oracle: String::new() };
    census.observe("bob", &line(0, resumed.clone()));
    assert_eq!(census.configuration("bob"), [""; 0]);
    tell(&mut census, "bob", 0, "+shut");
    census.observe("bob", &line(0, resumed));
    assert_eq!(census.configuration("bob"), ["shut"], "it stays where it was");
}

#[test]
fn the_series_keeps_few_samples_and_the_last_of_each_step() {
    let mut census = Census::new();
    for at in 0..100_000_u64 {
        let (from, to) = if at % 2 == 0 { ("b", "a") } else { ("a", "b") };
        let words = if at == 0 { "C +* +a".to_owned() } else { format!("-{from} +{to}") };
        tell(&mut census, "ada", at, &words);
    }
    let series = census.series();
    assert!(series.len() > 400 && series.len() <= 1001, "{}", series.len());
    assert!(series.windows(2).all(|pair| pair[0].at < pair[1].at));
    for moment in &series {
        let expected = if moment.at % 2 == 0 { "a" } else { "b" };
        assert_eq!(moment.counts.len(), 1, "{moment:?}");
        assert_eq!((moment.counts[0].state, moment.counts[0].count), (expected, 1), "{moment:?}");
    }
    assert_eq!(series.last().map(|moment| moment.at), Some(99_999));
}

#[test]
fn ticks_make_a_series_of_ticks() {
    let mut census = Census::new();
    tell(&mut census, "ada", 3, "C +* +a");
    tell(&mut census, "ada", 7, "-a +b");
    ticks(&mut census, 1);
    tell(&mut census, "ada", 9, "-b +c");
    ticks(&mut census, 2);
    let series = census.series();
    let shown: Vec<(u64, &str)> =
        series.iter().map(|moment| (moment.at, moment.counts[0].state)).collect();
    assert_eq!((census.unit(), shown), (Unit::Ticks, vec![(1, "b"), (2, "c")]));
}

#[test]
fn a_checkpoint_brings_it_back() {
    let mut census = Census::new();
    tell(&mut census, "ada", 0, "Shop +* +open +open.idle");
    tell(&mut census, "bob", 5, "Shop +* +done -done -* =ok");
    let text = serde_json::to_string(&census).expect("JSON");
    let mut back: Census = serde_json::from_str(&text).expect("the same");
    assert_eq!(back, census);
    tell(&mut back, "ada", 6, "-open.idle +open.busy");
    assert_eq!(back.agents_in_state("busy").expect("a state"), ["ada"]);
}
