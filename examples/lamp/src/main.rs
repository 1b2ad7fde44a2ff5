//! The lamp on a computer, where a pin is a line of text.

use chartc_core::generated::BadParam;
use lamp_example::{Lamp, Pin};

struct Shown;

impl Pin for Shown {
    fn set(&mut self, percent: i64) {
        println!("glows with {percent} %");
    }
}

fn main() -> Result<(), BadParam> {
    let mut lamp = Lamp::new(Shown, 0)?;
    lamp.press(1_000);
    lamp.press(2_000);
    if let Some(due) = lamp.tick(3_000) {
        println!("sleeps until {due} ms");
        lamp.tick(due);
    }
    Ok(())
}
