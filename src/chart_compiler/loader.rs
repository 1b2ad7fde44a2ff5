//! A [`Loader`] whose files are artifacts.

use super::{MOST_ARTIFACTS, MOST_BYTES, MOST_BYTES_TOGETHER};
use chartc_text::front::{agent, is_named_as_chart};
use chartc_text::load::Loader;
use chartc_world::{Form, Read};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

/// The folder, below an agent's path, in which the front end finds the agent's components. No such folder exists.
const COMPONENTS: &str = "/_components";

/// Reads artifacts by id, as if they were files. The path of an artifact is its id with the extension of its form (`x.chart`,
/// `x.agent.yaml`), by which the front ends recognise it. The path of a component is `AGENT/_components/KIND/ID.yaml`.
pub(super) struct ArtifactLoader<'r> {
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
    pub(super) fn new(id: &'r str, form: Form, text: &'r str, read: Read<'r>) -> Self {
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

    pub(super) fn root(&self) -> &str {
        &self.root
    }

    /// The sizes of all texts read so far, added up, in bytes.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.get()
    }

    /// The id of the artifact at a path.
    pub(super) fn id_of(&self, path: &str) -> Option<String> {
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
