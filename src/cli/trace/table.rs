//! Formats the decisions of a run as a table, followed by the costs of its states.

use super::super::columns::{cut, padded, width};
use super::Filter;
use super::read::Read;
use super::story::{RowStyle, StoryRow, nothing, rows};
use super::summary::Summary;
use super::tell::{number, time};
use crate::cli::output::StyledText;
use crate::report::Terminal;
use chartc_runtime::trace::What;

/// The column headings.
const HEAD: [&str; 6] = ["turn", "time", "step", "decision", "from -> to", "why"];
/// The maximum widths of the columns step, decision and move, if other columns need the space.
const MOST: [usize; 3] = [16, 30, 44];
/// The minimum width of the column `why`.
const WHY: usize = 26;

/// Formats a trace as a table, `terminal.width` columns wide if possible.
pub(super) fn table(trace: &Read, filter: Filter<'_>, terminal: Terminal) -> StyledText {
    let mut out = head(trace, terminal);
    let found = rows(trace, filter);
    if found.is_empty() {
        out.line(nothing(filter));
        return out;
    }
    let cells: Vec<[String; 6]> = cells(&found);
    let widths = widths(&cells, terminal.width);
    let line = |cells: &[String; 6]| {
        let mut text = String::new();
        for (cell, most) in cells.iter().zip(widths) {
            text.push_str(&padded(&cut(cell, most), most));
            text.push_str("  ");
        }
        text.trim_end().to_owned()
    };
    out.styled("1", line(&HEAD.map(str::to_owned)));
    for (row, cells) in found.iter().zip(&cells) {
        let code = match row.style {
            RowStyle::Plain if row.way.contains("->") => "32",
            RowStyle::Plain => "",
            RowStyle::Input => "1",
            RowStyle::Bad => "31",
            RowStyle::Faint => "2",
        };
        out.styled(code, line(cells));
    }
    if filter.turn.is_none() && filter.step.is_none() {
        out.line("");
        out.add(&Summary::from_traces(std::slice::from_ref(trace)).states());
    }
    out
}

/// The first line: the chart, and how the run ended.
fn head(trace: &Read, terminal: Terminal) -> StyledText {
    let run = trace.lines.iter().find_map(|line| {
        let What::Run { chart, oracle, .. } = &line.what else { return None };
        line.child.is_empty().then_some((chart, oracle))
    });
    let (chart, who) = match run {
        Some((chart, oracle)) => (chart.as_str(), format!(", answered by {oracle}")),
        None => ("a chart without its `run` line", String::new()),
    };
    let end = trace.lines.iter().rev().find_map(|line| {
        let What::Ended { status, .. } = &line.what else { return None };
        line.child.is_empty().then(|| format!("ended {status}"))
    });
    let turns = trace.turns.iter().flatten().max().copied().unwrap_or(0);
    let calls =
        trace.lines.iter().filter(|line| matches!(line.what, What::Question { .. })).count();
    let text = format!(
        "{chart}: {} after {}, {}{}{who}",
        end.unwrap_or_else(|| "not ended".into()),
        number(u64::from(turns), "turn"),
        number(calls as u64, "question"),
        match trace.end() {
            0 => String::new(),
            ms => format!(" and {}", time(ms)),
        },
    );
    let mut head = StyledText::on(terminal);
    head.styled("1", cut(&text, terminal.width));
    head.line("");
    head
}

/// The cells of the rows. Turn and time are shown only where they change.
fn cells(rows: &[StoryRow]) -> Vec<[String; 6]> {
    let mut last: Option<(Option<u32>, u64)> = None;
    let mut out: Vec<[String; 6]> = Vec::new();
    for row in rows {
        let is_new = last.map(|(turn, _)| turn) != Some(row.turn);
        let turn = row.turn.filter(|_| is_new).map(|turn| match row.until {
            Some(until) => format!("{turn}-{until}"),
            None => turn.to_string(),
        });
        let is_later = last.is_none_or(|(_, at)| at != row.at_ms);
        last = Some((row.turn, row.at_ms));
        out.push([
            turn.unwrap_or_default(),
            if is_later { time(row.at_ms) } else { String::new() },
            row.step.clone(),
            row.decision.clone(),
            row.way.clone(),
            row.why.clone(),
        ]);
    }
    out
}

/// The widths of the columns: those of their widest cells if there is room. Otherwise the widest columns are narrowed, and the last one
/// gets the rest.
fn widths(cells: &[[String; 6]], total: usize) -> [usize; 6] {
    let mut widths = HEAD.map(width);
    for row in cells {
        for (cell, most) in row.iter().zip(&mut widths) {
            *most = width(cell).max(*most);
        }
    }
    let gaps = 2 * 5;
    let needed = |widths: &[usize; 6]| widths.iter().sum::<usize>() + gaps;
    if needed(&widths) > total {
        for (at, most) in (2..5).zip(MOST) {
            widths[at] = widths[at].min(most);
        }
        let others: usize = widths[..5].iter().sum::<usize>() + gaps;
        widths[5] = widths[5].min(total.saturating_sub(others).max(WHY));
    }
    // Narrow the decision first, then the reason, the step and the move, which says most.
    for (at, least) in [(3, 18), (5, 20), (2, 10), (4, 12)] {
        let over = needed(&widths).saturating_sub(total);
        widths[at] = widths[at].saturating_sub(over).max(least.min(widths[at]));
    }
    widths
}
