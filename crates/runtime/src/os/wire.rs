//! What launcher and supervisor say to each other: the spec on stdin, the report at the end of stderr.
//!
//! On the supervisor's stdin: four bytes of length (little endian), the spec as JSON, then the brief,
//! whose length the spec names. If the spec says that more may come, frames follow: four bytes of length, then
//! that many bytes for the command; a length of zero closes the command's stdin. The pipe stays open all the
//! while; its end means "end the call". The report comes back as the last bytes of stderr, behind a random
//! token from the spec, because the command itself writes to the same stderr before it.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use gadfly_agents::launcher::{Network, Sandbox, SharedNetwork};
use serde::{Deserialize, Serialize};

use super::limits::ChildLimits;

/// The hidden first argument that turns a program into the supervisor.
pub const ARGUMENT: &str = "__supervise";
/// Raised when the spec changes its meaning: an installed supervisor of another version refuses.
pub const VERSION: u32 = 4;
/// Above what any kernel accepts as arguments and environment.
pub const MAX_SPEC: usize = 8 << 20;
/// The supervisor holds the brief in memory, so that it can always watch its control pipe.
pub const MAX_BRIEF: usize = 256 << 20;
/// The longest frame a launcher sends.
pub const MAX_FRAME: usize = 32 << 10;
/// No report is longer than this.
pub const MAX_REPORT: usize = 4 << 10;

/// A path as bytes: a path need not be UTF-8, JSON must be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RawPath(Vec<u8>);

impl From<&Path> for RawPath {
    fn from(path: &Path) -> Self {
        Self(path.as_os_str().as_bytes().to_vec())
    }
}

impl RawPath {
    pub fn to_path(&self) -> PathBuf {
        PathBuf::from(OsString::from_vec(self.0.clone()))
    }
}

/// Everything the supervisor needs to know.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Spec {
    pub version: u32,
    pub token: String,
    pub program: String,
    pub args: Vec<String>,
    pub env: Vec<(String, String)>,
    pub cwd: RawPath,
    pub lock: Option<RawPath>,
    pub limits: ChildLimits,
    pub brief_len: usize,
    /// Frames follow the brief.
    #[serde(default)]
    pub more: bool,
    #[serde(default)]
    pub sandbox: Option<Confines>,
    #[serde(default)]
    pub max_memory_bytes: Option<u64>,
    #[serde(default)]
    pub max_processes: Option<u64>,
    /// In its rooms the command gets a process table of its own, too.
    #[serde(default)]
    pub alone: bool,
    /// The launcher never switches this off; tests do, to show what it is for.
    #[serde(default = "yes")]
    pub subreaper: bool,
    /// The launcher never says anything but the truth here; tests do.
    #[serde(default)]
    pub kernel: Kernel,
}

const fn yes() -> bool {
    true
}

/// What the command may touch: a sandbox, on its way to the supervisor.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Confines {
    pub read: Vec<RawPath>,
    pub write: Vec<RawPath>,
    pub network: Network,
    pub apart: bool,
    pub own: bool,
    #[serde(default)]
    pub shares: Option<SharedNetwork>,
}

impl Confines {
    /// Everything it may touch.
    pub fn paths(&self) -> Vec<PathBuf> {
        self.read.iter().chain(&self.write).map(RawPath::to_path).collect()
    }
}

impl From<&Sandbox> for Confines {
    fn from(sandbox: &Sandbox) -> Self {
        let raw = |paths: &[PathBuf]| paths.iter().map(|path| path.as_path().into()).collect();
        let Sandbox { read, write, network, apart, own, shares } = sandbox;
        let (read, write, shares) = (raw(read), raw(write), shares.clone());
        Self { read, write, network: *network, apart: *apart, own: *own, shares }
    }
}

/// What kind of kernel the supervisor believes to be on.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kernel {
    #[default]
    AsItIs,
    /// One that has no Landlock.
    WithoutLandlock,
    /// One that says that the sandbox stands, and lets everything through.
    WithHoles,
}

/// The last the supervisor says: how the call ended, and the most that was in use if anybody looked.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CallEnding {
    pub report: ExitReport,
    pub memory_bytes: u64,
    pub processes: u64,
}

/// How the command ended, or why it never began.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitReport {
    Exited(i32),
    Signalled(i32),
    /// It was ended because it and all it started used more than the spec allows.
    TooMuchMemory,
    TooManyProcesses,
    Refused {
        why: StartRefusal,
        detail: String,
    },
    /// It began, and its status could not be read.
    Lost(String),
}

/// Why a command was not started.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StartRefusal {
    ProgramMissing,
    NotExecutable,
    /// The program is there; the interpreter its first line names is not.
    InterpreterMissing,
    DirectoryMissing,
    LockUnusable,
    /// The sandbox could not be put up, or does not hold.
    NoSandbox,
    /// The program is there; the sandbox does not let it, or what it needs to start, be read.
    OutsideSandbox,
    /// The launcher closed the pipe before the command was started.
    Abandoned,
    /// Anything else the system said.
    System,
}

