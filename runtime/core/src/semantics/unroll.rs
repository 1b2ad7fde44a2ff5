//! Unrolling: the effects of the step algorithm in one configuration as data, from which an emitter writes direct code.
//!
//! This module makes no decisions. It puts a machine into a configuration, lets the engine select and take transitions as usual, and
//! records the reports to the sink and the requests to the program.

use super::{Phase, Stepper};
use crate::arena::{StateId, StepId, TransitionId};
use crate::machine::{Effect, Fault, Loss, Record, Sink, Status};
use crate::outbox::Outbox;
use crate::program::{Block, Bound, Program, View};
use crate::store::{Dynamic, Occurrence, Store, bits};
use crate::tables::{StateRowKind, Tables};
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::cell::RefCell;

/// The part of a machine that a block or guard can observe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The active states without active descendants, in document order. They and their ancestors are the configuration.
    pub lowest: Rc<[StateId]>,
    /// The leaf from which the transition is tried, or for which the block runs.
    pub leaf: StateId,
}

/// One effect of the engine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    /// The engine sent a record to its sink.
    Told(Record),
    /// The engine ran a block.
    Ran(Block, Place),
    /// The engine evaluated the arguments for a transition's final target.
    Read(TransitionId, Place),
    /// The engine evaluated a guard.
    Asked(TransitionId, Place),
    /// The engine put an occurrence into the internal queue. Events that blocks raise are not recorded.
    Queued(Occurrence),
}

/// A transition that an occurrence could trigger, as an emitter needs it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Candidate {
    /// The transition is enabled if its guard holds.
    Guarded(TransitionId, Place),
    /// The transition is a `from` transition outside its scope. A record says so.
    OutOfScope(TransitionId),
    /// The transition is enabled without a guard, so none is tried after it.
    Sure(TransitionId),
}

/// The effects of a microstep, of the start, or of the end of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unrolled {
    /// All effects, in order.
    pub operations: Vec<Operation>,
    /// The configuration afterwards, in the form of [`Place::lowest`].
    pub lowest: Rc<[StateId]>,
    /// Whether a transition was taken.
    pub taken: bool,
    /// The status of the run, if a final child of the root was entered.
    pub ending: Option<Status>,
}

/// An engine that can be put into any configuration. Each query takes time linear in the number of states.
pub struct Unroll {
    engine: Stepper<Probe>,
    operations: Rc<RefCell<Vec<Operation>>>,
}

impl Unroll {
    /// An engine for these tables. The chart must not have histories, whose records a configuration does not contain.
    pub fn new(tables: &Tables) -> Self {
        let operations = Rc::new(RefCell::new(Vec::new()));
        let probe = Probe(Rc::clone(&operations));
        Self {
            engine: Stepper::new(Rc::new(tables.clone()), Dynamic::new(tables), probe),
            operations,
        }
    }

    /// The transitions that an occurrence could trigger while `leaf` is the only active leaf, in the order in which they are tried; the
    /// eventless ones if `occurrence` is `None`.
    pub fn candidates(&mut self, leaf: StateId, occurrence: Option<Occurrence>) -> Vec<Candidate> {
        self.put(&[leaf]);
        let mut sink = Ear(Rc::clone(&self.operations));
        // The probe reports every guard as false, so all guarded candidates are tried.
        let mut selected = [TransitionId(0)];
        let (count, _) = self.engine.select(occurrence, &mut 0, &mut selected, &mut sink);
        let sure: Vec<Candidate> = selected[..count].iter().copied().map(Candidate::Sure).collect();
        let operations = self.operations.take();
        let tried = operations.into_iter().filter_map(|operation| match operation {
            Operation::Asked(line, place) => Some(Candidate::Guarded(line, place)),
            Operation::Told(Record::Lost(line, Loss::Scope)) => Some(Candidate::OutOfScope(line)),
            Operation::Told(_)
            | Operation::Ran(..)
            | Operation::Read(..)
            | Operation::Queued(_) => None,
        });
        tried.chain(sure).collect()
    }

    /// The effects of taking a transition while `leaf` is the only active leaf.
    pub fn take(&mut self, leaf: StateId, line: TransitionId) -> Unrolled {
        self.put(&[leaf]);
        let mut sink = Ear(Rc::clone(&self.operations));
        self.engine.take(&[line], &mut sink);
        self.unrolled(true)
    }

    /// The microstep of an occurrence (`None`: an eventless one) while `leaves` are active, for a chart without guards.
    pub fn step(&mut self, leaves: &[StateId], occurrence: Option<Occurrence>) -> Unrolled {
        self.put(leaves);
        let mut sink = Ear(Rc::clone(&self.operations));
        let mut selected = alloc::vec![TransitionId(0); leaves.len()];
        let (count, _) = self.engine.select(occurrence, &mut 0, &mut selected, &mut sink);
        self.engine.take(&selected[..count], &mut sink);
        self.unrolled(count > 0)
    }

    /// The effects of the start, up to the first configuration.
    pub fn start(&mut self) -> Unrolled {
        // `put` resets the engine. Before the start no state is active, so the configuration is cleared again.
        self.put(&[StateId(0)]);
        bits::clear(self.engine.store.cells_mut().configuration);
        self.engine.find_leaves();
        let mut sink = Ear(Rc::clone(&self.operations));
        self.engine.enter_initial(&mut sink);
        self.unrolled(false)
    }

