//! `sql/<dialect>/grants.sql`, run on real servers: an owner works on its tables, everybody else is refused.

use claimsmith::engine::Engine;
use claimsmith::generate::{self, Options, targets};
use claimsmith::statement::query::queries;
use claimsmith::template::Templates;

use crate::loaded::{self, ALL, Loaded, repository};
use crate::servers::{Scratch, Server, Session, on_servers};

/// Definitions of two owners whose names need quotes and escapes.
fn definitions() -> String {
    let text = std::fs::read_to_string(repository("schemas/governed_outboxes.json")).unwrap();
    let mut tables: serde_json::Value = serde_json::from_str(&text).unwrap();
    let tables = tables["tables"].as_array_mut().unwrap();
    tables.retain(|table| ["wallet_outbox", "room_outbox"].contains(&table["tableName"].as_str().unwrap()));
    assert_eq!(tables.len(), 2);
    serde_json::Value::Array(tables.clone()).to_string()
}

fn load() -> Loaded {
    let loaded = loaded::load_text(&definitions());
    assert!(!loaded.has_errors(), "{}", loaded.report());
    loaded
}

/// The file for an engine, if there is one.
fn file(loaded: &Loaded, engine: &Engine) -> Option<String> {
    let dialect = claimsmith::dialect::find(engine.id).unwrap();
    let options = Options {
        dialects: vec![dialect],
        targets: vec![targets::find("sql").unwrap()],
        rust: Default::default(),
        source: "s",
    };
    let files = generate::run(&loaded.catalog, &options, &Templates::new(None).unwrap()).unwrap();
    files.into_iter().find(|file| file.path.ends_with("grants.sql")).map(|file| file.content)
}

/// The statements of a table by which a worker claims, finishes and archives, with any values.
fn work(loaded: &Loaded, server: Server, table: &str) -> Vec<String> {
    let all = queries(&loaded.catalog, server.dialect());
    let of = all.into_iter().find(|of| loaded.catalog.tables[of.table].name.name == table).unwrap();
    let wanted = ["claim_pending", "release", "get_pending", "archive_delivered", "delete_archived"];
    let found: Vec<String> = of
        .queries
        .into_iter()
        .filter(|query| wanted.iter().any(|name| query.name.starts_with(name)))
        .map(|query| {
            let mut sql = query.sql;
            for parameter in query.parameters.iter().rev() {
                let value = if parameter.name.starts_with("limit") { "10" } else { "'1'" };
                let at = sql.rfind(&parameter.placeholder).unwrap();
                sql.replace_range(at..at + parameter.placeholder.len(), value);
            }
            sql
        })
        .collect();
    assert!(found.len() >= 3, "{found:?}");
    found
}

/// An account that has the role, and a session of it.
struct Service {
    role: String,
    user: String,
}

impl Service {
    /// Roles belong to the server and not to a database: they have names of their own.
    fn new(scratch: &mut Scratch, name: &str) -> Service {
        let short: String = scratch.name().chars().rev().take(14).collect::<Vec<_>>().into_iter().rev().collect();
        let (role, user) = (format!("{short}'{name}"), format!("{short}_{name}"));
        let service = Service { role, user };
        let (role, user) = (service.quoted(scratch.server), &service.user);
        let script = match scratch.server {
            Server::Postgres => format!("CREATE ROLE {role}; CREATE ROLE \"{user}\" LOGIN IN ROLE {role}"),
            Server::MySql => format!(
                "CREATE ROLE {role}; CREATE USER '{user}'@'%'; GRANT {role} TO '{user}'@'%'; \
                 SET DEFAULT ROLE {role} TO '{user}'@'%'"
            ),
            Server::MariaDb | Server::Sqlite => format!(
                "CREATE ROLE {role}; CREATE USER '{user}'@'%'; GRANT {role} TO '{user}'@'%'; \
                 SET DEFAULT ROLE {role} FOR '{user}'@'%'"
            ),
        };
        scratch.run(&script).unwrap();
        service
    }

    fn quoted(&self, server: Server) -> String {
        match server {
            Server::Postgres => server.dialect().ident(&self.role),
            _ => server.dialect().literal(&self.role),
        }
    }

    /// The statement by which the file is told of the role.
    fn set(&self, server: Server, variable: &str) -> String {
        match server {
            Server::Postgres => format!("SET claimsmith.{variable} = {}", server.dialect().literal(&self.role)),
            _ => format!("SET @{variable} = {}", server.dialect().literal(&self.quoted(server))),
        }
    }

    fn session(&self, scratch: &Scratch) -> Session {
        let administrator = if scratch.server == Server::Postgres { "postgres@" } else { "root@" };
        let url = scratch.url().replacen(administrator, &format!("{}@", self.user), 1);
        Session::open(scratch.server, &url).unwrap()
    }

