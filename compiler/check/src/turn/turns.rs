//! Which steps may call the model in a turn, by the leaf in which the turn begins.

use crate::facts::Facts;
use crate::facts::place::exclusive;
use crate::facts::reach::{entered_by_default, entries, is_end, is_history, is_leaf};
use crate::facts::uses::is_where;
use crate::turn::calls::{is_model, region};
use crate::turn::cost::{Driver, TurnCost};
use chartc_core::arena::{StateId, StepId, TransitionId};
use chartc_core::model::{Action, AskOn, Chart, StateKind, Step, StepKind, Trigger};
use std::collections::{BTreeMap, BTreeSet};

/// The abstract walks of turns.
pub(crate) struct Walks<'c> {
    chart: &'c Chart,
    facts: &'c Facts,
    pub leaves: Vec<StateId>,
    /// Steps that call or move, by the states of their places.
    steps: BTreeMap<StateId, Vec<StepId>>,
    /// Transitions that a macrostep may take on its own, by the states of their places; without `on turn` transitions.
    moving: BTreeMap<StateId, Vec<TransitionId>>,
    starting: BTreeMap<StateId, Vec<TransitionId>>,
    /// `may` transitions, by the states of their places.
    choices: BTreeMap<StateId, Vec<TransitionId>>,
    /// Transitions on the outcomes of a step.
    ends: BTreeMap<StepId, Vec<TransitionId>>,
    /// By state: the most leaves below it that can be active together.
    width: Vec<u64>,
    parallel: bool,
    /// Whether events may arrive while a step is awaited.
    interrupted: bool,
    /// Whether sent events may arrive before each step.
    sends: bool,
}

impl<'c> Walks<'c> {
    pub(crate) fn of(chart: &'c Chart, facts: &'c Facts) -> Self {
        let leaves = facts.reach.leaves(chart).filter(|s| !is_end(chart, *s)).collect();
        let mut steps: BTreeMap<StateId, Vec<StepId>> = BTreeMap::new();
        for (i, step) in chart.steps.iter().enumerate() {
            if is_model(step) || !step.outcomes.is_empty() || matches!(step.kind, StepKind::Code(_))
            {
                for state in &facts.places.steps[i].within {
                    steps.entry(*state).or_default().push(StepId::at(i));
                }
            }
        }
        let (mut raises, mut sends) = (false, false);
        let mut look = |block: &Vec<Action>| {
            Action::walk(block, &mut |action| {
                raises |= matches!(action, Action::Raise(..));
                sends |= matches!(action, Action::Send { .. });
            });
        };
        chart.blocks().for_each(&mut look);
        let outside = |t: &Trigger| {
            matches!(
                t,
                Trigger::Event(_) | Trigger::AnyEvent | Trigger::After(_) | Trigger::AnyOccurrence
            )
        };
        let beside = |s: &Step| matches!(s.kind, StepKind::Human(_) | StepKind::Run(..));
        let waits = |s: &Step| matches!(s.kind, StepKind::Ask { on: AskOn::Event(_), .. });
        let interrupted = chart.transitions.iter().any(|t| outside(&t.trigger))
            || chart.steps.iter().any(|s| beside(s) || waits(s) || s.tools.is_some());
        let (mut moving, mut starting) = (BTreeMap::new(), BTreeMap::new());
        let mut choices = BTreeMap::new();
        let mut ends: BTreeMap<StepId, Vec<TransitionId>> = BTreeMap::new();
        for (i, line) in chart.transitions.iter().enumerate() {
            let lines: &mut BTreeMap<StateId, Vec<TransitionId>> = match line.trigger {
                Trigger::Turn => &mut starting,
                Trigger::Event(_) | Trigger::AnyEvent if raises => &mut moving,
                Trigger::When
                | Trigger::AnyOccurrence
                | Trigger::StateDone(_)
                | Trigger::Error(_)
                | Trigger::LimitWarn(_) => &mut moving,
                Trigger::Choice(_) => &mut choices,
                Trigger::StepDone(step)
                | Trigger::StepError(step)
                | Trigger::StepElse(step)
                | Trigger::StepTimeout(step, _)
                | Trigger::StepDoubt(step) => {
                    ends.entry(step).or_default().push(TransitionId::at(i));
                    continue;
                }
                Trigger::Event(_)
                | Trigger::AnyEvent
                | Trigger::After(_)
                | Trigger::AfterTurns(_) => continue,
            };
            for state in &facts.places.lines[i].within {
                lines.entry(*state).or_default().push(TransitionId::at(i));
            }
        }
        let mut width = vec![0; chart.states.len()];
        for i in (0..chart.states.len()).rev() {
            let id = StateId::at(i);
            let children = chart.children(id).map(|c| width[c.index()]);
            width[i] = match chart.state(id).kind {
                StateKind::Atomic => 1,
                StateKind::Compound { .. } => children.max().unwrap_or(1),
                StateKind::Parallel => children.sum(),
                StateKind::Final { .. } | StateKind::History { .. } => 0,
            };
        }
        let parallel = chart.states.iter().any(|s| matches!(s.kind, StateKind::Parallel));
        Self {
            chart,
            facts,
            leaves,
            steps,
            moving,
            starting,
            choices,
            ends,
            width,
            parallel,
            interrupted,
            sends,
        }
    }

