//! Converts registers by name to the numbers of a chart, which may be another version than the one that saved them.

use super::Scalars;
use super::named::{Gone, Key, Named, To, WalkAt};
use super::rearm;
use super::snapshot::{FORMAT, Snapshot};
use crate::arena::{ChoiceId, EventId, SendId, StateId, StepId, ToolId};
use crate::machine::{Element, Receiver, StepKey};
use crate::store::{Amounts, Fan, Question, Sent, StepRegister, Walk, WalkStage, bits};
use crate::tables::{RenamedRow, StateRowKind, Tables};
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;

/// Looks up names of a chart's parts. Earlier names (`renamed_from`) count unless another part has that name now.
pub(crate) struct Numbers<'t> {
    pub(super) tables: &'t Tables<'t>,
    states: BTreeMap<&'t str, StateId>,
    steps: BTreeMap<&'t str, StepId>,
    /// The earlier names of states, by parent. They do not contain the names of the ancestors.
    renamed: BTreeMap<StateId, Vec<(&'t str, StateId)>>,
    variables: BTreeMap<&'t str, &'t str>,
}

impl<'t> Numbers<'t> {
    pub(crate) fn of(tables: &'t Tables<'t>) -> Self {
        let states = tables.states.iter().enumerate().map(|(i, row)| (row.path, StateId::at(i)));
        let mut steps = BTreeMap::new();
        let mut renamed: BTreeMap<StateId, Vec<(&str, StateId)>> = BTreeMap::new();
        let mut variables = BTreeMap::new();
        for row in tables.renames {
            match row.what {
                RenamedRow::State(id) => {
                    renamed.entry(tables.state(id).parent).or_default().push((row.old, id));
                }
                RenamedRow::Step(id) => drop(steps.insert(row.old, id)),
                RenamedRow::Variable(name) => drop(variables.insert(row.old, name)),
            }
        }
        // Present names replace equal earlier ones.
        steps.extend(tables.steps.iter().enumerate().map(|(i, row)| (row.name, StepId::at(i))));
        Self { tables, states: states.collect(), steps, renamed, variables }
    }

    pub(crate) fn state(&self, path: &str) -> Result<StateId, Gone> {
        let found = self.states.get(path).copied().or_else(|| self.renamed(path));
        found.ok_or_else(|| Gone(format!("the state `{path}`")))
    }

    /// The state that this path names, if some of its names are earlier ones.
    fn renamed(&self, path: &str) -> Option<StateId> {
        if self.renamed.is_empty() {
            return None;
        }
        let (mut above, mut begin) = (StateId(0), 0);
        let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
        for end in ends {
            // A name may contain dots. A part that is not a name is extended to the next dot.
            if let Some(found) = self.child(above, &path[begin..end]) {
                (above, begin) = (found, end + 1);
            }
        }
        (begin > path.len()).then_some(above)
    }

    /// The child of a state with this present or earlier name.
    fn child(&self, above: StateId, name: &str) -> Option<StateId> {
        let prefix = self.tables.state(above).path;
        let now = if prefix.is_empty() { name.into() } else { format!("{prefix}.{name}") };
        let now: Option<StateId> = self.states.get(now.as_str()).copied();
        let mut old = self.renamed.get(&above).into_iter().flatten();
        now.or_else(|| old.find(|(old, _)| *old == name).map(|(_, id)| *id))
    }

    /// The tables of the chart.
    pub(crate) fn tables(&self) -> &'t Tables<'t> {
        self.tables
    }

    /// The present name of a variable.
    pub(crate) fn variable<'n>(&'n self, name: &'n str) -> &'n str {
        self.variables.get(name).copied().unwrap_or(name)
    }

    pub(crate) fn step(&self, name: &str) -> Result<StepId, Gone> {
        self.steps.get(name).copied().ok_or_else(|| Gone(format!("the step `{name}`")))
    }

    pub(crate) fn event(&self, name: &str) -> Result<EventId, Gone> {
        let found = self.tables.events.iter().position(|row| row.name == name);
        found.map(EventId::at).ok_or_else(|| Gone(format!("the event `{name}`")))
    }

    pub(crate) fn tool(&self, name: &str) -> Result<ToolId, Gone> {
        let found = self.tables.tools.iter().position(|row| row.name == name);
        found.map(ToolId::at).ok_or_else(|| Gone(format!("the tool `{name}`")))
    }

