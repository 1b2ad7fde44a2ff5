//! Marks names in tests.

use super::TokenWalk;
use crate::editor::outline::SymbolKind;
use crate::editor::tokens::TokenKind;
use crate::editor::tokens::marks::Mark;
use chartc_text::span::Ident;
use chartc_text::syntax::{
    Assertion, Chart, FailureReason, Path, Scenario, StepRef, TestAnswer, TestItem,
};

impl TokenWalk<'_> {
    /// Marks the names in a test. `chart` finds a chart by its name.
    pub(in crate::editor::tokens) fn test<'c>(
        &mut self,
        test: &Scenario,
        chart: &dyn Fn(&str) -> Option<&'c Chart>,
    ) {
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
