//! The edges from point to point, with the operations on them.

use super::point::{By, Point};
use super::read::{How, Site};
use crate::turn::dataflow::Value;
use chartc_core::arena::StepId;
use chartc_core::model::{Action, Expr};

/// One operation on an edge, in terms of the chart. `code` translates it to cells; `path` executes it on symbolic values.
#[derive(Debug, Clone, Copy)]
pub(super) enum Op<'c> {
    /// The condition has this value. With a place if it is evaluated there, and not only known to have the value.
    Assume(Option<Site>, &'c Expr, bool),
    /// The expression is evaluated in this place.
    Read(Site, &'c Expr, How),
    /// The block of actions runs.
    Do(Site, &'c [Action]),
    /// The block may run, or not.
    Maybe(Site, &'c [Action]),
    /// The variable or answer gets an unknown value.
    Set(Value),
    /// A turn begins: per-turn variables and answers are reset.
    Fresh,
    /// Time passes: inputs, clocks and host functions may have other values from here on.
    Stir,
    /// A step is started that the walk does not await.
    Started(StepId),
    /// Only a run in which this step has been started continues.
    Needs(StepId),
}

/// A connection from one point to another.
#[derive(Debug, Clone)]
pub(super) struct Edge<'c> {
    /// The operations in the order in which they happen.
    pub(super) ops: Vec<Op<'c>>,
    /// The point behind the edge.
    pub(super) to: Point,
    /// The cause, for reports.
    pub(super) by: By,
    /// Whether a run can certainly take the edge if its conditions hold. Other edges only widen the over-approximation.
    pub(super) sure: bool,
}
