//! The catalogue of rules: code, name, stage, level and page of each, and messages.
//!
//! To add a rule, add its page, `<name>.md`. Its front matter has the code, name, stage and level, and the table follows from it. A rule
//! that needs an analysis has its check in `lint`; messages of the others are in `messages`.

mod messages;

pub use messages::*;

use crate::syntax::diagnostic::{Broken, Diagnostic, Rule, Severity, Stage, nearest};
use crate::syntax::source::Span;
use std::collections::BTreeMap;

include!(concat!(env!("OUT_DIR"), "/rules.rs"));

/// Finds a rule by code or name; case, `-` and `_` do not count.
///
/// # Errors
/// The nearest code or name, if there is one.
pub fn named(word: &str) -> Result<&'static Rule, Option<&'static str>> {
    let name = word.replace('_', "-").to_lowercase();
    let found = RULES.iter().find(|r| r.code.eq_ignore_ascii_case(word) || r.name == name);
    found.copied().ok_or_else(|| nearest(&name, RULES.iter().flat_map(|r| [r.code, r.name])))
}

// Decides which findings are suppressed by others, and which are consequences of others.

/// A rule whose findings may be suppressed by others.
struct Suppression {
    rule: &'static Rule,
    by: SuppressedBy,
}

/// The findings that suppress a finding at the same place. A finding without `about` is never suppressed.
enum SuppressedBy {
    /// Findings of these rules, at their span or at a related one.
    Rules(&'static [&'static Rule]),
    /// Errors of these rules, at their span.
    Errors(&'static [&'static Rule]),
    /// All findings, at their span, except those that this row or a later one may suppress.
    All,
}

/// The rules whose findings may be suppressed, each once.
static SUPPRESSIONS: &[Suppression] = &[
    // A cycle of such transitions is reported as a cycle.
    Suppression { rule: &LEFT_AT_ONCE, by: SuppressedBy::Rules(&[&EVENTLESS_CYCLE]) },
    // The key that is missing or misspelt is the prompt.
    Suppression {
        rule: &MISSING_PROMPT,
        by: SuppressedBy::Errors(&[&MISSING_FIELD, &UNKNOWN_FIELD]),
    },
    // A variable that is never set, or only later, is also empty in the list.
    Suppression { rule: &EMPTY_FAN_OUT, by: SuppressedBy::Rules(&[&NEVER_SET, &READ_BEFORE_SET]) },
    // The values there are a consequence of the other finding.
    Suppression { rule: &NEVER_SET, by: SuppressedBy::All },
    Suppression { rule: &LOST_COUNT, by: SuppressedBy::All },
    // A condition always holds because of how its variable is counted or set.
    Suppression {
        rule: &NEEDLESS_GUARD,
        by: SuppressedBy::Rules(&[&LOST_COUNT, &BACKWARD_COUNT, &NEVER_SET]),
    },
    Suppression { rule: &DEAD_LINE, by: SuppressedBy::All },
];

/// The rules whose first finding stands for all others that blame the same constructs.
static GROUPED: &[&Rule] = &[&READ_BEFORE_SET];

/// Removes the findings that others suppress.
pub fn suppress(found: &mut Vec<Diagnostic>) {
    for (row, Suppression { rule, by: to }) in SUPPRESSIONS.iter().enumerate() {
        let is_below = |d: &Diagnostic| {
            d.about.is_some() && SUPPRESSIONS[row..].iter().any(|y| y.rule.code == d.rule.code)
        };
        let listed = |rules: &[&Rule], d: &Diagnostic| rules.iter().any(|r| r.code == d.rule.code);
        let stronger = found.iter().flat_map(|d| {
            let places = match to {
                SuppressedBy::Rules(rules) if listed(rules, d) => 1 + d.related.len(),
                SuppressedBy::Errors(rules) => {
                    usize::from(listed(rules, d) && d.severity == Severity::Error)
                }
                SuppressedBy::All => usize::from(d.severity > Severity::Off && !is_below(d)),
                SuppressedBy::Rules(_) => 0,
            };
            let all = std::iter::once(d.span).chain(d.related.iter().map(|(place, _)| *place));
            all.take(places)
        });
        let stronger: Vec<Span> = stronger.take(MOST_COMPARED).collect();
        let is_suppressed = |d: &Diagnostic| {
            let whole = d.about.filter(|_| d.rule.code == rule.code);
            whole.is_some_and(|whole| {
                stronger.iter().any(|place| overlap(*place, whole) || overlap(*place, d.span))
            })
        };
        found.retain(|d| !is_suppressed(d));
    }
}

