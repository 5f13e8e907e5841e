//! `gadfly check`: everything that is wrong with the configuration and the files it names, at once.

use gadfly_runtime::doctor;

use crate::context::Context;
use crate::exit::{self, Code};
use crate::output::{error, print, problems};

pub fn check(context: &Context) -> Code {
    let env = gadfly_runtime::agents::environment();
    let mut found = context.problems.clone();
    found.extend(doctor::check(&context.config, &context.root.dir, &env, &context.problems));
    let errors = found.iter().filter(|p| p.is_error()).count();
    if context.global.json {
        for problem in &found {
            let line = match serde_json::to_string(problem) {
                Ok(line) => line,
                Err(e) => return error::fault(&e.to_string()),
            };
            if let Err(code) = print::out(&line) {
                return code;
            }
        }
    } else {
        problems::draw(&found, &context.root.dir);
        print::err(&verdict(context, errors, found.len() - errors));
    }
    if errors > 0 { exit::USAGE } else { exit::OK }
}

fn verdict(context: &Context, errors: usize, warnings: usize) -> String {
    let config = &context.config;
    let named = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    if errors + warnings > 0 {
        return format!("{}, {}", named(errors, "error"), named(warnings, "warning"));
    }
    if context.root.config.is_none() && config.agents.is_empty() {
        return "nothing is configured here; `gadfly init` writes a gadfly.toml".to_owned();
    }
    format!("no problems: {}, {}", named(config.agents.len(), "agent"), named(config.loops.len(), "loop"))
}
