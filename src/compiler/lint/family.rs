//! The charts that run each other, and which of them receive an event.
//!
//! A chart may send an event to the chart that runs it or to a chart that it runs, and a `run` step may forward events. So whether anybody
//! sends or handles an event is decided over all these charts. For example, with `Main`, which the host runs:
//!
//! ```text
//! chart Main   { event stop  state on { run w Worker() } }
//! chart Worker { event stop  event news  state busy { on stop -> over  on news { … } } }
//! ```
//!
//! `Worker` can receive `stop`: the host sends it to `Main`, which does not handle it and so passes it on. It cannot receive `news`: `Main`
//! neither declares nor sends it.

use crate::analysis::facts::Facts;
use crate::analysis::facts::deadline::unhandled;
use crate::analysis::facts::reach::{Takers, is_leaf};
use crate::lower::{Lowered, SourceMap};
use crate::syntax::source::{FileId, Span};
use chartc_core::arena::{EventId, StepId};
use chartc_core::model::{Chart, Forward, Receiver, StepKind};
use chartc_core::tables::CATCH_ALL;
use std::collections::{BTreeMap, BTreeSet};

/// The maximum number of charts through which an event is followed; beyond it, the event is assumed to arrive.
const MOST: usize = 64;

/// A chart that runs others or is run.
pub(super) struct Member<'c> {
    pub(super) chart: &'c Chart,
    pub(super) map: &'c SourceMap,
    facts: Facts,
    takers: Takers,
    /// The names of the declared events.
    events: BTreeSet<&'c str>,
    /// The declared events that nothing in this chart handles.
    lost: BTreeSet<&'c str>,
    /// The events that the chart sends, with their receivers.
    sent: BTreeMap<&'c str, Vec<Receiver>>,
    /// Whether no part of the chart or its file was lost to errors.
    is_whole: bool,
    /// Whether the lints run on the chart: its file is checked, not only imported.
    is_linted: bool,
    /// Whether the host sends events to the chart: nothing runs it, or only charts that it runs itself.
    is_root: bool,
    /// The `run` steps that run the chart, each with the index of the chart that contains it.
    pub(super) parents: Vec<(usize, StepId)>,
    /// The `run` steps of the chart, each with the index of the chart that it runs.
    pub(super) children: Vec<(StepId, usize)>,
}

impl<'c> Member<'c> {
    fn new(one: &'c Lowered, is_linted: bool, faulty: &BTreeSet<FileId>) -> Self {
        let (chart, map) = (&one.chart, &one.map);
        let facts = Facts::new(chart);
        let name = |event: EventId| chart.events[event.index()].name.as_str();
        let mut sent: BTreeMap<&str, Vec<Receiver>> = BTreeMap::new();
        for post in &map.posts {
            sent.entry(name(post.event)).or_default().push(post.to);
        }
        Self {
            chart,
            map,
            takers: Takers::new(chart),
            events: chart.events.iter().map(|event| event.name.as_str()).collect(),
            lost: unhandled(chart, &facts).into_iter().map(|u| name(u.event)).collect(),
            sent,
            facts,
            is_whole: one.whole && !faulty.contains(&map.file),
            is_linted,
            is_root: false,
            parents: Vec::new(),
            children: Vec::new(),
        }
    }

    fn declares(&self, event: &str) -> bool {
        self.events.contains(event) || self.events.contains(CATCH_ALL)
    }

    fn sends(&self, to: Receiver, event: &str) -> bool {
        self.sent.get(event).is_some_and(|all| all.contains(&to))
    }

    fn forward(&self, step: StepId) -> Forward {
        match &self.chart.steps[step.index()].kind {
            StepKind::Run(run) => run.forward,
            _ => Forward::Nothing,
        }
    }

