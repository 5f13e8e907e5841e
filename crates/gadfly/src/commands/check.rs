//! `gadfly check`: everything that is wrong with the configuration, the files it names and the project it is for, at
//! once; and what is worth knowing about the project's registry.

mod project;

use gadfly_project::Problem;
use gadfly_runtime::doctor;
use serde_json::json;

use crate::cli::CheckArgs;
use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{error, print, problems};
use project::CheckedProject;

/// Lines about a project's own files that are shown unasked.
const SHOWN: usize = 9;

pub fn check(args: &CheckArgs, context: &Context) -> Code {
    let env = gadfly_runtime::agents::environment();
    let mut found = context.problems.clone();
    found.extend(doctor::check(&context.config, &context.root.dir, &env, &context.problems));
    let project = CheckedProject::look(context);
    let configured = found.len();
    for problem in project.iter().flat_map(|project| &project.problems) {
        if !found.contains(problem) {
            found.push(problem.clone());
        }
    }
    let errors = found.iter().filter(|p| p.is_error()).count();
    let warnings = found.len() - errors;
    if context.global.json {
        let summary = summary(context, project.as_ref(), errors, warnings);
        let lines = found.iter().map(serde_json::to_string).chain([serde_json::to_string(&summary)]);
        for line in lines {
            let said = line.map_err(|e| error::fault(&e.to_string())).and_then(|line| print::out(&line));
            if let Err(code) = said {
                return code;
            }
        }
    } else {
        let root = &context.root.dir;
        let (own, theirs) = found.split_at(configured);
        problems::draw(own, root);
        let told: Vec<String> = project.iter().flat_map(CheckedProject::lines).collect();
        let most = if args.all { usize::MAX } else { SHOWN };
        let (wrong, remarked): (Vec<&Problem>, Vec<&Problem>) = theirs.iter().partition(|p| p.is_error());
        // Somebody else wrote these files: what stops a run is shown whole, the rest in a line each.
        let mut used = 0;
        for problem in wrong {
            problems::draw(std::slice::from_ref(problem), root);
            used += if problem.at.is_some() { 6 } else { 1 + usize::from(problem.help.is_some()) };
        }
        let lines = remarked.len() + told.len();
        let left = most.saturating_sub(used).max(3);
        // One of them says how many more there are.
        let shown = if lines <= left { lines } else { left - 1 };
        for problem in remarked.iter().take(shown) {
            if args.all {
                problems::draw(std::slice::from_ref(*problem), root);
            } else {
                print::err(&problems::line(problem));
            }
        }
        for line in told.iter().take(shown.saturating_sub(remarked.len())) {
            if let Err(code) = print::out(line) {
                return code;
            }
        }
        if shown < lines {
            print::err(&format!("{} more remarks: gadfly check --all", lines - shown));
        }
        print::err(&verdict(context, project.as_ref(), errors, warnings));
    }
    if errors > 0 { exit::USAGE } else { exit::OK }
}

fn summary(
    context: &Context,
    project: Option<&CheckedProject>,
    errors: usize,
    warnings: usize,
) -> serde_json::Value {
    let config = &context.config;
    json!({ "summary": {
        "errors": errors,
        "warnings": warnings,
        "agents": config.agents.len(),
        "loops": config.loops.len(),
        "goals": config.goals.len(),
        "project": project.map(CheckedProject::as_json),
    }})
}

fn verdict(context: &Context, project: Option<&CheckedProject>, errors: usize, warnings: usize) -> String {
    let config = &context.config;
    let named = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    if errors + warnings > 0 {
        return format!("{}, {}", named(errors, "error"), named(warnings, "warning"));
    }
    if context.root.config.is_none() && config.agents.is_empty() && project.is_none() {
        return "nothing is configured here; `gadfly init` writes a gadfly.toml".to_owned();
    }
    let mut counted = vec![named(config.agents.len(), "agent"), named(config.loops.len(), "loop")];
    if !config.goals.is_empty() {
        counted.push(named(config.goals.len(), "goal"));
    }
    counted.extend(project.map(|project| {
        let entries = project.entries();
        if entries == 1 {
            "1 entry in the registry".to_owned()
        } else {
            format!("{entries} entries in the registry")
        }
    }));
    format!("no problems: {}", counted.join(", "))
}
