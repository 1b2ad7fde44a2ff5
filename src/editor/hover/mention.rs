//! Names in the syntax, each with what it may stand for.

use crate::editor::visit::{self, Node};
use chartc_text::span::{Ident, Span};
use chartc_text::syntax::{
    Action, Argument, AskElse, Asked, ChartItem, Client, Component, EventPattern, Expr, ExprKind,
    File, Function, Item, Line, LineKind, MayKind, Path, Run, Said, StateItem, Step, StepItem,
    StepKind, Target, TestItem, Told, ToolPattern, ToolSet, TypeExpr, TypeKind,
};

/// What a name may stand for, by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::editor) enum Role {
    /// A state, by the path up to here.
    State,
    /// An event, or a dotted prefix of some.
    Event,
    /// What can be done: a step or a state.
    Doer,
    /// A step.
    Step,
    /// A variable that is set here.
    Set,
    /// Anything that an expression may read.
    Read,
    /// A field of a value, a value of an enum, or a part of a path.
    Field,
    /// A function.
    Function,
    /// A tool, or a set of them.
    Tools,
    /// A client.
    Client,
    /// A chart.
    Chart,
    /// A type.
    Type,
    /// An option of a question, or a tool.
    Option,
}

/// A name where it is used.
#[derive(Debug, Clone)]
pub(in crate::editor) struct Mention {
    /// Where.
    pub(in crate::editor) span: Span,
    /// What it may stand for.
    pub(in crate::editor) role: Role,
    /// The name; of a path all that is written up to here, with dots.
    pub(in crate::editor) text: String,
}

/// The names that a file uses, in no particular order.
pub(in crate::editor) fn all(file: &File) -> Vec<Mention> {
    let mut found = Mentions(Vec::new());
    visit::file(file, &mut |node| found.node(node));
    found.0
}

struct Mentions(Vec<Mention>);

impl Mentions {
    fn add(&mut self, role: Role, span: Span, text: &str) {
        self.0.push(Mention { span, role, text: text.to_owned() });
    }

    fn ident(&mut self, role: Role, name: &Ident) {
        self.add(role, name.span, &name.node);
    }

    /// A name that is used as a whole.
    fn path(&mut self, role: Role, path: &Path) {
        self.add(role, path.span, &path.text());
    }

    /// A path whose parts are names of their own.
    fn parts(&mut self, role: Role, path: &Path) {
        let mut text = String::new();
        for name in &path.names {
            if !text.is_empty() {
                text.push('.');
            }
            text.push_str(&name.node);
            self.add(role, name.span, &text);
        }
    }

    fn node(&mut self, node: Node<'_>) {
        match node {
            Node::Item(noted) => match &noted.node {
                Item::Scenario(scenario) => self.ident(Role::Chart, &scenario.chart),
                Item::ToolSet(set) => self.tool_set(set),
                Item::Client(client) => self.client(client),
                Item::Import(_)
                | Item::Record(_)
                | Item::Enum(_)
                | Item::Function(_)
                | Item::Tool(_)
                | Item::Component(_)
                | Item::Chart(_)
                | Item::Bad(_) => {}
            },
            Node::Chart(noted) => match &noted.node {
                ChartItem::ToolSet(set) => self.tool_set(set),
                ChartItem::Client(client) => self.client(client),
                ChartItem::Check(check) => {
                    for argument in &check.arguments {
                        match argument {
                            Argument::State(path) => self.parts(Role::State, path),
                            Argument::Before(first, then) => {
                                self.parts(Role::State, first);
                                self.parts(Role::State, then);
                            }
                            Argument::Bound(_) => {}
                        }
                    }
                }
                ChartItem::State(item) => self.state_item(item),
                ChartItem::Meta(_)
                | ChartItem::Variable(_)
                | ChartItem::Event(..)
                | ChartItem::Function(_)
                | ChartItem::Tool(_)
                | ChartItem::Predicate(_)
                | ChartItem::Component(_)
                | ChartItem::Defaults(_)
                | ChartItem::Trace(_) => {}
            },
            Node::State(noted) => self.state_item(&noted.node),
            Node::Line(line) => self.line(line),
            Node::Tail(_) | Node::Template(_) => {}
            Node::Target(target) => self.target(target),
            Node::Step(noted) => match &noted.node {
                StepItem::Tools(set, _) => self.path(Role::Tools, set),
                StepItem::Returns(_, Some(into)) => self.ident(Role::Set, into),
                StepItem::Returns(_, None)
                | StepItem::Prompt(_)
                | StepItem::Policy(_)
                | StepItem::Outcome(_)
                | StepItem::DoubtRetry
                | StepItem::EndsTurn(_)
                | StepItem::AtATime(_)
                | StepItem::UpTo(_)
                | StepItem::Enough(_)
                | StepItem::Lost(_)
                | StepItem::Bad(_) => {}
            },
            Node::Action(noted) => self.action(&noted.node),
            Node::Test(noted) => self.test(&noted.node),
            Node::Function(Function { .. }) => {}
            Node::Component(Component { inserts, .. }) => {
                inserts.iter().for_each(|insert| self.ident(Role::Step, &insert.step));
            }
            Node::Expr(expr) => self.expr(expr),
            Node::Type(TypeExpr { kind, span }) => {
                if let TypeKind::Name(name) = kind {
                    self.add(Role::Type, *span, name);
                }
            }
        }
    }

