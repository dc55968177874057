//! `claimsmith explain` and `claimsmith rules`: the documentation that stands in the rules.

use crate::diagnostic::Rule;
use crate::lint::rules;
use crate::schema;

use super::config::Word;
use super::{Outcome, print};

/// Print the documentation of a rule.
#[derive(Debug, clap::Args)]
pub struct Arguments {
    /// Its id, such as `claim-without-scope`
    rule: String,
}

/// Runs `explain`.
pub fn run(arguments: &Arguments) -> anyhow::Result<Outcome> {
    let all = all();
    let Some((rule, confidence)) = all.iter().find(|(rule, _)| rule.id == arguments.rule) else {
        return Err(Word::from(&*arguments.rule).unknown("rule", all.iter().map(|(rule, _)| rule.id)).into());
    };
    let confidence = confidence.map_or_else(String::new, |word| format!(", {word} confidence"));
    print(&format!(
        "# {}\n\n{} ({}{confidence}).\n\n{}",
        rule.id,
        sentence(rule.summary),
        rule.level.word(),
        rule.docs
    ))?;
    Ok(Outcome::Clean)
}

/// Runs `rules`.
pub fn list() -> anyhow::Result<Outcome> {
    let all = all();
    let width = all.iter().map(|(rule, _)| rule.id.len()).max().unwrap_or_default();
    let line = |(rule, confidence): &(&Rule, Option<&str>)| {
        format!("{:width$}  {:7}  {:6}  {}\n", rule.id, rule.level.word(), confidence.unwrap_or_default(), rule.summary)
    };
    print(&all.iter().map(line).collect::<String>())?;
    Ok(Outcome::Clean)
}

/// The rules about SQL and those about definitions, by id.
fn all() -> Vec<(&'static Rule, Option<&'static str>)> {
    let definitions = schema::rules::all().into_iter().map(|rule| (rule, None));
    let sql = rules::ALL.iter().map(|check| (&check.rule, Some(check.confidence.word())));
    let mut all: Vec<_> = definitions.chain(sql).collect();
    all.sort_by_key(|(rule, _)| rule.id);
    all
}

fn sentence(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(char::to_uppercase).into_iter().flatten().chain(chars).collect()
}
