//! Performs the actions of agents on the artifacts of a world in memory.

use super::{Action, Declared, Done, Failure, FailureKind, WorldFile, size};
use chartc_core::expr::Value;

/// The maximum number of artifacts that a message lists when another one was not found.
const NAMED: usize = 5;

type Tried<T> = Result<T, Failure>;

fn fail<T>(kind: FailureKind, why: String) -> Tried<T> {
    Err(Failure::new(kind, why))
}

impl WorldFile {
    pub(super) fn balance(&self, agent: &str) -> i64 {
        self.balances.get(agent).copied().unwrap_or(0)
    }

    pub(super) fn quota(&self, agent: &str) -> Option<u64> {
        self.disk.of(agent)
    }

    /// The total size of the artifacts that an agent owns, in bytes.
    pub(super) fn used(&self, agent: &str) -> u64 {
        let own = self.artifacts.values().filter(|artifact| artifact.owner == agent);
        own.map(|artifact| size(&artifact.content)).sum()
    }

    fn find(&self, agent: &str, id: &str) -> Tried<&Declared> {
        self.artifacts.get(id).ok_or_else(|| {
            let seen = self.artifacts.iter().filter(|(_, one)| one.read.allows(agent, &one.owner));
            let seen: Vec<&str> = seen.map(|(id, _)| id.as_str()).take(NAMED).collect();
            let there = match seen.as_slice() {
                [] => "you can write it".to_owned(),
                [one] => format!("there is {one}"),
                all => format!("there are {}", all.join(", ")),
            };
            Failure::new(FailureKind::NotFound, format!("there is no artifact `{id}`; {there}"))
        })
    }

    /// Calls a method. Returns its result and its price, which is not paid here.
    pub(super) fn ask(
        &mut self,
        agent: &str,
        id: &str,
        method: &str,
        arguments: &[Value],
    ) -> Tried<(Value, i64)> {
        let artifact = self.find(agent, id)?;
        let (price, balance) = (artifact.price.of(method), self.balance(agent));
        if !artifact.methods.contains_key(method) {
            let known: Vec<&str> = artifact.methods.keys().map(String::as_str).collect();
            let has = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            let why = format!("`{id}` has no method `{method}`; it has {has}");
            return fail(FailureKind::NotFound, why);
        }
        if !artifact.invoke.allows(agent, &artifact.owner) {
            let who = artifact.invoke.told(&artifact.owner);
            let why = format!("`{agent}` may not invoke `{id}`: {who}");
            return fail(FailureKind::PermissionDenied, why);
        }
        if price > balance && artifact.owner != agent {
            let why = format!("`{method}` of `{id}` costs {price} scrip, and there are {balance}");
            return fail(FailureKind::InsufficientScrip, why);
        }
        let methods = self.artifacts.get_mut(id).map(|artifact| &mut artifact.methods);
        let results = methods.and_then(|methods| methods.get_mut(method));
        match results.and_then(|results| results.next(arguments)) {
            Some(Ok(value)) => Ok((value, price)),
            Some(Err(why)) => {
                fail(FailureKind::InvocationFailed, format!("`{method}` of `{id}`: {why}"))
            }
            None => {
                let why = format!(
                    "`{method}` of `{id}` has no result for these arguments, or none any more"
                );
                fail(FailureKind::InvocationFailed, why)
            }
        }
    }

    pub(super) fn act(&mut self, agent: &str, action: &Action) -> Tried<Done> {
        match action {
            Action::Noop => Ok(Done::default()),
            Action::Read { artifact: id } => {
                let artifact = self.find(agent, id)?;
                if !artifact.read.allows(agent, &artifact.owner) {
                    let who = artifact.read.told(&artifact.owner);
                    let why = format!("`{agent}` may not read `{id}`: {who}");
                    return fail(FailureKind::PermissionDenied, why);
                }
                Ok(Done { value: artifact.content.clone(), changes: Vec::new() })
            }
            Action::Write { artifact, ty, content } => {
                self.write(agent, artifact, ty.as_deref(), content)
            }
            Action::Invoke { artifact, method, arguments } => {
                let (value, price) = self.ask(agent, artifact, method, arguments)?;
                let owner = self.find(agent, artifact)?.owner.clone();
                let mut changes = Vec::new();
                // Owners do not pay themselves.
                if price != 0 && owner != agent {
                    *self.balances.entry(agent.to_owned()).or_default() -= price;
                    let to = self.balances.entry(owner.clone()).or_default();
                    *to = to.saturating_add(price);
                    changes.push(format!("{agent} pays {price} scrip to {owner}"));
                }
                Ok(Done { value, changes })
            }
        }
    }

    fn write(&mut self, agent: &str, id: &str, ty: Option<&str>, content: &Value) -> Tried<Done> {
        let known = self.artifacts.get(id);
        let owner = known.map_or(agent, |artifact| artifact.owner.as_str()).to_owned();
        if let Some(artifact) = known.filter(|one| !one.write.allows(agent, &one.owner)) {
            let who = artifact.write.told(&artifact.owner);
            let why = format!("`{agent}` may not write `{id}`: {who}");
            return fail(FailureKind::PermissionDenied, why);
        }
        // An artifact with the name of an agent is that agent's record, which only the agent may create.
        if known.is_none() && id != agent && self.balances.contains_key(id) {
            let why = format!("`{id}` is the record of another agent; yours is `{agent}`");
            return fail(FailureKind::PermissionDenied, why);
        }
        let (old, new) = (known.map_or(0, |artifact| size(&artifact.content)), size(content));
        // The disk of the owner counts, whoever writes. A smaller content is always accepted, even above the maximum.
        let used = self.used(&owner) - old + new;
        if let Some(most) = self.quota(&owner).filter(|most| used > *most && new > old) {
            let why =
                format!("`{id}` of {new} bytes makes {used} of `{owner}`, who may have {most}");
            return fail(FailureKind::InsufficientDisk, why);
        }
        let verb = if known.is_some() { "has another content" } else { "is made" };
        let artifact = self
            .artifacts
            .entry(id.to_owned())
            .or_insert_with(|| Declared::new(&owner, "data".into(), Value::None));
        if let Some(ty) = ty {
            ty.clone_into(&mut artifact.ty);
        }
        artifact.content = content.clone();
        Ok(Done { value: Value::None, changes: vec![format!("{id} {verb}, {new} bytes")] })
    }
}
