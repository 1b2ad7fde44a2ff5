//! The operators as they are written in charts, their precedence, and the reserved words.

use super::{BinaryOp, CompareOp};

/// The words that can be names only in back-quotes.
pub const RESERVED: &[&str] = &[
    "and", "or", "not", "in", "if", "then", "else", "for", "none", "true", "false", "stay", "turn",
    "div",
];

/// The precedence of an operator, loosest first. An operand that binds less tightly than its position requires needs parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the words are the operators' names")]
pub enum Binding {
    If,
    Or,
    And,
    Not,
    Compare,
    /// `??`, right-associative.
    Default,
    Sum,
    Product,
    /// Prefix `-`.
    Sign,
    /// `**`, right-associative.
    Power,
    /// No operator: a name, a literal, a call, parentheses.
    Whole,
}

impl BinaryOp {
    /// All infix operators but comparisons.
    pub const ALL: [Self; 9] = [
        Self::And,
        Self::Or,
        Self::Add,
        Self::Subtract,
        Self::Multiply,
        Self::Divide,
        Self::FloorDivide,
        Self::Modulo,
        Self::Power,
    ];

    /// The operator as written in a chart, and its precedence.
    const fn row(self) -> (&'static str, Binding) {
        match self {
            Self::Or => ("or", Binding::Or),
            Self::And => ("and", Binding::And),
            Self::Add => ("+", Binding::Sum),
            Self::Subtract => ("-", Binding::Sum),
            Self::Multiply => ("*", Binding::Product),
            Self::Divide => ("/", Binding::Product),
            Self::FloorDivide => ("div", Binding::Product),
            Self::Modulo => ("%", Binding::Product),
            Self::Power => ("**", Binding::Power),
        }
    }

    /// The operator as written in a chart.
    pub const fn word(self) -> &'static str {
        self.row().0
    }

    /// The precedence of the operator.
    pub const fn binding(self) -> Binding {
        self.row().1
    }

    /// The precedences that the left and right operands need to stand without parentheses.
    pub const fn operands(self) -> (Binding, Binding) {
        match self.binding() {
            Binding::Or => (Binding::Or, Binding::And),
            Binding::And => (Binding::And, Binding::Not),
            Binding::Sum => (Binding::Sum, Binding::Product),
            Binding::Product => (Binding::Product, Binding::Sign),
            _ => (Binding::Whole, Binding::Sign),
        }
    }
}

impl CompareOp {
    /// All comparison operators.
    pub const ALL: [Self; 8] = [
        Self::Equal,
        Self::NotEqual,
        Self::Less,
        Self::LessEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::In,
        Self::NotIn,
    ];

    /// The operator as written in a chart. Its operands bind at least as tightly as those of `??`.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::In => "in",
            Self::NotIn => "not in",
        }
    }
}
