//! Durations in the notation of charts.

use core::fmt;

/// A duration in milliseconds. It is formatted and parsed in the notation of charts: `250ms`, `30s`, `5m`, `2h`, `7d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Duration(pub u64);

const DAY: u64 = 86_400_000;

const UNITS: [(&str, u64); 5] =
    [("d", DAY), ("h", 3_600_000), ("m", 60_000), ("s", 1000), ("ms", 1)];

impl fmt::Display for Duration {
    /// Uses the largest unit that leaves no fraction. Less than three days are written in hours, as in `48h`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (unit, millis) in UNITS {
            // Up to two days, hours are the more usual unit: `48h`.
            let few = millis == DAY && self.0 < 3 * DAY;
            if self.0 != 0 && self.0.is_multiple_of(millis) && !few {
                return write!(f, "{}{unit}", self.0 / millis);
            }
        }
        f.write_str("0s")
    }
}

/// The text is not a number with a unit, or the duration exceeds 64 bits of milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotADuration;

impl core::str::FromStr for Duration {
    type Err = NotADuration;

    fn from_str(text: &str) -> Result<Self, NotADuration> {
        let end = text.find(|c: char| !c.is_ascii_digit()).ok_or(NotADuration)?;
        let (digits, unit) = text.split_at(end);
        let (_, millis) = UNITS.iter().find(|(name, _)| *name == unit).ok_or(NotADuration)?;
        let count: u64 = digits.parse().map_err(|_| NotADuration)?;
        count.checked_mul(*millis).map(Self).ok_or(NotADuration)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    extern crate alloc;
    use alloc::string::ToString;

    #[test]
    fn reading_what_is_shown() {
        for (millis, text) in [
            (0, "0s"),
            (250, "250ms"),
            (1500, "1500ms"),
            (30_000, "30s"),
            (300_000, "5m"),
            (7_200_000, "2h"),
            (48 * 3_600_000, "48h"),
            (3 * DAY, "3d"),
            (3 * DAY + 3_600_000, "73h"),
        ] {
            assert_eq!(Duration(millis).to_string(), text);
            assert_eq!(text.parse(), Ok(Duration(millis)));
        }
    }

    #[test]
    fn what_is_no_duration() {
        for text in [
            "",
            "5",
            "s",
            "-5s",
            "5 s",
            "5w",
            "1.5s",
            "99999999999999999999h",
            "9999999999999999999h",
        ] {
            assert_eq!(text.parse::<Duration>(), Err(NotADuration), "{text}");
        }
    }
}
