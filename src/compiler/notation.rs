//! Prints the expressions and actions of the model as `.chart` text, for diagrams, messages and comments.
//!
//! The problem: the model has no text. Names are ids, and precedence is in the shape of the tree. The idea: each operand is printed with
//! the precedence that its place requires, and gets parentheses only if it binds less tightly. For example, `(n + 1) * 2` with the variable
//! `n`:
//!
//! ```text
//! Binary(Multiply, …, …)      both operands must bind at least as tightly as a product
//!   Binary(Add, n, 1)         a sum binds less tightly: `(n + 1)`
//!   Int(2)                    a literal binds most tightly: `2`
//! ```
//!
//! Variables of comprehensions and loops keep the names in the source. A fragment without the loop that binds them gets the names `x`, `y`,
//! `z`, `x3`, …

use chartc_core::arena::{EventId, LocalId, StepId, ToolSetId};
use chartc_core::expr::builtin_name;
use chartc_core::model::{
    Action, BinaryOp, Binding, Builtin, Chart, Expr, ExprKind, FailureKind, Field, Local,
    Observable, RESERVED, Receiver, Retry, Since, StateKind, StreakOf, Template, TemplatePart,
    Transition, UnaryOp,
};
use chartc_core::visible;

/// `retry 3 on timeout, server wait 1s up to 30s`.
pub fn retry(retry: &Retry) -> String {
    let mut out = format!("retry {}", retry.times);
    let kinds: Vec<&str> = retry.on.listed().map(FailureKind::word).collect();
    if !kinds.is_empty() {
        out.push_str(&format!(" on {}", kinds.join(", ")));
    }
    if let Some([first, most]) = retry.wait {
        out.push_str(&format!(" wait {}", duration(first)));
        if most > first {
            out.push_str(&format!(" up to {}", duration(most)));
        }
    }
    out
}

/// The source names for the fields of a payload, by index.
pub type Payload<'c> = Vec<&'c str>;

/// The names of a transition's payload, in order; for an option, the names of its arguments.
pub fn payload(transition: &Transition) -> Payload<'_> {
    transition.bound.iter().map(String::as_str).collect()
}

/// Prints a name, in backticks if it is reserved or not a plain ASCII identifier.
pub fn name(name: &str) -> String {
    let mut chars = name.chars();
    let head = chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    let plain = head && chars.all(|c| c.is_ascii_alphanumeric() || c == '_');
    if plain && !RESERVED.contains(&name) {
        name.to_string()
    } else {
        format!("`{}`", visible::line(name))
    }
}

/// Prints a dotted path, each part as by [`name`].
pub fn path(path: &str) -> String {
    path.split('.').map(name).collect::<Vec<_>>().join(".")
}

/// Prints the events of an `on` transition: the event, or the dotted prefix that all of `events` share.
pub fn event_pattern(chart: &Chart, events: &[EventId]) -> String {
    let mut names = events.iter().map(|e| chart.events[e.index()].name.as_str());
    let first: Vec<&str> = names.next().unwrap_or_default().split('.').collect();
    let shared = names.fold(first.len(), |shared, other| {
        first.iter().zip(other.split('.')).take(shared).take_while(|(a, b)| **a == *b).count()
    });
    first[..shared].join(".")
}

/// The name of a step as declared, without backticks.
pub fn step_name(chart: &Chart, step: StepId) -> &str {
    &chart.steps[step.index()].name
}

/// Prints a string in quotes, with `{name:spec}` for placeholders and `\n` for line breaks.
pub fn template(chart: &Chart, template: &Template, payload: &[&str]) -> String {
    quoted(template, Printer::new(chart, payload))
}

fn quoted(template: &Template, names: Printer<'_>) -> String {
    format!("\"{}\"", text_in(template, names).replace('\n', "\\n"))
}

/// Prints a string without quotes, with `{name:spec}` for placeholders and its line breaks kept.
pub(crate) fn template_text(chart: &Chart, template: &Template, payload: &[&str]) -> String {
    text_in(template, Printer::new(chart, payload))
}

