//! Every kind of tool under both permissions, and what a liar gets.

use agent_client_protocol::v1::schema::{Diff, ToolCallLocation, ToolCallUpdateFields};

use super::*;

fn folder() -> CallFolders {
    CallFolders { root: "/work/run".into(), tmp: Some("/work/tmp".into()) }
}

fn asked(fields: ToolCallUpdateFields) -> ToolCallUpdate {
    ToolCallUpdate::new("call-1", fields)
}

fn of_kind(kind: ToolKind) -> ToolCallUpdate {
    asked(ToolCallUpdateFields::new().kind(kind))
}

#[test]
fn what_each_kind_of_tool_is_told_by_role() {
    for (kind, reader_may) in [
        (ToolKind::Read, true),
        (ToolKind::Search, true),
        (ToolKind::Think, true),
        (ToolKind::Edit, false),
        (ToolKind::Delete, false),
        (ToolKind::Move, false),
        (ToolKind::Execute, false),
        (ToolKind::Fetch, false),
        (ToolKind::SwitchMode, false),
        (ToolKind::Other, false),
    ] {
        let reader = allowed(Permission::ReadOnly, &of_kind(kind), None, &folder());
        assert_eq!(reader.is_ok(), reader_may, "a critic that wants to {kind:?}");
        let worker = allowed(Permission::Write, &of_kind(kind), None, &folder());
        assert!(worker.is_ok(), "a worker that wants to {kind:?}");
    }
}

#[test]
fn a_critic_cannot_call_an_edit_a_read() {
    let silent = asked(ToolCallUpdateFields::new());
    assert!(allowed(Permission::ReadOnly, &silent, None, &folder()).is_err(), "nothing is known of it");
    assert!(allowed(Permission::ReadOnly, &silent, Some(ToolKind::Read), &folder()).is_ok());
    assert!(allowed(Permission::ReadOnly, &silent, Some(ToolKind::Edit), &folder()).is_err());
    let renamed = of_kind(ToolKind::Read);
    assert!(allowed(Permission::ReadOnly, &renamed, Some(ToolKind::Execute), &folder()).is_err());
    let fields = ToolCallUpdateFields::new()
        .kind(ToolKind::Read)
        .content(vec![Diff::new("/work/run/a", "new").into()]);
    assert!(allowed(Permission::ReadOnly, &asked(fields), None, &folder()).is_err(), "it shows a change");
}

#[test]
fn a_worker_changes_files_in_its_folder_only() {
    for (path, may) in [
        ("/work/run/src/a.rs", true),
        ("src/a.rs", true),
        ("/work/tmp/a", true),
        ("/work/other/a", false),
        ("/work/run/../a", false),
        ("/etc/passwd", false),
    ] {
        for kind in [ToolKind::Edit, ToolKind::Delete, ToolKind::Move] {
            let at = ToolCallUpdateFields::new().kind(kind).locations(vec![ToolCallLocation::new(path)]);
            let told = allowed(Permission::Write, &asked(at), None, &folder());
            assert_eq!(told.is_ok(), may, "{kind:?} {path}");
        }
        let diff = ToolCallUpdateFields::new().content(vec![Diff::new(path, "new").into()]);
        assert_eq!(allowed(Permission::Write, &asked(diff), None, &folder()).is_ok(), may, "{path}");
    }
    let reading = ToolCallUpdateFields::new()
        .kind(ToolKind::Read)
        .locations(vec![ToolCallLocation::new("/usr/include/stdio.h")]);
    assert!(allowed(Permission::Write, &asked(reading), None, &folder()).is_ok());
}

#[test]
fn the_narrowest_answer_that_is_offered_is_given() {
    use PermissionOptionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
    for (offered, allow, expected) in [
        (vec![AllowAlways, AllowOnce, RejectOnce], true, Some(1)),
        (vec![AllowAlways, RejectOnce], true, Some(0)),
        (vec![RejectOnce], true, None),
        (vec![AllowOnce, RejectAlways, RejectOnce], false, Some(2)),
        (vec![AllowOnce, RejectAlways], false, Some(1)),
        (vec![AllowOnce, AllowAlways], false, None),
        (vec![], true, None),
    ] {
        let options: Vec<_> = offered
            .iter()
            .enumerate()
            .map(|(i, kind)| PermissionOption::new(i.to_string(), "x", *kind))
            .collect();
        let expected = expected.map_or(RequestPermissionOutcome::Cancelled, |i: usize| {
            RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(i.to_string()))
        });
        assert_eq!(outcome(&options, allow), expected, "{offered:?}, allow: {allow}");
    }
}
