//! May the producer write other tags now? From a definition → what every group of consumers would see and would not, and
//! which step is the next.
//!
//! Consumers and producer are deployed one after the other, and messages of both kinds are on their way meanwhile. No
//! message may become invisible to a group that is there for it.

use crate::diagnostic::{Place, suggest};
use crate::schema::Table;
use crate::schema::format::TagMode;
use crate::schema::tags::{Group, Tags};

/// The answer.
#[derive(Clone, Debug)]
pub struct Cutover<'a> {
    /// What the producer writes.
    pub from: TagMode,
    /// What it would write.
    pub to: TagMode,
    /// What every group sees.
    pub groups: Vec<View<'a>>,
    /// Why the switch is refused; none where it is safe.
    pub refusals: Vec<Problem>,
    /// What is worth knowing.
    pub warnings: Vec<Problem>,
    /// The groups that would not see the legacy tag if the producer went back to it.
    pub no_way_back: Vec<&'a str>,
    /// The whole way from the one tag to the types.
    pub steps: Vec<Step>,
}

/// What a group sees after the switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View<'a> {
    /// Its name.
    pub group: &'a str,
    /// Its list.
    pub tags: Vec<&'a str>,
    /// The types of new messages that it gets. Where it sees them by their legacy tag, those are all.
    pub sees: Vec<&'a str>,
    /// The types of new messages that it does not get.
    pub not: Vec<&'a str>,
    /// Of these, the ones that it is there for.
    pub misses: Vec<&'a str>,
    /// It gets what was published before the switch.
    pub sees_old: bool,
}

/// Something that is wrong, and how to mend it.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The group that it is about, if it is about one.
    pub group: Option<String>,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub help: String,
    /// Where.
    pub place: Option<Place>,
}

/// A step of the way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What to do.
    pub text: String,
    /// How far it is.
    pub state: State,
}

/// How far a step is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The definition says that it is done.
    Done,
    /// The one to do now.
    Next,
    /// It comes later.
    Later,
}

impl State {
    /// As a word.
    pub fn word(self) -> &'static str {
        match self {
            State::Done => "done",
            State::Next => "next",
            State::Later => "later",
        }
    }
}

/// How the definition format calls the mode.
pub fn word(mode: TagMode) -> &'static str {
    match mode {
        TagMode::None => "none",
        TagMode::Legacy => "legacy",
        TagMode::EventType => "event_type",
    }
}

/// The answer for a table, if it publishes.
pub fn check<'a>(table: &'a Table, to: TagMode) -> Option<Cutover<'a>> {
    let tags = Tags::of(table)?;
    let mut cutover = Cutover {
        from: tags.mode,
        to,
        groups: tags.groups.iter().map(|group| view(&tags, group, to)).collect(),
        refusals: Vec::new(),
        warnings: Vec::new(),
        no_way_back: tags.groups.iter().filter(|group| !tags.sees_legacy(group)).map(|group| group.name).collect(),
        steps: steps(&tags),
    };
    whole(table, &tags, &mut cutover);
    for (at, group) in tags.groups.iter().enumerate() {
        of_group(table, &tags, at, group, &mut cutover);
    }
    Some(cutover)
}

/// What is wrong with the switch, whoever consumes.
fn whole(table: &Table, tags: &Tags<'_>, cutover: &mut Cutover<'_>) {
    let problem = |path: &str, message: String, help: &str| Problem {
        group: None,
        message,
        help: help.to_owned(),
        place: table.site.at(path),
    };
    let to = cutover.to;
    if to == TagMode::Legacy && tags.legacy.is_none() {
        let message = "the mode `legacy` needs the tag itself".to_owned();
        cutover.refusals.push(problem("publish.tag", message, "add `publish.tag.legacy`"));
    }
    if to == TagMode::EventType && tags.types.is_empty() {
        let message = "no event types are declared, so nothing is known about who would see them".to_owned();
        cutover.refusals.push(problem("claim.event", message, "declare them as `claim.event.types`"));
    }
    if tags.groups.is_empty() {
        let message = "no groups of consumers are declared, so nothing is known about what they see".to_owned();
        cutover.warnings.push(problem("publish", message, "declare them as `publish.consumers`"));
        return;
    }
    for (at, ty) in tags.types.iter().enumerate() {
        if tags.groups.iter().all(|group| !group.sees(tags.tag(to, ty))) {
            let message = format!("no group would see `{ty}`");
            let path = format!("claim.event.types.{at}");
            cutover.warnings.push(problem(&path, message, "add it to the list of the group that is there for it"));
        }
    }
}

