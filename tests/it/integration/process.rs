//! The processes of the CRM: each does what it is there for until it is stopped or killed, and takes down what it did.

use std::fs::File;
use std::io::{Read, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::chaos::random::Random;
use crate::rust::generated::queue::{EnqueueError, FinishError, is_retryable};

use super::portal::Client;

/// What a process is to do, in JSON.
pub const ORDERS: &str = "CLAIMSMITH_INTEGRATION_ORDERS";

/// No process lives longer, whatever happens to its parent.
const LIFETIME: Duration = Duration::from_secs(180);

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, Serialize)]
pub enum Role {
    /// Takes what the webhook tells.
    Webhook,
    /// The only worker of what comes from the platform.
    Sync,
    /// The only worker of what goes there.
    Push,
    /// Changes records.
    User,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct Orders {
    pub server: String,
    pub url: String,
    pub role: Role,
    pub name: String,
    pub seed: u64,
    /// The platform's address.
    pub portal: String,
    /// Where it says what it did.
    pub report: String,
}

/// A contact that users of the CRM change.
pub fn ours(nth: u64) -> String {
    format!("c{nth}")
}

/// Whether it was stopped.
static STOPPED: AtomicBool = AtomicBool::new(false);

/// A process of the CRM: this test in a process of its own. Started by hand, it has no orders and does nothing.
#[test]
fn process() {
    let Ok(orders) = std::env::var(ORDERS) else { return };
    let orders: Orders = serde_json::from_str(&orders).unwrap();
    // The parent closes its end when it stops us, and the system does so when the parent is no more.
    std::thread::spawn(|| {
        _ = std::io::stdin().read_to_end(&mut Vec::new());
        STOPPED.store(true, Ordering::Relaxed);
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        match orders.server.as_str() {
            "mysql" => super::mysql::run(&orders).await,
            "mariadb" => super::mariadb::run(&orders).await,
            "postgres" => super::postgres::run(&orders).await,
            _ => super::sqlite::run(&orders).await,
        }
    });
}

/// What a process knows beside its database.
pub struct Process<'a> {
    pub orders: &'a Orders,
    pub client: Client,
    pub random: Mutex<Random>,
    report: File,
    until: Instant,
}

impl Process<'_> {
    pub fn new(orders: &Orders) -> Process<'_> {
        Process {
            orders,
            client: Client { address: orders.portal.clone() },
            random: Mutex::new(Random(orders.seed)),
            report: File::options().append(true).create(true).open(&orders.report).unwrap(),
            until: Instant::now() + LIFETIME,
        }
    }

    pub fn goes_on(&self) -> bool {
        !STOPPED.load(Ordering::Relaxed) && Instant::now() < self.until
    }

    pub fn say(&self, word: &str, times: usize) {
        (&self.report).write_all(format!("{word} -\n").repeat(times).as_bytes()).unwrap();
    }

    pub fn percent(&self, share: u64) -> bool {
        self.random.lock().unwrap().percent(share)
    }

    pub fn below(&self, end: u64) -> u64 {
        self.random.lock().unwrap().below(end)
    }

    /// Ends the process with an error that is not one of those that every program must be ready for.
    #[track_caller]
    pub fn expect(&self, error: &sqlx::Error) {
        assert!(is_retryable(error), "{}: {error:?}", self.orders.name);
        self.say("again", 1);
    }

    #[track_caller]
    pub fn expect_of_adding(&self, error: &EnqueueError) {
        match error {
            EnqueueError::Db(error) => self.expect(error),
            EnqueueError::TooLong(error) => panic!("{}: {error}", self.orders.name),
        }
    }

    #[track_caller]
    pub fn expect_of_finishing(&self, error: &FinishError) {
        match error {
            FinishError::Db(error) => self.expect(error),
            // What the predecessor sent before it was killed has arrived in the meantime: the row is done with.
            FinishError::Lost => self.say("lost", 1),
        }
    }
}