/// Turns findings that are consequences of another into related spans of that one. `charts` contains the spans of the charts; `text`
/// returns the source text of a span.
pub(crate) fn group_by_cause<'t>(
    found: &mut Vec<Diagnostic>,
    charts: &[Span],
    text: impl Fn(Span) -> &'t str,
) {
    let around = |place: Span| {
        charts.iter().copied().filter(|chart| contains(*chart, place)).max_by_key(|c| c.start)
    };
    let mut broken: Vec<(Span, usize)> = Vec::new();
    let mut names: BTreeMap<&str, Vec<(usize, Span)>> = BTreeMap::new();
    for (nth, finding) in found.iter().enumerate() {
        for one in &finding.breaks {
            match one {
                Broken::Construct(place) => broken.push((*place, nth)),
                Broken::Name(name, within) => {
                    let within = within.or_else(|| around(finding.span));
                    names.entry(name).or_default().extend(within.map(|place| (nth, place)));
                }
            }
        }
    }
    broken.truncate(MOST_COMPARED);
    broken.sort_unstable();
    // The first finding of each rule and list of blamed constructs.
    let mut first: BTreeMap<(&str, &[Span]), usize> = BTreeMap::new();
    let cause = |nth: usize, finding: &'_ Diagnostic| {
        // Every construct that the finding blames must be broken. The finding that breaks the first one is the cause.
        let roots: Option<Vec<usize>> =
            finding.because.iter().map(|part| breaker(&broken, *part, nth)).collect();
        let root = roots.and_then(|all| all.first().copied());
        let name = || {
            let all = names.get(text(finding.span))?;
            let is_lost = |(root, place): &&(usize, Span)| {
                finding.rule.code == UNKNOWN_NAME.code
                    && *root != nth
                    && contains(*place, finding.span)
            };
            all.iter().find(is_lost).map(|(root, _)| *root)
        };
        root.or_else(name)
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
    let mut told: BTreeMap<usize, usize> = BTreeMap::new();
    for nth in 0..found.len() {
        let Some(root) = root_of(&causes, nth) else { continue };
        let (stage, severity) = (found[nth].stage, found[nth].severity);
        let (place, message) = (found[nth].span, found[nth].message.clone());
        let count = told.entry(root).or_default();
        *count += 1;
        let root = &mut found[root];
        if severity > root.severity {
            (root.stage, root.severity) = (stage, severity);
        }
        if place != root.span && *count <= MOST_SHOWN {
            root.related.push((place, message));
        }
    }
    for (root, count) in told.into_iter().filter(|(_, count)| *count > MOST_SHOWN) {
        let more = format!("{} more findings follow from this one", count - MOST_SHOWN);
        let place = found[root].span;
        found[root].related.push((place, more));
    }
    let mut nth = 0;
    found.retain(|_| {
        nth += 1;
        root_of(&causes, nth - 1).is_none()
    });
}

/// The maximum number of places with which each finding is compared. A long text may have many findings, and each one is compared with
/// all places.
const MOST_COMPARED: usize = 1000;

/// The maximum length of a chain of causes that is followed.
const LONGEST: usize = 64;

/// The maximum number of consequences of a finding that are shown.
const MOST_SHOWN: usize = 20;

/// The finding at the start of the chain of causes; `None` for a finding without a cause, or in a cycle of causes.
fn root_of(causes: &[Option<usize>], nth: usize) -> Option<usize> {
    let mut at = causes[nth]?;
    for _ in 0..LONGEST {
        match causes[at] {
            Some(next) => at = next,
            None => return Some(at),
        }
    }
    None
}

/// The owner of a broken construct that contains `place`, other than `except`. If several contain it, the one whose construct ends last.
fn breaker(broken: &[(Span, usize)], place: Span, except: usize) -> Option<usize> {
    let around = broken.iter().filter(|(span, owner)| *owner != except && contains(*span, place));
    // Of equal ones the first counts; `max_by_key` returns the last, hence `rev`.
    around.rev().max_by_key(|(span, _)| span.end).map(|(_, owner)| *owner)
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

fn overlap(one: Span, other: Span) -> bool {
    one == other || one.file == other.file && one.start < other.end && other.start < one.end
}

// Lists and excerpts for messages, with user text in backticks.

/// Lists the user's names; after the fourth, only their number.
pub fn names<'n>(all: impl IntoIterator<Item = &'n str>) -> String {
    row(&all.into_iter().map(|name| format!("`{name}`")).collect::<Vec<_>>())
}

/// Like [`names`], for names that are already in backticks.
pub fn row(all: &[String]) -> String {
    match all.split_last() {
        None => "none".into(),
        Some((last, [])) => last.clone(),
        Some(_) if all.len() > 4 => format!("{} and {} more", all[..4].join(", "), all.len() - 4),
        Some((last, rest)) => format!("{} and {last}", rest.join(", ")),
    }
}

/// Abbreviates a text to about forty characters.
pub fn short(text: &str) -> String {
    if text.chars().count() <= 44 {
        return text.to_owned();
    }
    text.chars().take(40).chain("…".chars()).collect()
}
