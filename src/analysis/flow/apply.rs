//! What operations do to what cells may hold.

use super::super::dataflow::Value;
use super::super::uses::{own_expressions, walk};
use super::cell::{Cells, FRESH, Masks, OTHER, constant as literal};
use super::edge::Op;
use super::read::{How, Reader, Site, look};
use super::test::{cell_of, fails, is_plain, merge, refine};
use chartc_core::model::{Action, Chart, Expr};
use std::collections::BTreeMap;

/// What one place reads of one cell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// All that it may be.
    pub(super) all: u16,
    /// All that it may be where the condition of the place is asked for.
    pub(super) asked: u16,
    /// All that it may be where it is needed.
    pub(super) hard: u16,
    /// Whether it is shown or needed, and not only asked for or passed on.
    pub(super) shown: bool,
}

/// By place and number of the cell.
pub(super) type Records = BTreeMap<(Site, u32), Seen>;

/// Does all operations; whether the run can get past them.
pub(super) fn all(
    chart: &Chart,
    cells: &Cells,
    ops: &[Op<'_>],
    masks: &mut Masks,
    mut records: Option<&mut Records>,
) -> bool {
    for op in ops {
        let mut run = Run {
            chart,
            cells,
            masks,
            saved: Vec::new(),
            site: None,
            records: records.as_deref_mut(),
        };
        if !run.op(op) {
            return false;
        }
    }
    true
}

/// Notes what operations read, each with the same masks before it.
pub(super) fn sites(
    chart: &Chart,
    cells: &Cells,
    ops: &[Op<'_>],
    before: &Masks,
    masks: &mut Masks,
    records: &mut Records,
) {
    for op in ops {
        masks.clone_from(before);
        let mut run = Run {
            chart,
            cells,
            masks,
            saved: Vec::new(),
            site: None,
            records: Some(&mut *records),
        };
        run.op(op);
    }
}

struct Run<'r> {
    chart: &'r Chart,
    cells: &'r Cells,
    masks: &'r mut Masks,
    saved: Vec<Masks>,
    site: Option<Site>,
    records: Option<&'r mut Records>,
}

impl Run<'_> {
    fn op(&mut self, op: &Op<'_>) -> bool {
        match op {
            Op::Assume(site, condition, value) => {
                self.site = *site;
                if let (Some(site), Some(records)) = (site, self.records.as_deref_mut()) {
                    let (chart, cells, masks) = (self.chart, self.cells, &*self.masks);
                    walk(chart, condition, &mut |e| {
                        if let Some(cell) = cell_of(cells, e) {
                            records.entry((*site, cell as u32)).or_default().asked |= masks[cell];
                        }
                    });
                }
                if site.is_some() && self.records.is_some() {
                    look(self.chart, condition, How::Soft, self);
                }
                refine(self.chart, self.cells, condition, *value, self.masks)
            }
            Op::Read(site, expr, how) => {
                if self.records.is_some() {
                    self.site = Some(*site);
                    look(self.chart, expr, *how, self);
                }
                true
            }
            Op::Do(site, actions) => {
                self.site = Some(*site);
                let mut failed = None;
                self.block(actions, &mut failed);
                if let Some(failed) = failed {
                    merge(self.masks, &failed);
                }
                true
            }
            Op::Maybe(site, actions) => {
                let before = self.masks.clone();
                let done = self.op(&Op::Do(*site, actions));
                merge(self.masks, &before);
                done
            }
            Op::Set(value) => {
                if let Some(cell) = self.cells.number(*value) {
                    self.masks[cell] = OTHER;
                }
                true
            }
            Op::Fresh => {
                for (mask, row) in self.masks.iter_mut().zip(&self.cells.rows) {
                    if row.per_turn {
                        *mask = FRESH;
                    }
                }
                true
            }
            Op::Stir | Op::Started(_) | Op::Needs(_) => true,
        }
    }

    fn block(&mut self, actions: &[Action], failed: &mut Option<Masks>) {
        for action in actions {
            if self.records.is_some() {
                let how = if matches!(action, Action::Log(_) | Action::Assign(..)) {
                    How::Soft
                } else {
                    How::Hard
                };
                for expr in own_expressions(action) {
                    let how = if is_plain(expr) { How::Soft } else { how };
                    look(self.chart, expr, how, self);
                }
            }
            if fails(action) {
                match failed {
                    None => *failed = Some(self.masks.clone()),
                    Some(failed) => merge(failed, self.masks),
                }
            }
            match action {
                Action::Assign(id, value) => {
                    if let Some(cell) = self.cells.variable(*id) {
                        self.masks[cell] = self.cells.rows[cell].bit(literal(value).as_ref());
                    }
                }
                Action::If(test, then, other) => {
                    let before = self.masks.clone();
                    let mut taken: Option<Masks> = None;
                    for (part, value) in [(then, true), (other, false)] {
                        self.masks.clone_from(&before);
                        if refine(self.chart, self.cells, test, value, self.masks) {
                            self.block(part, failed);
                            match &mut taken {
                                None => taken = Some(self.masks.clone()),
                                Some(taken) => merge(taken, self.masks),
                            }
                        }
                    }
                    *self.masks = taken.unwrap_or(before);
                }
                Action::For(_, _, body) => {
                    // Once more, so that a round sees what the one before set.
                    for _ in 0..2 {
                        let before = self.masks.clone();
                        self.block(body, failed);
                        merge(self.masks, &before);
                    }
                }
                Action::Do(..)
                | Action::Raise(..)
                | Action::Send { .. }
                | Action::Cancel(_)
                | Action::Result(..)
                | Action::Log(_) => {}
            }
        }
    }
}

impl Reader for Run<'_> {
    fn read(&mut self, value: Value, how: How) {
        let (Some(cell), Some(site)) = (self.cells.number(value), self.site) else { return };
        let mask = self.masks[cell];
        if let Some(records) = self.records.as_deref_mut() {
            let seen = records.entry((site, cell as u32)).or_default();
            seen.all |= mask;
            seen.shown |= how != How::Soft;
            if how == How::Hard {
                seen.hard |= mask;
            }
        }
    }

    fn assume(&mut self, condition: &Expr, value: bool) -> bool {
        refine(self.chart, self.cells, condition, value, self.masks)
    }

    fn mark(&mut self) -> usize {
        self.saved.push(self.masks.clone());
        self.saved.len() - 1
    }

    fn back(&mut self, mark: usize) {
        if let Some(masks) = self.saved.get(mark) {
            self.masks.clone_from(masks);
        }
        self.saved.truncate(mark);
    }
}
