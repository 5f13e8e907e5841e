//! Terminals, ports, and what is said beside an error: a run that somebody started at a terminal.

use std::fs;
use std::net::TcpListener;
use std::process::{Command, Stdio};

use crate::powers::desk::{Answer, Desk, passed};
use crate::powers::kinds::KINDS;
use crate::powers::{EVIL, landlock, rooms};

/// Writes to every terminal there is, and reads from the one it would have.
fn shouting() -> String {
    format!(
        "( for n in $(seq 0 60); do echo {EVIL} >/dev/pts/$n; done; echo {EVIL} >/dev/tty; echo {EVIL} \
         >/dev/console; for p in /proc/[0-9]*; do [ -c $p/fd/2 ] && echo {EVIL} >$p/fd/2; done; head -c 5 </dev/tty ) 2>/dev/null \
         | cat >heard.txt"
    )
}

/// The run at a terminal of its own, as a person has one: what that showed.
fn at_a_terminal(desk: &Desk, args: &[&str]) -> String {
    let quoted: Vec<String> = args.iter().map(|arg| format!("'{}'", arg.replace('\'', "'\\''"))).collect();
    let line =
        format!("tty >$HOME/tty; {} {}; echo ended $?", env!("CARGO_BIN_EXE_gadfly"), quoted.join(" "));
    let screen = desk.beside("screen");
    let mut script = Command::new("script");
    script.args(["-qfc", &line]).arg(&screen).current_dir(desk.path("")).env_clear();
    script.env("HOME", desk.beside("home")).env("PATH", "/usr/bin:/bin").env("TERM", "dumb");
    let done = script.stdin(Stdio::null()).stdout(Stdio::null()).status().unwrap();
    assert!(done.success());
    fs::read_to_string(screen).unwrap()
}

#[test]
fn no_agent_and_no_command_of_its_run_reaches_the_terminal_of_who_started_it() {
    if !landlock("terminals") {
        return;
    }
    for kind in &KINDS {
        let desk = Desk::repository(&[("a.txt", "one\n")]);
        let shouting = shouting();
        kind.agent(&desk, "w", &format!("{shouting}\necho two >a.txt"), "done", "");
        let quiet = shouting.replace(">heard.txt", ">scratch/heard.txt");
        kind.agent(&desk, "c", &quiet, &passed(1), "");
        // What is prepared is not delivered: the screen tells of it.
        let before = shouting.replace(">heard.txt", ">before.txt");
        desk.configure(&format!("[workspace]\nprepare = {}\n", serde_json::json!(before)));
        let screen =
            at_a_terminal(&desk, &[&crate::powers::desk::AUDIT[..], &["--verify", &shouting]].concat());
        assert!(screen.contains("ended 0"), "{}: {screen}", kind.name);
        assert!(!screen.contains(&format!("\n{EVIL}")), "{}: {screen}", kind.name);
        assert_eq!(desk.read("heard.txt"), "", "{}", kind.name);
    }
}

#[test]
fn an_agent_has_terminals_of_its_own_or_the_record_says_that_it_has_none() {
    if !landlock("terminals of its own") {
        return;
    }
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.program("c", &format!("cat >/dev/null\ncat <<'END'\n{}\nEND", passed(1)));
    desk.program(
        "w",
        "cat >/dev/null\nscript -qec 'test -t 0 && echo own >a.txt' /dev/null </dev/null || echo none >a.txt",
    );
    let said = desk.audit(&[]);
    assert_eq!(said.code, 0, "{}", said.err);
    let shown = desk.gadfly(&["show", &desk.run_id()]).out;
    let has_none = shown.contains("no pseudo-terminals");
    assert_eq!(desk.read("a.txt"), if has_none { "none\n" } else { "own\n" }, "{shown}");
}

const LISTEN: &str = "perl -MIO::Socket::INET -e \
                      'IO::Socket::INET->new(Listen => 1, LocalAddr => \"127.0.0.1\", LocalPort => PORT) or exit 1'";
const LOOPBACK: &str = "perl -MIO::Socket::INET -e '$s = IO::Socket::INET->new(Listen => 1, LocalAddr => \
                        \"127.0.0.1\") or exit 1; IO::Socket::INET->new(PeerAddr => \"127.0.0.1\", PeerPort => \
                        $s->sockport) or exit 2'";

