//! The methods of a generated program. Most are a `match` with one arm for each row of a table.

use super::Context;
use super::code::{Code, Fragment, Use, code};
use super::expr::Writer;
use super::payload::{answer_type, choice_fields};
use super::tables::comment;
use chartc_core::arena::{FunctionId, PredicateId};
use chartc_core::model::{Expr, ExprKind, Field, Trigger, Type};
use codegen::{Function, Impl, Scope};
use std::collections::BTreeSet;

/// The methods of a program, and the named conditions that they call.
pub(super) struct Methods {
    /// The `impl` block with the methods so far.
    pub item: Impl,
    /// The named conditions that they call.
    pub predicates: BTreeSet<PredicateId>,
    /// The functions of the host that they call.
    pub functions: BTreeSet<FunctionId>,
    has_any: bool,
}

impl Methods {
    /// Creates an empty collection around an `impl` block.
    pub(super) fn new(item: Impl) -> Self {
        Self { item, predicates: BTreeSet::new(), functions: BTreeSet::new(), has_any: false }
    }

    /// Notes that the methods of another block call the methods of this one.
    pub(super) fn called_by(&mut self, other: &Self) {
        self.predicates.extend(&other.predicates);
        self.functions.extend(&other.functions);
    }

    /// Adds the block to the file, if it has methods.
    pub(super) fn push(self, scope: &mut Scope) {
        if self.has_any {
            scope.push_impl(self.item);
        }
    }

    /// Adds a function.
    pub(super) fn push_function(&mut self, function: Function) {
        self.has_any = true;
        self.item.push_fn(function);
    }

    /// Adds a method with this body.
    pub(super) fn add(&mut self, name: &str, body: Fragment) -> &mut Function {
        self.predicates.extend(body.uses.predicates);
        self.functions.extend(body.uses.functions);
        self.has_any = true;
        self.item.new_fn(name).arg_mut_self().line(body.text)
    }
}

/// A parameter of a method, with the use that reads it; one without a use is always read.
type Parameter = (Option<Use>, &'static str, &'static str);

/// What a method of the program is asked.
pub(super) struct Hook {
    pub name: &'static str,
    /// The parameters before the view.
    pub arguments: &'static [(&'static str, &'static str)],
    /// Another parameter.
    pub more: Option<Parameter>,
    /// The expression whose value chooses the arm.
    pub scrutinee: &'static str,
    pub result: &'static str,
    /// The result of rows without an arm.
    pub otherwise: &'static str,
}

/// A method with a match arm for each relevant row of one table. Without such rows the method is omitted.
pub(super) struct Arms {
    hook: Hook,
    /// The comments and patterns, and the body; equal bodies are one arm.
    rows: Vec<(Vec<(String, String)>, Fragment)>,
}

impl Arms {
    /// Creates a method without arms.
    pub(super) fn new(hook: Hook) -> Self {
        Self { hook, rows: Vec::new() }
    }

    /// Adds the arm of row `index`, called `title` in its comment: statements, then the `Result`.
    pub(super) fn arm(
        &mut self,
        index: usize,
        title: &str,
        statements: Fragment,
        result: Fragment,
    ) {
        self.pattern(&index.to_string(), title, statements, result);
    }

    /// Adds an arm with a pattern other than a number.
    pub(super) fn pattern(
        &mut self,
        pattern: &str,
        title: &str,
        statements: Fragment,
        result: Fragment,
    ) {
        let body = code!("{statements}\n{result}", statements, result);
        let named = (comment(title), pattern.to_owned());
        match self.rows.iter_mut().find(|(_, other)| *other == body) {
            Some((patterns, _)) => patterns.push(named),
            None => self.rows.push((vec![named], body)),
        }
    }

    /// Adds the method to `methods`, if it has arms. Returns whether its arms read `what`.
    pub(super) fn emit(self, context: &Context<'_>, methods: &mut Methods, what: Use) -> bool {
        let Self { hook, rows } = self;
        if rows.is_empty() {
            return false;
        }
        let Hook { name, arguments, more, scrutinee, result, otherwise } = hook;
        let rows = rows.into_iter().map(|(named, body)| {
            let (comments, patterns): (Vec<String>, Vec<String>) = named.into_iter().unzip();
            let (comments, patterns) = (comments.concat(), alternatives(&patterns));
            code!("{comments}{patterns} => {{ {body} }}\n", body)
        });
        let rows: Fragment = rows.collect();
        let uses = rows.uses.clone();
        let body = code!("match {scrutinee} {{ {rows} _ => Ok({otherwise}), }}", rows);
        let function = methods.add(name, body);
        for (name, ty) in arguments {
            function.arg(name, ty);
        }
        let view = (Some(Use::View), "view", "&program::View<'_>");
        let (before, after) = match more {
            Some((Some(Use::Outbox), ..)) => (None, more),
            _ => (more, None),
        };
        for (read, name, ty) in before.into_iter().chain([view]).chain(after) {
            let unused = if read.is_none_or(|read| uses.has(read)) { "" } else { "_" };
            function.arg(format!("{unused}{name}"), ty);
        }
        function.ret(format!("Result<{result}, {}>", context.error()));
        uses.has(what)
    }
}

