//! Creation, change and removal of artifacts. The bytes of an artifact are booked to its owner.

use super::{State, Tried, amount, fail, int, refused, text};
use crate::artifact::{Artifact, Nature, Policy, is_reserved, memory_of, no_id, size};
use crate::charts::Family;
use crate::ledger::{Entry, Holder, LedgerError, Resource};
use chartc_core::expr::Value;
use chartc_runtime::agent::{Failure, FailureKind, WORKING_MEMORY};
use std::borrow::Cow;
use std::sync::Arc;

/// An artifact that is to be written.
pub(crate) struct Draft {
    pub(crate) ty: Option<String>,
    pub(crate) content: Value,
    /// The kind of artifact that it becomes. Artifacts of agents keep theirs.
    pub(crate) nature: Nature,
}

impl State {
    /// The artifact with an id.
    pub(crate) fn find(&self, id: &str) -> Tried<&Artifact> {
        match self.artifacts.get(id) {
            Some(found) => Ok(found),
            None => {
                let why = format!(
                    "there is no artifact `{id}`; `list` of `genesis_store` says which there are"
                );
                fail(FailureKind::NotFound, why)
            }
        }
    }

    /// The artifact with an id, if `agent` may read it.
    pub(crate) fn readable(&self, agent: &str, id: &str) -> Tried<&Artifact> {
        let artifact = self.find(id)?;
        let own = id == agent;
        if !own && !artifact.allows(&artifact.policy.read, agent) {
            let who = artifact.policy.read.told(&artifact.owner);
            let why = format!("`{agent}` may not read `{id}`: {who}");
            return fail(FailureKind::PermissionDenied, why);
        }
        Ok(artifact)
    }

