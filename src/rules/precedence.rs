//! Which findings suppress others, and which are consequences of others.

use super::{
    dead_line, eventless_cycle, left_at_once, lost_count, missing_field, missing_prompt, never_set,
    read_before_set, unknown_field, unknown_name,
};
use crate::diagnostic::{Broken, Diagnostic, Rule, Severity};
use crate::span::Span;
use std::collections::BTreeMap;

/// A rule whose findings are suppressed by others.
struct Yield {
    rule: &'static Rule,
    to: To,
}

/// What suppresses a finding at the same place. A finding without a construct that it is about is never suppressed.
enum To {
    /// Findings of these rules, at their span or a related one.
    Rules(&'static [&'static Rule]),
    /// Errors of these rules.
    Errors(&'static [&'static Rule]),
    /// Every finding, at its span, except those that this row or a later one may suppress.
    All,
}

/// The rules whose findings may be suppressed, each once.
static YIELDS: &[Yield] = &[
    // A cycle of such transitions is reported as a cycle.
    Yield { rule: &left_at_once::RULE, to: To::Rules(&[&eventless_cycle::RULE]) },
    // The missing or misspelt key is the prompt.
    Yield {
        rule: &missing_prompt::RULE,
        to: To::Errors(&[&missing_field::RULE, &unknown_field::RULE]),
    },
    // The values there are a consequence of the other finding.
    Yield { rule: &never_set::RULE, to: To::All },
    Yield { rule: &lost_count::RULE, to: To::All },
    Yield { rule: &dead_line::RULE, to: To::All },
];

/// Rules whose first finding represents all that blame the same constructs.
static GROUPED: &[&Rule] = &[&read_before_set::RULE];

/// Removes the findings that others suppress.
pub(crate) fn leave_out(found: &mut Vec<Diagnostic>) {
    for (row, Yield { rule, to }) in YIELDS.iter().enumerate() {
        let is_below = |d: &Diagnostic| {
            d.about.is_some() && YIELDS[row..].iter().any(|y| y.rule.code == d.rule.code)
        };
        let listed = |rules: &[&Rule], d: &Diagnostic| rules.iter().any(|r| r.code == d.rule.code);
        let stronger: Vec<(Span, &[(Span, String)])> = found
            .iter()
            .filter_map(|d| match to {
                To::Rules(rules) => listed(rules, d).then_some((d.span, &d.related[..])),
                To::Errors(rules) => {
                    (listed(rules, d) && d.severity == Severity::Error).then_some((d.span, &[][..]))
                }
                To::All => {
                    (d.severity > Severity::Off && !is_below(d)).then_some((d.span, &[][..]))
                }
            })
            .collect();
        let mut kept = found.iter().map(|d| {
            let own = |place: Span| {
                d.about.is_some_and(|whole| overlaps(whole, place) || overlaps(d.span, place))
            };
            let hides = |(span, related): &(Span, &[(Span, String)])| {
                own(*span) || related.iter().any(|(place, _)| own(*place))
            };
            d.rule.code != rule.code || !stronger.iter().any(hides)
        });
        let kept: Vec<bool> = kept.by_ref().collect();
        let mut kept = kept.into_iter();
        found.retain(|_| kept.next().unwrap_or(true));
    }
}

/// Turns findings that are consequences of another into related spans of that one. `charts` contains the spans of the charts; `text`
/// returns the source text of a span.
pub(crate) fn fold<'t>(
    found: &mut Vec<Diagnostic>,
    charts: &[Span],
    text: impl Fn(Span) -> &'t str,
) {
    let around = |place: Span| {
        charts.iter().copied().filter(|chart| holds(*chart, place)).max_by_key(|c| c.start)
    };
    let mut broken: Vec<(usize, Span)> = Vec::new();
    let mut names: BTreeMap<&str, Vec<(usize, Span)>> = BTreeMap::new();
    for (nth, finding) in found.iter().enumerate() {
        for one in &finding.breaks {
            match one {
                Broken::Construct(place) => broken.push((nth, *place)),
                Broken::Name(name, within) => {
                    let within = within.or_else(|| around(finding.span));
                    names.entry(name).or_default().extend(within.map(|place| (nth, place)));
                }
            }
        }
    }
    // By rule and blamed constructs.
    let mut first: BTreeMap<(&str, &[Span]), usize> = BTreeMap::new();
    let cause = |nth: usize, finding: &'_ Diagnostic| {
        // Every construct that it blames is broken; the finding about the first of them counts as its cause.
        let breaker =
            |part: &Span| broken.iter().find(|(root, place)| *root != nth && holds(*place, *part));
        let roots: Option<Vec<_>> = finding.because.iter().map(breaker).collect();
        let root = roots.and_then(|all| all.first().copied());
        let name = || {
            let all = names.get(text(finding.span))?;
            let is_lost = |(root, place): &&(usize, Span)| {
                finding.rule.code == unknown_name::RULE.code
                    && *root != nth
                    && holds(*place, finding.span)
            };
            all.iter().find(is_lost)
        };
        root.or_else(name).map(|(root, _)| *root)
    };
    let is_grouped = |d: &Diagnostic| GROUPED.iter().any(|rule| rule.code == d.rule.code);
    let mut causes: Vec<Option<usize>> = Vec::with_capacity(found.len());
    for (nth, finding) in found.iter().enumerate() {
        let root = cause(nth, finding).or_else(|| {
            let key = (finding.rule.code, &finding.because[..]);
            (!finding.because.is_empty() && is_grouped(finding))
                .then(|| *first.entry(key).or_insert(nth))
        });
        causes.push(root.filter(|root| *root != nth));
    }
    drop(names);
    for nth in 0..found.len() {
        let Some(root) = root_of(&causes, nth) else { continue };
        let (stage, severity) = (found[nth].stage, found[nth].severity);
        let told = (found[nth].span, found[nth].message.clone());
        let root = &mut found[root];
        if severity > root.severity {
            (root.stage, root.severity) = (stage, severity);
        }
        if told.0 != root.span {
            root.related.push(told);
        }
    }
    let mut nth = 0;
    found.retain(|_| {
        nth += 1;
        root_of(&causes, nth - 1).is_none()
    });
}

/// The first finding in the chain of causes; `None` for one without a cause, or in a cycle of causes.
fn root_of(causes: &[Option<usize>], nth: usize) -> Option<usize> {
    let mut at = causes[nth]?;
    for _ in 0..causes.len() {
        match causes[at] {
            Some(next) => at = next,
            None => return Some(at),
        }
    }
    None
}

fn overlaps(one: Span, other: Span) -> bool {
    one == other || one.file == other.file && one.start < other.end && other.start < one.end
}

fn holds(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}
