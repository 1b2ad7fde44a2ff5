//! The actions of agents on the world.

use super::World;
use super::compile::Outcome;
use crate::artifact::{Compiled, Nature};
use crate::genesis;
use crate::state::{Draft, State, Tried, fail, text};
use crate::workshop::Form;
use chartc_core::expr::Value;
use chartc_runtime::agent::{Acting, Action, ArtifactHost, Done, Failure, FailureKind, View};
use std::collections::BTreeMap;

/// The maximum length of an artifact's type, in bytes.
const LONGEST_TYPE: usize = 100;

impl ArtifactHost for World {
    fn invoke(
        &self,
        agent: &str,
        artifact: &str,
        method: &str,
        arguments: &[Value],
    ) -> Result<Value, Failure> {
        self.ask(agent, artifact, method, arguments, &self.chain())
    }

    fn act(&self, agent: &str, action: &Action) -> Acting {
        let done = match action {
            Action::Noop => Ok(Done::default()),
            Action::Read { artifact } => self.read(agent, artifact),
            Action::Write { artifact, ty, content } => {
                self.write(agent, artifact, ty.as_deref(), content)
            }
            Action::Invoke { artifact, method, arguments } => {
                self.perform(agent, artifact, method, arguments)
            }
        };
        Box::pin(std::future::ready(done))
    }

    fn view(&self, agent: &str) -> View {
        self.look(agent, &|_| true)
    }

    fn view_of(&self, agent: &str, reads: &dyn Fn(&str) -> bool) -> View {
        self.look(agent, reads)
    }

    fn save(&self) -> Value {
        self.saved()
    }

    fn load(&self, saved: &Value) -> Result<(), String> {
        self.take_back(saved)
    }
}

impl World {
    fn read(&self, agent: &str, id: &str) -> Tried<Done> {
        let state = self.state();
        state.ensure_sound()?;
        let value = match genesis::find(id) {
            Some(genesis) => genesis.help(),
            None => state.readable(agent, id)?.content.clone(),
        };
        Ok(Done { value, changes: Vec::new() })
    }

    fn write(&self, agent: &str, id: &str, ty: Option<&str>, content: &Value) -> Tried<Done> {
        if ty.is_some_and(|ty| ty.len() > LONGEST_TYPE || ty.chars().any(char::is_control)) {
            let why = format!("a type is a word of at most {LONGEST_TYPE} bytes");
            return fail(FailureKind::IntentRejected, why);
        }
        let (form, nature) = match self.form(agent, id, ty, content)? {
            None => (None, Nature::Data),
            Some((form, source)) => (Some(form), self.compiled(agent, id, form, &source)?),
        };
        let change = self.change(|state| {
            // The world is not locked while the text compiles, so another agent may have written the artifact as another type.
            if form_of(state, id, ty) != form && self.compiler.is_some() {
                let why = format!("`{id}` has changed while it was compiled: write it again");
                return fail(FailureKind::InvocationFailed, why);
            }
            let draft = Draft { ty: ty.map(str::to_owned), content: content.clone(), nature };
            state.write(agent, id, draft)
        })?;
        Ok(Done { value: Value::None, changes: vec![change] })
    }

    /// The language and source of a text that has to be compiled before it is written; `None` for plain data.
    ///
    /// # Errors
    /// The agent may not write it. This is checked before the compilation is charged.
    fn form(
        &self,
        agent: &str,
        id: &str,
        ty: Option<&str>,
        content: &Value,
    ) -> Tried<Option<(Form, String)>> {
        let state = self.state();
        state.ensure_sound()?;
        state.may_write(agent, id, content)?;
        if self.compiler.is_none() {
            return Ok(None);
        }
        match (form_of(&state, id, ty), content) {
            (None, _) => Ok(None),
            (Some(form), Value::Text(source)) => Ok(Some((form, source.clone()))),
            (Some(form), _) => {
                let why = format!("an artifact of type {} is a text", form.word());
                fail(FailureKind::IntentRejected, why)
            }
        }
    }

    fn compiled(&self, agent: &str, id: &str, form: Form, source: &str) -> Tried<Nature> {
        let Some(compiler) = &self.compiler else { return Ok(Nature::Data) };
        // The agent also pays for a text that does not compile.
        self.change(|state| {
            let units =
                (source.len() as u64).div_ceil(state.settings.compile_bytes_per_unit.max(1));
            state.spend(agent, units.max(1), "compilation")
        })?;
        let read = |other: &str| match self.state().readable(agent, other).ok()?.content.clone() {
            // An artifact cannot import itself: its stored text is the old one.
            Value::Text(text) if other != id => Some(text),
            _ => None,
        };
        match compiler.build(id, form, source, &read) {
            Outcome::Sound { family, read } => {
                Ok(Nature::Compiled(Compiled { form, family: Some(family), read }))
            }
            Outcome::Rejected(why) => {
                self.change(|state| {
                    let only = crate::state::Audience::Only(vec![agent.to_owned()]);
                    let data =
                        [("artifact_id", text(id)), ("by", text(agent)), ("why", text(&why))];
                    state.tell("rejected", data, only);
                    Ok(())
                })?;
                fail(FailureKind::Rejected, why)
            }
        }
    }
}

/// The language of an artifact once it has the type `ty`, or keeps its type if `ty` is `None`. Records and memories of agents are always
/// data.
fn form_of(state: &State, id: &str, ty: Option<&str>) -> Option<Form> {
    match state.artifacts.get(id) {
        None => ty.and_then(Form::of),
        Some(artifact) => match artifact.nature {
            Nature::Agent { .. } | Nature::Memory { .. } => None,
            Nature::Data | Nature::Compiled(_) => Form::of(ty.unwrap_or(&artifact.ty)),
        },
    }
}

/// The texts that a chart imported when it was compiled, by their ids.
pub(super) type Texts = BTreeMap<String, String>;
