//! The artifacts of a world.

use crate::artifact::{Artifact, Policy};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The maximum number of policies that new artifacts can share.
const SHARED: usize = 8;

/// Artifacts by id, and the ids of those that have changed since the last audit.
#[derive(Debug, Default)]
pub(crate) struct Artifacts {
    all: BTreeMap<String, Box<Artifact>>,
    changed: BTreeSet<String>,
    /// The distinct policies of the first artifacts, to be shared: most later artifacts have one of them.
    policies: Vec<Arc<Policy>>,
}

impl Artifacts {
    pub(crate) fn get(&self, id: &str) -> Option<&Artifact> {
        self.all.get(id).map(Box::as_ref)
    }

    pub(crate) fn contains_key(&self, id: &str) -> bool {
        self.all.contains_key(id)
    }

    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// All artifacts, in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Artifact)> {
        self.all.iter().map(|(id, artifact)| (id, artifact.as_ref()))
    }

    /// Mutable access to an artifact, which counts as changed from now on.
    pub(crate) fn get_mut(&mut self, id: &str) -> Option<&mut Artifact> {
        let found = self.all.get_mut(id)?;
        if !self.changed.contains(id) {
            self.changed.insert(id.to_owned());
        }
        Some(found)
    }

    pub(crate) fn insert(&mut self, id: String, mut artifact: Artifact) {
        match self.policies.iter().find(|known| **known == artifact.policy) {
            Some(known) => artifact.policy = known.clone(),
            None if self.policies.len() < SHARED => self.policies.push(artifact.policy.clone()),
            None => {}
        }
        self.changed.insert(id.clone());
        self.all.insert(id, Box::new(artifact));
    }

    pub(crate) fn remove(&mut self, id: &str) {
        self.changed.remove(id);
        self.all.remove(id);
    }

    /// Takes the ids of the existing artifacts that have changed since the last call.
    pub(super) fn take_changed(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.changed)
    }
}
