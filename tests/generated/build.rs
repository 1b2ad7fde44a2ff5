//! Generates every chart of `charts/`.

fn main() {
    chartc::build::compile("../../charts/builder.chart");
}
