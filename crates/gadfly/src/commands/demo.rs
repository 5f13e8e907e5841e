//! `gadfly demo`: the protocols' telling moments, played by scripted agents on the same engine and journal
//! as everything else, in a project and a store of its own.
//!
//! The order of play is here. What is played is `scenes`, the folder it is played in is `stage`.

mod scenes;
mod stage;

use std::path::{Path, PathBuf};

use gadfly_journal::RunId;
use gadfly_project::{Config, Problem, Root};
use gadfly_runtime::Gadfly;
use gadfly_runtime::prepare::{GoalRequest, PipelineRequest, PlanWanted, Prepared, Request};
use gadfly_runtime::service::Raise;
use gadfly_runtime::setup::Setup;
use gadfly_runtime::user_dirs::UserDirs;
use owo_colors::OwoColorize as _;

use crate::cli::{Demo, Global};
use crate::context::Context;
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::{error, next_command, print, problems};
use crate::session::Session;

use scenes::{ACTS, Act, DemoScene, SceneKind};

pub async fn demo(args: &Demo, global: &Global) -> Code {
    match Box::pin(play(args, global)).await {
        Ok(code) | Err(code) => code,
    }
}

async fn play(args: &Demo, global: &Global) -> Result<Code, Code> {
    let folder = folder(args);
    stage::set_up(&folder).map_err(|why| error::usage(&format!("{}: {why}", folder.display())))?;
    let root = Root::at(&folder);
    // The user's own configuration has no part in it.
    let (config, found) = Config::load(&root, None);
    let context = Context {
        global: global.clone(),
        root,
        config,
        problems: found,
        user: UserDirs::from_env(),
        base: None,
    };
    if !context.problems.is_empty() {
        return Err(problems::refuse(&context.problems, &context.root.dir));
    }
    let setup = Setup::new(context.root.clone(), context.config.clone());
    let without_git = setup.git_fails().await;
    let chosen = chosen(args, without_git.as_ref())?;
    let gadfly = setup.open(&context.store()).map_err(|e| error::usage(&e.to_string()))?;
    let mut troupe = Troupe {
        context: &context,
        gadfly: &gadfly,
        interrupts: Interrupts::catch(),
        last: None,
        runs: 0,
        surprises: Vec::new(),
    };
    let mut act_of_before = None;
    for (at, (act, scene)) in chosen.iter().enumerate() {
        if args.all && act_of_before != Some(act.protocol) {
            print::err(&format!("\n{}: {}", act.protocol.bold(), act.says));
            act_of_before = Some(act.protocol);
            if let Some(why) = without_git.as_ref().filter(|_| act.needs_git) {
                skipped(act, why);
            }
        }
        if act.needs_git && without_git.is_some() {
            continue;
        }
        match (args.all, &args.scene) {
            (true, _) => print::err(&format!("\n── {} of {}: {} ──", at + 1, chosen.len(), scene.name)),
            (false, Some(_)) => print::err(&format!("── {} ──", scene.name)),
            (false, None) => {}
        }
        print::err(&format!("{}\n", scene.says));
        if troupe.perform(scene).await? == exit::INTERRUPTED {
            return Ok(exit::INTERRUPTED);
        }
    }
    let Troupe { runs, surprises, .. } = troupe;
    close(&context.store(), runs, args.all);
    if let Some(why) = without_git.as_ref().filter(|_| args.all) {
        ACTS.iter().filter(|act| act.needs_git).for_each(|act| skipped(act, why));
    }
    if surprises.is_empty() { Ok(exit::OK) } else { Err(error::fault(&surprises.join("; "))) }
}

/// What is to be played. Who names a scene that needs git hears why it cannot be.
fn chosen(
    args: &Demo,
    without_git: Option<&String>,
) -> Result<Vec<(&'static Act, &'static DemoScene)>, Code> {
    if args.all {
        return Ok(scenes::all());
    }
    let first = if without_git.is_some() { scenes::FIRST_WITHOUT_GIT } else { scenes::FIRST };
    let name = args.scene.as_deref().unwrap_or(first);
    let Some(chosen) = scenes::named(name) else {
        let names: Vec<&str> = scenes::all().iter().map(|(_, scene)| scene.name).collect();
        return Err(error::usage(&format!("there is no scene `{name}`; there are: {}", names.join(", "))));
    };
    match without_git.filter(|_| chosen.iter().any(|(act, _)| act.needs_git)) {
        Some(why) => Err(error::usage(&format!("the scene `{name}` needs git: {why}"))),
        None => Ok(chosen),
    }
}

