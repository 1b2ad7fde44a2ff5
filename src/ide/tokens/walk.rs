//! Walks through the syntax of a file and marks its names.
//!
//! The kind of most names follows from their place: what stands behind `->` is a state. A name in an expression has to be looked up:
//! first among the names that are bound around it, then among the declarations of the chart, then of the file. In
//! `on reply(text) if text != last { }`:
//!
//! 1. `reply` is an event, because it is an event pattern.
//! 2. `text` is bound by the pattern: it is a parameter, and is remembered in `locals` up to the end of the line.
//! 3. In the guard, `text` is found in `locals`, and `last` among the variables of the chart.

use super::{Mark, Names, Sink, TokenKind, used};
use crate::ide::outline::SymbolKind;
use chartc_compiler::syntax::source::{Ident, Span};
use chartc_compiler::syntax::{
    Action, Argument, AskElse, Assertion, Block, Chart, ChartItem, Check, Client, Component,
    Deadline, Done, Entry, Enum, EventPattern, Expr, ExprKind, FailWord, FailureReason, Function,
    FunctionKind, Item, Limit, Line, LineKind, MayKind, Noted, OutcomeKind, Param, Path, Policy,
    Record, Scenario, State, StateItem, StateKind, Step, StepItem, StepKind, StepRef, Tail, Target,
    Template, TemplatePart, TestAnswer, TestItem, Tool, ToolPattern, ToolSet, TypeExpr, TypeKind,
    VariableKind,
};

/// The state of the walk.
pub(super) struct TokenWalk<'c> {
    pub(super) sink: Sink<'c>,
    names: Names,
    /// The names that the lines, steps and comprehensions around bind.
    locals: Vec<String>,
}

impl<'c> TokenWalk<'c> {
    pub(super) fn new(sink: Sink<'c>, names: Names) -> Self {
        Self { sink, names, locals: Vec::new() }
    }

    fn declare(&mut self, name: &Ident, kind: TokenKind) {
        self.sink.ident(name, Mark::declared(kind));
    }

    /// Marks each name of a path.
    fn path(&mut self, path: &Path, kind: TokenKind) {
        for name in &path.names {
            self.sink.ident(name, Mark::from_kind(kind));
        }
    }

    fn declare_path(&mut self, path: &Path, kind: TokenKind) {
        for name in &path.names {
            self.declare(name, kind);
        }
    }

    fn renamed(&mut self, names: &[Ident], kind: TokenKind) {
        for name in names {
            let mut mark = Mark::from_kind(kind);
            mark.modifiers.deprecated = true;
            self.sink.ident(name, mark);
        }
    }

    fn ty(&mut self, ty: &TypeExpr) {
        match &ty.kind {
            TypeKind::Name(name) => {
                let span = ty.span;
                let kind = match self.names.kind(name) {
                    Some(SymbolKind::Enum) => TokenKind::Enum,
                    _ => TokenKind::Type,
                };
                self.sink.name(name, span, Mark::from_kind(kind));
            }
            TypeKind::List(inner) => {
                self.head(ty, "List");
                self.ty(inner);
            }
            TypeKind::Map(key, value) => {
                self.head(ty, "Map");
                self.ty(key);
                self.ty(value);
            }
            TypeKind::Optional(inner) => self.ty(inner),
        }
    }

    /// Marks the word before the parentheses of a type.
    fn head(&mut self, ty: &TypeExpr, word: &str) {
        let mut span = ty.span;
        span.end = span.start + word.len() as u32;
        self.sink.name(word, span, Mark::from_kind(TokenKind::Type));
    }

    fn params(&mut self, params: &[Param], kind: TokenKind) {
        for param in params {
            self.declare(&param.name, kind);
            self.ty(&param.ty);
        }
    }