fn text_in(template: &Template, names: Printer<'_>) -> String {
    let mut out = String::new();
    for part in &template.parts {
        match part {
            TemplatePart::Text(text) => {
                for c in text.chars() {
                    match c {
                        // A brace in a text is doubled, because a single one begins a placeholder.
                        '{' => out.push_str("{{"),
                        '}' => out.push_str("}}"),
                        '"' => out.push_str("\\\""),
                        '\\' => out.push_str("\\\\"),
                        c => out.push(c),
                    }
                }
            }
            TemplatePart::Hole { expr, spec } => {
                out.push('{');
                out.push_str(&names.whole(expr));
                if !spec.is_empty() {
                    out.push(':');
                    out.push_str(spec);
                }
                out.push('}');
            }
            TemplatePart::Options => out.push_str("{options}"),
            TemplatePart::Bad(text) => out.push_str(text),
        }
    }
    out
}

/// Prints actions on one line, separated by two spaces.
pub fn actions(chart: &Chart, actions: &[Action], payload: &[&str]) -> String {
    joined(chart, actions, payload, "  ")
}

/// Prints actions separated by `between`, which also separates the actions in branches and loops.
pub fn joined(chart: &Chart, actions: &[Action], payload: &[&str], between: &str) -> String {
    row(actions, Printer::new(chart, payload), between)
}

fn row(actions: &[Action], names: Printer<'_>, between: &str) -> String {
    let all = actions.iter().map(|a| action(a, names, between));
    all.collect::<Vec<_>>().join(between)
}

fn action(action: &Action, names: Printer<'_>, between: &str) -> String {
    let chart = names.chart;
    let block = |inner: &[Action]| {
        if inner.is_empty() {
            return "{ }".to_string();
        }
        format!("{{ {} }}", row(inner, names, between))
    };
    let call = |name: &str, arguments: &[chartc_core::model::Expr]| {
        if arguments.is_empty() {
            return path(name);
        }
        format!("{}({})", path(name), names.all(arguments))
    };
    match action {
        Action::Assign(var, value) => {
            let target = name(&chart.variables[var.index()].name);
            format!("{target} = {}", names.whole(value))
        }
        Action::If(condition, then, otherwise) => {
            let mut out = format!("if {} {}", names.whole(condition), block(then));
            match &otherwise[..] {
                [] => {}
                // `else if` instead of a block with a nested `if`, as in the source.
                [next @ Action::If(..)] => {
                    out.push_str(&format!(" else {}", self::action(next, names, between)));
                }
                other => out.push_str(&format!(" else {}", block(other))),
            }
            out
        }
        Action::For(local, source, body) => {
            // The list is evaluated outside of the loop, so it is printed before the variable is bound.
            let source = names.whole(source);
            let bound = names.bind(local);
            let names = names.inside(&bound);
            let body = if body.is_empty() {
                "{ }".to_string()
            } else {
                format!("{{ {} }}", row(body, names, between))
            };
            format!("for {} in {source} {body}", names.local(local.id))
        }
        Action::Do(function, arguments) => {
            let function = &chart.functions[function.index()].name;
            format!("{}({})", name(function), names.all(arguments))
        }
        Action::Raise(event, arguments) => {
            format!("raise {}", call(&chart.events[event.index()].name, arguments))
        }
        Action::Send { event, arguments, after, id, to, element } => {
            let mut out = format!("send {}", call(&chart.events[event.index()].name, arguments));
            match to {
                Receiver::Own => {}
                Receiver::Parent => out.push_str(" to parent"),
                Receiver::Child(step) | Receiver::Element(step, _) => {
                    out.push_str(&format!(" to {}", name(&chart.steps[step.index()].name)));
                }
            }
            if let Some(element) = element {
                out.push_str(&format!("[{}]", names.whole(element)));
            }
            if let Some(after) = after {
                out.push_str(&format!(" after {}", names.whole(after)));
            }
            if let Some(id) = id {
                out.push_str(&format!(" as {}", name(&chart.send_ids[id.index()])));
            }
            out
        }
        Action::Cancel(id) => format!("cancel {}", name(&chart.send_ids[id.index()])),
        // The values of a final state are assignments to its parameters in the source.
        Action::Result(state, values) => {
            let StateKind::Final { params, .. } = &chart.state(*state).kind else {
                return String::new();
            };
            let one = |(param, value): (&Field, &Expr)| {
                format!("{} = {}", name(&param.name), names.whole(value))
            };
            params.iter().zip(values).map(one).collect::<Vec<_>>().join(between)
        }
        Action::Log(text) => format!("log {}", quoted(text, names)),
    }
}

