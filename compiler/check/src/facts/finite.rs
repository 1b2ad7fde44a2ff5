//! Decides conditions over variables with small finite domains, by evaluating them with every assignment.

use crate::facts::guard::Verdict;
use crate::facts::uses::walk;
use chartc_core::arena::{PredicateId, VarId};
use chartc_core::expr::{Environment, Fuel, Value, holds};
use chartc_core::model::{Builtin, Chart, Expr, ExprKind, Type, TypeKind, VariableKind};
use std::collections::BTreeMap;

/// The maximum number of assignments that are tried.
const MOST: usize = 1_024;

/// Like [`crate::facts::guard::decide`], for conditions that read nothing but variables with small finite domains.
pub(crate) fn decide(chart: &Chart, goals: &[(&Expr, bool)]) -> Verdict {
    let Some((read, domains)) = read(chart, goals) else { return Verdict::Perhaps };
    let mut values = Values { chart, of: BTreeMap::new() };
    let mut digits = vec![0; domains.len()];
    loop {
        let variables = read.keys().zip(&domains).zip(&digits);
        values.of = variables.map(|((id, domain), digit)| (*id, domain[*digit].clone())).collect();
        // A condition whose evaluation fails is false.
        let held = |goal: &Expr| holds(goal, &values, &Fuel::default()).unwrap_or(false);
        if goals.iter().all(|(goal, wanted)| held(goal) == *wanted) {
            let expr = |id: &VarId| (*read[id]).clone();
            return Verdict::Example(
                values.of.iter().map(|(id, v)| (expr(id), v.clone())).collect(),
            );
        }
        let Some(place) = (0..digits.len()).find(|i| digits[*i] + 1 < domains[*i].len()) else {
            return Verdict::Never;
        };
        digits[place] += 1;
        digits[..place].fill(0);
    }
}

/// The variables that conditions read, each with an expression that names it; and the values of each variable, in the same order.
type Domains<'c> = (BTreeMap<VarId, &'c Expr>, Vec<Vec<Value>>);

/// The variables that the conditions read, with their domains. `None` if the conditions read anything else, or if there are more than
/// [`MOST`] assignments.
fn read<'c>(chart: &'c Chart, goals: &[(&'c Expr, bool)]) -> Option<Domains<'c>> {
    let mut read = BTreeMap::new();
    let mut closed = true;
    for (goal, _) in goals {
        walk(chart, goal, &mut |e| match e.kind {
            ExprKind::Variable(id) => {
                read.insert(id, e);
            }
            ExprKind::Payload(_)
            | ExprKind::Answer(_)
            | ExprKind::Observable(_)
            | ExprKind::Call(..)
            | ExprKind::Comprehension { .. }
            // Lowering has already reported an expression that always fails.
            | ExprKind::Builtin(Builtin::Fail, _)
            | ExprKind::Unknown(_) => closed = false,
            _ => {}
        });
    }
    if !closed {
        return None;
    }
    let domains: Vec<Domain<'_>> =
        read.keys().map(|id| Domain::new(chart, *id)).collect::<Option<_>>()?;
    let count = domains.iter().try_fold(1_usize, |n, d| n.checked_mul(d.count()));
    count.filter(|n| *n <= MOST).map(|_| (read, domains.iter().map(Domain::values).collect()))
}

/// The domain of a variable, if it is small.
struct Domain<'c> {
    of: Few<'c>,
    /// Whether the variable may also be `none`.
    optional: bool,
}

/// The values of a small domain, without `none`.
enum Few<'c> {
    Bools,
    Names(&'c [String]),
    /// The whole numbers from the first to the second, both included.
    Numbers(i64, i64),
}

impl<'c> Domain<'c> {
    fn new(chart: &'c Chart, id: VarId) -> Option<Self> {
        let variable = &chart.variables[id.index()];
        let (ty, optional) = if let Type::Optional(inner) = &variable.ty {
            (&**inner, true)
        } else {
            (&variable.ty, false)
        };
        let of = match (ty, &variable.kind) {
            (Type::Bool, _) => Few::Bools,
            (Type::Named(id), _) => match &chart.types[id.index()].kind {
                TypeKind::Enum(names) => Few::Names(names),
                TypeKind::Record(_) => return None,
            },
            (
                Type::Int,
                VariableKind::Param { range: Some((Value::Int(low), Value::Int(high))) },
            ) if high.checked_sub(*low)? < MOST as i64 => Few::Numbers(*low, *high),
            _ => return None,
        };
        Some(Self { of, optional })
    }

    fn count(&self) -> usize {
        let count = match self.of {
            Few::Bools => 2,
            Few::Names(names) => names.len(),
            Few::Numbers(low, high) => (low..=high).count(),
        };
        count + usize::from(self.optional)
    }

    fn values(&self) -> Vec<Value> {
        let mut values: Vec<Value> = match self.of {
            Few::Bools => vec![Value::Bool(false), Value::Bool(true)],
            Few::Names(names) => names.iter().cloned().map(Value::Text).collect(),
            Few::Numbers(low, high) => (low..=high).map(Value::Int).collect(),
        };
        if self.optional {
            values.push(Value::None);
        }
        values
    }
}

struct Values<'c> {
    chart: &'c Chart,
    of: BTreeMap<VarId, Value>,
}

impl Environment for Values<'_> {
    fn variable(&self, id: VarId) -> Option<&Value> {
        self.of.get(&id)
    }

    fn predicate(&self, id: PredicateId) -> Option<&Expr> {
        Some(&self.chart.predicates[id.index()].expr)
    }
}