    /// Marks the names in an item outside of charts, except charts and tests.
    pub(super) fn outside(&mut self, item: &Item) {
        match item {
            Item::Record(one) => self.record(one),
            Item::Enum(one) => self.enumeration(one),
            Item::Function(one) => self.function(one),
            Item::Tool(one) => self.tool(one),
            Item::ToolSet(one) => self.tool_set(one),
            Item::Client(one) => self.client(one),
            Item::Component(one) => self.component(one),
            _ => {}
        }
    }

    fn record(&mut self, one: &Record) {
        self.declare(&one.name, TokenKind::Type);
        for noted in &one.fields {
            self.declare(&noted.node.name, TokenKind::Property);
            self.ty(&noted.node.ty);
        }
    }

    fn enumeration(&mut self, one: &Enum) {
        self.declare(&one.name, TokenKind::Enum);
        for noted in &one.names {
            self.declare(&noted.node, TokenKind::EnumMember);
        }
    }

    fn function(&mut self, one: &Function) {
        self.declare(&one.name, TokenKind::Function);
        self.params(&one.params, TokenKind::Parameter);
        match &one.kind {
            FunctionKind::Pure(result, _, otherwise) => {
                self.ty(result);
                if let Some(otherwise) = otherwise {
                    self.expr(otherwise);
                }
            }
            FunctionKind::Effect => {}
        }
    }

    fn tool(&mut self, one: &Tool) {
        self.declare_path(&one.name, TokenKind::Tool);
        self.params(&one.params, TokenKind::Parameter);
        self.ty(&one.result);
    }

    fn tool_set(&mut self, one: &ToolSet) {
        self.declare(&one.name, TokenKind::Tool);
        for pattern in one.plus.iter().chain(&one.minus) {
            match pattern {
                ToolPattern::Any(_) => {}
                ToolPattern::Name(path) | ToolPattern::Prefix(path) => {
                    self.path(path, TokenKind::Tool);
                }
            }
        }
    }

    fn client(&mut self, one: &Client) {
        self.declare(&one.name, TokenKind::Client);
        for noted in &one.options {
            self.sink.ident(&noted.node.name, Mark::from_kind(TokenKind::Property));
            // `fallback` has the name of a client. The other options have one of a few words.
            if let ExprKind::Name(name) = &noted.node.value.kind {
                let kind = if noted.node.name.node == "fallback" {
                    TokenKind::Client
                } else {
                    TokenKind::EnumMember
                };
                self.sink.name(name, noted.node.value.span, Mark::from_kind(kind));
            }
            self.server_options(&noted.node.value);
        }
    }

    /// Marks the names in `options { … }` of a client. The parser bounds the depth of nesting.
    fn server_options(&mut self, value: &Expr) {
        let ExprKind::Map(entries) = &value.kind else { return };
        for Entry { key, value } in entries {
            if let ExprKind::Text(name) = &key.kind
                && let [TemplatePart::Text(text, span)] = name.parts.as_slice()
            {
                self.sink.name(text, *span, Mark::from_kind(TokenKind::Property));
            }
            if let ExprKind::Name(name) = &value.kind {
                self.sink.name(name, value.span, Mark::from_kind(TokenKind::EnumMember));
            }
            self.server_options(value);
        }
    }

    fn component(&mut self, one: &Component) {
        self.declare(&one.name, TokenKind::Component);
        for insert in &one.inserts {
            self.sink.ident(&insert.step, Mark::from_kind(TokenKind::Step));
            if let Some(guard) = &insert.guard {
                self.expr(guard);
            }
        }
        self.template(&one.text);
    }