    fn tool_set(&mut self, set: &ToolSet) {
        for pattern in set.plus.iter().chain(&set.minus) {
            match pattern {
                ToolPattern::Name(path) => self.path(Role::Tools, path),
                ToolPattern::Any(_) | ToolPattern::Prefix(_) => {}
            }
        }
    }

    fn client(&mut self, client: &Client) {
        for option in client.options.iter().filter(|option| option.node.name.node == "fallback") {
            if let ExprKind::Name(name) = &option.node.value.kind {
                self.add(Role::Client, option.node.value.span, name);
            }
        }
    }

    fn state_item(&mut self, item: &StateItem) {
        match item {
            StateItem::Initial(initial) => {
                initial.targets.iter().for_each(|path| self.parts(Role::State, path));
            }
            StateItem::History(history) => {
                history.default.iter().for_each(|path| self.parts(Role::State, path));
            }
            StateItem::From(from) => {
                let all = from.states.iter().chain(&from.except);
                all.for_each(|path| self.parts(Role::State, path));
            }
            StateItem::Allow(allow) => {
                let all = allow.from.iter().chain([&allow.to]);
                all.for_each(|path| self.parts(Role::State, path));
            }
            StateItem::Step(step) => self.step(step),
            StateItem::State(_)
            | StateItem::Line(_)
            | StateItem::Enter(_)
            | StateItem::Exit(_)
            | StateItem::Advice(_)
            | StateItem::Limits(_)
            | StateItem::Bad(_) => {}
        }
    }

    fn step(&mut self, step: &Step) {
        step.client.iter().for_each(|client| self.ident(Role::Client, client));
        match &step.kind {
            StepKind::Llm | StepKind::Code(_) | StepKind::Human(_) => {}
            StepKind::Ask(ask) => {
                if let EventPattern::Event(path, _) = &ask.on {
                    self.path(Role::Event, path);
                }
                match &ask.otherwise {
                    Some(AskElse::Take(_) | AskElse::Stay) | None => {}
                }
            }
            StepKind::Call(tool, _) => self.path(Role::Tools, tool),
            StepKind::Run(Run { chart, .. }) => self.ident(Role::Chart, chart),
        }
    }

    fn line(&mut self, line: &Line) {
        match &line.kind {
            LineKind::On(pattern) => match pattern {
                EventPattern::Event(path, names) => {
                    self.path(Role::Event, path);
                    names.iter().for_each(|name| self.ident(Role::Read, name));
                }
                EventPattern::Done(done)
                | EventPattern::Error(done)
                | EventPattern::Doubt(done) => {
                    self.parts(Role::Doer, &done.subject);
                    done.binding.iter().for_each(|name| self.ident(Role::Read, name));
                }
                EventPattern::Any(_)
                | EventPattern::Everything(_)
                | EventPattern::Turn(_)
                | EventPattern::Machine(_) => {}
            },
            LineKind::May(may) => {
                if let MayKind::Call(set, into) = &may.kind {
                    self.path(Role::Tools, set);
                    into.iter().for_each(|name| self.ident(Role::Set, name));
                }
            }
            LineKind::When(_) | LineKind::After { .. } => {}
        }
    }