/// Length and JSON, ready to be written. The error says how long the spec would have been.
pub fn encode(spec: &Spec) -> Result<Vec<u8>, usize> {
    // Strings, numbers and byte lists cannot fail to serialise; zero stands for that.
    let json = serde_json::to_vec(spec).map_err(|_| 0_usize)?;
    let length = u32::try_from(json.len()).ok().filter(|_| json.len() <= MAX_SPEC).ok_or(json.len())?;
    let mut frame = length.to_le_bytes().to_vec();
    frame.extend(json);
    Ok(frame)
}

/// Reads the spec and the brief, or fails if the pipe ends before they are complete.
pub fn decode(from: &mut impl Read) -> io::Result<(Spec, Vec<u8>)> {
    let mut length = [0_u8; 4];
    from.read_exact(&mut length)?;
    let length = usize::try_from(u32::from_le_bytes(length)).unwrap_or(usize::MAX);
    let spec: Spec = serde_json::from_slice(&exactly(from, length, MAX_SPEC)?)?;
    let brief = exactly(from, spec.brief_len, MAX_BRIEF)?;
    Ok((spec, brief))
}

fn exactly(from: &mut impl Read, length: usize, at_most: usize) -> io::Result<Vec<u8>> {
    if length > at_most {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "longer than any launcher sends"));
    }
    let mut bytes = Vec::new();
    from.take(length as u64).read_to_end(&mut bytes)?;
    if bytes.len() < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(bytes) }
}

/// The last bytes the supervisor writes.
pub fn trailer(token: &str, ending: &CallEnding) -> Vec<u8> {
    let json = serde_json::to_string(ending).unwrap_or_default();
    format!("{token}{json}\n").into_bytes()
}

/// Cuts the report off the end of `stderr`; none if it is not there.
pub fn cut_report(stderr: &mut Vec<u8>, token: &str) -> Option<CallEnding> {
    let at = stderr.windows(token.len()).rposition(|window| window == token.as_bytes())?;
    let ending = serde_json::from_slice(stderr.get(at + token.len()..)?).ok()?;
    stderr.truncate(at);
    Some(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(brief_len: usize) -> Spec {
        Spec {
            version: VERSION,
            token: "t".repeat(32),
            program: "cat".to_owned(),
            args: vec![],
            env: vec![],
            cwd: Path::new("/").into(),
            lock: None,
            limits: ChildLimits::default(),
            brief_len,
            more: true,
            sandbox: Some(Confines {
                read: vec![Path::new("/usr").into()],
                write: vec![],
                network: Network::Out,
                apart: true,
                own: false,
                shares: None,
            }),
            max_memory_bytes: Some(1),
            max_processes: None,
            alone: false,
            subreaper: true,
            kernel: Kernel::AsItIs,
        }
    }

    fn exited(code: i32) -> CallEnding {
        CallEnding { report: ExitReport::Exited(code), memory_bytes: 5, processes: 2 }
    }

    #[test]
    fn spec_and_brief_arrive_as_sent() {
        let mut frame = encode(&spec(5)).unwrap();
        frame.extend(b"brief");
        assert_eq!(decode(&mut frame.as_slice()).unwrap(), (spec(5), b"brief".to_vec()));
    }

    #[test]
    fn a_frame_cut_anywhere_is_refused() {
        let mut frame = encode(&spec(5)).unwrap();
        frame.extend(b"brief");
        for cut in 0..frame.len() {
            assert!(decode(&mut &frame[..cut]).is_err(), "cut at {cut}");
        }
    }

    #[test]
    fn lengths_beyond_the_bounds_are_refused_without_reading() {
        assert!(decode(&mut u32::MAX.to_le_bytes().as_slice()).is_err());
        let frame = encode(&spec(MAX_BRIEF + 1)).unwrap();
        assert!(decode(&mut frame.as_slice()).is_err());
    }

    #[test]
    fn the_spec_of_an_older_launcher_can_be_read_and_so_be_refused_by_its_version() {
        let old = serde_json::json!({
            "version": 1, "token": "t", "program": "cat", "args": [], "env": [], "cwd": [47], "lock": null,
            "limits": ChildLimits::default(), "brief_len": 0, "subreaper": true,
        });
        let json = old.to_string().into_bytes();
        let mut frame = u32::try_from(json.len()).unwrap().to_le_bytes().to_vec();
        frame.extend(json);
        assert_eq!(decode(&mut frame.as_slice()).unwrap().0.version, 1);
    }

    #[test]
    fn a_report_without_the_token_is_the_commands_own_text() {
        let mut stderr = b"said\n".to_vec();
        stderr.extend(trailer("forged", &exited(0)));
        let all = stderr.clone();
        assert_eq!(cut_report(&mut stderr, "secret"), None);
        assert_eq!(stderr, all);
        stderr.extend(trailer("secret", &exited(3)));
        assert_eq!(cut_report(&mut stderr, "secret"), Some(exited(3)));
        assert_eq!(stderr, all);
    }
}
