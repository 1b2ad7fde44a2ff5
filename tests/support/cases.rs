//! The charts of `.cases` files: a section is `-- situation`, the items of a chart, and what a test says of it, from `=>` on.

use crate::project::{files, read};

/// What every case declares before its own items.
pub const HEAD: &str = "event a  event b  event c  event d\n  input x: Bool = false  input y: Bool = false  \
                    input n: Int = 0\n  var m: Int = 0\n";

/// What stands above the chart.
const ABOVE: &[&str] = &["enum ", "type ", "tool ", "tools ", "client "];

/// The chart with these items, and below it the charts that are written on one line.
pub fn chart(items: &str) -> String {
    let (above, items): (Vec<&str>, Vec<&str>) =
        items.lines().partition(|l| ABOVE.iter().any(|w| l.starts_with(w)));
    let (below, items): (Vec<&str>, Vec<&str>) =
        items.into_iter().partition(|l| l.starts_with("chart "));
    let below = below.iter().map(|l| format!("{l}\n")).collect::<String>();
    format!("{}\nchart T {{\n  {HEAD}{}\n}}\n{below}", above.join("\n"), items.join("\n"))
}

/// The situations of a file, each with its items.
pub fn situations(cases: &str) -> impl Iterator<Item = (&str, String)> {
    cases.split("\n-- ").filter(|s| !s.trim().is_empty()).map(|section| {
        let (name, body) = section.split_once('\n').expect("items stand below the situation");
        let items = body.lines().take_while(|l| !l.starts_with("=>")).map(|l| format!("{l}\n"));
        (name, items.collect())
    })
}

/// The charts of all situations of the tests on findings, with a name for each.
pub fn charts() -> Vec<(String, String)> {
    let mut all = Vec::new();
    for path in files("tests/language/behaviour", ".cases") {
        for (n, (_, items)) in situations(&read(&path)).enumerate() {
            all.push((format!("{path}.{n}.chart"), chart(&items)));
        }
    }
    all
}
