//! Formats totals for people.

use super::{Chart, Counts, Summary};
use crate::cli::columns::columns;
use crate::cli::output::StyledText;
use crate::cli::trace::count::{StateCost, Tool};
use crate::cli::trace::tell::{number, state, time};

impl Summary {
    /// Formats all totals.
    pub(in crate::cli::trace) fn text(&self) -> StyledText {
        let mut out = StyledText::default();
        for (name, chart) in &self.charts {
            if !out.is_empty() {
                out.line("");
            }
            out.add(&chart.text(name));
        }
        out
    }

    /// Formats the costs of the states, by chart.
    pub(in crate::cli::trace) fn states(&self) -> StyledText {
        let mut out = StyledText::default();
        for (name, chart) in &self.charts {
            if !out.is_empty() {
                out.line("");
            }
            if self.charts.len() > 1 {
                out.line(name);
            }
            out.add(&chart.states());
        }
        out
    }
}

impl Chart {
    fn text(&self, name: &str) -> StyledText {
        let name = if name.is_empty() { "a chart without its `run` line" } else { name };
        let mut out = StyledText::default();
        out.line(format!("{name}: {}, {}", number(self.runs, "run"), list(&self.ended)));
        let mut row = |what: &str, text: String| {
            if !text.is_empty() {
                out.line(format!("  {what:<12}{text}"));
            }
        };
        let some = |n: u64, text: String| if n > 0 { text } else { String::new() };
        row(
            "stuck",
            some(
                self.stuck,
                format!("{} ({:.0}%)", number(self.stuck, "run"), 100.0 * self.stuck_rate),
            ),
        );
        row("turns", self.turns.to_string());
        row("time", time(self.time_ms));
        row(
            "questions",
            some(self.questions, format!("{}: {}", self.questions, list(&self.steps))),
        );
        row("answers", self.answers());
        row("failures", list(&self.failures));
        row("retries", some(self.retries, self.retries.to_string()));
        row("fallbacks", list(&self.fallbacks));
        let tokens = self.input_tokens + self.output_tokens;
        row("tokens", some(tokens, self.tokens()));
        row("tools", Tool::list(&self.tools));
        row("actions", Tool::list(&self.actions));
        row("setbacks", list(&self.setbacks));
        row(
            "forbidden",
            some(self.forbidden, format!("{} of tools", number(self.forbidden, "call"))),
        );
        row("denied", some(self.denied, number(self.denied, "move")));
        row("refused", some(self.refused, number(self.refused, "event")));
        row("errors", list(&self.errors));
        out.line("");
        out.add(&self.states());
        if !self.transitions.is_empty() {
            out.line("");
            out.add(&self.moves());
        }
        out
    }

    fn answers(&self) -> String {
        let mut parts: Vec<String> = Vec::new();
        for (rung, words) in
            [("whole", "as asked"), ("cleaned", "cleaned"), ("mention", "by mention")]
        {
            if let Some(n) = self.rungs.get(rung) {
                parts.push(format!("{n} {words}"));
            }
        }
        if self.unusable > 0 {
            parts.push(format!("{} not usable", self.unusable));
        }
        parts.join(", ")
    }

    fn tokens(&self) -> String {
        let mut text = format!("{} in, {} out", self.input_tokens, self.output_tokens);
        if self.cost > 0.0 {
            text.push_str(&format!(", cost {:.4}", self.cost));
        }
        if self.assumed > 0 {
            text.push_str(&format!("; assumed for {}", number(self.assumed, "call")));
        }
        text
    }

    fn states(&self) -> StyledText {
        let is_shown = |(path, row): &(&String, &StateCost)| !path.is_empty() || row.questions > 0;
        let rows: Vec<(&String, &StateCost)> = self.states.iter().filter(is_shown).collect();
        let tokens = rows.iter().any(|(_, row)| row.tokens > 0);
        let cost = rows.iter().any(|(_, row)| row.cost > 0.0);
        let failed = rows.iter().any(|(_, row)| row.failed > 0);
        let mut head = vec!["state", "visits", "time", "questions"];
        head.extend(failed.then_some("failed"));
        head.extend(tokens.then_some("tokens"));
        head.extend(cost.then_some("cost"));
        let cells = |(path, row): &(&String, &StateCost)| {
            let mut cells = vec![
                state(path).to_owned(),
                row.visits.to_string(),
                time(row.time_ms),
                row.questions.to_string(),
            ];
            cells.extend(failed.then(|| row.failed.to_string()));
            cells.extend(tokens.then(|| row.tokens.to_string()));
            cells.extend(cost.then(|| format!("{:.4}", row.cost)));
            cells
        };
        let rows: Vec<Vec<String>> = rows.iter().map(cells).collect();
        columns(&head, &rows, &[1, 2, 3, 4, 5, 6])
    }

    fn moves(&self) -> StyledText {
        let rows = self.transitions.iter().map(|row| {
            let to = if row.targets.is_empty() { "(stays)".into() } else { row.targets.join(", ") };
            vec![row.taken.to_string(), state(&row.state).to_owned(), row.trigger.clone(), to]
        });
        columns(&["taken", "state", "line", "to"], &rows.collect::<Vec<_>>(), &[0])
    }
}

pub(in crate::cli::trace) fn list(counts: &Counts) -> String {
    counts.iter().map(|(name, n)| format!("{name} {n}")).collect::<Vec<_>>().join(", ")
}
