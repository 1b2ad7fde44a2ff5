//! Shows many agents at a glance: their states now, on a line or as bars, and over time as plots.
//!
//! A census counts the agents in each state. For three agents of a chart `Trader` with the states `idle` and `busy`:
//!
//! ```text
//! idle 2, busy 1          a line: `at_a_glance`
//!   idle  2   67%  ████   bars: `bars`
//!   busy  1   33%  ██
//!   idle  2  ▆▆▆▃▃▆       a plot over time: `plot`
//!   busy  1  ▁▁▁▄▄▁
//! ```

use super::output::{StyledText, cut, padded, width};
use crate::report::Terminal;
use chartc_core::expr::Duration;
use chartc_core::wording::counted;
use chartc_runtime::trace::view::state;
use chartc_world::{Census, Distribution, InState, Sample, Unit};

/// The number of agents up to which each is listed. Of more, the others are only counted.
pub(super) const LISTED: usize = 20;

/// The drawing style: what the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Style {
    /// The width in columns.
    pub(super) width: usize,
    /// Whether block elements can be shown. Otherwise only ASCII is used.
    pub(super) is_unicode: bool,
}

/// The colours of states as SGR codes, in turn.
const COLOURS: [&str; 6] = ["36", "32", "33", "35", "34", "31"];

fn colour(nth: usize) -> &'static str {
    COLOURS[nth % COLOURS.len()]
}

/// The number of agents in each state, by chart, on one line: the fullest states first.
pub(super) fn at_a_glance(census: &Census) -> String {
    let charts = census.state_distribution();
    let one = |chart: &Distribution| {
        let words = fullest(chart);
        if charts.len() == 1 { words } else { format!("{}: {words}", name(&chart.chart)) }
    };
    charts.iter().map(one).collect::<Vec<_>>().join("; ")
}

/// The states of a chart that contain an agent or in which runs have ended, the fullest first.
pub(super) fn fullest(chart: &Distribution) -> String {
    let mut rows: Vec<_> = chart.states.iter().filter(|row| row.count > 0).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.count));
    rows.iter()
        .map(|row| format!("{} {}", state(&row.state), row.count))
        .collect::<Vec<_>>()
        .join(", ")
}

/// The name of a chart. A trace without its first line does not name it.
pub(super) fn name(chart: &str) -> &str {
    if chart.is_empty() { "a chart without its `run` line" } else { chart }
}

/// The names of states, each cut to a third of the width.
fn labels<'s>(paths: impl Iterator<Item = &'s str>, style: Style) -> Vec<String> {
    let most = (style.width / 3).clamp(12, 40);
    // The end of a path says most: it is the state itself.
    let short = |path: &str| {
        let path = state(path);
        let count = path.chars().count();
        if count <= most {
            return path.to_owned();
        }
        let end: String = path.chars().skip(count - (most - 2)).collect();
        cut(&format!("..{end}"), most)
    };
    paths.map(short).collect()
}

// Draws the number of agents in each state as bars.

/// Blocks that fill one to seven eighths of a column.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Draws, for each chart, a bar for each of its basic states.
pub(super) fn bars(charts: &[Distribution], style: Style, terminal: Terminal) -> StyledText {
    let mut out = StyledText::on(terminal);
    for chart in charts {
        if !out.is_empty() {
            out.line("");
        }
        let agents = counted(chart.agents, "agent");
        out.styled("1", format!("{}: {agents}", name(&chart.chart)));
        let names = labels(chart.states.iter().map(|row| row.state.as_str()), style);
        let wide = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let digits = chart.agents.to_string().len();
        let ends: Vec<String> = chart.states.iter().map(ended).collect();
        let end = ends.iter().map(|end| width(end)).max().unwrap_or(0);
        let room = style.width.saturating_sub(2 + wide + 2 + digits + 2 + 4 + 2 + end).clamp(8, 60);
        let most = chart.states.iter().map(|row| row.count).max().unwrap_or(0);
        for (nth, (row, name)) in chart.states.iter().zip(&names).enumerate() {
            let share = 100.0 * row.count as f64 / chart.agents.max(1) as f64;
            // 0 % and 100 % stand for exactly none and all.
            let share = match row.count {
                0 => String::new(),
                _ if share < 0.5 => "<1%".to_owned(),
                count if count < chart.agents && share >= 99.5 => ">99%".to_owned(),
                _ => format!("{share:.0}%"),
            };
            let text = format!(
                "  {}  {:>digits$}  {share:>4}  {}{}",
                padded(name, wide),
                row.count,
                bar(row.count, most, room, style.is_unicode),
                ends[nth],
            );
            out.styled(colour(nth), text.trim_end());
        }
    }
    out
}

