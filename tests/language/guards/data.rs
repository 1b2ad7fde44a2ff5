//! What is said of conditions over fields, data of an event, answers and host functions, compared with what a run would evaluate: some
//! of them fail.

use super::SETS;
use crate::soundness::random::Random;
use chartc::load::Memory;
use chartc_compiler::analysis::facts::conditions::{Verdict, decide};
use chartc_core::arena::{FunctionId, PredicateId, StepId, VarId};
use chartc_core::expr::{Environment, EvalError, Fuel, Map, Value, holds};
use chartc_core::model::{Chart, Expr, ExprKind};

const HEAD: &str = "enum E { one two six }
type R { ok: Bool side: E }
chart T {
  event a(s: E, k: Int, xs: List(Int))
  input r: R = R { ok: true side: E.one }
  input oe: E? = none
  fn even(n: Int) -> Bool
  initial s
  state s {
    llm q { prompt \"one, two or six?\" returns E }
";

fn atom(random: &mut Random) -> String {
    let name = |random: &mut Random| *random.pick(&["E.one", "E.two", "E.six"]);
    let order = |random: &mut Random| *random.pick(&["<", "<=", ">", ">=", "==", "!="]);
    let number = |random: &mut Random| *random.pick(&["-1", "0", "1", "2"]);
    match random.below(16) {
        0 => "r.ok".into(),
        1 => format!("r.side == {}", name(random)),
        2 => format!("s == {}", name(random)),
        3 => format!("s in [{}, {}]", name(random), name(random)),
        4 => format!("k {} {}", order(random), number(random)),
        5 => format!("k {} len(xs)", order(random)),
        6 => format!("len(xs) {} k", order(random)),
        7 => "len(xs) == 0".into(),
        8 => "xs == []".into(),
        9 => "bool(xs)".into(),
        10 => format!("6 % k {} {}", order(random), number(random)),
        11 => format!("q == {}", name(random)),
        12 => format!("q != none and q == {}", name(random)),
        13 => "even(k)".into(),
        14 => "s == r.side".into(),
        _ => format!("oe == {}", name(random)),
    }
}

/// A condition over few atoms, so that some say something of others.
fn condition(random: &mut Random, depth: usize, atoms: &[String]) -> String {
    if depth == 0 {
        return format!("({})", random.pick(atoms));
    }
    let part = |random: &mut Random| condition(random, depth - 1, atoms);
    match random.below(6) {
        0 => format!("not {}", part(random)),
        1 | 2 => format!("({} and {})", part(random), part(random)),
        3 => format!("({} or {})", part(random), part(random)),
        4 => format!("(if {} then {} else {})", part(random), part(random), part(random)),
        _ => format!("({})", random.pick(atoms)),
    }
}

#[derive(Clone)]
struct Values<'c> {
    chart: &'c Chart,
    variables: Vec<Value>,
    payload: Vec<Value>,
    answer: Value,
}

impl Environment for Values<'_> {
    fn variable(&self, id: VarId) -> Option<&Value> {
        self.variables.get(id.index())
    }

    fn payload(&self, nth: u32) -> Option<&Value> {
        self.payload.get(nth as usize)
    }

    fn answer(&self, _: StepId) -> Option<&Value> {
        Some(&self.answer)
    }

    fn predicate(&self, id: PredicateId) -> Option<&Expr> {
        Some(&self.chart.predicates[id.index()].expr)
    }

    /// Fails for 1.
    fn call(&self, _: FunctionId, arguments: &[Value]) -> Result<Value, EvalError> {
        match arguments {
            [Value::Int(1)] => Err(EvalError { message: "no".into() }),
            [Value::Int(n)] => Ok(Value::Bool(n % 2 == 0)),
            other => panic!("{other:?}"),
        }
    }
}

impl Values<'_> {
    /// A condition that fails does not hold.
    fn hold(&self, goal: &Expr) -> bool {
        holds(goal, self, &Fuel::default()).unwrap_or(false)
    }

    /// What the expression reads.
    fn place(&mut self, expr: &Expr) -> &mut Value {
        match &expr.kind {
            ExprKind::Variable(id) => &mut self.variables[id.index()],
            ExprKind::Payload(nth) => &mut self.payload[*nth as usize],
            ExprKind::Answer(_) => &mut self.answer,
            ExprKind::Field(base, field) => match self.place(base) {
                Value::Map(fields) => fields.get_mut(field).expect("the record has the field"),
                other => panic!("{other:?} has no fields"),
            },
            other => panic!("{other:?} is no place"),
        }
    }
}

