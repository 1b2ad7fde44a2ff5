//! Written by hand for speed: by event first, with the next state in a table of the event, so that little is left to guess for the
//! processor. Additions are checked, as a chart's are.

pub(crate) mod hierarchy;
pub(crate) mod parallel;
pub(crate) mod ring;

/// Adds one; an overflow is counted and leaves the number as it is.
fn add(number: &mut i64, more: i64, faults: &mut u32) {
    match number.checked_add(more) {
        Some(sum) => *number = sum,
        None => fault(faults),
    }
}

#[cold]
#[inline(never)]
fn fault(faults: &mut u32) {
    *faults += 1;
}
