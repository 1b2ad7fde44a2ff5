//! Generated code of small charts, and a comparison of it with the interpreter.

#![deny(warnings)]

mod answers;
pub mod compare;
mod log;
pub mod random;

use chartc::load::Loader;
use chartc_core::model::Chart;
use std::sync::Arc;

chartc_core::include_chart!(pub mod bells);
chartc_core::include_chart!(pub mod blocks);
chartc_core::include_chart!(pub mod doubt);
chartc_core::include_chart!(pub mod family);
chartc_core::include_chart!(pub mod flat);
chartc_core::include_chart!(pub mod flow);
chartc_core::include_chart!(pub mod grown);
chartc_core::include_chart!(pub mod hierarchy);
chartc_core::include_chart!(pub mod lamp);
chartc_core::include_chart!(pub mod letters);
chartc_core::include_chart!(pub mod loops);
chartc_core::include_chart!(pub mod many);
chartc_core::include_chart!(pub mod names);
chartc_core::include_chart!(pub mod nested);
chartc_core::include_chart!(pub mod nightlight);
chartc_core::include_chart!(pub mod parallel);
chartc_core::include_chart!(pub mod phases);
chartc_core::include_chart!(pub mod posts);
chartc_core::include_chart!(pub mod refunds);
chartc_core::include_chart!(pub mod regions);
chartc_core::include_chart!(pub mod researcher);
chartc_core::include_chart!(pub mod ring);
chartc_core::include_chart!(pub mod searching);
chartc_core::include_chart!(pub mod social);
chartc_core::include_chart!(pub mod table);
chartc_core::include_chart!(pub mod tools);
chartc_core::include_chart!(pub mod walks);
chartc_core::include_chart!(pub mod words);
chartc_core::include_chart!(pub mod worker);

/// Charts that are odd one way or another. Their code stands as a crate's own would, without a list of lints that it needs allowed: only
/// lints that nobody has unless they ask for them are left out here, because this crate asks for them.
#[allow(clippy::pedantic, reason = "what a crate asks for beyond the usual is its own choice")]
pub mod odd {
    include!(concat!(env!("OUT_DIR"), "/odd.rs"));
}

struct Text<'t>(&'t str);

impl Loader for Text<'_> {
    fn read(&self, _: &str) -> Result<String, String> {
        Ok(self.0.to_owned())
    }

    fn resolve(&self, _: &str, name: &str) -> String {
        name.to_owned()
    }
}

/// The model of the only chart in the text of a file.
///
/// # Panics
/// There is none, or it has errors.
pub fn model(file: &str, text: &str) -> Arc<Chart> {
    let checked = chartc::check(&[file.to_owned()], &Text(text));
    let shown = chartc::report::short(&checked.diagnostics, &checked.sources);
    let [chart] = checked.charts.as_slice() else { panic!("not one good chart:\n{shown}") };
    chart.chart().clone()
}
