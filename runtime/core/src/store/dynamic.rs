//! Registers in memory that grows when it is needed: a waiting machine holds little more than its configuration.

use super::queue::{Growing, Waiting};
use super::{
    Amounts, Cells, CellsMut, Counts, Fan, Part, Places, Question, Sends, Store, Underway, Walk,
    bits, queue_places,
};
use crate::arena::{StateId, TransitionId};
use crate::tables::Tables;
use alloc::boxed::Box;
use alloc::vec;

/// The maximum number of active leaves that are stored inline.
const FEW: usize = 2;

/// The maximum number of transitions of a microstep that are stored inline.
const TOGETHER: usize = 8;

/// Registers on the heap, sized by the chart's tables.
#[derive(Debug)]
pub struct Dynamic {
    /// The words that every machine needs: the configuration, the times of entry and start, the deadlines, and the histories, in this
    /// order.
    pub(super) words: Box<[u64]>,
    pub(super) leaves: Leaves,
    pub(super) queue: Growing,
    pub(super) sizes: Sizes,
    pub(super) counted: Option<Box<Counted>>,
    pub(super) busy: Option<Box<Busy>>,
    pub(super) sends: Waiting,
}

/// The numbers from which the lengths of all slices follow.
#[derive(Debug, Clone, Copy)]
// Four bytes each, because they are part of every idle machine.
pub(super) struct Sizes {
    states: u32,
    /// The maximum number of states that are active together.
    together: u32,
    steps: u32,
    deadlines: u32,
}

/// The registers that keep results of earlier turns and calls, and so outlive what is under way.
#[derive(Debug, Default)]
pub(super) struct Counted {
    pub(super) counts: Box<[Counts]>,
    pub(super) walks: Box<[Walk]>,
    pub(super) amounts: Box<[Amounts]>,
}

/// The registers of what is under way, and the sets of a microstep. Allocated only while they are used.
#[derive(Debug, Default)]
pub(super) struct Busy {
    pub(super) questions: Box<[Question]>,
    pub(super) steps: Box<[Underway]>,
    pub(super) fans: Box<[Fan]>,
    pub(super) due: Box<[TransitionId]>,
    pub(super) places: Box<[u32]>,
    pub(super) sets: Box<[u64]>,
}

/// The active leaves, inline if a chart can have few.
#[derive(Debug, Clone)]
pub(super) enum Leaves {
    Few([StateId; FEW]),
    Many(Box<[StateId]>),
}

impl Leaves {
    fn new(most: usize) -> Self {
        if most <= FEW {
            Self::Few([StateId(0); FEW])
        } else {
            Self::Many(vec![StateId(0); most].into())
        }
    }

    #[inline(always)]
    fn all(&self) -> &[StateId] {
        match self {
            Self::Few(few) => few,
            Self::Many(many) => many,
        }
    }

    #[inline(always)]
    fn all_mut(&mut self) -> &mut [StateId] {
        match self {
            Self::Few(few) => few,
            Self::Many(many) => many,
        }
    }
}

/// The transitions that a microstep takes.
#[derive(Debug)]
pub enum Together {
    /// At most [`TOGETHER`] transitions, stored inline.
    Few([TransitionId; TOGETHER]),
    /// Any number of transitions, on the heap.
    Many(Box<[TransitionId]>),
}

impl AsMut<[TransitionId]> for Together {
    #[inline]
    fn as_mut(&mut self) -> &mut [TransitionId] {
        match self {
            Self::Few(few) => few,
            Self::Many(many) => many,
        }
    }
}

impl Dynamic {
    /// The registers before the start: no state is active, and no deadline is armed.
    pub fn new(tables: &Tables) -> Self {
        let (set, together) = (bits::words(tables.states.len()), tables.summary.together as usize);
        let (steps, deadlines) = (tables.steps.len(), tables.deadlines());
        let first = set + together + steps;
        let mut words = vec![0; first + deadlines + set * tables.histories()];
        // No deadline is armed.
        words[first..first + deadlines].fill(u64::MAX);
        let size = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Self {
            words: words.into(),
            leaves: Leaves::new(tables.summary.leaves as usize),
            queue: Growing::new(),
            sizes: Sizes {
                states: size(tables.states.len()),
                together: size(together),
                steps: size(steps),
                deadlines: size(deadlines),
            },
            counted: None,
            busy: None,
            sends: None,
        }
    }

    fn counted(&mut self) -> &mut Counted {
        self.counted.get_or_insert_default()
    }

    fn busy(&mut self) -> &mut Busy {
        self.busy.get_or_insert_default()
    }
}

/// Allocates `len` copies of `with` if the slice is empty.
fn fill<T: Clone>(slice: &mut Box<[T]>, len: usize, with: T) {
    if slice.is_empty() && len > 0 {
        *slice = vec![with; len].into();
    }
}

impl Store for Dynamic {
    type Selected = Together;

    fn empty(tables: &Tables) -> Self {
        Self::new(tables)
    }

