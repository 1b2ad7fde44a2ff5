//! Bodies of the program's methods: a match over rows of the tables with the code of each.

use super::Context;
use super::expr::{Code, Writer};
use super::payload::{answer_type, choice_fields};
use super::tables::{comment, line_comment};
use super::uses;
use chartc_core::arena::TransitionId;
use chartc_core::model::{Expr, ExprKind, Field, Trigger, Type};
use codegen::Impl;
use std::collections::BTreeSet;

/// A method that answers for the rows of one table that have something to say. Without such rows there is no method.
pub(super) struct Arms {
    name: &'static str,
    argument: &'static str,
    scrutinee: &'static str,
    result: &'static str,
    otherwise: &'static str,
    rows: String,
}

impl Arms {
    /// `argument` is `name: Type`; rows without an arm give `otherwise`.
    pub(super) fn new(
        name: &'static str,
        argument: &'static str,
        scrutinee: &'static str,
        result: &'static str,
        otherwise: &'static str,
    ) -> Self {
        Self { name, argument, scrutinee, result, otherwise, rows: String::new() }
    }

    /// The row `index`, called `title` in the comment: statements, then the value.
    pub(super) fn arm(&mut self, index: usize, title: &str, statements: String, value: String) {
        self.pattern(&index.to_string(), title, &statements, &value);
    }

    /// The same with a pattern of its own.
    pub(super) fn pattern(&mut self, pattern: &str, title: &str, statements: &str, value: &str) {
        let comment = comment(title);
        self.rows.push_str(&format!("{comment}{pattern} => {{ {statements}\nOk({value}) }}\n"));
    }

    /// Adds the method, which takes `more` arguments after `view`.
    pub(super) fn emit_with(
        self,
        context: &Context<'_>,
        methods: &mut Impl,
        more: &[(&str, &str)],
    ) {
        if self.rows.is_empty() {
            return;
        }
        context.methods.borrow_mut().insert(self.name);
        let function = methods.new_fn(self.name).arg_mut_self();
        let (name, ty) = self.argument.split_once(": ").unwrap_or((self.argument, ""));
        let unused = |name: &str, used: bool| {
            if used { name.to_owned() } else { format!("_{name}") }
        };
        function.arg(name, ty);
        function.arg(unused("view", mentions(&self.rows, "view")), "&program::View<'_>");
        for (name, ty) in more {
            function.arg(unused(name, mentions(&self.rows, name)), *ty);
        }
        function.ret(format!("Result<{}, {}>", self.result, context.error()));
        function.line(format!(
            "match {} {{ {} _ => Ok({}), }}",
            self.scrutinee, self.rows, self.otherwise
        ));
    }

    /// Adds the method.
    pub(super) fn emit(self, context: &Context<'_>, methods: &mut Impl) {
        self.emit_with(context, methods, &[]);
    }
}

/// Whether the code reads the local `name`: as a word of its own, not as a field, and not inside a string.
pub(super) fn mentions(code: &str, name: &str) -> bool {
    let part_of_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut before = ' ';
    for (i, c) in plain(code) {
        let begins = code[i..].starts_with(name) && !part_of_word(before) && before != '.';
        if begins {
            let rest = &code[i + name.len()..];
            if !rest.starts_with(part_of_word) && (!rest.starts_with(':') || rest.starts_with("::"))
            {
                return true;
            }
        }
        before = c;
    }
    false
}

/// Whether the code may leave the body by `?`.
pub(super) fn can_fail(code: &str) -> bool {
    plain(code).any(|(_, c)| c == '?')
}

/// The characters of the code that do not stand in strings, and where.
fn plain(code: &str) -> impl Iterator<Item = (usize, char)> + '_ {
    let (mut quoted, mut escaped) = (false, false);
    code.char_indices().filter(move |(_, c)| {
        let inside = quoted;
        if quoted {
            quoted = escaped || *c != '"';
            escaped = *c == '\\' && !escaped;
        } else {
            quoted = *c == '"';
        }
        !inside
    })
}

