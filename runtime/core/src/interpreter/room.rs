//! The bound on the data of a run: variables, answers, and events on their way, with those of its child charts.
//!
//! **The problem.** Each evaluation is bounded, but a run has as many as it has inputs: with each, a chart can double its texts. A host that
//! runs charts of others must not run out of memory. Measuring all data after each action would take longer than the action.
//!
//! **The idea.** What is stored is added up, and nothing is subtracted for what it replaces. So the sum is an upper bound. Only when it has
//! doubled since the data was last measured, or exceeds what the run may have, is the data measured again. A run with little data is never
//! measured.
//!
//! **Example.** A run may have 1,000 bytes, and little data is 100 bytes here.
//!
//! ```text
//! t = "…80…"     sum 80: little
//! t = "…80…"     sum 160: measured, 80
//! u = "…900…"    sum 980
//! u = "…10…"     sum 990
//! t = "…80…"     sum 1,070: measured, 90 + 80
//! ```

use crate::expr::EvalError;
use alloc::format;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicUsize, Ordering};

/// The bytes of data that a run and its child charts may have together, unless the host sets another bound.
pub const DATA_BYTES: usize = 32 << 20;

/// The bytes of data up to which a machine is not checked.
const LITTLE: usize = 64 << 10;

/// What a machine knows of its own data.
#[derive(Default)]
pub(super) struct Room {
    /// `None` until the data is more than little.
    family: Option<Arc<FamilyRoom>>,
    /// An upper bound of the bytes.
    sum: usize,
    /// The bytes when they were last measured.
    measured: usize,
    /// The part of `family.held` that is this machine's.
    counted: usize,
}

/// The room of a run and its child charts.
struct FamilyRoom {
    most: usize,
    held: AtomicUsize,
}

impl FamilyRoom {
    fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { most, held: AtomicUsize::new(0) })
    }
}

impl Room {
    /// Sets the bytes that the run and its child charts may have together.
    pub(super) fn set_most(&mut self, most: usize) {
        *self = Self { family: Some(FamilyRoom::new(most)), ..Self::default() };
    }

    /// The room of a child chart.
    pub(super) fn of_child(&mut self) -> Self {
        let family = self.family.get_or_insert_with(|| FamilyRoom::new(DATA_BYTES));
        Self { family: Some(Arc::clone(family)), ..Self::default() }
    }

    /// The same room, for other data.
    pub(super) fn emptied(&mut self) -> Self {
        Self { family: self.family.clone(), ..Self::default() }
    }

    /// Adds bytes that are about to be stored. Returns whether the data is still so small that it is not checked.
    #[inline]
    pub(super) fn add(&mut self, bytes: usize) -> bool {
        self.sum = self.sum.saturating_add(bytes);
        self.sum <= LITTLE
    }

    /// Checks that the bytes that [`Self::add`] has added fit. `measure` returns the bytes of the data without them.
    ///
    /// # Errors
    /// The data would exceed its bound. Then the bytes are not counted.
    pub(super) fn make(
        &mut self,
        bytes: usize,
        measure: impl Fn() -> usize,
    ) -> Result<(), EvalError> {
        let family = self.family.get_or_insert_with(|| FamilyRoom::new(DATA_BYTES)).clone();
        if self.sum > self.measured.saturating_mul(2).saturating_add(LITTLE) {
            self.set(measure().saturating_add(bytes));
        }
        if self.count(&family) <= family.most {
            return Ok(());
        }
        self.set(measure().saturating_add(bytes));
        if self.count(&family) <= family.most {
            return Ok(());
        }
        self.sum -= bytes;
        self.count(&family);
        let message = format!("the data of the run would take more than {} bytes", family.most);
        Err(EvalError { message })
    }

    fn set(&mut self, measured: usize) {
        (self.sum, self.measured) = (measured, measured);
    }

    /// Counts the sum in the room of the family. Returns the bytes of all its machines.
    fn count(&mut self, family: &FamilyRoom) -> usize {
        let (more, less) =
            (self.sum.saturating_sub(self.counted), self.counted.saturating_sub(self.sum));
        self.counted = self.sum;
        family.held.fetch_add(more, Ordering::Relaxed);
        family.held.fetch_sub(less, Ordering::Relaxed) - less
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        if let Some(family) = &self.family {
            family.held.fetch_sub(self.counted, Ordering::Relaxed);
        }
    }
}
