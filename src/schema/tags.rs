//! The tags of published messages against the lists of those who consume them: which messages would a group not see?

use super::Table;
use super::format::TagMode;

/// The tags of one table's messages, and who selects by them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tags<'a> {
    /// What the producer writes.
    pub mode: TagMode,
    /// The one tag of all messages in the mode `legacy`.
    pub legacy: Option<&'a str>,
    /// The declared event types.
    pub types: Vec<&'a str>,
    /// The groups of consumers.
    pub groups: Vec<Group<'a>>,
}

/// A group of consumers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group<'a> {
    /// Its name.
    pub name: &'a str,
    /// The tags in its subscription; a group without any selects nothing and gets everything.
    pub tags: Vec<&'a str>,
}

impl<'a> Tags<'a> {
    /// Those of the table, if it publishes.
    pub fn of(table: &'a Table) -> Option<Tags<'a>> {
        let publish = table.publish.as_ref()?;
        let event = table.claim.as_ref().and_then(|claim| claim.event.as_ref());
        let types = event.iter().flat_map(|event| event.types.iter().map(|ty| ty.name())).collect();
        let groups = publish
            .consumers
            .iter()
            .map(|group| Group { name: &group.group, tags: group.tags.iter().map(|tag| &**tag).collect() });
        let tag = &publish.tag;
        Some(Tags { mode: tag.mode, legacy: tag.legacy.as_deref(), types, groups: groups.collect() })
    }

    /// The tag of a message of this type, if it has one.
    pub fn tag(&self, mode: TagMode, ty: &'a str) -> Option<&'a str> {
        match mode {
            TagMode::None => None,
            TagMode::Legacy => self.legacy,
            TagMode::EventType => Some(ty),
        }
    }

    /// The event types that a group is there for: those in its list, or all where it names none.
    pub fn wanted(&self, group: &Group<'a>) -> Vec<&'a str> {
        let named: Vec<&str> = self.types.iter().copied().filter(|ty| group.tags.contains(ty)).collect();
        if named.is_empty() { self.types.clone() } else { named }
    }

    /// The event types that the group is there for and would not see in this mode; none where it sees what it wants. Where
    /// no types are declared, it either sees messages, whatever they are, or an empty list of types.
    pub fn missed(&self, group: &Group<'a>, mode: TagMode) -> Option<Vec<&'a str>> {
        if self.types.is_empty() {
            // Of types nothing is known.
            let sees = mode == TagMode::EventType || group.sees(self.tag(mode, ""));
            return (!sees).then(Vec::new);
        }
        let mut missed = self.wanted(group);
        missed.retain(|ty| !group.sees(self.tag(mode, ty)));
        (!missed.is_empty()).then_some(missed)
    }

    /// Whether the group subscribes to the legacy tag, or to everything.
    pub fn sees_legacy(&self, group: &Group<'a>) -> bool {
        group.tags.is_empty() || self.legacy.is_some_and(|legacy| group.tags.contains(&legacy))
    }

    /// The positions in the group's list of what is neither the legacy tag nor a declared type. Nothing is unknown where no
    /// types are declared.
    pub fn unknown(&self, group: &Group<'a>) -> Vec<usize> {
        let known = |tag: &str| self.types.is_empty() || self.types.contains(&tag) || self.legacy == Some(tag);
        (0..group.tags.len()).filter(|at| !known(group.tags[*at])).collect()
    }
}

impl Group<'_> {
    /// Whether the group gets a message with this tag.
    pub fn sees(&self, tag: Option<&str>) -> bool {
        self.tags.is_empty() || tag.is_some_and(|tag| self.tags.contains(&tag))
    }
}
