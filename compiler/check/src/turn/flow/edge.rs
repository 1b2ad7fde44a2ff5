//! The edges from point to point.

use super::point::{By, Point};
use super::read::{How, Site};
use crate::turn::dataflow::Value;
use chartc_core::arena::StepId;
use chartc_core::model::{Action, Expr};

/// One operation on an edge.
#[derive(Debug, Clone, Copy)]
pub(super) enum Op<'c> {
    /// A condition has this value; with its place, if it is evaluated there.
    Assume(Option<Site>, &'c Expr, bool),
    /// An expression is evaluated.
    Read(Site, &'c Expr, How),
    /// A block of actions.
    Do(Site, &'c [Action]),
    /// A block that may run.
    Maybe(Site, &'c [Action]),
    /// This gets an unknown value.
    Set(Value),
    /// A turn begins.
    Fresh,
    /// Inputs, clocks and host functions may give something else from here on.
    Stir,
    /// A step is started that nothing awaits.
    Started(StepId),
    /// Requires that this step has been started.
    Needs(StepId),
}

/// One way from a point to another.
#[derive(Debug, Clone)]
pub(super) struct Edge<'c> {
    pub(super) ops: Vec<Op<'c>>,
    pub(super) to: Point,
    pub(super) by: By,
    /// Whether a run can certainly go this way if the conditions permit it.
    pub(super) sure: bool,
}
