//! Generates Rust from the chart.

fn main() {
    chartc::build::compile("lamp.chart");
}
