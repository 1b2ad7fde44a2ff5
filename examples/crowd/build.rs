//! Generates Rust from the chart.

fn main() {
    chartc::build::compile("../../charts/social.chart");
}
