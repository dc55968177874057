//! The switch from one tag of all messages to tags by type: the verdict of the check is that of trying everything, no
//! interleaving of the steps that it allows makes a message invisible, and the program says so in words and in JSON.

use std::collections::{BTreeMap, BTreeSet};

use claimsmith::queue::cutover::{self, State as StepState};
use claimsmith::schema::format::TagMode;
use serde_json::{Value, json};

use crate::loaded;
use crate::project::Project;

const LEGACY: &str = "wallet";
const TYPES: [&str; 2] = ["wallet.gift.debited", "wallet.balance.changed"];

/// What each group is there for.
const WANTED: [&[&str]; 3] = [&[TYPES[0]], &[TYPES[1]], &TYPES];

type Verdict = (bool, usize, Vec<StepState>);

/// How far the world is: every group's list, the producer, and the messages that are on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct World {
    /// 0: `legacy`; 1: `legacy || types`; 2: `types`.
    groups: [u8; 3],
    typed: bool,
    /// Messages of all types with the legacy tag are on their way, and such with their types.
    on_the_way: [bool; 2],
}

impl World {
    fn list(self, group: usize) -> Vec<&'static str> {
        let types = WANTED[group].iter().copied();
        match self.groups[group] {
            0 => vec![LEGACY],
            1 => [LEGACY].into_iter().chain(types).collect(),
            _ => types.collect(),
        }
    }

    /// The definition as it stands then.
    fn definition(self) -> String {
        let consumers: Vec<Value> =
            (0..3).map(|group| json!({ "group": format!("g{group}"), "tags": self.list(group) })).collect();
        definition(if self.typed { "event_type" } else { "legacy" }, &json!(consumers))
    }

    /// The messages that a group is there for and cannot see, whenever they arrive: one by one.
    fn unseen(self) -> Vec<(usize, &'static str, bool)> {
        let mut unseen = Vec::new();
        for typed in [false, true].into_iter().filter(|typed| self.on_the_way[usize::from(*typed)]) {
            for (group, wanted) in WANTED.iter().enumerate() {
                for ty in *wanted {
                    let tag = if typed { ty } else { LEGACY };
                    if !self.list(group).contains(&tag) {
                        unseen.push((group, *ty, typed));
                    }
                }
            }
        }
        unseen
    }

    /// After the producer has switched and published.
    fn switched(self) -> World {
        let mut on_the_way = self.on_the_way;
        on_the_way[usize::from(!self.typed)] = true;
        World { typed: !self.typed, on_the_way, ..self }
    }

    /// After all messages from before the last switch have been consumed, the planned replays too.
    fn drained(self) -> World {
        World { on_the_way: [!self.typed, self.typed], ..self }
    }

    /// What the check says of the producer's switch: whether it is safe, of how many groups it warns, and the steps.
    fn check(self) -> Verdict {
        let loaded = loaded::load_text(&self.definition());
        assert!(!loaded.has_errors(), "{}", loaded.report());
        let to = if self.typed { TagMode::Legacy } else { TagMode::EventType };
        let answer = cutover::check(&loaded.catalog.tables[0], to).unwrap();
        let steps = answer.steps.iter().map(|step| step.state).collect();
        let of_groups = answer.warnings.iter().filter(|warning| warning.group.is_some()).count();
        (answer.refusals.is_empty(), of_groups, steps)
    }
}

fn definition(mode: &str, consumers: &Value) -> String {
    json!({
        "tableName": "wallet_outbox",
        "columns": [
            { "name": "event_id", "type": "VARCHAR(36)", "primaryKey": true },
            { "name": "status", "type": "VARCHAR(20)" },
            { "name": "event_type", "type": "VARCHAR(64)" },
            { "name": "created_at_ms", "type": "BIGINT" }
        ],
        "claim": {
            "global": true,
            "status": { "column": "status", "pending": "pending", "done": "done" },
            "order": "created_at_ms",
            "event": { "type": "event_type", "types": TYPES }
        },
        "publish": {
            "broker": "custom", "topic": "wallet", "tag": { "mode": mode, "legacy": LEGACY }, "consumers": consumers
        }
    })
    .to_string()
}

fn worlds() -> impl Iterator<Item = World> {
    (0..27_u8).flat_map(|lists| {
        let groups = [lists / 9, lists / 3 % 3, lists % 3];
        [false, true].map(|typed| World { groups, typed, on_the_way: [!typed, typed] })
    })
}

