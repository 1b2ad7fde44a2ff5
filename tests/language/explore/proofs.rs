//! What structure and limits prove without a search is what trying everything shows.

use super::brute::{NoHost, inputs, plain};
use super::finite;
use crate::interpreter::Log;
use crate::soundness::random::Random;
use chartc::load::Memory;
use chartc_compiler::analysis::facts::Facts;
use chartc_compiler::explore::property::{Properties, Verdict};
use chartc_core::arena::StateId;
use chartc_core::expr::Value;
use chartc_core::host::Machine;
use chartc_core::interpreter::Interpreter;
use chartc_core::machine::{Input, Record};
use chartc_core::model::{Chart, Check, CheckArgument, Expr, ExprKind, Subject, Type};
use chartc_core::plan::Plan;
use chartc_core::saved::Saved;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Charts that are tried; `CHARTC_CASES` says otherwise.
const CHARTS: u64 = 60;

/// Points beyond which a chart is left out.
const MOST: usize = 400;

/// A step of a run: from a point, or from nothing, to another; the states entered, in order; the leaves that call tools.
type Step = (Option<usize>, usize, Vec<StateId>, Vec<StateId>);

/// Every point and every step of every run.
#[derive(Default)]
struct All {
    points: Vec<(Saved, bool)>,
    steps: Vec<Step>,
}

impl All {
    /// `None` where that is too much.
    fn of(chart: &Arc<Chart>) -> Option<Self> {
        let plan = Plan::new(chart);
        let mut all = Self::default();
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        for lim in 1..=2 {
            let given = [("lim".to_owned(), Value::Int(lim))];
            let mut machine = Interpreter::new(&plan, NoHost, given).expect("in its range");
            let mut log = Log::default();
            machine.handle(Input::Start, 0, &mut log).expect("it starts");
            all.put(&plan, &mut known, None, &machine, &log);
        }
        let mut at = 0;
        while at < all.points.len() {
            if all.points.len() > MOST {
                return None;
            }
            let (snapshot, ended) = all.points[at].clone();
            let again = || Interpreter::resume(&plan, [], NoHost, &snapshot).expect("it was one");
            let tried = if ended { Vec::new() } else { inputs(chart, &mut again()) };
            for (input, now) in tried {
                let mut machine = again();
                let mut log = Log::default();
                machine.handle(input, now, &mut log).expect("it fits");
                all.put(&plan, &mut known, Some(at), &machine, &log);
            }
            at += 1;
        }
        Some(all)
    }

    fn put(
        &mut self,
        plan: &Plan,
        known: &mut BTreeMap<String, usize>,
        from: Option<usize>,
        machine: &Interpreter<NoHost>,
        log: &Log,
    ) {
        let snapshot = machine.save().expect("it can be saved");
        let next = self.points.len();
        let to = *known.entry(plain(plan, &snapshot)).or_insert(next);
        if to == next {
            self.points.push((snapshot, machine.ended().is_some()));
        }
        let entered = log.records.iter().filter_map(|record| match record {
            Record::Entered(state) => Some(*state),
            _ => None,
        });
        let called = log.records.iter().filter_map(|record| match record {
            Record::Called(key, ..) => Some(key.leaf),
            _ => None,
        });
        self.steps.push((from, to, entered.collect(), called.collect()));
    }

    /// By state: whether some run enters it before `then`.
    fn before(&self, chart: &Arc<Chart>, then: StateId) -> Vec<bool> {
        let mut entered = vec![false; chart.states.len()];
        let mut reached = vec![false; self.points.len()];
        loop {
            let mut more = false;
            for (from, to, states, _) in &self.steps {
                if from.is_some_and(|from| !reached[from]) {
                    continue;
                }
                let first = states.iter().take_while(|s| **s != then);
                first.for_each(|state| entered[state.index()] = true);
                if !states.contains(&then) {
                    more |= !std::mem::replace(&mut reached[*to], true);
                }
            }
            if !more {
                return entered;
            }
        }
    }

    /// Whether some point of a run that goes on has no way into the state.
    fn loses(&self, chart: &Arc<Chart>, state: StateId) -> bool {
        let plan = Plan::new(chart);
        let mut good: Vec<bool> = self
            .points
            .iter()
            .map(|(snapshot, ended)| {
                let machine = Interpreter::resume(&plan, [], NoHost, snapshot).expect("it was one");
                *ended || machine.is_active(state)
            })
            .collect();
        let counts: Vec<bool> = self.points.iter().map(|(_, ended)| !ended).collect();
        loop {
            let mut more = false;
            for (from, to, entered, _) in &self.steps {
                let Some(from) = *from else { continue };
                let leads = entered.contains(&state) || good[*to] && counts[*to];
                more |= leads && !std::mem::replace(&mut good[from], true);
            }
            if !more {
                return good.contains(&false);
            }
        }
    }

