//! Computes lenses: actions that an editor shows above declarations, to run tests and show pictures.

use chartc_check::compile::Compilation;
use chartc_core::visible;
use chartc_text::span::{FileId, Span};
use chartc_text::syntax::{Chart, File, Item, Scenario};

/// An action that is shown above a declaration.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lens {
    /// The span of the name of the test or the chart.
    pub span: Span,
    /// The title that is shown.
    pub title: String,
    /// The task of the editor.
    pub task: Task,
}

/// A task of the editor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Task {
    /// Run one test.
    RunTest {
        /// The file of the test.
        file: FileId,
        /// The name of the test.
        name: String,
    },
    /// Run every test of a chart.
    RunTests {
        /// The file of the chart.
        file: FileId,
        /// The name of the chart.
        chart: String,
    },
    /// Show a drawing of a chart.
    ShowPicture {
        /// The file of the chart.
        file: FileId,
        /// The name of the chart.
        chart: String,
    },
}

/// The lenses of a file, by position.
pub fn lenses(done: &Compilation, file: FileId) -> Vec<Lens> {
    let Some(syntax) = done.files.iter().find(|one| one.id == file) else { return Vec::new() };
    let mut found = Vec::new();
    for noted in &syntax.items {
        match &noted.node {
            Item::Chart(chart) => of_chart(done, file, chart, &mut found),
            Item::Scenario(scenario) => {
                let name = scenario.name.node.clone();
                let task = Task::RunTest { file, name };
                found.push(Lens { span: scenario.name.span, title: "Run test".into(), task });
            }
            _ => {}
        }
    }
    found
}

fn of_chart(done: &Compilation, file: FileId, chart: &Chart, found: &mut Vec<Lens>) {
    let (span, name) = (chart.name.span, &chart.name.node);
    let is_drawn = done.charts.iter().any(|one| one.map().name == span);
    if is_drawn {
        let task = Task::ShowPicture { file, chart: name.clone() };
        found.push(Lens { span, title: "Show picture".into(), task });
    }
    let count = tests(done, span).count();
    if count > 0 {
        let title = format!("Run all {count} tests of {}", visible::line(name));
        let title =
            if count == 1 { format!("Run the test of {}", visible::line(name)) } else { title };
        found.push(Lens { span, title, task: Task::RunTests { file, chart: name.clone() } });
    }
}

/// The tests of the chart that is declared at `chart`, in all files that were read.
fn tests(done: &Compilation, chart: Span) -> impl Iterator<Item = &Scenario> {
    let all = done.files.iter().flat_map(scenarios);
    all.filter(move |scenario| {
        let place = scenario.chart.span;
        let from = done.uses.partition_point(|one| one.at < place);
        let here = done.uses[from..].iter().take_while(|one| one.at == place);
        here.into_iter().any(|one| one.declared == chart)
    })
}

fn scenarios(file: &File) -> impl Iterator<Item = &Scenario> {
    file.items.iter().filter_map(|noted| match &noted.node {
        Item::Scenario(scenario) => Some(scenario),
        _ => None,
    })
}
