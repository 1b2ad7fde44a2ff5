//! The walk over the syntax of a file: outer parts before inner ones, and each name before what it binds is used.
//!
//! The problem: colours, hovers, hints and the search for misleading names all need some parts of the tree, wherever they stand. The
//! idea: one function knows where the parts are and calls another one with each of them; users match the few that they need. For
//! `on reply(text) if text != last { n = 1 }` these are:
//!
//! ```text
//! Line                                 Enter
//! Name(reply, Event, Used)             Name(text, Local, Declared)
//! Expr(text != last)                   Expr(text)   Expr(last)
//! Action(n = 1)                        Name(n, Value, Set)   Expr(1)
//! Leave                                text is not bound any more
//! ```

use super::source::Ident;
use super::{
    Action, Argument, AskElse, Assertion, Block, Chart, ChartItem, CheckSubject, Claim, Client,
    Component, Deadline, Done, Ends, EventPattern, Expr, ExprKind, FailWord, FailureReason, File,
    Function, FunctionKind, Item, Limit, Line, LineKind, MayKind, Noted, OutcomeKind, Param, Path,
    Policy, Scenario, State, StateItem, StateKind, Step, StepItem, StepKind, StepRef, SubjectKind,
    Tail, Target, Template, TemplatePart, TestAnswer, TestItem, Tool, ToolPattern, ToolSet,
    ToolSum, TypeExpr, TypeKind, Variable, VariableKind,
};

