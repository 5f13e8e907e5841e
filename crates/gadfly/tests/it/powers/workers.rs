//! A worker changes its own tree, and reaches nothing else of the user's.

use std::fs;
use std::net::TcpListener;

use crate::powers::desk::{Desk, passed};
use crate::powers::kinds::{KINDS, layers};
use crate::powers::{EVIL, landlock};

const SECRET: &str = "SECRET-4410";

/// What a worker tries outside its tree. `P` is the user's project, `H` the home. Each must fail.
const DEEDS: [(&str, &str); 8] = [
    ("writes the checkout", "echo E >P/b.txt"),
    ("writes the user's repository", "echo E >P/.git/hooks/post-checkout"),
    ("writes the store", "echo E >P/.gadfly/evil"),
    ("writes a home", "echo E >H/.profile"),
    ("writes a new file in a home", "echo E >H/new"),
    ("reads a key", "cat H/.ssh/id"),
    ("reads the checkout", "cat P/b.txt"),
    ("writes the common temporary folder", "echo E >/tmp/E-worker"),
];

fn desk() -> Desk {
    let desk = Desk::repository(&[("a.txt", "one\n"), ("b.txt", "mine\n")]);
    fs::create_dir_all(desk.beside("home/.ssh")).unwrap();
    fs::write(desk.beside("home/.ssh/id"), SECRET).unwrap();
    fs::write(desk.beside("home/.profile"), "# mine\n").unwrap();
    desk.program("c", &format!("cat >/dev/null\ncat <<'END'\n{}\nEND", passed(1)));
    desk
}

#[test]
fn in_the_sandbox_a_worker_reaches_only_its_own_tree() {
    if !landlock("a worker in the sandbox") {
        return;
    }
    for kind in &KINDS {
        // One program after the other would take long: of the others, what matters most.
        let all = kind.name == "command";
        for (how, action) in DEEDS.into_iter().filter(|(how, _)| all || *how == "writes the checkout") {
            let case = format!("{} {how}", kind.name);
            let desk = desk();
            let (project, home) = (desk.path(""), desk.beside("home"));
            let project = project.to_str().unwrap().trim_end_matches('/');
            let action = action.replace("P/", &format!("{project}/"));
            let action = action.replace("H/", &format!("{}/", home.display())).replace('E', EVIL);
            // Its own tree, its repository and its temporary folder are its own.
            let does = format!(
                "if ( {action} ) 2>/dev/null; then exit 6; fi\necho two >a.txt && git add a.txt && \
                 echo x >\"$TMPDIR/x\" && mkdir sub && echo new >sub/new.txt || exit 7"
            );
            kind.agent(&desk, "w", &does, "done", "");
            let git = desk.git_bytes();
            let said = desk.audit(&[]);
            assert_eq!(said.code, 0, "{case}: 6 says that it could: {}", said.err);
            assert_eq!(
                (desk.read("a.txt"), desk.read("sub/new.txt")),
                ("two\n".into(), "new\n".into()),
                "{case}"
            );
            assert_eq!(desk.read("b.txt"), "mine\n", "{case}");
            assert_eq!(desk.git_bytes(), git, "{case}");
            assert_eq!(fs::read_to_string(home.join(".profile")).unwrap(), "# mine\n", "{case}");
            assert!(layers(&desk, "worker").contains(&"landlock".to_owned()), "{case}");
        }
    }
}

#[test]
fn without_a_sandbox_the_record_says_that_nothing_holds_a_worker() {
    // Sabotage of the test above: with the sandbox off the same deeds succeed.
    let desk = desk();
    let key = desk.beside("home/.ssh/id");
    desk.program("w", &format!("cat >/dev/null\ncat {} >a.txt", key.display()));
    desk.configure("sandbox = \"off\"\n");
    let said = desk.audit(&[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.read("a.txt"), SECRET);
    assert_eq!(layers(&desk, "worker"), [""; 0]);
    assert!(said.err.contains("no sandbox: runs with your permissions"), "{}", said.err);
    assert!(desk.gadfly(&["show", &desk.run_id()]).out.contains("worker w, 1 call: no sandbox"));
}

#[test]
fn what_is_named_as_state_and_read_is_reached() {
    let desk = desk();
    fs::create_dir_all(desk.beside("home/notes")).unwrap();
    fs::write(desk.beside("home/notes/n"), "noted\n").unwrap();
    desk.program(
        "w",
        "cat >/dev/null\necho kept >>\"$HOME/.cache/mine/log\" && cat \"$HOME/notes/n\" >a.txt",
    );
    desk.configure("state = [\"~/.cache/mine\"]\nread = [\"~/notes\"]\n");
    let said = desk.audit(&[]);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.read("a.txt"), "noted\n");
    // The folder of its state is made for it.
    assert_eq!(fs::read_to_string(desk.beside("home/.cache/mine/log")).unwrap(), "kept\n");
}

#[test]
fn without_the_network_no_connection_is_made() {
    if !landlock("a worker without the network") {
        return;
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let connect = format!("bash -c 'exec 3<>/dev/tcp/127.0.0.1/{port}' 2>/dev/null");
    for (settings, expected, how) in
        [("", "open\n", "files; TCP out only"), ("network = false\n", "shut\n", "files; no ")]
    {
        let desk = desk();
        desk.program(
            "w",
            &format!("cat >/dev/null\nif {connect}; then echo open; else echo shut; fi >a.txt"),
        );
        desk.configure(settings);
        let said = desk.audit(&[]);
        assert_eq!(said.code, 0, "{}", said.err);
        assert_eq!(desk.read("a.txt"), expected);
        assert!(desk.gadfly(&["show", &desk.run_id()]).out.contains(how));
    }
}

#[test]
fn a_worker_of_a_text_works_in_the_same_folder_in_every_round() {
    let desk = Desk::folder(&[("rubric.md", "- good\n")]);
    desk.program(
        "w",
        "cat >/dev/null\nls -A >>\"$HOME/.seen/files\"; echo left >left.txt; pwd >>\"$HOME/.seen/pwd\"; pwd",
    );
    desk.configure("state = [\"~/.seen\"]\n");
    desk.saying("c", &["[STATUS: REJECTED]\n- once more", "[STATUS: APPROVED]\nGood."]);
    let said =
        desk.gadfly(&["run", "Write", "--worker", "w", "--critic", "c", "--rubric", "rubric.md", "--yes"]);
    assert_eq!(said.code, 0, "{}", said.err);
    let seen = fs::read_to_string(desk.beside("home/.seen/pwd")).unwrap();
    let folders: Vec<&str> = seen.lines().collect();
    assert_eq!(folders.len(), 2, "{seen}");
    assert_eq!(folders[0], folders[1], "an agent finds its conversation by its folder");
    // It is empty every time: what it left is no part of its next work.
    assert_eq!(fs::read_to_string(desk.beside("home/.seen/files")).unwrap(), "");
}
