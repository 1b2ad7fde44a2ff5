//! Texts that are meant to hurt, written by an agent.

use super::built;
use chartc::chart_compiler::{MOST_BYTES, MOST_FINDINGS};
use chartc_world::{Chain, Form, Fuel, invoke_method, methods};
use test_support::hostile::texts;
use test_support::project::number;

/// Longer texts are cut. `CHARTC_WORKSHOP_BYTES=1000000` is the whole campaign.
#[test]
fn no_text_hurts_whoever_compiles_or_invokes_it() {
    let (mut refused, mut taken) = (0, 0);
    let most = number("CHARTC_WORKSHOP_BYTES", 4_000_usize).min(MOST_BYTES);
    // Those that are too large, as far as they are taken, too.
    let all = texts().into_iter().flat_map(|(name, text)| {
        let part = (text.len() > most).then(|| (name, part(&text, most)));
        let whole = (text.len() <= most || text.len() > MOST_BYTES).then_some((name, text));
        whole.into_iter().chain(part)
    });
    for (name, text) in all {
        for form in [Form::Chart, Form::Agent] {
            match built("a", form, &text, &[]) {
                Err(found) => {
                    assert!(!found.is_empty() && found.len() <= MOST_FINDINGS + 1, "{name}");
                    assert!(
                        found.iter().all(|f| f.line >= 1 && f.column >= 1),
                        "{name}: {found:?}"
                    );
                    assert!(text.len() <= MOST_BYTES || found[0].code == "C0002", "{name}");
                    refused += 1;
                }
                Ok(family) => {
                    for method in methods(family.root()) {
                        let arguments = vec![chartc_core::expr::Value::None; method.fields.len()];
                        let limits = (Fuel::default(), &Chain::new(1_000_000));
                        // Whatever it is, it comes back.
                        drop(invoke_method(
                            &family,
                            &method.name,
                            &arguments,
                            limits,
                            &|_, _, _| panic!("no artifact is there"),
                        ));
                    }
                    taken += 1;
                }
            }
        }
    }
    assert!(refused > 50 && taken > 3, "{refused} refused, {taken} taken");
}

/// The beginning of a text.
fn part(text: &str, most: usize) -> String {
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].to_owned()
}
