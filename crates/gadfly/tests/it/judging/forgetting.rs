//! Forgetting a run takes its folder along, whatever its commands left in there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};

use crate::judging::desk::{Answer, Desk, passed, report};

/// Far more levels than a path can name, and a folder in between that may not be written.
fn bury(folder: &std::path::Path) {
    fs::create_dir_all(folder).unwrap();
    let mut at = openat(CWD, folder, OFlags::DIRECTORY, Mode::empty()).unwrap();
    for _ in 0..2_500 {
        mkdirat(&at, "d", Mode::RWXU).unwrap();
        at = openat(&at, "d", OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    fs::create_dir(folder.join("shut")).unwrap();
    fs::write(folder.join("shut/file"), "x").unwrap();
    fs::set_permissions(folder.join("shut"), fs::Permissions::from_mode(0o555)).unwrap();
}

#[test]
fn removing_a_run_and_collecting_old_ones_leave_no_folder_behind() {
    for approved in [true, false] {
        let desk = Desk::repository(&[("a.txt", "one\n"), ("target/.keep", "")]);
        desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
        let finding = [("style", "fail", Some(("a.txt", 1)), "say more")];
        let found = report("do-it", 1, &[("SC-1", "Satisfied", "a.txt:1")], &finding, "issues_found");
        desk.saying("c", &[if approved { passed(1) } else { found }.as_str()]);
        desk.audit(&["--rounds", "1"]);
        let run = desk.run_id();
        let home = desk.work(&run);
        assert!(home.exists());
        bury(&home.join("tree/work/target"));
        let said = if approved {
            desk.gadfly(&["gc", "--older-than", "0", "--apply"])
        } else {
            desk.gadfly(&["runs", "rm", &run])
        };
        assert_eq!(said.code, 0, "{}", said.err);
        assert!(!home.exists(), "{}", said.err);
        assert_eq!(desk.gadfly(&["runs", "--json"]).out, "");
    }
}
