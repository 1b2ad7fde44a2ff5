//! Events that a chart sends to itself, although only a chart that it runs handles them.

use super::posting::{After, Sender, after, sender};
use super::{Context, Lint, words};
use crate::lower::PostSpans;
use chartc_core::arena::TransitionId;
use chartc_core::model::{AskOn, Receiver, Step, StepKind, Transition, Trigger};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::MISDIRECTED_EVENT;

pub(super) static LINT: Lint = Lint { rule: &MISDIRECTED_EVENT, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, family, .. } = context;
    let Some(own) = family.place(map) else { return };
    for post in map.posts.iter().filter(|post| post.to == Receiver::Own) {
        let name = &chart.events[post.event.index()].name;
        let takes = |(_, child): &&(_, usize)| family.can_handle(*child, name);
        let Some((step, child)) = family.member(own).children.iter().find(takes) else { continue };
        let never = !family.handles(own, name);
        if !never && !is_lost(context, post) {
            continue;
        }
        let (step, child) = (&chart.steps[step.index()].name, family.member(*child));
        let place = if never { "" } else { " where it is sent" };
        let message = format!(
            "nothing in `{}` handles `{name}`{place}: what a chart sends to itself does not come to `{step}`",
            chart.name
        );
        let mut found = MISDIRECTED_EVENT
            .at(post.span, message)
            .help(format!("send it to the chart that handles it: `send {name} to {step}`"));
        if let Some(i) = child.chart.events.iter().position(|event| event.name == *name) {
            let handles = format!("`{}` handles it", words::short(&child.chart.name));
            found = found.related(child.map.events[i], handles);
        }
        diagnostics.push(found);
    }
}

/// Whether each transition and question for the event belongs to a state that is not active when the event comes.
fn is_lost(context: &Context<'_>, post: &PostSpans) -> bool {
    let Context { chart, facts, .. } = context;
    let Some(by @ Sender::Lines(_)) = sender(context, post) else { return false };
    let gone = |state| matches!(after(context, &by, state), After::Left | After::Inactive);
    let takes = |(i, transition): (usize, &Transition)| {
        let named = matches!(&transition.trigger, Trigger::Event(all) if all.contains(&post.event));
        let any = matches!(transition.trigger, Trigger::AnyEvent | Trigger::AnyOccurrence);
        let within = &facts.scopes.transition(TransitionId::at(i)).within;
        (named || any) && within.iter().any(|state| !gone(*state))
    };
    let asks = |step: &Step| {
        let StepKind::Ask { on: AskOn::Event(events), .. } = &step.kind else { return false };
        events.contains(&post.event) && !gone(step.state)
    };
    !chart.transitions.iter().enumerate().any(takes) && !chart.steps.iter().any(asks)
}
