//! Which findings suppress others, and which are consequences of others.

use super::{
    dead_line, empty_fan_out, eventless_cycle, left_at_once, lost_count, missing_field,
    missing_prompt, never_set, read_before_set, unknown_field, unknown_name,
};
use crate::diagnostic::{Broken, Diagnostic, Rule, Severity};
use crate::span::Span;
use std::collections::BTreeMap;

/// A rule whose findings are suppressed by others.
struct Suppression {
    rule: &'static Rule,
    by: SuppressedBy,
}

/// What suppresses a finding at the same place. A finding without a construct that it is about is never suppressed.
enum SuppressedBy {
    /// Findings of these rules, at their span or a related one.
    Rules(&'static [&'static Rule]),
    /// Errors of these rules.
    Errors(&'static [&'static Rule]),
    /// Every finding, at its span, except those that this row or a later one may suppress.
    All,
}

/// The rules whose findings may be suppressed, each once.
static SUPPRESSIONS: &[Suppression] = &[
    // A cycle of such transitions is reported as a cycle.
    Suppression { rule: &left_at_once::RULE, by: SuppressedBy::Rules(&[&eventless_cycle::RULE]) },
    // The missing or misspelt key is the prompt.
    Suppression {
        rule: &missing_prompt::RULE,
        by: SuppressedBy::Errors(&[&missing_field::RULE, &unknown_field::RULE]),
    },
    // What nothing sets, or only later, is empty in the list, too.
    Suppression {
        rule: &empty_fan_out::RULE,
        by: SuppressedBy::Rules(&[&never_set::RULE, &read_before_set::RULE]),
    },
    // The values there are a consequence of the other finding.
    Suppression { rule: &never_set::RULE, by: SuppressedBy::All },
    Suppression { rule: &lost_count::RULE, by: SuppressedBy::All },
    Suppression { rule: &dead_line::RULE, by: SuppressedBy::All },
];

/// Rules whose first finding represents all that blame the same constructs.
static GROUPED: &[&Rule] = &[&read_before_set::RULE];

/// Removes the findings that others suppress.
pub fn suppress(found: &mut Vec<Diagnostic>) {
    for (row, Suppression { rule, by: to }) in SUPPRESSIONS.iter().enumerate() {
        let is_below = |d: &Diagnostic| {
            d.about.is_some() && SUPPRESSIONS[row..].iter().any(|y| y.rule.code == d.rule.code)
        };
        let listed = |rules: &[&Rule], d: &Diagnostic| rules.iter().any(|r| r.code == d.rule.code);
        let stronger = found.iter().enumerate().flat_map(|(nth, d)| {
            let places = match to {
                SuppressedBy::Rules(rules) if listed(rules, d) => 1 + d.related.len(),
                SuppressedBy::Errors(rules) => {
                    usize::from(listed(rules, d) && d.severity == Severity::Error)
                }
                SuppressedBy::All => usize::from(d.severity > Severity::Off && !is_below(d)),
                SuppressedBy::Rules(_) => 0,
            };
            let all = std::iter::once(d.span).chain(d.related.iter().map(|(place, _)| *place));
            all.take(places).map(move |place| (place, nth))
        });
        let stronger = Places::new(stronger.collect());
        let is_suppressed = |d: &Diagnostic| {
            let whole = d.about.filter(|_| d.rule.code == rule.code);
            whole.is_some_and(|whole| stronger.overlap(whole) || stronger.overlap(d.span))
        };
        found.retain(|d| !is_suppressed(d));
    }
}