/// Every assignment of few values.
fn all(chart: &Chart) -> Vec<Values<'_>> {
    let names = || ["one", "two", "six"].map(|n| Value::Text(n.into())).to_vec();
    let or_none = || -> Vec<Value> { names().into_iter().chain([Value::None]).collect() };
    let record = |ok: bool, side: &Value| {
        let fields = [("ok".to_owned(), Value::Bool(ok)), ("side".to_owned(), side.clone())];
        Value::Map(fields.into_iter().collect::<Map<Value>>())
    };
    let records = names().iter().flat_map(|s| [record(true, s), record(false, s)]).collect();
    let numbers = (-1..=2).map(Value::Int).collect();
    let lists = vec![Value::List(Vec::new()), Value::List(vec![Value::Int(1)])];
    let domains: [Vec<Value>; 6] = [records, or_none(), names(), numbers, lists, or_none()];
    let mut all: Vec<Vec<Value>> = vec![Vec::new()];
    for domain in domains {
        let longer = |values: &Vec<Value>, value: &Value| {
            [&values[..], std::slice::from_ref(value)].concat()
        };
        all = all.iter().flat_map(|v| domain.iter().map(move |d| longer(v, d))).collect();
    }
    let values = |mut values: Vec<Value>| {
        let answer = values.pop().expect("there is an answer");
        let payload = values.split_off(2);
        Values { chart, variables: values, payload, answer }
    };
    all.into_iter().map(values).collect()
}

#[test]
fn verdicts_over_data_are_sound() {
    let mut random = Random::new(7);
    // Never, an example, not decided.
    let mut counts = [0; 3];
    for _ in 0..SETS / 3 {
        let guards = 2 + random.below(3);
        let atoms: Vec<String> = (0..3).map(|_| atom(&mut random)).collect();
        let lines: String = (0..guards)
            .map(|_| {
                let depth = random.below(3);
                format!(
                    "    on a(s, k, xs) if {} -> s reenter\n",
                    condition(&mut random, depth, &atoms)
                )
            })
            .collect();
        let text = format!("{HEAD}{lines}  }}\n}}\n");
        let done = chartc::check(&["a.chart".into()], &Memory::of("a.chart", &text));
        let told = || chartc::report::short(&done.diagnostics, &done.sources);
        let Some(checked) = done.charts.first() else { panic!("{}\n{text}", told()) };
        let chart = checked.chart();
        let all = all(chart);
        let guards: Vec<(&Expr, Vec<bool>)> = chart
            .transitions
            .iter()
            .filter_map(|t| t.guard.as_ref())
            .map(|guard| (guard, all.iter().map(|values| values.hold(guard)).collect()))
            .collect();
        let pairs = (0..guards.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        let mut goals: Vec<Vec<(usize, bool)>> =
            vec![(0..guards.len()).map(|g| (g, false)).collect()];
        goals.extend(
            pairs.flat_map(|(a, b)| [vec![(a, true), (b, false)], vec![(a, true), (b, true)]]),
        );
        goals.extend((0..guards.len()).map(|g| vec![(g, false)]));
        for goals in goals {
            let wanted: Vec<(&Expr, bool)> =
                goals.iter().map(|(g, w)| (guards[*g].0, *w)).collect();
            match decide(chart, &wanted) {
                Verdict::Never => {
                    let any =
                        (0..all.len()).find(|i| goals.iter().all(|(g, w)| guards[*g].1[*i] == *w));
                    assert!(any.is_none(), "there are values\n{goals:?}\n{text}");
                    counts[0] += 1;
                }
                Verdict::Example(example) => {
                    for values in all.iter().step_by(97) {
                        let mut values = values.clone();
                        for (term, value) in &example {
                            *values.place(term) = value.clone();
                        }
                        let does = wanted.iter().all(|(goal, wanted)| values.hold(goal) == *wanted);
                        assert!(does, "{example:?} does not do\n{goals:?}\n{text}");
                    }
                    counts[1] += 1;
                }
                Verdict::Perhaps => counts[2] += 1,
            }
        }
    }
    assert!(counts.iter().all(|n| *n > 100), "too few of a kind: {counts:?}");
}