    /// The effects of the end of a run while `leaves` are active.
    pub fn finish(&mut self, leaves: &[StateId]) -> Unrolled {
        self.put(leaves);
        let mut sink = Ear(Rc::clone(&self.operations));
        self.engine.finish(Status::Canceled, &mut sink);
        self.unrolled(false)
    }

    /// Makes `leaves` the configuration, and says whether it is a dead end.
    pub fn ends_dead_in(&mut self, leaves: &[StateId]) -> bool {
        self.put(leaves);
        !self.engine.may_go_on()
    }

    /// Makes these leaves and their ancestors the configuration.
    fn put(&mut self, leaves: &[StateId]) {
        self.operations.borrow_mut().clear();
        self.engine.scalars.phase = Phase::Running;
        self.engine.scalars.queue_len = 0;
        bits::clear(self.engine.store.cells_mut().configuration);
        for leaf in leaves {
            let mut next = Some(*leaf);
            while let Some(state) = next {
                bits::insert(self.engine.store.cells_mut().configuration, state.index());
                next = self.engine.parent(state);
            }
        }
        self.engine.find_leaves();
    }

    fn unrolled(&mut self, taken: bool) -> Unrolled {
        let ending = match self.engine.scalars.phase {
            Phase::Ending(status) => Some(status),
            Phase::New | Phase::Running | Phase::Ended(_) => None,
        };
        let tables = self.engine.tables.clone();
        let lowest = lowest(&tables, self.engine.store.cells().configuration);
        let operations = self.operations.take();
        Unrolled { operations: self.with_queued(operations), lowest, taken, ending }
    }

    /// Adds the queued completions where the engine queues them: after the entry of a final state, its parent first.
    fn with_queued(&mut self, operations: Vec<Operation>) -> Vec<Operation> {
        let mut all = Vec::with_capacity(operations.len());
        let mut entered = None;
        let mut next = self.engine.dequeue();
        let tables = self.engine.tables.clone();
        let is_of = |occurrence, entered: Option<StateId>| {
            matches!((occurrence, entered), (Some(Occurrence::StateDone(done)), Some(entered))
                if tables.contains(done, entered))
        };
        for operation in operations {
            if let Operation::Told(Record::Entered(state)) = operation {
                // Completions of the last final state come before the next entry.
                while is_of(next, entered) {
                    all.extend(next.map(Operation::Queued));
                    next = self.engine.dequeue();
                }
                let is_final = matches!(tables.states[state.index()].kind, StateRowKind::Final(_));
                entered = is_final.then_some(state);
            }
            all.push(operation);
        }
        while let Some(occurrence) = next {
            all.push(Operation::Queued(occurrence));
            next = self.engine.dequeue();
        }
        all
    }
}

fn lowest(tables: &Tables, configuration: &[u64]) -> Rc<[StateId]> {
    let mut active = bits::iter(configuration).map(StateId::at).peekable();
    let mut all = Vec::new();
    while let Some(state) = active.next() {
        if active.peek().is_none_or(|next| !tables.contains(state, *next)) {
            all.push(state);
        }
    }
    all.into()
}

/// A sink that records the engine's reports.
struct Ear(Rc<RefCell<Vec<Operation>>>);

impl Sink for Ear {
    fn effect(&mut self, _: Effect) {}

    fn record(&mut self, record: Record) {
        self.0.borrow_mut().push(Operation::Told(record));
    }
}

/// A program that records the engine's requests. Guards are false, and blocks do nothing.
struct Probe(Rc<RefCell<Vec<Operation>>>);

impl Probe {
    fn keep(&self, operation: Operation) {
        self.0.borrow_mut().push(operation);
    }
}

fn place(view: &View<'_>) -> Place {
    Place { lowest: lowest(view.tables, view.cells.configuration), leaf: view.leaf }
}

impl Program for Probe {
    type Store = Dynamic;
    type Payload = ();
    type Tables = Rc<Tables>;

    fn bind(&mut self, _: Bound<()>) {}

    fn dequeue(&mut self) {}

    fn begin_turn(&mut self, _: &View<'_>) {}

    fn guard(&mut self, line: TransitionId, view: &View<'_>) -> Result<bool, Fault> {
        self.keep(Operation::Asked(line, place(view)));
        Ok(false)
    }

    fn step_guard(&mut self, _: StepId, _: &View<'_>) -> Result<bool, Fault> {
        Ok(false)
    }

    fn permission_guard(&mut self, _: usize, _: &View<'_>) -> Result<bool, Fault> {
        Ok(false)
    }

    fn ends_turn(&mut self, _: StepId, _: &View<'_>) -> Result<bool, Fault> {
        Ok(false)
    }

    fn deadline(&mut self, _: TransitionId, _: &View<'_>) -> Result<u64, Fault> {
        Err(Fault)
    }

    fn arguments(&mut self, line: TransitionId, view: &View<'_>) -> Result<(), Fault> {
        self.keep(Operation::Read(line, place(view)));
        Ok(())
    }

    fn run(&mut self, block: Block, view: &View<'_>, _: &mut Outbox<'_>) -> Result<(), Fault> {
        self.keep(Operation::Ran(block, place(view)));
        Ok(())
    }

    fn code(&mut self, _: StepId, _: &View<'_>) -> Result<(), Fault> {
        Ok(())
    }
}