    #[inline]
    fn selected(leaves: usize) -> Together {
        if leaves <= TOGETHER {
            Together::Few([TransitionId(0); TOGETHER])
        } else {
            Together::Many(vec![TransitionId(0); leaves].into())
        }
    }

    #[inline(always)]
    fn cells(&self) -> Cells<'_> {
        let Sizes { states, together, steps, deadlines } = self.sizes;
        let set = bits::words(states as usize);
        // None of these calls can panic, so the compiler removes the slices that the caller does not read.
        #[inline(always)]
        fn cut(words: &[u64], at: usize) -> (&[u64], &[u64]) {
            words.split_at_checked(at).unwrap_or_default()
        }
        let (configuration, rest) = cut(&self.words, set);
        let (entered, rest) = cut(rest, together as usize);
        let (started, rest) = cut(rest, steps as usize);
        let (deadlines, history) = cut(rest, deadlines as usize);
        let (counts, walks, amounts): (&[Counts], &[Walk], &[Amounts]) = match &self.counted {
            Some(counted) => (&counted.counts, &counted.walks, &counted.amounts),
            None => (&[], &[], &[]),
        };
        let (questions, steps, fans, due, sets) = match &self.busy {
            Some(busy) => {
                let Busy { questions, steps, fans, due, sets, .. } = &**busy;
                (&**questions, &**steps, &**fans, &**due, &**sets)
            }
            None => (
                &[] as &[Question],
                &[] as &[Underway],
                &[] as &[Fan],
                &[] as &[TransitionId],
                &[] as &[u64],
            ),
        };
        let (found, rest) = cut(sets, set);
        let (entry, rest) = cut(rest, set);
        let (domains, rest) = cut(rest, set);
        let (touched, rest) = cut(rest, set);
        let (unbroken, _) = cut(rest, set);
        Cells {
            configuration,
            leaves: self.leaves.all(),
            history,
            touched,
            unbroken,
            found,
            entered,
            counts,
            questions,
            started,
            steps,
            walks,
            fans,
            amounts,
            deadlines,
            sends: self.sends.as_ref().map_or(&[], |sends| sends),
            entry,
            domains,
            due,
        }
    }

    #[inline(always)]
    fn cells_mut(&mut self) -> CellsMut<'_> {
        let Sizes { states, together, steps, deadlines } = self.sizes;
        let set = bits::words(states as usize);
        #[inline(always)]
        fn cut(words: &mut [u64], at: usize) -> (&mut [u64], &mut [u64]) {
            words.split_at_mut_checked(at).unwrap_or_default()
        }
        let (configuration, rest) = cut(&mut self.words, set);
        let (entered, rest) = cut(rest, together as usize);
        let (started, rest) = cut(rest, steps as usize);
        let (deadlines, history) = cut(rest, deadlines as usize);
        let (counts, walks, amounts): (&mut [Counts], &mut [Walk], &mut [Amounts]) =
            match &mut self.counted {
                Some(counted) => {
                    let Counted { counts, walks, amounts } = &mut **counted;
                    (counts, walks, amounts)
                }
                None => (&mut [], &mut [], &mut []),
            };
        let (questions, steps, fans, due, places, sets) = match &mut self.busy {
            Some(busy) => {
                let Busy { questions, steps, fans, due, places, sets } = &mut **busy;
                (
                    &mut **questions,
                    &mut **steps,
                    &mut **fans,
                    &mut **due,
                    &mut **places,
                    &mut **sets,
                )
            }
            None => (
                &mut [] as &mut [Question],
                &mut [] as &mut [Underway],
                &mut [] as &mut [Fan],
                &mut [] as &mut [TransitionId],
                &mut [] as &mut [u32],
                &mut [] as &mut [u64],
            ),
        };
        let (found, rest) = cut(sets, set);
        let (entry, rest) = cut(rest, set);
        let (domains, rest) = cut(rest, set);
        let (touched, rest) = cut(rest, set);
        let (unbroken, defaults) = cut(rest, set);
        CellsMut {
            configuration,
            leaves: self.leaves.all_mut(),
            history,
            touched,
            unbroken,
            found,
            entered,
            counts,
            questions,
            started,
            steps,
            walks,
            fans,
            amounts,
            deadlines,
            sends: Sends::Growing(&mut self.sends),
            entry,
            due,
            places,
            domains,
            defaults,
            queue: Places::Growing(&mut self.queue, queue_places(states as usize)),
        }
    }

    fn need(&mut self, part: Part, tables: &Tables) {
        let (states, steps) = (tables.states.len(), tables.steps.len());
        let leaves = self.leaves.all().len();
        match part {
            Part::Counts => fill(&mut self.counted().counts, states, Counts::NEW),
            Part::Walks => fill(&mut self.counted().walks, tables.walks.len(), Walk::NEW),
            Part::Amounts => {
                let len = if tables.reads_amounts { states } else { 0 };
                fill(&mut self.counted().amounts, len, Amounts::default());
            }
            Part::Questions => fill(&mut self.busy().questions, leaves, Question::NONE),
            Part::Steps => fill(&mut self.busy().steps, steps, Underway::NEW),
            Part::Fans => fill(&mut self.busy().fans, tables.fans(), Fan::default()),
            Part::Due => {
                let deadlines = self.sizes.deadlines as usize;
                let busy = self.busy();
                fill(&mut busy.due, deadlines, TransitionId(0));
                fill(&mut busy.places, deadlines, 0);
            }
            // Six sets, in the order of `cells_mut`: found, entry, domains, touched, unbroken, defaults.
            Part::Sets => fill(&mut self.busy().sets, 6 * bits::words(states), 0),
        }
    }

    #[inline(always)]
    fn entered_mut(&mut self, place: u32) -> &mut u64 {
        // The offset is that of `cells_mut`, which would compute all the other slices, too.
        &mut self.words[bits::words(self.sizes.states as usize) + place as usize]
    }

    #[inline(always)]
    fn deadline_mut(&mut self, slot: u32) -> &mut u64 {
        let Sizes { states, together, steps, .. } = self.sizes;
        let first = bits::words(states as usize) + together as usize + steps as usize;
        &mut self.words[first + slot as usize]
    }

    #[inline(always)]
    fn is_busy(&self) -> bool {
        self.busy.is_some() || self.sends.is_some() || self.queue.has_grown()
    }

    fn calm(&mut self) {
        // `counted` stays, because it has results of earlier turns and calls.
        self.busy = None;
        self.sends = None;
        self.queue.shrink();
    }
}

