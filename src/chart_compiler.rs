//! Compiles the charts that agents write: a [`Workshop`] that reads artifacts and never opens a file.

use chartc_compiler::compile::{Checked, Compilation, check_within};
use chartc_compiler::front::load::Loader;
use chartc_compiler::front::{agent, is_named_as_chart};
use chartc_compiler::rules::{EMPTY_FILE, UNREADABLE_FILE};
use chartc_compiler::syntax::diagnostic::{Diagnostic, Severity};
use chartc_compiler::syntax::source::{FileId, Sources};
use chartc_core::model::Chart;
use chartc_world::{Family, Finding, Form, Read, Workshop};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The maximum number of findings that a writer gets. If there are more, one further finding gives the number of the others.
pub const MOST_FINDINGS: usize = 20;
/// The maximum size of one text, in bytes.
pub const MOST_BYTES: usize = 64 * 1024;
/// The maximum size of a text and everything that it imports, in bytes.
pub const MOST_BYTES_TOGETHER: usize = 4 * MOST_BYTES;
/// The maximum number of artifacts that are read to compile one, itself included.
pub const MOST_ARTIFACTS: usize = 32;

/// The number of states, transitions and steps that every chart may have. It may have one more for each [`BYTES_PER_LINE`] bytes of its
/// text. Without this bound a short text makes a large chart: one `each after` line is a transition of every leaf.
const LINES: usize = 200;
const BYTES_PER_LINE: usize = 8;
/// The code of the finding about a chart that has too many states, transitions and steps for the length of its text.
pub const TOO_LARGE: &str = "too_large";

/// Compiles the charts of artifacts.
///
/// An import or a component names another artifact by its id. No file is opened, and an agent has no system prompt but the one in its text.
/// Tests and `check` lines are parsed but not run, and nothing is explored. An artifact with any error is refused; warnings are dropped.
///
/// The chart that runs is the one named like the artifact (`price_oracle` and `PriceOracle` are the same name), else the first.
///
/// ```
/// use chartc::chart_compiler::Compiler;
/// use chartc_world::{Form, Workshop};
///
/// let text = "chart Door {\n  event open\n  initial closed\n  state closed { on opne -> opened }\n  final opened\n}\n";
/// let found = Compiler.build("door", Form::Chart, text, &|_| None).expect_err("a typo");
/// assert_eq!((found[0].code.as_str(), found[0].line, found[0].column), ("C0102", 4, 21));
/// ```
#[derive(Debug, Clone, Copy, Default)]
pub struct Compiler;

impl Workshop for Compiler {
    fn build(
        &self,
        id: &str,
        form: Form,
        text: &str,
        read: Read<'_>,
    ) -> Result<Arc<Family>, Vec<Finding>> {
        let loader = ArtifactLoader::new(id, form, text, read);
        let root = loader.root().to_owned();
        let done = check_within(std::slice::from_ref(&root), &loader, 0);
        let is_error = |found: &&Diagnostic| found.severity == Severity::Error;
        let told = Telling { done: &done, loader: &loader };
        let errors: Vec<&Diagnostic> = done.diagnostics.iter().filter(is_error).collect();
        if !errors.is_empty() {
            return Err(told.all(&errors));
        }
        match chosen(id, &done.charts) {
            Some(checked) => {
                let family = checked.family();
                let (lines, most) = (lines(&family), LINES + loader.bytes() / BYTES_PER_LINE);
                if lines > most {
                    let text = format!(
                        "it has {lines} states, lines and steps, and may have {most} for its length"
                    );
                    return Err(vec![Finding { code: TOO_LARGE.into(), line: 1, column: 1, text }]);
                }
                Ok(Arc::new(Family { plans: checked.plans() }))
            }
            None if done.diagnostics.is_empty() => Err(vec![Finding {
                code: EMPTY_FILE.code.into(),
                line: 1,
                column: 1,
                text: format!("there is no chart in `{id}`"),
            }]),
            None => Err(told.all(&done.diagnostics.iter().collect::<Vec<_>>())),
        }
    }
}

/// The number of states, transitions and steps of all charts.
fn lines(charts: &[&Chart]) -> usize {
    charts.iter().map(|one| one.states.len() + one.transitions.len() + one.steps.len()).sum()
}

