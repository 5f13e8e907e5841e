//! Arguments of the commands that ask how a project stands.

use std::path::PathBuf;

use clap::Args;

#[derive(Args, Debug)]
pub struct WhyArgs {
    /// The agent, as the registry names it
    #[arg(value_name = "AGENT")]
    pub agent: String,
    /// Take conditions that only people can judge as true
    #[arg(long)]
    pub assume_manual: bool,
}

#[derive(Args, Debug)]
pub struct NextArgs {
    /// Take conditions that only people can judge as true
    #[arg(long)]
    pub assume_manual: bool,
}

#[derive(Args, Debug)]
pub struct GateArgs {
    /// `commit`, `pr`, `submission`, `exploration`, or one of the project's own
    #[arg(value_name = "NAME", default_value = "commit")]
    pub name: String,
    /// Look at what the next commit would hold, not at the files on disk
    #[arg(long)]
    pub staged: bool,
    /// Count only what the journal here recorded, no receipts
    #[arg(long)]
    pub strict: bool,
    /// Count only receipts signed with one of these keys, and no journal: a public key, or a file of allowed signers
    #[arg(long, value_name = "KEYS", conflicts_with = "strict")]
    pub verify: Option<PathBuf>,
    /// Have git ask this gate before every commit
    #[arg(long, conflicts_with_all = ["staged", "strict", "verify", "trust"])]
    pub install: bool,
    /// Agree to the commands of this gate that the project's files name
    #[arg(long)]
    pub trust: bool,
}

#[derive(Args, Debug)]
pub struct Adopt {
    /// What the pipeline is to do (default: go on from where the project stands)
    #[arg(value_name = "REQUEST", requires = "yes")]
    pub request: Option<String>,
    /// Start a pipeline from there; its plan still waits for your word
    #[arg(long, short)]
    pub yes: bool,
    /// Trust the commands, agent files and keys this project declares
    #[arg(long, requires = "yes")]
    pub trust: bool,
    /// Vouch for the score that AGENT's work has elsewhere: the last one written down in the project, or the one you
    /// state. It is bound to the files as they are, in a receipt that says that it is your word
    #[arg(long, value_name = "AGENT[=SCORE]", conflicts_with = "yes")]
    pub vouch: Vec<String>,
}

#[derive(Args, Debug)]
pub struct LearnArgs {
    /// Take these into the project's memory, by their number or id
    #[arg(long, value_name = "N", num_args = 1..)]
    pub accept: Vec<String>,
    /// Do not show these again as open
    #[arg(long, value_name = "N", num_args = 1..)]
    pub reject: Vec<String>,
    /// Neither count nor show what your other projects have in common with this one
    #[arg(long)]
    pub no_shared_state: bool,
}