    pub(crate) fn driver(&self, step: StepId) -> Driver {
        let row = &self.chart.steps[step.index()];
        let times = match &row.each {
            Some(each) => u64::from(each.most),
            None if matches!(row.kind, StepKind::Ask { .. }) => {
                self.width[row.state.index()].max(1)
            }
            None => 1,
        };
        let client = row.client.and_then(|c| self.chart.clients[c.index()].retry);
        let retries = row.failure.retries;
        Driver {
            step,
            times,
            retries: u64::from(retries),
            tools: row.tools.map_or(0, |tools| u64::from(tools.calls)),
            of_client: retries > 0 && client == Some(retries),
        }
    }

    /// The calls of a turn that begins in a leaf.
    pub(crate) fn turn(&self, leaf: StateId) -> TurnCost {
        // Without steps, there are no calls.
        if self.steps.is_empty() {
            return TurnCost { leaf, least: 0, worst: 0, drivers: Vec::new() };
        }
        let mut walk = Walk {
            walks: self,
            at: BTreeSet::new(),
            due: BTreeSet::new(),
            past: None,
            passed: BTreeSet::new(),
            is_anywhere: false,
            asked: BTreeSet::new(),
            chosen: 0,
        };
        walk.enter(leaf, true);
        if self.parallel {
            let beside = |l: &&StateId| !exclusive(self.chart, leaf, **l);
            self.leaves.iter().filter(beside).for_each(|l| walk.enter(*l, true));
        }
        if self.sends {
            self.leaves.iter().for_each(|l| walk.enter(*l, true));
        }
        let cap = self.chart.calls_per_turn.map(u64::from);
        let (mut drivers, mut least, mut stops) = (Vec::new(), 0, false);
        while let Some(step) = walk.due.pop_first() {
            walk.pass(step);
            let row = &self.chart.steps[step.index()];
            if is_model(row) {
                drivers.push(self.driver(step));
                if !stops && self.surely(step, &walk.at) {
                    least += 1;
                }
                stops |= row.ends_turn.is_some();
                if matches!(row.kind, StepKind::Ask { .. }) {
                    walk.ask(row.state);
                }
                if self.interrupted {
                    walk.enter_any();
                }
            }
            for line in self.ends.get(&step).into_iter().flatten() {
                if !self.facts.places.line(*line).within.is_empty() {
                    walk.take(*line);
                }
            }
            if self.interrupted && matches!(row.kind, StepKind::Call(..)) {
                walk.enter_any();
            }
            if self.parallel {
                // The question may be put only after another region has moved.
                walk.choose();
            }
        }
        let elsewhere = |d: &Driver| !self.facts.places.step(d.step).covers(self.chart, leaf);
        // The limit counts calls, not attempts.
        drivers.sort_by_key(|d| {
            (std::cmp::Reverse(d.retries.saturating_add(d.tools)), elsewhere(d), d.step)
        });
        let mut worst = 0_u64;
        let mut left: BTreeMap<StateId, u64> = BTreeMap::new();
        let cap = cap.unwrap_or(u64::MAX);
        drivers.retain_mut(|driver| {
            let row = &self.chart.steps[driver.step.index()];
            // The walk of each region has calls of its own. It asks again in a leaf behind the one where it has asked before.
            let mut most: BTreeMap<StateId, u64> = BTreeMap::new();
            if matches!(row.kind, StepKind::Ask { .. }) {
                for leaf in walk.at.iter().filter(|leaf| self.chart.contains(row.state, **leaf)) {
                    *most.entry(region(self.chart, *leaf)).or_default() += 1;
                }
            } else {
                most.insert(region(self.chart, row.state), 1);
            }
            // A step with an `each` counts once, however many elements it has.
            let elements = row.each.as_ref().map_or(1, |each| u64::from(each.most));
            driver.times = 0;
            for (region, most) in most {
                let left = left.entry(region).or_insert(cap);
                driver.times += elements.saturating_mul(most.min(*left));
                *left -= most.min(*left);
            }
            worst = worst.saturating_add(driver.calls());
            driver.times > 0
        });
        TurnCost { leaf, least: least.min(cap), worst, drivers }
    }

