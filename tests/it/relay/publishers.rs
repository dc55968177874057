//! Publishers that misbehave in the ways that brokers do.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::rust::generated::broker::{Message, PublishError, Publisher};

/// What a publisher does with a message.
#[derive(Clone, Copy, Debug)]
pub enum Does {
    Takes,
    Refuses,
    NeverTakes,
    /// The broker has it, but nobody can know.
    TakesAndFails,
    /// Thinks so long, and takes it.
    Thinks(u64),
}

/// Remembers what it was given, and does with each message what its test says.
pub struct Recorder<F> {
    does: F,
    /// What the broker has, in its order.
    pub taken: Mutex<Vec<Message>>,
    /// How often each id was offered.
    pub offered: Mutex<BTreeMap<String, usize>>,
    /// The most messages that were under way at a time.
    pub most: AtomicUsize,
    now: AtomicUsize,
    /// Whether it answers when asked whether it is there.
    pub answers: AtomicBool,
    /// How often it was asked.
    pub probes: AtomicUsize,
}

impl<F: Fn(&Message, usize) -> Does + Sync> Recorder<F> {
    /// `does` gets the message and how often it was offered, from 1.
    pub fn new(does: F) -> Self {
        Recorder {
            does,
            taken: Mutex::default(),
            offered: Mutex::default(),
            most: AtomicUsize::new(0),
            now: AtomicUsize::new(0),
            answers: AtomicBool::new(true),
            probes: AtomicUsize::new(0),
        }
    }

    pub fn ids(&self) -> Vec<String> {
        self.taken.lock().unwrap().iter().map(|message| message.id.clone()).collect()
    }

    pub fn count(&self) -> usize {
        self.taken.lock().unwrap().len()
    }

    pub fn offers(&self) -> usize {
        self.offered.lock().unwrap().values().sum()
    }

    fn take(&self, message: &Message) {
        self.taken.lock().unwrap().push(message.clone());
    }
}

impl<F: Fn(&Message, usize) -> Does + Sync> Publisher for Recorder<F> {
    async fn publish(&self, message: &Message) -> Result<(), PublishError> {
        let times = {
            let mut offered = self.offered.lock().unwrap();
            let times = offered.entry(message.id.clone()).or_default();
            *times += 1;
            *times
        };
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        let answer = match (self.does)(message, times) {
            Does::Takes => {
                tokio::task::yield_now().await;
                self.take(message);
                Ok(())
            }
            Does::Refuses => Err(PublishError::Transient("not now".into())),
            Does::NeverTakes => Err(PublishError::Permanent("too large".into())),
            Does::TakesAndFails => {
                self.take(message);
                Err(PublishError::Unknown("the line is dead".into()))
            }
            Does::Thinks(millis) => {
                tokio::time::sleep(Duration::from_millis(millis)).await;
                self.take(message);
                Ok(())
            }
        };
        self.now.fetch_sub(1, Ordering::SeqCst);
        answer
    }

    async fn probe(&self) -> Result<(), PublishError> {
        self.probes.fetch_add(1, Ordering::SeqCst);
        match self.answers.load(Ordering::SeqCst) {
            true => Ok(()),
            false => Err(PublishError::Transient("nobody is there".into())),
        }
    }
}
