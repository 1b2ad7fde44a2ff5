//! Registers by the chart's names, which other versions of the chart can read.
//!
//! **The problem.** A [`Snapshot`] stores registers by number, and numbers belong to one version of a chart: a new state shifts all ids
//! behind it. A saved run outlives its version.
//!
//! **The idea.** [`Named`] contains the same registers, each under the path of its state or the name of its step, event or tool.
//! [`Snapshot::named`] converts to names, `Named::numbered` back, with [`Numbers`] as the dictionary. `Numbers` searches the present names
//! first, then the earlier ones (`renamed_from`). If a name is gone, the use of the register decides. The run needs an active state or a
//! pending step, so its absence is the error [`Gone`]. Counts and histories only remember, so they are dropped. Registers with their
//! initial values are left out. A deadline has no name: `Line` identifies it by its state, its kind, its number among those, and its
//! targets. `version` says in advance what another version of the chart would do with a run, and matches its deadlines.
//!
//! **Example.** Version 2 adds a state before `open`, and writes `state waiting renamed_from open { after 48h -> lost }`:
//!
//! ```text
//! version 1   active {0, 1}; deadline slot 0 is due at 99
//! named       active ["", "open"]; deadlines [{ state "open", kind "after", nth 0, due 99, to ["lost"] }]
//! version 2   `open` is an earlier name of state 2: active {0, 2}; slot 0 is due at 99
//! ```

pub(super) mod version;

use super::snapshot::Snapshot;
use super::{Phase, Scalars};
use crate::arena::{ChoiceId, EventId, SendId, StateId, StepId, ToolId};
use crate::machine::{Element, Instant, Receiver, StepKey};
use crate::store::{Amounts, Fan, Question, Sent, StepRegister, Walk, WalkStage, bits};
use crate::tables::{RenamedRow, StateRowKind, StepRowKind, Tables, TriggerRow};
use alloc::collections::{BTreeMap, BTreeSet};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use alloc::{format, vec};

/// All registers of a machine, with the names of the chart's states, steps and events.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Named {
    pub(super) phase: Phase,
    pub(super) turns: u32,
    pub(super) events: u32,
    pub(super) now: Instant,
    pub(super) started_at: Instant,
    pub(super) event: Option<String>,
    pub(super) walking: bool,
    pub(super) stopped: bool,
    pub(super) dead: bool,
    /// The paths of the active states. The path of the root is empty.
    pub(super) active: Vec<String>,
    // Sets of the turn that is under way. Between two turns they mean nothing.
    pub(super) touched: Vec<String>,
    pub(super) unbroken: Vec<String>,
    /// The states that each history has recorded, by the history's path.
    pub(super) history: BTreeMap<String, Vec<String>>,
    /// The registers of states, by path. States whose registers are all 0 are omitted.
    pub(super) states: BTreeMap<String, StateCounts>,
    pub(super) questions: Vec<SavedQuestion>,
    /// The registers of steps, by name. Steps that never ran are omitted.
    pub(super) steps: BTreeMap<String, StepCounts>,
    /// The walks, by the path of their region.
    pub(super) walks: BTreeMap<String, WalkAt>,
    pub(super) fans: BTreeMap<String, FanAt>,
    pub(super) deadlines: Vec<Armed>,
    /// The transitions with a deadline that is not armed, in active states and of steps that are under way. They tell a deadline that has
    /// fired from one that is new in a later version.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(super) passed: Vec<Passed>,
    /// The paths of the active states that are final.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(super) finals: Vec<String>,
    /// The kinds of the steps that are under way, by name.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "BTreeMap::is_empty"))]
    pub(super) kinds: BTreeMap<String, String>,
    pub(super) sends: Vec<Posted>,
}