    pub(crate) fn choice(&self, state: &str, name: &str) -> Result<ChoiceId, Gone> {
        let found = self.tables.choices.iter().position(|row| {
            let source = self.tables.transitions[row.transition.index()].source;
            row.name == name && self.tables.state(source).path == state
        });
        found.map(ChoiceId::at).ok_or_else(|| Gone(format!("the option `{name}` of `{state}`")))
    }

    pub(crate) fn key(&self, key: &Key) -> Result<StepKey, Gone> {
        Ok(StepKey {
            step: self.step(&key.step)?,
            leaf: self.state(&key.leaf)?,
            event: key.event,
            attempt: key.attempt,
            element: key.element.map(Element::at),
        })
    }
}

impl Named {
    /// The names of the sent events that are not delivered yet, in order of delivery.
    pub(crate) fn sent(&self) -> impl Iterator<Item = &str> {
        self.sends.iter().map(|sent| sent.event.as_str())
    }

    /// Converts the registers to the numbers of this chart. `is_same` tells that this version of the chart has saved them.
    ///
    /// # Errors
    /// The run needs a part that the chart does not have. Registers that only remember a part that is gone are dropped.
    pub(crate) fn numbered(&self, numbers: &Numbers<'_>, is_same: bool) -> Result<Snapshot, Gone> {
        let tables = numbers.tables;
        let (states, words) = (tables.states.len(), bits::words(tables.states.len()));
        let set = |paths: &[String], is_needed: bool| -> Result<Vec<u64>, Gone> {
            let mut set = vec![0; words];
            for path in paths {
                match numbers.state(path) {
                    Ok(state) => bits::insert(&mut set, state.index()),
                    Err(gone) if is_needed => return Err(gone),
                    Err(_) => {}
                }
            }
            Ok(set)
        };
        let mut history = vec![0; words * tables.histories()];
        for (path, recorded) in &self.history {
            let Ok(state) = numbers.state(path) else { continue };
            let StateRowKind::History { slot, .. } = tables.state(state).kind else { continue };
            // If one of the recorded states is gone, the others would not be a legal configuration.
            if let Ok(recorded) = set(recorded, true) {
                history[slot as usize * words..][..words].copy_from_slice(&recorded);
            }
        }
        let mut snapshot = Snapshot {
            format: FORMAT,
            hash: tables.hash,
            scalars: Scalars {
                phase: self.phase,
                turns: self.turns,
                events: self.events,
                now: self.now,
                started_at: self.started_at,
                event: self.event.as_ref().and_then(|name| numbers.event(name).ok()),
                queue_head: 0,
                queue_len: 0,
                sends: self.sends.len() as u32,
                walking: self.walking,
                stopped: self.stopped,
                dead: self.dead,
            },
            bits: [
                set(&self.active, true)?,
                history,
                set(&self.touched, false)?,
                set(&self.unbroken, false)?,
            ],
            entered_at: vec![0; states],
            counters: [vec![0; states], vec![0; states], vec![0; states], vec![0; states]],
            questions: vec![None; states],
            steps: vec![StepRegister::default(); tables.steps.len()],
            walks: vec![Walk::NEW; tables.walks.len()],
            fans: vec![Fan::default(); tables.fans()],
            amounts: vec![Amounts::default(); if tables.reads_amounts { states } else { 0 }],
            deadlines: Vec::new(),
            added: Vec::new(),
            sends: Vec::new(),
            queue: Vec::new(),
        };
        // The counts of a state that does not exist any more are dropped.
        for (path, counts) in &self.states {
            let Ok(state) = numbers.state(path) else { continue };
            let i = state.index();
            snapshot.entered_at[i] = counts.entered_at;
            let of = [counts.turns_here, counts.turns_in, counts.fails_here, counts.calls];
            for (to, count) in snapshot.counters.iter_mut().zip(of) {
                to[i] = count;
            }
            if let (Some(to), Some(amounts)) = (snapshot.amounts.get_mut(i), counts.amounts) {
                *to = amounts;
            }
        }
        for asked in &self.questions {
            let calling = match &asked.calling {
                Some((state, name, tool)) => {
                    Some((numbers.choice(state, name)?, numbers.tool(tool)?))
                }
                None => None,
            };
            let key = numbers.key(&asked.key)?;
            snapshot.questions[key.leaf.index()] = Some(Question { key, calling });
        }
        for (name, counts) in &self.steps {
            let Ok(step) = numbers.step(name) else {
                if counts.pending.is_some() {
                    return Err(Gone(format!("the step `{name}`, which is under way")));
                }
                continue;
            };
            snapshot.steps[step.index()] = StepRegister {
                pending: counts.pending.as_ref().map(|key| numbers.key(key)).transpose()?,
                started_at: counts.started_at,
                due: counts.due,
                calling: counts.calling.as_ref().map(|tool| numbers.tool(tool)).transpose()?,
                called: counts.called,
            };
        }
        self.number_walks(numbers, &mut snapshot)?;
        for (name, at) in &self.fans {
            let each = numbers.step(name).ok().and_then(|step| tables.steps[step.index()].each);
            let Some(each) = each else {
                return Err(Gone(format!("the list of the step `{name}`, which is under way")));
            };
            let open = at.open.iter().map(|key| numbers.key(key)).collect::<Result<_, _>>()?;
            snapshot.fans[each.slot as usize] =
                Fan { size: at.size, next: at.next, done: at.done, lost: at.lost, open };
        }
        if is_same {
            snapshot.deadlines = rearm::same(self, tables);
        } else {
            let open = snapshot.open_steps();
            let found = rearm::other(self, numbers, &snapshot.bits[0], &open);
            (snapshot.deadlines, snapshot.added) = (found.due, found.added);
            snapshot.added.sort_unstable();
        }
        for (slot, posted) in (0..).zip(&self.sends) {
            let id = posted
                .id
                .as_ref()
                .and_then(|id| tables.send_ids.iter().position(|name| name == id).map(SendId::at));
            let to = match &posted.to {
                To::Own => Receiver::Own,
                To::Parent => Receiver::Parent,
                To::Child(step) => Receiver::Child(numbers.step(step)?),
                To::Element(step, element) => {
                    Receiver::Element(numbers.step(step)?, Element::at(*element))
                }
            };
            let event = numbers.event(&posted.event)?;
            snapshot.sends.push(Sent { event, due: posted.due, id, slot, to });
        }
        Ok(snapshot)
    }

