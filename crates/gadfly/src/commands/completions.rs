//! `gadfly completions` and `gadfly man`: generated from the command line itself.

use clap::CommandFactory as _;

use crate::cli::{Cli, Completions, Shell};
use crate::exit::{self, Code};
use crate::output::{error, print};

pub fn completions(args: &Completions) -> Code {
    let shell = match args.shell {
        Shell::Bash => clap_complete::Shell::Bash,
        Shell::Zsh => clap_complete::Shell::Zsh,
        Shell::Fish => clap_complete::Shell::Fish,
        Shell::Elvish => clap_complete::Shell::Elvish,
        Shell::Powershell => clap_complete::Shell::PowerShell,
    };
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gadfly", &mut script);
    print_all(&script)
}

pub fn man() -> Code {
    let mut page = Vec::new();
    match clap_mangen::Man::new(Cli::command()).render(&mut page) {
        Ok(()) => print_all(&page),
        Err(e) => error::fault(&format!("the manual page cannot be rendered: {e}")),
    }
}

fn print_all(bytes: &[u8]) -> Code {
    print::out_bytes(bytes).map_or_else(|code| code, |()| exit::OK)
}
