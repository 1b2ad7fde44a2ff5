//! Fingerprints of findings: they stay the same when lines are inserted elsewhere.

use super::positions;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::source::Sources;
use std::collections::BTreeMap;

/// Computes a fingerprint for each finding, 32 hexadecimal digits. It covers the rule, the file, the trimmed text of the finding's first
/// line, and a counter of findings that agree in all of these.
pub(crate) fn fingerprints<'d>(
    diagnostics: impl IntoIterator<Item = &'d Diagnostic>,
    sources: &Sources,
    named: impl Fn(&str) -> String,
) -> Vec<String> {
    let mut seen: BTreeMap<(&str, String, &str), usize> = BTreeMap::new();
    let one = |found: &'d Diagnostic| {
        let source = sources.get(found.span.file);
        let (start, _) = positions(found.span, sources);
        let line = source.text[source.line(start.line)].trim();
        let (code, file) = (found.rule.code, named(&source.name));
        let nth = seen.entry((code, file.clone(), line)).or_default();
        *nth += 1;
        let parts = [code, &file, line, &nth.to_string()].join("\0");
        format!("{:032x}", hash(parts.as_bytes()))
    };
    diagnostics.into_iter().map(one).collect()
}

/// FNV-1a with 128 bits. It stays the same in all versions of Rust, unlike `DefaultHasher`.
fn hash(bytes: &[u8]) -> u128 {
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013B;
    bytes.iter().fold(START, |hash, byte| (hash ^ u128::from(*byte)).wrapping_mul(PRIME))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(super::hash(b""), 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);
        assert_eq!(super::hash(b"a"), 0xd228_cb69_6f1a_8caf_7891_2b70_4e4a_8964);
    }
}