/// A [`StepKey`] with names instead of ids.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Key {
    pub(crate) step: String,
    pub(crate) leaf: String,
    pub(super) event: u32,
    pub(super) attempt: u32,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(super) element: Option<u32>,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct StateCounts {
    pub(super) entered_at: Instant,
    pub(super) turns_here: u32,
    pub(super) turns_in: u32,
    pub(super) fails_here: u32,
    pub(super) calls: u32,
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(super) amounts: Option<Amounts>,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct SavedQuestion {
    pub(super) key: Key,
    /// The state that declares the option, the option, and the tool.
    pub(super) calling: Option<(String, String, String)>,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct StepCounts {
    pub(super) pending: Option<Key>,
    pub(super) started_at: Instant,
    pub(super) due: bool,
    pub(super) calling: Option<String>,
    pub(super) called: u32,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct WalkAt {
    pub(super) stage: WalkStage,
    /// The next step to visit; `None` after the last one.
    pub(super) next: Option<String>,
    pub(super) at: Option<String>,
    /// The leaf from which the question of `at` is to be put next; `None` if no leaf remains.
    pub(super) leaf: Option<String>,
    pub(super) calls: u32,
    pub(super) spent: bool,
    pub(super) turn_taken: bool,
    /// The names of the walk's steps in order, while the walk is open. A version without the step `next` continues with a later one.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
    pub(super) order: Vec<String>,
}

/// The register of a step with an `each`, with the keys of the elements under way.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct FanAt {
    pub(super) size: u32,
    pub(super) next: u32,
    pub(super) done: u32,
    pub(super) lost: u32,
    pub(super) open: Vec<Key>,
}

/// An armed deadline: the state of its transition, its kind, its number among those of this state and kind, and the time or turn at which
/// it is due.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Armed {
    pub(super) state: String,
    pub(super) kind: String,
    pub(super) nth: u32,
    pub(super) due: u64,
    /// The paths of the transition's targets.
    #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
    pub(super) to: Option<Vec<String>>,
}

/// A transition whose deadline has fired.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Passed {
    pub(super) state: String,
    pub(super) kind: String,
    pub(super) to: Vec<String>,
}

/// A sent event that is not delivered yet.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Posted {
    pub(super) event: String,
    pub(super) due: Instant,
    pub(super) id: Option<String>,
    pub(super) to: To,
}

#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) enum To {
    Own,
    Parent,
    Child(String),
    Element(String, u32),
}

/// A part of the chart that the registers name and that the chart does not have, in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gone(pub String);

/// The path of the state that declares an option, and the option's name.
pub(crate) fn option(tables: &Tables, id: ChoiceId) -> (String, String) {
    let row = &tables.choices[id.index()];
    let source = tables.transitions[row.transition.index()].source;
    (tables.state(source).path.to_string(), row.name.to_string())
}

/// Converts a key to names.
pub(crate) fn key(tables: &Tables, key: &StepKey) -> Key {
    Key {
        step: tables.steps[key.step.index()].name.to_string(),
        leaf: tables.state(key.leaf).path.to_string(),
        event: key.event,
        attempt: key.attempt,
        element: key.element.map(Element::index),
    }
}

/// A transition with a deadline, with the names that identify it.
pub(super) struct Line<'t> {
    pub(super) slot: u32,
    pub(super) source: StateId,
    pub(super) state: &'t str,
    pub(super) kind: String,
    /// The step of a `timeout` trigger.
    pub(super) step: Option<StepId>,
    /// The number of the transition among those of its state and kind, from 0.
    pub(super) nth: u32,
    pub(super) targets: &'t [StateId],
}

/// All transitions with a deadline, in document order.
pub(super) fn lines(tables: &Tables) -> impl Iterator<Item = Line<'_>> {
    let mut seen: BTreeMap<(u32, String), u32> = BTreeMap::new();
    tables.transitions.iter().filter_map(move |row| {
        let slot = row.trigger.deadline()?;
        let kind = if let TriggerRow::StepTimeout(step, _) = row.trigger {
            format!("timeout {}", tables.steps[step.index()].name)
        } else if matches!(row.trigger, TriggerRow::AfterTurns(_)) {
            "after turns".to_string()
        } else {
            "after".to_string()
        };
        let count = seen.entry((row.source.0, kind.clone())).or_default();
        *count += 1;
        Some(Line {
            slot,
            source: row.source,
            state: &tables.state(row.source).path,
            kind,
            step: row.trigger.timed_step(),
            nth: *count - 1,
            targets: row.targets.of(&tables.state_pool),
        })
    })
}