#[test]
fn the_verdict_is_that_of_trying_every_message() {
    for world in worlds() {
        let (safe, warnings, _) = world.check();
        let after = world.switched();
        let unseen = after.unseen();
        match world.typed {
            // Forward: whatever is on its way, of both kinds, must be seen by all.
            false => assert_eq!(safe, unseen.is_empty(), "{world:?}: {unseen:?}"),
            // Back: what is published from now on must be seen. What was lost before is said, and no reason to stay.
            true => {
                assert_eq!(safe, !unseen.iter().any(|(_, _, typed)| !typed), "{world:?}: {unseen:?}");
                let lost: BTreeSet<usize> =
                    unseen.iter().filter(|(_, _, typed)| *typed).map(|(group, _, _)| *group).collect();
                // A group that subscribes to the legacy tag alone.
                assert_eq!(warnings, lost.len(), "{world:?}: {unseen:?}");
            }
        }
    }
}

/// All interleavings of what the check allows, and of what happens by itself.
#[test]
fn no_interleaving_of_allowed_steps_hides_a_message() {
    let start = World { groups: [0; 3], typed: false, on_the_way: [true, false] };
    let mut reached = BTreeSet::from([start]);
    let mut open = vec![start];
    let (mut switches, mut ways_back, mut refused) = (0, 0, 0);
    let mut checked: BTreeMap<([u8; 3], bool), Verdict> = BTreeMap::new();
    while let Some(world) = open.pop() {
        assert_eq!(world.unseen(), [], "{world:?}");
        let (safe, _, steps) = checked.entry((world.groups, world.typed)).or_insert_with(|| world.check()).clone();
        let mut next = vec![world.drained()];
        match (safe, world.typed) {
            (true, false) => switches += 1,
            (true, true) => ways_back += 1,
            (false, _) => {
                refused += 1;
                // Nothing is refused without need.
                assert_ne!(world.switched().unseen(), [], "{world:?}");
            }
        }
        next.extend(safe.then(|| world.switched()));
        for group in 0..3 {
            let deployed = |list| {
                let mut groups = world.groups;
                groups[group] = list;
                World { groups, ..world }
            };
            // The first step, at any time.
            next.extend((world.groups[group] == 0).then(|| deployed(1)));
            // The last one, when the check says that it or the wait before it is the next, and the wait is over.
            let last = steps[3] == StepState::Next || steps[4] == StepState::Next;
            let drained = world.typed && world == world.drained();
            next.extend((world.groups[group] == 1 && last && drained).then(|| deployed(2)));
        }
        open.extend(next.into_iter().filter(|world| reached.insert(*world)));
    }
    let end = World { groups: [2; 3], typed: true, on_the_way: [false, true] };
    assert!(reached.contains(&end), "the way has no end");
    assert_eq!(end.check().2, [StepState::Done; 5]);
    assert!(switches > 0 && ways_back > 0 && refused > 0, "{switches} {ways_back} {refused}");
    assert!(reached.len() > 15, "{reached:?}");
}

#[test]
fn the_steps_say_which_is_next() {
    let next = |groups, typed| {
        let (_, _, steps) = World { groups, typed, on_the_way: [!typed, typed] }.check();
        steps.iter().position(|state| *state == StepState::Next)
    };
    assert_eq!(next([0, 1, 1], false), Some(0));
    assert_eq!(next([1, 1, 1], false), Some(1));
    assert_eq!(next([1, 1, 1], true), Some(3));
    assert_eq!(next([1, 2, 1], true), Some(4));
    assert_eq!(next([2, 2, 2], true), None);
    // The producer was too early, or a list lost its legacy tag too early.
    assert_eq!(next([0, 1, 1], true), Some(0));
    assert_eq!(next([1, 2, 1], false), Some(0));
}

fn project(mode: &str, consumers: &Value) -> Project {
    Project::new(&[("schemas/wallet.json", &definition(mode, consumers))])
}

#[test]
fn a_safe_switch_is_told_with_what_every_group_sees() {
    let consumers = json!([
        { "group": "badge", "tags": [LEGACY, TYPES[0]] },
        { "group": "statistics", "tags": [LEGACY, TYPES[0], TYPES[1]] }
    ]);
    let project = project("legacy", &consumers);
    let run = project.run(&["queue", "cutover", "--table", "wallet_outbox"]).assert(0);
    assert_eq!(
        run.stdout,
        "wallet_outbox: the producer's switch from `legacy` to `event_type`: safe

badge: subscribes to wallet || wallet.gift.debited
  sees        wallet.gift.debited
  leaves out  wallet.balance.changed
  sees        what was published before the switch

statistics: subscribes to wallet || wallet.gift.debited || wallet.balance.changed
  sees        wallet.gift.debited, wallet.balance.changed
  sees        what was published before the switch

The producer can go back to `legacy`: every list holds the legacy tag.

From the one tag to the types, in this order:
  1. [done] roll out every group of consumers with `wallet || <its types>`, all replicas of a group with the same list
  2. [next] make sure that no old consumer runs any more and that errors are as rare as before
  3. [later] switch the producer, and nothing else, from `legacy` to `event_type`; the way back is to switch it back, with the consumers as they are
  4. [later] keep `wallet` in all lists until backlog, retries and planned replays from before the switch are drained
  5. [later] take `wallet` out of the lists: from then on there is no way back
"
    );
    assert_eq!(run.stderr, "");
}

