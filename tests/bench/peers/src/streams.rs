//! The events that machines are driven with.

use crate::dice::Dice;

/// Events in a stream.
pub(crate) const LENGTH: usize = 65_536;
/// Events after which a predictable stream begins again.
const PERIOD: usize = 20;

/// How often each event comes, in parts of their sum; in the chart's order of events.
pub(crate) struct Mix(pub(crate) &'static [usize]);

impl Mix {
    /// Each event is drawn for itself.
    pub(crate) fn random(&self) -> Vec<u8> {
        let mut dice = Dice(2026);
        let sum = self.0.iter().sum();
        (0..LENGTH).map(|_| self.at(dice.below(sum))).collect()
    }

    /// The same few events again and again, each as often as the mix says, or each once where they are more.
    pub(crate) fn predictable(&self) -> Vec<u8> {
        let sum: usize = self.0.iter().sum();
        let period = PERIOD.max(self.0.len());
        let mut pattern: Vec<u8> =
            (0..period).map(|i| self.at((2 * i + 1) * sum / (2 * period))).collect();
        let mut dice = Dice(7);
        for last in (1..period).rev() {
            pattern.swap(last, dice.below(last + 1));
        }
        (0..LENGTH).map(|i| pattern[i % period]).collect()
    }

    /// The event in whose part `point` lies.
    fn at(&self, point: usize) -> u8 {
        let mut below = 0;
        let event = self.0.iter().position(|share| {
            below += share;
            point < below
        });
        event.expect("the point is in the sum") as u8
    }
}