/// The keyword of a step's kind, followed by `… each` for a step with a list.
pub(super) fn kind_of(tables: &Tables, id: StepId) -> &'static str {
    let row = &tables.steps[id.index()];
    match (row.kind, row.each.is_some()) {
        (StepRowKind::Llm, false) => "llm",
        (StepRowKind::Llm, true) => "llm … each",
        (StepRowKind::Code, _) => "code",
        (StepRowKind::Ask { .. }, _) => "ask",
        (StepRowKind::Call, false) => "call",
        (StepRowKind::Call, true) => "call … each",
        (StepRowKind::Human, false) => "human",
        (StepRowKind::Human, true) => "human … each",
        (StepRowKind::Run { .. }, false) => "run",
        (StepRowKind::Run { .. }, true) => "run … each",
    }
}

impl Snapshot {
    /// The steps that are under way, including questions.
    pub(crate) fn open_steps(&self) -> BTreeSet<StepId> {
        let steps = self.steps.iter().enumerate().filter(|(_, one)| one.pending.is_some());
        let asked = self.questions.iter().flatten().map(|question| question.key.step);
        steps.map(|(i, _)| StepId::at(i)).chain(asked).collect()
    }

    /// Converts the registers to names.
    pub fn named(&self, tables: &Tables) -> Named {
        let [configuration, _, touched, unbroken] = &self.bits;
        let open = self.open_steps();
        let (deadlines, passed) = self.named_deadlines(tables, &open);
        let is_final = |state: &usize| matches!(tables.states[*state].kind, StateRowKind::Final(_));
        let finals = bits::iter(configuration).filter(is_final);
        let kinds = open.iter().map(|id| (step(tables, *id), kind_of(tables, *id).to_string()));
        let Scalars { phase, turns, events, now, started_at, walking, stopped, dead, .. } =
            self.scalars;
        Named {
            phase,
            turns,
            events,
            now,
            started_at,
            event: self.scalars.event.map(|id| tables.events[id.index()].name.to_string()),
            walking,
            stopped,
            dead,
            active: paths(tables, configuration),
            touched: paths(tables, touched),
            unbroken: paths(tables, unbroken),
            history: self.named_history(tables),
            states: self.named_states(tables),
            questions: self.named_questions(tables),
            steps: self.named_steps(tables),
            walks: self.named_walks(tables),
            fans: self.named_fans(tables),
            deadlines,
            passed,
            finals: finals.map(|state| path(tables, state)).collect(),
            kinds: kinds.collect(),
            sends: self.named_sends(tables),
        }
    }

    fn named_history(&self, tables: &Tables) -> BTreeMap<String, Vec<String>> {
        let words = bits::words(tables.states.len());
        let [_, history, _, _] = &self.bits;
        let histories = tables.states.iter().filter_map(|row| {
            let StateRowKind::History { slot, .. } = row.kind else { return None };
            let recorded = paths(tables, &history[slot as usize * words..][..words]);
            (!recorded.is_empty()).then(|| (row.path.to_string(), recorded))
        });
        histories.collect()
    }

    fn named_states(&self, tables: &Tables) -> BTreeMap<String, StateCounts> {
        let [turns_here, turns_in, fails_here, calls] = &self.counters;
        let counts = (0..tables.states.len()).filter_map(|i| {
            let counts = StateCounts {
                entered_at: self.entered_at[i],
                turns_here: turns_here[i],
                turns_in: turns_in[i],
                fails_here: fails_here[i],
                calls: calls[i],
                amounts: self.amounts.get(i).copied().filter(|one| *one != Amounts::default()),
            };
            let is_plain = counts.entered_at == 0
                && [turns_here[i], turns_in[i], fails_here[i], calls[i]] == [0; 4]
                && counts.amounts.is_none();
            (!is_plain).then(|| (path(tables, i), counts))
        });
        counts.collect()
    }

