//! Draws the number of agents in each state as bars.

use super::{Style, colour, labels, name};
use crate::cli::columns::{padded, width};
use crate::cli::output::StyledText;
use crate::report::Terminal;
use chartc_world::{Distribution, InState};

/// Blocks that fill one to seven eighths of a column.
const EIGHTHS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// Draws, for each chart, a bar for each of its basic states.
pub(in crate::cli) fn bars(
    charts: &[Distribution],
    style: Style,
    terminal: Terminal,
) -> StyledText {
    let mut out = StyledText::on(terminal);
    for chart in charts {
        if !out.is_empty() {
            out.line("");
        }
        let agents = if chart.agents == 1 { "agent" } else { "agents" };
        out.styled("1", format!("{}: {} {agents}", name(&chart.chart), chart.agents));
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