// Copies of registers that reuse their memory, so that an exploration that returns to the same point again and again does not allocate.

// Written by hand, because a derived `Clone` has no `clone_from` that reuses the memory of the fields.
impl Clone for Counted {
    fn clone(&self) -> Self {
        let Self { counts, walks, amounts } = self;
        Self { counts: counts.clone(), walks: walks.clone(), amounts: amounts.clone() }
    }

    fn clone_from(&mut self, from: &Self) {
        let Self { counts, walks, amounts } = from;
        self.counts.clone_from(counts);
        self.walks.clone_from(walks);
        self.amounts.clone_from(amounts);
    }
}

impl Clone for Busy {
    fn clone(&self) -> Self {
        let Self { questions, steps, fans, due, places, sets } = self;
        Self {
            questions: questions.clone(),
            steps: steps.clone(),
            fans: fans.clone(),
            due: due.clone(),
            places: places.clone(),
            sets: sets.clone(),
        }
    }

    fn clone_from(&mut self, from: &Self) {
        let Self { questions, steps, fans, due, places, sets } = from;
        self.questions.clone_from(questions);
        self.steps.clone_from(steps);
        self.fans.clone_from(fans);
        self.due.clone_from(due);
        self.places.clone_from(places);
        self.sets.clone_from(sets);
    }
}

impl Clone for Dynamic {
    fn clone(&self) -> Self {
        let Self { words, leaves, queue, sizes, counted, busy, sends } = self;
        Self {
            words: words.clone(),
            leaves: leaves.clone(),
            queue: queue.clone(),
            sizes: *sizes,
            counted: counted.clone(),
            busy: busy.clone(),
            sends: sends.clone(),
        }
    }

    fn clone_from(&mut self, from: &Self) {
        let Self { words, leaves, queue, sizes, counted, busy, sends } = from;
        self.words.clone_from(words);
        self.leaves.clone_from(leaves);
        self.queue.clone_from(queue);
        self.sizes = *sizes;
        self.counted.clone_from(counted);
        self.busy.clone_from(busy);
        self.sends.clone_from(sends);
    }
}

#[cfg(test)]
mod tests {
    use super::{Dynamic, Part, Store};
    use crate::tables::{StateRow, StepRow, Summary, Tables, TransitionRow, TriggerRow};
    use alloc::vec;

    #[test]
    fn each_register_has_a_place_of_its_own() {
        let line =
            |slot| TransitionRow { trigger: TriggerRow::After(slot), ..TransitionRow::PLAIN };
        let tables = Tables {
            states: vec![StateRow::PLAIN; 70].into(),
            steps: vec![StepRow::PLAIN; 3].into(),
            transitions: vec![line(0), line(1)].into(),
            summary: Summary { together: 5, ..Summary::PLAIN },
            ..Tables::EMPTY
        };
        let mut store = Dynamic::new(&tables);
        (0..5).for_each(|n| *store.entered_mut(n) = 1 + u64::from(n));
        (0..2).for_each(|n| *store.deadline_mut(n) = 100 + u64::from(n));
        assert_eq!(store.cells().touched, []);
        store.need(Part::Sets, &tables);
        let cells = store.cells();
        assert!(cells.entered.iter().copied().eq(1..=5));
        assert_eq!(cells.deadlines, [100, 101]);
        assert!(
            [cells.configuration, cells.touched, cells.unbroken].iter().all(|set| *set == [0; 2])
        );
        assert_eq!((cells.started, cells.history), (&[0; 3][..], &[][..]));
    }
}
