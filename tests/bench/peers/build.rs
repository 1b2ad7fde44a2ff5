//! Generates code for the four machines, and writes the large table as each library wants it.
#![allow(
    clippy::disallowed_methods,
    reason = "a build script reads the environment and writes code"
)]

#[cfg(feature = "peers")]
#[path = "../src/dice.rs"]
mod dice;
#[cfg(feature = "peers")]
#[path = "../src/table.rs"]
mod table;
#[cfg(feature = "peers")]
#[path = "src/written.rs"]
mod written;

#[cfg(feature = "peers")]
fn main() {
    for chart in ["ring", "hierarchy", "parallel", "table"] {
        chartc::build::compile(&format!("../charts/{chart}.chart"));
    }
    let committed = std::fs::read_to_string("../charts/table.chart").unwrap_or_default();
    assert_eq!(
        committed,
        table::chart(),
        "`chartc-bench table` writes tests/bench/charts/table.chart"
    );
    let folder = std::env::var_os("OUT_DIR").expect("cargo names a folder");
    for (name, code) in written::files(&table::targets()) {
        let path = std::path::Path::new(&folder).join(name);
        std::fs::write(path, code).expect("the folder can be written to");
    }
    println!("cargo::rerun-if-changed=../src");
    println!("cargo::rerun-if-changed=src/written.rs");
    println!("cargo::rerun-if-changed=build.rs");
}

#[cfg(not(feature = "peers"))]
fn main() {}