    /// The content of a readable artifact as `agent` sees it: the working memory of another agent is left out, unless the world shares it.
    pub(crate) fn content_for<'a>(
        &self,
        agent: &str,
        id: &str,
        artifact: &'a Artifact,
    ) -> Cow<'a, Value> {
        let is_own = id == agent || self.settings.shared_working_memory;
        match (&artifact.nature, &artifact.content) {
            (Nature::Agent { .. }, Value::Map(record))
                if !is_own && record.get(WORKING_MEMORY).is_some() =>
            {
                let rest = record.iter().filter(|(key, _)| *key != WORKING_MEMORY);
                let rest = rest.map(|(key, value)| (key.to_owned(), value.clone()));
                Cow::Owned(Value::Map(rest.collect()))
            }
            (_, content) => Cow::Borrowed(content),
        }
    }

    /// The names of an artifact's methods.
    pub(crate) fn methods(&self, id: &str, artifact: &Artifact) -> Vec<String> {
        let events = |family: Option<&Arc<Family>>| match family {
            Some(family) => family.root().events.iter().map(|event| event.name.clone()).collect(),
            None => Vec::new(),
        };
        match &artifact.nature {
            Nature::Agent { .. } => {
                events(self.principals.get(id).and_then(|agent| agent.family.as_ref()))
            }
            Nature::Compiled(compiled) => events(compiled.family.as_ref()),
            Nature::Data | Nature::Memory { .. } => artifact.methods.keys().cloned().collect(),
        }
    }

    /// The artifact with an id, if `agent` owns it and it is not offered for sale.
    pub(crate) fn disposable(&self, agent: &str, id: &str) -> Tried<&Artifact> {
        let artifact = self.find(id)?;
        if artifact.owner != agent {
            let why = format!("`{id}` is of `{}`, not of `{agent}`", artifact.owner);
            return fail(FailureKind::PermissionDenied, why);
        }
        if self.offers.contains_key(id) {
            let why = format!("`{id}` is offered for sale: cancel that first");
            return fail(FailureKind::PermissionDenied, why);
        }
        Ok(artifact)
    }

    /// Whether `agent` may write this content under this id.
    pub(crate) fn may_write(&self, agent: &str, id: &str, content: &Value) -> Tried<()> {
        let denied = |why: String| fail(FailureKind::PermissionDenied, why);
        if !self.principals.contains_key(agent) {
            return denied(format!("`{agent}` has no account in this world"));
        }
        let bytes = size(content);
        if bytes > self.settings.max_content_bytes {
            let most = self.settings.max_content_bytes;
            let why = format!("`{id}` would have {bytes} bytes; an artifact has at most {most}");
            return fail(FailureKind::InsufficientDisk, why);
        }
        let Some(artifact) = self.artifacts.get(id) else {
            if let Some(why) = no_id(id) {
                return fail(FailureKind::IntentRejected, why);
            }
            if is_reserved(id) {
                return denied(format!("`{id}` is a reserved id, which only the world assigns"));
            }
            if id != agent && self.principals.contains_key(id) {
                return denied(format!(
                    "`{id}` is the record of another agent; yours is `{agent}`"
                ));
            }
            if self.artifacts.len() as u64 >= self.settings.max_artifacts {
                let most = self.settings.max_artifacts;
                let why = format!("the world has {most} artifacts, and no room for another one");
                return fail(FailureKind::InsufficientDisk, why);
            }
            let (made, most) = (self.principal(agent)?.made, self.settings.max_artifacts_per_agent);
            if made >= most {
                let why = format!("`{agent}` has made {made} artifacts, of {most}: delete some");
                return fail(FailureKind::InsufficientDisk, why);
            }
            return self.fits(agent, id, 0, bytes);
        };
        let is_own_record = id == agent && artifact.has_standing();
        if !is_own_record && !artifact.allows(&artifact.policy.write, agent) {
            if artifact.has_standing() {
                return denied(format!(
                    "`{id}` is the record of another agent; yours is `{agent}`"
                ));
            }
            let who = artifact.policy.write.told(&artifact.owner);
            return denied(format!("`{agent}` may not write `{id}`: {who}"));
        }
        if !is_own_record && self.offers.contains_key(id) {
            return denied(format!("`{id}` is offered for sale: it stays as it is until then"));
        }
        self.fits(&artifact.owner, id, artifact.bytes, bytes)
    }

    /// Checks that the owner's disk has room if `bytes` replace `old`. Smaller content always fits, so an owner above its quota can still
    /// shrink its artifacts.
    fn fits(&self, owner: &str, id: &str, old: u64, bytes: u64) -> Tried<()> {
        let Some((used, most)) = self.disk(owner) else { return Ok(()) };
        let after = used - old.min(used) + bytes;
        if bytes > old && after > most {
            let why =
                format!("`{id}` of {bytes} bytes makes {after} of `{owner}`, who may have {most}");
            return fail(FailureKind::InsufficientDisk, why);
        }
        Ok(())
    }

    /// Writes an artifact, and reports the change as an event.
    pub(crate) fn write(&mut self, agent: &str, id: &str, draft: Draft) -> Tried<String> {
        let draft = Draft { content: self.recorded(agent, id, draft.content)?, ..draft };
        self.may_write(agent, id, &draft.content)?;
        let bytes = size(&draft.content);
        let Some(artifact) = self.artifacts.get_mut(id) else {
            let ty = draft.ty.unwrap_or_else(|| "data".into());
            self.make(id, agent, agent, &ty, draft.content, draft.nature, Policy::default())?;
            return Ok(format!("{id} is made, {bytes} bytes"));
        };
        let (owner, old) = (artifact.owner.clone(), artifact.bytes);
        match &mut artifact.nature {
            Nature::Agent { .. } | Nature::Memory { .. } => {}
            nature @ (Nature::Data | Nature::Compiled(_)) => {
                *nature = draft.nature;
                if let Some(ty) = draft.ty {
                    artifact.ty = ty;
                }
            }
        }
        artifact.content = draft.content;
        artifact.version += 1;
        self.resize(id, &owner, old, bytes)?;
        let audience = self.audience(id, agent);
        let data = [("artifact_id", text(id)), ("by", text(agent)), ("bytes", int(bytes))];
        self.tell("written", data, audience);
        Ok(format!("{id} has another content, {bytes} bytes"))
    }

    /// Books the change of an artifact's size.
    pub(crate) fn resize(&mut self, id: &str, owner: &str, old: u64, new: u64) -> Tried<()> {
        let (room, stored) = (self.room(owner), Holder::Stored(owner.to_owned()));
        let (from, to, by) =
            if new > old { (room, stored, new - old) } else { (stored, room, old - new) };
        if by > 0 {
            self.ledger.transfer(from, to, Resource::Disk, amount(by), id).map_err(refused)?;
        }
        if let Some(artifact) = self.artifacts.get_mut(id) {
            artifact.bytes = new;
        }
        if let Some(principal) = self.principals.get_mut(owner) {
            principal.stored = principal.stored - old + new;
        }
        Ok(())
    }

    /// Makes an artifact of `owner`. The id may be a reserved one.
    #[expect(clippy::too_many_arguments, reason = "each is another thing that an artifact has")]
    pub(crate) fn make(
        &mut self,
        id: &str,
        owner: &str,
        by: &str,
        ty: &str,
        content: Value,
        nature: Nature,
        policy: Policy,
    ) -> Tried<()> {
        let bytes = size(&content);
        if bytes > 0 {
            let (from, to) = (self.room(owner), Holder::Stored(owner.to_owned()));
            let booked = self.ledger.transfer(from, to, Resource::Disk, amount(bytes), id);
            booked.map_err(refused)?;
        }
        self.last_number += 1;
        let number = self.last_number;
        let is_shown = matches!(nature, Nature::Data | Nature::Compiled(_));
        let artifact = Artifact {
            owner: owner.to_owned(),
            created_by: by.to_owned(),
            ty: ty.to_owned(),
            content,
            policy: Arc::new(policy),
            methods: std::collections::BTreeMap::new(),
            nature,
            bytes,
            number,
            version: 0,
            is_genesis: self.is_beginning,
        };
        self.artifacts.insert(id.to_owned(), artifact);
        self.index(id, owner, bytes, number, is_shown);
        self.summary.artifacts_created += 1;
        if let Some(maker) = self.principals.get_mut(by) {
            maker.made += 1;
        }
        let audience = self.audience(id, by);
        let data = [
            ("artifact_id", text(id)),
            ("type", text(ty)),
            ("by", text(by)),
            ("bytes", int(bytes)),
            ("is_genesis", if self.is_beginning { Value::Bool(true) } else { Value::None }),
        ];
        self.tell("created", data, audience);
        Ok(())
    }

    /// Adds an artifact to the indexes that are derived from the artifacts.
    pub(crate) fn index(&mut self, id: &str, owner: &str, bytes: u64, number: u64, shown: bool) {
        self.own(owner, id);
        if let Some(principal) = self.principals.get_mut(owner) {
            principal.stored += bytes;
        }
        if shown {
            self.order.insert(number, id.to_owned());
        }
    }

    /// Adds an artifact to the index by owner. The owner's own record and memory are not in it, because they are found by their names.
    fn own(&mut self, owner: &str, id: &str) {
        if id != owner && id != memory_of(owner) {
            self.owned.entry(owner.to_owned()).or_default().insert(id.to_owned());
        }
    }

    /// The total size of an owner's artifacts in bytes.
    pub(crate) fn stored(&self, owner: &str) -> u64 {
        self.principals.get(owner).map_or(0, |principal| principal.stored)
    }

    /// Gives an artifact to another owner, completely or not at all. For a sale, the buyer's disk needs room for it. A gift brings its room
    /// along as a part of the giver's quota, so that nobody can fill the disk of another.
    pub(crate) fn hand_over(&mut self, id: &str, to: &str, paid: Option<Entry>) -> Tried<()> {
        self.principal(to)?;
        let artifact = self.find(id)?;
        let (from, bytes) = (artifact.owner.clone(), artifact.bytes);
        if from == to {
            return Err(refused(LedgerError::ToItself(Holder::of(to))));
        }
        if !matches!(artifact.nature, Nature::Data | Nature::Compiled(_) | Nature::Agent { .. }) {
            let why = format!("`{id}` is the memory of an agent, and stays its own");
            return fail(FailureKind::PermissionDenied, why);
        }
        let is_gift = paid.is_none();
        let mut entries = Vec::from_iter(paid);
        if bytes > 0 {
            let entry = |from, to| Entry {
                from,
                to,
                resource: Resource::Disk,
                amount: amount(bytes),
                why: id.to_owned(),
            };
            let (old, new) = (Holder::Stored(from.clone()), Holder::Stored(to.to_owned()));
            let (left, taken) = (self.room(&from), self.room(to));
            if is_gift {
                entries.push(entry(old, new));
            } else {
                entries.extend([entry(old, left), entry(taken, new)]);
            }
        }
        self.ledger.post(entries).map_err(|error| match error {
            LedgerError::Short { resource: Resource::Disk, has, .. } => {
                let why =
                    format!("`{id}` has {bytes} bytes, and the disk of `{to}` has room for {has}");
                Failure::new(FailureKind::InsufficientDisk, why)
            }
            _ => refused(error),
        })?;
        if let Some(artifact) = self.artifacts.get_mut(id) {
            to.clone_into(&mut artifact.owner);
        }
        if let Some(ids) = self.owned.get_mut(&from) {
            ids.remove(id);
        }
        self.own(to, id);
        if let Some(principal) = self.principals.get_mut(&from) {
            principal.stored -= bytes;
        }
        if let Some(principal) = self.principals.get_mut(to) {
            principal.stored += bytes;
        }
        Ok(())
    }

    /// Removes an artifact.
    pub(crate) fn delete(&mut self, agent: &str, id: &str) -> Tried<()> {
        let artifact = self.disposable(agent, id)?;
        match &artifact.nature {
            Nature::Data | Nature::Compiled(_) => {}
            Nature::Agent { .. } | Nature::Memory { .. } => {
                let why = format!("`{id}` belongs to an agent, and stays as long as the world");
                return fail(FailureKind::PermissionDenied, why);
            }
        }
        let (bytes, number, maker) = (artifact.bytes, artifact.number, artifact.created_by.clone());
        let audience = self.audience(id, agent);
        self.resize(id, agent, bytes, 0)?;
        self.artifacts.remove(id);
        self.order.remove(&number);
        if let Some(maker) = self.principals.get_mut(&maker) {
            maker.made = maker.made.saturating_sub(1);
        }
        if let Some(ids) = self.owned.get_mut(agent) {
            ids.remove(id);
        }
        self.tell("deleted", [("artifact_id", text(id)), ("by", text(agent))], audience);
        Ok(())
    }
}
