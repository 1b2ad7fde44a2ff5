//! Properties that are neither proved nor refuted within the bounds of the exploration.

use super::{Context, Lint};
use crate::explore::property::Verdict;
use chartc_core::model::{Step, StepKind};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::UNDECIDED_CHECK;

pub(super) static LINT: Lint = Lint { rule: &UNDECIDED_CHECK, needs_whole: true, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let is_run = |step: &Step| matches!(step.kind, StepKind::Run(_));
    let runs = context.chart.steps.iter().any(is_run);
    for (verdict, span) in context.runs.checks.iter().zip(&context.map.checks) {
        let found = match verdict {
            Verdict::Open(_, why) if runs => UNDECIDED_CHECK
                .at(*span, format!("neither refuted nor proved, as not every run can be tried: {}", why.join(", ")))
                .help("a chart that is run is not tried together with the one that runs it: put `check` lines into that chart, and try this one with `chartc explore`, which lets the other end in each of its ways"),
            Verdict::Open(0, why) => UNDECIDED_CHECK
                .at(*span, format!("neither refuted nor proved, as not every run can be tried: {}", why.join(", ")))
                .help("what is unbounded is tried with some values only: a Bool, an enum or an Int that is compared with constants can be tried whole"),
            Verdict::Open(states, why) => UNDECIDED_CHECK
                .at(
                    *span,
                    format!("not refuted within {states} states, and not proved: {}", why.join(", ")),
                )
                .help("`chartc check --explore N` looks at more states; what is unbounded is tried with some values only"),
            Verdict::Unknown => UNDECIDED_CHECK.at(*span, "there is no such property").help(
                "the properties are `reaches(s)`, `always_reaches(s)`, `never(a before b)`, `no_call(s)`, `ends_within(n turns)`, `at_most(n calls)`",
            ),
            Verdict::Holds | Verdict::NeverEntered(_) | Verdict::Refuted(..) => continue,
        };
        diagnostics.push(found);
    }
}
