//! What people can do while one process lives: over HTTP, through the engine, and from beside it.

use super::*;

/// A question as a person has seen it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Seen {
    pub(super) id: String,
    pub(super) text: String,
}

/// What is here while one process lives.
pub(super) struct Life<'l> {
    pub(super) engine: Sqlite,
    pub(super) address: SocketAddr,
    /// The store, as another process has it.
    pub(super) beside: &'l Store,
}

/// How an answer is given.
#[derive(Clone, Copy)]
pub(super) enum Way {
    Http,
    Engine,
    Inbox,
}

pub(super) const WAYS: [Way; 3] = [Way::Http, Way::Engine, Way::Inbox];

impl Life<'_> {
    async fn request(&self, method: &str, path: &str, body: &str) -> (u16, String) {
        let stream = Connection::connect(self.address).await.expect("it listens");
        let client = Client { address: self.address, token: PEOPLE.into() };
        let request = client.request(method, path, "Content-Type: application/json\r\n", body);
        let mut rest = request.as_bytes();
        while !rest.is_empty() {
            stream.writable().await.expect("it is open");
            if let Ok(count) = stream.try_write(rest) {
                rest = &rest[count..];
            }
        }
        let (mut all, mut piece) = (Vec::new(), [0; 4096]);
        loop {
            stream.readable().await.expect("it is open");
            match stream.try_read(&mut piece) {
                Ok(0) => break,
                Ok(count) => all.extend_from_slice(&piece[..count]),
                Err(why) if why.kind() == std::io::ErrorKind::WouldBlock => {}
                Err(why) => panic!("{why}"),
            }
        }
        let text = String::from_utf8(all).expect("text");
        let status = text.split(' ').nth(1).and_then(|code| code.parse().ok());
        let body = text.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        (status.expect("a status"), body.to_owned())
    }

    /// What a person sees who looks at the run now.
    pub(super) async fn look(&self, way: Way) -> Vec<Seen> {
        match way {
            Way::Http => {
                let (status, body) = self.request("GET", "/runs/r", "").await;
                let read: Value = serde_json::from_str(&body).expect("JSON");
                assert_eq!(status, 200, "{body}");
                let waits = read["waits_for"].as_array().expect("a list").iter();
                let people = waits.filter(|one| one["person"] == true);
                let text = |one: &Value, key: &str| one[key].as_str().expect("a text").to_owned();
                people
                    .map(|one| Seen { id: text(one, "id"), text: text(one, "question") })
                    .collect()
            }
            Way::Engine | Way::Inbox => {
                let asked = self.beside.asked(RUN).expect("a store").into_iter();
                asked.map(|one| Seen { id: one.id, text: one.prompt }).collect()
            }
        }
    }

    /// Whether an answer is accepted.
    pub(super) async fn answer(&self, way: Way, id: &str, text: &str) -> bool {
        match way {
            Way::Http => {
                let body = json!({"id": id, "answer": text}).to_string();
                let (status, body) = self.request("POST", "/runs/r/answers", &body).await;
                assert!(status == 200 || status == 409, "{status} {body}");
                status == 200
            }
            Way::Engine => match self.engine.reply(RUN, id, text.to_owned()).await {
                Ok(()) => true,
                Err(chartc_store::StoreError::NotOpen { .. }) => false,
                Err(why) => panic!("{why}"),
            },
            Way::Inbox => {
                match self.beside.post(RUN, &Letter::Reply(id.to_owned(), text.to_owned())) {
                    Ok(()) => true,
                    Err(chartc_store::StoreError::NotOpen { .. }) => false,
                    Err(why) => panic!("{why}"),
                }
            }
        }
    }

    pub(super) async fn fire(&self, event: Event) {
        self.engine.fire(RUN, event).await.expect("it fits");
    }
}