    fn named_questions(&self, tables: &Tables) -> Vec<SavedQuestion> {
        let questions = self.questions.iter().flatten().map(|question| SavedQuestion {
            key: key(tables, &question.key),
            calling: question.calling.map(|(choice, tool)| {
                let (state, name) = option(tables, choice);
                (state, name, tables.tools[tool.index()].name.to_string())
            }),
        });
        questions.collect()
    }

    fn named_steps(&self, tables: &Tables) -> BTreeMap<String, StepCounts> {
        let steps =
            self.steps.iter().enumerate().filter(|(_, one)| **one != StepRegister::default());
        let steps = steps.map(|(i, one)| {
            let counts = StepCounts {
                pending: one.pending.as_ref().map(|pending| key(tables, pending)),
                started_at: one.started_at,
                due: one.due,
                calling: one.calling.map(|tool| tables.tools[tool.index()].name.to_string()),
                called: one.called,
            };
            (step(tables, StepId::at(i)), counts)
        });
        steps.collect()
    }

    fn named_walks(&self, tables: &Tables) -> BTreeMap<String, WalkAt> {
        let walks = tables.walks.iter().zip(&self.walks).filter(|(_, walk)| **walk != Walk::NEW);
        let walks = walks.map(|(row, walk)| {
            let at = WalkAt {
                stage: walk.stage,
                next: tables.steps.get(walk.cursor as usize).map(|row| row.name.to_string()),
                at: walk.at.map(|id| step(tables, id)),
                leaf: tables.states.get(walk.leaf as usize).map(|row| row.path.to_string()),
                calls: walk.calls,
                spent: walk.spent,
                turn_taken: walk.turn_taken,
                order: match walk.stage {
                    WalkStage::Open => {
                        row.steps.of(&tables.steps).iter().map(|row| row.name.to_string()).collect()
                    }
                    WalkStage::New | WalkStage::Over => Vec::new(),
                },
            };
            (tables.state(row.state).path.to_string(), at)
        });
        walks.collect()
    }

    fn named_fans(&self, tables: &Tables) -> BTreeMap<String, FanAt> {
        let each = tables.steps.iter().filter_map(|row| Some((&row.name, row.each?)));
        let fans = each.filter_map(|(name, each)| {
            let Fan { size, next, done, lost, open } = &self.fans[each.slot as usize];
            let open = open.iter().map(|one| key(tables, one)).collect();
            let at = FanAt { size: *size, next: *next, done: *done, lost: *lost, open };
            (self.fans[each.slot as usize] != Fan::default()).then(|| (name.to_string(), at))
        });
        fans.collect()
    }

    /// The deadlines that are armed, and those that have fired.
    fn named_deadlines(
        &self,
        tables: &Tables,
        open: &BTreeSet<StepId>,
    ) -> (Vec<Armed>, Vec<Passed>) {
        let [configuration, ..] = &self.bits;
        let (mut armed, mut passed) = (Vec::new(), Vec::new());
        for Line { slot, source, state, kind, step, nth, targets } in lines(tables) {
            let due = self.deadlines[slot as usize];
            let (state, to) =
                (state.to_string(), targets.iter().map(|id| path(tables, id.index())));
            // A deadline that is not armed, in a state where it could be, has fired: another version must not arm it again.
            if due != u64::MAX {
                armed.push(Armed { state, kind, nth, due, to: Some(to.collect()) });
            } else if step.map_or(bits::has(configuration, source.index()), |id| open.contains(&id))
            {
                passed.push(Passed { state, kind, to: to.collect() });
            }
        }
        (armed, passed)
    }

    fn named_sends(&self, tables: &Tables) -> Vec<Posted> {
        let sends = self.sends.iter().map(|sent| Posted {
            event: tables.events[sent.event.index()].name.to_string(),
            due: sent.due,
            id: sent.id.map(|id| tables.send_ids[id.index()].to_string()),
            to: match sent.to {
                Receiver::Own => To::Own,
                Receiver::Parent => To::Parent,
                Receiver::Child(id) => To::Child(step(tables, id)),
                Receiver::Element(id, element) => To::Element(step(tables, id), element.index()),
            },
        });
        sends.collect()
    }
}

