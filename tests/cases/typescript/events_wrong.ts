// Wrong uses of `events.ts`: each line behind a comment must be an error.
import type { AgentOutboxMessagesEvent, WalletOutboxEvent } from "./schema_events.js";

declare const wallet: WalletOutboxEvent;
declare const agent: AgentOutboxMessagesEvent;

// @ts-expect-error the type is to be looked at first
export const early = wallet.payload.coin_spent;
// @ts-expect-error no such type
export const unknown = wallet.event_type === "WalletGiftWithdrawn";
// @ts-expect-error a version that nobody writes
export const version = agent.event_version === 2;
// @ts-expect-error not in the closed set
export const role = agent.payload.role === "robot";
// @ts-expect-error events do not change
agent.payload.content = "";
export function fall(event: WalletOutboxEvent): string {
  switch (event.event_type) {
    case "WalletGiftDebited":
      // @ts-expect-error a key of another type
      return String(event.payload.delta);
    default:
      return event.event_type;
  }
}
