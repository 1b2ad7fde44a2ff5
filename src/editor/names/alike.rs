//! Compares two charts up to the renaming of one name.

use chartc_core::model::{
    Action, Chart, CheckArgument, ChoiceKind, Expr, ExprKind, Field, Local, Observable, StateKind,
    StepKind, StreakOf, Template, TemplatePart, Trigger, TypeKind,
};

/// Whether `after` is equal to `before`, except that some names `old` may be `new`.
pub(super) fn is_alike(before: &Chart, after: &Chart, old: &str, new: &str) -> bool {
    let (mut before, mut after) = (before.clone(), after.clone());
    // These texts are generated from the guards, which are compared themselves.
    before.alternative_texts.clear();
    after.alternative_texts.clear();
    let mut names: Vec<String> = Vec::new();
    // First collect all names of `before` and clear them, then compare those of `after` one by one: what remains must be equal.
    Names(&mut |name| names.push(std::mem::take(name))).chart(&mut before);
    let mut known = names.iter();
    let mut alike = true;
    let mut compare = |name: &mut String| {
        let known = known.next();
        alike &= known.is_some_and(|known| is_renamed(known, name, old, new));
        name.clear();
    };
    Names(&mut compare).chart(&mut after);
    alike && known.next().is_none() && before == after
}

/// Whether the dotted name `after` is `before`, except that some parts `old` may be `new`.
fn is_renamed(before: &str, after: &str, old: &str, new: &str) -> bool {
    let (mut known, mut found) = (before.split('.'), after.split('.'));
    loop {
        match (known.next(), found.next()) {
            (None, None) => return true,
            (Some(a), Some(b)) if a == b || (a == old && b == new) => {}
            _ => return before == old && after == new,
        }
    }
}

/// Visits every name and text of a chart that may come from a name in its source.
struct Names<'v>(&'v mut dyn FnMut(&mut String));