    /// Whether the step calls in every leaf that may be active when the walk reaches it.
    fn surely(&self, step: StepId, at: &BTreeSet<StateId>) -> bool {
        let (row, place) = (&self.chart.steps[step.index()], self.facts.places.step(step));
        let kind = match &row.kind {
            // The list of an `each` may be empty.
            StepKind::Llm => row.each.is_none(),
            StepKind::Ask { .. }
            | StepKind::Code(_)
            | StepKind::Call(..)
            | StepKind::Human(_)
            | StepKind::Run(..) => false,
        };
        let everywhere = || at.iter().all(|leaf| place.covers(self.chart, *leaf));
        kind && !self.parallel
            && !place.is_loose
            && row.guard.as_ref().is_none_or(is_where)
            && everywhere()
    }
}

/// The leaves that may be active in one walk.
struct Walk<'w, 'c> {
    walks: &'w Walks<'c>,
    at: BTreeSet<StateId>,
    due: BTreeSet<StepId>,
    past: Option<StepId>,
    /// The steps that were visited, where the walks of regions go on side by side and none is known to be behind the others.
    passed: BTreeSet<StepId>,
    /// Whether every leaf has been entered.
    is_anywhere: bool,
    /// The states with questions that may be put now.
    asked: BTreeSet<StateId>,
    /// The number of active leaves when options were last chosen: the set only grows.
    chosen: usize,
}

impl Walk<'_, '_> {
    /// Notes that a step was visited.
    fn pass(&mut self, step: StepId) {
        if self.walks.parallel {
            self.passed.insert(step);
        } else {
            self.past = Some(step);
        }
    }

    /// Marks every leaf as possibly active.
    fn enter_any(&mut self) {
        if !std::mem::replace(&mut self.is_anywhere, true) {
            self.walks.leaves.iter().for_each(|leaf| self.enter(*leaf, false));
        }
    }

    /// Takes a transition: enters its targets.
    fn take(&mut self, line: TransitionId) {
        let chart = self.walks.chart;
        let mut leaves = Vec::new();
        for entered in entries(chart, chart.transition(line)) {
            leaves_of(chart, entered, &mut leaves);
        }
        for leaf in leaves {
            self.enter(leaf, false);
        }
    }

    /// Puts the question of a state.
    fn ask(&mut self, state: StateId) {
        if !self.walks.parallel {
            self.asked.clear();
        }
        self.asked.insert(state);
        self.chosen = 0;
        self.choose();
    }

    /// Chooses every enabled option of the questions, also in the leaves that options lead to.
    fn choose(&mut self) {
        let Walks { chart, choices, .. } = self.walks;
        while std::mem::replace(&mut self.chosen, self.at.len()) != self.at.len() {
            let is_asked = |leaf: &&StateId| self.asked.iter().any(|s| chart.contains(*s, **leaf));
            let mut lines = BTreeSet::new();
            for above in self.at.iter().filter(is_asked).flat_map(|leaf| chart.ancestors(*leaf)) {
                lines.extend(choices.get(&above).into_iter().flatten().copied());
            }
            for line in lines {
                self.take(line);
            }
        }
    }

    /// Marks the leaf as possibly active, and everything that its own transitions enter.
    fn enter(&mut self, leaf: StateId, first: bool) {
        let Walks { chart, steps, moving, starting, facts, .. } = self.walks;
        let mut open = vec![leaf];
        while let Some(state) = open.pop() {
            if !facts.reach.enters(state) || is_history(chart, state) || !self.at.insert(state) {
                continue;
            }
            for above in chart.ancestors(state) {
                let past = self.past;
                let later = steps
                    .get(&above)
                    .into_iter()
                    .flatten()
                    .filter(|s| past.is_none_or(|p| **s > p) && !self.passed.contains(s));
                let covers = |s: &&StepId| !facts.places.step(**s).leaves_out(chart, state);
                self.due.extend(later.filter(covers));
                let turn = first.then(|| starting.get(&above)).flatten();
                for line in moving.get(&above).into_iter().chain(turn).flatten() {
                    for entered in entries(chart, chart.transition(*line)) {
                        leaves_of(chart, entered, &mut open);
                    }
                }
            }
        }
    }
}

/// Adds the leaves that entering a state may activate; for a history, all leaves of its parent.
fn leaves_of(chart: &Chart, state: StateId, found: &mut Vec<StateId>) {
    let mut open = vec![state];
    while let Some(state) = open.pop() {
        match &chart.state(state).kind {
            StateKind::Atomic | StateKind::Final { .. } => found.push(state),
            StateKind::Compound { .. } | StateKind::Parallel => {
                open.extend(entered_by_default(chart, state));
            }
            StateKind::History { .. } => {
                let parent = chart.state(state).parent.unwrap_or(StateId::at(0));
                let all = (parent.0..chart.state(parent).end.0).map(StateId);
                found.extend(all.filter(|s| is_leaf(chart, *s)));
            }
        }
    }
}