/// A bar of at most `room` columns. A count above 0 has at least the thinnest bar.
fn bar(count: u64, most: u64, room: usize, is_unicode: bool) -> String {
    if count == 0 {
        return String::new();
    }
    let eighths = (count as f64 / most.max(1) as f64 * room as f64 * 8.0).round() as usize;
    let eighths = eighths.max(1);
    if !is_unicode {
        return "#".repeat((eighths / 8).max(1));
    }
    let mut bar = "█".repeat(eighths / 8);
    bar.extend((eighths % 8).checked_sub(1).map(|rest| EIGHTHS[rest]));
    bar
}

/// The statuses with which runs ended in a state, with their counts.
fn ended(row: &InState) -> String {
    if row.ended.is_empty() {
        return String::new();
    }
    let each: Vec<String> =
        row.ended.iter().map(|(status, count)| format!("{status} {count}")).collect();
    format!("  ended {}", each.join(", "))
}

// Draws the number of agents in each state over time: a small plot for each state, all of a chart on one scale.

/// The characters for the parts of a row, from empty to full.
const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII: [char; 4] = [' ', '.', ':', '#'];

/// Draws, for each chart, a plot of the number of agents in each of its basic states.
pub(super) fn plot(census: &Census, style: Style, terminal: Terminal) -> StyledText {
    let moments = census.series();
    let mut page = StyledText::on(terminal);
    for chart in census.state_distribution() {
        if !page.is_empty() {
            page.line("");
        }
        let paths: Vec<&str> = chart.states.iter().map(|row| row.state.as_str()).collect();
        let names = labels(paths.iter().copied(), style);
        let wide = names.iter().map(|name| width(name)).max().unwrap_or(0);
        let digits = chart.agents.to_string().len().max(3);
        let room = style.width.saturating_sub(2 + wide + 2 + digits + 2).max(16);
        let lines: Vec<Vec<f64>> = (paths.iter())
            .map(|path| averages(&moments, |moment| count(moment, &chart.chart, path), room))
            .collect();
        // At least 1, because heights are divided by it.
        let most = lines.iter().flatten().copied().fold(0.0, f64::max).max(1.0);
        let tall = match paths.len() {
            0..=4 => 3,
            5..=8 => 2,
            _ => 1,
        };
        let head = format!(
            "{}: {}; each plot from 0 to {}, with its last count",
            name(&chart.chart),
            counted(chart.agents, "agent"),
            most.ceil(),
        );
        page.styled("1", head);
        for (nth, (line, state)) in lines.iter().zip(&names).enumerate() {
            let rows = drawn(line, most, tall, style.is_unicode);
            for (at, row) in rows.iter().enumerate() {
                // The name and count stand beside the bottom row.
                let beside = if at + 1 == tall {
                    format!("{}  {:>digits$}", padded(state, wide), chart.states[nth].count)
                } else {
                    padded("", wide + 2 + digits)
                };
                page.styled(colour(nth), format!("  {beside}  {row}").trim_end());
            }
        }
        page.line(axis(&moments, census.unit(), 2 + wide + 2 + digits + 2, room));
    }
    page
}

fn count(moment: &Sample<'_>, chart: &str, path: &str) -> u64 {
    let mut places = moment.counts.iter();
    places.find(|place| place.chart == chart && place.state == path).map_or(0, |place| place.count)
}

/// A value for each of `room` columns: the average of the samples in it, or the last value if it contains none.
fn averages(moments: &[Sample<'_>], count: impl Fn(&Sample<'_>) -> u64, room: usize) -> Vec<f64> {
    let (Some(first), Some(last)) = (moments.first(), moments.last()) else { return Vec::new() };
    let span = (last.at - first.at).max(1) as f64;
    let mut sums = vec![(0.0, 0_u32); room];
    for moment in moments {
        let at = (moment.at - first.at) as f64 / span * room as f64;
        let (sum, number) = &mut sums[(at as usize).min(room - 1)];
        *sum += count(moment) as f64;
        *number += 1;
    }
    let mut before = 0.0;
    let mut out = Vec::with_capacity(room);
    let mut rest = moments.iter().peekable();
    for (column, (sum, number)) in sums.into_iter().enumerate() {
        let value = if number > 0 { sum / f64::from(number) } else { before };
        // `before` is the last count up to this column, for columns without a sample.
        while let Some(moment) = rest.peek() {
            let at = (moment.at - first.at) as f64 / span * room as f64;
            if (at as usize).min(room - 1) > column {
                break;
            }
            before = count(moment) as f64;
            rest.next();
        }
        out.push(value);
    }
    out
}

