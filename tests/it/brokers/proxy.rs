//! A way to a broker on which accidents happen.

use std::sync::Arc;
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
    task: JoinHandle<()>,
}

impl Proxy {
    /// A proxy that does not know yet where to pass things on to.
    pub async fn new() -> Proxy {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (weather, _) = watch::channel(Weather::Fair);
        let (target, _) = watch::channel(String::new());
        let (way, to) = (weather.clone(), target.clone());
        let task = tokio::spawn(async move {
            loop {
                let Ok((client, _)) = listener.accept().await else { return };
                let to = to.borrow().clone();
                tokio::spawn(connect(client, to, way.clone()));
            }
        });
        Proxy { address, weather, target, task }
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
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn connect(client: TcpStream, target: String, weather: watch::Sender<Weather>) {
    let Ok(server) = TcpStream::connect(target).await else { return };
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let cut = Arc::new(tokio::sync::Notify::new());
    let there = pass(from_client, to_server, weather.subscribe(), Some(cut.clone()));
    let back = pass(from_server, to_client, weather.subscribe(), None);
    // Whichever ends first ends both: the connection is dropped as a whole.
    tokio::select! {
        () = there => {}
        () = back => {}
        () = cut.notified() => {}
    }
}

async fn pass(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    weather: watch::Receiver<Weather>,
    cut: Option<Arc<tokio::sync::Notify>>,
) {
    let mut bytes = vec![0; 64 * 1024];
    while let Ok(count @ 1..) = from.read(&mut bytes).await {
        let now = *weather.borrow();
        match now {
            Weather::Slow(delay) => tokio::time::sleep(delay).await,
            Weather::CutAfterSend | Weather::Silent if cut.is_none() => continue,
            _ => {}
        }
        if to.write_all(&bytes[..count]).await.is_err() {
            return;
        }
        if let (Weather::CutAfterSend, Some(cut)) = (now, &cut) {
            // Long enough for the broker to have it.
            tokio::time::sleep(Duration::from_millis(100)).await;
            cut.notify_one();
        }
    }
}
