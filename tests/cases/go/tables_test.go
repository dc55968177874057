// How another service uses the files for schemas/: what it decodes, encodes and refuses.
package tables

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

// A row of wallet_outbox as the Rust side and the TypeScript side write it: a BIGINT as text, a time as a number.
const row = `{"app_code":"lalu","event_id":"e1","event_type":"WalletGiftDebited","user_id":"9007199254740993",` +
	`"idempotency_key":"k","payload":{"a":1},"status":"pending","worker_id":null,"lock_until_ms":0,"retry_count":0,` +
	`"next_retry_at_ms":0,"last_error":null,"created_at_ms":1767225600123,"updated_at_ms":1767225600123}`

func TestRowsComeBackAsTheyWere(t *testing.T) {
	var wallet WalletOutboxRow
	if err := json.Unmarshal([]byte(row), &wallet); err != nil {
		t.Fatal(err)
	}
	if wallet.UserID != 9007199254740993 || wallet.Status != WalletOutboxStatusPending || wallet.WorkerID != nil {
		t.Fatalf("%+v", wallet)
	}
	again, err := json.Marshal(wallet)
	if err != nil || string(again) != row {
		t.Fatalf("%v\n%s\n%s", err, again, row)
	}
}

func TestNamesAreThoseOfTheDefinitions(t *testing.T) {
	if WalletOutboxTable != "wallet_outbox" || WalletOutboxOwner != "wallet-service" {
		t.Fatal(WalletOutboxTable, WalletOutboxOwner)
	}
	kind := reflect.TypeOf(WalletOutboxRow{})
	for at, column := range WalletOutboxColumns {
		if tag := strings.Split(kind.Field(at).Tag.Get("json"), ",")[0]; tag != column {
			t.Errorf("%s is not %s", tag, column)
		}
	}
	if key := []string{WalletOutboxColumnAppCode, WalletOutboxColumnEventID}; !reflect.DeepEqual(WalletOutboxPrimaryKey, key) {
		t.Error(WalletOutboxPrimaryKey)
	}
	if len(WalletOutboxStatuses) != 6 || WalletOutboxStatuses[5] != WalletOutboxStatusDead {
		t.Error(WalletOutboxStatuses)
	}
	if WalletOutboxSelectorWalletGiftWall != WalletOutboxLegacyTag+" || "+WalletOutboxEventWalletGiftDebited {
		t.Error(WalletOutboxSelectorWalletGiftWall)
	}
	if strings.Join(WalletOutboxTagsWalletGiftWall, " || ") != WalletOutboxSelectorWalletGiftWall {
		t.Error(WalletOutboxTagsWalletGiftWall)
	}
}

const event = `{"event_id":"17","event_type":"chat.history.persist_requested","event_version":1,"aggregate_id":"c1",` +
	`"payload":{"chat_id":"c1","content":"hi","role":"user","user_id":7},"further":0}`

func TestEventsAreDecodedByTypeAndVersion(t *testing.T) {
	envelope, err := ParseEnvelope([]byte(event))
	if err != nil {
		t.Fatal(err)
	}
	decoded, err := DecodeAgentOutboxMessagesPayload(envelope)
	if err != nil {
		t.Fatal(err)
	}
	payload, ok := decoded.(*AgentOutboxMessagesChatHistoryPersistRequestedV1)
	if !ok || payload.UserID != 7 || payload.Role != AgentOutboxMessagesChatHistoryPersistRequestedV1RoleUser {
		t.Fatalf("%#v", decoded)
	}
	envelope.EventVersion = 2
	if _, err := DecodeAgentOutboxMessagesPayload(envelope); !errors.Is(err, ErrUnknownEvent) {
		t.Fatal(err)
	}
	envelope.EventVersion, envelope.Payload = 1, []byte(`{"user_id":"seven"}`)
	if _, err := DecodeAgentOutboxMessagesPayload(envelope); err == nil {
		t.Fatal("a payload of another type was taken")
	}
}

func TestWhatLacksAnythingIsNoEvent(t *testing.T) {
	var whole map[string]interface{}
	if err := json.Unmarshal([]byte(event), &whole); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"event_id", "event_type", "event_version", "aggregate_id", "payload"} {
		part := map[string]interface{}{}
		for name, value := range whole {
			if name != key {
				part[name] = value
			}
		}
		text, err := json.Marshal(part)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseEnvelope(text); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("without %s: %v", key, err)
		}
	}
	for _, text := range []string{"", "[]", "{", `{"event_id":1}`, `{"event_version":-1}`} {
		if _, err := ParseEnvelope([]byte(text)); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
}
