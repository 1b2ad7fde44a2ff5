//! Saves and restores a family.

use super::Family;
use crate::host::Machine;
use crate::saved::{Saved, Unfit};

impl<M: Machine> Family<M> {
    /// The state of all machines, between two inputs; `None` if one of them cannot be saved.
    pub fn save(&self) -> Option<Saved> {
        fn of(machine: &dyn Machine) -> Option<Saved> {
            let mut saved = machine.save()?;
            for key in machine.children() {
                if let Some(child) = machine.child(key) {
                    saved.with_child(machine.tables(), key, of(child)?);
                }
            }
            Some(saved)
        }
        of(&self.root)
    }

    /// Replaces the state of all machines by a saved one.
    ///
    /// # Errors
    /// As for [`Machine::load`], for each machine.
    pub fn load(&mut self, saved: &Saved) -> Result<(), Unfit> {
        fn into(machine: &mut dyn Machine, saved: &Saved) -> Result<(), Unfit> {
            let found = saved.compare(machine.tables());
            // Under another name, `load` returns the error for another chart.
            if saved.chart() == machine.tables().name && !found.differences.is_empty() {
                return Err(Unfit::Differs(found.differences));
            }
            machine.load(saved)?;
            let children = saved.children(machine.tables())?;
            for (key, child) in children {
                machine.place_child(key, child)?;
                let mut loaded = Ok(());
                machine.with_child(key, &mut |machine| loaded = into(machine, child));
                loaded.map_err(|why| {
                    let Unfit::Differs(all) = why else { return why };
                    Unfit::Differs(all.into_iter().map(|one| child.differs(one)).collect())
                })?;
            }
            Ok(())
        }
        into(&mut self.root, saved)
    }
}