/// The processes with the code for one engine: a part of that engine's module.
macro_rules! processes {
    () => {
        use super::process::{Process, Role, ours};

        type Pool = db::Pool;

        pub async fn run(orders: &super::process::Orders) {
            let process = Process::new(orders);
            let pool = Pool::connect(&orders.url).await.unwrap();
            match orders.role {
                Role::Webhook => webhook(&process, &pool).await,
                Role::Sync => sync(&process, &pool).await,
                Role::Push => push(&process, &pool).await,
                Role::User => user(&process, &pool).await,
            }
            pool.close().await;
        }

        async fn pause() {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }

        async fn webhook(process: &Process<'_>, pool: &Pool) {
            while process.goes_on() {
                // The platform closes a connection now and then, and tells the same again.
                if let Ok(events) = process.client.events() {
                    match workers::webhook(pool, &events).await {
                        Ok(stored) => {
                            process.say("stored", stored.inserted as usize);
                            process.say("known", stored.duplicates as usize);
                            if !process.percent(20) {
                                _ = process.client.arrived(events.iter().map(|event| event.id).collect());
                            }
                        }
                        Err(error) => process.expect_of_adding(&error),
                    }
                }
                pause().await;
            }
        }

        async fn sync(process: &Process<'_>, pool: &Pool) {
            let mut is_new = true;
            while process.goes_on() {
                if is_new {
                    match workers::recover_sync(pool).await {
                        Ok(rows) => process.say("recovered", rows as usize),
                        Err(error) => {
                            process.expect(&error);
                            continue;
                        }
                    }
                }
                let round = workers::sync(pool, &process.orders.name).await;
                is_new = told(process, round);
                pause().await;
            }
        }

        async fn push(process: &Process<'_>, pool: &Pool) {
            let mut is_new = true;
            while process.goes_on() {
                if is_new {
                    match workers::recover_push(pool).await {
                        Ok(rows) => process.say("recovered", rows as usize),
                        Err(error) => {
                            process.expect(&error);
                            continue;
                        }
                    }
                }
                let round = workers::push(pool, &process.orders.name, &process.client).await;
                is_new = told(process, round);
                pause().await;
            }
        }

        /// Says what a round did. Whether it was broken off, so that rows may be left.
        fn told(process: &Process<'_>, round: Result<super::hubspot::Round, queue::FinishError>) -> bool {
            match round {
                Ok(round) => {
                    process.say("done", round.done);
                    process.say("skipped", round.skipped);
                    process.say("retried", round.retried);
                    process.say("dead", round.dead);
                    false
                }
                Err(error) => {
                    process.expect_of_finishing(&error);
                    true
                }
            }
        }

        async fn user(process: &Process<'_>, pool: &Pool) {
            let mut names = 0;
            while process.goes_on() {
                names += 1;
                let name = format!("{} {names}", process.orders.name);
                // Of one that is changed often, changes join; of one that is changed once, each loss shows.
                let id = if process.percent(50) { ours(process.below(6)) } else { format!("c {name}") };
                match rename(pool, &id, &name).await {
                    Ok(queue::Enqueued::Coalesced) => process.say("joined", 1),
                    Ok(_) => process.say("sent", 1),
                    // Two users have made the same contact.
                    Err(error) if error.is_unique_violation() => process.say("again", 1),
                    Err(error) => process.expect_of_adding(&error),
                }
                pause().await;
            }
        }

        /// What a user does, and that it was done, in one transaction.
        async fn rename(pool: &Pool, id: &str, name: &str) -> Result<queue::Enqueued, queue::EnqueueError> {
            let mut transaction = pool.begin_with(db::BEGIN).await?;
            let old = crm::find(&mut transaction, id).await?;
            let known = old.clone().unwrap_or_default();
            let new = crm::Contact { name: name.to_owned(), version: known.version + 1, ..known };
            let change = crm::save(&mut transaction, crm::Context::default(), id, old.as_ref(), &new).await?;
            let saved = format!("INSERT INTO saves VALUES ('{id}', {}, '{name}')", new.version);
            sqlx::raw_sql(sqlx::AssertSqlSafe(saved)).execute(&mut *transaction).await?;
            transaction.commit().await?;
            Ok(change)
        }

        pub async fn create(url: &str, schema: &str) {
            let pool = Pool::connect(url).await.unwrap();
            crm::create(&mut *pool.acquire().await.unwrap(), schema).await.unwrap();
            pool.close().await;
        }

        /// A change that comes from the platform, a round of each worker, and the new life of its dead letters: what became
        /// of each.
        pub async fn layers(
            url: &str,
            served: &super::portal::Served,
        ) -> (queue::Enqueued, [super::hubspot::Round; 2], u64) {
            let pool = Pool::connect(url).await.unwrap();
            let mut transaction = pool.begin_with(db::BEGIN).await.unwrap();
            let context = crm::Context { sync_source: Some(crm::HUBSPOT) };
            let new = crm::Contact { name: "Ada".to_owned(), version: 1, ..crm::Contact::default() };
            let change = crm::save(&mut transaction, context, "h1", None, &new).await.unwrap();
            transaction.commit().await.unwrap();
            let into = workers::sync(&pool, "sync").await.unwrap();
            let out = workers::push(&pool, "push", served).await.unwrap();
            let revived = workers::retry_dead_letters(&pool, crm::HUBSPOT).await.unwrap();
            pool.close().await;
            (change, [into, out], revived)
        }

        /// Works off what is left, with nobody else there: in how many rounds, and how many dead letters were revived.
        pub async fn drain(url: &str, served: &super::portal::Served) -> (usize, u64) {
            let pool = Pool::connect(url).await.unwrap();
            workers::recover_sync(&pool).await.unwrap();
            workers::recover_push(&pool).await.unwrap();
            let mut revived = 0;
            for rounds in 0..2_000 {
                let events = served.portal().events.clone();
                _ = workers::webhook(&pool, &events).await.unwrap();
                served.portal().arrived(&events.iter().map(|event| event.id).collect::<Vec<_>>());
                let into = workers::sync(&pool, "drain").await.unwrap();
                let out = workers::push(&pool, "drain", served).await.unwrap();
                let dead = workers::retry_dead_letters(&pool, crm::HUBSPOT).await.unwrap();
                revived += dead;
                if events.is_empty() && into.claimed == 0 && out.claimed == 0 && dead == 0 {
                    pool.close().await;
                    return (rounds, revived);
                }
            }
            panic!("there is always more to do");
        }
    };
}
pub(super) use processes;
