//! The guard of owned tables, the payloads of events and the subscriptions of consumers, as programs use them.

use serde_json::json;

use super::generated::tables::{agent_outbox_messages, wallet_outbox};

#[test]
fn only_the_owner_passes_the_guard() {
    assert_eq!(wallet_outbox::guard("wallet-service"), Ok(()));
    for other in ["notice-service", "", "Wallet-Service", "wallet-service "] {
        let refusal = wallet_outbox::guard(other).unwrap_err();
        assert_eq!((refusal.table, refusal.owner, &*refusal.service), ("wallet_outbox", "wallet-service", other));
    }
    let refusal: Box<dyn std::error::Error> = wallet_outbox::guard("notice-service").unwrap_err().into();
    let text = "wallet_outbox belongs to wallet-service: \"notice-service\" may consume its events and not scan it";
    assert_eq!(refusal.to_string(), text);
}

#[test]
fn payloads_are_what_their_schema_says() {
    use agent_outbox_messages::payload::{ChatHistoryPersistRequestedV1 as Payload, ChatHistoryPersistRequestedV1Role};
    let value = json!({ "chat_id": "c", "content": "hi", "role": "user", "user_id": 9_007_199_254_740_993_i64 });
    let payload: Payload = serde_json::from_value(value.clone()).unwrap();
    assert_eq!((payload.role, payload.user_id), (ChatHistoryPersistRequestedV1Role::User, 9_007_199_254_740_993));
    assert_eq!(serde_json::to_value(&payload).unwrap(), value);
    assert_eq!(Payload::EVENT_TYPE, agent_outbox_messages::event_type::CHAT_HISTORY_PERSIST_REQUESTED);
    assert_eq!(Payload::EVENT_VERSION, 1);
    for (key, wrong) in [("role", json!("robot")), ("user_id", json!("7")), ("content", json!(null))] {
        let mut other = value.clone();
        other[key] = wrong;
        assert!(serde_json::from_value::<Payload>(other).is_err(), "{key}");
    }
    // Consumers of this version take what a later one adds.
    let mut more = value;
    more["further"] = json!(1);
    assert!(serde_json::from_value::<Payload>(more).is_ok());
}

#[test]
fn subscriptions_are_those_of_the_definition() {
    use wallet_outbox::{event_type, subscription};
    let tags = [subscription::LEGACY_TAG, event_type::WALLET_GIFT_DEBITED];
    assert_eq!(subscription::WALLET_GIFT_WALL_TAGS, tags);
    assert_eq!(subscription::WALLET_GIFT_WALL, tags.join(" || "));
}