/// The rows of one plot, from the top.
fn drawn(line: &[f64], most: f64, tall: usize, is_unicode: bool) -> Vec<String> {
    let levels: &[char] = if is_unicode { &BLOCKS } else { &ASCII };
    let steps = levels.len() - 1;
    // An eighth of a row stays empty at the top, so that a full plot does not touch the one above.
    let full = tall * steps - usize::from(is_unicode);
    let heights: Vec<usize> = (line.iter())
        .map(|value| {
            let height = (value / most * full as f64).round() as usize;
            if *value > 0.0 { height.max(1) } else { 0 }
        })
        .collect();
    let part = |height: &usize, row: usize| levels[height.saturating_sub(row * steps).min(steps)];
    let row = |row: usize| heights.iter().map(|height| part(height, row)).collect();
    (0..tall).rev().map(row).collect()
}

/// The line below the plots: the times at the start, in the middle and at the end.
fn axis(moments: &[Sample<'_>], unit: Unit, margin: usize, room: usize) -> String {
    let (Some(first), Some(last)) = (moments.first(), moments.last()) else { return String::new() };
    let word = |at: u64| match unit {
        Unit::Ticks => format!("tick {at}"),
        Unit::Milliseconds => time(at, last.at - first.at),
    };
    let (from, to) = (word(first.at), word(last.at));
    let middle = word(first.at + (last.at - first.at) / 2);
    let gap = room.saturating_sub(width(&from) + width(&to));
    let between = if gap > width(&middle) + 4 && last.at > first.at + 1 {
        let left = (room / 2).saturating_sub(width(&from) + width(&middle) / 2);
        let right = gap.saturating_sub(left + width(&middle));
        format!("{}{middle}{}", " ".repeat(left), " ".repeat(right))
    } else {
        " ".repeat(gap.max(1))
    };
    format!("{}{from}{between}{to}", " ".repeat(margin))
}

/// Formats a time, rounded to suit the span of the plot.
fn time(ms: u64, span: u64) -> String {
    let round = match span {
        0..10_000 => 1,
        10_000..600_000 => 1_000,
        _ => 60_000,
    };
    Duration(ms / round * round).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_is_as_long_as_its_share() {
        assert_eq!(bar(0, 10, 8, true), "");
        assert_eq!(bar(10, 10, 8, true), "████████");
        assert_eq!(bar(5, 10, 7, true), "███▌");
        assert_eq!(bar(1, 1000, 8, true), "▏");
        assert_eq!((bar(5, 10, 8, false), bar(1, 1000, 8, false)), ("####".into(), "#".into()));
    }
}

#[cfg(test)]
mod plot_tests {
    use super::*;
    use chartc_world::Place;

    #[test]
    fn rows_stand_on_each_other() {
        assert_eq!(drawn(&[0.0, 4.0, 8.0], 8.0, 1, true), [" ▄▇"]);
        assert_eq!(drawn(&[0.0, 4.0, 8.0], 8.0, 2, true), ["  ▇", " ██"]);
        assert_eq!(drawn(&[0.0, 4.0, 8.0], 8.0, 2, false), ["  #", " ##"]);
        assert_eq!(drawn(&[0.0, 0.01, 8.0], 8.0, 1, false), [" .#"], "somebody is always seen");
    }

    #[test]
    fn a_column_without_moments_keeps_the_last_count() {
        let moment =
            |at, count| Sample { at, counts: vec![Place { chart: "C", state: "s", count }] };
        let moments = [moment(0, 4), moment(1, 2), moment(100, 8)];
        let line = averages(&moments, |moment| moment.counts[0].count, 10);
        assert_eq!(line, [3.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 2.0, 8.0]);
        assert_eq!(averages(&moments[..1], |moment| moment.counts[0].count, 3), [4.0, 4.0, 4.0]);
    }

    #[test]
    fn an_axis_is_as_long_as_its_plot() {
        let moments =
            [Sample { at: 1, counts: Vec::new() }, Sample { at: 200, counts: Vec::new() }];
        let text = axis(&moments, Unit::Ticks, 4, 60);
        assert_eq!(text.len(), 64, "{text}");
        assert!(text.starts_with("    tick 1 ") && text.contains("tick 100"), "{text}");
        assert!(axis(&moments, Unit::Ticks, 0, 16).ends_with("tick 200"));
    }
}