/// Those who play, and what has been played.
struct Troupe<'a> {
    context: &'a Context,
    gadfly: &'a Gadfly,
    interrupts: Interrupts,
    /// The run of the scene before.
    last: Option<RunId>,
    runs: usize,
    surprises: Vec<String>,
}

impl Troupe<'_> {
    async fn perform(&mut self, scene: &DemoScene) -> Result<Code, Code> {
        let code = match scene.play {
            SceneKind::Run => {
                let request = Request {
                    loop_name: Some(scene.name.to_owned()),
                    store: Some(self.context.store()),
                    ..Request::default()
                };
                let prepared = self.gadfly.prepare(&request).await;
                self.start(prepared).await?
            }
            SceneKind::Goal => {
                let request = GoalRequest {
                    goal_name: Some(scene.name.to_owned()),
                    store: Some(self.context.store()),
                    ..GoalRequest::default()
                };
                let prepared = self.gadfly.prepare_goal(&request).await;
                self.start(prepared).await?
            }
            SceneKind::Pipeline(request) => {
                let request = PipelineRequest {
                    request: request.to_owned(),
                    planning: PlanWanted::No,
                    store: Some(self.context.store()),
                    ..PipelineRequest::default()
                };
                let prepared = self.gadfly.prepare_pipeline(&request).await;
                self.start(prepared).await?
            }
            SceneKind::Answer(text) => self.answer(text).await?,
        };
        if code != scene.ends && code != exit::INTERRUPTED {
            self.surprises.push(format!(
                "`{}` ended with exit code {} instead of {}",
                scene.name, code.0, scene.ends.0
            ));
        }
        Ok(code)
    }

    async fn start(&mut self, prepared: Result<Prepared, Vec<Problem>>) -> Result<Code, Code> {
        let prepared = prepared.map_err(|found| problems::refuse(&found, &self.context.root.dir))?;
        let (session, gadfly) = (self.session(&prepared.run), self.gadfly);
        self.runs += 1;
        self.last = Some(prepared.run.clone());
        Ok(session.drive(&mut self.interrupts, |driving| gadfly.start(prepared, driving)).await)
    }

    /// Answers the question of the run before, and takes that run up again.
    async fn answer(&mut self, text: &str) -> Result<Code, Code> {
        let Some(run) = self.last.clone() else { return Err(error::fault("no run asks anything")) };
        print::err(&next_command::command(&format!("answer {run} {text}")));
        print::err(&next_command::command(&format!("resume {run}")));
        let answered = self.gadfly.answer(&run, text.to_owned(), "demo");
        answered.map_err(|e| error::fault(&e.to_string()))?;
        let (session, gadfly) = (self.session(&run), self.gadfly);
        let resumed = |driving| gadfly.resume(&run, Raise::default(), driving);
        Ok(session.drive(&mut self.interrupts, resumed).await)
    }

    fn session<'s>(&self, run: &RunId) -> Session<'s>
    where
        Self: 's,
    {
        Session {
            context: self.context,
            gadfly: self.gadfly,
            run: run.clone(),
            attended: false,
            print_draft: false,
            only_end: None,
        }
    }
}

fn folder(args: &Demo) -> PathBuf {
    let temporary = || std::env::temp_dir().join(format!("gadfly-demo-{}", std::process::id()));
    // Programs that are started there are told its whole path.
    args.keep.as_ref().map_or_else(temporary, |dir| std::path::absolute(dir).unwrap_or_else(|_| dir.clone()))
}

fn skipped(act: &Act, why: &str) {
    let number = act.scenes.len();
    print::err(&format!(
        "{} the {number} scenes of `{}` need git and were not played: {why}",
        "skipped:".yellow().bold(),
        act.protocol
    ));
}

fn close(store: &Path, runs: usize, all: bool) {
    let folder = store.parent().unwrap_or(store).display();
    if all {
        print::err(&format!(
            "\nAll {runs} runs are in {}. Look at them, and go on where it says so:",
            store.display()
        ));
        print::err(&format!("  cd {folder}"));
        print::err("  gadfly runs");
        print::err("  gadfly show RUN --diff");
    } else {
        print::err(&format!(
            "\nThe agents were scripted, all else was real. Look at it: cd {folder}; gadfly runs. More: gadfly demo --all"
        ));
    }
    print::err("Now your own: gadfly doctor says what this machine has, gadfly init writes a gadfly.toml.");
}
