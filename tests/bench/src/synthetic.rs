//! Charts of any size: three levels, three lines a state, the same for the same size.

use crate::dice::Dice;
use std::fmt::Write;

/// Children of a state that has any.
const CHILDREN: usize = 4;
/// Events for each level, so that no inner line hides an outer one.
const EVENTS: usize = 12;
/// Variables.
const VARIABLES: usize = 24;

/// A chart of `states` states and a final one that checks without errors. Every state can be reached, and left.
pub(crate) fn chart(states: usize) -> String {
    let mut writer = Writer { text: String::new(), dice: Dice(7), left: states, tops: 0 };
    let block = 1 + CHILDREN + CHILDREN * CHILDREN;
    writer.tops = states.div_ceil(block).max(1);
    writer.head();
    for top in 0..writer.tops {
        writer.top(top);
    }
    writer.text.push_str("\n  final finished\n}\n");
    writer.text
}

struct Writer {
    text: String,
    dice: Dice,
    /// States that are still to be written.
    left: usize,
    tops: usize,
}

impl Writer {
    fn line(&mut self, depth: usize, line: &str) {
        for _ in 0..depth {
            self.text.push_str("  ");
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn head(&mut self) {
        self.text.push_str("/// A chart of many states.\nchart Synthetic {\n");
        for event in 0..3 * EVENTS {
            let data = if event % 2 == 1 { "(amount: Int)" } else { "" };
            self.line(1, &format!("event event_{event}{data}"));
        }
        for variable in 0..VARIABLES {
            self.line(1, &format!("var count_{variable}: Int = {variable}"));
        }
        self.text.push_str("\n  initial area_0\n");
    }

    fn top(&mut self, top: usize) {
        if self.left == 0 {
            return;
        }
        self.left -= 1;
        self.line(1, &format!("/// Area {top} of the chart."));
        self.line(1, &format!("state area_{top} {{"));
        let children = CHILDREN.min(self.left);
        if children > 0 {
            self.line(2, "initial room_0");
        }
        let last =
            if top + 1 == self.tops { "finished".to_owned() } else { format!("area_{}", top + 1) };
        for child in 0..children {
            let next =
                if child + 1 < children { format!("room_{}", child + 1) } else { last.clone() };
            self.middle(child, &next);
        }
        self.lines(2, 2, &last);
        self.line(1, "}");
    }

    fn middle(&mut self, child: usize, next: &str) {
        if self.left == 0 {
            return self.line(2, &format!("state room_{child}"));
        }
        self.left -= 1;
        self.line(2, &format!("state room_{child} {{"));
        let leaves = CHILDREN.min(self.left);
        if leaves > 0 {
            self.line(3, "initial desk_0");
        }
        for leaf in 0..leaves {
            self.left -= 1;
            self.line(3, &format!("state desk_{leaf} {{"));
            let sibling = format!("desk_{}", leaf + 1);
            self.lines(4, 0, if leaf + 1 < leaves { &sibling } else { next });
            self.line(3, "}");
        }
        self.lines(3, 1, next);
        self.line(2, "}");
    }

    /// Three lines: one to the next state, one to anywhere, one by the clock or the data.
    fn lines(&mut self, depth: usize, level: usize, next: &str) {
        let first = level * EVENTS + 2 * self.dice.below(EVENTS / 2);
        let second = level * EVENTS + 2 * self.dice.below(EVENTS / 2) + 1;
        let (a, b, c) =
            (self.dice.below(VARIABLES), self.dice.below(VARIABLES), self.dice.below(VARIABLES));
        let (bound, far) = (self.dice.below(100), self.dice.below(self.tops));
        self.line(depth, &format!("on event_{first} -> {next}"));
        let mut text = String::new();
        let _ = write!(
            text,
            "on event_{second}(amount) if amount > {bound} and count_{a} <= count_{b} -> area_{far} {{ count_{c} = count_{c} + amount }}"
        );
        self.line(depth, &text);
        if self.dice.below(4) == 0 {
            self.line(
                depth,
                &format!("when count_{a} > {} -> {next} {{ count_{a} = 0 }}", bound + 100),
            );
        } else {
            self.line(depth, &format!("after {}s -> area_{far}", bound + 1));
        }
    }
}
