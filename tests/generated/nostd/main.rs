//! A host without `std` and without an allocator. The exit code tells what became of the machine.
#![no_std]
#![no_main]

mod benches;

chartc_core::include_chart!(mod bells);
chartc_core::include_chart!(mod lamp);

use chartc_core::generated::Duration;
use chartc_core::machine::{Effect, Fault, Record, Sink};
use lamp::{Event, EventName, Inputs, Level, Machine, Mode, Params, State};

struct Beeper {
    beeps: i64,
}

impl lamp::Host for Beeper {
    fn glow(&mut self, level: Level, _: Mode) -> Result<f64, Fault> {
        Ok(level.percent as f64)
    }

    fn steady(&mut self, n: i64, pause: Option<Duration>) -> Result<bool, Fault> {
        Ok(n > 1 && pause.is_some())
    }

    fn beep(&mut self, times: i64, _: Mode) -> Result<(), Fault> {
        self.beeps += times;
        Ok(())
    }
}

/// Counts the lines that were taken.
struct Counter(u32);

impl Sink for Counter {
    fn effect(&mut self, _: Effect) {}

    fn record(&mut self, record: Record) {
        if let Record::Taken(_) = record {
            self.0 += 1;
        }
    }
}

impl bells::Host for Beeper {
    fn pull(&mut self, tone: bells::Tone) -> Result<(), Fault> {
        self.beeps += tone.pitch;
        Ok(())
    }
}

#[unsafe(no_mangle)]
extern "C" fn main() -> i32 {
    match run().and_then(|()| ring()).and_then(|()| benches::run()) {
        Ok(()) => 0,
        Err(step) => step,
    }
}

/// Fails with the number of the step that went wrong.
fn run() -> Result<(), i32> {
    let step = |number: i32, holds: bool| if holds { Ok(()) } else { Err(number) };
    let out_of_range = Params { presses: Some(9), ..Params::new() };
    step(1, Machine::new(out_of_range, Beeper { beeps: 0 }).is_err())?;
    let params = Params { rest: Some(Duration(500)), ..Params::new() };
    let mut machine = Machine::new(params, Beeper { beeps: 0 }).map_err(|_| 2)?;
    machine.set_inputs(Inputs { shaken: Some(None), ..Inputs::default() });
    let mut sink = Counter(0);
    machine.start(0, &mut sink);
    step(3, machine.configuration().eq([State::Off]))?;
    step(4, machine.enabled_events().any(|event| event == EventName::Press))?;
    machine.send(Event::Press, 10, &mut sink);
    step(5, machine.is_in(State::LitLightStrongCold) && machine.is_in(State::LitFanStill))?;
    step(6, machine.host().beeps == 1 && machine.data().count == 2)?;
    machine.send(Event::FanOn { speed: 3 }, 20, &mut sink);
    step(7, machine.is_in(State::LitFanTurning) && machine.data().moved == 3)?;
    machine.turn(30, &mut sink);
    let due = machine.next_deadline().ok_or(8)?;
    machine.tick(due, &mut sink);
    step(9, machine.is_in(State::LitLightNormal))?;
    machine.send(Event::Press, due + 1, &mut sink);
    step(10, machine.is_in(State::Waiting) && machine.ended().is_none())?;
    step(11, "lit.light.party".parse() == Ok(State::LitLightParty))?;
    step(12, sink.0 >= 5)
}

/// Events that the chart sends to itself, by due time and with their data.
fn ring() -> Result<(), i32> {
    let step = |number: i32, holds: bool| if holds { Ok(()) } else { Err(number) };
    let mut sink = Counter(0);
    let mut machine = bells::Machine::new(bells::Params::new(), Beeper { beeps: 0 }).map_err(|_| 20)?;
    machine.start(0, &mut sink);
    machine.send(bells::Event::Wind { turns: 3 }, 10, &mut sink);
    step(21, machine.next_deadline() == Some(710))?;
    machine.tick(710, &mut sink);
    step(22, machine.is_in(bells::State::TowerBigDown) && machine.host().beeps == 1)?;
    machine.send(bells::Event::Hush, 720, &mut sink);
    machine.tick(2110, &mut sink);
    step(23, machine.is_in(bells::State::TowerSmallRinging))?;
    step(24, machine.next_deadline() == Some(2210))
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// The precompiled `core` names it for unwinding, which never happens here.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
