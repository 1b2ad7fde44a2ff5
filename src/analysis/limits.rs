//! Limits that others are reached before.

use chartc_core::arena::{StateId, StepId};
use chartc_core::model::{Chart, Limits};

/// What a limit is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Model calls.
    Calls,
    /// Turns.
    Turns,
    /// Tokens.
    Tokens,
    /// Money.
    Cost,
    /// Time.
    Time,
}

impl Kind {
    const ALL: [Self; 5] = [Self::Calls, Self::Turns, Self::Tokens, Self::Cost, Self::Time];

    /// The limit of this kind: a number, money, or milliseconds.
    #[allow(clippy::cast_precision_loss, reason = "limits beyond 2^52 are never compared closely")]
    fn of(self, limits: &Limits) -> Option<f64> {
        match self {
            Self::Calls => limits.calls.map(|n| n as f64),
            Self::Turns => limits.turns.map(|n| n as f64),
            Self::Tokens => limits.tokens.map(|n| n as f64),
            Self::Cost => limits.cost,
            Self::Time => limits.time.map(|n| n as f64),
        }
    }
}

/// A limit that is never reached, because what it bounds is bounded more narrowly around it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beyond {
    /// Whose.
    pub limit: Limit,
    /// On what.
    pub kind: Kind,
    /// The state whose limit comes first.
    pub outer: StateId,
}

/// A limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// Of a state.
    State(StateId),
    /// Of the calls of a turn.
    Turn(u32),
    /// Of the tools that a step's model may call, one by one.
    Tools(StepId, u32),
}

/// Every such limit: of states first, then of turns and of steps.
pub fn beyond(chart: &Chart) -> Vec<Beyond> {
    let root = StateId::at(0);
    let mut found = Vec::new();
    for state in chart.state_ids().skip(1) {
        let limits = &chart.state(state).limits;
        if *limits == Limits::default() {
            continue;
        }
        for kind in Kind::ALL {
            let Some(own) = kind.of(limits) else { continue };
            let outer = tightest(chart, chart.state(state).parent, kind);
            if let Some((outer, _)) = outer.filter(|(_, bound)| *bound < own) {
                found.push(Beyond { limit: Limit::State(state), kind, outer });
            }
        }
    }
    let calls = chart.state(root).limits.calls;
    if let (Some(each), Some(all)) = (chart.calls_per_turn, calls)
        && i64::from(each) > all
    {
        found.push(Beyond { limit: Limit::Turn(each), kind: Kind::Calls, outer: root });
    }
    for (i, step) in chart.steps.iter().enumerate() {
        // After the last call of a tool the model is called once more.
        if let Some(tools) = step.tools
            && let Some((outer, bound)) = tightest(chart, Some(step.state), Kind::Calls)
            && f64::from(tools.calls) >= bound
        {
            let limit = Limit::Tools(StepId::at(i), tools.calls);
            found.push(Beyond { limit, kind: Kind::Calls, outer });
        }
    }
    found
}

/// The least limit of a state and those around it; of equal ones the innermost.
fn tightest(chart: &Chart, state: Option<StateId>, kind: Kind) -> Option<(StateId, f64)> {
    let around = state.into_iter().flat_map(|s| chart.ancestors(s));
    let bounds = around.filter_map(|s| Some((s, kind.of(&chart.state(s).limits)?)));
    bounds.min_by(|a, b| a.1.total_cmp(&b.1))
}
