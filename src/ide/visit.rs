//! A visitor for the syntax of a file: outer parts before inner ones, in the order of the source.

use chartc_compiler::syntax::{
    Action, Argument, AskElse, Assertion, Block, ChartItem, Component, Deadline, Expr, ExprKind,
    FailWord, File, Function, FunctionKind, GivenFunction, Item, Limit, Line, LineKind, May,
    MayKind, Noted, OutcomeKind, Param, Policy, Scenario, StateItem, StateKind, Step, StepItem,
    StepKind, Tail, Target, Template, TemplatePart, TestAnswer, TestItem,
};

/// A part of a file.
#[derive(Debug, Clone, Copy)]
pub(super) enum SyntaxNode<'s> {
    /// A transition of a state or of a `from`.
    Line(&'s Line),
    /// A target of a transition or a policy.
    Target(&'s Target),
    Does(&'s Step),
    /// An item in the body of a step.
    Step(&'s Noted<StepItem>),
    /// An action, or a statement of a `code` step.
    Action(&'s Noted<Action>),
    /// An item in the body of a test.
    Test(&'s Noted<TestItem>),
    /// A parameter, or a field of a record.
    Param(&'s Param),
    Expr(&'s Expr),
    /// A text with placeholders.
    Template(&'s Template),
}

/// Calls `see` with every part of a file.
pub(super) fn file<'s>(file: &'s File, see: &mut dyn FnMut(SyntaxNode<'s>)) {
    let mut walk = Visitor { see };
    for item in &file.items {
        walk.item(item);
    }
}

struct Visitor<'a, 's> {
    see: &'a mut dyn FnMut(SyntaxNode<'s>),
}

impl<'s> Visitor<'_, 's> {
    fn item(&mut self, noted: &'s Noted<Item>) {
        match &noted.node {
            Item::Import(_) | Item::Enum(_) | Item::ToolSet(_) | Item::Bad(_) => {}
            Item::Record(record) => {
                for field in &record.fields {
                    self.param(&field.node);
                }
            }
            Item::Function(function) => self.function(function),
            Item::Tool(tool) => {
                self.params(&tool.params);
            }
            Item::Client(client) => client.options.iter().for_each(|o| self.expr(&o.node.value)),
            Item::Component(component) => self.component(component),
            Item::Chart(chart) => chart.items.iter().for_each(|item| self.chart(item)),
            Item::Scenario(scenario) => self.scenario(scenario),
        }
    }

    fn chart(&mut self, noted: &'s Noted<ChartItem>) {
        match &noted.node {
            ChartItem::Meta(_) | ChartItem::ToolSet(_) | ChartItem::Trace(_) => {}
            ChartItem::Variable(variable) => {
                if let Some((from, to)) = &variable.range {
                    self.expr(from);
                    self.expr(to);
                }
                if let Some(value) = &variable.default {
                    self.expr(value);
                }
            }
            ChartItem::Event(_, params) => self.params(params),
            ChartItem::Function(function) => self.function(function),
            ChartItem::Tool(tool) => {
                self.params(&tool.params);
            }
            ChartItem::Predicate(predicate) => self.expr(&predicate.expr),
            ChartItem::Client(client) => {
                for option in &client.options {
                    self.expr(&option.node.value);
                }
            }
            ChartItem::Component(component) => self.component(component),
            ChartItem::Defaults(policy) => self.policy(policy),
            ChartItem::Check(check) => {
                for argument in &check.arguments {
                    if let Argument::Bound(bound) = argument {
                        self.expr(&bound.expr);
                    }
                }
            }
            ChartItem::State(item) => self.state_item(item),
        }
    }

    fn state(&mut self, noted: &'s Noted<StateItem>) {
        self.state_item(&noted.node);
    }

    fn state_item(&mut self, item: &'s StateItem) {
        match item {
            StateItem::Initial(initial) => self.block(initial.actions.as_ref()),
            StateItem::State(state) => {
                if let StateKind::Final(params, values, _) = &state.kind {
                    self.params(params);
                    values.iter().flatten().for_each(|value| self.expr(value));
                }
                let items = state.body.iter().flat_map(|body| &body.items);
                items.for_each(|item| self.state(item));
            }
            StateItem::History(history) => self.block(history.actions.as_ref()),
            StateItem::Line(line) => self.line(line),
            StateItem::From(from) => from.lines.iter().for_each(|line| self.line(&line.node)),
            StateItem::Enter(block) | StateItem::Exit(block) => self.block(Some(block)),
            StateItem::Step(step) => self.step(step),
            StateItem::Allow(allow) => allow.guard.iter().for_each(|guard| self.expr(guard)),
            StateItem::Advice(text) => self.template(text),
            StateItem::Limits(limits) => limits.iter().for_each(|limit| self.limit(&limit.node)),
            StateItem::Bad(_) => {}
        }
    }

    fn limit(&mut self, limit: &'s Limit) {
        self.expr(&limit.bound);
        if let Some(warn) = &limit.warn {
            self.expr(warn);
        }
    }

    fn line(&mut self, line: &'s Line) {
        (self.see)(SyntaxNode::Line(line));
        match &line.kind {
            LineKind::On(_) => {}
            LineKind::When(guard) => self.expr(guard),
            LineKind::After {
                deadline: Deadline::Time(bound) | Deadline::Turns(bound), ..
            } => {
                self.expr(bound);
            }
            LineKind::May(may) => {
                let May { kind, text } = may.as_ref();
                if let MayKind::Option(_, params) = kind {
                    self.params(params);
                }
                if let Some(text) = text {
                    self.template(text);
                }
            }
        }
        self.tail(&line.tail);
    }

    fn tail(&mut self, tail: &'s Tail) {
        if let Some(guard) = &tail.guard {
            self.expr(guard);
        }
        for target in &tail.targets {
            self.target(target);
        }
        self.block(tail.actions.as_ref());
    }

    fn target(&mut self, target: &'s Target) {
        (self.see)(SyntaxNode::Target(target));
        self.all(&target.arguments);
    }

    fn step(&mut self, step: &'s Step) {
        (self.see)(SyntaxNode::Does(step));
        if let Some(each) = &step.each {
            self.expr(&each.list);
        }
        match &step.kind {
            StepKind::Llm => {}
            StepKind::Code(actions) => self.actions(actions),
            StepKind::Ask(ask) => {
                if let Some(AskElse::Take(target)) = &ask.otherwise {
                    self.target(target);
                }
            }
            StepKind::Call(_, arguments) => self.all(arguments),
            StepKind::Human(question) => self.template(question),
            StepKind::Run(run) => run.arguments.iter().for_each(|given| self.expr(&given.value)),
        }
        if let Some(guard) = &step.guard {
            self.expr(guard);
        }
        for item in &step.items {
            (self.see)(SyntaxNode::Step(item));
            match &item.node {
                StepItem::Prompt(text) => self.template(text),
                StepItem::Policy(policy) => self.policy(policy),
                StepItem::Outcome(outcome) => {
                    if let OutcomeKind::Timeout(bound) = &outcome.kind {
                        self.expr(bound);
                    }
                    self.tail(&outcome.tail);
                }
                StepItem::EndsTurn(guard) => guard.iter().for_each(|guard| self.expr(guard)),
                _ => {}
            }
        }
        if let Some(tail) = &step.then {
            self.tail(tail);
        }
    }

    fn policy(&mut self, policy: &'s Policy) {
        if let Some(FailWord::Take(target)) = &policy.then {
            self.target(target);
        }
    }

    fn function(&mut self, function: &'s Function) {
        self.params(&function.params);
        if let FunctionKind::Pure(_, _, Some(value)) = &function.kind {
            self.expr(value);
        }
    }

    fn component(&mut self, component: &'s Component) {
        for insert in &component.inserts {
            if let Some(guard) = &insert.guard {
                self.expr(guard);
            }
        }
        self.template(&component.text);
    }

    fn block(&mut self, block: Option<&'s Block>) {
        if let Some(block) = block {
            self.actions(&block.actions);
        }
    }

    fn actions(&mut self, actions: &'s [Noted<Action>]) {
        for noted in actions {
            (self.see)(SyntaxNode::Action(noted));
            match &noted.node {
                Action::Assign(_, value) => self.expr(value),
                Action::If(test, then, otherwise) => {
                    self.expr(test);
                    self.actions(then);
                    self.actions(otherwise);
                }
                Action::For(_, list, body) => {
                    self.expr(list);
                    self.actions(body);
                }
                Action::Do(_, arguments) | Action::Raise(_, arguments) => self.all(arguments),
                Action::Send { arguments, to, after, .. } => {
                    self.all(arguments);
                    let element = to.iter().filter_map(|to| to.1.as_ref());
                    element.chain(after).for_each(|value| self.expr(value));
                }
                Action::Cancel(_) => {}
                Action::Log(text) => self.template(text),
            }
        }
    }

    fn scenario(&mut self, scenario: &'s Scenario) {
        for noted in &scenario.items {
            (self.see)(SyntaxNode::Test(noted));
            match &noted.node {
                TestItem::Given(_, value)
                | TestItem::Set(_, value)
                | TestItem::Wait(value)
                | TestItem::Returns(_, value) => self.expr(value),
                TestItem::GivenFunction(GivenFunction { arguments, result, .. }) => {
                    if let Some(all) = arguments {
                        self.all(all);
                    }
                    if let Ok(value) = result {
                        self.expr(value);
                    }
                }
                TestItem::Send(_, arguments) => self.all(arguments),
                TestItem::Answers(_, TestAnswer::Value(value)) => self.expr(value),
                TestItem::Answers(_, TestAnswer::Option(_, arguments)) => self.all(arguments),
                TestItem::Answers(_, TestAnswer::Text(_)) => {}
                TestItem::Expect(expected) => match &expected.what {
                    Assertion::Holds(test) => self.expr(test),
                    Assertion::Called(_, Some(all)) => self.all(all),
                    _ => {}
                },
                _ => {}
            }
        }
    }

    fn params(&mut self, params: &'s [Param]) {
        for param in params {
            self.param(param);
        }
    }

    fn param(&mut self, param: &'s Param) {
        (self.see)(SyntaxNode::Param(param));
    }

    fn template(&mut self, template: &'s Template) {
        (self.see)(SyntaxNode::Template(template));
        for part in &template.parts {
            if let TemplatePart::Hole(hole) = part {
                self.expr(&hole.expr);
            }
        }
    }

    fn all(&mut self, all: &'s [Expr]) {
        for expr in all {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &'s Expr) {
        (self.see)(SyntaxNode::Expr(expr));
        match &expr.kind {
            ExprKind::None
            | ExprKind::Bad
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Duration(_)
            | ExprKind::Name(_) => {}
            ExprKind::Text(template) => self.template(template),
            ExprKind::Field(base, _) | ExprKind::Unary(_, base) => self.expr(base),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Default(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Slice(base, from, to) => {
                self.expr(base);
                from.iter().chain(to).for_each(|bound| self.expr(bound));
            }
            ExprKind::Call(_, all) | ExprKind::List(all) => self.all(all),
            ExprKind::Compare(first, rest) => {
                self.expr(first);
                for (_, operand) in rest {
                    self.expr(operand);
                }
            }
            ExprKind::If(test, then, otherwise) => {
                self.expr(test);
                self.expr(then);
                self.expr(otherwise);
            }
            ExprKind::Map(entries) => {
                for entry in entries {
                    self.expr(&entry.key);
                    self.expr(&entry.value);
                }
            }
            ExprKind::Record(_, fields) => fields.iter().for_each(|(_, value)| self.expr(value)),
            ExprKind::Comprehension { item, source, filter, .. } => {
                self.expr(item);
                self.expr(source);
                if let Some(filter) = filter {
                    self.expr(filter);
                }
            }
        }
    }
}
