//! What there is to read.

use crate::chance::Chance;
use crate::person::{Act, Person, TOPICS};
use crate::social::Post;

/// Posts that people still talk about.
const KEPT: usize = 100;

/// The posts, oldest first, each with its number.
#[derive(Debug, Default)]
pub struct Feed {
    posts: Vec<(usize, Post)>,
    written: usize,
}

impl Feed {
    /// A post about one or two topics appears.
    pub fn write(&mut self, author: &str, chance: &mut Chance) {
        let (a, b) = (*chance.one(&TOPICS), *chance.one(&TOPICS));
        let about = if a == b { a.to_owned() } else { format!("{a} and {b}") };
        let text = match chance.below(4) {
            0 => format!("{author} asks: who else dreams of {about}?"),
            1 => format!("All that {author} ever learned about {about}"),
            2 => format!("Nobody understands {about} any more, says {author}"),
            _ => format!("{author} has a plan for {about}"),
        };
        let velocity = (chance.between(0.0, 2.0) * 10.0).round() / 10.0;
        self.written += 1;
        self.posts.push((self.written, Post { id: format!("p{}", self.written), text, velocity }));
        let old = self.posts.len().saturating_sub(KEPT);
        self.posts.drain(..old);
    }

    /// The oldest post that `reader` meets and that came after number `seen`, with its own number.
    pub fn next(&self, seen: usize, reader: &Person) -> Option<&(usize, Post)> {
        self.posts.iter().find(|(number, post)| *number > seen && reader.meets(post))
    }

    /// Attention makes a post faster.
    pub fn react(&mut self, act: &Act) {
        let Some(about) = &act.post else { return };
        let speed = match act.kind.as_str() {
            "reshare" => 3.0,
            "reply" => 1.0,
            _ => 0.5,
        };
        if let Some((_, post)) = self.posts.iter_mut().find(|(_, post)| post.id == about.id) {
            post.velocity += speed;
        }
    }

    /// The post that moves fastest.
    pub fn fastest(&self) -> Option<&Post> {
        let faster = |a: &&Post, b: &&Post| a.velocity.total_cmp(&b.velocity);
        self.posts.iter().map(|(_, post)| post).max_by(faster)
    }
}
