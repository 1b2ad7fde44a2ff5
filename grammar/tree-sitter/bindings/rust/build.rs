//! Compiles the parser, which is C.

fn main() {
    let mut c = cc::Build::new();
    c.std("c11").include("src");
    for file in ["src/parser.c", "src/scanner.c"] {
        c.file(file);
        println!("cargo:rerun-if-changed={file}");
    }
    // Generated code has more parameters than it needs.
    c.flag_if_supported("-Wno-unused-parameter");
    c.compile("tree-sitter-chart");
}
