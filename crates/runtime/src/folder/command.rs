//! Commands in the folder: verify commands and `prepare`. Each runs with a limit on time and on what is kept
//! of its output, leaves no process behind, and what it changed in the folder is put back.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use gadfly_agents::launcher::{ErrorNote, Exit, Network};
use gadfly_engine::Text;
use gadfly_engine::tree::{CommandRun, HeldCommand, RunEnd, Verified, Verify};
use tokio_util::sync::CancellationToken;

use super::evidence::EvidenceBefore;
use super::fresh::{CheckHome, FreshFolder};
use super::{Folder, FolderError, Inside, listed};
use crate::tools::confined::{Confined, OUTPUT_KEPT, OutputSink};

/// How long the user's `prepare` may take.
pub(super) const PREPARE_TIME: Duration = Duration::from_mins(10);

/// One run of a command.
pub(super) struct CommandResult {
    pub end: RunEnd,
    pub output: String,
    pub took_ms: u64,
}

impl CommandResult {
    pub fn is_green(&self) -> bool {
        self.end == RunEnd::Code(0)
    }

    fn verified(self) -> (Verified, Vec<Text>) {
        let output = Text::new(self.output);
        let run = CommandRun { end: self.end, output: output.digest(), took_ms: self.took_ms };
        (Verified { runs: vec![run], changed: Vec::new(), evidence: Vec::new() }, vec![output])
    }
}

impl Folder {
    /// Runs a command as often as asked, each time on the same state; the first failure ends it.
    pub async fn verify(
        &self,
        verify: &Verify,
        cancel: &CancellationToken,
    ) -> Result<(Verified, Vec<Text>), FolderError> {
        let mut tree = self.tree_of(&verify.tree)?;
        let mut inside = if verify.fresh { self.enter().await? } else { self.restored(&verify.tree).await? };
        if inside.workspace.is_in_place() {
            // What the user changed meanwhile is not the command's doing.
            tree = inside.workspace.snapshot().await?.tree;
        }
        let mut fresh = None;
        if verify.fresh && !inside.workspace.is_in_place() {
            match self.fresh_for(verify, &mut inside, &tree, cancel).await? {
                Ok(made) => fresh = Some(made),
                Err(failed) => return Ok(failed.verified()),
            }
        }
        let dir = fresh.as_ref().map_or_else(|| inside.workspace.dir(), |fresh| fresh.dir.clone());
        let time = Duration::from_millis(verify.timeout_ms.max(1));
        let (mut runs, mut texts, mut changed) = (Vec::new(), Vec::new(), BTreeSet::new());
        let mut evidence = Vec::new();
        for _ in 0..verify.runs.max(1) {
            let own = CheckHome::new(self);
            let held = self.held_for(verify, &inside, fresh.as_deref(), &dir, &own)?;
            let before = EvidenceBefore::of(&dir, &verify.evidence, fresh.is_some());
            let ran = self.run_once(&verify.command, &dir, held, time, cancel).await;
            let _ = tokio::task::spawn_blocking(move || drop(own)).await;
            let ran = ran?;
            evidence = self.keep_evidence(&before)?;
            if fresh.is_none() {
                changed.extend(inside.put_back(&tree).await?);
            }
            let green = ran.is_green();
            let output = Text::new(ran.output);
            runs.push(CommandRun { end: ran.end, output: output.digest(), took_ms: ran.took_ms });
            texts.push(output);
            if !green {
                break;
            }
        }
        let changed: Vec<String> = changed.into_iter().collect();
        Ok((Verified { runs, changed: listed(&changed), evidence }, texts))
    }

    /// The fresh folder of what is checked, made ready if there is none yet, or how making it ready failed.
    async fn fresh_for(
        &self,
        verify: &Verify,
        inside: &mut Inside,
        tree: &str,
        cancel: &CancellationToken,
    ) -> Result<Result<Arc<FreshFolder>, CommandResult>, FolderError> {
        if let Some(fresh) = Self::fresh_of(inside, tree) {
            return Ok(Ok(fresh));
        }
        let fresh = self.make_fresh(inside, tree).await?;
        let own = CheckHome::new(self);
        let held = self.held_for(verify, inside, Some(&fresh), &fresh.dir, &own)?;
        match self.prepare_fresh(&inside.workspace, tree, &fresh.root, held, cancel).await? {
            Ok(()) => {
                inside.state.fresh = Some((tree.to_owned(), Arc::clone(&fresh)));
                Ok(Ok(fresh))
            }
            Err(output) => Ok(Err(CommandResult { end: RunEnd::Code(1), output, took_ms: 0 })),
        }
    }