/// The path of the state with this index.
fn path(tables: &Tables, state: usize) -> String {
    tables.states[state].path.to_string()
}

fn paths(tables: &Tables, set: &[u64]) -> Vec<String> {
    bits::iter(set).map(|state| path(tables, state)).collect()
}

/// The name of a step.
fn step(tables: &Tables, id: StepId) -> String {
    tables.steps[id.index()].name.to_string()
}

// Converts registers by name to the numbers of a chart, which may be another version than the one that saved them.

/// Looks up names of a chart's parts. Earlier names (`renamed_from`) count unless another part has that name now.
pub(crate) struct Numbers<'t> {
    pub(super) tables: &'t Tables,
    states: BTreeMap<&'t str, StateId>,
    steps: BTreeMap<&'t str, StepId>,
    /// The earlier names of states, by parent. They do not contain the names of the ancestors.
    renamed: BTreeMap<StateId, Vec<(&'t str, StateId)>>,
    variables: BTreeMap<&'t str, &'t str>,
}

impl<'t> Numbers<'t> {
    pub(crate) fn of(tables: &'t Tables) -> Self {
        let states = tables.states.iter().enumerate().map(|(i, row)| (&*row.path, StateId::at(i)));
        let mut steps = BTreeMap::new();
        let mut renamed: BTreeMap<StateId, Vec<(&str, StateId)>> = BTreeMap::new();
        let mut variables = BTreeMap::new();
        for row in &tables.renames {
            match &row.what {
                RenamedRow::State(id) => {
                    renamed.entry(tables.state(*id).parent).or_default().push((&*row.old, *id));
                }
                RenamedRow::Step(id) => drop(steps.insert(&*row.old, *id)),
                RenamedRow::Variable(name) => drop(variables.insert(&*row.old, &**name)),
                RenamedRow::Chart => {}
            }
        }
        // Present names replace equal earlier ones.
        steps.extend(tables.steps.iter().enumerate().map(|(i, row)| (&*row.name, StepId::at(i))));
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
        let prefix = &self.tables.state(above).path;
        let now = if prefix.is_empty() { name.into() } else { format!("{prefix}.{name}") };
        let now: Option<StateId> = self.states.get(now.as_str()).copied();
        let mut old = self.renamed.get(&above).into_iter().flatten();
        now.or_else(|| old.find(|(old, _)| *old == name).map(|(_, id)| *id))
    }

