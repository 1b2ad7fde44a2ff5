//! What can be done with declarations.

use crate::hover::{compiled, first, shipped};
use chartc::Compilation;
use chartc::ide::actions::{Task, lenses};

fn shown(done: &Compilation) -> String {
    let source = done.sources.get(first(done));
    let one = |lens: chartc::ide::actions::Lens| {
        let line = source.line_of(lens.span.start);
        format!("{line}: {} [{:?}]", lens.title, lens.task)
    };
    lenses(done, first(done)).into_iter().map(one).collect::<Vec<_>>().join("\n")
}

#[test]
fn lenses_of_a_chart_with_tests() {
    let text = "chart A {\n  event go\n  initial a\n  state a { on go -> b }\n  final b\n}
test \"it goes\" for A { send go  expect ended ok }
test \"it stays\" for A { expect at a }
test \"of nothing\" for B { expect at a }
";
    insta::assert_snapshot!(shown(&compiled("a.chart", text)));
}

#[test]
fn lenses_of_tests_and_agents() {
    let all = ["charts/support.test.chart", "charts/support.chart", "charts/builder.agent.yaml"];
    let all = all.map(|path| format!("{path}\n{}\n", shown(&shipped(path))));
    insta::assert_snapshot!(all.join("\n"));
}

#[test]
fn a_chart_with_errors_has_no_picture() {
    let text = "chart A {\n  initial a\n  state a { on goo -> b }\n}\n";
    let found = lenses(&compiled("a.chart", text), chartc::span::FileId(0));
    assert!(!found.iter().any(|lens| matches!(lens.task, Task::ShowPicture { .. })));
}
