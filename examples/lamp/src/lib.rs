//! A lamp for a device without an operating system: no `std`, no allocator.
#![no_std]

chartc_core::include_chart!(pub mod lamp);

use chartc_core::generated::BadParam;
use chartc_core::machine::{Fault, Instant};
use lamp::{Event, Host, Machine, Params};

/// What sets the brightness on the device.
pub trait Pin {
    /// Sets the brightness, 0 to 100.
    fn set(&mut self, percent: i64);
}

/// Makes what the chart calls of a pin.
struct Board<P>(P);

impl<P: Pin> Host for Board<P> {
    fn glow(&mut self, percent: i64) -> Result<(), Fault> {
        self.0.set(percent);
        Ok(())
    }
}

/// A lamp with one button.
pub struct Lamp<P: Pin>(Machine<Board<P>>);

impl<P: Pin> Lamp<P> {
    /// A lamp that is off. Times are milliseconds of the device's clock.
    ///
    /// # Errors
    /// A param of the chart is out of its range; this chart has none.
    pub fn new(pin: P, now: Instant) -> Result<Self, BadParam> {
        let mut machine = Machine::new(Params::new(), Board(pin))?;
        machine.start(now, &mut ());
        Ok(Self(machine))
    }

    /// The button was pressed.
    pub fn press(&mut self, now: Instant) {
        self.0.send(Event::Press, now, &mut ());
    }

    /// The button was held down.
    pub fn hold(&mut self, now: Instant) {
        self.0.send(Event::Hold, now, &mut ());
    }

    /// Lets time pass. Returns when to call this again: until then the device may sleep.
    pub fn tick(&mut self, now: Instant) -> Option<Instant> {
        self.0.tick(now, &mut ());
        self.0.next_deadline()
    }
}
