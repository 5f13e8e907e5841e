//! `gadfly doctor`: what works here, what does not, what to put into `gadfly.toml`.

mod trying;

use gadfly_engine::masked::masked;
use gadfly_project::adapter;
use gadfly_project::layout::{self, ProjectFiles};
use gadfly_project::starter::starter;
use gadfly_runtime::doctor::{self, AgentHealth, CheckedPath, Diagnosis, InstalledProgram, NOTHING_FOUND};
use owo_colors::OwoColorize as _;

use crate::cli::{self, Doctor};
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::table::{counted, moment};
use crate::output::{print, problems, safe};
use crate::telemetry;

/// Models named of one server.
const MODELS: usize = 6;
/// Guesses named of one project.
const GUESSES: usize = 10;

pub async fn doctor(args: &Doctor, context: &Context) -> Code {
    match &args.try_agents {
        Some(names) => trying::trying(names, args, context).await.unwrap_or_else(|code| code),
        None if args.write => match look(context).await {
            exit::OK => super::init::init(&cli::Init { yes: args.yes }, context).await,
            wrong => wrong,
        },
        None => look(context).await,
    }
}

async fn look(context: &Context) -> Code {
    let env = gadfly_runtime::agents::environment();
    let diagnosis =
        doctor::diagnose(&context.root, &context.config, &context.store(), &context.user, &env).await;
    let mut found = context.problems.clone();
    found.extend(doctor::check(&context.config, &context.root.dir, &env, &context.problems));
    let files = layout::read(&context.root.dir, &context.config);
    found.extend(files.problems.iter().cloned());
    let said = if context.global.json {
        as_json(&diagnosis, &files, &found)
    } else {
        in_words(&diagnosis, &files, context)
    };
    if let Err(code) = said {
        return code;
    }
    if !context.global.json {
        problems::draw(&found, &context.root.dir);
    }
    if found.iter().any(gadfly_project::Problem::is_error) { exit::USAGE } else { exit::OK }
}

fn as_json(
    diagnosis: &Diagnosis,
    files: &ProjectFiles,
    problems: &[gadfly_project::Problem],
) -> Result<(), Code> {
    let proposal = proposal(diagnosis);
    let layout = serde_json::json!({
        "is": files.layout.name(),
        "because": files.because,
        "agents": files.agents.len(),
        "skills": files.skills.len(),
        "guessed": files.guessed,
    });
    let all = serde_json::json!({
        "diagnosis": diagnosis, "layout": layout, "problems": problems, "proposal": proposal,
    });
    print::out(&masked(&all.to_string()))
}

fn proposal(diagnosis: &Diagnosis) -> String {
    match doctor::proposal(diagnosis) {
        found if found.is_empty() => NOTHING_FOUND.to_owned(),
        found => starter(&found),
    }
}

fn in_words(diagnosis: &Diagnosis, files: &ProjectFiles, context: &Context) -> Result<(), Code> {
    let mut lines: Vec<String> = Vec::new();
    let heading = |text: &str| format!("{}", text.bold());
    lines.push(heading("This machine"));
    let system = &diagnosis.system;
    let note = system.note.map(|n| format!(" ({n})")).unwrap_or_default();
    lines.push(mark(true, &format!("{} {}{note}", system.os, system.arch)));
    lines.push(match &system.no_process_agents {
        None => mark(true, "programs can be started and are cleaned up after"),
        Some(why) => mark(false, &format!("programs cannot be started: {why}")),
    });
    lines.push(match (system.landlock, &system.no_landlock) {
        (Some(version), _) => mark(true, &format!("Landlock {version} holds what agents start")),
        (None, why) => {
            let why = why.as_deref().unwrap_or("it is not there");
            mark(false, &format!("agents' programs have no Landlock sandbox: {}", safe::line(why, 300)))
        }
    });
    lines.extend(diagnosis.programs.iter().filter_map(program));
    let missing: Vec<&str> = diagnosis.programs.iter().filter(|p| p.path.is_none()).map(|p| p.name).collect();
    lines.push(format!("  – not in PATH: {}", missing.join(", ")));

    lines.push(heading("\nModels"));
    for server in &diagnosis.servers {
        let models: Vec<&str> = server.models.iter().take(MODELS).map(String::as_str).collect();
        let models = if models.is_empty() { "no model yet".to_owned() } else { models.join(", ") };
        lines.push(mark(
            true,
            &safe::line(&format!("{} on {}: {models}", server.vendor, server.base_url), 300),
        ));
    }
    if diagnosis.servers.is_empty() {
        lines.push(
            "  – no local model server answers (Ollama 11434, llama.cpp 8080, LM Studio 1234, vLLM 8000)"
                .into(),
        );
    }
    for notice in &diagnosis.left_alone {
        let text =
            format!("{} takes no calls until {}: {}", notice.provider, moment(notice.until_ms), notice.why);
        lines.push(mark(false, &safe::line(&text, 400)));
    }
    if !diagnosis.left_alone.is_empty() {
        lines.push("    (`gadfly doctor --try` asks all the same, and an answer ends the wait)".into());
    }
    let (set, unset): (Vec<_>, Vec<_>) = diagnosis.keys.iter().partition(|k| k.set);
    lines.extend(set.iter().map(|k| mark(true, &format!("{} is set ({})", k.variable, k.vendor))));
    let unset: Vec<&str> = unset.iter().map(|k| k.variable).collect();
    lines.push(format!("  – not set: {}", unset.join(", ")));

    lines.push(heading("\nThis project"));
    lines.push(format!("  root {}", safe::line(&diagnosis.root.display().to_string(), 300)));
    for place in &diagnosis.configs {
        lines.push(format!("  {} configuration: {}", place.what, location(place)));
    }
    lines.push(store(diagnosis));
    lines.extend(work(diagnosis));
    lines.extend(project(files));
    if let Some(plugin) = adapter::of(files.layout).and_then(|it| it.plugin(context.place())) {
        lines.push(plugin.folder.map_or_else(
            || format!("  – the plugin {} is not installed for Claude Code", plugin.name),
            |path| mark(true, &safe::line(&format!("plugin {}: {}", plugin.name, path.display()), 300)),
        ));
    }
    lines.extend(telemetry::told(context).iter().map(|line| format!("  {line}")));
    for agent in &diagnosis.agents {
        let (good, why) = match &agent.state {
            AgentHealth::Ready(why) => (Some(true), why),
            AgentHealth::Untried(why) => (None, why),
            AgentHealth::Broken(why) => (Some(false), why),
        };
        let text = format!("agent {} ({}, {}): {why}", agent.name, agent.kind, agent.sends_to);
        let text = safe::line(&text, 400);
        lines.push(good.map_or_else(|| format!("  ? {text}"), |good| mark(good, &text)));
    }

    lines.push(heading("\nTo uninstall, delete the binary and"));
    lines.extend(diagnosis.leftovers.iter().map(|p| format!("  {} ({})", location(p), p.what)));
    if context.config.agents.is_empty() {
        lines.push(heading("\nFor gadfly.toml (`gadfly init` writes it)"));
        lines.push(safe::block(&proposal(diagnosis)).trim_end().to_owned());
    }
    lines.push("\nWhether agents answer, a tiny call to each tells: gadfly doctor --try".into());
    lines.iter().try_for_each(|line| print::out(&masked(line)))
}

