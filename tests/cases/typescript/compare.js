// Compares what the modules named by arguments hold with the definitions, which stand beside each as JSON.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

for (const path of process.argv.slice(2)) {
  const module = await import(pathToFileURL(path));
  const expected = JSON.parse(readFileSync(path.replace(/\.js$/, ".json"), "utf8"));
  compareTables(module.tables, expected);
  compareExports(module, expected);
}

// The tables, with their columns as a list in the order of the names.
function compareTables(tables, expected) {
  assert.equal(Object.getPrototypeOf(tables), Object.prototype);
  assert.deepEqual(new Set(Object.keys(tables)), new Set(expected.map((table) => table.name)));
  const found = expected.map(({ name }) => {
    const { columns, ...table } = Object.getOwnPropertyDescriptor(tables, name).value;
    assert.equal(Object.getPrototypeOf(columns), Object.prototype);
    assert.deepEqual(new Set(Object.keys(columns)), new Set(table.columnNames));
    return { ...table, columns: table.columnNames.map((column) => Object.getOwnPropertyDescriptor(columns, column).value) };
  });
  assert.deepEqual(found, expected);
}

// Each list, each constant and each guard is an export of its own, and there are no others.
function compareExports({ tables, ...module }, expected) {
  const lists = expected.flatMap((table) => [
    ...table.columns.flatMap((column) => (column.values ? [column.values] : [])),
    ...(table.eventTypes ? [table.eventTypes] : []),
  ]);
  const columns = expected.map((table) => table.columnNames);
  const exported = Object.values(module);
  const texts = (all) => all.map((list) => JSON.stringify(list)).sort();
  assert.deepEqual(texts(exported.filter(Array.isArray)), texts([...lists, ...columns]));
  const constants = exported.filter((value) => typeof value === "object" && !Array.isArray(value));
  assert.deepEqual(new Set(constants), new Set(Object.values(tables)));
  const guards = exported.filter((value) => typeof value === "function");
  const values = new Set([...lists.flat(), "", "no such value", null, undefined, 0, {}]);
  const accepted = (guard) => [...values].filter((value) => guard(value)).sort();
  assert.deepEqual(texts(guards.map(accepted)), texts(lists.map((list) => [...new Set(list)].sort())));
}
