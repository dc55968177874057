// What must not type-check against the definitions in `schemas/`: an error is expected at each line that says so, and its
// absence is one.
import { tables, walletOutbox, walletOutboxStatuses } from "./schema.js";
import type { Column, JsonValue, Rows, Table, TableName, WalletOutboxRow, WalletOutboxStatus } from "./schema.js";
// @ts-expect-error: no such export
import { isOneOf } from "./schema.js";

declare const row: WalletOutboxRow;

// @ts-expect-error: no such column
export const column = row.app_kode;
// @ts-expect-error: no such column
export const meta = walletOutbox.columns.app_kode;
// @ts-expect-error: no such table
export const table: TableName = "walet_outbox";
// @ts-expect-error: no such table
export const found = tables.walet_outbox;
// @ts-expect-error: no such state
export const status: WalletOutboxStatus = "Pending";
// @ts-expect-error: a text is no state before it was looked at
export const parsed: WalletOutboxStatus = String(walletOutboxStatuses[0]);
// @ts-expect-error: 64 bits are a text
export const user: number = row.user_id;
// @ts-expect-error: milliseconds are a number
export const until: string = row.lock_until_ms;
// @ts-expect-error: may be NULL
export const worker: string = row.worker_id;
// @ts-expect-error: a row is read-only
row.status = "dead";
// @ts-expect-error: lists are read-only
walletOutboxStatuses.push("lost");
// @ts-expect-error: definitions are read-only
walletOutbox.name = "other";
// @ts-expect-error: definitions are read-only
tables.wallet_outbox.columns.payload.label = "other";
// @ts-expect-error: a function is no JSON
export const json: JsonValue = () => row;
// @ts-expect-error: any JSON is more than a text
export const text: string = row.payload;
// @ts-expect-error: a column is missing
export const whole: WalletOutboxRow = { app_code: "lalu", event_id: "e1" };
// @ts-expect-error: no such column in a key
export const key: readonly (keyof Rows["wallet_outbox"])[] = ["id"];
// @ts-expect-error: no such type of values
export const kind: Column["type"] = "varchar";
// @ts-expect-error: the rows of another table
export const other: Table<Rows["agent_chats"]> = walletOutbox;
// @ts-expect-error: the label may be absent
export const label: string = tables.wallet_outbox.columns.status.label;