/// Selects the chart that is named like the artifact, else the first. Case and punctuation do not matter.
fn chosen<'c>(id: &str, charts: &'c [Checked]) -> Option<&'c Checked> {
    let plain = |name: &str| -> String {
        name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
    };
    let id = plain(id);
    charts.iter().find(|checked| plain(&checked.chart().name) == id).or(charts.first())
}

/// Turns diagnostics into the findings that the writer gets.
struct Telling<'t> {
    done: &'t Compilation,
    loader: &'t ArtifactLoader<'t>,
}

impl Telling<'_> {
    fn all(&self, found: &[&Diagnostic]) -> Vec<Finding> {
        // Diagnostics are ordered by file and place: those of the writer's own text, file 0, come first.
        let mut all: Vec<Finding> =
            found.iter().take(MOST_FINDINGS).map(|one| self.one(one)).collect();
        if let Some(last) = all.last().cloned()
            && found.len() > MOST_FINDINGS
        {
            let text = format!("{} more findings are not told", found.len() - MOST_FINDINGS);
            all.push(Finding { text, ..last });
        }
        all
    }

    fn one(&self, found: &Diagnostic) -> Finding {
        let sources: &Sources = &self.done.sources;
        let source = sources.get(found.span.file);
        let place = source.position(found.span.start);
        let mut text = found.message.clone();
        // The help about an unreadable file speaks of folders, and artifacts have none.
        if let Some(help) = &found.help
            && found.rule.code != UNREADABLE_FILE.code
        {
            text = format!("{text}; {help}");
        }
        if found.span.file == FileId(0) {
            let (line, column) = (place.line, place.column);
            return Finding { code: found.rule.code.into(), line, column, text };
        }
        // The finding is in another artifact: report it at the import, which the writer can change.
        let other = self.loader.id_of(&source.name).unwrap_or_else(|| source.name.clone());
        let from = self.imports().get(&other).copied().unwrap_or(0);
        let at = sources.get(FileId(0)).position(from);
        let text = format!("in `{other}`, {}:{}: {text}", place.line, place.column);
        Finding { code: found.rule.code.into(), line: at.line, column: at.column, text }
    }

    /// The offset of each import in the writer's own text, by the id of the imported artifact.
    fn imports(&self) -> BTreeMap<String, u32> {
        let Some(file) = self.done.files.first() else { return BTreeMap::new() };
        file.imports().map(|path| (path.node.clone(), path.span.start)).collect()
    }
}

// A [`Loader`] whose files are artifacts.

/// The folder, below an agent's path, in which the front end finds the agent's components. No such folder exists.
const COMPONENTS: &str = "/_components";

/// Reads artifacts by id, as if they were files. The path of an artifact is its id with the extension of its form (`x.chart`,
/// `x.agent.yaml`), by which the front ends recognise it. The path of a component is `AGENT/_components/KIND/ID.yaml`.
struct ArtifactLoader<'r> {
    id: &'r str,
    text: &'r str,
    read: Read<'r>,
    root: String,
    /// Artifact ids, by path.
    ids: RefCell<BTreeMap<String, String>>,
    /// The ids of the components that each agent names, by the path of the agent.
    components: RefCell<BTreeMap<String, BTreeSet<String>>>,
    artifacts: Cell<usize>,
    bytes: Cell<usize>,
}

impl<'r> ArtifactLoader<'r> {
    fn new(id: &'r str, form: Form, text: &'r str, read: Read<'r>) -> Self {
        let loader = Self {
            id,
            text,
            read,
            root: path(id, form),
            ids: RefCell::default(),
            components: RefCell::default(),
            artifacts: Cell::default(),
            bytes: Cell::default(),
        };
        loader.ids.borrow_mut().insert(loader.root.clone(), id.to_owned());
        loader
    }

    fn root(&self) -> &str {
        &self.root
    }

    /// The sizes of all texts read so far, added up, in bytes.
    fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// The id of the artifact at a path.
    fn id_of(&self, path: &str) -> Option<String> {
        let ids = self.ids.borrow();
        ids.get(path).cloned().or_else(|| Some(component(path)?.1.to_owned()))
    }

    fn artifact(&self, id: &str) -> Result<String, String> {
        // The text to compile may be a new version of the stored artifact.
        if id == self.id {
            return Ok(self.text.to_owned());
        }
        (self.read)(id)
            .ok_or_else(|| format!("there is no artifact `{id}` that its writer may read"))
    }

