//! Messages that the receiving chart never handles.

use super::{Context, Lint, words};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNHEARD_MESSAGE;

pub(super) static LINT: Lint = Lint { rule: &UNHEARD_MESSAGE, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, map, family, .. } = context;
    let Some(own) = family.place(map) else { return };
    for post in &map.posts {
        let event = &chart.events[post.event.index()].name;
        let receivers = family.receivers(own, post.to);
        if !family.is_unheard(&receivers, event) {
            continue;
        }
        let names = receivers.iter().map(|nth| family.member(*nth).chart.name.as_str());
        let names = words::names(names);
        let mut found = UNHEARD_MESSAGE
            .at(post.span, format!("nothing in {names} handles `{event}`, which is sent there"))
            .help(format!("add a line `on {event}` to {names}, or do not send it"));
        for nth in receivers {
            let to = family.member(nth);
            let declared = to.chart.events.iter().position(|known| known.name == *event);
            if let Some(i) = declared {
                found = found.related(to.map.events[i], "declared here, and not handled");
            }
        }
        diagnostics.push(found);
    }
}
