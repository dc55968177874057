"""The trees that benches/lint.sh measures on, and the measurement."""

import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

WORDS = """account address amount array batch bind body branch buffer build cache call cart channel check child city client
clock code color column config context count country create cursor customer data date default delta depth detail digest
discount document domain draft driver edge email enabled entry error event factor field file filter flag folder format
frame group handle header height history host image index info input invoice item key kind label language last layout
level limit line link list locale location lock log map mask message method mode model module month name node note number
object offset option order origin owner page parent part path payment period phone plan point policy position price product
profile query quota range rate reason record region report request response result retry role root route row rule
sample schedule score scope section select session setting shape sign size slot source stage start state status step stock
store stream style subject sum support table tag target task tax text theme ticket time title token total trace type unit
update upload user value vendor version view visit volume weight width window worker year zone""".split()

# A line of each language: {a} to {d} are names, {n} a number.
LINES = {
    "rs": ["    let {a}_{b} = self.{c}.{d}({n})?;", "    if {a}.is_empty() {{ return Ok({b}_{c}); }}", "    // The {a} of the {b} comes before its {c}.",
           "    {a}.iter().filter(|{b}| {b}.{c} > {n}).for_each(|{b}| {d}.push({b}));", "pub fn {a}_{b}({c}: &str, {d}: u64) -> Result<String> {{", "}}", ""],
    "go": ["\t{a}{B}, err := s.{c}.{D}(ctx, {n})", "\tif err != nil {{", "\t\treturn fmt.Errorf(\"{a} {b}: %w\", err)", "\t}}", "\t// {A} is the {b} of a {c}.",
           "func (s *{A}) {B}{C}({d} int) error {{", "}}", ""],
    "ts": ["  const {a}{B} = await this.{c}.{d}({n});", "  if (!{a}) {{ throw new Error('no {b} for {c}'); }}", "  // The {a} and its {b}.",
           "export function {a}{B}({c}: string, {d} = {n}): {A} {{", "  return {a}.map(({b}) => ({{ {c}: {b}.{d} }}));", "}}", ""],
    "js": ["  const {a}{B} = {c}.{d}({n});", "  if (!{a}) return `${{{b}}} of {c}`;", "  // {A} before {b}.", "function {a}{B}({c}, {d}) {{", "}}", ""],
    "py": ["    {a}_{b} = self.{c}.{d}({n})", "    if not {a}:", "        raise ValueError(f\"no {b} in {{{c}}}\")", "    # The {a} of the {b}.",
           "def {a}_{b}({c}: str, {d}: int = {n}) -> dict:", "    \"\"\"Returns the {a} of a {b}.\"\"\"", ""],
    "java": ["        {A} {b}{C} = this.{d}.{a}({n});", "        if ({a} == null) {{ throw new IllegalStateException(\"no {b}\"); }}", "    /** The {a} of a {b}. */",
             "    public {A} {b}{C}(String {c}, int {d}) {{", "    }}", ""],
    "kt": ["    val {a}{B} = {c}.{d}({n})", "    if ({a} == null) error(\"no {b}\")", "    // The {a} of the {b}", "fun {a}{B}({c}: String, {d}: Int): {A} {{", "}}", ""],
    "php": ["        ${a}{B} = $this->{c}->{d}({n});", "        if (!${a}) {{ throw new RuntimeException('no {b}'); }}", "    // The {a} of the {b}.",
            "    public function {a}{B}(string ${c}, int ${d}): array {{", "    }}", ""],
    "rb": ["    {a}_{b} = {c}.{d}({n})", "    raise ArgumentError, \"no {a} for #{{{b}}}\" unless {c}", "    # The {a} of the {b}.", "  def {a}_{b}({c}, {d} = {n})", "  end", ""],
    "cs": ["        var {a}{B} = this.{c}.{D}({n});", "        if ({a} == null) throw new ArgumentException(\"no {b}\");", "    /// <summary>The {a} of a {b}.</summary>",
           "    public {A} {B}{C}(string {c}, int {d}) {{", "    }}", ""],
}

