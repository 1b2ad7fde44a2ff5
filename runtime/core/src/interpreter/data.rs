//! What a run knows beside the registers of the step algorithm.

use crate::arena::{EventId, StateId};
use crate::calls::Calls;
use crate::expr::Value;
use crate::model::Chart;
use crate::program::Bound;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::cell::RefCell;

/// Notes that nobody takes do not pile up without end.
const NOTES_KEPT: usize = 10_000;

/// The data of one run.
pub(super) struct Data {
    /// `Start` was handled.
    pub(super) begun: bool,
    /// Params, inputs and vars; `None` has no value yet.
    pub(super) variables: Vec<Option<Value>>,
    /// Answers of this turn, by step.
    pub(super) answers: Vec<Option<Value>>,
    /// What is being handled.
    pub(super) bound: Bound<Vec<Value>>,
    /// Payloads of raised events that were not dequeued yet, oldest first.
    pub(super) raised: VecDeque<(EventId, Vec<Value>)>,
    /// Payloads of sent events, by slot.
    pub(super) sent: Vec<Vec<Value>>,
    /// Arguments of final states that lines have entered.
    pub(super) finals: BTreeMap<StateId, Vec<Value>>,
    /// What the last step or tool returned.
    pub(super) last_result: String,
    /// Tool calls of the model.
    pub(super) calls: Calls,
    notes: RefCell<Vec<String>>,
}

impl Data {
    pub(super) fn new(chart: &Chart) -> Self {
        Self {
            begun: false,
            variables: alloc::vec![None; chart.variables.len()],
            answers: alloc::vec![None; chart.steps.len()],
            bound: Bound::Nothing,
            raised: VecDeque::new(),
            sent: Vec::new(),
            finals: BTreeMap::new(),
            last_result: String::new(),
            calls: Calls::new(),
            notes: RefCell::new(Vec::new()),
        }
    }

    /// The fields of what is being handled.
    pub(super) fn payloads(&self) -> &[Value] {
        match &self.bound {
            Bound::Nothing | Bound::Call(..) | Bound::Returned(..) | Bound::CallFailed(..) => &[],
            Bound::Event(_, fields)
            | Bound::Answer(_, fields)
            | Bound::Reason(_, fields)
            | Bound::Choice(_, fields) => fields,
        }
    }

    /// The nth field of what is being handled.
    pub(super) fn payload(&self, nth: u32) -> Option<&Value> {
        self.payloads().get(nth as usize)
    }

    pub(super) fn note(&self, note: String) {
        let Ok(mut notes) = self.notes.try_borrow_mut() else { return };
        if notes.len() < NOTES_KEPT {
            notes.push(note);
        } else if notes.len() == NOTES_KEPT {
            notes.push("further notes were dropped: nobody takes them".to_string());
        }
    }

    pub(super) fn take_notes(&mut self) -> Vec<String> {
        core::mem::take(self.notes.get_mut())
    }
}
