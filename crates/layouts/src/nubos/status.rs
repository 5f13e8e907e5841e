//! How a task's status is written back, in nubos-pilot's own forms: the `status:` line of its plan, a line of the slice's
//! `STATUS-HISTORY.jsonl`, and the slice's `TODO.md`. Text in, text out; whoever writes it is elsewhere.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::json;

use gadfly_project::adapter::{TaskRow, WrittenStatus};
use gadfly_project::markdown;
use gadfly_project::title;

use super::head::PageHead;
use super::{plan_path, read, slices, split};

/// What is to be written so that a task has this status. None if there is no plan with a status, or it has it already.
/// `now` is in RFC 3339.
pub fn written(root: &Path, id: &str, status: &str, now: &str, run: &str) -> Option<WrittenStatus> {
    let plan = plan_path(id)?;
    let text = read(root, &plan).ok()?;
    let head = PageHead::read(&text);
    let before = head.text("status")?.to_owned();
    if before.eq_ignore_ascii_case(status) {
        return None;
    }
    let line = head.span("status");
    let (above, below) = (text.get(..line.start)?, text.get(line.end..)?);
    let plan_text = format!("{above}status: {status}{below}");
    let (milestone, slice, _) = split(id)?;
    let slice_id = format!("{milestone}-{slice}");
    let folder = plan.ancestors().nth(3)?.to_owned();
    let history = json!({
        "schema_version": 1,
        "task_id": id,
        "slice": slice_id,
        "old_status": before,
        "new_status": status,
        "at": now,
        "run_id": run,
    });
    let mut rows = slices(root, &slice_id, &mut Vec::new()).pop()?.tasks;
    rows.sort_by(|a, b| a.id.cmp(&b.id));
    for row in rows.iter_mut().filter(|row| row.id == id) {
        status.clone_into(&mut row.status);
    }
    let todo = todo(root, milestone, &slice_id, &rows, now);
    Some(WrittenStatus {
        plan: (plan, plan_text),
        history: (folder.join("STATUS-HISTORY.jsonl"), format!("{history}\n")),
        todo: (folder.join("TODO.md"), todo),
    })
}

fn todo(root: &Path, milestone: &str, slice: &str, rows: &[TaskRow], now: &str) -> String {
    const BOXES: [(&str, &str, &str); 5] = [
        ("pending", "pending", "[ ]"),
        ("in-progress", "in_progress", "[~]"),
        ("done", "done", "[x]"),
        ("skipped", "skipped", "[-]"),
        ("parked", "parked", "[!]"),
    ];
    let mut out = format!(
        "---\nschema_version: 1\nmilestone_id: {milestone}\nslice_id: {slice}\ntotal: {}\n",
        rows.len()
    );
    for (status, key, _) in BOXES {
        let count = rows.iter().filter(|row| row.status == status).count();
        let _ = writeln!(out, "{key}: {count}");
    }
    let _ = write!(out, "updated_at: {now}\n---\n\n# Slice {slice}\n\n");
    for row in rows {
        let mark = BOXES.iter().find(|(status, ..)| *status == row.status).map_or("[?]", |(.., mark)| *mark);
        let _ = writeln!(out, "- {mark} **{}** — {}", row.id, name(root, &row.id));
    }
    out
}

/// A task's name, as its plan's heading has it.
fn name(root: &Path, id: &str) -> String {
    let text = plan_path(id).and_then(|path| read(root, &path).ok()).unwrap_or_default();
    let title = title::title(markdown::body(&text));
    let name = title.strip_prefix(id).map_or(title.as_str(), |rest| rest.trim_start_matches([' ', '—']));
    if name.is_empty() { "(unnamed)".to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_status_is_written_as_the_project_writes_it() {
        let dir = tempfile::tempdir().unwrap();
        for (id, status) in [("M001-S001-T0001", "pending # now"), ("M001-S001-T0002", "parked")] {
            let path = dir.path().join(plan_path(id).unwrap());
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let text = format!(
                "---\r\nid: {id}\r\nstatus: {status}\r\nwave: 1\r\n---\r\n# {id} — Say hello\r\nstatus: x\r\n"
            );
            std::fs::write(path, text).unwrap();
        }
        let now = "2026-11-18T06:30:00Z";
        let found = written(dir.path(), "M001-S001-T0001", "done", now, "abc").unwrap();
        assert_eq!(
            found.plan.1,
            "---\r\nid: M001-S001-T0001\r\nstatus: done\r\nwave: 1\r\n---\r\n# M001-S001-T0001 — Say hello\r\nstatus: x\r\n"
        );
        let line: serde_json::Value = serde_json::from_str(&found.history.1).unwrap();
        assert_eq!((&line["old_status"], &line["new_status"]), (&"pending".into(), &"done".into()));
        assert!(found.todo.1.contains("\ndone: 1\nskipped: 0\nparked: 1\n"), "{}", found.todo.1);
        assert!(
            found
                .todo
                .1
                .ends_with("- [x] **M001-S001-T0001** — Say hello\n- [!] **M001-S001-T0002** — Say hello\n")
        );
        assert_eq!(written(dir.path(), "M001-S001-T0002", "parked", now, "abc"), None, "it has it already");
        assert_eq!(written(dir.path(), "M001-S001-T0009", "done", now, "abc"), None, "there is no plan");
    }
}