    fn number_walks(&self, numbers: &Numbers<'_>, snapshot: &mut Snapshot) -> Result<(), Gone> {
        let tables = numbers.tables;
        let walks = self.walks.iter();
        let walks: BTreeMap<StateId, &WalkAt> =
            walks.filter_map(|(path, at)| Some((numbers.state(path).ok()?, at))).collect();
        for (row, to) in tables.walks.iter().zip(&mut snapshot.walks) {
            let Some(at) = walks.get(&row.state) else { continue };
            let end = ((row.steps.start + row.steps.len) as usize).min(tables.steps.len());
            let cursor = match &at.next {
                Some(name) => next_step(numbers, at, name).unwrap_or(end),
                None => end,
            } as u32;
            let leaf = match &at.leaf {
                Some(path) if at.at.is_some() => numbers.state(path)?.0,
                // It is not read before the walk begins a step.
                Some(path) => numbers.state(path).map_or(0, |leaf| leaf.0),
                // Behind all leaves: the question needs to be put in none.
                None => tables.states.len() as u32,
            };
            *to = Walk {
                stage: at.stage,
                cursor,
                at: match &at.at {
                    // Only a walk that goes on needs its step.
                    Some(name) if at.stage == WalkStage::Open => Some(numbers.step(name)?),
                    Some(name) => numbers.step(name).ok(),
                    None => None,
                },
                leaf,
                calls: at.calls,
                spent: at.spent,
                turn_taken: at.turn_taken,
            };
        }
        Ok(())
    }
}

/// The step that a walk visits next: the first of its remaining steps that this version has.
fn next_step(numbers: &Numbers<'_>, at: &WalkAt, name: &str) -> Option<usize> {
    let from = at.order.iter().position(|one| one == name);
    let rest = from.map_or(&[][..], |from| &at.order[from..]);
    let mut names = [name].into_iter().chain(rest.iter().map(String::as_str));
    names.find_map(|name| numbers.step(name).ok()).map(StepId::index)
}