    /// By point: the turns and the model calls of a run that leads there, and whether it is over.
    fn counts(&self) -> impl Iterator<Item = (u64, u64, bool)> + '_ {
        self.points.iter().map(|(snapshot, ended)| {
            let json = serde_json::to_value(snapshot).expect("a snapshot is data");
            let count = |json: &serde_json::Value| json.as_u64().expect("a count");
            let registers = &json["registers"];
            let calls = registers["states"][""]["calls"].as_u64().unwrap_or(0);
            (count(&registers["turns"]), calls, *ended)
        })
    }
}

/// Whether a line is proved although nothing may be tried.
fn proved(chart: &Arc<Chart>, facts: &Facts, name: &str, argument: CheckArgument) -> bool {
    let check = Check { name: name.into(), arguments: vec![argument], given: Vec::new() };
    matches!(Properties::new(chart, facts, 0).decide(&check), Verdict::Holds)
}

fn bound(n: u64, unit: &str) -> CheckArgument {
    CheckArgument::Bound(Expr { kind: ExprKind::Int(n as i64), ty: Type::Int }, unit.into())
}

#[test]
fn no_proof_contradicts_a_run() {
    let charts = test_support::project::cases(CHARTS);
    let (mut tried, mut claims) = (0, [0; 6]);
    for seed in 1..=charts {
        let text = finite::chart(&mut Random::new(seed));
        let done = chartc::check_within(&["a.chart".into()], &Memory::of("a.chart", &text), 0);
        let chart = done.charts[0].chart();
        let Some(all) = All::of(chart) else { continue };
        tried += 1;
        let facts = Facts::new(chart);
        let every = all.before(chart, StateId::at(chart.states.len()));
        for then in chart.state_ids().skip(1) {
            let entered = all.before(chart, then);
            for first in chart.state_ids().skip(1) {
                let [a, b] = [first, then].map(Subject::State);
                if proved(chart, &facts, "never", CheckArgument::Unless(a, b)) {
                    let case = format!("seed {seed}: {first:?} before {then:?}\n{text}");
                    assert!(
                        !entered[first.index()] || first == then && !every[first.index()],
                        "{case}"
                    );
                    claims[0] += usize::from(every[first.index()]);
                }
            }
            if proved(chart, &facts, "no_call", CheckArgument::State(then)) {
                let inside = |leaf: &StateId| chart.contains(then, *leaf);
                let calls = all.steps.iter().any(|step| step.3.iter().any(inside));
                assert!(!calls, "seed {seed}: a call in {then:?}\n{text}");
                claims[1] += usize::from(every[then.index()] && text.contains(" tools look"));
            }
            if proved(chart, &facts, "reaches", CheckArgument::State(then)) {
                assert!(every[then.index()], "seed {seed}: {then:?} is not entered\n{text}");
                claims[2] += 1;
            }
            // Limits that end the run before are not counted.
            if !text.contains("limits {")
                && proved(chart, &facts, "always_reaches", CheckArgument::State(then))
            {
                assert!(!all.loses(chart, then), "seed {seed}: {then:?} may be lost\n{text}");
                claims[5] += 1;
            }
        }
        let counts: Vec<_> = all.counts().collect();
        for n in 0..5 {
            if proved(chart, &facts, "ends_within", bound(n, "turns")) {
                let goes_on = counts.iter().any(|(turns, _, ended)| !ended && *turns >= n);
                assert!(!goes_on, "seed {seed}: more than {n} turns\n{text}");
                claims[3] += 1;
            }
            if proved(chart, &facts, "at_most", bound(n, "calls")) {
                let more = counts.iter().any(|(_, calls, _)| *calls > n);
                assert!(!more, "seed {seed}: more than {n} calls\n{text}");
                claims[4] += usize::from(text.contains(" retry "));
            }
        }
    }
    println!(
        "{tried} of {charts} charts; never, no_call, reaches, ends_within, at_most, always_reaches: {claims:?}"
    );
    assert!(claims.iter().all(|n| *n > 1), "too little is proved: {claims:?}");
}