#[test]
fn an_unsafe_switch_is_refused_in_place() {
    let consumers = json!([
        { "group": "old", "tags": [LEGACY] },
        { "group": "early", "tags": [TYPES[0]] },
        { "group": "slip", "tags": [LEGACY, "wallet.gift.debitted"] }
    ]);
    let project = project("legacy", &consumers);
    let run = project.run(&["queue", "cutover", "--table", "wallet_outbox"]).assert(1);
    for text in [
        "from `legacy` to `event_type`: refused\n",
        "error: `old` would not see `wallet.gift.debited`, `wallet.balance.changed`: the tag of a message is then its type\n  \
         first roll out `old` with the types that it handles in its list\n",
        "error: `early` does not see `wallet.gift.debited`: the tag of every message is then `wallet`; what was published so \
         far stays unseen\n  first roll out `early` with `wallet` in its list\n",
        "`wallet.gift.debitted` in the list of `slip` is neither the legacy tag nor a declared type\n  did you mean \
         `wallet.gift.debited`?\n",
        "warning: no group would see `wallet.balance.changed`\n",
        "cannot go back to `legacy`: `early` would see nothing",
        "  1. [next] roll out",
        "schemas/wallet.json:1:",
    ] {
        assert!(run.stdout.contains(text), "no {text:?} in\n{}", run.stdout);
    }
    let run = project.run(&["queue", "cutover", "--table", "wallet_outbox", "--format", "json"]).assert(1);
    let answer: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(answer["safe"], json!(false));
    assert_eq!((&answer["from"], &answer["to"]), (&json!("legacy"), &json!("event_type")));
    assert_eq!(answer["errors"].as_array().unwrap().len(), 4);
    assert_eq!(answer["errors"][0]["group"], json!("old"));
    assert_eq!(answer["errors"][0]["file"], json!("schemas/wallet.json"));
    assert_eq!(answer["groups"][0]["misses"], json!(TYPES));
    assert_eq!(answer["no_way_back"], json!(["early"]));
    assert_eq!(answer["steps"][0]["state"], json!("next"));
}

#[test]
fn the_way_back_is_open_while_every_list_holds_the_legacy_tag() {
    let back = ["queue", "cutover", "--table", "wallet_outbox", "--to", "legacy"];
    let both = json!([{ "group": "g", "tags": [LEGACY, TYPES[0], TYPES[1]] }]);
    project("event_type", &both).run(&back).assert(0);
    let after = json!([{ "group": "g", "tags": TYPES }]);
    let run = project("event_type", &after).run(&back).assert(1);
    assert!(run.stdout.contains("`g` would not see `wallet.gift.debited`, `wallet.balance.changed`"), "{}", run.stdout);
    // It is the remedy for a producer that was too early.
    let early = json!([{ "group": "g", "tags": [LEGACY] }]);
    let run = project("event_type", &early).run(&back).assert(0);
    assert!(run.stdout.contains("warning: `g` does not see"), "{}", run.stdout);
    // Without tags nobody who selects sees anything.
    let none = ["queue", "cutover", "--table", "wallet_outbox", "--to", "none"];
    let run = project("legacy", &both).run(&none).assert(1);
    assert!(run.stdout.contains("messages have no tag then, and its list asks for one"), "{}", run.stdout);
    project("none", &json!([{ "group": "g", "tags": [] }])).run(&back).assert(0);
}

#[test]
fn what_cannot_be_judged_says_why() {
    let project = project("legacy", &json!([]));
    let run = project.run(&["queue", "cutover", "--table", "wallet_outbox"]).assert(0);
    assert!(run.stdout.contains("no groups of consumers are declared"), "{}", run.stdout);
    project.run(&["queue", "cutover", "--table", "walet_outbox"]).assert(2).says(&["did you mean `wallet_outbox`?"]);
    project.run(&["queue", "cutover", "--table", "zzz"]).assert(2).says(&["published are `wallet_outbox`"]);
    project.run(&["queue", "cutover"]).assert(2).says(&["--table"]);
    project.run(&["queue", "cutover", "--table", "wallet_outbox", "--to", "typed"]).assert(2).says(&["event_type"]);
    let notes = Project::notes();
    notes.run(&["queue", "cutover", "--table", "notes"]).assert(2).says(&["has no `publish`"]);
    notes.write("schemas/bad.json", "{");
    notes.run(&["queue", "cutover", "--table", "notes"]).assert(1).says(&["schemas/bad.json:1:", "not valid JSON"]);
}