/// A writer for expressions of a line, and the statement that takes the fields which they read from what is being handled.
/// Where something else happens before the first field is read, a missing one fails only when it is read.
pub(super) fn for_line<'w>(
    context: &'w Context<'w>,
    line: TransitionId,
    exprs: &[&Expr],
    surely: bool,
) -> (Writer<'w>, String) {
    let mut used = BTreeSet::new();
    let mut whole = false;
    for expr in exprs {
        uses::walk(expr, &mut |e| {
            if let ExprKind::Payload(nth) = e.kind {
                used.insert(nth);
            }
            whole |= uses::borrows_program(e);
        });
    }
    let mut writer = Writer::new(context);
    if used.is_empty() {
        return (writer, String::new());
    }
    let mut sources = sources(context, &context.chart.transition(line).trigger);
    // Every event of the line must have the field, and with one type; else it cannot be read.
    let last = used.iter().next_back().map_or(0, |n| *n as usize + 1);
    sources.retain(|s| s.fields.len() >= last);
    let Some(first) = sources.first() else {
        return (writer, String::new());
    };
    for nth in 0..last {
        let name = local(first, nth);
        let ty = first.fields[nth].1.clone();
        let name = match (surely, context.bare) {
            (true, _) => name,
            (false, true) => format!("generated::set({name})?"),
            (false, false) => format!("generated::handled({name})?"),
        };
        let text = if ty == Type::Text { format!("{name}.as_str()") } else { name };
        writer.payload.push(Code::lent(text, ty));
    }
    let arms = sources.iter().filter(|s| same_types(s, first, &used));
    let patterns: Vec<String> = arms.map(|s| s.pattern(&used, first)).collect();
    let names: Vec<String> = used.iter().map(|n| local(first, *n as usize)).collect();
    let tuple = |names: &[String]| match names {
        [name] => name.clone(),
        names => format!("({})", names.join(", ")),
    };
    let (copy, bound) =
        if whole { ("let bound = self.bound.clone();\n", "&bound") } else { ("", "&self.bound") };
    let (given, missing) = if surely {
        let nothing = context.failure("what is handled has no such field");
        (tuple(&names), format!("return {nothing}"))
    } else {
        let some: Vec<String> = names.iter().map(|n| format!("Some({n})")).collect();
        let none: Vec<String> = names.iter().map(|_| "None".to_owned()).collect();
        (tuple(&some), tuple(&none))
    };
    let prologue = match patterns.as_slice() {
        [pattern] if surely => {
            format!("{copy}let {pattern} = {bound} else {{ {missing}; }};\n")
        }
        patterns => {
            let rows: Vec<String> = patterns.iter().map(|p| format!("{p} => {given},")).collect();
            let rows = rows.join("\n");
            format!("{copy}let {} = match {bound} {{ {rows} _ => {missing} }};\n", tuple(&names))
        }
    };
    (writer, prologue)
}

/// One shape that the thing being handled may have.
struct Source {
    /// `Payload::Event(Event::SeesPost`.
    head: String,
    /// The fields: Rust name, type. Unnamed ones have an empty name.
    fields: Vec<(String, Type)>,
}

impl Source {
    /// The pattern that binds the used fields, under the names that `first` gives them.
    fn pattern(&self, used: &BTreeSet<u32>, first: &Self) -> String {
        let nested = self.head.matches('(').count();
        let close = ")".repeat(nested);
        if self.fields.iter().any(|(name, _)| name.is_empty()) {
            return format!("{}({}){close}", self.head, local(first, 0));
        }
        let mut bindings: Vec<String> = Vec::new();
        for nth in used {
            let (own, bound) = (&self.fields[*nth as usize].0, local(first, *nth as usize));
            bindings.push(if *own == bound { bound } else { format!("{own}: {bound}") });
        }
        if used.len() < self.fields.len() {
            bindings.push("..".to_owned());
        }
        format!("{} {{ {} }}{close}", self.head, bindings.join(", "))
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
                head: format!("Payload::Event(Event::{}", names.events[id.index()]),
                fields: typed(
                    &context.chart.events[id.index()].fields,
                    &names.event_fields[id.index()],
                ),
            })
            .collect(),
        Trigger::Choice(id) => vec![Source {
            head: format!("Payload::Choice(Choice::{}", names.choices[id.index()]),
            fields: typed(choice_fields(context, *id), &names.choice_fields[id.index()]),
        }],
        Trigger::StepDone(id) if super::payload::answering(context).any(|s| s == *id) => {
            vec![Source {
                head: format!("Payload::Answer(Answer::{}", names.steps[id.index()]),
                fields: vec![(String::new(), answer_type(context, *id))],
            }]
        }
        Trigger::StepError(_) if context.has_reasons() => vec![Source {
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

/// The comment that names a line.
pub(super) fn title(context: &Context<'_>, line: usize) -> String {
    line_comment(context, line)
}

#[cfg(test)]
mod tests {
    use super::{can_fail, mentions};

    #[test]
    fn a_field_a_string_and_a_part_of_a_word_are_no_local() {
        assert!(mentions("f(view)", "view"));
        assert!(mentions("view.turns", "view"));
        for code in
            ["self.data.view", "Event::A { view: view_ }", r#"f("a \" view")"#, "review", "viewed"]
        {
            assert!(!mentions(code, "view"), "{code}");
        }
    }

    #[test]
    fn a_question_mark_in_a_string_fails_nothing() {
        assert!(can_fail("a()?"));
        assert!(!can_fail(r#"f("really?")"#));
    }
}
