//! Operators as charts write them: their words, and how tightly they bind. And the words that are no names.

use super::{BinaryOp, CompareOp};

/// Words that are names only in back-quotes.
pub const RESERVED: &[&str] = &[
    "and", "or", "not", "in", "if", "then", "else", "for", "none", "true", "false", "stay", "turn",
    "div",
];

/// How tightly an operator binds. An operand that binds less tightly than its place wants stands in parentheses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs, reason = "the words are the operators' names")]
pub enum Binding {
    If,
    Or,
    And,
    Not,
    Compare,
    /// `??`, to the right.
    Default,
    Sum,
    Product,
    /// Prefix `-`.
    Sign,
    /// To the right.
    Power,
    /// No operator: a name, a literal, a call, parentheses.
    Whole,
}

impl BinaryOp {
    /// All of them.
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

    /// As written in a chart, and how tightly it binds.
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

    /// As written in a chart.
    pub const fn word(self) -> &'static str {
        self.row().0
    }

    /// How tightly it binds.
    pub const fn binding(self) -> Binding {
        self.row().1
    }

    /// How tightly its operands have to bind, left and right.
    pub const fn operands(self) -> (Binding, Binding) {
        match self.binding() {
            Binding::Or => (Binding::Or, Binding::And),
            Binding::And => (Binding::And, Binding::Not),
            Binding::Sum => (Binding::Sum, Binding::Product),
            Binding::Product => (Binding::Product, Binding::Sign),
            Binding::If
            | Binding::Not
            | Binding::Compare
            | Binding::Default
            | Binding::Sign
            | Binding::Power
            | Binding::Whole => (Binding::Whole, Binding::Sign),
        }
    }
}

impl CompareOp {
    /// All of them.
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

    /// As written in a chart. Its operands bind as tightly as those of `??` at least.
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
