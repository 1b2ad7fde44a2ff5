//! The same agents, written by hand: a struct with a method for each event.

use std::hint::black_box;

/// Three states in a row.
#[derive(Clone, Copy, Default)]
pub(super) struct Tiny(u8);

impl Tiny {
    pub(super) fn go(&mut self) {
        self.0 = (self.0 + 1).min(2);
    }

    pub(super) fn back(&mut self) {
        self.0 = self.0.saturating_sub(1);
    }
}

/// The data that the social chart keeps of a post.
pub(super) struct Post {
    _id: String,
    _text: String,
    _velocity: f64,
}

/// An agent of the social chart.
pub(super) struct Social {
    state: u8,
    turns: u32,
    _name: String,
    _interests: Vec<String>,
    _personality: String,
    _patience: i64,
    _thresholds: [f64; 3],
    _post: Option<Post>,
}

impl Social {
    pub(super) fn new(name: String, interests: Vec<String>, personality: String) -> Self {
        Self {
            state: 0,
            turns: 0,
            _name: name,
            _interests: interests,
            _personality: personality,
            _patience: 5,
            _thresholds: [0.1, 0.5, 0.9],
            _post: None,
        }
    }

    pub(super) fn start_browsing(&mut self) {
        if self.state == 0 {
            (self.state, self.turns) = (1, 0);
        }
    }
}

/// One question in each turn: renders a prompt, gets an answer in words, and looks it up among the options.
#[derive(Clone, Copy, Default)]
pub(super) struct Asking {
    is_there: bool,
    turns: u32,
}

impl Asking {
    pub(super) fn turn(&mut self, ask: &dyn Fn(String) -> String) {
        const OPTIONS: [&str; 2] = ["left", "right"];
        let mut prompt = String::from("Now? ");
        for option in OPTIONS {
            prompt.push_str("- ");
            prompt.push_str(option);
            prompt.push('\n');
        }
        let answer = ask(prompt);
        if OPTIONS.contains(&answer.trim()) {
            self.is_there = !self.is_there;
        }
        self.turns = black_box(self.turns + 1);
    }
}
