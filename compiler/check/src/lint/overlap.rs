//! Transitions whose guards overlap, so that only document order decides.

use crate::facts::Facts;
use crate::facts::cover::{Key, keys};
use crate::facts::guard::{Verdict, decide, implies};
use crate::lint::{Context, Lint, words};
use chartc_core::arena::TransitionId;
use chartc_core::expr::Value;
use chartc_core::model::{Chart, Expr, Transition};
use chartc_text::diagnostic::Diagnostic;
use chartc_text::rules::OVERLAP;
use std::collections::BTreeMap;

pub(super) static LINT: Lint = Lint { rule: &OVERLAP, needs_whole: false, run };

fn run(context: &Context<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Context { chart, facts, map, .. } = context;
    for overlap in overlaps(chart, facts) {
        let (line, case) = (
            words::transition(chart, overlap.then),
            words::case(chart, overlap.then, &overlap.case),
        );
        let spans = map.transition(overlap.then);
        let message = format!(
            "where {case}, both this line and an earlier one could be taken: their order decides"
        );
        diagnostics.push(
            OVERLAP.at(spans.guard.unwrap_or(spans.trigger), message)
                .related(map.transition(overlap.first).whole, "is taken then")
                .help(format!(
                    "if that is meant, say so: `// chartc: allow(C0315) reason`; else narrow the condition of {line}"
                )),
        );
    }
}

/// The maximum number of transitions with the same trigger that are compared with each other.
const MOST: usize = 12;

/// Two transitions between which only document order decides.
#[derive(Debug, Clone, PartialEq)]
struct Overlap {
    /// The transition that is taken.
    first: TransitionId,
    /// The transition that could be taken, too.
    then: TransitionId,
    /// Values for which both guards hold.
    case: Vec<(Expr, Value)>,
}

/// Finds, for each transition, the first earlier one that it overlaps; in document order. If one guard implies the other, that is no
/// overlap: the narrower transition is first on purpose, or the later one is shadowed. Transitions with the same effect do not count
/// either.
fn overlaps(chart: &Chart, facts: &Facts) -> Vec<Overlap> {
    let mut found: BTreeMap<TransitionId, Overlap> = BTreeMap::new();
    for state in chart.state_ids().filter(|s| facts.reach.can_enter(*s)) {
        let mut moments: BTreeMap<Key, Vec<TransitionId>> = BTreeMap::new();
        for id in &chart.state(state).transitions {
            let transition = chart.transition(*id);
            // An unguarded transition shadows all later ones, which another rule reports.
            if transition.guard.is_none() || !facts.reach.can_take(*id) {
                continue;
            }
            for key in keys(transition).into_iter().filter(is_shared) {
                let earlier = moments.entry(key).or_default();
                let hit = earlier.iter().find_map(|first| overlap(chart, *first, *id));
                if let Some(hit) = hit {
                    found.entry(*id).or_insert(hit);
                }
                if earlier.len() < MOST {
                    earlier.push(*id);
                }
            }
        }
    }
    found.into_values().collect()
}

/// Whether transitions with this key are candidates at the same time.
fn is_shared(key: &Key) -> bool {
    matches!(key, Key::Event(_) | Key::Turn | Key::StateDone(_) | Key::Step(..))
}

fn overlap(chart: &Chart, first: TransitionId, then: TransitionId) -> Option<Overlap> {
    let (a, b) = (chart.transition(first), chart.transition(then));
    if a.scope != b.scope || same(a, b) {
        return None;
    }
    let (one, other) = (a.guard.as_ref()?, b.guard.as_ref()?);
    let Verdict::Example(case) = decide(chart, &[(one, true), (other, true)]) else { return None };
    // Only examples count, so that cases that could not be decided are not reported.
    let apart = |given: &Expr, then: &Expr| {
        matches!(decide(chart, &[(given, true), (then, false)]), Verdict::Example(_))
    };
    let narrower = implies(chart, Some(one), Some(other)) || implies(chart, Some(other), Some(one));
    (!narrower && apart(one, other) && apart(other, one)).then_some(Overlap { first, then, case })
}

/// Whether both transitions have the same effect.
fn same(a: &Transition, b: &Transition) -> bool {
    a.targets == b.targets && a.kind == b.kind && a.actions == b.actions
}