    fn weighed(&self, text: String) -> Result<String, String> {
        if text.len() > MOST_BYTES {
            return Err(format!(
                "it has {} bytes, and at most {MOST_BYTES} are compiled",
                text.len()
            ));
        }
        self.artifacts.set(self.artifacts.get() + 1);
        self.bytes.set(self.bytes.get() + text.len());
        if self.artifacts.get() > MOST_ARTIFACTS {
            return Err(format!("one artifact leads to at most {MOST_ARTIFACTS}"));
        }
        if self.bytes.get() > MOST_BYTES_TOGETHER {
            return Err(format!(
                "an artifact and its imports have at most {MOST_BYTES_TOGETHER} bytes"
            ));
        }
        Ok(text)
    }
}

impl Loader for ArtifactLoader<'_> {
    fn read(&self, path: &str) -> Result<String, String> {
        let Some(id) = self.id_of(path) else {
            return Err("it is no artifact".into());
        };
        let text = self.weighed(self.artifact(&id)?)?;
        if (agent::FRONTEND.takes)(path) && component(path).is_none() {
            // `list` needs them: the front end reads an agent before it lists the folders around it.
            self.components.borrow_mut().insert(path.to_owned(), listed(&text));
        }
        Ok(text)
    }

    fn resolve(&self, from: &str, name: &str) -> String {
        // The agent front end looks for files around an agent. Only the components that the agent names exist.
        if name.is_empty() || name.trim_start_matches("../").starts_with(&COMPONENTS[1..]) {
            return format!("{from}/{name}");
        }
        // An id need not have an extension, so the text decides whether the artifact is an agent.
        let looks = |text: &String| (agent::FRONTEND.looks)(text);
        let form = match self.artifact(name).ok().filter(looks) {
            Some(_) => Form::Agent,
            None => Form::Chart,
        };
        let mut path = path(name, form);
        let mut ids = self.ids.borrow_mut();
        // Two ids may lead to one path, as `a` and `a.chart` do: the second gets a `~`.
        while ids.get(&path).is_some_and(|other| other != name) {
            path.insert(0, '~');
        }
        ids.insert(path.clone(), name.to_owned());
        path
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        let (agent, folder) = path.split_once(COMPONENTS)?;
        let components = self.components.borrow();
        let named = components.get(agent)?;
        if folder.is_empty() {
            return Some(Vec::new());
        }
        Some(named.iter().map(|name| format!("{name}.yaml")).collect())
    }
}

/// The path under which the artifact `id` is loaded.
fn path(id: &str, form: Form) -> String {
    let is_agent = (agent::FRONTEND.takes)(id);
    match form {
        Form::Chart if is_named_as_chart(id) && id.ends_with(".chart") => id.to_owned(),
        Form::Chart => format!("{id}.chart"),
        Form::Agent if is_named_as_chart(id) && is_agent => id.to_owned(),
        Form::Agent => format!("{id}.agent.yaml"),
    }
}

/// The path of the agent and the id of the component, from the path of a component.
fn component(path: &str) -> Option<(&str, &str)> {
    let (agent, rest) = path.split_once(COMPONENTS)?;
    let (_, file) = rest.strip_prefix('/')?.split_once('/')?;
    Some((agent, file.strip_suffix(".yaml")?))
}

/// The ids of all components that an agent names, of every kind. A text that is not valid YAML has none: the front end reports its errors.
fn listed(text: &str) -> BTreeSet<String> {
    #[derive(serde::Deserialize)]
    struct Head {
        #[serde(default)]
        components: BTreeMap<String, serde_json::Value>,
    }
    let mut options = serde_yaml::Options::default();
    options.with_snippet = false;
    // Aliases may repeat a part of the text many times: without a bound a short text expands to gigabytes.
    options.alias_limits.max_total_replayed_events = MOST_BYTES;
    let head = serde_yaml::from_str_with_options::<Head>(text, options);
    let Ok(head) = head else { return BTreeSet::new() };
    let lists = head.components.into_values().filter_map(|value| match value {
        serde_json::Value::Array(names) => Some(names),
        _ => None,
    });
    lists.flatten().filter_map(|name| Some(name.as_str()?.trim().to_owned())).collect()
}
