//! The execution of operations on the possible contents of cells.

use super::cell::{FRESH, Masks, OTHER};
use super::code::{ActionEffect, Code, Does, Look, Note};
use super::read::{How, Site};
use super::test::{Test, merge};
use std::collections::BTreeMap;

/// The contents of one cell that one place may see, over all runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct CellContents {
    /// The contents at any reading.
    pub(super) all: u16,
    /// The contents when the condition of the place is evaluated.
    pub(super) asked: u16,
    /// The contents when the value is needed ([`How::Hard`]).
    pub(super) hard: u16,
    /// Whether the value is shown or needed, and not only tested or passed on.
    pub(super) shown: bool,
}

/// The contents that are seen, by place and cell index.
pub(super) type Records = BTreeMap<(Site, u32), CellContents>;

/// The contents that are seen, by index of the reading. `None` if no run gets there.
pub(super) type Sights = Vec<Option<CellContents>>;

/// Applies operations to the contents of cells.
pub(super) struct Applier<'r> {
    /// By cell: the possible contents, one bit each.
    pub(super) masks: &'r mut [u16],
    /// The record of readings; `None` while the fixpoint is not reached, when contents are incomplete.
    pub(super) sights: Option<&'r mut Sights>,
}

impl Applier<'_> {
    /// Applies an operation. Returns whether a run can continue after it.
    pub(super) fn code(&mut self, code: &Code) -> bool {
        match code {
            Code::Assume(asked, looks, test) => {
                for note in asked {
                    let mask = self.masks[note.cell];
                    self.sight(*note, &|seen| seen.asked |= mask);
                }
                self.record_looks(looks);
                return test.refine(self.masks);
            }
            Code::Read(looks) => self.record_looks(looks),
            Code::Do(acts) => self.whole(acts),
            // Joins the contents with the block and without it.
            Code::Maybe(acts) => {
                let before = self.masks.to_vec();
                self.whole(acts);
                merge(self.masks, &before);
            }
            Code::Set(cell) => self.masks[*cell] = OTHER,
            Code::Fresh(cells) => cells.iter().for_each(|cell| self.masks[*cell] = FRESH),
        }
        true
    }

    /// Applies a block. A failing action ends its block early, so the contents before it are possible afterwards, too.
    fn whole(&mut self, acts: &[ActionEffect]) {
        let mut failed = None;
        self.block(acts, &mut failed);
        if let Some(failed) = failed {
            merge(self.masks, &failed);
        }
    }

    /// Applies actions, and adds the contents before each action that may fail to `failed`.
    fn block(&mut self, acts: &[ActionEffect], failed: &mut Option<Masks>) {
        for act in acts {
            self.record_looks(&act.looks);
            if act.fails {
                match failed {
                    None => *failed = Some(self.masks.to_vec()),
                    Some(failed) => merge(failed, self.masks),
                }
            }
            match &act.does {
                Does::Nothing => {}
                Does::Set(cell, bit) => self.masks[*cell] = *bit,
                Does::If(parts) => {
                    let before = self.masks.to_vec();
                    let mut taken: Option<Masks> = None;
                    for (test, part) in parts {
                        self.masks.copy_from_slice(&before);
                        if test.refine(self.masks) {
                            self.block(part, failed);
                            match &mut taken {
                                None => taken = Some(self.masks.to_vec()),
                                Some(taken) => merge(taken, self.masks),
                            }
                        }
                    }
                    self.masks.copy_from_slice(&taken.unwrap_or(before));
                }
                Does::For(body) => {
                    // Twice, so that an iteration sees what the one before has set.
                    for _ in 0..2 {
                        let before = self.masks.to_vec();
                        self.block(body, failed);
                        merge(self.masks, &before);
                    }
                }
            }
        }
    }

    fn record_looks(&mut self, looks: &[Look]) {
        if self.sights.is_none() {
            return;
        }
        for look in looks {
            match look {
                Look::Cell(note, how) => {
                    let mask = self.masks[note.cell];
                    self.sight(*note, &|seen| {
                        seen.all |= mask;
                        seen.shown |= *how != How::Soft;
                        if *how == How::Hard {
                            seen.hard |= mask;
                        }
                    });
                }
                Look::Under(test, looks) => self.under(test, looks),
            }
        }
    }

    /// Records what is read while a condition has a value, without keeping that assumption.
    fn under(&mut self, test: &Test, looks: &[Look]) {
        let before = self.masks.to_vec();
        if test.refine(self.masks) {
            self.record_looks(looks);
        }
        self.masks.copy_from_slice(&before);
    }

    fn sight(&mut self, note: Note, add: &dyn Fn(&mut CellContents)) {
        if let Some(sights) = self.sights.as_deref_mut() {
            add(sights[note.number].get_or_insert_default());
        }
    }
}
