//! `lint --database-url`: what is known of tables only from a database, on every engine.

use crate::project::{Project, Run};
use crate::servers::{Scratch, Server, on_servers};

const TABLE: &str = "CREATE TABLE mail_queue (id BIGINT PRIMARY KEY, app_code VARCHAR(20) NOT NULL, \
    status VARCHAR(20) NOT NULL, created_at BIGINT NOT NULL)";

const INDEX: &str = "CREATE INDEX idx_claim ON mail_queue (app_code, status, created_at, id)";

/// A claim as the engine would run it.
fn claim(condition: &str, server: Server) -> String {
    let lock = if server == Server::Sqlite { "" } else { " FOR UPDATE SKIP LOCKED" };
    format!("SELECT id FROM mail_queue WHERE {condition} ORDER BY created_at, id LIMIT 10{lock};\n")
}

const SCOPED: &str = "app_code = 'shop' AND status = 'new'";

fn lint(scratch: &Scratch, files: &[(&str, &str)]) -> Run {
    let project = Project::new(files);
    project.run(&["lint", "--format", "concise", "--fail-on", "warning", "--database-url", &scratch.url()])
}

/// The rules that found something.
fn rules(run: &Run) -> Vec<String> {
    let rule = |line: &str| Some(line.split_once('[')?.1.split_once(']')?.0.to_owned());
    run.stdout.lines().filter_map(rule).collect()
}

fn statements_are_judged_by_the_tables_of_a_database(scratch: &mut Scratch) {
    let server = scratch.server;
    let (good, bare) = (claim(SCOPED, server), claim("status = 'new'", server));
    // Without the database nobody knows that there is a scope.
    Project::new(&[("bare.sql", &bare)]).run(&["lint", "--fail-on", "warning"]).assert(0);

    scratch.run(&format!("{TABLE};{INDEX}")).unwrap();
    let run = lint(scratch, &[("good.sql", &good)]).assert(0);
    assert!(run.stderr.contains("1 table told by the database"), "{}", run.stderr);
    assert_eq!(rules(&lint(scratch, &[("bare.sql", &bare)]).assert(1)), ["claim-without-scope"]);

    let of_table = if server.is_mysql_like() { " ON mail_queue" } else { "" };
    scratch.run(&format!("DROP INDEX idx_claim{of_table}")).unwrap();
    assert_eq!(rules(&lint(scratch, &[("good.sql", &good)]).assert(1)), ["claim-without-index"]);
}
on_servers!(statements_are_judged_by_the_tables_of_a_database);

fn files_say_more_than_the_database(scratch: &mut Scratch) {
    let good = claim(SCOPED, scratch.server);
    scratch.run(TABLE).unwrap();
    // A migration that has not run yet adds to what the database knows.
    let migration = format!("{INDEX};\n");
    lint(scratch, &[("1_add.sql", &migration), ("good.sql", &good)]).assert(0);
    // Where the files make the table themselves, it is as they say.
    let table = format!("{TABLE};\n").replace("app_code VARCHAR(20) NOT NULL, ", "");
    let index = "CREATE INDEX idx_claim ON mail_queue (status, created_at, id);\n";
    let bare = claim("status = 'new'", scratch.server);
    lint(scratch, &[("1_make.sql", &table), ("2_add.sql", index), ("bare.sql", &bare)]).assert(0);
}
on_servers!(files_say_more_than_the_database);

fn indexes_are_what_the_database_uses(scratch: &mut Scratch) {
    let server = scratch.server;
    let good = claim(SCOPED, server);
    let (columns, of_table) = ("(app_code, status, created_at, id)", "ON mail_queue");
    let mut hidden = vec![
        format!("CREATE INDEX idx_other {of_table} (app_code, status)"),
        format!("CREATE INDEX idx_other {of_table} (status, app_code, id, created_at)"),
    ];
    let mut serving = vec![INDEX.to_owned()];
    match server {
        Server::MySql => hidden.push(format!("CREATE INDEX idx_other {of_table} {columns} INVISIBLE")),
        Server::MariaDb => hidden.push(format!("CREATE INDEX idx_other {of_table} {columns} IGNORED")),
        Server::Postgres | Server::Sqlite => {
            let partial = |state: &str| format!("CREATE INDEX idx_other {of_table} {columns} WHERE status = '{state}'");
            hidden.push(partial("old"));
            serving.push(partial("new"));
        }
    }
    if server == Server::Postgres {
        hidden.push(format!("CREATE INDEX idx_other {of_table} USING hash (app_code)"));
    }
    for (indexes, expected) in [(hidden, &["claim-without-index"][..]), (serving, &[])] {
        for index in indexes {
            scratch.run(&format!("{TABLE};{index}")).unwrap();
            assert_eq!(rules(&lint(scratch, &[("good.sql", &good)])), *expected, "{index}");
            scratch.run("DROP TABLE mail_queue").unwrap();
        }
    }
}
on_servers!(indexes_are_what_the_database_uses);