    pub(super) fn chart(&mut self, chart: &Chart) {
        self.names.enter(Some(chart));
        self.declare(&chart.name, TokenKind::Chart);
        for Noted { node, .. } in &chart.items {
            match node {
                ChartItem::Meta(entries) => {
                    for entry in entries {
                        self.sink.ident(&entry.key, Mark::from_kind(TokenKind::Property));
                    }
                }
                ChartItem::Variable(one) => {
                    let kind = match one.kind {
                        VariableKind::Param => SymbolKind::Param,
                        VariableKind::Input => SymbolKind::Input,
                        VariableKind::Var { .. } => SymbolKind::Variable,
                    };
                    let mut mark = used(kind);
                    self.renamed(&one.renamed, mark.kind);
                    mark.modifiers.declaration = true;
                    self.sink.ident(&one.name, mark);
                    self.ty(&one.ty);
                    for value in one.range.iter().flat_map(|(a, b)| [a, b]).chain(&one.default) {
                        self.expr(value);
                    }
                }
                ChartItem::Event(name, params) => {
                    self.declare_path(name, TokenKind::Event);
                    self.params(params, TokenKind::Parameter);
                }
                ChartItem::Function(one) => self.function(one),
                ChartItem::Tool(one) => self.tool(one),
                ChartItem::ToolSet(one) => self.tool_set(one),
                ChartItem::Predicate(one) => {
                    self.declare(&one.name, TokenKind::Function);
                    self.expr(&one.expr);
                }
                ChartItem::Client(one) => self.client(one),
                ChartItem::Component(one) => self.component(one),
                ChartItem::Defaults(policy) => self.policy(policy),
                ChartItem::Trace(_) => {}
                ChartItem::Check(check) => self.check(check),
                ChartItem::State(item) => self.state_item(item),
            }
        }
        self.names.enter(None);
    }

    fn check(&mut self, check: &Check) {
        self.sink.ident(&check.name, Mark::from_kind(TokenKind::Function));
        for argument in &check.arguments {
            match argument {
                Argument::State(path) => self.path(path, TokenKind::State),
                Argument::Before(a, b) => {
                    self.path(a, TokenKind::State);
                    self.path(b, TokenKind::State);
                }
                Argument::Bound(bound) => {
                    self.expr(&bound.expr);
                    self.sink.ident(&bound.unit, Mark::from_kind(TokenKind::Keyword));
                }
            }
        }
    }

    fn state_item(&mut self, item: &StateItem) {
        match item {
            StateItem::Initial(one) => {
                for target in &one.targets {
                    self.path(target, TokenKind::State);
                }
                self.block(one.actions.as_ref());
            }
            StateItem::State(state) => self.state(state),
            StateItem::History(one) => {
                self.declare(&one.name, TokenKind::State);
                self.renamed(&one.renamed, TokenKind::State);
                for target in &one.default {
                    self.path(target, TokenKind::State);
                }
                self.block(one.actions.as_ref());
            }
            StateItem::Line(line) => self.line(line),
            StateItem::From(from) => {
                for state in from.states.iter().chain(&from.except) {
                    self.path(state, TokenKind::State);
                }
                for line in &from.lines {
                    self.line(&line.node);
                }
            }
            StateItem::Enter(block) | StateItem::Exit(block) => self.block(Some(block)),
            StateItem::Step(step) => self.step(step),
            StateItem::Allow(allow) => {
                for state in allow.from.iter().chain([&allow.to]) {
                    self.path(state, TokenKind::State);
                }
                if let Some(guard) = &allow.guard {
                    self.expr(guard);
                }
            }
            StateItem::Advice(text) => self.template(text),
            StateItem::Limits(limits) => {
                for limit in limits {
                    self.limit(&limit.node);
                }
            }
            StateItem::Bad(_) => {}
        }
    }

    fn limit(&mut self, limit: &Limit) {
        self.sink.ident(&limit.what, Mark::from_kind(TokenKind::Property));
        self.expr(&limit.bound);
        if let Some(warn) = &limit.warn {
            self.expr(warn);
        }
    }

    fn state(&mut self, state: &State) {
        self.declare(&state.name, TokenKind::State);
        self.renamed(&state.renamed, TokenKind::State);
        match &state.kind {
            StateKind::State | StateKind::Parallel => {}
            StateKind::Final(params, values, status) => {
                self.params(params, TokenKind::Parameter);
                for value in values.iter().flatten() {
                    self.expr(value);
                }
                if let Some(status) = status {
                    self.sink.ident(status, Mark::from_kind(TokenKind::EnumMember));
                }
            }
        }
        for noted in state.body.iter().flat_map(|body| &body.items) {
            self.state_item(&noted.node);
        }
    }
}