/// Turns findings that are consequences of another into related spans of that one. `charts` contains the spans of the charts; `text`
/// returns the source text of a span.
pub fn group_by_cause<'t>(
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
    let broken = Places::new(broken);
    // By rule and blamed constructs.
    let mut first: BTreeMap<(&str, &[Span]), usize> = BTreeMap::new();
    let cause = |nth: usize, finding: &'_ Diagnostic| {
        // Every construct that it blames is broken. The finding that breaks the first one is the cause.
        let roots: Option<Vec<usize>> =
            finding.because.iter().map(|part| broken.around(*part, nth)).collect();
        let root = roots.and_then(|all| all.first().copied());
        let name = || {
            let all = names.get(text(finding.span))?;
            let is_lost = |(root, place): &&(usize, Span)| {
                finding.rule.code == unknown_name::RULE.code
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

/// Longest chain of causes that is followed.
const LONGEST: usize = 64;

/// Consequences of one finding that are shown.
const MOST_SHOWN: usize = 20;

/// The finding at the start of the chain of causes; `None` for one without a cause, or in a cycle of causes.
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

/// Places, each of a finding, by file and start. A question costs a binary search.
struct Places {
    rows: Vec<(Span, usize)>,
    /// For each row, among the rows of its file up to it: the one that ends last, and the one of another finding that does.
    last: Vec<(usize, Option<usize>)>,
}

impl Places {
    fn new(mut rows: Vec<(Span, usize)>) -> Self {
        rows.sort_unstable();
        let mut last: Vec<(usize, Option<usize>)> = Vec::with_capacity(rows.len());
        for (nth, (place, owner)) in rows.iter().enumerate() {
            let before = last.last().filter(|(first, _)| rows[*first].0.file == place.file);
            let Some((first, second)) = before.copied() else {
                last.push((nth, None));
                continue;
            };
            let is_own = rows[first].1 == *owner;
            let is_later = |other: usize| place.end > rows[other].0.end;
            last.push(match (is_later(first), is_own) {
                (true, true) => (nth, second),
                (true, false) => (nth, Some(first)),
                (false, false) if second.is_none_or(is_later) => (first, Some(nth)),
                (false, _) => (first, second),
            });
        }
        Self { rows, last }
    }

    /// The rows of the file that start before `end`.
    fn before(&self, place: Span, end: u32) -> Option<(usize, Option<usize>)> {
        let count = self.rows.partition_point(|(s, _)| (s.file, s.start) < (place.file, end));
        let nth = count.checked_sub(1)?;
        (self.rows[nth].0.file == place.file).then(|| self.last[nth])
    }

    /// Whether one of them overlaps the place, or is the same.
    fn overlap(&self, place: Span) -> bool {
        let end = |row: usize| self.rows[row].0.end;
        self.before(place, place.end).is_some_and(|(first, _)| end(first) > place.start)
            || self.rows.binary_search_by_key(&place, |(other, _)| *other).is_ok()
    }

    /// The finding of one that holds the place, other than `except`.
    fn around(&self, place: Span, except: usize) -> Option<usize> {
        let (first, second) = self.before(place, place.start.saturating_add(1))?;
        let rows = [Some(first), second].into_iter().flatten().map(|row| self.rows[row]);
        let mut holding = rows.filter(|(span, owner)| *owner != except && span.end >= place.end);
        holding.next().map(|(_, owner)| owner)
    }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::span::FileId;

    fn span(file: u32, start: usize, end: usize) -> Span {
        Span::new(FileId(file), start, end)
    }

    /// Against every pair: what overlaps, and which finding holds a place.
    #[test]
    fn places_answer_as_a_search_through_all_does() {
        let mut state = 1_u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) % below
        };
        for _ in 0..300 {
            let mut place = || {
                let start = random(12) as usize;
                span(random(2) as u32, start, start + random(6) as usize)
            };
            let rows: Vec<(Span, usize)> = (0..8).map(|nth| (place(), nth % 3)).collect();
            let places = Places::new(rows.clone());
            let asked = place();
            let overlaps = |one: Span| {
                one == asked
                    || one.file == asked.file && one.start < asked.end && asked.start < one.end
            };
            assert_eq!(places.overlap(asked), rows.iter().any(|(one, _)| overlaps(*one)));
            let around =
                |owner: usize| rows.iter().any(|(one, of)| *of == owner && contains(*one, asked));
            match places.around(asked, 1) {
                Some(owner) => assert!(owner != 1 && around(owner), "{asked:?} {rows:?}"),
                None => assert!(!around(0) && !around(2), "{asked:?} {rows:?}"),
            }
        }
    }
}
