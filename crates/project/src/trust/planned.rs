//! What a recorded plan will do, as things to agree to: its record may come from anyone. The same thing, wanted by a
//! project's files or by a record, is the same to agree to.

use std::path::Path;

use gadfly_engine::manifest::{Contact, PlannedCommand, PlannedRead, PlannedWrite, Purpose, RunManifest};

use super::{TrustEntry, copied, goals, judging, linked, pipeline, prepare, verify};

/// What the plan runs, reads and contacts and by what it is judged, beside its agents and servers, which are agreed to as they are configured now.
pub fn of_manifest(manifest: &RunManifest) -> Vec<TrustEntry> {
    let runs = manifest.runs.iter().map(command);
    let reads = manifest.reads.iter().filter_map(read);
    let contacts = manifest.contacts.iter().filter_map(|contact| match contact {
        Contact::Url(url) => Some(goals::until_http(url, None)),
        Contact::Server(_) => None,
    });
    let project = manifest.project().map(Path::new);
    let risk = manifest.risk.zip(project).and_then(|(risk, project)| goals::risk(risk, project, None));
    let in_place = manifest.writes.iter().filter_map(|write| match write {
        PlannedWrite::InPlace(project) => Some(goals::in_place(Path::new(project), None)),
        _ => None,
    });
    let judged = judging::of_record(manifest);
    runs.chain(reads).chain(contacts).chain(risk).chain(in_place).chain(judged).collect()
}

/// The places of the user's that the plan writes. Reports go where the run's own name says, a status where the task's does.
pub fn written_by(manifest: &RunManifest) -> Vec<String> {
    let named = manifest
        .writes
        .iter()
        .filter(|write| !matches!(write, PlannedWrite::Reports(_) | PlannedWrite::TaskStatus(_)));
    named.map(|write| write.path().to_owned()).collect()
}

fn command(command: &PlannedCommand) -> TrustEntry {
    let line = &command.line;
    match &command.purpose {
        Purpose::Prepare => prepare(line, None),
        Purpose::Verify => verify(line, None),
        Purpose::Until => goals::until(line, None),
        Purpose::Hook(event) => pipeline::hook(event, line, None),
        Purpose::Gate(gate) => pipeline::gate_command(gate, line, None),
    }
}

fn read(read: &PlannedRead) -> Option<TrustEntry> {
    match read {
        PlannedRead::Linked(path) => Some(linked(path, None)),
        PlannedRead::Copied(path) => Some(copied(path, None)),
        // It was read when the plan was made.
        PlannedRead::Judged(_) => None,
    }
}
