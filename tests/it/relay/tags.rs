//! The switch from the legacy tag to tags by type, and the way back, message by message: in whatever order a message and the
//! steps of the switch come, each group sees it once.

use std::collections::VecDeque;
use std::time::Duration;

use crate::rust::generated::broker::{Memory, MemorySubscriber, Message, Subscriber, Tags};
use crate::rust::generated::relay::{self, Options, Outbox, TagMode};
use crate::rust::generated::tables::wallet_outbox::{Key, Row, Scope, subscription};
use crate::servers::{Scratch, on_servers};

use super::{Watcher, create, until, with_outbox};

const SCOPE: Scope<'static> = Scope { app_code: "a" };
const TYPE: &str = "WalletBalanceChanged";

/// What a group may subscribe to.
const LEGACY: Tags = Tags(&[subscription::LEGACY_TAG]);
const BOTH: Tags = Tags(&subscription::NOTICE_WALLET_TAGS);
const TYPES: Tags = Tags(&[TYPE]);

#[derive(Clone, Copy)]
enum Step {
    /// A group gets another list.
    Group(usize, Tags),
    Producer(TagMode),
}

/// The order that `queue cutover` asks for, with a way back in the midst of it.
const STEPS: [Step; 7] = [
    Step::Group(0, BOTH),
    Step::Group(1, BOTH),
    Step::Producer(TagMode::EventType),
    Step::Producer(TagMode::Legacy),
    Step::Producer(TagMode::EventType),
    Step::Group(0, TYPES),
    Step::Group(1, TYPES),
];

/// Messages may be received so many steps after they were published: none that has the legacy tag is on its way any more when
/// the first group forgets that tag, as the check demands.
const LAGS: std::ops::Range<usize> = 0..2;

fn each_message_is_seen_through_the_switch_and_back(scratch: &mut Scratch) {
    create(scratch);
    let mut session = Watcher(scratch.session());
    with_outbox!(scratch, wallet_outbox, |outbox| async {
        for lag in LAGS {
            let seen = run(&outbox, &mut session, &STEPS, lag).await;
            let all: Vec<String> = (0..=STEPS.len()).map(|nth| format!("{lag}-{nth}")).collect();
            assert_eq!(seen, [all.clone(), all], "{lag} steps late");
        }
        // A switch before the second group knows the new tags hides a message from it.
        let hasty = [STEPS[0], STEPS[2], STEPS[1]];
        let seen = run(&outbox, &mut session, &hasty, 0).await;
        assert_eq!([seen[0].len(), seen[1].len()], [4, 3]);
        // And so does a list without the legacy tag before the messages with it have come.
        let early = [STEPS[0], STEPS[1], STEPS[2], STEPS[5]];
        let seen = run(&outbox, &mut session, &early, 3).await;
        assert_eq!([seen[0].len(), seen[1].len()], [3, 5]);
    });
}
on_servers!(each_message_is_seen_through_the_switch_and_back);

/// Publishes one message before each step and one after the last: which of them each group has seen.
async fn run(
    outbox: &impl Outbox<Row = Row, Key = Key, Scope = Scope<'static>>,
    session: &mut Watcher,
    steps: &[Step],
    lag: usize,
) -> [Vec<String>; 2] {
    let broker = Memory::default();
    let mut subscribers = ["one", "other"].map(|group| broker.subscribe(TOPIC, group, Tags::default()));
    let (mut lists, mut mode) = ([LEGACY; 2], TagMode::Legacy);
    let mut on_their_way: [VecDeque<Message>; 2] = Default::default();
    let mut seen: [Vec<String>; 2] = Default::default();
    for (nth, step) in steps.iter().map(Some).chain([None]).enumerate() {
        let name = format!("{lag}-{nth}");
        session.run(&format!(
            "DELETE FROM wallet_outbox; INSERT INTO wallet_outbox (app_code, event_id, event_type, user_id,
                idempotency_key, payload, created_at_ms, updated_at_ms)
             VALUES ('a', '{name}', '{TYPE}', 7, '{name}', '{{}}', 1, 1)"
        ));
        publish(outbox, session, &broker, mode).await;
        for (group, subscriber) in subscribers.iter_mut().enumerate() {
            on_their_way[group].push_back(receive(subscriber).await);
            if on_their_way[group].len() > lag {
                see(&mut on_their_way[group], lists[group], &mut seen[group]);
            }
        }
        match step {
            Some(Step::Group(group, list)) => lists[*group] = *list,
            Some(Step::Producer(tag)) => mode = *tag,
            None => {}
        }
    }
    for group in 0..2 {
        while !on_their_way[group].is_empty() {
            see(&mut on_their_way[group], lists[group], &mut seen[group]);
        }
    }
    seen
}

const TOPIC: &str = "hyapp_wallet_outbox";

/// A broker hands a message to a group whose list, at that moment, has its tag.
fn see(on_their_way: &mut VecDeque<Message>, list: Tags, seen: &mut Vec<String>) {
    let message = on_their_way.pop_front().unwrap();
    if list.select(message.tag.as_deref()) {
        let id: Vec<String> = serde_json::from_str(&message.id).unwrap();
        seen.push(id[1].clone());
    }
}

async fn publish(
    outbox: &impl Outbox<Row = Row, Key = Key, Scope = Scope<'static>>,
    session: &mut Watcher,
    broker: &Memory,
    tag: TagMode,
) {
    let options = Options { poll: Duration::from_millis(5), tag: Some(tag), ..Options::new("relay") };
    let open = "SELECT COUNT(*) FROM wallet_outbox WHERE status <> 'delivered'";
    let done = until("the message to be published", || session.value(open) == "0");
    assert_eq!(relay::relay(outbox, &[SCOPE], broker, &options, done).await.published, 1);
}

async fn receive(subscriber: &mut MemorySubscriber) -> Message {
    let delivery = subscriber.receive().await.unwrap().unwrap();
    subscriber.ack(delivery.receipt).await.unwrap();
    delivery.message
}
