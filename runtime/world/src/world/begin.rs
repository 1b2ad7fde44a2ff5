//! The creation of a world from a file.

use super::World;
use crate::artifact::{Nature, Policy, size};
use crate::settings::Settings;
use crate::state::{ENDOWMENT, State};
use chartc_runtime::agent::{Declared, WorldError, WorldFile};
use std::sync::Arc;

/// The owner of artifacts for which the file names none.
pub(super) const SYSTEM: &str = "system";

impl World {
    /// Creates a world from the text of a world's file, in the same format as for a single agent (`--world FILE`).
    ///
    /// # Errors
    /// The first error, with its place and a remedy.
    pub fn parse(text: &str, settings: Settings) -> Result<Self, WorldError> {
        let file = WorldFile::parse(text)?;
        let mut state = State { settings, ..State::default() };
        let fault = |place: &str, why: String| WorldError {
            place: format!("`{place}` "),
            why,
            stranger: None,
        };
        state.open(SYSTEM, file.disk.of(SYSTEM));
        let named = file.balances.keys().chain(file.disk.each.keys());
        for name in named.chain(file.artifacts.values().map(|artifact| &artifact.owner)) {
            state.open(name, file.disk.of(name));
        }
        for (name, scrip) in &file.balances {
            let place = format!("balances.{name}");
            if *scrip > 0 {
                let minted =
                    state.ledger.mint(name, crate::ledger::Resource::Scrip, *scrip, ENDOWMENT);
                minted.map_err(|why| fault(&place, why.to_string()))?;
            }
            state.list(name);
        }
        for (id, declared) in file.artifacts {
            let place = format!("artifacts.{id}");
            if id.starts_with("genesis_") {
                // Genesis artifacts exist already. Entries for them in a file script them for a single agent.
                continue;
            }
            let methods = declared.methods.clone();
            let owner = declared.owner.clone();
            let Declared { ty, content, read, write, invoke, price, .. } = declared;
            let policy = Policy { read, write, invoke, price };
            let bytes = size(&content);
            if bytes > state.settings.max_content_bytes {
                let most = state.settings.max_content_bytes;
                return Err(fault(
                    &place,
                    format!("has {bytes} bytes; an artifact has at most {most}"),
                ));
            }
            state
                .make(&id, &owner, &owner, &ty, content, Nature::Data, policy)
                .map_err(|failure| fault(&place, failure.why))?;
            if let Some(artifact) = state.artifacts.get_mut(&id) {
                artifact.methods = methods;
            }
        }
        state.settle();
        state.notices.clear();
        // A 64-bit FNV-1a hash. It only tells files apart and protects nothing, so it need not be cryptographic.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        let world = Self::new(Settings::default());
        *world.state() = state;
        Ok(Self { file: Arc::from(format!("{hash:016x}")), ..world })
    }
}