/// A part of a file.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names of the parts")]
pub enum Node<'s> {
    /// A name as the parts between its dots. Names in an expression are in [`Node::Expr`], except those that it binds.
    Name {
        parts: &'s [Ident],
        role: Role,
        mode: Mode,
    },
    /// The names that are bound from here on are bound up to the matching [`Node::Leave`].
    Enter,
    Leave,
    Client(&'s Client),
    /// A transition of a state or of a `from`.
    Line(&'s Line),
    /// A target of a transition or a policy.
    Target(&'s Target),
    Step(&'s Step),
    /// An item in the body of a step.
    StepItem(&'s Noted<StepItem>),
    /// An action, or a statement of a `code` step.
    Action(&'s Noted<Action>),
    /// An item in the body of a test.
    TestItem(&'s Noted<TestItem>),
    /// A parameter, or a field of a record.
    Param(&'s Param),
    Type(&'s TypeExpr),
    Expr(&'s Expr),
    /// A text with placeholders.
    Template(&'s Template),
}

/// What a name stands for, as far as its place says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words of the language")]
pub enum Role {
    Chart,
    Test,
    /// A record.
    Type,
    Field,
    Enum,
    EnumValue,
    Function,
    /// A parameter of a function, a tool or a final state.
    Parameter,
    Tool,
    ToolSet,
    Client,
    Component,
    Predicate,
    Param,
    Input,
    Variable,
    /// A variable of any kind.
    Value,
    Event,
    EventField,
    /// An event of the machine itself, with its dots.
    MachineEvent,
    State,
    Step,
    Option,
    OptionField,
    /// What a line, a step, a loop or a comprehension binds.
    Local,
    SendId,
    /// A key of `meta`, an option of a client, what a limit counts.
    Setting,
    /// The status of a run, or the kind of a failure.
    Word,
    /// The unit of a bound.
    Unit,
    /// The name of a `check`.
    Property,
    StepOrState,
    /// A state, an effect, a tool, a step, an option or an event.
    CheckSubject,
    ToolOrOption,
    ToolOrFunction,
}

/// What the text does with a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the words say it")]
pub enum Mode {
    Declared,
    /// An earlier name of what is declared.
    Former,
    /// An action, an answer or a test stores a value in the variable.
    Set,
    Used,
}

/// Calls `see` with every part of a file.
pub fn file<'s>(file: &'s File, see: &mut dyn FnMut(Node<'s>)) {
    file.items.iter().for_each(|noted| item(&noted.node, see));
}

/// Calls `see` with every part of an item.
pub fn item<'s>(item: &'s Item, see: &mut dyn FnMut(Node<'s>)) {
    let mut walk = Walk { see };
    match item {
        Item::Import(_) | Item::Bad(_) => {}
        Item::Record(record) => {
            walk.declare(&record.name, Role::Type);
            record.fields.iter().for_each(|field| walk.param(&field.node, Role::Field));
        }
        Item::Enum(list) => {
            walk.declare(&list.name, Role::Enum);
            list.names.iter().for_each(|name| walk.declare(&name.node, Role::EnumValue));
        }
        Item::Function(function) => walk.function(function),
        Item::Tool(tool) => walk.tool(tool),
        Item::ToolSet(set) => walk.tool_set(set),
        Item::Client(client) => walk.client(client),
        Item::Component(component) => walk.component(component),
        Item::Chart(chart) => walk.chart(chart),
        Item::Scenario(scenario) => walk.scenario(scenario),
    }
}

struct Walk<'a, 's> {
    see: &'a mut dyn FnMut(Node<'s>),
}

// Declarations.

impl<'s> Walk<'_, 's> {
    fn dotted(&mut self, parts: &'s [Ident], role: Role, mode: Mode) {
        (self.see)(Node::Name { parts, role, mode });
    }

    fn names(&mut self, names: impl IntoIterator<Item = &'s Ident>, role: Role, mode: Mode) {
        names.into_iter().for_each(|name| self.dotted(std::slice::from_ref(name), role, mode));
    }

    fn declare(&mut self, name: &'s Ident, role: Role) {
        self.names([name], role, Mode::Declared);
    }

    fn used(&mut self, names: impl IntoIterator<Item = &'s Ident>, role: Role) {
        self.names(names, role, Mode::Used);
    }

    fn paths(&mut self, paths: impl IntoIterator<Item = &'s Path>, role: Role) {
        paths.into_iter().for_each(|path| self.dotted(&path.names, role, Mode::Used));
    }

    /// Runs `inner`; the names that it binds are bound only in it.
    fn scope(&mut self, inner: impl FnOnce(&mut Self)) {
        (self.see)(Node::Enter);
        inner(self);
        (self.see)(Node::Leave);
    }

    fn ty(&mut self, ty: &'s TypeExpr) {
        (self.see)(Node::Type(ty));
        match &ty.kind {
            TypeKind::Name(_) => {}
            TypeKind::List(inner) | TypeKind::Optional(inner) => self.ty(inner),
            TypeKind::Map(key, value) => {
                self.ty(key);
                self.ty(value);
            }
        }
    }

    fn param(&mut self, param: &'s Param, role: Role) {
        (self.see)(Node::Param(param));
        self.declare(&param.name, role);
        self.ty(&param.ty);
        self.ends(param.range.as_ref());
    }

    fn ends(&mut self, range: Option<&'s Ends>) {
        self.exprs(range.into_iter().flat_map(|(from, to)| [from, to]));
    }

    fn params(&mut self, params: &'s [Param], role: Role) {
        for param in params {
            self.param(param, role);
        }
    }

    fn function(&mut self, function: &'s Function) {
        self.declare(&function.name, Role::Function);
        self.params(&function.params, Role::Parameter);
        if let FunctionKind::Pure(result, _, otherwise) = &function.kind {
            self.ty(result);
            self.exprs(otherwise);
        }
    }

    fn tool(&mut self, tool: &'s Tool) {
        self.dotted(&tool.name.names, Role::Tool, Mode::Declared);
        self.params(&tool.params, Role::Parameter);
        self.ty(&tool.result);
    }

    fn tool_set(&mut self, set: &'s ToolSet) {
        self.declare(&set.name, Role::ToolSet);
        self.tool_sum(&set.tools);
    }

    fn tool_sum(&mut self, tools: &'s ToolSum) {
        for pattern in tools.patterns() {
            if let ToolPattern::Name(path) | ToolPattern::Prefix(path) = pattern {
                self.paths([path], Role::Tool);
            }
        }
    }

    fn client(&mut self, client: &'s Client) {
        self.declare(&client.name, Role::Client);
        (self.see)(Node::Client(client));
        for option in &client.options {
            self.used([&option.node.name], Role::Setting);
            self.expr(&option.node.value);
            option.node.retry.iter().for_each(|retry| self.used(&retry.on, Role::Word));
        }
    }

    fn component(&mut self, component: &'s Component) {
        self.declare(&component.name, Role::Component);
        for insert in &component.inserts {
            self.used([&insert.step], Role::Step);
            self.exprs(&insert.guard);
        }
        self.template(&component.text);
    }

    fn chart(&mut self, chart: &'s Chart) {
        self.declare(&chart.name, Role::Chart);
        self.names(&chart.renamed, Role::Chart, Mode::Former);
        for item in &chart.items {
            match &item.node {
                ChartItem::Meta(entries) => {
                    self.used(entries.iter().map(|entry| &entry.key), Role::Setting);
                }
                ChartItem::Variable(variable) => self.variable(variable),
                ChartItem::Event(name, fields) => {
                    self.dotted(&name.names, Role::Event, Mode::Declared);
                    self.params(fields, Role::EventField);
                }
                ChartItem::Function(function) => self.function(function),
                ChartItem::Tool(tool) => self.tool(tool),
                ChartItem::ToolSet(set) => self.tool_set(set),
                ChartItem::Predicate(predicate) => {
                    self.declare(&predicate.name, Role::Predicate);
                    self.expr(&predicate.expr);
                }
                ChartItem::Client(client) => self.client(client),
                ChartItem::Component(component) => self.component(component),
                ChartItem::Defaults(policy) => self.policy(policy),
                ChartItem::Trace(_) => {}
                ChartItem::Check(check) => {
                    self.claim(&check.claim);
                    for (param, from, to) in &check.given {
                        self.used([param], Role::Param);
                        self.exprs([from, to]);
                    }
                }
                ChartItem::State(item) => self.state_item(item),
            }
        }
    }

    fn variable(&mut self, variable: &'s Variable) {
        let role = match variable.kind {
            VariableKind::Param => Role::Param,
            VariableKind::Input => Role::Input,
            VariableKind::Var { .. } => Role::Variable,
        };
        self.names(&variable.renamed, role, Mode::Former);
        self.declare(&variable.name, role);
        self.ty(&variable.ty);
        self.ends(variable.range.as_ref());
        self.exprs(&variable.default);
    }

    fn claim(&mut self, claim: &'s Claim) {
        match claim {
            Claim::Property(name, arguments) => {
                self.used([name], Role::Property);
                for argument in arguments {
                    self.argument(argument);
                }
            }
            Claim::Before(a, b) => self.subjects([a, b]),
            Claim::AtMost(of, most) => {
                self.subjects([of]);
                self.expr(most);
            }
        }
    }

    fn subjects(&mut self, subjects: impl IntoIterator<Item = &'s CheckSubject>) {
        for CheckSubject { kind, name } in subjects {
            let role = match kind {
                None => Role::CheckSubject,
                Some(SubjectKind::State) => Role::State,
                Some(SubjectKind::Effect) => Role::Function,
                Some(SubjectKind::Tool) => Role::Tool,
                Some(SubjectKind::Step) => Role::Step,
                Some(SubjectKind::Option) => Role::Option,
                Some(SubjectKind::Event) => Role::Event,
            };
            self.paths([name], role);
        }
    }

    fn argument(&mut self, argument: &'s Argument) {
        match argument {
            Argument::State(path) => self.paths([path], Role::State),
            Argument::Unless(a, b) | Argument::Before(a, b) => self.subjects([a, b]),
            Argument::Bound(bound) => {
                self.expr(&bound.expr);
                self.used([&bound.unit], Role::Unit);
            }
        }
    }
}

// States, transitions, steps.

impl<'s> Walk<'_, 's> {
    fn state_item(&mut self, item: &'s StateItem) {
        match item {
            StateItem::Initial(initial) => {
                self.paths(&initial.targets, Role::State);
                self.block(initial.actions.as_ref());
            }
            StateItem::State(state) => self.state(state),
            StateItem::History(history) => {
                self.declare(&history.name, Role::State);
                self.names(&history.renamed, Role::State, Mode::Former);
                self.paths(&history.default, Role::State);
                self.block(history.actions.as_ref());
            }
            StateItem::Line(line) => self.line(line),
            StateItem::From(from) => {
                self.paths(from.states.iter().chain(&from.except), Role::State);
                from.lines.iter().for_each(|line| self.line(&line.node));
            }
            StateItem::Enter(block) | StateItem::Exit(block) => self.block(Some(block)),
            StateItem::Defer(events) => events.iter().for_each(|event| self.pattern(event)),
            StateItem::Step(step) => self.step(step),
            StateItem::Allow(allow) => {
                self.paths(allow.from.iter().chain([&allow.to]), Role::State);
                self.exprs(&allow.guard);
            }
            StateItem::Advice(text) => self.template(text),
            StateItem::Limits(limits) => limits.iter().for_each(|limit| self.limit(&limit.node)),
            StateItem::Bad(_) => {}
        }
    }

    fn limit(&mut self, limit: &'s Limit) {
        self.used([&limit.what], Role::Setting);
        self.expr(&limit.bound);
        self.exprs(&limit.warn);
    }

    fn state(&mut self, state: &'s State) {
        self.declare(&state.name, Role::State);
        self.names(&state.renamed, Role::State, Mode::Former);
        if let StateKind::Final(params, values, status) = &state.kind {
            self.params(params, Role::Parameter);
            self.exprs(values.iter().flatten());
            self.used(status, Role::Word);
        }
        for item in state.body.iter().flat_map(|body| &body.items) {
            self.state_item(&item.node);
        }
    }

    fn line(&mut self, line: &'s Line) {
        (self.see)(Node::Line(line));
        self.scope(|walk| {
            match &line.kind {
                LineKind::On(pattern) => walk.pattern(pattern),
                LineKind::When(guard) => walk.expr(guard),
                LineKind::After { deadline, .. } => {
                    let (Deadline::Time(bound) | Deadline::Turns(bound)) = deadline;
                    walk.expr(bound);
                }
                LineKind::May(may) => {
                    may.text.iter().for_each(|text| walk.template(text));
                    match &may.kind {
                        MayKind::Option(name, params) => {
                            walk.declare(name, Role::Option);
                            walk.params(params, Role::OptionField);
                        }
                        MayKind::Call(set, into) => {
                            walk.tool_sum(set);
                            walk.names(into, Role::Variable, Mode::Set);
                        }
                    }
                }
            }
            walk.tail(&line.tail);
        });
    }

    fn pattern(&mut self, pattern: &'s EventPattern) {
        match pattern {
            EventPattern::Any(_) | EventPattern::Everything(_) | EventPattern::Turn(_) => {}
            EventPattern::Event(path, names) => {
                self.paths([path], Role::Event);
                self.names(names, Role::Local, Mode::Declared);
            }
            EventPattern::Done(done) | EventPattern::Error(done) | EventPattern::Doubt(done) => {
                let Done { subject, binding } = done;
                self.paths([subject], Role::StepOrState);
                self.names(binding, Role::Local, Mode::Declared);
            }
            EventPattern::Machine(name) => self.used([name], Role::MachineEvent),
        }
    }

    fn tail(&mut self, tail: &'s Tail) {
        self.exprs(&tail.guard);
        tail.targets.iter().for_each(|target| self.target(target));
        self.block(tail.actions.as_ref());
    }

    fn target(&mut self, target: &'s Target) {
        (self.see)(Node::Target(target));
        self.paths([&target.path], Role::State);
        self.exprs(&target.arguments);
    }

    fn policy(&mut self, policy: &'s Policy) {
        policy.retry.iter().for_each(|retry| self.used(&retry.on, Role::Word));
        if let Some(FailWord::Take(target)) = &policy.then {
            self.target(target);
        }
    }

    fn step(&mut self, step: &'s Step) {
        (self.see)(Node::Step(step));
        self.scope(|walk| {
            walk.declare(&step.name, Role::Step);
            walk.names(&step.renamed, Role::Step, Mode::Former);
            step.on.iter().for_each(|on| walk.pattern(on));
            if let Some(each) = &step.each {
                walk.expr(&each.list);
                walk.declare(&each.name, Role::Local);
            }
            walk.used(&step.client, Role::Client);
            walk.work(&step.kind);
            walk.exprs(&step.guard);
            step.items.iter().for_each(|item| walk.step_item(item));
            step.then.iter().for_each(|tail| walk.tail(tail));
        });
    }

    fn work(&mut self, kind: &'s StepKind) {
        match kind {
            StepKind::Llm => {}
            StepKind::Code(actions) => self.actions(actions),
            StepKind::Ask(ask) => {
                if let Some(AskElse::Take(target)) = &ask.otherwise {
                    self.target(target);
                }
            }
            StepKind::Call(tool, arguments) => {
                self.paths([tool], Role::Tool);
                self.exprs(arguments);
            }
            StepKind::Human(question) => self.template(question),
            StepKind::Run(run) => {
                self.used([&run.chart], Role::Chart);
                for given in &run.arguments {
                    self.used(&given.name, Role::Parameter);
                    self.expr(&given.value);
                }
            }
        }
    }

    fn step_item(&mut self, item: &'s Noted<StepItem>) {
        (self.see)(Node::StepItem(item));
        match &item.node {
            StepItem::Prompt(text) => self.template(text),
            StepItem::Tools(set, _) => self.tool_sum(set),
            StepItem::Tool(line) => {
                self.tool_sum(&line.tools);
                self.exprs(&line.guard);
                line.approval.iter().for_each(|text| self.template(text));
            }
            StepItem::Policy(policy) => self.policy(policy),
            StepItem::Returns(ty, range, into) => {
                self.ty(ty);
                self.ends(range.as_ref());
                self.names(into, Role::Variable, Mode::Set);
            }
            StepItem::Outcome(outcome) => {
                if let OutcomeKind::Timeout(bound) = &outcome.kind {
                    self.expr(bound);
                }
                self.tail(&outcome.tail);
            }
            StepItem::EndsTurn(guard) => self.exprs(guard),
            _ => {}
        }
    }
}

// Actions, texts, expressions.

impl<'s> Walk<'_, 's> {
    fn block(&mut self, block: Option<&'s Block>) {
        if let Some(block) = block {
            self.actions(&block.actions);
        }
    }

    fn actions(&mut self, actions: &'s [Noted<Action>]) {
        for noted in actions {
            (self.see)(Node::Action(noted));
            match &noted.node {
                Action::Assign(name, value) => {
                    self.names([name], Role::Value, Mode::Set);
                    self.expr(value);
                }
                Action::If(test, then, otherwise) => {
                    self.expr(test);
                    self.actions(then);
                    self.actions(otherwise);
                }
                Action::For(name, list, body) => {
                    self.expr(list);
                    self.scope(|walk| {
                        walk.declare(name, Role::Local);
                        walk.actions(body);
                    });
                }
                Action::Do(name, arguments) => {
                    self.used([name], Role::Function);
                    self.exprs(arguments);
                }
                Action::Raise(event, arguments) => {
                    self.paths([event], Role::Event);
                    self.exprs(arguments);
                }
                Action::Send { event, arguments, to, after, id } => {
                    self.paths([event], Role::Event);
                    self.exprs(arguments);
                    if let Some((step, index)) = to.as_deref() {
                        self.used([step], Role::Step);
                        self.exprs(index);
                    }
                    self.exprs(after);
                    self.used(id, Role::SendId);
                }
                Action::Cancel(id) => self.used([id], Role::SendId),
                Action::Log(text) => self.template(text),
            }
        }
    }

    fn template(&mut self, template: &'s Template) {
        (self.see)(Node::Template(template));
        for part in &template.parts {
            if let TemplatePart::Hole(hole) = part {
                self.expr(&hole.expr);
            }
        }
    }

    fn exprs(&mut self, all: impl IntoIterator<Item = &'s Expr>) {
        all.into_iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &'s Expr) {
        (self.see)(Node::Expr(expr));
        match &expr.kind {
            ExprKind::None
            | ExprKind::Bad
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::GroupedInt(_)
            | ExprKind::Float(_)
            | ExprKind::Duration(_)
            | ExprKind::Name(_) => {}
            ExprKind::Text(template) => self.template(template),
            ExprKind::Field(base, _) | ExprKind::Unary(_, base) | ExprKind::Flattened(base) => {
                self.expr(base);
            }
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Default(a, b) => {
                self.exprs([&**a, b]);
            }
            ExprKind::Slice(base, from, to) => {
                self.expr(base);
                self.exprs(from.iter().chain(to).map(AsRef::as_ref));
            }
            ExprKind::Call(_, all) | ExprKind::List(all) => self.exprs(all),
            ExprKind::Compare(first, rest) => {
                self.expr(first);
                self.exprs(rest.iter().map(|(_, operand)| operand));
            }
            ExprKind::If(a, b, c) => self.exprs([&**a, b, c]),
            ExprKind::Map(entries) => {
                self.exprs(entries.iter().flat_map(|entry| [&entry.key, &entry.value]));
            }
            ExprKind::Record(_, fields) => self.exprs(fields.iter().map(|(_, value)| value)),
            ExprKind::Comprehension { item, name, source, filter } => {
                self.expr(source);
                self.scope(|walk| {
                    walk.declare(name, Role::Local);
                    walk.expr(item);
                    walk.exprs(filter.as_deref());
                });
            }
        }
    }
}

// Tests.

impl<'s> Walk<'_, 's> {
    fn scenario(&mut self, scenario: &'s Scenario) {
        self.declare(&scenario.name, Role::Test);
        self.used([&scenario.chart], Role::Chart);
        for noted in &scenario.items {
            (self.see)(Node::TestItem(noted));
            self.test_item(&noted.node);
        }
    }

    fn test_item(&mut self, item: &'s TestItem) {
        match item {
            TestItem::Given(name, value) | TestItem::Set(name, value) => {
                self.names([name], Role::Value, Mode::Set);
                self.expr(value);
            }
            TestItem::GivenFunction(given) => {
                self.used([&given.name], Role::Function);
                self.exprs(given.arguments.iter().flatten());
                self.exprs(&given.result);
            }
            TestItem::At(states) => self.paths(states, Role::State),
            TestItem::Send(event, arguments) => {
                self.paths([event], Role::Event);
                self.exprs(arguments);
            }
            TestItem::Wait(time) => self.expr(time),
            TestItem::Answers(asked, answer) => {
                self.asked(asked);
                match answer {
                    TestAnswer::Option(path, arguments) => {
                        self.paths([path], Role::ToolOrOption);
                        self.exprs(arguments);
                    }
                    TestAnswer::Value(value) => self.expr(value),
                    TestAnswer::Text(_) => {}
                }
            }
            TestItem::Until(asked) => self.asked(asked),
            TestItem::Fails(asked, why) => {
                self.asked(asked);
                self.failure(why);
            }
            TestItem::Returns(tool, value) => {
                self.paths([tool], Role::Tool);
                self.expr(value);
            }
            TestItem::ToolFails(tool, why) => {
                self.paths([tool], Role::Tool);
                self.failure(why);
            }
            TestItem::Expect(expected) => self.assertion(&expected.what),
            TestItem::Turn(_) | TestItem::Bad(_) => {}
        }
    }

    fn asked(&mut self, asked: &'s StepRef) {
        self.used(asked.path.iter().chain([&asked.step]), Role::Step);
    }

    fn failure(&mut self, why: &'s FailureReason) {
        if let FailureReason::Kind(kind) = why {
            self.used([kind], Role::Word);
        }
    }

    fn assertion(&mut self, told: &'s Assertion) {
        match told {
            Assertion::Holds(condition) => self.expr(condition),
            Assertion::At(states) => self.paths(states, Role::State),
            Assertion::Ended(status) => self.used(status, Role::Word),
            Assertion::Offered(names, _) => self.paths(names, Role::ToolOrOption),
            Assertion::Denied(state) => self.paths(state, Role::State),
            Assertion::Called(path, arguments) => {
                self.paths([path], Role::ToolOrFunction);
                self.exprs(arguments.iter().flatten());
            }
            Assertion::Asked(step) | Assertion::Prompt(step, _) => self.used([step], Role::Step),
            Assertion::Asking(asked) => self.asked(asked),
            Assertion::Text(name, _) => self.used([name], Role::Value),
        }
    }
}