// Marks names in expressions, texts and actions.

impl TokenWalk<'_> {
    fn exprs<'e>(&mut self, all: impl IntoIterator<Item = &'e Expr>) {
        for one in all {
            self.expr(one);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::None
            | ExprKind::Bad
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Duration(_) => {}
            ExprKind::Text(template) => self.template(template),
            ExprKind::Name(name) => {
                let local = self.locals.iter().any(|known| known == name);
                let mark = if local { bound() } else { self.names.value(name) };
                self.sink.name(name, expr.span, mark);
            }
            ExprKind::Field(base, field) => {
                self.expr(base);
                self.sink.ident(field, Mark::from_kind(self.field(base)));
            }
            ExprKind::Index(base, index) => self.exprs([base.as_ref(), index]),
            ExprKind::Slice(base, from, to) => {
                self.expr(base);
                self.exprs(from.iter().chain(to).map(AsRef::as_ref));
            }
            ExprKind::Call(name, arguments) => self.call(name, arguments),
            ExprKind::Unary(_, inner) => self.expr(inner),
            ExprKind::Binary(_, a, b) | ExprKind::Default(a, b) => self.exprs([a.as_ref(), b]),
            ExprKind::Compare(first, rest) => {
                self.expr(first);
                self.exprs(rest.iter().map(|(_, one)| one));
            }
            ExprKind::If(a, b, c) => self.exprs([a.as_ref(), b, c]),
            ExprKind::List(items) => self.exprs(items),
            ExprKind::Map(entries) => {
                self.exprs(entries.iter().flat_map(|entry| [&entry.key, &entry.value]));
            }
            ExprKind::Record(name, fields) => {
                self.sink.ident(name, Mark::from_kind(TokenKind::Type));
                for (field, value) in fields {
                    self.sink.ident(field, Mark::from_kind(TokenKind::Property));
                    self.expr(value);
                }
            }
            ExprKind::Comprehension { item, name, source, filter } => {
                self.expr(source);
                self.sink.ident(name, declared());
                self.within(std::slice::from_ref(name), |walk| {
                    walk.expr(item);
                    walk.exprs(filter.as_deref());
                });
            }
        }
    }

    fn call(&mut self, name: &Ident, arguments: &[Expr]) {
        let kind = self.names.kind(&name.node).map(used);
        self.sink.ident(name, kind.unwrap_or(Mark::from_kind(TokenKind::Function)));
        for argument in arguments {
            match name.node.as_str() {
                "in" | "turns_in" => self.dotted(argument, TokenKind::State),
                "streak" | "repeated" => self.dotted(argument, TokenKind::Tool),
                _ => self.expr(argument),
            }
        }
    }

    /// Marks a dotted name, which the parser reads as fields of a name.
    fn dotted(&mut self, expr: &Expr, kind: TokenKind) {
        if let ExprKind::Name(name) = &expr.kind {
            self.sink.name(name, expr.span, Mark::from_kind(kind));
        } else if let ExprKind::Field(base, field) = &expr.kind {
            self.dotted(base, kind);
            self.sink.ident(field, Mark::from_kind(kind));
        } else {
            self.expr(expr);
        }
    }

    fn field(&self, base: &Expr) -> TokenKind {
        if let ExprKind::Name(name) = &base.kind
            && !self.locals.contains(name)
            && self.names.kind(name) == Some(SymbolKind::Enum)
        {
            return TokenKind::EnumMember;
        }
        TokenKind::Property
    }

    fn template(&mut self, template: &Template) {
        for part in &template.parts {
            match part {
                TemplatePart::Hole(hole) => {
                    self.sink.hole(hole.span, hole.spec.span);
                    self.expr(&hole.expr);
                }
                TemplatePart::Text(..) | TemplatePart::Bad { .. } => {}
            }
        }
    }

    /// Calls `work` while `names` are bound.
    fn within(&mut self, names: &[Ident], work: impl FnOnce(&mut Self)) {
        let depth = self.locals.len();
        self.locals.extend(names.iter().map(|name| name.node.clone()));
        work(self);
        self.locals.truncate(depth);
    }

    fn block(&mut self, block: Option<&Block>) {
        if let Some(block) = block {
            self.actions(&block.actions);
        }
    }

    fn actions(&mut self, actions: &[Noted<Action>]) {
        for noted in actions {
            match &noted.node {
                Action::Assign(name, value) => {
                    let mark = self.names.value(&name.node);
                    self.sink.ident(name, mark);
                    self.expr(value);
                }
                Action::If(guard, then, otherwise) => {
                    self.expr(guard);
                    self.actions(then);
                    self.actions(otherwise);
                }
                Action::For(name, list, inner) => {
                    self.expr(list);
                    self.sink.ident(name, declared());
                    self.within(std::slice::from_ref(name), |walk| walk.actions(inner));
                }
                Action::Do(name, arguments) => {
                    self.sink.ident(name, Mark::from_kind(TokenKind::Function));
                    self.exprs(arguments);
                }
                Action::Raise(event, arguments) => {
                    self.path(event, TokenKind::Event);
                    self.exprs(arguments);
                }
                Action::Send { event, arguments, to, after, id } => {
                    self.path(event, TokenKind::Event);
                    self.exprs(arguments);
                    if let Some((step, index)) = to.as_deref() {
                        self.sink.ident(step, Mark::from_kind(TokenKind::Step));
                        self.exprs(index);
                    }
                    self.exprs(after);
                    if let Some(id) = id {
                        self.sink.ident(id, Mark::from_kind(TokenKind::Property));
                    }
                }
                Action::Cancel(id) => self.sink.ident(id, Mark::from_kind(TokenKind::Property)),
                Action::Log(text) => self.template(text),
            }
        }
    }
}

