//! Whether an agent can be started at all: its program is there, the script that its program is to run, the server on
//! this machine that it asks. Looked at before anything is paid, by everything that makes or takes up a run, and by
//! `check` and `doctor`.

use std::fs;
use std::path::{Path, PathBuf};

use gadfly_agents::probe;
use gadfly_project::{AgentConfig, Problem, Sourced};

use super::Env;

/// Programs whose first plain word is a script, without the version in their names.
const INTERPRETERS: [&str; 17] = [
    "sh", "bash", "dash", "zsh", "ksh", "fish", "python", "pypy", "node", "deno", "bun", "tsx", "ruby",
    "perl", "php", "lua", "Rscript",
];
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "fish"];
/// Their options after which the next word is no script: it is code, a module, or there is none.
const INSTEAD: [&str; 9] = ["-", "-c", "-m", "-e", "-p", "-E", "-r", "--eval", "--print"];
/// Their options that take the next word.
const WITH_VALUE: [&str; 9] =
    ["-W", "-X", "-I", "-o", "-O", "--require", "--import", "--loader", "--env-file"];
/// Endings by which a word is known as a script wherever it stands.
const ENDINGS: [&str; 14] =
    ["py", "js", "mjs", "cjs", "ts", "mts", "sh", "bash", "zsh", "rb", "pl", "php", "lua", "R"];

/// The words an agent's program is started with. A program given as a relative path, and the script of an interpreter,
/// are meant from the project's root: the program itself starts elsewhere.
pub(crate) fn words(command: &[Sourced<String>], root: &Path) -> Vec<String> {
    let mut words: Vec<String> = command.iter().map(|word| word.value.clone()).collect();
    if let Some(at) = script(&words).filter(|at| root.join(&words[*at]).exists()) {
        words[at] = root.join(&words[at]).to_string_lossy().into_owned();
    }
    if let Some(program) = words.first_mut() {
        *program = resolve_program(program, root);
    }
    words
}

/// A program given as a relative path is meant from the project's root; a bare name is looked up in PATH.
pub(crate) fn resolve_program(program: &str, root: &Path) -> String {
    if program.contains('/') && !program.starts_with('/') {
        root.join(program).to_string_lossy().into_owned()
    } else {
        program.to_owned()
    }
}

/// Where the script stands that these words have an interpreter run, if that can be told.
fn script(words: &[String]) -> Option<usize> {
    let mut at = 0;
    if named(words.first()?) == "env" {
        at = 1 + words.iter().skip(1).position(|word| !word.starts_with('-') && !word.contains('='))?;
    } else if named(&words[0]) == "uv" && words.get(1).is_some_and(|word| word == "run") {
        at = 2;
    }
    let program = words.get(at)?;
    if !INTERPRETERS.contains(&named(program)) {
        // `uv run critic.py` is the script itself.
        return (at > 0 && ends_as_script(program)).then_some(at);
    }
    let program = at;
    at += 1;
    while let Some(word) = words.get(at) {
        match word.as_str() {
            "run" if at == program + 1 && ["deno", "bun"].contains(&named(&words[program])) => {}
            "--" => return (at + 1 < words.len()).then_some(at + 1),
            option if WITH_VALUE.contains(&option) => at += 1,
            // Shells stop at errors by it; others take code.
            "-e" if SHELLS.contains(&named(&words[program])) => {}
            option if INSTEAD.contains(&option) || is_shell_code(option) => return None,
            option if option.starts_with('-') => {}
            // After options that are not known here it may be a value.
            word => return (at == program + 1 || ends_as_script(word)).then_some(at),
        }
        at += 1;
    }
    None
}

/// `-lc`, `-ec`: what follows is code.
fn is_shell_code(option: &str) -> bool {
    option.strip_prefix('-').is_some_and(|letters| {
        letters.len() < 5 && letters.ends_with('c') && letters.bytes().all(|b| b.is_ascii_lowercase())
    })
}

