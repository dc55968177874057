// How a consumer uses `events.ts`: every line of this file must type-check against the definitions in `schemas/`, and it runs.
import {
  walletOutboxConsumers,
  walletOutboxEventType,
  walletOutboxLegacyTag,
} from "./schema_events.js";
import type {
  AgentOutboxMessagesEvent,
  Envelope,
  WalletOutboxEvent,
  WalletOutboxWalletGiftDebitedV1Payload,
} from "./schema_events.js";

// The type of the event says what its payload is.
function coins(event: WalletOutboxEvent): number {
  switch (event.event_type) {
    case walletOutboxEventType.walletGiftDebited:
      return -event.payload.coin_spent;
    case "WalletBalanceChanged":
      return event.payload.delta;
    case "wallet.recharge.completed":
      return event.payload.coin_amount;
  }
}
const payload: WalletOutboxWalletGiftDebitedV1Payload = {
  user_id: 1,
  target_user_id: 2,
  gift_id: "g",
  gift_count: 3,
  coin_spent: 30,
};
const event: WalletOutboxEvent = {
  event_id: "e",
  event_type: "WalletGiftDebited",
  event_version: 1,
  aggregate_id: "1",
  payload,
};
const envelope: Envelope = event;
function speaker(event: AgentOutboxMessagesEvent): "system" | "user" | "assistant" | "tool" {
  return event.payload.role;
}

// Subscriptions are known exactly.
const selector: "wallet_outbox_event || WalletGiftDebited" = walletOutboxConsumers["wallet-badge"].selector;
const tags: readonly ["wallet_outbox_event", "WalletGiftDebited"] = walletOutboxConsumers["wallet-gift-wall"].tags;
const legacy: "wallet_outbox_event" = walletOutboxLegacyTag;

if (coins(event) !== -30 || tags.join(" || ") !== selector || tags[0] !== legacy) throw new Error("wrong at run time");
export const used = [envelope, speaker];
