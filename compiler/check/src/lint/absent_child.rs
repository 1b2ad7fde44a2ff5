//! Events that are sent to a child chart while it does not run.

use super::posting::{After, Sender, after, sender};
use super::{Context, Lint, words};
use chartc_core::model::{Receiver, StepKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::ABSENT_CHILD;

pub(super) static LINT: Lint = Lint { rule: &ABSENT_CHILD, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, .. } = context;
    for post in &map.posts {
        let Receiver::Child(step) = post.to else { continue };
        let row = &chart.steps[step.index()];
        let Some(sender) = sender(context, post).filter(|by| is_run(context, by)) else { continue };
        let on_entry = matches!(&row.kind, StepKind::Run(run) if run.on_entry);
        let (name, state) = (words::step(chart, step), words::state(chart, row.state));
        let event = &chart.events[post.event.index()].name;
        let (message, help) = match after(context, &sender, row.state) {
            After::Perhaps => continue,
            // A step with `at entry` starts with its state, before the event comes.
            After::Entered if on_entry => continue,
            After::Entered => (
                format!(
                    "{name} does not run yet when `{event}` is sent: it starts in the walk of a turn"
                ),
                format!("start it with `at entry`, or send `{event}` later"),
            ),
            After::Left => (
                format!("{name} is stopped before `{event}` comes: {state} is left here"),
                format!(
                    "send `{event}` without leaving {state}, and leave it when {name} has ended"
                ),
            ),
            After::Inactive => (
                format!("{name} does not run when `{event}` is sent: {state} is not active here"),
                format!("send `{event}` while {state} is active, or lead there"),
            ),
        };
        let found = ABSENT_CHILD.at(post.span, message).help(help);
        diagnostics.push(found.related(map.step(step).name, format!("{name} runs in {state}")));
    }
}

/// Whether a run may execute the block that sends. Other rules report blocks that no run executes.
fn is_run(context: &Context<'_>, sender: &Sender) -> bool {
    match sender {
        Sender::Lines(transitions) => {
            transitions.iter().any(|transition| context.facts.reach.can_take(*transition))
        }
        Sender::Entry(state) | Sender::Exit(state) => context.facts.reach.can_enter(*state),
    }
}