#[test]
fn a_held_agent_holds_no_port_of_this_machine_unless_it_is_let() {
    if !landlock("ports") {
        return;
    }
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    for kind in &KINDS {
        for (settings, expected) in [("", "shut shut\n"), ("listen = true\n", "open open\n")] {
            let desk = Desk::repository(&[("a.txt", "one\n")]);
            desk.program("c", &format!("cat >/dev/null\ncat <<'END'\n{}\nEND", passed(1)));
            let one = |port: &str| {
                format!("$(if {}; then echo open; else echo shut; fi)", LISTEN.replace("PORT", port))
            };
            kind.agent(&desk, "w", &format!("echo {} {} >a.txt", one(&port), one("0")), "done", settings);
            let said = desk.audit(&[]);
            assert_eq!(said.code, 0, "{}: {}", kind.name, said.err);
            assert_eq!(desk.read("a.txt"), expected, "{} {settings}", kind.name);
        }
    }
}

#[test]
fn servers_that_tests_start_on_the_loopback_work_where_a_command_verifies() {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
    desk.program("c", &format!("cat >/dev/null\ncat <<'END'\n{}\nEND", passed(1)));
    let said = desk.audit(&["--verify", LOOPBACK]);
    assert_eq!((said.code, desk.state()), (0, "approved".into()), "{}", said.err);
    // A goal's criterion is held, without the network: it has a loopback of its own.
    if !landlock("a loopback of its own") || !rooms("a loopback of its own") {
        return;
    }
    let desk = crate::powers::pursuit::pursuit(&[], &[crate::powers::pursuit::PROGRESSING]);
    let turns = [
        crate::powers::pursuit::runs(&format!("{LOOPBACK}; echo $? >code.txt")),
        crate::powers::pursuit::writes("done.txt", "x"),
        crate::powers::pursuit::reads("done.txt").then(crate::powers::pursuit::claims("done")),
    ];
    crate::powers::pursuit::hire(&desk, "w", &turns, "");
    let until = format!("test -e done.txt && {LOOPBACK}");
    let args =
        ["goal", "Do it.", "--worker", "w", "--critic", "c", "--yes", "--unattended", "--until", &until];
    let said = desk.gadfly(&args);
    assert_eq!(said.code, 0, "{}", said.err);
    assert_eq!(desk.read("code.txt"), "0\n");
}

#[test]
fn what_fails_in_a_sandbox_says_so_beside_its_error() {
    if !landlock("what is said beside an error") {
        return;
    }
    for kind in &KINDS {
        let desk = Desk::repository(&[("a.txt", "one\n")]);
        desk.program("c", &format!("cat >/dev/null\ncat <<'END'\n{}\nEND", passed(1)));
        let home = desk.beside("home").display().to_string();
        kind.agent(&desk, "w", &format!("echo x >{home}/.profile || exit 9"), "done", "");
        let said = desk.audit(&[]);
        assert_ne!(said.code, 0, "{}", kind.name);
        let told = desk.told();
        assert!(told.contains("it ran in a sandbox: it may write /"), "{}: {told}", kind.name);
        assert!(told.contains(&format!("refused: {home}/.profile")), "{}: {told}", kind.name);
        assert!(told.contains("`read` and `state`"), "{}: {told}", kind.name);
    }
    // A verify command and a hook have the user's rights; they miss only the terminals.
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
    desk.program("c", &format!("cat >/dev/null\ncat <<'END'\n{}\nEND", passed(1)));
    desk.audit(&["--verify", "echo x >/dev/tty1 || exit 3"]);
    let events = desk.gadfly(&["show", &desk.run_id(), "--log", "--json"]).out;
    assert!(events.contains("it ran without your terminals"), "{events}");
}

#[test]
fn the_users_own_commands_get_the_terminals_if_the_user_says_so() {
    let desk = Desk::repository(&[("a.txt", "one\n")]);
    desk.scripted("w", &[Answer { text: "done", files: &[("a.txt", "two\n")], delete: &[] }]);
    desk.program("c", &format!("cat >/dev/null\ncat <<'END'\n{}\nEND", passed(1)));
    desk.configure("[commands]\nterminals = true\n");
    let says = "if grep -q 'NoNewPrivs:.1' /proc/self/status; then exit 4; fi";
    let said = desk.audit(&["--verify", says]);
    assert!(rustix::process::getuid().is_root() || said.code == 0, "{}", said.err);
    let shout = format!("echo {EVIL} >\"$(cat $HOME/tty)\"");
    let screen = at_a_terminal(&desk, &[&crate::powers::desk::AUDIT[..], &["--verify", &shout]].concat());
    assert!(screen.contains("ended 0") && screen.contains(EVIL), "{screen}");
}