# A statement in a program of each language.
QUOTED = {
    "rs": "    let rows = sqlx::query(\"{}\").fetch_all(&mut *connection).await?;", "go": "\trows, err := db.QueryContext(ctx, `{}`)",
    "ts": "  const rows = await db.query(`{}`);", "js": "  const rows = await db.query('{}');", "py": "    rows = cursor.execute(\"\"\"{}\"\"\")",
    "java": "        var rows = jdbc.query(\"{}\");", "kt": "    val rows = jdbc.query(\"\"\"{}\"\"\")", "php": "        $rows = $db->query(\"{}\");",
    "rb": "    rows = db.exec(<<~SQL)\n      {}\n    SQL", "cs": "        var rows = db.Query(@\"{}\");",
}

PLAIN = [
    "SELECT id, name, email FROM customers WHERE id = ?",
    "SELECT o.id, o.total, c.name FROM orders o JOIN customers c ON c.id = o.customer_id WHERE o.created_at > ? ORDER BY o.id",
    "UPDATE products SET stock = stock - ? WHERE id = ?",
    "DELETE FROM sessions WHERE expires_at < ?",
]

QUEUES = ["order_outbox", "wallet_outbox", "mail_queue", "report_jobs", "customer_inbox"]


def queue_statement(chance):
    table = chance.choice(QUEUES)
    if chance.random() < 0.1:
        return (f"SELECT event_id, payload\nFROM {table}\nWHERE status = 'pending'\n   OR (status = 'running' AND lock_until_ms < 1700000000000)\n"
                "ORDER BY created_at_ms\nLIMIT 100\nFOR UPDATE SKIP LOCKED")
    return chance.choice([
        f"SELECT event_id, payload\nFROM {table}\nWHERE app_code = 'shop'\n  AND status = 'pending'\nORDER BY created_at_ms, event_id\nLIMIT 100\nFOR UPDATE SKIP LOCKED",
        f"UPDATE {table}\nSET status = 'done', updated_at_ms = 1700000000000\nWHERE app_code = 'shop'\n  AND event_id = 'e{chance.randrange(10**6)}'",
        f"SELECT status, count(*)\nFROM {table}\nWHERE app_code = 'shop'\nGROUP BY status",
        f"INSERT INTO {table} (app_code, event_id, status, payload, created_at_ms)\nVALUES ('shop', 'e{chance.randrange(10**6)}', 'pending', '{{\"a\": 1}}', 1700000000000)",
    ])


def ordinary_statement(chance):
    a, b, c = chance.sample(WORDS, 3)
    return chance.choice([
        f"SELECT t.id, t.{a}_at, u.name\nFROM {b}s t\nJOIN users u ON u.id = t.user_id\nWHERE t.{c} = 'x'\n  AND (t.{a} > 10 OR t.{b} IS NULL)\nORDER BY t.id",
        f"INSERT INTO {a}s (id, {b}, {c})\nVALUES ({chance.randrange(10**6)}, 'it''s', NULL)",
        f"UPDATE {a}s\nSET {b} = {b} + 1, {c} = 'y'\nWHERE id = {chance.randrange(10**6)}",
        f"CREATE TABLE {a}_{b}s (\n  id bigint PRIMARY KEY,\n  {b} text NOT NULL,\n  {c} integer,\n  created_at timestamptz NOT NULL DEFAULT now()\n)",
    ])


def sql_tree(folder, files, statement, chance):
    for at in range(files):
        path = folder / f"{at // 100:03}" / f"{at:05}.sql"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{statement(chance)};\n\n" for _ in range(14)))


