//! Generates code for the charts of which there are many agents.

fn main() {
    chartc::build::compile("charts/tiny.chart");
    chartc::build::compile("charts/asking.chart");
    chartc::build::compile("charts/waiting.chart");
    chartc::build::compile("../../charts/social.chart");
}