/// The mark of a name that a line, a step or a loop binds.
fn bound() -> Mark {
    Mark::from_kind(TokenKind::Parameter).readonly()
}

/// The mark of such a name where it is bound.
fn declared() -> Mark {
    Mark::declared(TokenKind::Parameter).readonly()
}

// Marks names in lines and steps.

impl TokenWalk<'_> {
    fn line(&mut self, line: &Line) {
        let names: Vec<Ident> = match &line.kind {
            LineKind::On(pattern) => self.pattern(pattern),
            LineKind::When(guard) => {
                self.expr(guard);
                Vec::new()
            }
            LineKind::After { deadline, .. } => {
                match deadline {
                    Deadline::Time(expr) | Deadline::Turns(expr) => self.expr(expr),
                }
                Vec::new()
            }
            LineKind::May(may) => {
                if let Some(text) = &may.text {
                    self.template(text);
                }
                match &may.kind {
                    MayKind::Option(name, params) => {
                        self.declare(name, TokenKind::Option);
                        self.params(params, TokenKind::Parameter);
                        params.iter().map(|param: &Param| param.name.clone()).collect()
                    }
                    MayKind::Call(set, into) => {
                        self.path(set, TokenKind::Tool);
                        if let Some(into) = into {
                            self.sink.ident(into, Mark::from_kind(TokenKind::Variable));
                        }
                        Vec::new()
                    }
                }
            }
        };
        self.within(&names, |walk| walk.tail(&line.tail));
    }

    /// Marks the names in an event pattern, and returns those that it binds.
    fn pattern(&mut self, pattern: &EventPattern) -> Vec<Ident> {
        match pattern {
            EventPattern::Any(_) | EventPattern::Everything(_) | EventPattern::Turn(_) => {
                Vec::new()
            }
            EventPattern::Event(path, names) => {
                self.path(path, TokenKind::Event);
                for name in names {
                    self.sink.ident(name, declared());
                }
                names.clone()
            }
            EventPattern::Done(done) | EventPattern::Error(done) | EventPattern::Doubt(done) => {
                self.done(done)
            }
            EventPattern::Machine(name) => {
                let mut start = name.span.start;
                for part in name.node.split('.') {
                    let end = start + part.len() as u32;
                    self.sink.name(
                        part,
                        Span { start, end, ..name.span },
                        Mark::from_kind(TokenKind::Event),
                    );
                    start = end + 1;
                }
                Vec::new()
            }
        }
    }

    fn done(&mut self, done: &Done) -> Vec<Ident> {
        let step = matches!(
            self.names.kind(&done.subject.text()),
            Some(super::super::outline::SymbolKind::Step)
        );
        self.path(&done.subject, if step { TokenKind::Step } else { TokenKind::State });
        if let Some(binding) = &done.binding {
            self.sink.ident(binding, declared());
        }
        done.binding.iter().cloned().collect()
    }

    fn tail(&mut self, tail: &Tail) {
        self.exprs(&tail.guard);
        for target in &tail.targets {
            self.target(target);
        }
        self.block(tail.actions.as_ref());
    }

    fn target(&mut self, target: &Target) {
        self.path(&target.path, TokenKind::State);
        self.exprs(&target.arguments);
    }

    fn policy(&mut self, policy: &Policy) {
        self.fail_word(policy.then.as_ref());
    }

    fn fail_word(&mut self, word: Option<&FailWord>) {
        match word {
            Some(FailWord::Take(target)) => self.target(target),
            Some(FailWord::Fail | FailWord::Skip) | None => {}
        }
    }

    fn step(&mut self, step: &Step) {
        self.declare(&step.name, TokenKind::Step);
        self.renamed(&step.renamed, TokenKind::Step);
        let names: Vec<Ident> = step.each.iter().map(|each| each.name.clone()).collect();
        if let Some(each) = &step.each {
            self.sink.ident(&each.name, declared());
            self.expr(&each.list);
        }
        if let Some(client) = &step.client {
            self.sink.ident(client, Mark::from_kind(TokenKind::Client));
        }
        self.within(&names, |walk| walk.work(step));
    }

    fn work(&mut self, step: &Step) {
        match &step.kind {
            StepKind::Llm => {}
            StepKind::Code(actions) => self.actions(actions),
            StepKind::Ask(ask) => {
                self.pattern(&ask.on);
                match &ask.otherwise {
                    Some(AskElse::Take(target)) => self.target(target),
                    Some(AskElse::Stay) | None => {}
                }
            }
            StepKind::Call(tool, arguments) => {
                self.path(tool, TokenKind::Tool);
                self.exprs(arguments);
            }
            StepKind::Human(question) => self.template(question),
            StepKind::Run(run) => {
                self.sink.ident(&run.chart, Mark::from_kind(TokenKind::Chart));
                for given in &run.arguments {
                    if let Some(name) = &given.name {
                        self.sink.ident(name, Mark::from_kind(TokenKind::Parameter));
                    }
                    self.expr(&given.value);
                }
            }
        }
        self.exprs(&step.guard);
        for noted in &step.items {
            self.step_item(&noted.node);
        }
        if let Some(then) = &step.then {
            self.tail(then);
        }
    }

    fn step_item(&mut self, item: &StepItem) {
        match item {
            StepItem::Prompt(text) => self.template(text),
            StepItem::Tools(set, _) => self.path(set, TokenKind::Tool),
            StepItem::Policy(policy) => self.policy(policy),
            StepItem::Returns(ty, into) => {
                self.ty(ty);
                if let Some(into) = into {
                    self.sink.ident(into, Mark::from_kind(TokenKind::Variable));
                }
            }
            StepItem::Outcome(outcome) => {
                match &outcome.kind {
                    OutcomeKind::Timeout(time) => self.expr(time),
                    OutcomeKind::Done | OutcomeKind::Error | OutcomeKind::Doubt => {}
                }
                self.tail(&outcome.tail);
            }
            StepItem::EndsTurn(guard) => self.exprs(guard),
            _ => {}
        }
    }
}