// Prints expressions, with no more parentheses than needed.

/// The nesting depth from which on an expression is printed as `…`; bounds the recursion.
const DEPTH: u32 = 150;

/// Prints an expression as an author would write it.
pub fn expression(chart: &Chart, expr: &Expr) -> String {
    expression_in(chart, expr, &[])
}

/// Like [`expression`], with names for the fields of the event, answer or option that triggers the transition.
pub fn expression_in(chart: &Chart, expr: &Expr, payload: &[&str]) -> String {
    Printer::new(chart, payload).whole(expr)
}

/// Prints milliseconds as `250ms`, `30s`, `5m`, `2h`, `7d`.
pub fn duration(milliseconds: u64) -> String {
    chartc_core::expr::Duration(milliseconds).to_string()
}

/// The chart and the names in scope with which an expression is printed.
#[derive(Clone, Copy)]
struct Printer<'c> {
    chart: &'c Chart,
    payload: &'c [&'c str],
    local: Option<&'c BoundVariable<'c>>,
}

/// A variable that is bound around an expression, linked to the outer ones.
struct BoundVariable<'c> {
    local: &'c Local,
    outer: Option<&'c BoundVariable<'c>>,
}

impl<'c> Printer<'c> {
    fn new(chart: &'c Chart, payload: &'c [&'c str]) -> Self {
        Self { chart, payload, local: None }
    }

    /// Links a variable to those in scope; [`Printer::inside`] brings the result into scope.
    fn bind(self, local: &'c Local) -> BoundVariable<'c> {
        BoundVariable { local, outer: self.local }
    }

    /// The printer for the scope of a bound variable.
    fn inside(self, bound: &'c BoundVariable<'c>) -> Self {
        Self { local: Some(bound), ..self }
    }
}

impl Printer<'_> {
    /// Prints an expression that needs no parentheses around it.
    fn whole(&self, expr: &Expr) -> String {
        self.at(expr, Binding::If, 0)
    }

    /// Prints expressions separated by commas.
    fn all(&self, exprs: &[Expr]) -> String {
        self.list(exprs, 0)
    }

    /// Prints an operand, in parentheses if it binds less tightly than `least`.
    fn at(&self, expr: &Expr, least: Binding, depth: u32) -> String {
        if depth > DEPTH {
            return "…".to_string();
        }
        let (text, binding) = self.open(expr, depth + 1);
        if binding < least { format!("({text})") } else { text }
    }

    fn list(&self, exprs: &[Expr], depth: u32) -> String {
        exprs.iter().map(|e| self.at(e, Binding::If, depth)).collect::<Vec<_>>().join(", ")
    }

    /// Prints an expression without parentheses, and returns how tightly it binds.
    fn open(&self, expr: &Expr, depth: u32) -> (String, Binding) {
        let whole = |text: String| (text, Binding::Whole);
        let chart = self.chart;
        match &expr.kind {
            ExprKind::None => whole("none".to_string()),
            ExprKind::Bool(b) => whole(b.to_string()),
            // A negative literal binds like a negation: `(-2) ** 2`, not `-2 ** 2`.
            ExprKind::Int(i) => (i.to_string(), sign(*i < 0)),
            ExprKind::Float(x) => (format!("{x:?}"), sign(x.is_sign_negative())),
            ExprKind::Text(text) => whole(quoted(text, *self)),
            ExprKind::Duration(ms) => whole(duration(*ms)),
            ExprKind::Enum(ty, value) => {
                whole(format!("{}.{}", chart.types[ty.index()].name, name(value)))
            }
            ExprKind::Variable(var) => whole(name(&chart.variables[var.index()].name)),
            ExprKind::Local(local) => whole(self.local(*local)),
            ExprKind::Payload(n) => whole(match self.payload.get(*n as usize) {
                Some(field) => name(field),
                None => "answer".to_string(),
            }),
            ExprKind::Answer(step) => whole(name(&chart.steps[step.index()].name)),
            ExprKind::Predicate(p) => whole(name(&chart.predicates[p.index()].name)),
            ExprKind::Observable(o) => whole(self.observable(o)),
            ExprKind::Field(of, field) => {
                whole(format!("{}.{}", self.at(of, Binding::Whole, depth), name(field)))
            }
            ExprKind::Index(of, index) => whole(format!(
                "{}[{}]",
                self.at(of, Binding::Whole, depth),
                self.at(index, Binding::If, depth)
            )),
            ExprKind::Slice(of, from, to) => {
                let end = |e: &Option<Box<Expr>>| {
                    e.as_ref().map(|e| self.at(e, Binding::If, depth)).unwrap_or_default()
                };
                whole(format!("{}[{}:{}]", self.at(of, Binding::Whole, depth), end(from), end(to)))
            }
            ExprKind::Unary(UnaryOp::Not, of) => {
                (format!("not {}", self.at(of, Binding::Not, depth)), Binding::Not)
            }
            ExprKind::Unary(UnaryOp::Negate, of) => {
                (format!("-{}", self.at(of, Binding::Sign, depth)), Binding::Sign)
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, depth),
            ExprKind::Compare(first, rest) => {
                let mut out = self.at(first, Binding::Default, depth);
                for (op, operand) in rest {
                    let operand = self.at(operand, Binding::Default, depth);
                    out.push_str(&format!(" {} {operand}", op.word()));
                }
                (out, Binding::Compare)
            }
            ExprKind::If(condition, then, otherwise) => {
                let text = format!(
                    "if {} then {} else {}",
                    self.at(condition, Binding::Or, depth),
                    self.at(then, Binding::Or, depth),
                    self.at(otherwise, Binding::If, depth)
                );
                (text, Binding::If)
            }
            ExprKind::Default(value, otherwise) => {
                let value = self.at(value, Binding::Sum, depth);
                let otherwise = self.at(otherwise, Binding::Default, depth);
                (format!("{value} ?? {otherwise}"), Binding::Default)
            }
            ExprKind::Builtin(Builtin::Flatten, lists) => {
                self.listed(lists.first().unwrap_or(expr), true, depth)
            }
            // What stands around a value without being written: checks of ranges, and the form in which a text shows messages.
            ExprKind::Builtin(Builtin::Within | Builtin::Said, arguments)
                if !arguments.is_empty() =>
            {
                self.open(&arguments[0], depth)
            }
            ExprKind::Builtin(function, arguments) => {
                whole(format!("{}({})", builtin_name(*function), self.list(arguments, depth)))
            }
            ExprKind::Call(function, arguments) => {
                let function = &chart.functions[function.index()].name;
                whole(format!("{}({})", name(function), self.list(arguments, depth)))
            }
            ExprKind::List(items) => whole(format!("[{}]", self.list(items, depth))),
            ExprKind::Map(entries) => {
                let entry = |(key, value): &(Expr, Expr)| {
                    format!(
                        "{}: {}",
                        self.at(key, Binding::If, depth),
                        self.at(value, Binding::If, depth)
                    )
                };
                whole(format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", ")))
            }
            ExprKind::Record(ty, fields) => {
                let field = |(f, value): &(String, Expr)| {
                    format!("{}: {}", name(f), self.at(value, Binding::If, depth))
                };
                let fields = fields.iter().map(field).collect::<Vec<_>>().join(", ");
                whole(format!("{} {{ {fields} }}", chart.types[ty.index()].name))
            }
            ExprKind::Comprehension { .. } => self.listed(expr, false, depth),
            ExprKind::Unknown(unknown) => whole(name(unknown)),
        }
    }

    fn listed(&self, expr: &Expr, is_flat: bool, depth: u32) -> (String, Binding) {
        let parts = self.comprehension(expr, is_flat, depth);
        let text = parts.map_or_else(String::new, |(item, sources)| format!("{item}{sources}"));
        (format!("[{text}]"), Binding::Whole)
    }

    /// One `for x in xs if g` of a comprehension.
    fn source(
        &self,
        inner: &Self,
        local: &Local,
        source: &Expr,
        filter: Option<&Expr>,
        depth: u32,
    ) -> String {
        let filter = filter.map(|filter| format!(" if {}", inner.at(filter, Binding::Or, depth)));
        let (local, source) = (inner.local(local.id), self.at(source, Binding::Or, depth));
        format!(" for {local} in {source}{}", filter.unwrap_or_default())
    }

    /// The item and the sources of a comprehension, from the outermost on. The items of a flat one are comprehensions. `None` for anything
    /// else.
    fn comprehension(&self, expr: &Expr, is_flat: bool, depth: u32) -> Option<(String, String)> {
        let ExprKind::Comprehension { item, local, source, filter } = &expr.kind else {
            return None;
        };
        let bound = self.bind(local);
        let inner = self.inside(&bound);
        let mut sources = self.source(&inner, local, source, filter.as_deref(), depth);
        let (item, more) = match &item.kind {
            ExprKind::Builtin(Builtin::Flatten, lists) if is_flat => {
                inner.comprehension(lists.first()?, true, depth)?
            }
            _ if is_flat => inner.comprehension(item, false, depth)?,
            _ => (inner.at(item, Binding::Or, depth), String::new()),
        };
        sources.push_str(&more);
        Some((item, sources))
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr, depth: u32) -> (String, Binding) {
        let (to_left, to_right) = op.operands();
        let left = self.at(left, to_left, depth);
        let right = self.at(right, to_right, depth);
        (format!("{left} {} {right}", op.word()), op.binding())
    }

    /// The name of a variable of a comprehension or loop; an unused name such as `x` if the fragment does not contain its binder.
    fn local(&self, local: LocalId) -> String {
        let mut at = self.local;
        while let Some(bound) = at {
            if bound.local.id == local && !bound.local.name.is_empty() {
                return name(&bound.local.name);
            }
            at = bound.outer;
        }
        let mut made = match local.0 {
            0 => "x".to_string(),
            1 => "y".to_string(),
            2 => "z".to_string(),
            n => format!("x{n}"),
        };
        let chart = self.chart;
        let is_taken = |name: &str| {
            self.payload.contains(&name)
                || chart.variables.iter().any(|v| v.name == name)
                || chart.predicates.iter().any(|p| p.name == name)
                || chart.steps.iter().any(|s| s.name == name)
        };
        // With a name of the chart, the fragment would mean something else.
        while is_taken(&made) {
            made.push('_');
        }
        made
    }

    fn observable(&self, observable: &Observable) -> String {
        let state = |id: chartc_core::arena::StateId| path(&self.chart.state(id).path);
        match observable {
            Observable::State => "state".to_string(),
            Observable::Turns => "turns".to_string(),
            Observable::TurnsHere => "turns_here".to_string(),
            Observable::TurnsIn(s) => format!("turns_in({})", state(*s)),
            Observable::FailsHere => "fails_here".to_string(),
            Observable::Elapsed => "elapsed".to_string(),
            Observable::ElapsedHere => "elapsed_here".to_string(),
            Observable::In(s) => format!("in({})", state(*s)),
            Observable::Health => "health".to_string(),
            Observable::Advice => "advice".to_string(),
            Observable::LastResult => "last_result".to_string(),
            Observable::LastFailed => "last_failed".to_string(),
            Observable::Event => "event".to_string(),
            Observable::Calls(since) => amount("calls", *since),
            Observable::Tokens(since) => amount("tokens", *since),
            Observable::Cost(since) => amount("cost", *since),
            Observable::Streak(StreakOf::Tool) => "streak(tool)".to_string(),
            Observable::Streak(StreakOf::Argument(set, argument)) => {
                format!("streak({})", self.passed(*set, argument))
            }
            Observable::Repeated(set, argument) => {
                format!("repeated({})", self.passed(*set, argument))
            }
        }
    }

    /// Prints an argument of the tools of a set, such as `search.query`.
    fn passed(&self, set: ToolSetId, argument: &str) -> String {
        let set = &self.chart.tool_sets[set.index()].name;
        // The dots of a tool's name must stay outside of backticks.
        let set: Vec<String> = set.split('.').map(name).collect();
        format!("{}.{}", set.join("."), name(argument))
    }
}

