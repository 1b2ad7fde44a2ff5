//! How a state is reached: the shortest run, as far as the chart tells.

use crate::facts::reach::{Cause, Reach};
use chartc_core::arena::{StateId, TransitionId};

/// A run over the fewest lines. Whether the guards on the way can all hold is not decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Witness {
    /// The lines taken, each with a state that lets it act and a state that is entered by it.
    pub hops: Vec<(StateId, TransitionId, StateId)>,
}

/// The shortest run that enters the state; `None` if no run does.
pub fn witness(reach: &Reach, state: StateId) -> Option<Witness> {
    let mut hops = Vec::new();
    let mut at = state;
    loop {
        match reach.causes[at.index()]? {
            Cause::Start => break,
            Cause::With(other) => at = other,
            Cause::Line(line) => {
                let actor = reach.actors[line.index()]?;
                hops.push((actor, line, at));
                at = actor;
            }
        }
    }
    hops.reverse();
    Some(Witness { hops })
}
