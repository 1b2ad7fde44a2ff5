//! Charts of one name in several files.

use chartc::load::Memory;

/// What is said of `main.chart` beside these files: code, place, message.
fn found(main: &str, files: &[(&str, &str)]) -> Vec<String> {
    let mut memory = Memory::of("main.chart", main);
    for (name, text) in files {
        memory.0.insert((*name).to_owned(), (*text).to_owned());
    }
    let done = chartc::check(&["main.chart".to_owned()], &memory);
    let texts: Vec<&str> = done.sources.iter().map(|(_, source)| source.text.as_str()).collect();
    done.diagnostics
        .iter()
        .map(|d| {
            let text = texts[d.span.file.0 as usize];
            let place = &text[d.span.start as usize..d.span.end as usize];
            let related: Vec<&str> = (d.related.iter())
                .map(|(span, _)| done.sources.get(span.file).name.as_str())
                .collect();
            format!("{} {place}: {} ({})", d.rule.code, d.message, related.join(", "))
        })
        .collect()
}

const FETCH: &str =
    "chart Fetch { event e initial a state a { on e -> over after 1h -> over } final over }";

fn runs(name: &str, child: &str) -> String {
    format!(
        "chart {name} {{ event e initial a state a {{ run step {child}() at entry  on e -> a }} }}"
    )
}

#[test]
fn a_name_that_two_imported_files_have_means_neither() {
    let main = format!("import \"a.chart\" import \"b.chart\" {}", runs("Main", "Fetch"));
    let files = [("a.chart", FETCH), ("b.chart", FETCH)];
    assert_eq!(
        found(&main, &files),
        ["C0103 Fetch: two imported files have a chart `Fetch` (a.chart, b.chart)"]
    );
    // Only those that are run matter, and a chart of the file itself hides what is imported.
    let own = format!("{main} {FETCH}");
    assert_eq!(found(&own, &files), [""; 0]);
    assert_eq!(
        found(
            "import \"a.chart\" import \"b.chart\" chart Main { event e initial a state a { on e -> a } }",
            &files
        ),
        [""; 0]
    );
}

#[test]
fn two_charts_of_one_name_do_not_run_in_one_family() {
    let main = format!(
        "import \"a.chart\" {} {FETCH}",
        runs("Main", "Low").replace("on e", "run t Fetch() at entry on e")
    );
    let low = format!("{} {FETCH}", runs("Low", "Fetch"));
    assert_eq!(
        found(&main, &[("a.chart", &low)]),
        ["C0103 t: with this, the chart runs two charts named `Fetch` (a.chart, main.chart)"]
    );
    // The chart itself counts.
    let main = format!("import \"a.chart\" {}", runs("Main", "Low"));
    let low = format!("{} {}", runs("Low", "Main"), FETCH.replace("Fetch", "Main"));
    assert_eq!(
        found(&main, &[("a.chart", &low)]),
        ["C0103 step: with this, the chart runs two charts named `Main` (main.chart, a.chart)"]
    );
    let low = runs("Low", "Fetch") + FETCH;
    assert_eq!(found(&main, &[("a.chart", &low)]), [""; 0]);
}
