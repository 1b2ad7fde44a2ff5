//! The label of a state: its name and rows.

use super::text::html;
use crate::picture::look::{BORDER, Look};
use crate::picture::rows::LabelRow;
use crate::picture::text::{short, wrap};
use chartc_core::arena::StateId;
use chartc_core::model::{Chart, StateKind, Status};

/// The maximum number of characters of one line in a state's label.
const WIDTH: usize = 38;

/// The HTML-like label of a state in its angle brackets, `title` first.
pub(super) fn whole(rows: &[LabelRow], title: &str, flush_left: bool) -> String {
    if rows.is_empty() {
        return format!("<{title}>");
    }
    let align = if flush_left { "left" } else { "center" };
    let mut out = format!(
        "<<table border=\"0\" cellborder=\"0\" cellpadding=\"2\" cellspacing=\"0\"><tr><td align=\"{align}\">{title}</td></tr>"
    );
    if !flush_left {
        out.push_str("<hr/>");
    }
    for row in rows {
        let colour = row.look.map_or(BORDER, Look::colour);
        let (open, close) = cell(row.is_many, colour);
        out.push_str(&open);
        let lead = if row.word.is_empty() { String::new() } else { format!("{} ", row.word) };
        let lines = wrap(&format!("{lead}{}", row.text), WIDTH);
        for (n, line) in lines.iter().enumerate() {
            let (word, rest) = match line.strip_prefix(lead.trim_end()) {
                Some(rest) if n == 0 && !lead.is_empty() => (lead.trim_end(), rest),
                _ => ("", line.as_str()),
            };
            if n > 0 {
                out.push_str("<br/>&nbsp;&nbsp;");
            }
            if lead.is_empty() {
                out.push_str(&format!("<font color=\"{colour}\">{}</font>", html(rest)));
                continue;
            }
            if !word.is_empty() {
                let word = html(word);
                out.push_str(&format!("<font color=\"{colour}\"><b>{word}</b></font>"));
            }
            out.push_str(&html(rest));
        }
        out.push_str(close);
    }
    out.push_str("</table>>");
    out
}

/// The tags around the text of a row. A step for each element of a list looks like a stack of boxes.
fn cell(is_many: bool, colour: &str) -> (String, &'static str) {
    const TEXT: &str = "align=\"left\" balign=\"left\"";
    if !is_many {
        let open = format!("<tr><td {TEXT}><font point-size=\"9\">");
        return (open, "</font></td></tr>");
    }
    // Each box below shows two of its sides.
    let below = format!(
        "<td border=\"1\" sides=\"RB\" cellpadding=\"2\"><table border=\"0\" cellborder=\"0\" cellpadding=\"2\" cellspacing=\"0\" color=\"{colour}\"><tr>"
    );
    let open = format!(
        "<tr><td align=\"left\"><table border=\"0\" cellborder=\"0\" cellpadding=\"0\" cellspacing=\"0\" color=\"{colour}\"><tr>{below}{below}<td {TEXT} border=\"1\"><font point-size=\"9\">"
    );
    (open, "</font></td></tr></table></td></tr></table></td></tr></table></td></tr>")
}

/// The name of a state, as the first line of its label shows it.
pub(super) fn title(chart: &Chart, id: StateId) -> String {
    let state = chart.state(id);
    let name = wrap(&state.name, WIDTH).iter().map(|l| html(l)).collect::<Vec<_>>().join("<br/>");
    let bold = format!("<b>{name}</b>");
    match &state.kind {
        StateKind::Parallel => {
            format!("{bold}<font color=\"{BORDER}\" point-size=\"9\"> parallel</font>")
        }
        StateKind::Final { params, status } => {
            let mut out = bold;
            if !params.is_empty() {
                let params: Vec<&str> = params.iter().map(|p| p.name.as_str()).collect();
                let params = short(&format!("({})", params.join(", ")), WIDTH);
                out.push_str(&format!("<font point-size=\"9\">{}</font>", html(&params)));
            }
            if *status != Status::Ok {
                out.push_str(&format!("<br/><font point-size=\"9\">{}</font>", status.word()));
            }
            out
        }
        StateKind::History { deep, .. } => (if *deep { "H*" } else { "H" }).to_string(),
        StateKind::Atomic | StateKind::Compound { .. } => bold,
    }
}
