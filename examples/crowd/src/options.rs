//! The command line.

/// How to call the program.
pub const HELP: &str = "\
Runs a crowd of agents of charts/social.chart in one process, offline.

Usage: crowd-example [--agents N] [--rounds N] [--seed N]

  --agents N   how many agents there are [1000000]; a million take some gigabytes
  --rounds N   how many rounds they live [50]
  --seed N     makes the people, the posts and the answers [7]
  --help       says this

The same seed gives the same rounds.

Example: crowd-example --agents 10000 --rounds 20
";

/// The size of the crowd, and the seed of its random numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// How many agents there are.
    pub agents: usize,
    /// How many rounds are run.
    pub rounds: u32,
    /// The seed of the people, the posts and the answers.
    pub seed: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self { agents: 1_000_000, rounds: 50, seed: 7 }
    }
}

impl Options {
    /// Reads the arguments; `None` if they ask for help.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn read(words: impl IntoIterator<Item = String>) -> Result<Option<Self>, String> {
        let mut options = Self::default();
        let mut words = words.into_iter();
        while let Some(word) = words.next() {
            if word == "--help" || word == "-h" {
                return Ok(None);
            }
            if !["--agents", "--rounds", "--seed"].contains(&word.as_str()) {
                return Err(format!("there is no option `{word}`; `--help` lists them"));
            }
            let value = words.next().ok_or_else(|| format!("`{word}` needs a number"))?;
            let number: u64 =
                value.parse().map_err(|_| format!("`{word}` needs a number, not `{value}`"))?;
            let (least, most) = match word.as_str() {
                "--agents" => (1, 100_000_000),
                "--rounds" => (1, 1_000_000),
                _ => (0, u64::MAX),
            };
            if !(least..=most).contains(&number) {
                return Err(format!("`{word}` must be from {least} to {most}, and is {number}"));
            }
            match word.as_str() {
                "--agents" => options.agents = number as usize,
                "--rounds" => options.rounds = number as u32,
                _ => options.seed = number,
            }
        }
        Ok(Some(options))
    }
}