    /// Whether the chart itself handles the event in every state in which the `run` step may be pending.
    fn always_takes(&self, step: StepId, event: &str) -> bool {
        let Self { chart, facts, takers, .. } = self;
        let Some(event) = chart.events.iter().position(|e| e.name == event) else { return false };
        let state = chart.steps[step.index()].state;
        let inside = |leaf: &_| chart.contains(state, *leaf) && is_leaf(chart, *leaf);
        let mut leaves =
            chart.state_ids().filter(inside).filter(|leaf| facts.reach.can_enter(*leaf));
        leaves.all(|leaf| takers.of_event(chart, leaf, EventId::at(event)).is_some())
    }
}

/// The charts that run others or are run.
pub struct Family<'c> {
    members: Vec<Member<'c>>,
    places: BTreeMap<Span, usize>,
}

impl<'c> Family<'c> {
    /// Connects the charts by their `run` steps. The lints run on `checked` and not on `imported`; parts of the `faulty` files may be
    /// missing.
    pub fn new(
        checked: impl IntoIterator<Item = &'c Lowered>,
        imported: impl IntoIterator<Item = &'c Lowered>,
        faulty: &BTreeSet<FileId>,
    ) -> Self {
        let checked = checked.into_iter().map(|one| (one, true));
        let all = checked.chain(imported.into_iter().map(|one| (one, false)));
        let all: Vec<(&Lowered, bool)> = all.collect();
        let children = |one: &'c Lowered| one.map.steps.iter().filter_map(|step| step.child);
        let run: BTreeSet<Span> = all.iter().flat_map(|(one, _)| children(one)).collect();
        let mut family = Self { members: Vec::new(), places: BTreeMap::new() };
        // A chart that neither runs another one nor is run receives events only from the host and itself.
        for (one, is_linted) in all {
            if children(one).next().is_some() || run.contains(&one.map.name) {
                family.places.insert(one.map.name, family.members.len());
                family.members.push(Member::new(one, is_linted, faulty));
            }
        }
        for parent in 0..family.members.len() {
            let steps = family.members[parent].map.steps.iter().enumerate();
            let child = |span: Option<Span>| family.places.get(&span?).copied();
            let run = steps.filter_map(|(i, step)| Some((StepId::at(i), child(step.child)?)));
            for (step, child) in run.collect::<Vec<_>>() {
                family.members[parent].children.push((step, child));
                family.members[child].parents.push((parent, step));
            }
        }
        family.find_roots();
        family
    }

    /// Marks the charts that nothing runs and, of each cycle of charts that nothing else runs, the first.
    fn find_roots(&mut self) {
        // Charts that cannot be reached from one that nothing runs are visited in order, so that the first one of a cycle is marked.
        let alone = |nth: &usize| self.members[*nth].parents.is_empty();
        let mut order: Vec<usize> = (0..self.members.len()).filter(alone).collect();
        order.extend(0..self.members.len());
        let mut seen = vec![false; self.members.len()];
        for nth in order {
            self.members[nth].is_root |= !seen[nth];
            let mut open = vec![nth];
            while let Some(next) = open.pop() {
                if !std::mem::replace(&mut seen[next], true) {
                    open.extend(self.members[next].children.iter().map(|(_, child)| *child));
                }
            }
        }
    }

    /// The index of a chart, if it runs others or is run.
    pub(super) fn place(&self, map: &SourceMap) -> Option<usize> {
        self.places.get(&map.name).copied()
    }

