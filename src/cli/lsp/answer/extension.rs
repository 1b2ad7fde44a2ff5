//! Answers chartc's own requests: pictures, and the tests of a file. `docs/editors.md` describes them.

use super::{Refusal, View};
use chartc_check::compile::Checked;
use chartc_core::arena::{StateId, TransitionId};
use chartc_emit::{Options, dot};
use chartc_text::span::Span;
use gen_lsp_types::{Position, Range, Uri};
use serde::{Deserialize, Serialize};

/// The parameters of `chartc/picture`.
#[derive(Deserialize)]
pub(super) struct PictureParams {
    #[serde(rename = "uri")]
    _uri: Uri,
    /// The name of the chart. By default it is the chart at the position, else the first of the file.
    chart: Option<String>,
    /// The position of the cursor. The state there is highlighted.
    position: Option<Position>,
    /// The paths of further states to highlight.
    #[serde(default)]
    highlight: Vec<String>,
}

/// The result of `chartc/picture`: a picture in the DOT language.
#[derive(Serialize)]
pub(super) struct Picture {
    chart: String,
    /// The names of all charts in the file.
    charts: Vec<String>,
    dot: String,
    states: Vec<Drawn>,
    edges: Vec<Arrow>,
    /// The id of the innermost state at the position.
    at: Option<String>,
    /// The id of the arrow whose transition is at the position.
    edge: Option<String>,
}

/// A state in the picture. Its node is called `s3`, or `cluster3` if it has children. The id of both is `s3`.
#[derive(Serialize)]
struct Drawn {
    id: String,
    path: String,
    range: Range,
}

/// A transition that an arrow shows. Transitions that look alike share an arrow, and one transition may have several arrows.
#[derive(Serialize)]
struct Arrow {
    id: String,
    range: Range,
}

/// Answers `chartc/picture`; `None` if the chart has errors.
pub(super) fn picture(view: &View<'_>, params: PictureParams) -> Result<Option<Picture>, Refusal> {
    let (done, file) = view.compiled()?;
    let encoding = view.client.encoding;
    let source = done.sources.get(file);
    let at = params.position.map(|place| encoding.offset(source, place));
    let is_own = |one: &&Checked| one.lowered().map.file == file;
    let own: Vec<&Checked> = done.charts.iter().filter(is_own).collect();
    let is_at = |one: &&&Checked| at.is_some_and(|at| innermost(one, at).is_some());
    let chosen = match &params.chart {
        Some(name) => own.iter().find(|one| one.chart().name == *name),
        None => own.iter().find(is_at).or(own.first()),
    };
    let Some(chosen) = chosen else { return Ok(None) };
    let chart = chosen.chart();
    let here = at.and_then(|at| innermost(chosen, at)).filter(|id| id.0 > 0);
    let named = params
        .highlight
        .iter()
        .filter_map(|path| chart.state_ids().find(|id| chart.state(*id).path == *path));
    let options = Options { highlight: named.chain(here).collect(), ..Options::default() };
    let (dot, arrows) = dot::with_ids(chart, chosen.map(), &options);
    let span = |line: TransitionId| chosen.map().transition(line).whole;
    let edge = at.and_then(|at| {
        let around = |span: Span| span.file == file && span.start <= at && at <= span.end;
        let there = arrows.iter().filter(|(_, line)| around(span(*line)));
        // Lines can nest, such as the outcomes of a step in its line: the shortest is meant.
        there.min_by_key(|(_, line)| span(*line).end - span(*line).start)
    });
    let edge = edge.map(|(id, _)| id.clone());
    let arrow = |(id, line): (String, TransitionId)| Arrow {
        id,
        range: encoding.range(&done.sources, span(line)),
    };
    let drawn = |id: StateId| Drawn {
        id: format!("s{}", id.0),
        path: chart.state(id).path.clone(),
        range: encoding.range(&done.sources, chosen.map().state(id).name),
    };
    Ok(Some(Picture {
        chart: chart.name.clone(),
        charts: own.iter().map(|one| one.chart().name.clone()).collect(),
        dot,
        states: chart.state_ids().skip(1).map(drawn).collect(),
        edges: arrows.into_iter().map(arrow).collect(),
        at: here.map(|id| format!("s{}", id.0)),
        edge,
    }))
}

