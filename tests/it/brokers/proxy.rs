//! A way to a broker on which accidents happen.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What happens on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Weather {
    Fair,
    /// Everything takes so much longer, there and back.
    Slow(Duration),
    /// What is sent arrives, and the connection breaks before the answer is back.
    CutAfterSend,
    /// What is sent arrives, and no answer ever comes back.
    Silent,
}

/// Listens, and passes on.
pub struct Proxy {
    address: String,
    weather: watch::Sender<Weather>,
    target: watch::Sender<String>,
    breaks: watch::Sender<()>,
    sent: Arc<AtomicUsize>,
    task: JoinHandle<()>,
}

impl Proxy {
    /// A proxy that does not know yet where to pass things on to.
    pub async fn new() -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (weather, _) = watch::channel(Weather::Fair);
        let (target, _) = watch::channel(String::new());
        let (breaks, _) = watch::channel(());
        let sent = Arc::new(AtomicUsize::new(0));
        let (way, to, broken, count) = (weather.clone(), target.clone(), breaks.clone(), sent.clone());
        let task = tokio::spawn(async move {
            loop {
                let Ok((client, _)) = listener.accept().await else { return };
                let to = to.borrow().clone();
                tokio::spawn(connect(client, to, way.subscribe(), broken.subscribe(), count.clone()));
            }
        });
        Proxy { address, weather, target, breaks, sent, task }
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn lead_to(&self, target: &str) {
        self.target.send_replace(target.to_owned());
    }

    pub fn set(&self, weather: Weather) {
        self.weather.send_replace(weather);
    }

    /// Ends the connections that there are, as a broker does with those that are idle.
    pub fn break_connections(&self) {
        self.breaks.send_replace(());
    }

    /// How many pieces were sent to the broker.
    pub fn sent(&self) -> usize {
        self.sent.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Weathercock = watch::Receiver<Weather>;

async fn connect(
    client: TcpStream,
    target: String,
    weather: Weathercock,
    mut breaks: watch::Receiver<()>,
    sent: Arc<AtomicUsize>,
) {
    let Ok(server) = TcpStream::connect(target).await else { return };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    // Whichever ends first ends both: the connection is dropped as a whole.
    tokio::select! {
        () = there(from_client, to_server, weather.clone(), sent) => {}
        () = back(from_server, to_client, weather) => {}
        _ = breaks.changed() => {}
    }
}

async fn there(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, weather: Weathercock, sent: Arc<AtomicUsize>) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        sent.fetch_add(1, Ordering::Relaxed);
        slow(&weather).await;
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

async fn back(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, weather: Weathercock) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        slow(&weather).await;
        let now = *weather.borrow();
        match now {
            Weather::CutAfterSend => return,
            Weather::Silent => continue,
            Weather::Fair | Weather::Slow(_) => {}
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
    }
}

async fn slow(weather: &Weathercock) {
    let now = *weather.borrow();
    if let Weather::Slow(delay) = now {
        tokio::time::sleep(delay).await;
    }
}