/// The pattern of an arm. Three or more numbers in a row are a range.
fn alternatives(patterns: &[String]) -> String {
    let numbers: Option<Vec<u32>> = patterns.iter().map(|pattern| pattern.parse().ok()).collect();
    let Some(numbers) = numbers else { return patterns.join(" | ") };
    let runs = numbers.chunk_by(|a, b| a + 1 == *b).flat_map(|run| match run {
        [first, _, .., last] => vec![format!("{first}..={last}")],
        few => few.iter().map(u32::to_string).collect(),
    });
    runs.collect::<Vec<_>>().join(" | ")
}

/// A reader of the fields of the current event or answer, for the code of a transition.
pub(super) struct FieldReader<'w> {
    context: &'w Context<'w>,
    sources: Vec<Source>,
    surely: bool,
}

/// Creates a writer for the expressions of a transition, and a reader for the statement that binds the fields which their code uses. With
/// `surely`, a missing field fails at once. Otherwise it fails only when it is read, because another effect may come before that.
pub(super) fn for_trigger<'w>(
    context: &'w Context<'w>,
    trigger: &Trigger,
    exprs: &[&Expr],
    surely: bool,
) -> (Writer<'w>, FieldReader<'w>) {
    let mut last = 0;
    for expr in exprs {
        expr.walk(&mut |e| {
            if let ExprKind::Payload(nth) = e.kind {
                last = last.max(nth as usize + 1);
            }
        });
    }
    let mut writer = Writer::new(context);
    let mut sources = sources(context, trigger);
    // A field is readable only if every event of the transition has it, with the same type.
    sources.retain(|s| s.fields.len() >= last);
    if let Some(first) = sources.first() {
        for nth in 0..last {
            let name = local(first, nth);
            let ty = first.fields[nth].1.clone();
            let text = match (surely, context.bare) {
                (true, _) => Fragment::from(name),
                (false, true) => {
                    Fragment::from(format!("generated::set({name})?")).using(Use::Failure)
                }
                (false, false) => {
                    Fragment::from(format!("generated::handled({name})?")).using(Use::Failure)
                }
            };
            let mut text = if ty == Type::Text { code!("{text}.as_str()", text) } else { text };
            text.uses.fields.insert(nth as u32);
            writer.payload.push(Code::lent(text, ty));
        }
    }
    (writer, FieldReader { context, sources, surely })
}

impl FieldReader<'_> {
    /// The statement that binds the fields, to be written before a body.
    pub(super) fn before(&self, body: &Fragment) -> Fragment {
        let used = &body.uses.fields;
        let Some(first) = self.sources.first().filter(|_| !used.is_empty()) else {
            return Fragment::default();
        };
        let arms = self.sources.iter().filter(|s| same_types(s, first, used));
        let is_direct = self.context.is_direct();
        let pattern = |source: &Source| {
            let pattern = source.pattern(used, first);
            if is_direct { pattern } else { format!("Some({pattern})") }
        };
        let patterns: Vec<String> = arms.map(pattern).collect();
        let names: Vec<String> = used.iter().map(|n| local(first, *n as usize)).collect();
        let tuple = |names: &[String]| match names {
            [name] => name.clone(),
            names => format!("({})", names.join(", ")),
        };
        // A method that borrows the whole program cannot be called while one of its fields is borrowed.
        let (copy, bound) = if body.has(Use::Program) {
            ("let bound = self.bound.clone();\n", "bound")
        } else {
            ("", "self.bound")
        };
        let bound = if is_direct { format!("&{bound}") } else { format!("{bound}.get()") };
        let (given, missing) = if self.surely {
            let nothing = self.context.failure("what is handled has no such field");
            (tuple(&names), format!("return {nothing}"))
        } else {
            let some: Vec<String> = names.iter().map(|n| format!("Some({n})")).collect();
            let none: Vec<String> = names.iter().map(|_| "None".to_owned()).collect();
            (tuple(&some), tuple(&none))
        };
        let text = match patterns.as_slice() {
            [pattern] if self.surely => {
                format!("{copy}let {pattern} = {bound} else {{ {missing}; }};\n")
            }
            patterns => {
                let rows: Vec<String> =
                    patterns.iter().map(|p| format!("{p} => {given},")).collect();
                let rows = rows.join("\n");
                let names = tuple(&names);
                format!("{copy}let {names} = match {bound} {{ {rows} _ => {missing} }};\n")
            }
        };
        let text = Fragment::from(text).using(Use::Braces);
        if self.surely { text.using(Use::Failure) } else { text }
    }
}

