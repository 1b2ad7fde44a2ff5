//! From syntax to model: names and types resolved, every fault of them reported.

mod source_map;

pub use source_map::{LineSpans, SourceMap, StateSpans, StepSpans};

use crate::diagnostic::Diagnostic;
use crate::load::Loaded;
use crate::syntax;
use chartc_core::model::Chart;

/// One chart, resolved as far as it can be.
#[derive(Debug, Clone)]
pub struct Lowered {
    /// The model. Parts that could not be resolved are left out; expressions keep `ExprKind::Unknown`.
    pub chart: Chart,
    /// Where its parts stand.
    pub map: SourceMap,
}

/// Lowers every chart of every file that was asked for, in order.
pub fn lower(
    _files: &[syntax::File],
    _loaded: &Loaded,
    _diagnostics: &mut Vec<Diagnostic>,
) -> Vec<Lowered> {
    Vec::new()
}
