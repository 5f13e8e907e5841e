//! The loop that judges a turn: a `revise` loop whose worker is the session, made from the options and what the user
//! asked. What the project's files want for it is agreed to beforehand, not here.

use gadfly_engine::Text;
use gadfly_project::config::HOST;
use gadfly_project::{LoopConfig, LoopProtocol, Overrides, Problem, Sourced};
use gadfly_runtime::prepare::{Prepared, Request};

use crate::cli::SessionJudge;
use crate::context::Context;
use crate::output::next_command;
use crate::terms::{self, Ready, Terms};

/// What a change is judged by if nobody says, and if it is known what was asked for.
const AS_ASKED: &str = "The change does everything the user asked for, and nothing that was not asked for.";
/// What a change is judged by if nobody says.
const USUAL: [&str; 2] = [
    "The change brings no bug, no broken reference and no unhandled error that can be seen in it.",
    "Nothing is left half done: no placeholder, no TODO, no test skipped or weakened instead of a fix.",
];

/// What the user asked, as far as it is known.
pub struct SessionTask {
    pub task: Text,
    known: bool,
}

impl SessionTask {
    /// From the user's words, oldest first.
    pub fn of(words: &[String]) -> Self {
        let asked = if words.is_empty() {
            "What the user asked for is not known here: judge the change by itself.".to_owned()
        } else {
            let quoted = words.iter().map(|word| {
                let lines: Vec<String> = word.lines().map(|line| format!("> {line}")).collect();
                lines.join("\n")
            });
            format!(
                "What the user asked for, the latest last:\n\n{}",
                quoted.collect::<Vec<_>>().join("\n\n")
            )
        };
        let task = format!(
            "A coding agent changed files of a project and wants to stop. The draft is its change as a unified diff; a \
             revision is the whole diff again.\n\n{asked}\n"
        );
        Self { task: Text::new(task), known: !words.is_empty() }
    }

    /// For agreeing to the terms before anybody asked anything.
    pub fn none() -> Self {
        Self { task: Text::new("agreeing beforehand".to_owned()), known: true }
    }
}

/// The loop, and what its configuration says.
pub fn request(
    args: &SessionJudge,
    context: &Context,
    wish: &SessionTask,
) -> Result<(Request, LoopConfig), String> {
    let nothing_said = args.rubric.is_empty() && args.criterion.is_empty() && args.loop_name.is_none();
    let mut criteria: Vec<Sourced<String>> = args.criterion.iter().cloned().map(Sourced::flag).collect();
    if nothing_said {
        let usual = wish.known.then_some(AS_ASKED).into_iter().chain(USUAL);
        criteria.extend(usual.map(|text| Sourced::flag(text.to_owned())));
    }
    let mut given = Overrides::default()
        .with("task", wish.task.as_str())
        .with("protocol", LoopProtocol::REVISE)
        .with("worker", HOST);
    if let Some(critic) = &args.critic {
        given.set("critic", critic.clone());
    }
    if let Some(rounds) = args.rounds {
        given.set("rounds", rounds);
    }
    if let Some(usd) = args.budget_usd {
        given.set("budget.usd", usd);
    }
    if let [wrong, ..] = given.problems() {
        return Err(wrong.message.clone());
    }
    let request = Request {
        loop_name: args.loop_name.clone(),
        given,
        rubrics: args.rubric.clone(),
        criteria,
        store: Some(context.store()),
        ..Request::default()
    };
    let (looped, _) = request.configured(&context.config);
    if looped.options.out.is_some() || looped.options.draft.is_some() {
        return Err("the loop it names reads or writes a file (`draft`, `out`), and a diff is no such file"
            .to_owned());
    }
    Ok((request, looped))
}

pub async fn prepared(
    args: &SessionJudge,
    context: &Context,
    request: &Request,
) -> Result<Box<Prepared>, String> {
    // Once more after what was wanted is agreed to.
    for _ in 0..2 {
        match terms::of_loop(context, &context.setup(), request).await.map_err(|found| told(&found))? {
            Ready::Prepared(prepared, _) => return Ok(prepared),
            Ready::Untrusted(terms) => agree(args, context, &terms)?,
        }
    }
    Err("what this project's files want has changed meanwhile".to_owned())
}

pub fn agree(args: &SessionJudge, context: &Context, terms: &Terms) -> Result<(), String> {
    if terms.wanted.is_empty() {
        return Ok(());
    }
    if args.trust {
        return terms.trust(context);
    }
    // With the options of this call: another critic would be another agreement.
    Err(format!(
        "nobody has agreed yet to what this project's files want to do:\n{}\n\nTo agree, once, in a terminal in this \
         project:\n  {} --trust < /dev/null",
        terms.wanted_lines().join("\n"),
        // What follows the dashes is an agent's command line.
        next_command::command_line().split(" -- ").next().unwrap_or_default()
    ))
}

fn told(problems: &[Problem]) -> String {
    let wrong = problems.iter().filter(|problem| problem.is_error()).take(5);
    let with_help = |p: &Problem| match &p.help {
        Some(help) => format!("{} ({help})", p.message),
        None => p.message.clone(),
    };
    wrong.map(with_help).collect::<Vec<_>>().join("; ")
}
