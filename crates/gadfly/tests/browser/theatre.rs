//! Plays a scenario in the browser against a served project, and says loudly where it cannot.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;

use crate::desk::Desk;
use crate::server::Server;

const BROWSERS: [&str; 3] = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/// A scenario that is being played.
pub struct Played {
    child: Child,
    name: &'static str,
    said: PathBuf,
}

/// Plays it to its end. False if there is nothing to play it with.
pub fn play(desk: &Desk, server: &Server, name: &'static str) -> bool {
    begin(desk, server, name).map(Played::end).is_some()
}

/// Begins to play it; none if there is nothing to play it with.
pub fn begin(desk: &Desk, server: &Server, name: &'static str) -> Option<Played> {
    begin_with(desk, server, name, &[])
}

/// As [`begin`], with more that the scenario is told by its environment.
pub fn begin_with(
    desk: &Desk,
    server: &Server,
    name: &'static str,
    more: &[(&str, String)],
) -> Option<Played> {
    let browser = match browser() {
        Ok(browser) => browser,
        Err(why) => {
            // Past the test harness, which keeps to itself what passing tests print.
            let _ = writeln!(std::io::stderr(), "SKIPPED `{name}` in the browser: {why}");
            return None;
        }
    };
    let said = desk.beside(&format!("{name}.said"));
    let out = fs::File::create(&said).unwrap();
    let child = Command::new("node")
        .arg(node().join("browser").join(format!("{name}.mjs")))
        .env("GADFLY_LINK", server.link())
        .env("GADFLY_CHROMIUM", browser)
        .env("GADFLY_PROJECT", desk.path(""))
        .env("GADFLY_STAGE", desk.beside(""))
        .envs(more.iter().map(|(name, value)| (*name, value.as_str())))
        .stdin(Stdio::null())
        .stdout(out.try_clone().unwrap())
        .stderr(out)
        .spawn()
        .unwrap();
    Some(Played { child, name, said })
}

impl Played {
    pub fn is_over(&mut self) -> bool {
        self.child.try_wait().unwrap().is_some()
    }

    /// What the scenario said is the failure's text; else it is what comes back.
    pub fn end(mut self) -> String {
        let status = self.child.wait().unwrap();
        let said = fs::read_to_string(&self.said).unwrap_or_default();
        assert!(status.success(), "{} in the browser:\n{said}", self.name);
        said
    }
}

fn browser() -> Result<PathBuf, String> {
    static FOUND: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    FOUND.get_or_init(look).clone()
}

fn look() -> Result<PathBuf, String> {
    let named = std::env::var_os("GADFLY_CHROMIUM").map(PathBuf::from);
    let found = named.or_else(|| BROWSERS.iter().map(PathBuf::from).find(|path| path.exists()));
    let browser = found.ok_or("no Chromium is installed; GADFLY_CHROMIUM names one")?;
    let runs = |program: &str| Command::new(program).arg("--version").output().is_ok();
    if !runs("node") {
        return Err("there is no node".to_owned());
    }
    // Other test programs use the same folder and the same lock.
    let lock =
        fs::File::create(std::env::temp_dir().join("gadfly-tests-node.lock")).map_err(|e| e.to_string())?;
    lock.lock().map_err(|e| e.to_string())?;
    if node().join("node_modules/playwright-core").is_dir() {
        return Ok(browser);
    }
    let install = Command::new("npm").args(["ci", "--no-audit", "--no-fund"]).current_dir(node()).output();
    match install {
        Ok(done) if done.status.success() => Ok(browser),
        Ok(done) => Err(format!("`npm ci` failed: {}", String::from_utf8_lossy(&done.stderr).trim())),
        Err(error) => Err(format!("`npm ci` could not be run: {error}")),
    }
}

fn node() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/node")
}