/// The innermost state that contains the position. State 0 is the chart itself.
fn innermost(checked: &Checked, at: u32) -> Option<StateId> {
    let map = checked.map();
    let around = |id: &StateId| {
        let span = map.state(*id).whole;
        span.start <= at && at <= span.end
    };
    checked.chart().state_ids().filter(around).last()
}

/// The parameters of `chartc/tests` and `chartc/runTests`.
#[derive(Deserialize)]
pub(super) struct TestsParams {
    #[serde(rename = "uri")]
    _uri: Uri,
    /// The names of the tests to play; all if absent.
    names: Option<Vec<String>>,
}

/// A test of the file, in the result of `chartc/tests`.
#[derive(Serialize)]
pub(super) struct Listed {
    name: String,
    chart: String,
    range: Range,
}

/// The result of a test, in the result of `chartc/runTests`.
#[derive(Serialize)]
pub(super) struct Played {
    name: String,
    passed: bool,
    /// The reason why it failed.
    message: Option<String>,
    /// The range of what failed, if it is in this file.
    range: Option<Range>,
    milliseconds: u128,
}

/// Answers `chartc/tests` with all tests of the file, also those of charts with errors.
pub(super) fn tests(view: &View<'_>, _: TestsParams) -> Result<Vec<Listed>, Refusal> {
    let (done, file) = view.compiled()?;
    let encoding = view.client.encoding;
    let scenarios = done.files[file.0 as usize].items.iter().filter_map(|item| {
        let chartc_text::syntax::Item::Scenario(test) = &item.node else { return None };
        let range = encoding.range(&done.sources, item.span);
        Some(Listed { name: test.name.node.clone(), chart: test.chart.node.clone(), range })
    });
    Ok(scenarios.collect())
}

impl Played {
    /// Formats the result as a message, for an editor that has no list of tests.
    pub(super) fn told(&self) -> String {
        match &self.message {
            _ if self.passed => format!("passed: {}", self.name),
            Some(why) => format!("failed: {}\n{why}", self.name),
            None => format!("failed: {}", self.name),
        }
    }
}

/// Answers `chartc/runTests`: plays the tests that are asked for.
#[cfg(feature = "run")]
pub(super) fn run_tests(view: &View<'_>, params: TestsParams) -> Result<Vec<Played>, Refusal> {
    use crate::scenario;
    let (done, file) = view.compiled()?;
    let encoding = view.client.encoding;
    let is_asked = |name: &String| params.names.as_ref().is_none_or(|names| names.contains(name));
    let mut results = Vec::new();
    for (checked, test) in scenario::tests(done) {
        if test.span.file != file || !is_asked(&test.name) {
            continue;
        }
        let (played, took) = timed(|| scenario::play(checked, test, scenario::OF_A_TEST));
        let finding = scenario::finding(test, &played, &done.sources);
        results.push(Played {
            name: test.name.clone(),
            passed: played.failure.is_none(),
            message: finding.as_ref().map(|found| {
                let help = found.help.iter().map(|help| format!("\n{help}"));
                let text = std::iter::once(found.message.clone()).chain(help).collect::<String>();
                chartc_core::visible::text(&text).into_owned()
            }),
            range: finding
                .filter(|found| found.span.file == file)
                .map(|found| encoding.range(&done.sources, found.span)),
            milliseconds: took.as_millis(),
        });
    }
    // A test of a chart with errors cannot be played. Report it as failed, or the editor would wait for it.
    for item in &done.files[file.0 as usize].items {
        let chartc_text::syntax::Item::Scenario(test) = &item.node else { continue };
        let name = &test.name.node;
        if is_asked(name) && !results.iter().any(|one| one.name == *name) {
            results.push(Played {
                name: name.clone(),
                passed: false,
                message: Some(format!("`{}` or the test has errors", test.chart.node)),
                range: Some(encoding.range(&done.sources, test.name.span)),
                milliseconds: 0,
            });
        }
    }
    Ok(results)
}

#[cfg(feature = "run")]
#[allow(clippy::disallowed_methods, reason = "a test explorer shows how long tests took")]
fn timed<T>(act: impl FnOnce() -> T) -> (T, std::time::Duration) {
    let began = std::time::Instant::now();
    let made = act();
    (made, began.elapsed())
}

/// Without the feature `run` no tests are played.
#[cfg(not(feature = "run"))]
pub(super) fn run_tests(_: &View<'_>, _: TestsParams) -> Result<Vec<Played>, Refusal> {
    Err(Refusal::Impossible("this build of chartc plays no tests".to_owned()))
}
