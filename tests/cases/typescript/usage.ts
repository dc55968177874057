// How an application uses `schema.ts`: every line of this file must type-check against the definitions in `schemas/`.
import {
  chatHistories,
  isWalletOutboxEventType,
  isWalletOutboxStatus,
  tables,
  walletOutbox,
  walletOutboxColumns,
  walletOutboxStatuses,
} from "./schema.js";
import type {
  AgentChatsRow,
  BigIntString,
  ChatHistoriesRow,
  Column,
  EpochMillis,
  JsonValue,
  Rows,
  Table,
  TableName,
  WalletOutboxEventType,
  WalletOutboxRow,
  WalletOutboxStatus,
} from "./schema.js";

// Names are known exactly.
const name: "wallet_outbox" = walletOutbox.name;
const key: readonly ["app_code", "event_id"] = walletOutbox.primaryKey;
const scope: readonly ["app_code"] = walletOutbox.scope;
const first: "app_code" = walletOutboxColumns[0];
const columnName: "payload" = walletOutbox.columns.payload.name;
type Key = Pick<WalletOutboxRow, (typeof walletOutbox.primaryKey)[number]>;
const row: Key = { app_code: "lalu", event_id: "e1" };
type Names = (typeof walletOutboxColumns)[number];
const same: [Names] extends [keyof WalletOutboxRow]
  ? [keyof WalletOutboxRow] extends [Names]
    ? true
    : false
  : false = true;

// Values have the types of their JSON.
function values(row: WalletOutboxRow, chat: AgentChatsRow): unknown[] {
  const until: EpochMillis = row.lock_until_ms;
  const user: BigIntString = row.user_id;
  const payload: JsonValue = row.payload;
  const worker: string | null = row.worker_id;
  const title: string = chat.title ?? "untitled";
  return [new Date(until), BigInt(user), payload, worker?.length, title.trim()];
}

// Closed sets are lists, types and guards.
function parse(value: unknown): WalletOutboxStatus {
  if (isWalletOutboxStatus(value)) return value;
  throw new RangeError(`no status: ${String(value)}`);
}
const counts: Record<WalletOutboxStatus, number> = {
  pending: 0,
  retryable: 0,
  delivering: 0,
  delivered: 0,
  done: 0,
  dead: 0,
};
for (const status of walletOutboxStatuses) counts[status] += 1;
function describe(type: WalletOutboxEventType): string {
  switch (type) {
    case "WalletGiftDebited":
      return "a gift";
    case "WalletBalanceChanged":
      return "a balance";
    case "wallet.recharge.completed":
      return "money";
  }
}
const role: ChatHistoriesRow["role"] = chatHistories.columns.role.values[0];

// Definitions can be read without knowing the table.
const all: readonly Table[] = Object.values(tables);
const columns: Column[] = all.flatMap((table) => Object.values(table.columns));
const labels = columns.map((column) => column.label ?? column.name);
const references: string[] = columns.flatMap((column) => column.referenceTo ?? []);
function head<Name extends TableName>(table: Name, rows: readonly Rows[Name][]) {
  const definition: Table<Rows[Name]> = tables[table];
  return definition.columnNames.map((column) => [column, rows[0]?.[column]]);
}

export const used = [name, key, scope, first, columnName, row, same, role];
export const more = [values, parse, describe, head, labels, references];
export const guard: (value: unknown) => boolean = isWalletOutboxEventType;
