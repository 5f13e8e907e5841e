//! `gadfly` alone: what can be done here, given what it found, in ten lines.

use gadfly_journal::{ListFilter, Summary};
use gadfly_project::config::HOST;
use gadfly_project::{AgentKind, adapter, layout};

use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{print, safe};

pub fn welcome(context: &Context) -> Code {
    lines(context).iter().try_for_each(|line| print::out(line)).map_or_else(|code| code, |()| exit::OK)
}

fn lines(context: &Context) -> Vec<String> {
    let mut lines =
        vec!["gadfly: an independent critic between an agent's work and your repository.".to_owned()];
    let config = &context.config;
    let errors = context.problems.iter().filter(|p| p.is_error()).count();
    let agents: Vec<String> = config.agents.keys().map(|n| safe::line(n, 40)).collect();
    lines.push(match (&context.root.config, errors) {
        (_, 1..) => "The configuration has errors.".to_owned(),
        (_, 0) if !agents.is_empty() => format!("Agents here: {}.", agents.join(", ")),
        (Some(_), _) => "There is a gadfly.toml here, without agents.".to_owned(),
        (None, _) => "There is no gadfly.toml here.".to_owned(),
    });
    let runs = runs(context);
    // A host answers by itself, or never: nobody here is waited for, unless the critic is a person.
    let is_person =
        |name: &String| config.agents.get(name).is_some_and(|agent| agent.kind.value == AgentKind::Person);
    let is_hosts =
        |s: &Summary| s.worker.as_deref() == Some(HOST) && !s.critic.as_ref().is_some_and(is_person);
    let waiting = runs.iter().filter(|s| s.waiting_for.is_some() && !is_hosts(s)).count();
    let parked = runs.iter().filter(|s| !s.ended && s.state != "running" && s.waiting_for.is_none()).count();
    let mut say = |command: &str, text: &str| lines.push(format!("  {command:<34}{text}"));
    if errors > 0 {
        say("gadfly check", "all problems at once, with what to do");
    }
    if agents.is_empty() {
        say("gadfly demo", "see it at work: no key, no network, seconds");
        say("gadfly doctor", "what this machine has that could work or judge");
        say("gadfly init", "write a gadfly.toml from it");
    }
    let files = layout::read(&context.root.dir, config);
    if let Some(adapter) = adapter::of(files.layout) {
        let (command, does) = adapter.first_command();
        say(command, does);
    } else if let Some(found) = &files.registry {
        let agents = found.registry.entries.len();
        say("gadfly pipeline \"…\"", &format!("the {agents} agents of this project, each with its critic"));
    }
    if let Some(name) = config.loops.keys().next() {
        say(&format!("gadfly run {}", safe::line(name, 20)), "run a loop of your gadfly.toml");
    } else {
        say("gadfly run \"…\" --rubric r.md", "a worker drafts, a critic judges, at most three times");
    }
    if waiting > 0 {
        say("gadfly runs --state waiting", &format!("{waiting} waiting for an answer"));
    } else if parked > 0 {
        say("gadfly resume --all", &format!("{parked} can go on"));
    }
    if !runs.is_empty() {
        say("gadfly runs", "what was done here");
        say("gadfly serve", "the same in a web page, live");
    }
    say("gadfly --help", "everything else");
    lines
}

/// The newest runs, if there is a store that can be read; a greeting is no place for errors.
fn runs(context: &Context) -> Vec<Summary> {
    let journal = context.existing().ok();
    journal.and_then(|j| j.list(&ListFilter { limit: 200, ..ListFilter::default() }).ok()).unwrap_or_default()
}
