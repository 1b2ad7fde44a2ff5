//! The status line of a run on a terminal: active states, what was spent, and the last decision with its reason.

#![allow(
    clippy::disallowed_methods,
    reason = "the line is drawn for people, as time passes for them"
)]

use super::output::foot;
use super::screen::Screen;
use chartc_runtime::trace::{Line, Sink, What};
use std::collections::BTreeSet;
use std::io;
use std::time::{Duration, Instant};

/// The minimum time between two drawings: a fast run would spend its time on the terminal.
const PAUSE: Duration = Duration::from_millis(50);

/// Prints a run, with a status line below.
pub(super) struct Live {
    screen: Screen,
    status: Status,
    drawn: Option<Instant>,
    on: bool,
}

impl Live {
    /// Creates the output. The line is drawn if standard error is a terminal.
    pub(super) fn new(screen: Screen) -> Self {
        let on = foot::is_there();
        Self { screen, status: Status::default(), drawn: None, on }
    }

    fn wipe(&mut self) -> io::Result<()> {
        if self.drawn.is_some() {
            foot::wipe()?;
        }
        Ok(())
    }

    fn draw(&mut self) -> io::Result<()> {
        let is_due = self.drawn.is_none_or(|at| at.elapsed() >= PAUSE);
        // While the run waits for an answer no further line may come, so draw what it waits for now.
        if !is_due && self.status.waits.is_empty() {
            return Ok(());
        }
        self.drawn = Some(Instant::now());
        foot::draw(&self.status.line())
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        // Otherwise the line would remain before the shell's prompt. If it cannot be erased, nobody can see it either.
        drop(self.wipe());
    }
}

impl Sink for Live {
    fn line(&mut self, line: &Line) -> io::Result<()> {
        if !self.on {
            return self.screen.line(line);
        }
        self.wipe()?;
        self.screen.line(line)?;
        self.status.hear(line);
        if matches!(line.what, What::Ended { .. }) && line.child.is_empty() {
            self.wipe()?;
            self.drawn = None;
            return Ok(());
        }
        self.draw()
    }
}

/// The content of the line.
#[derive(Default)]
struct Status {
    states: BTreeSet<String>,
    turn: u32,
    calls: u32,
    tokens: u64,
    /// The names of the steps that wait for an answer.
    waits: Vec<String>,
    last: String,
    /// Whether an option was chosen whose transition has not been taken yet.
    chosen: bool,
}

impl Status {
    fn hear(&mut self, line: &Line) {
        let own = line.child.is_empty();
        match &line.what {
            What::Entered { state } if own => drop(self.states.insert(state.clone())),
            What::Exited { state } if own => drop(self.states.remove(state)),
            What::Turn { turn } if own => self.turn = *turn,
            What::Question { step, .. } => {
                self.calls += 1;
                self.waits.push(step.clone());
            }
            What::Usage { input_tokens, output_tokens, .. } => {
                self.tokens = self.tokens.saturating_add(input_tokens + output_tokens);
            }
            What::Answer { step, option, .. } => {
                self.answered(step);
                if let Some(option) = option {
                    self.last = format!("{step}: {option}, by the model");
                }
            }
            What::Unusable { step, why, .. } => {
                self.answered(step);
                self.last = format!("{step}: asked again, {why}");
            }
            What::CallFailed { step, why, .. } => {
                self.answered(step);
                self.last = format!("{step}: failed, {why}");
            }
            What::Cancelled { step, .. } => self.answered(step),
            What::Acted { action, failed, .. } if failed.is_empty() => {
                self.last = format!("{action}: done");
            }
            What::Acted { action, failed, .. } => self.last = format!("{action}: {failed}"),
            What::NotActed { step, failed, .. } => self.last = format!("{step}: {failed}"),
            What::Unasked { option } => {
                self.last = format!("{option}, the only option");
                self.chosen = true;
            }
            What::Chosen { .. } => self.chosen = true,
            What::Fallback { step, why } => self.last = format!("{step}: fell back, {why}"),
            What::Denied { line } => {
                self.last = format!("{}: denied, no `allow` line permits it", line.trigger);
            }
            What::Taken { line, .. } => {
                // The line of a chosen option already says so.
                let is_told = std::mem::take(&mut self.chosen);
                if !is_told && !line.targets.is_empty() {
                    self.last = format!("-> {}, {}", line.targets.join(", "), line.trigger);
                }
            }
            _ => {}
        }
    }

    fn answered(&mut self, step: &str) {
        if let Some(at) = self.waits.iter().position(|waits| waits == step) {
            self.waits.remove(at);
        }
    }

    /// Formats the line: the leaves, the counts, the last decision, and the steps that wait.
    fn line(&self) -> String {
        let inner = |state: &&String| {
            let below = format!("{state}.");
            !state.is_empty() && !self.states.iter().any(|other| other.starts_with(&below))
        };
        let states: Vec<&str> = self.states.iter().filter(inner).map(String::as_str).collect();
        let mut parts = vec![format!("turn {}", self.turn), states.join(", ")];
        parts.push(format!("{} calls", self.calls));
        if self.tokens > 0 {
            parts.push(format!("{} tokens", self.tokens));
        }
        if !self.last.is_empty() {
            parts.push(self.last.clone());
        }
        if !self.waits.is_empty() {
            parts.push(format!("waiting for {}", self.waits.join(", ")));
        }
        parts.retain(|part| !part.is_empty());
        parts.join(" · ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(lines: &[&str]) -> String {
        let mut status = Status::default();
        for (i, text) in lines.iter().enumerate() {
            let text = format!(r#"{{"v":1,"seq":{},"at_ms":0,{text}}}"#, i + 1);
            let line: Line = serde_json::from_str(&text).expect("a line of a trace");
            status.hear(&line);
        }
        status.line()
    }

    #[test]
    fn it_says_where_the_run_is_and_what_it_waits_for() {
        let begun = [
            r#""kind":"entered","state":"""#,
            r#""kind":"entered","state":"open""#,
            r#""kind":"entered","state":"open.sorting""#,
            r#""kind":"turn","turn":3"#,
            r#""kind":"question","step":"triage","attempt":1,"prompt":"?","options":["a"]"#,
        ];
        assert_eq!(heard(&begun), "turn 3 · open.sorting · 1 calls · waiting for triage");
        let answered = [
            r#""kind":"usage","step":"triage","attempt":1,"input_tokens":40,"output_tokens":2,"cost":0.0"#,
            r#""kind":"answer","step":"triage","attempt":1,"text":"a","rung":"whole","option":"a""#,
            r#""kind":"exited","state":"open.sorting""#,
            r#""kind":"entered","state":"open.drafting""#,
        ];
        let all: Vec<&str> = begun.iter().chain(&answered).copied().collect();
        assert_eq!(
            heard(&all),
            "turn 3 · open.drafting · 1 calls · 42 tokens · triage: a, by the model"
        );
    }

    #[test]
    fn why_nothing_came_of_an_answer_is_said() {
        let line = r#""kind":"fallback","step":"triage","why":"unusable""#;
        assert_eq!(heard(&[line]), "turn 0 · 0 calls · triage: fell back, unusable");
    }
}
