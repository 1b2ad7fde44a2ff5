//! Transitions that restart regions of a parallel that they do not name.

use super::{Context, Lint, words};
use crate::facts::restart::resets;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::REGION_RESET;
use std::collections::BTreeSet;

pub(super) static LINT: Lint = Lint { rule: &REGION_RESET, needs_whole: false, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    let mut told = BTreeSet::new();
    for reset in resets(chart, facts) {
        let spans = map.transition(reset.transition);
        // One line may define several transitions, and is reported once.
        if !told.insert(spans.whole) {
            continue;
        }
        let source = chart.transition(reset.transition).source;
        let parallel = words::state(chart, reset.parallel);
        let target = chart.transition(reset.transition).targets[0].state;
        let region = chart.children(reset.parallel).find(|r| chart.contains(*r, target));
        let own = region.filter(|r| chart.contains(*r, source));
        let help = match (own, region) {
            (Some(own), _) => {
                let own = words::state(chart, own);
                format!("lead to a state inside {own}, without `reenter`: then {own} alone moves")
            }
            (None, Some(other)) => format!(
                "let {} move itself, on the event or on one that is raised, or name a state of every region",
                words::state(chart, other)
            ),
            (None, None) => "name a state of every region".to_owned(),
        };
        let more = reset.count - reset.regions.len();
        let regions = match more {
            0 => words::states(chart, &reset.regions),
            _ => {
                let told: Vec<String> =
                    reset.regions.iter().map(|r| words::state(chart, *r)).collect();
                format!("{} and {more} more", told.join(", "))
            }
        };
        let verb = if reset.count == 1 { "starts" } else { "start" };
        let name = words::transition(chart, reset.transition);
        let mut found = REGION_RESET
            .at(
                spans.targets.first().copied().unwrap_or(spans.trigger),
                format!("{name} leaves {parallel} and enters it again: {regions} {verb} over"),
            )
            .help(help);
        for region in reset.regions.iter().take(3) {
            found = found.related(map.state(*region).name, "this region starts over");
        }
        diagnostics.push(found);
    }
}
