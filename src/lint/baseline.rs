//! Findings that were there before: known by what they are about, and not by their line.

use std::collections::BTreeMap;

use crate::diagnostic::Diagnostic;
use crate::schema::load::fnv;

/// One number for each finding: the same as long as its rule, file and code are the same, wherever the code moves to in
/// the file. Findings that agree in all of it are told apart by their order.
pub fn fingerprints(findings: &[Diagnostic]) -> Vec<u64> {
    let mut seen: BTreeMap<u64, u64> = BTreeMap::new();
    let fingerprint = |finding: &Diagnostic| {
        let (path, code) = finding.place.as_ref().map_or(("", String::new()), |place| {
            let text = &place.source.text;
            let (start, end) = (place.span.start as usize, place.span.end as usize);
            let from = text.get(..start).and_then(|before| before.rfind('\n')).map_or(0, |at| at + 1);
            let to = text.get(end..).and_then(|after| after.find('\n')).map_or(text.len(), |at| end + at);
            (
                &*place.source.path,
                text.get(from..to).unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" "),
            )
        });
        let hash = fnv(&format!("{}\u{0}{path}\u{0}{code}\u{0}{}", finding.rule.id, finding.message));
        let nth = seen.entry(hash).or_default();
        *nth += 1;
        hash.wrapping_add(nth.wrapping_sub(1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    };
    findings.iter().map(fingerprint).collect()
}
