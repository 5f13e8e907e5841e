//! `gadfly demo`: the protocols' telling moments, played by scripted agents on the same engine and journal
//! as everything else, in a project and a store of its own.
//!
//! To add a scene: a script and a loop in `src/demo/`, and its line in [`SCENES`].

use std::fs;
use std::path::{Path, PathBuf};

use gadfly_project::{Config, Root};
use gadfly_runtime::prepare::Request;
use gadfly_runtime::service::UserDirs;

use crate::cli::{Demo, Global};
use crate::context::Context;
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::{error, print, problems};
use crate::session::Session;

struct Scene {
    name: &'static str,
    says: &'static str,
    script: &'static str,
    /// How it must end; anything else is a fault of ours.
    ends: Code,
}

const CONFIG: &str = include_str!("../demo/gadfly.toml");

const SCENES: &[Scene] = &[
    Scene {
        name: "approval",
        says: "The critic sees only the draft and the rubric, and is satisfied at once.",
        script: include_str!("../demo/approval.toml"),
        ends: exit::OK,
    },
    Scene {
        name: "revision",
        says: "Two specific fixes, a revision, an approval. The file is written only now.",
        script: include_str!("../demo/revision.toml"),
        ends: exit::OK,
    },
    Scene {
        name: "halt",
        says: "A worker that approves itself and does not listen. The third rejection ends it.",
        script: include_str!("../demo/halt.toml"),
        ends: exit::HALTED,
    },
    Scene {
        name: "overruled",
        says: "Everything asked for is done; the critic invents something new. That is overruled, visibly.",
        script: include_str!("../demo/overruled.toml"),
        ends: exit::OK,
    },
    Scene {
        name: "unverified",
        says: "A critic that never gives a verdict. Unverified is neither a pass nor a rejection.",
        script: include_str!("../demo/unverified.toml"),
        ends: exit::UNVERIFIED,
    },
];

pub async fn demo(args: &Demo, global: &Global) -> Code {
    match play(args, global).await {
        Ok(code) | Err(code) => code,
    }
}

async fn play(args: &Demo, global: &Global) -> Result<Code, Code> {
    let folder = folder(args);
    set_up(&folder).map_err(|e| error::fault(&format!("{} cannot be written: {e}", folder.display())))?;
    let root = Root::at(&folder);
    // The user's own configuration has no part in it.
    let (config, found) = Config::load(&root, None);
    let context =
        Context { global: global.clone(), root, config, problems: found, user: UserDirs::from_env() };
    if !context.problems.is_empty() {
        return Err(problems::refuse(&context.problems, &context.root.dir));
    }
    let gadfly = context.open()?;
    let mut interrupts = Interrupts::catch();
    let mut surprises = Vec::new();
    for (number, scene) in SCENES.iter().enumerate() {
        print::err(&format!("\n── {} of {}: {} ──\n{}\n", number + 1, SCENES.len(), scene.name, scene.says));
        let request = Request { loop_name: Some(scene.name.to_owned()), ..Request::default() };
        let prepared =
            gadfly.prepare(&request).await.map_err(|found| problems::refuse(&found, &context.root.dir))?;
        let session = Session {
            context: &context,
            gadfly: &gadfly,
            run: prepared.run.clone(),
            attended: false,
            print_draft: false,
        };
        let code = session.drive(&mut interrupts, |driving| gadfly.start(prepared, driving)).await;
        if code == exit::INTERRUPTED {
            return Ok(code);
        }
        if code != scene.ends {
            surprises.push(format!(
                "`{}` ended with exit code {} instead of {}",
                scene.name, code.0, scene.ends.0
            ));
        }
    }
    close(&context.store());
    if surprises.is_empty() { Ok(exit::OK) } else { Err(error::fault(&surprises.join("; "))) }
}

fn folder(args: &Demo) -> PathBuf {
    let temporary = || std::env::temp_dir().join(format!("gadfly-demo-{}", std::process::id()));
    args.keep.clone().unwrap_or_else(temporary)
}

fn set_up(folder: &Path) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    fs::write(folder.join("gadfly.toml"), CONFIG)?;
    for scene in SCENES {
        fs::write(folder.join(format!("{}.toml", scene.name)), scene.script)?;
    }
    Ok(())
}

fn close(store: &Path) {
    let folder = store.parent().unwrap_or(store).display();
    print::err(&format!(
        "\nAll five runs are in {}. Look at them, and go on where it says so:",
        store.display()
    ));
    print::err(&format!("  cd {folder}"));
    print::err("  gadfly runs");
    print::err("  gadfly show RUN --diff");
    print::err("Now your own: gadfly doctor says what this machine has, gadfly init writes a gadfly.toml.");
}
