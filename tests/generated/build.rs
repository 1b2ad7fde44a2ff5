//! Generates code for every chart that the tests compare.

fn main() {
    chartc::build::compile("../../charts/builder.chart");
    for chart in ["flow", "lamp", "social", "words"] {
        chartc::build::compile(&format!("charts/{chart}.chart"));
    }
}
