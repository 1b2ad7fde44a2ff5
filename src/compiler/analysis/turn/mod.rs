//! What can happen within one turn: which steps the walk reaches, how many model calls it makes, and which values it reads and sets.
//!
//! **The problem.** A turn starts many things: its walk runs the steps of the active states in document order, each at most once. A step
//! may be skipped, fail and be retried, or move the chart, which changes the steps that follow. Meanwhile events may arrive.
//! [`super::facts`] knows states and transitions, but not what happens in a turn.
//!
//! **The idea.** Abstract the step algorithm of `chartc-core`: replace the active configuration by the set of leaves that may be active,
//! and pass through the steps in the order of the walk. Each module keeps as much beside that set as its question needs:
//!
//! - [`cost`]: lower and upper bounds on the model calls of a turn and a run, from one walk for each leaf, or from one walk for
//!   all leaves together where any leaf may be active; [`cost::money`] multiplies them with prices;
//! - [`cost::least`]: the fewest model calls and turns of a run that ends `ok`, by a shortest path;
//! - [`calls::hidden`] and [`walk::unreached`]: steps that no walk runs, because the calls are used up or their state has been exited;
//! - [`calls::early`]: values that a step reads although only later steps set them;
//! - [`flow`]: the values that variables and answers may have at each point of a run.
//!
//! **Example.**
//!
//! ```text
//! var text: Text = ""
//! limits { calls 2 per turn  turns 10 }
//! initial work
//! state work {
//!   llm draft { prompt "Write." returns Text into text retry 2 }
//!   ask judge on turn else stay { prompt """{text} {options}""" }
//!   may again "it can be improved" -> work
//!   may accept "it is good" -> done
//! }
//! final done
//! ```
//!
//! The bounds on the calls of a turn that begins in `work`:
//!
//! 1. Active may be: `work`. Due are its steps, `draft` and `judge`.
//! 2. `draft` surely calls a model: at least 1 call. With its retries, it makes at most 3.
//! 3. `judge` makes at most 1 call, so the turn makes at most 4. It does not count towards the minimum, because a question may be
//!    settled without a call. Its options lead to `work`, which has no later steps, and to `done`.
//! 4. Both steps fit into the limit of 2 calls per turn, which does not count retries. With the default of 1 call per turn, `judge`
//!    would never run ([`calls`]).
//!
//! So a turn makes 1 to 4 calls, and a run of 10 turns at most 40.

pub mod calls;
pub mod cost;
pub mod flow;
pub mod walk;

use chartc_core::arena::{StateId, StepId};
use chartc_core::model::{Step, StepKind};

/// The model calls of one turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnCost {
    /// The leaf in which the turn begins.
    pub leaf: StateId,
    /// The minimum number of calls of a turn that ends without an error.
    pub least: u64,
    /// The maximum number of calls, with retries and repeated questions.
    pub worst: u64,
    /// The steps that contribute to the worst case, most expensive first.
    pub drivers: Vec<Driver>,
}

/// A step that calls the model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Driver {
    /// The step that calls a model.
    pub step: StepId,
    /// The maximum number of its calls without retries: one for each element of an `each`; for a question, one in each leaf where it may
    /// be asked.
    pub times: u64,
    /// The number of further attempts of each call.
    pub retries: u64,
    /// The number of tools that each call may use; after each tool, the model is called again.
    pub tools: u64,
    /// Whether the retries are those of the step's client, not of the step itself or the chart's defaults.
    pub of_client: bool,
}

impl Driver {
    /// The total number of calls, with retries and calls after tools.
    pub fn calls(&self) -> u64 {
        self.times.saturating_mul(self.retries.saturating_add(self.tools).saturating_add(1))
    }
}

/// Whether the step calls a model.
fn calls_model(step: &Step) -> bool {
    matches!(&step.kind, StepKind::Llm | StepKind::Ask { .. })
}
