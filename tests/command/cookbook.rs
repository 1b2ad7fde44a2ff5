//! The recipes of the cookbook: each has the same parts, and needs nothing that its page does not write. `tour` runs their commands.

use std::collections::BTreeSet;
use test_support::project::{files, read};

const INDEX: &str = "docs/cookbook/README.md";

/// The sections of each recipe, in this order; a page may have more between them.
const SECTIONS: [&str; 3] = ["## Run it", "## Done wrong", "## Watch for"];

/// A command of a page with what it prints, or the file that it writes with its text.
enum Shown {
    File { name: String, text: String },
    Command { line: String, output: String },
}

/// What the `console` blocks of a text show, in order.
fn shown(text: &str) -> Vec<Shown> {
    let mut all = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        if line != "```console" {
            continue;
        }
        while let Some(line) = lines.next_if(|line| *line != "```") {
            let command = line.strip_prefix("$ ").expect("output stands below its command");
            if let Some((name, end)) =
                command.strip_prefix("cat > ").and_then(|rest| rest.split_once(" <<"))
            {
                let end = end.trim_matches('\'');
                let text: Vec<&str> = lines.by_ref().take_while(|line| *line != end).collect();
                all.push(Shown::File { name: name.to_owned(), text: text.join("\n") + "\n" });
                continue;
            }
            let mut output = String::new();
            while let Some(line) = lines.next_if(|l| *l != "```" && !l.starts_with("$ ")) {
                output.push_str(line);
                output.push('\n');
            }
            all.push(Shown::Command { line: command.to_owned(), output });
        }
    }
    all
}

fn recipes() -> Vec<String> {
    let mut pages = files("docs/cookbook", ".md");
    pages.retain(|page| page != INDEX);
    assert!(pages.len() >= 12, "{} recipes", pages.len());
    pages
}

/// The words of a command that name files: not options, and not texts in quotes.
fn named(line: &str) -> impl Iterator<Item = &str> {
    line.split_whitespace().map(|word| word.trim_start_matches("script:")).filter(|word| {
        let ending = std::path::Path::new(word).extension().and_then(|end| end.to_str());
        !word.starts_with('-')
            && ending.is_some_and(|end| {
                ["chart", "scxml", "yaml", "toml", "jsonl", "txt", "db", "rs"].contains(&end)
            })
    })
}

#[test]
fn the_index_lists_every_recipe_once() {
    let index = read(INDEX);
    let listed: Vec<String> = index
        .lines()
        .filter_map(|line| line.strip_prefix("| [")?.split_once("](")?.1.split_once(')'))
        .map(|(page, _)| format!("docs/cookbook/{page}"))
        .collect();
    let unique: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(unique.len(), listed.len(), "twice in {listed:?}");
    assert_eq!(unique.into_iter().cloned().collect::<Vec<_>>(), recipes());
}

#[test]
fn recipes_have_a_problem_a_sound_chart_its_test_a_run_and_a_mistake() {
    for page in recipes() {
        let text = read(&page);
        let problem = text.lines().nth(2).unwrap_or_default();
        assert!(
            text.starts_with("# ") && !problem.is_empty(),
            "{page}: no problem below the title"
        );
        let places: Vec<Option<usize>> =
            SECTIONS.iter().map(|name| text.find(&format!("\n{name}\n"))).collect();
        // A page may hold several recipes, each with commands; then it has no section of its own for them.
        let [run, wrong, watch] = places[..] else { panic!("three sections") };
        let wrong = wrong.unwrap_or_else(|| panic!("{page} shows no mistake"));
        let watch = watch.unwrap_or_else(|| panic!("{page} does not say what to watch for"));
        assert!(wrong < watch && run.is_none_or(|run| run < wrong), "{page}: other order");

        let (good, bad) = text.split_at(wrong);
        let good = shown(good);
        let prints = |begin: &str, holds: &dyn Fn(&str) -> bool| {
            good.iter().any(|shown| {
                matches!(shown, Shown::Command { line, output } if line.starts_with(begin) && holds(output))
            })
        };
        assert!(
            prints("chartc check ", &|output| output.starts_with("no findings in ")),
            "{page}: no chart is checked and sound"
        );
        assert!(
            prints("chartc test", &|output| output.contains(" passed, 0 failed\n")),
            "{page}: no test is played"
        );
        assert!(
            good.iter().all(|shown| !matches!(shown, Shown::Command { line, output } if line.starts_with("chartc check") && output.contains("[C0"))),
            "{page}: a chart before the mistake has findings"
        );
        let is_found = shown(bad).iter().any(|shown| {
            matches!(shown, Shown::Command { line, output } if line.starts_with("chartc check") && output.contains("[C0"))
        });
        assert!(is_found, "{page}: the checker finds nothing in the mistake");
    }
}

#[test]
fn recipes_need_only_what_their_pages_write() {
    for page in recipes() {
        let mut there = BTreeSet::new();
        for shown in shown(&read(&page)) {
            match shown {
                Shown::File { name, .. } => {
                    there.insert(name);
                }
                Shown::Command { line, .. } => {
                    assert!(!line.contains("charts/"), "{page}: `{line}` needs more than the page");
                    let words: Vec<&str> = line.split_whitespace().collect();
                    for pair in words.windows(2) {
                        let writes =
                            ["-o", "--trace", "--log", "--store", "store", ">"].contains(&pair[0]);
                        if writes {
                            there.insert(pair[1].to_owned());
                        }
                    }
                    for file in named(&line) {
                        assert!(
                            there.contains(file),
                            "{page}: `{line}` reads {file}, which nothing wrote"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn the_lamp_of_the_cookbook_is_the_one_that_is_compiled() {
    let text = read("docs/cookbook/embedding.md");
    let charts: Vec<String> = shown(&text)
        .into_iter()
        .filter_map(|shown| match shown {
            Shown::File { name, text } if name == "lamp.chart" => Some(text),
            Shown::File { .. } | Shown::Command { .. } => None,
        })
        .collect();
    assert_eq!(charts, [read("examples/lamp/lamp.chart")]);
    for program in ["examples/lamp/src/lib.rs", "examples/lamp/src/main.rs"] {
        assert!(
            text.contains(&format!("```rust\n{}```", read(program))),
            "{program} is another one"
        );
    }
    let printed = text.split("```text\n").nth(1).and_then(|rest| rest.split("```").next());
    let printed = printed.expect("the page shows what the program prints");
    assert!(read("examples/lamp/tests/lamp.rs").contains(printed), "no test compares {printed}");
}