def source_tree(folder, files, chance):
    """Programs of some 4 KB: one in twenty speaks of a queue, one in fifty holds a statement, one in five hundred one about a
    queue."""
    endings = list(LINES)
    for at in range(files):
        ending = endings[at % len(endings)]
        lines = []
        words = WORDS + ["queue", "jobs"] * 5 if chance.randrange(20) == 0 else WORDS
        for _ in range(chance.randrange(60, 140)):
            a, b, c, d = (chance.choice(words) for _ in range(4))
            line = chance.choice(LINES[ending])
            lines.append(line.format(a=a, b=b, c=c, d=d, A=a.title(), B=b.title(), C=c.title(), D=d.title(), n=chance.randrange(1000)))
        if at % 50 == 0:
            statement = queue_statement(chance) if at % 500 == 0 else chance.choice(PLAIN)
            lines.insert(len(lines) // 2, QUOTED[ending].replace("{}", " ".join(statement.split()).replace('"', "")))
        path = folder / f"{at // 1000:02}" / f"{at // 50 % 20:02}" / f"file{at:05}.{ending}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(("<?php\n" if ending == "php" else "") + "\n".join(lines) + "\n")


class Run:
    """One run of a command: CPU seconds of it and what it started, wall seconds, MB at most."""

    def __init__(self, command, folder):
        begin = time.monotonic()
        child = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        self.wall = time.monotonic() - begin
        child.returncode = os.waitstatus_to_exitcode(status)
        # 1: there are findings. Anything beyond is no measurement.
        if child.returncode not in (0, 1):
            sys.exit(f"{command[0]} ended with {child.returncode}")
        self.cpu = usage.ru_utime + usage.ru_stime
        self.mb = usage.ru_maxrss / 1024


def compare(title, contestants, runs):
    """Runs everything by turns; each is (name, command, folder, files)."""
    done = {name: [] for name, *_ in contestants}
    for _ in range(runs):
        for name, command, folder, _ in contestants:
            done[name].append(Run(command, folder))
    print(f"\n{title}")
    print("| what | files | CPU s | wall s | MB | files a CPU second | ours is so many times as fast |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    ours = None
    for name, _, _, files in contestants:
        middle = lambda value: statistics.median(value(run) for run in done[name])
        cpu, wall, most = middle(lambda run: run.cpu), middle(lambda run: run.wall), max(run.mb for run in done[name])
        pace = files / cpu
        ours = ours or pace
        print(f"| {name} | {files:,} | {cpu:.2f} | {wall:.2f} | {most:.0f} | {pace:,.0f} | {ours / pace:,.2f} |", flush=True)


def main():
    claimsmith, tools, runs = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        chance = random.Random(6)
        sources, queues, ordinary = work / "sources", work / "queues", work / "ordinary"
        source_tree(sources, 50_000, chance)
        sql_tree(queues, 2_000, queue_statement, chance)
        rare = lambda chance: queue_statement(chance) if chance.randrange(100) == 0 else ordinary_statement(chance)
        sql_tree(ordinary, 2_000, rare, chance)
        lint = [claimsmith, "lint", "--format", "concise", "--dialect", "postgres", "."]

        def some(folder, count):
            return [str(path.relative_to(folder)) for path in sorted(folder.glob("*/*.sql"))[:count]]

        def squawk(folder):
            return ("squawk", [str(tools / "squawk"), "--reporter", "gcc", *some(folder, 2_000)], folder, 2_000)

        for title, folder in [("Every statement is about a queue", queues), ("One statement in a hundred is", ordinary)]:
            compare(title, [("claimsmith", lint, folder, 2_000), squawk(folder)], runs)
            slow = [
                ("sqruff", [str(tools / "sqruff"), "lint", "--format", "github-annotation-native", *some(folder, 100)], folder, 100),
                ("sqlfluff", [str(tools / "sqlfluff"), "lint", "--dialect", "postgres", "--format", "none", *some(folder, 10)], folder, 10),
            ]
            compare(title, [("claimsmith", lint, folder, 2_000), *slow], min(runs, 3))
        compare("Programs with little SQL", [
            ("claimsmith", lint, sources, 50_000),
            ("ripgrep", [str(tools / "rg"), "--line-number", "SELECT|UPDATE|DELETE", "."], sources, 50_000),
        ], runs)


main()
