//! Marks names in lines and steps.

use super::TokenWalk;
use super::expr::declared;
use crate::editor::tokens::TokenKind;
use crate::editor::tokens::marks::Mark;
use chartc_text::span::{Ident, Span};
use chartc_text::syntax::{
    AskElse, Deadline, Done, EventPattern, FailWord, Line, LineKind, MayKind, OutcomeKind, Param,
    Policy, Step, StepItem, StepKind, Tail, Target,
};

impl TokenWalk<'_> {
    pub(super) fn line(&mut self, line: &Line) {
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
            Some(crate::editor::outline::SymbolKind::Step)
        );
        self.path(&done.subject, if step { TokenKind::Step } else { TokenKind::State });
        if let Some(binding) = &done.binding {
            self.sink.ident(binding, declared());
        }
        done.binding.iter().cloned().collect()
    }

    pub(super) fn tail(&mut self, tail: &Tail) {
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

    pub(super) fn policy(&mut self, policy: &Policy) {
        self.fail_word(policy.then.as_ref());
    }

    fn fail_word(&mut self, word: Option<&FailWord>) {
        match word {
            Some(FailWord::Take(target)) => self.target(target),
            Some(FailWord::Fail | FailWord::Skip) | None => {}
        }
    }

    pub(super) fn step(&mut self, step: &Step) {
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