    fn target(&mut self, target: &Target) {
        self.parts(Role::State, &target.path);
    }

    fn action(&mut self, action: &Action) {
        match action {
            Action::Assign(name, _) => self.ident(Role::Set, name),
            Action::For(name, ..) => self.ident(Role::Read, name),
            Action::Do(name, _) => self.ident(Role::Function, name),
            Action::Raise(event, _) => self.path(Role::Event, event),
            Action::Send { event, to, .. } => {
                self.path(Role::Event, event);
                to.iter().for_each(|to| self.ident(Role::Step, &to.0));
            }
            Action::If(..) | Action::Cancel(_) | Action::Log(_) => {}
        }
    }

    fn test(&mut self, item: &TestItem) {
        match item {
            TestItem::Given(name, _) | TestItem::Set(name, _) => self.ident(Role::Set, name),
            TestItem::GivenFunction(given) => self.ident(Role::Function, &given.name),
            TestItem::At(paths) => paths.iter().for_each(|path| self.parts(Role::State, path)),
            TestItem::Send(event, _) => self.path(Role::Event, event),
            TestItem::Answers(asked, said) => {
                self.asked(asked);
                if let Said::Option(path, _) = said {
                    self.path(Role::Option, path);
                }
            }
            TestItem::Fails(asked, _) => self.asked(asked),
            TestItem::Returns(tool, _) | TestItem::ToolFails(tool, _) => {
                self.path(Role::Tools, tool);
            }
            TestItem::Expect(expected) => match &expected.what {
                Told::At(paths) => paths.iter().for_each(|path| self.parts(Role::State, path)),
                Told::Offered(names, _) => {
                    names.iter().for_each(|path| self.path(Role::Option, path));
                }
                Told::Denied(path) => path.iter().for_each(|path| self.parts(Role::State, path)),
                Told::Called(path, _) => {
                    self.path(Role::Tools, path);
                    self.path(Role::Function, path);
                }
                Told::Asked(step) | Told::Prompt(step, _) => self.ident(Role::Step, step),
                Told::Text(name, _) => self.ident(Role::Read, name),
                Told::Holds(_) | Told::Ended(_) => {}
            },
            TestItem::Turn(_) | TestItem::Wait(_) | TestItem::Bad(_) => {}
        }
    }

    /// A step of the chart itself; one of a child is not looked for.
    fn asked(&mut self, asked: &Asked) {
        let first = asked.path.first().unwrap_or(&asked.step);
        self.ident(Role::Step, first);
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Name(name) => self.add(Role::Read, expr.span, name),
            ExprKind::Field(base, field) => {
                if let Some(path) = dotted(base) {
                    self.add(Role::Field, field.span, &format!("{path}.{}", field.node));
                }
            }
            ExprKind::Call(name, _) => self.ident(Role::Function, name),
            ExprKind::Record(name, _) => self.ident(Role::Type, name),
            ExprKind::Comprehension { name, .. } => self.ident(Role::Read, name),
            ExprKind::None
            | ExprKind::Bad
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Text(_)
            | ExprKind::Duration(_)
            | ExprKind::Index(..)
            | ExprKind::Slice(..)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::If(..)
            | ExprKind::Default(..)
            | ExprKind::List(_)
            | ExprKind::Map(_) => {}
        }
    }
}

/// The path that an expression spells, if it is names with dots between.
fn dotted(expr: &Expr) -> Option<String> {
    let mut names = Vec::new();
    let mut expr = expr;
    while let ExprKind::Field(base, field) = &expr.kind {
        names.push(field.node.as_str());
        expr = base;
    }
    let ExprKind::Name(first) = &expr.kind else { return None };
    names.push(first);
    names.reverse();
    Some(names.join("."))
}