/// A possible form of the current event or answer.
struct Source {
    /// The path of the variant, such as `Event::SeesPost` or `Payload::Reason`.
    head: String,
    /// The variant of `Payload` that contains it, if it is not one itself.
    around: Option<&'static str>,
    /// The fields, each with its Rust name and type. Unnamed fields have an empty name.
    fields: Vec<(String, Type)>,
}

impl Source {
    /// The pattern that binds the used fields under their names in `first`.
    fn pattern(&self, used: &BTreeSet<u32>, first: &Self) -> String {
        let inner = if self.fields.iter().any(|(name, _)| name.is_empty()) {
            format!("{}({})", self.head, local(first, 0))
        } else {
            self.named(used, first)
        };
        match self.around {
            Some(around) => format!("Payload::{around}({inner})"),
            None => inner,
        }
    }

    fn named(&self, used: &BTreeSet<u32>, first: &Self) -> String {
        let mut bindings: Vec<String> = Vec::new();
        for nth in used {
            let (own, bound) = (&self.fields[*nth as usize].0, local(first, *nth as usize));
            bindings.push(if *own == bound { bound } else { format!("{own}: {bound}") });
        }
        if used.len() < self.fields.len() {
            bindings.push("..".to_owned());
        }
        format!("{} {{ {} }}", self.head, bindings.join(", "))
    }
}

fn local(source: &Source, nth: usize) -> String {
    match source.fields[nth].0.as_str() {
        "" => "answer".to_owned(),
        name => super::local_name(name),
    }
}

fn same_types(source: &Source, first: &Source, used: &BTreeSet<u32>) -> bool {
    used.iter().all(|n| source.fields[*n as usize].1 == first.fields[*n as usize].1)
}

fn sources(context: &Context<'_>, trigger: &Trigger) -> Vec<Source> {
    let names = &context.names;
    let typed = |fields: &[Field], rust: &[String]| {
        rust.iter().cloned().zip(fields.iter().map(|f| f.ty.clone())).collect()
    };
    match trigger {
        Trigger::Event(events) => events
            .iter()
            .map(|id| Source {
                around: Some("Event"),
                head: format!("Event::{}", names.events[id.index()]),
                fields: typed(
                    &context.chart.events[id.index()].fields,
                    &names.event_fields[id.index()],
                ),
            })
            .collect(),
        Trigger::Choice(id) => vec![Source {
            around: Some("Choice"),
            head: format!("Choice::{}", names.choices[id.index()]),
            fields: typed(choice_fields(context, *id), &names.choice_fields[id.index()]),
        }],
        Trigger::StepDone(id) if super::payload::answering(context).any(|s| s == *id) => {
            let all =
                if context.chart.steps[id.index()].each.is_some() { "Gathered" } else { "Answer" };
            vec![Source {
                around: Some(all),
                head: format!("{all}::{}", names.steps[id.index()]),
                fields: vec![(String::new(), answer_type(context, *id))],
            }]
        }
        Trigger::StepError(_) if context.has_reasons() => vec![Source {
            around: None,
            head: "Payload::Reason".to_owned(),
            fields: vec![(String::new(), Type::Text)],
        }],
        Trigger::StepDone(_)
        | Trigger::StepError(_)
        | Trigger::AnyEvent
        | Trigger::AnyOccurrence
        | Trigger::Turn
        | Trigger::When
        | Trigger::StateDone(_)
        | Trigger::After(_)
        | Trigger::AfterTurns(_)
        | Trigger::StepTimeout(..)
        | Trigger::StepDoubt(_)
        | Trigger::StepElse(_)
        | Trigger::Error(_)
        | Trigger::LimitWarn(_) => Vec::new(),
    }
}