    /// What a check gets: the sandbox of a worker if it runs what a worker wrote, else the user's rights.
    fn held_for(
        &self,
        verify: &Verify,
        inside: &Inside,
        fresh: Option<&FreshFolder>,
        dir: &Path,
        own: &CheckHome,
    ) -> Result<Confined, FolderError> {
        // Its home is empty: what a worker left in its own decides nothing.
        // Servers that tests start listen on ports that the system chooses, if not on a loopback of their own.
        let network = |held: HeldCommand| if held.network { Network::FreePorts } else { Network::None };
        match (verify.held.map(network), fresh) {
            // What the worker started does not reach into a fresh folder.
            (Some(network), Some(fresh)) => self.confined_to(fresh.root.clone(), dir, own.path(), network),
            (Some(network), None) => self.confined(inside, own.path(), network),
            (None, _) => Ok(self.process_env.own_command(dir, true)),
        }
    }

    pub(super) async fn run_once(
        &self,
        line: &str,
        dir: &Path,
        held: Confined,
        time: Duration,
        cancel: &CancellationToken,
    ) -> Result<CommandResult, FolderError> {
        let command = held.shell(line, dir, Some(time), OutputSink::EndKept);
        let began = Instant::now();
        let done = self.launcher().launch(command, cancel.clone()).await;
        let done = done.map_err(|e| FolderError::Command(format!("`{line}` could not be run: {e}")))?;
        let end = match done.exit {
            Exit::Code(code) => RunEnd::Code(code),
            Exit::Signal(signal) => RunEnd::Signal(signal),
            Exit::TimedOut => RunEnd::TimedOut,
            Exit::Cancelled => return Err(FolderError::Cancelled),
            Exit::TooMuchMemory | Exit::TooManyProcesses => RunEnd::Signal(9),
            // Nothing of the command goes to this stream; only a shell that is none could write there.
            Exit::Overflowed => {
                return Err(FolderError::Command(format!("`{line}` could not be run: `sh` is no shell")));
            }
        };
        let took_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let output = noted(tail(&done.stderr), done.beside.as_ref());
        Ok(CommandResult { end, output, took_ms })
    }
}

/// An output, and after it, in a line of its own, what is said beside the error of who failed in a sandbox.
pub(crate) fn noted(output: String, beside: Option<&ErrorNote>) -> String {
    let Some(ErrorNote { text, .. }) = beside.filter(|beside| beside.complains) else { return output };
    let newline = if output.is_empty() || output.ends_with('\n') { "" } else { "\n" };
    format!("{output}{newline}[{text}]\n")
}

/// The end of an output, as text, with a line that says if something is missing before it.
fn tail(bytes: &[u8]) -> String {
    let from = bytes.len().saturating_sub(OUTPUT_KEPT);
    let kept = bytes.get(from..).unwrap_or_default();
    if from == 0 {
        return String::from_utf8_lossy(kept).into_owned();
    }
    // A character that was cut in two is no character.
    let begins = kept.iter().take(4).position(|b| b & 0b1100_0000 != 0b1000_0000).unwrap_or(0);
    let kept = kept.get(begins..).unwrap_or_default();
    format!(
        "[the output was longer; its last {} bytes follow]\n{}",
        kept.len(),
        String::from_utf8_lossy(kept)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_output_the_end_is_kept_and_this_is_said() {
        assert_eq!(tail(b"short"), "short");
        let long = "ü".repeat(OUTPUT_KEPT);
        let mut bytes = long.clone().into_bytes();
        bytes.push(b'!');
        let kept = tail(&bytes);
        assert!(kept.starts_with("[the output was longer; its last "), "{kept:.80}");
        assert!(kept.ends_with("ü!") && !kept.contains('\u{fffd}'));
        assert!(kept.len() < OUTPUT_KEPT + 100);
    }
}
