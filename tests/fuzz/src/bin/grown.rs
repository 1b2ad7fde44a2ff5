//! `cargo run --release --bin grown FILE`: the chart that the bytes of a file mean to `lower`, and behind its first byte to `check`.

fn main() {
    for path in std::env::args().skip(1) {
        match std::fs::read(&path) {
            Ok(data) => print!("{}", chartc_fuzz::grow(&data)),
            Err(fault) => eprintln!("{path}: {fault}"),
        }
    }
}
