//! Generates code for every chart that the tests compare.

fn main() {
    for chart in [
        "bells",
        "blocks",
        "family",
        "flat",
        "flow",
        "lamp",
        "letters",
        "names",
        "nested",
        "posts",
        "regions",
        "searching",
        "social",
        "tools",
        "words",
    ] {
        chartc::build::compile(&format!("charts/{chart}.chart"));
    }
    for chart in ["hierarchy", "parallel", "ring", "table"] {
        chartc::build::compile(&format!("../../benches/charts/{chart}.chart"));
    }
    chartc::build::compile("charts/worker.agent.yaml");
    chartc::build::compile("../../charts/phases.chart");
    chartc::build::compile("../../charts/refunds.scxml");
    chartc::build::compile("../../charts/researcher.chart");
}
