//! Charts that agents write: compiled from artifacts, invoked by method.

mod acting;
mod auction;
mod compiling;
mod hostile;
mod invoking;

use chartc::chart_compiler::Compiler;
use chartc_world::{Family, Finding, Form, Workshop};
use std::sync::Arc;

/// Artifacts by id.
type Shelf<'s> = &'s [(&'s str, &'s str)];

/// Compiles an artifact among others.
fn built(id: &str, form: Form, text: &str, others: Shelf<'_>) -> Result<Arc<Family>, Vec<Finding>> {
    let read = |id: &str| others.iter().find(|(one, _)| *one == id).map(|(_, t)| (*t).to_owned());
    Compiler.build(id, form, text, &read)
}

/// The findings of a text that is refused, as lines.
fn refused(id: &str, form: Form, text: &str, others: Shelf<'_>) -> Vec<String> {
    let found = built(id, form, text, others).expect_err("it is refused");
    found.iter().map(ToString::to_string).collect()
}

/// The family of a sound chart.
fn sound(text: &str) -> Arc<Family> {
    built("a", Form::Chart, text, &[]).unwrap_or_else(|found| panic!("{found:?}\n{text}"))
}
