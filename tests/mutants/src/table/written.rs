//! Steps that are written out as code: what the emitter writes, and the loop around it.

use super::{Mutant, of};

const SAME: &[&str] = &["semantics::written::out_as_the_engine_takes_them"];

pub(super) fn all() -> Vec<Mutant> {
    let machine = of(
        "runtime/core/src/generated/direct.rs",
        &[
            (
                "written-data-of-raised-events-kept",
                &[(
                    "if let Occurrence::Event(_) = next {
                self.program.dequeue();
            }",
                    "",
                )],
                SAME,
            ),
            ("written-end-without-exit", &[("self.program.leave(sink);", "")], SAME),
            ("written-per-turn-kept", &[("self.program.begin_turn();", "")], SAME),
            (
                "written-turns-not-counted",
                &[(
                    "registers.turns += 1;
            sink.record(Record::TurnEnded(registers.turns));",
                    "sink.record(Record::TurnEnded(registers.turns));",
                )],
                SAME,
            ),
            (
                "written-dead-end-again-and-again",
                &[("self.program.registers_mut().dead = true;", "")],
                SAME,
            ),
            (
                "written-refused-unsaid",
                &[(
                    "if !taken {
            sink.record(Record::Refused(id));
        }",
                    "",
                )],
                SAME,
            ),
            (
                "written-livelock-error-unheard",
                &[("self.program.on_other(Occurrence::Error(kind), sink);", "")],
                SAME,
            ),
        ],
    );
    let unroll = of(
        "runtime/core/src/semantics/unroll.rs",
        &[(
            "unrolled-lines-in-reverse",
            &[(
                "tried.chain(sure).collect()",
                "{ let mut all: Vec<Candidate> = tried.chain(sure).collect(); all.reverse(); all }",
            )],
            SAME,
        )],
    );
    let cell = of(
        "src/compiler/emit/rust/direct/cells.rs",
        &[
            (
                "written-refuted-as-faulted",
                &[(
                    "refuted.tell(\"refuted\", transition.0);",
                    "refuted.tell(\"faulted\", transition.0);",
                )],
                SAME,
            ),
            (
                "written-guard-fault-unsaid",
                &[("\"if failed { direct::fault(self, sink); }\\n\"", "\"let _ = failed;\\n\"")],
                SAME,
            ),
            (
                "written-eventless-fault-again-and-again",
                &[(
                    "\"if before == 0 && *faults > 0 { direct::fault(self, sink); }\\n\"",
                    "\"if *faults > before { direct::fault(self, sink); }\\n\"",
                )],
                SAME,
            ),
            ("written-dead-for-ever", &[("out.code(\"self.registers.revive();\\n\");", "")], SAME),
        ],
    );
    let pool = of(
        "src/compiler/emit/rust/direct/cells.rs",
        &[(
            "written-block-fault-unsaid",
            &[(
                "code!(\"if {result}.is_err() {{ direct::fault(self, sink); }}\\n\", result).using(Use::Sink)",
                "code!(\"let _ = {result};\\n\", result)",
            )],
            SAME,
        )],
    );
    machine.into_iter().chain(unroll).chain(cell).chain(pool).collect()
}