    pub(super) fn member(&self, nth: usize) -> &Member<'c> {
        &self.members[nth]
    }

    /// The charts that receive what a chart sends: its parents, or the chart of a `run` step. Empty if parts of one of them are unknown.
    pub(super) fn receivers(&self, sender: usize, to: Receiver) -> Vec<usize> {
        let Member { parents, children, .. } = &self.members[sender];
        let found: BTreeSet<usize> = match to {
            Receiver::Own => BTreeSet::new(),
            Receiver::Parent => parents.iter().map(|(parent, _)| *parent).collect(),
            Receiver::Child(run) | Receiver::Element(run, _) => {
                children.iter().filter(|(step, _)| *step == run).map(|(_, child)| *child).collect()
            }
        };
        let known = found.iter().all(|nth| self.members[*nth].is_whole);
        found.into_iter().filter(|_| known).collect()
    }

    /// Whether a chart declares the event.
    pub(super) fn declares(&self, nth: usize, event: &str) -> bool {
        self.members[nth].declares(event)
    }

    /// Whether a chart has a transition or a question for the event in some state.
    pub(super) fn handles(&self, nth: usize, event: &str) -> bool {
        let member = &self.members[nth];
        member.events.contains(CATCH_ALL) || member.declares(event) && !member.lost.contains(event)
    }

    /// Whether a chart, or one to which it forwards all events, handles an event that is sent to it.
    pub(super) fn can_handle(&self, nth: usize, event: &str) -> bool {
        let mut open = vec![nth];
        let mut seen = BTreeSet::new();
        while let Some(nth) = open.pop() {
            if !seen.insert(nth) {
                continue;
            }
            if self.handles(nth, event) {
                return true;
            }
            let member = &self.members[nth];
            let all = |(step, _): &&(StepId, usize)| member.forward(*step) == Forward::All;
            open.extend(member.children.iter().filter(all).map(|(_, child)| *child));
        }
        false
    }

    /// Whether all receivers declare the event, and none of them, nor a chart to which they forward it, handles it.
    pub(super) fn is_unheard(&self, receivers: &[usize], event: &str) -> bool {
        let lost = |nth: &usize| self.declares(*nth, event) && !self.can_handle(*nth, event);
        !receivers.is_empty() && receivers.iter().all(lost)
    }

    /// Whether a finding at a place where the event is sent already reports that it is lost.
    pub(super) fn is_told(&self, nth: usize, event: &str) -> bool {
        let member = &self.members[nth];
        let sends = |nth: usize, to| self.members[nth].sends(to, event);
        let unheard = |sender: usize, to| {
            self.members[sender].is_linted
                && sends(sender, to)
                && self.is_unheard(&self.receivers(sender, to), event)
        };
        sends(nth, Receiver::Own) && member.children.iter().any(|(_, c)| self.can_handle(*c, event))
            || member.parents.iter().any(|(parent, step)| unheard(*parent, Receiver::Child(*step)))
            || member.children.iter().any(|(_, child)| unheard(*child, Receiver::Parent))
    }

    /// Whether the chart may receive the event: from the host, directly or through the charts that run this one, from itself, from a chart
    /// that runs it, or from one that it runs. Also true if one of these charts is not completely known.
    pub(super) fn can_receive(&self, nth: usize, event: &str) -> bool {
        self.members[nth].sends(Receiver::Own, event)
            || self.arrives(nth, event, &mut BTreeSet::new())
    }

    /// Whether the event may come from outside the chart. `seen` contains the charts that have been visited.
    fn arrives(&self, nth: usize, event: &str, seen: &mut BTreeSet<usize>) -> bool {
        let member = &self.members[nth];
        if seen.len() > MOST || !member.is_whole || member.is_root && member.declares(event) {
            return true;
        }
        seen.insert(nth);
        let sent_up = |(_, child): &(StepId, usize)| {
            let child = &self.members[*child];
            !child.is_whole || child.sends(Receiver::Parent, event)
        };
        member.children.iter().any(sent_up)
            || member.parents.iter().any(|(nth, step)| {
                let parent = &self.members[*nth];
                let passes = match parent.forward(*step) {
                    Forward::Nothing => false,
                    Forward::All => parent.declares(event),
                    Forward::Rest => !parent.always_takes(*step, event),
                };
                !parent.is_whole
                    || parent.sends(Receiver::Child(*step), event)
                    || passes && !seen.contains(nth) && self.arrives(*nth, event, seen)
            })
    }
}