fn odd_names_and_types_are_read(scratch: &mut Scratch) {
    let (server, ident) = (scratch.server, |name: &str| scratch.server.dialect().ident(name));
    let table = ident("odd '\"`; name outbox");
    let time = if server == Server::Postgres { "TIMESTAMP(3) WITH TIME ZONE" } else { "DATETIME" };
    let scripts = [
        format!(
            "CREATE TABLE {table} (id BIGINT PRIMARY KEY, {} {time}, amount DECIMAL(18, 4) DEFAULT 0)",
            ident("a \"b")
        ),
        TABLE.replace("status VARCHAR(20)", "status VARCHAR(20) DEFAULT ';--)'"),
        "CREATE TABLE customers (id INT)".to_owned(),
        "CREATE VIEW mail_queue_view AS SELECT id FROM mail_queue".to_owned(),
    ];
    scratch.run(&scripts.join(";")).unwrap();
    let bare = claim("status = 'new'", server);
    let run = lint(scratch, &[("bare.sql", &bare)]).assert(1);
    assert!(run.stderr.contains("2 tables told by the database"), "{}", run.stderr);
    assert!(rules(&run).contains(&"claim-without-scope".to_owned()), "{}", run.stdout);
}
on_servers!(odd_names_and_types_are_read);

/// The scheme of the URL may be MySQL's, and the server MariaDB: its version decides, not what somebody wrote.
fn statements_are_for_the_database(scratch: &mut Scratch) {
    scratch.run(TABLE).unwrap();
    // What only some engines know, each with the engine that refuses it.
    let lock = "SELECT id FROM mail_queue WHERE app_code = 'a' AND id = 1 FOR UPDATE SKIP LOCKED LIMIT 1;\n";
    let found = rules(&lint(scratch, &[("lock.sql", lock)])).contains(&"limit-before-lock".to_owned());
    assert_eq!(found, scratch.server.is_mysql_like());
}
on_servers!(statements_are_for_the_database: mysql, mariadb, postgres);

#[test]
fn a_database_that_says_nothing_is_an_error_without_its_password() {
    let project =
        Project::new(&[("good.sql", "SELECT 1;\n"), ("text.db", "no database at all, but a text of some length\n")]);
    for (url, expected) in [
        ("hunter2", "has no scheme"),
        ("oracle://a:hunter2@h/d", "unknown kind of database `oracle`"),
        ("mysql://a:hunter2@127.0.0.1:1/d", "cannot read the tables of `mysql://127.0.0.1:1/d`"),
        ("postgres://a:hunter2@127.0.0.1:1/d", "cannot read the tables of `postgres://127.0.0.1:1/d`"),
        ("sqlite://absent.db", "cannot read the tables of `sqlite://absent.db`"),
        ("sqlite://text.db", "cannot read the tables of `sqlite://text.db`"),
    ] {
        let run = project.run(&["lint", "--database-url", url]).assert(2);
        assert!(run.stderr.contains(expected), "{url}: {}", run.stderr);
        assert!(!run.stderr.contains("hunter2") && run.stdout.is_empty(), "{}", run.stderr);
    }
    assert_eq!(project.files(), ["good.sql", "text.db"]);
}

fn a_refused_password_is_not_shown(scratch: &mut Scratch) {
    let url = scratch.url();
    let (scheme, address) = url.split_once("://").unwrap();
    let address = address.rsplit_once('@').map_or(address, |(_, address)| address);
    let run =
        Project::default().run(&["lint", "--database-url", &format!("{scheme}://nobody_at_all:hunter2@{address}")]);
    let run = run.assert(2);
    assert!(run.stderr.contains("cannot read the tables of"), "{}", run.stderr);
    assert!(!run.stderr.contains("hunter2"), "{}", run.stderr);
}
on_servers!(a_refused_password_is_not_shown: mysql, mariadb, postgres);
