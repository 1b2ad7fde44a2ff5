//! Draws a chart as a Mermaid `stateDiagram-v2`, which repository pages and wikis render.
//!
//! The picture shows what `emit::dot` shows, as far as Mermaid's grammar permits. Edges have no colours, so the words and signs of a label
//! give the kind of the transition, and options of the model start at a diamond. A history is a small state called `H` or `H*`. A comment
//! lists what cannot be drawn and what was shortened. For example:
//!
//! ```text
//! state a {                                state "a" as a
//!   ask m on turn else stay { … }          a : ask m on turn else stay
//!   may buy "to pay" -> b                  state may1 <<choice>>
//!   on stop -> c                           a --> may1 : ask m
//! }                                        may1 --> b : may buy<br/>“to pay”
//!                                          a --> c : stop
//! ```

mod edge;
mod names;
mod node;
mod text;

use super::picture::arrow::arrows;
use super::picture::place::Places;
use super::picture::rows::Rows;
use super::picture::text::paragraph;
use super::{Emitter, Options, OutputKind};
use chartc_check::lower::SourceMap;
use chartc_core::model::Chart;
use edge::Edges;
use node::Sketch;
use text::{comment, escaped};

/// The emitter of `chartc graph --format mermaid`.
pub const EMITTER: Emitter = Emitter {
    name: "mermaid",
    extension: "mmd",
    kind: OutputKind::Picture,
    emit: |checked, options| Ok(mermaid(checked.chart(), checked.map(), options)),
};

/// The number of characters beyond which Mermaid draws nothing with its default `maxTextSize`.
const LARGEST: usize = 50_000;

/// Draws the chart as Mermaid.
pub fn mermaid(chart: &Chart, map: &SourceMap, options: &Options) -> String {
    let places = Places::new(chart, map);
    let rows = Rows::new(&places);
    let names = names::names(chart);
    let (arrows, permits) = arrows(&places);
    let edges = Edges::new(&places, &names, &arrows, options);
    let sketch = Sketch { places: &places, rows: &rows, names: &names, edges: &edges, options };
    let mut body = String::new();
    sketch.states(&mut body);
    edges.write(&mut body);
    for permit in permits {
        body.push_str("  ");
        body.push_str(&comment(&edge::permitted(&places, &permit)));
    }
    sketch.classes(&mut body);
    let mut out = head(chart);
    let size = out.chars().count() + body.chars().count();
    if size > LARGEST {
        out.push_str("  ");
        out.push_str(&comment(&format!(
            "{size} characters: Mermaid draws {LARGEST} unless its `maxTextSize` says otherwise; `--format dot` has no such bound"
        )));
    }
    out + &body
}

/// Writes the title, the kind of diagram, and the chart's documentation as its description.
fn head(chart: &Chart) -> String {
    let title = serde_json::to_string(&chart.name).unwrap_or_default();
    let mut out = format!("---\ntitle: {title}\n---\nstateDiagram-v2\n");
    out.push_str(&format!("  accTitle: {}\n", escaped(&chart.name)));
    let doc = paragraph(&chart.doc);
    if !doc.trim().is_empty() {
        out.push_str(&format!("  accDescr: {}\n", escaped(&doc)));
    }
    out
}