fn program(program: &InstalledProgram) -> Option<String> {
    let path = safe::line(&program.path.as_ref()?.display().to_string(), 200);
    if let Some(why) = &program.trouble {
        return Some(mark(false, &format!("{path}: {}; {}", program.is, safe::line(why, 300))));
    }
    let version = program.version.as_ref().map(|v| format!(" ({})", safe::line(v, 80)));
    let text = format!("{path}: {}{}", program.is, version.unwrap_or_default());
    Some(match program.signed_in {
        Some(false) => format!("  ? {text}: start it once to sign in"),
        _ => mark(true, &text),
    })
}

/// Which layout the project is kept in, and what had to be guessed about its files.
fn project(files: &ProjectFiles) -> Vec<String> {
    let mut lines = vec![format!("  {}", safe::line(&files.summary(), 300))];
    for guess in files.guessed.iter().take(GUESSES) {
        let at = guess.at.as_ref().map(|at| format!("{}:{}: ", at.file.display(), at.line));
        let text = format!("guessed: {}{}", at.unwrap_or_default(), guess.message);
        lines.push(format!("  ? {}", safe::line(&text, 300)));
    }
    let more = files.guessed.len().saturating_sub(GUESSES);
    if more > 0 {
        lines.push(format!("  ? and {more} more guesses (gadfly check --json has all)"));
    }
    lines
}

fn store(diagnosis: &Diagnosis) -> String {
    let store = &diagnosis.store;
    let path = safe::line(&store.path.display().to_string(), 300);
    match (&store.problem, store.runs) {
        (Some(problem), _) => mark(false, &format!("store {path}: {}", safe::line(problem, 300))),
        (None, Some(runs)) => {
            let kb = store.bytes.div_ceil(1024);
            mark(true, &format!("store {path}: {runs} runs, {kb} KiB, format {}", store.format))
        }
        (None, None) => format!("  – store {path}: not there yet, the first run makes it"),
    }
}

/// Where the folders of runs are, and what is to be said of that place.
fn work(diagnosis: &Diagnosis) -> Vec<String> {
    let work = &diagnosis.work;
    let shown = |path: &std::path::Path| safe::line(&path.display().to_string(), 300);
    let mut lines = vec![format!("  folders of runs {}: {}", shown(&work.path), counted(work.runs, "run"))];
    if !work.ownerless.is_empty() {
        let stores: Vec<String> = work.ownerless.iter().take(GUESSES).map(|store| shown(store)).collect();
        lines.push(format!(
            "  ? {} left folders there and {} not found: {} (`gadfly gc --abandoned --apply` removes what is old)",
            counted(work.ownerless.len(), "store"),
            if work.ownerless.len() == 1 { "is" } else { "are" },
            stores.join(", ")
        ));
    }
    for path in &work.seen_above {
        lines.push(format!(
            "  ? {} lies above them, and this kernel cannot hide it from commands: tools that climb may stop at it",
            shown(path)
        ));
    }
    lines
}

fn location(place: &CheckedPath) -> String {
    let path = safe::line(&place.path.display().to_string(), 300);
    if place.exists { path } else { format!("{path}, not there") }
}

fn mark(good: bool, text: &str) -> String {
    if good { format!("  {} {text}", "✓".green()) } else { format!("  {} {text}", "✗".red()) }
}
