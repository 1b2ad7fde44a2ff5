//! Charts and texts that are meant to hurt, in the compiler and the interpreter.

mod budgets;
mod mutations;