    fn remove(&self, scratch: &mut Scratch) {
        let role = self.quoted(scratch.server);
        let script = match scratch.server {
            Server::Postgres => format!("DROP OWNED BY {role}; DROP ROLE \"{}\"; DROP ROLE {role}", self.user),
            _ => format!("DROP USER '{}'@'%'; DROP ROLE {role}", self.user),
        };
        scratch.run(&script).unwrap();
    }
}

fn an_owner_works_and_the_others_are_refused(scratch: &mut Scratch) {
    let server = scratch.server;
    let loaded = load();
    let schema = &loaded.sql()[ALL.iter().position(|id| *id == server.id()).unwrap()];
    scratch.run(schema).unwrap();
    let grants = file(&loaded, server.engine()).unwrap();
    let [wallet, room] = ["wallet", "room"].map(|name| Service::new(scratch, name));
    // As it was: the room service reads the wallet's queue, and everybody does where there is such a thing.
    let room_role = room.quoted(server);
    scratch.run(&format!("GRANT SELECT ON wallet_outbox TO {room_role}")).unwrap();
    scratch.run(&format!("GRANT SELECT (event_id), UPDATE (status) ON wallet_outbox_archive TO {room_role}")).unwrap();
    if server == Server::Postgres {
        scratch.run("GRANT SELECT ON wallet_outbox TO PUBLIC").unwrap();
    }
    room.session(scratch).run("SELECT event_id FROM wallet_outbox").unwrap();
    let script = [
        wallet.set(server, "role_wallet_service"),
        room.set(server, "role_room_service"),
        grants.trim_end().trim_end_matches(';').to_owned(),
    ];
    // Twice is as good as once.
    for _ in 0..2 {
        scratch.run(&script.join(";\n")).unwrap();
    }
    let works = |service: &Service, own: &str, other: &str| {
        let mut session = service.session(scratch);
        for table in [own.to_owned(), format!("{own}_archive")] {
            session.run(&format!("UPDATE {table} SET status = 'dead' WHERE event_id = 'x'")).unwrap();
            session.run(&format!("DELETE FROM {table} WHERE event_id = 'x'")).unwrap();
            session.run(&format!("INSERT INTO {table} SELECT * FROM {table} WHERE event_id = 'x'")).unwrap();
        }
        for sql in work(&loaded, server, own) {
            session.run(&sql).unwrap_or_else(|refusal| panic!("{own}: {refusal:?}\n{sql}"));
        }
        for sql in work(&loaded, server, other) {
            let refusal = service.session(scratch).run(&sql).expect_err(&sql);
            let denied = ["1142", "1143", "42501"].contains(&&*refusal.code);
            assert!(denied, "{other}: {refusal:?}\n{sql}");
        }
        for sql in [
            format!("SELECT event_id FROM {other}"),
            format!("SELECT event_id FROM {other}_archive"),
            format!("INSERT INTO {other} (event_id) VALUES ('x')"),
            format!("UPDATE {other}_archive SET status = 'dead'"),
            format!("DELETE FROM {other}"),
        ] {
            let refusal = service.session(scratch).run(&sql).expect_err(&sql);
            assert!(["1142", "1143", "42501"].contains(&&*refusal.code), "{refusal:?}\n{sql}");
        }
    };
    works(&wallet, "wallet_outbox", "room_outbox");
    works(&room, "room_outbox", "wallet_outbox");
    [wallet, room].iter().for_each(|service| service.remove(scratch));
}
on_servers!(an_owner_works_and_the_others_are_refused: mysql, mariadb, postgres);

/// Two services that connect with one account lose nothing to each other.
fn owners_may_share_a_role(scratch: &mut Scratch) {
    let server = scratch.server;
    let loaded = load();
    scratch.run(&loaded.sql()[ALL.iter().position(|id| *id == server.id()).unwrap()]).unwrap();
    let grants = file(&loaded, server.engine()).unwrap();
    let both = Service::new(scratch, "both");
    let sets = ["role_wallet_service", "role_room_service"].map(|variable| both.set(server, variable));
    scratch.run(&format!("{};\n{}", sets.join(";\n"), grants.trim_end().trim_end_matches(';'))).unwrap();
    let mut session = both.session(scratch);
    session.run("SELECT event_id FROM wallet_outbox").unwrap();
    session.run("SELECT event_id FROM room_outbox").unwrap();
    drop(session);
    both.remove(scratch);
}
on_servers!(owners_may_share_a_role: mysql, mariadb, postgres);

#[test]
fn there_is_a_file_where_there_are_roles_and_owners() {
    let loaded = load();
    for dialect in &loaded.dialects {
        let engine = dialect.engine();
        assert_eq!(file(&loaded, engine).is_some(), engine.roles.is_some(), "{}", engine.id);
    }
    assert_eq!(loaded.dialects.iter().filter(|dialect| dialect.engine().roles.is_some()).count(), 3);
    let nobody = loaded::load_text(crate::project::NOTES);
    assert_eq!(file(&nobody, nobody.dialects[0].engine()), None);
}