fn amount(name: &str, since: Since) -> String {
    match since {
        Since::Start => name.to_string(),
        Since::Entry => format!("{name}_here"),
    }
}

fn sign(is_negative: bool) -> Binding {
    if is_negative { Binding::Sign } else { Binding::Whole }
}

#[cfg(test)]
mod tests {
    use super::*;
    use chartc_core::model::Type;

    fn typed(kind: ExprKind) -> Expr {
        Expr { kind, ty: Type::Json }
    }

    fn int(i: i64) -> Expr {
        typed(ExprKind::Int(i))
    }

    fn of(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        typed(ExprKind::Binary(op, Box::new(left), Box::new(right)))
    }

    fn not(of: Expr) -> Expr {
        typed(ExprKind::Unary(UnaryOp::Not, Box::new(of)))
    }

    fn check(expr: Expr, text: &str) {
        assert_eq!(expression(&Chart::empty("C"), &expr), text);
    }

    #[test]
    fn parentheses_only_where_the_meaning_needs_them() {
        use BinaryOp::{Add, And, Multiply, Or, Power, Subtract};
        check(of(Add, int(1), of(Multiply, int(2), int(3))), "1 + 2 * 3");
        check(of(Multiply, of(Add, int(1), int(2)), int(3)), "(1 + 2) * 3");
        check(of(Subtract, of(Subtract, int(1), int(2)), int(3)), "1 - 2 - 3");
        check(of(Subtract, int(1), of(Subtract, int(2), int(3))), "1 - (2 - 3)");
        check(of(Power, int(-2), int(2)), "(-2) ** 2");
        check(not(of(And, int(1), not(int(2)))), "not (1 and not 2)");
        check(of(And, of(Or, int(1), int(2)), int(3)), "(1 or 2) and 3");
    }

    #[test]
    fn payload_fields_have_their_names() {
        let expr = of(BinaryOp::Add, typed(ExprKind::Payload(1)), typed(ExprKind::Payload(2)));
        assert_eq!(expression_in(&Chart::empty("C"), &expr, &["a", "in"]), "`in` + answer");
    }

    #[test]
    fn durations_take_the_largest_whole_unit() {
        let texts = [0, 250, 1_000, 90_000, 300_000, 7_200_000].map(duration);
        assert_eq!(texts, ["0s", "250ms", "1s", "90s", "5m", "2h"]);
    }

    #[test]
    fn endless_nesting_is_cut() {
        let deep = (0..1_000).fold(int(1), |e, _| not(e));
        let text = expression(&Chart::empty("C"), &deep);
        assert!(text.ends_with('…') && text.len() < 1_000);
    }
}
