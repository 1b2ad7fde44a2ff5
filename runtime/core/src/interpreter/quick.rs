//! Compiled guards and actions. What they cannot tell is left to the evaluator.

use super::program::Runner;
use crate::drive::Host;
use crate::expr::Value;
use crate::expr::quick::{Act, Scalars};
use crate::outbox::Outbox;
use crate::program::View;
use alloc::vec::Vec;

impl<H: Host> Runner<'_, H> {
    pub(super) fn scalars<'a>(&'a self, view: &'a View<'_>) -> Scalars<'a> {
        Scalars {
            variables: &self.data.variables,
            payload: self.data.payloads(),
            configuration: view.cells.configuration,
        }
    }

    /// Runs compiled actions as far as that goes, and says how many.
    pub(super) fn run_quickly(
        &mut self,
        acts: &[Act],
        view: &View<'_>,
        outbox: &mut Outbox<'_>,
    ) -> usize {
        for (done, act) in acts.iter().enumerate() {
            match act {
                Act::Step(variable, by) => {
                    let Some(Some(Value::Int(n))) = self.data.variables.get_mut(*variable as usize)
                    else {
                        return done;
                    };
                    let Some(next) = n.checked_add(*by) else { return done };
                    *n = next;
                }
                Act::Raise(event) => {
                    if !outbox.raise(*event) {
                        return done;
                    }
                    self.data.raised.push_back((*event, Vec::new()));
                }
                Act::Int(..) | Act::Float(..) | Act::Bool(..) => {
                    let Some((variable, value)) = act.value(&self.scalars(view)) else {
                        return done;
                    };
                    self.data.variables[variable as usize] = Some(value);
                }
            }
        }
        acts.len()
    }
}