impl Names<'_> {
    fn chart(&mut self, chart: &mut Chart) {
        (self.0)(&mut chart.name);
        for ty in &mut chart.types {
            (self.0)(&mut ty.name);
            match &mut ty.kind {
                TypeKind::Record(fields) => self.fields(fields),
                TypeKind::Enum(values) => values.iter_mut().for_each(&mut *self.0),
            }
        }
        for variable in &mut chart.variables {
            (self.0)(&mut variable.name);
            self.exprs(&mut variable.default);
        }
        for event in &mut chart.events {
            (self.0)(&mut event.name);
            self.fields(&mut event.fields);
        }
        for function in &mut chart.functions {
            (self.0)(&mut function.name);
            self.fields(&mut function.params);
        }
        for tool in &mut chart.tools {
            (self.0)(&mut tool.name);
            self.fields(&mut tool.params);
        }
        for set in &mut chart.tool_sets {
            (self.0)(&mut set.name);
            set.minus.iter_mut().for_each(&mut *self.0);
        }
        for predicate in &mut chart.predicates {
            (self.0)(&mut predicate.name);
            self.expr(&mut predicate.expr);
        }
        chart.clients.iter_mut().for_each(|client| (self.0)(&mut client.name));
        for component in &mut chart.components {
            (self.0)(&mut component.name);
            component.inserts.iter_mut().for_each(|insert| self.exprs(&mut insert.guard));
            self.text(&mut component.text);
        }
        self.states(chart);
        for line in &mut chart.transitions {
            line.bound.iter_mut().for_each(&mut *self.0);
            if let Trigger::After(e) | Trigger::AfterTurns(e) | Trigger::StepTimeout(_, e) =
                &mut line.trigger
            {
                self.expr(e);
            }
            self.exprs(&mut line.guard);
            line.targets.iter_mut().for_each(|target| self.exprs(&mut target.arguments));
            self.actions(&mut line.actions);
        }
        for choice in &mut chart.choices {
            (self.0)(&mut choice.name);
            choice.text.iter_mut().for_each(|text| self.text(text));
            if let ChoiceKind::Option(fields) = &mut choice.kind {
                self.fields(fields);
            }
        }
        self.steps(chart);
        chart.send_ids.iter_mut().for_each(&mut *self.0);
        chart.permissions.iter_mut().for_each(|permission| self.exprs(&mut permission.guard));
        for argument in chart.checks.iter_mut().flat_map(|check| &mut check.arguments) {
            if let CheckArgument::Bound(e, _) = argument {
                self.expr(e);
            }
        }
    }

    fn states(&mut self, chart: &mut Chart) {
        for state in &mut chart.states {
            (self.0)(&mut state.name);
            (self.0)(&mut state.path);
            if let StateKind::Final { params, .. } = &mut state.kind {
                self.fields(params);
            }
            for block in state.entry.iter_mut().chain(&mut state.exit) {
                self.actions(block);
            }
            self.actions(&mut state.default_actions);
            state.advice.iter_mut().for_each(|text| self.text(text));
            state.limits.computed.iter_mut().for_each(|limit| self.expr(&mut limit.value));
        }
    }

    fn steps(&mut self, chart: &mut Chart) {
        for step in &mut chart.steps {
            (self.0)(&mut step.name);
            self.exprs(&mut step.guard);
            step.prompt.iter_mut().for_each(|text| self.text(text));
            self.exprs(&mut step.ends_turn);
            if let Some(each) = &mut step.each {
                self.local(&mut each.local);
                self.expr(&mut each.list);
            }
            match &mut step.kind {
                StepKind::Code(actions) => self.actions(actions),
                StepKind::Call(_, arguments) => self.exprs(arguments),
                StepKind::Human(text) => self.text(text),
                StepKind::Run(run) => {
                    (self.0)(&mut run.chart);
                    for (name, value) in &mut run.arguments {
                        (self.0)(name);
                        self.expr(value);
                    }
                }
                StepKind::Llm | StepKind::Ask { .. } => {}
            }
        }
    }

    fn fields(&mut self, fields: &mut [Field]) {
        for field in fields {
            (self.0)(&mut field.name);
        }
    }

    fn local(&mut self, local: &mut Local) {
        (self.0)(&mut local.name);
    }

    fn actions(&mut self, actions: &mut [Action]) {
        for action in actions {
            match action {
                Action::Assign(_, value) => self.expr(value),
                Action::If(test, then, otherwise) => {
                    self.expr(test);
                    self.actions(then);
                    self.actions(otherwise);
                }
                Action::For(local, source, body) => {
                    self.local(local);
                    self.expr(source);
                    self.actions(body);
                }
                Action::Do(_, arguments)
                | Action::Raise(_, arguments)
                | Action::Result(_, arguments) => self.exprs(arguments),
                Action::Send { arguments, after, element, .. } => {
                    self.exprs(arguments);
                    self.exprs(after);
                    self.exprs(element.as_deref_mut());
                }
                Action::Cancel(_) => {}
                Action::Log(text) => self.text(text),
            }
        }
    }

    fn text(&mut self, text: &mut Template) {
        for part in &mut text.parts {
            match part {
                TemplatePart::Text(text) => (self.0)(text),
                TemplatePart::Hole { expr, .. } => self.expr(expr),
                TemplatePart::Options | TemplatePart::Bad(_) => {}
            }
        }
    }

    fn exprs<'e>(&mut self, all: impl IntoIterator<Item = &'e mut Expr>) {
        all.into_iter().for_each(|e| self.expr(e));
    }

    fn expr(&mut self, e: &mut Expr) {
        match &mut e.kind {
            ExprKind::Enum(_, name) | ExprKind::Field(_, name) | ExprKind::Unknown(name) => {
                (self.0)(name);
            }
            ExprKind::Record(_, fields) => {
                for (name, _) in fields {
                    (self.0)(name);
                }
            }
            ExprKind::Comprehension { local, .. } => self.local(local),
            ExprKind::Observable(
                Observable::Streak(StreakOf::Argument(_, name)) | Observable::Repeated(_, name),
            ) => (self.0)(name),
            ExprKind::Text(text) => {
                for part in &mut text.parts {
                    if let TemplatePart::Text(text) = part {
                        (self.0)(text);
                    }
                }
            }
            _ => {}
        }
        e.each_part_mut(&mut |part| self.expr(part));
    }
}