// Marks names in tests.

impl TokenWalk<'_> {
    /// Marks the names in a test. `chart` finds a chart by its name.
    pub(super) fn test<'c>(&mut self, test: &Scenario, chart: &dyn Fn(&str) -> Option<&'c Chart>) {
        self.sink.ident(&test.chart, Mark::from_kind(TokenKind::Chart));
        self.names.enter(chart(&test.chart.node));
        for noted in &test.items {
            self.test_item(&noted.node);
        }
        self.names.enter(None);
    }

    fn variable(&mut self, name: &Ident) {
        let mark = self.names.value(&name.node);
        self.sink.ident(name, mark);
    }

    fn test_item(&mut self, item: &TestItem) {
        match item {
            TestItem::Given(name, value) | TestItem::Set(name, value) => {
                self.variable(name);
                self.expr(value);
            }
            TestItem::GivenFunction(given) => {
                self.sink.ident(&given.name, Mark::from_kind(TokenKind::Function));
                self.exprs(given.arguments.iter().flatten());
                if let Ok(result) = &given.result {
                    self.expr(result);
                }
            }
            TestItem::At(states) => self.states(states),
            TestItem::Send(event, arguments) => {
                self.path(event, TokenKind::Event);
                self.exprs(arguments);
            }
            TestItem::Wait(time) => self.expr(time),
            TestItem::Answers(asked, said) => {
                self.asked(asked);
                match said {
                    TestAnswer::Option(path, arguments) => {
                        self.offered(path);
                        self.exprs(arguments);
                    }
                    TestAnswer::Value(value) => self.expr(value),
                    TestAnswer::Text(_) => {}
                }
            }
            TestItem::Fails(asked, why) => {
                self.asked(asked);
                self.why(why);
            }
            TestItem::Returns(tool, value) => {
                self.path(tool, TokenKind::Tool);
                self.expr(value);
            }
            TestItem::ToolFails(tool, why) => {
                self.path(tool, TokenKind::Tool);
                self.why(why);
            }
            TestItem::Expect(expectation) => self.told(&expectation.what),
            TestItem::Turn(_) | TestItem::Bad(_) => {}
        }
    }

    fn states(&mut self, states: &[Path]) {
        for state in states {
            self.path(state, TokenKind::State);
        }
    }

    fn asked(&mut self, asked: &StepRef) {
        for name in asked.path.iter().chain([&asked.step]) {
            self.sink.ident(name, Mark::from_kind(TokenKind::Step));
        }
    }

    fn why(&mut self, why: &FailureReason) {
        match why {
            FailureReason::Kind(kind) => {
                self.sink.ident(kind, Mark::from_kind(TokenKind::EnumMember));
            }
            FailureReason::Text(_) => {}
        }
    }

    /// Marks an option or a tool.
    fn offered(&mut self, path: &Path) {
        let kind = match self.names.kind(&path.text()) {
            Some(SymbolKind::Tool | SymbolKind::ToolSet) => TokenKind::Tool,
            _ => TokenKind::Option,
        };
        self.path(path, kind);
    }

    fn told(&mut self, told: &Assertion) {
        match told {
            Assertion::Holds(condition) => self.expr(condition),
            Assertion::At(states) => self.states(states),
            Assertion::Ended(status) => {
                if let Some(status) = status {
                    self.sink.ident(status, Mark::from_kind(TokenKind::EnumMember));
                }
            }
            Assertion::Offered(names, _) => {
                for name in names {
                    self.offered(name);
                }
            }
            Assertion::Denied(state) => self.states(state.as_slice()),
            Assertion::Called(path, arguments) => {
                let kind = match self.names.kind(&path.text()) {
                    Some(SymbolKind::Tool) => TokenKind::Tool,
                    _ => TokenKind::Function,
                };
                self.path(path, kind);
                self.exprs(arguments.iter().flatten());
            }
            Assertion::Asked(step) | Assertion::Prompt(step, _) => {
                self.sink.ident(step, Mark::from_kind(TokenKind::Step));
            }
            Assertion::Text(name, _) => self.variable(name),
        }
    }
}