/// The name of a program, without folder and version.
fn named(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

fn ends_as_script(word: &str) -> bool {
    Path::new(word).extension().is_some_and(|end| ENDINGS.iter().any(|known| end == *known))
}

/// Why what this command starts (an agent, a server of tools) could not be started, with the place and what to do.
pub(crate) fn unstartable(who: &str, command: &[Sourced<String>], root: &Path, env: &Env) -> Option<Problem> {
    let wrong = |at: usize, why: String, help: &str| {
        let place = command.get(at).and_then(|word| word.place.as_ref());
        Problem::error(format!("{who} cannot be run: {why}")).help(help).at(place)
    };
    if let Err(why) = program(&command.first()?.value, root, env) {
        return Some(wrong(0, why, "correct `command`, or install it"));
    }
    let words: Vec<String> = command.iter().map(|word| word.value.clone()).collect();
    let at = script(&words)?;
    let file = root.join(&words[at]);
    (!file.exists()).then(|| {
        let help =
            "a script is meant from the project's root: put it there, or correct its path in `command`";
        wrong(at, format!("its script {} does not exist", file.display()), help)
    })
}

/// The file that is started by this name, or why it cannot be.
pub(crate) fn program(named: &str, root: &Path, env: &Env) -> Result<PathBuf, String> {
    let program = resolve_program(named, root);
    if !program.contains('/') {
        return on_path(&program, env).ok_or_else(|| format!("`{program}` is not found in PATH"));
    }
    let file = PathBuf::from(program);
    if is_program(&file) {
        Ok(file)
    } else if file.exists() {
        Err(format!("{} is not executable: chmod +x it", file.display()))
    } else {
        Err(format!("{} does not exist", file.display()))
    }
}

/// Where a program is found, as a shell would.
pub(crate) fn on_path(program: &str, env: &Env) -> Option<PathBuf> {
    let path = env.get("PATH")?;
    std::env::split_paths(path).map(|dir| dir.join(program)).find(|file| is_program(file))
}

fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
}

/// As [`unstartable`], of an agent.
pub(crate) fn unstartable_agent(agent: &AgentConfig, root: &Path, env: &Env) -> Option<Problem> {
    unstartable(&format!("agent `{}`", agent.name), &agent.command, root, env)
}

/// Why an agent whose server is on this machine cannot be asked: nothing listens there. A connection is made and
/// nothing is sent. Another machine is not asked.
pub(crate) async fn unreachable(agent: &AgentConfig) -> Option<Problem> {
    let address = agent.base_url.as_ref()?;
    if !address.value.loopback || probe::listens(&address.value.url).await {
        return None;
    }
    let message =
        format!("agent `{}` cannot be reached: nothing listens at {}", agent.name, address.value.url);
    Some(Problem::error(message).help("start the server, or correct `base_url`").at(address.place.as_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn script_of(command: &str) -> Option<String> {
        let words: Vec<String> = command.split(' ').map(str::to_owned).collect();
        script(&words).map(|at| words[at].clone())
    }

    #[test]
    fn the_script_of_an_interpreter_is_found_and_nothing_else_is_taken_for_one() {
        for (command, script) in [
            ("python3 critic.py", "critic.py"),
            ("python3.12 -u tools/critic.py --fast", "tools/critic.py"),
            ("python3 -W ignore critic.py", "critic.py"),
            ("/usr/bin/env -S python3 critic.py", "critic.py"),
            ("sh critic", "critic"),
            ("bash -e -- critic", "critic"),
            ("node --require ./hook.js critic.mjs", "critic.mjs"),
            ("deno run --allow-net critic.ts", "critic.ts"),
            ("uv run critic.py", "critic.py"),
            ("uv run python critic.py", "critic.py"),
        ] {
            assert_eq!(script_of(command).as_deref(), Some(script), "{command}");
        }
        for command in [
            "sh -c exit",
            "bash -lc x.sh",
            "python3 -m critic",
            "node -e 1",
            "claude",
            "sed -i s/a/b/ notes.py",
            "python3 --unknown value",
            "perl -p x.pl",
            "python3 -",
            "env A=1",
            "uv run critic",
        ] {
            assert_eq!(script_of(command), None, "{command}");
        }
    }
}