fn of_group<'a>(table: &'a Table, tags: &Tags<'a>, at: usize, group: &Group<'a>, cutover: &mut Cutover<'a>) {
    let path = format!("publish.consumers.{at}.tags");
    let problem = |path: &str, message: String, help: String| Problem {
        group: Some(group.name.to_owned()),
        message,
        help,
        place: table.site.at(path),
    };
    for unknown in tags.unknown(group) {
        let tag = group.tags[unknown];
        let known = tags.types.iter().copied().chain(tags.legacy);
        let message = format!("`{tag}` in the list of `{}` is neither the legacy tag nor a declared type", group.name);
        let help = match suggest::closest(tag, known) {
            Some(closest) => format!("did you mean `{closest}`?"),
            None => "declare it in `claim.event.types`, or take it out".to_owned(),
        };
        cutover.refusals.push(problem(&format!("{path}.{unknown}"), message, help));
    }
    let (from, to) = (cutover.from, cutover.to);
    if let Some(missed) = tags.missed(group, to) {
        let message = format!("`{}` would not see {}", group.name, new_messages(tags, to, &missed));
        cutover.refusals.push(problem(&path, message, remedy(tags, group, to)));
    }
    if from != to
        && let Some(missed) = tags.missed(group, from)
    {
        let message = format!(
            "`{}` does not see {}; what was published so far stays unseen",
            group.name,
            new_messages(tags, from, &missed)
        );
        let problem = problem(&path, message, remedy(tags, group, from));
        // The way back is the remedy where the producer went ahead too early: it loses nothing that is not lost already.
        match to {
            TagMode::Legacy => cutover.warnings.push(problem),
            TagMode::None | TagMode::EventType => cutover.refusals.push(problem),
        }
    }
}

/// The messages of a mode, by the types that are missed.
fn new_messages(tags: &Tags<'_>, mode: TagMode, missed: &[&str]) -> String {
    let types = match missed {
        [] => "any message".to_owned(),
        missed => missed.iter().map(|ty| format!("`{ty}`")).collect::<Vec<_>>().join(", "),
    };
    match (mode, tags.legacy) {
        (TagMode::None, _) => format!("{types}: messages have no tag then, and its list asks for one"),
        (TagMode::Legacy, Some(legacy)) => format!("{types}: the tag of every message is then `{legacy}`"),
        (TagMode::Legacy, None) => types,
        (TagMode::EventType, _) => format!("{types}: the tag of a message is then its type"),
    }
}

fn remedy(tags: &Tags<'_>, group: &Group<'_>, mode: TagMode) -> String {
    match (mode, tags.legacy) {
        (TagMode::Legacy, Some(legacy)) => format!("first roll out `{}` with `{legacy}` in its list", group.name),
        (TagMode::Legacy, None) => "add `publish.tag.legacy`".to_owned(),
        (TagMode::EventType, _) => {
            format!("first roll out `{}` with the types that it handles in its list", group.name)
        }
        (TagMode::None, _) => format!("first roll out `{}` without a list, so that it gets everything", group.name),
    }
}

fn view<'a>(tags: &Tags<'a>, group: &Group<'a>, to: TagMode) -> View<'a> {
    let (sees, not): (Vec<&str>, Vec<&str>) = tags.types.iter().copied().partition(|ty| group.sees(tags.tag(to, ty)));
    View {
        group: group.name,
        tags: group.tags.clone(),
        sees,
        not,
        misses: tags.missed(group, to).unwrap_or_default(),
        sees_old: tags.missed(group, tags.mode).is_none(),
    }
}

/// The order of seed systems that have done it without losing a message.
fn steps(tags: &Tags<'_>) -> Vec<Step> {
    let legacy = tags.legacy.unwrap_or("<legacy tag>");
    let texts = [
        format!("roll out every group of consumers with `{legacy} || <its types>`, all replicas of a group with the same list"),
        "make sure that no old consumer runs any more and that errors are as rare as before".to_owned(),
        "switch the producer, and nothing else, from `legacy` to `event_type`; the way back is to switch it back, with the \
         consumers as they are"
            .to_owned(),
        format!("keep `{legacy}` in all lists until backlog, retries and planned replays from before the switch are drained"),
        format!("take `{legacy}` out of the lists: from then on there is no way back"),
    ];
    let next = next(tags);
    let state = |at: usize| match at.cmp(&next) {
        std::cmp::Ordering::Less => State::Done,
        std::cmp::Ordering::Equal => State::Next,
        std::cmp::Ordering::Greater => State::Later,
    };
    texts.into_iter().enumerate().map(|(at, text)| Step { text, state: state(at) }).collect()
}

/// The position of the step that is the next; after the last one where all is done.
fn next(tags: &Tags<'_>) -> usize {
    let is_typed = |group: &Group<'_>| {
        group.tags.is_empty() || tags.types.iter().any(|ty| group.tags.contains(ty)) && tags.unknown(group).is_empty()
    };
    let compatible = |group: &Group<'_>| tags.sees_legacy(group) && is_typed(group);
    let listed = || tags.groups.iter().filter(|group| !group.tags.is_empty());
    match tags.mode {
        // A consumer that still runs with an older list is in no definition.
        TagMode::None | TagMode::Legacy if tags.groups.iter().all(compatible) => 1,
        TagMode::None | TagMode::Legacy => 0,
        // The producer was too early.
        TagMode::EventType if !tags.groups.iter().all(is_typed) => 0,
        TagMode::EventType if listed().all(|group| tags.sees_legacy(group)) && listed().next().is_some() => 3,
        TagMode::EventType if listed().any(|group| tags.sees_legacy(group)) => 4,
        TagMode::EventType => 5,
    }
}