    /// The tables of the chart.
    pub(crate) fn tables(&self) -> &'t Tables {
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
        let found = self.tables.events.iter().position(|row| row.name == *name);
        found.map(EventId::at).ok_or_else(|| Gone(format!("the event `{name}`")))
    }

    pub(crate) fn tool(&self, name: &str) -> Result<ToolId, Gone> {
        let found = self.tables.tools.iter().position(|row| row.name == *name);
        found.map(ToolId::at).ok_or_else(|| Gone(format!("the tool `{name}`")))
    }

    pub(crate) fn choice(&self, state: &str, name: &str) -> Result<ChoiceId, Gone> {
        let found = self.tables.choices.iter().position(|row| {
            let source = self.tables.transitions[row.transition.index()].source;
            row.name == *name && self.tables.state(source).path == *state
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
        let mut snapshot = self.number_sets(numbers)?;
        self.number_states(numbers, &mut snapshot);
        self.number_questions(numbers, &mut snapshot)?;
        self.number_steps(numbers, &mut snapshot)?;
        self.number_walks(numbers, &mut snapshot)?;
        self.number_fans(numbers, &mut snapshot)?;
        self.number_deadlines(numbers, is_same, &mut snapshot);
        self.number_sends(numbers, &mut snapshot)?;
        Ok(snapshot)
    }

    /// A snapshot with the scalars and the sets of states. Its other registers have their initial values.
    fn number_sets(&self, numbers: &Numbers<'_>) -> Result<Snapshot, Gone> {
        let mut snapshot = Snapshot::empty(numbers.tables);
        snapshot.scalars = Scalars {
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
        };
        snapshot.bits = [
            state_set(numbers, &self.active, true)?,
            self.number_history(numbers),
            state_set(numbers, &self.touched, false)?,
            state_set(numbers, &self.unbroken, false)?,
        ];
        Ok(snapshot)
    }

    fn number_history(&self, numbers: &Numbers<'_>) -> Vec<u64> {
        let tables = numbers.tables;
        let words = bits::words(tables.states.len());
        let mut history = vec![0; words * tables.histories()];
        for (path, recorded) in &self.history {
            let Ok(state) = numbers.state(path) else { continue };
            let StateRowKind::History { slot, .. } = tables.state(state).kind else { continue };
            // If one of the recorded states is gone, the others would not be a legal configuration.
            if let Ok(recorded) = state_set(numbers, recorded, true) {
                history[slot as usize * words..][..words].copy_from_slice(&recorded);
            }
        }
        history
    }

    /// Fills in the counts of states. Those of a state that does not exist any more are dropped.
    fn number_states(&self, numbers: &Numbers<'_>, snapshot: &mut Snapshot) {
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
    }

    fn number_questions(&self, numbers: &Numbers<'_>, snapshot: &mut Snapshot) -> Result<(), Gone> {
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
        Ok(())
    }

    fn number_steps(&self, numbers: &Numbers<'_>, snapshot: &mut Snapshot) -> Result<(), Gone> {
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
        Ok(())
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

    fn number_fans(&self, numbers: &Numbers<'_>, snapshot: &mut Snapshot) -> Result<(), Gone> {
        let tables = numbers.tables;
        for (name, at) in &self.fans {
            let each = numbers.step(name).ok().and_then(|step| tables.steps[step.index()].each);
            let Some(each) = each else {
                return Err(Gone(format!("the list of the step `{name}`, which is under way")));
            };
            let open = at.open.iter().map(|key| numbers.key(key)).collect::<Result<_, _>>()?;
            snapshot.fans[each.slot as usize] =
                Fan { size: at.size, next: at.next, done: at.done, lost: at.lost, open };
        }
        Ok(())
    }

    fn number_deadlines(&self, numbers: &Numbers<'_>, is_same: bool, snapshot: &mut Snapshot) {
        if is_same {
            snapshot.deadlines = version::same(self, numbers.tables);
        } else {
            let open = snapshot.open_steps();
            let found = version::other(self, numbers, &snapshot.bits[0], &open);
            (snapshot.deadlines, snapshot.added) = (found.due, found.added);
            snapshot.added.sort_unstable();
        }
    }

    fn number_sends(&self, numbers: &Numbers<'_>, snapshot: &mut Snapshot) -> Result<(), Gone> {
        let tables = numbers.tables;
        for (slot, posted) in (0..).zip(&self.sends) {
            let id = posted.id.as_ref().and_then(|id| {
                tables.send_ids.iter().position(|name| *name == **id).map(SendId::at)
            });
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
        Ok(())
    }
}

/// The set of the states with these paths. A path without a state is an error if it is needed, and left out otherwise.
fn state_set(numbers: &Numbers<'_>, paths: &[String], is_needed: bool) -> Result<Vec<u64>, Gone> {
    let mut set = vec![0; bits::words(numbers.tables.states.len())];
    for path in paths {
        match numbers.state(path) {
            Ok(state) => bits::insert(&mut set, state.index()),
            Err(gone) if is_needed => return Err(gone),
            Err(_) => {}
        }
    }
    Ok(set)
}

/// The step that a walk visits next: the first of its remaining steps that this version has.
fn next_step(numbers: &Numbers<'_>, at: &WalkAt, name: &str) -> Option<usize> {
    let from = at.order.iter().position(|one| one == name);
    let rest = from.map_or(&[][..], |from| &at.order[from..]);
    let mut names = [name].into_iter().chain(rest.iter().map(String::as_str));
    names.find_map(|name| numbers.step(name).ok()).map(StepId::index)
}
