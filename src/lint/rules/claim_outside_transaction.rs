//! A claim locks rows, and nothing keeps the locks until they are marked.

use super::super::claim::{Claim, Reading};
use super::super::rule::{Context, Found, Judge, check};
use crate::diagnostic::Span;
use crate::dialect::Take;
use crate::sql::HOLE;
use crate::sql::ast::Verb;

check! {
    Warning Medium "claim-outside-transaction" "a claim locks rows, and no transaction keeps the locks"
    does "Reports a script or procedure that reads a row of a queue with a lock into variables (`SELECT … INTO …`) and then updates the queue, with no transaction around both. Statements that stand alone, or that have parameters and so are run one by one by a program, are left out: the transaction is the program's."
    why "The locks end with the statement that took them. Until the UPDATE a second worker finds the same rows, and both do the work."
    bad "SELECT event_id INTO @id FROM order_outbox WHERE app_code = 'shop' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 1 FOR UPDATE SKIP LOCKED;\nUPDATE order_outbox SET status = 'delivering', worker_id = 'a' WHERE app_code = 'shop' AND event_id = @id;"
    good "START TRANSACTION;\nSELECT event_id INTO @id FROM order_outbox WHERE app_code = 'shop' AND status = 'pending' ORDER BY created_at_ms, event_id LIMIT 1 FOR UPDATE SKIP LOCKED;\nUPDATE order_outbox SET status = 'delivering', worker_id = 'a' WHERE app_code = 'shop' AND event_id = @id AND status = 'pending';\nCOMMIT;"
    allow "Whoever runs the script, or calls the procedure, has begun a transaction."
    judge Judge::Text(judge)
}

fn judge(readings: &[Reading<'_>], context: &Context<'_>, found: &mut Vec<Found>) {
    // A function's body is one transaction where rows are taken by one statement; a procedure's is not elsewhere.
    let in_one = context.dialects.iter().any(|dialect| dialect.take() != Take::SelectThenUpdate);
    if context.body && in_one {
        return;
    }
    let mut last: Option<&Reading<'_>> = None;
    for reading in readings {
        if reading.claim == Some(Claim::Lock) && reading.block.lock.is_some() && reading.block.verb == Verb::Select {
            let alone = reading.statement.blocks.first().is_some_and(|first| first.verb == Verb::Select);
            last = Some(reading).filter(|_| alone && keeps_values(reading, context) && is_complete(reading, context));
            continue;
        }
        let Some(lock) = last.take() else { continue };
        let marks = reading.block.verb == Verb::Update && reading.is_changed() && is_complete(reading, context);
        if !marks || !reading.name().eq_ignore_ascii_case(lock.name()) {
            continue;
        }
        let before = context.of(Span { start: 0, end: lock.statement.span.start });
        let between = context.of(Span { start: lock.statement.span.end, end: reading.statement.span.start });
        let kept = in_transaction(before) && !ends(between);
        if kept {
            continue;
        }
        let Some(clause) = &lock.block.lock else { continue };
        let message = format!("the locks of this claim on `{}` end before its rows are marked", lock.name());
        let finding = Found::new(&CHECK, clause.span, message).related(reading.block.head, "marked here");
        found.push(finding.help("START TRANSACTION before the SELECT, COMMIT behind the UPDATE"));
    }
}

/// `SELECT … INTO …`: what is read is used by what follows in the script.
fn keeps_values(reading: &Reading<'_>, context: &Context<'_>) -> bool {
    let text = context.of(reading.statement.span).to_ascii_lowercase();
    text.split_whitespace().any(|word| word == "into")
}

/// Whether the statement runs as it stands: it has no parameters and no holes.
fn is_complete(reading: &Reading<'_>, context: &Context<'_>) -> bool {
    let text = context.of(reading.statement.span);
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let next = text[at + c.len_utf8()..].chars().next().unwrap_or(' ');
        let named = matches!(c, ':' | '$') && (next.is_alphanumeric() || next == '{') && before != ':';
        if matches!(c, '?' | HOLE | '{') || named || c == '%' && matches!(next, 's' | 'd' | '(' | 'v') {
            return false;
        }
        before = c;
    }
    // `@p` is a parameter, unless the script itself sets it.
    text.match_indices('@').all(|(at, _)| is_set(&text[at..], context.text))
}

fn is_set(rest: &str, text: &str) -> bool {
    let name: String =
        rest.chars().skip_while(|c| *c == '@').take_while(|c| c.is_alphanumeric() || *c == '_').collect();
    let text = text.to_ascii_lowercase();
    let name = format!("@{}", name.to_ascii_lowercase());
    ["into ", "set ", ", "].iter().any(|before| text.contains(&format!("{before}{name}")))
        || text.contains(&format!("{name} :="))
        || text.contains(&format!("{name}:="))
}

/// Bytes before a statement in which the beginning of its transaction is looked for: scripts of many claims are long.
const MOST_BEFORE: usize = 64 * 1024;

/// Whether a transaction is open at the end of a text.
fn in_transaction(before: &str) -> bool {
    let mut from = before.len().saturating_sub(MOST_BEFORE);
    while !before.is_char_boundary(from) {
        from += 1;
    }
    let lower = before[from..].to_ascii_lowercase();
    let words: Vec<&str> =
        lower.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ';')).filter(|word| !word.is_empty()).collect();
    // Further back it may have begun.
    let mut open = from > 0;
    for (at, word) in words.iter().enumerate() {
        let next = words.get(at + 1).copied().unwrap_or_default();
        match *word {
            "start" if next.starts_with("transaction") => open = true,
            "begin;" => open = true,
            "begin"
                if ["transaction", "work", "tran", "immediate", "exclusive", "deferred"]
                    .iter()
                    .any(|kind| next.starts_with(kind)) =>
            {
                open = true
            }
            "autocommit" => open = next.starts_with('0') || next.starts_with("off"),
            word if is_end(word) => open = false,
            _ => {}
        }
    }
    open
}

fn ends(between: &str) -> bool {
    let lower = between.to_ascii_lowercase();
    lower.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ';')).any(is_end)
}

fn is_end(word: &str) -> bool {
    matches!(word.trim_end_matches(';'), "commit" | "rollback")
}
