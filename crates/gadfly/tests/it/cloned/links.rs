//! Files of the project that are links out of it, and addresses of this machine that only its file names.

use std::fs;
use std::io::ErrorKind;
use std::net::TcpListener;
use std::os::unix::fs::symlink;

use crate::cloned::desk::Desk;

const SECRET: &str = "-----BEGIN OPENSSH PRIVATE KEY----- hush";

/// A project where `paper.md` leads to a key of the user's, and a critic that repeats all it is sent.
fn desk() -> Desk {
    let desk = Desk::repository(&[("notes.md", "We saw 12 mice.\n"), ("rubric.md", "- short\n")]);
    fs::create_dir_all(desk.beside("home/.ssh")).unwrap();
    fs::write(desk.beside("home/.ssh/id_rsa"), SECRET).unwrap();
    symlink("../home/.ssh/id_rsa", desk.path("paper.md")).unwrap();
    symlink("../home/.ssh", desk.path("papers")).unwrap();
    symlink("notes.md", desk.path("alias.md")).unwrap();
    desk.saying("w", &["A draft."]);
    let sent = desk.beside("sent");
    desk.program("c", &format!("cat >>'{}'; echo '[STATUS: APPROVED]'", sent.display()));
    desk.configure("sandbox = \"off\"\n");
    desk
}

#[test]
fn a_file_that_leads_out_of_the_project_is_not_read() {
    let desk = desk();
    let review = ["--critic", "c", "--criterion", "x", "--yes"];
    let run = ["run", "Write.", "--worker", "w", "--critic", "c", "--yes"];
    for args in [
        [&["review", "paper.md"][..], &review].concat(),
        [&["review", "./paper.md"][..], &review].concat(),
        [&["review", "papers/id_rsa"][..], &review].concat(),
        [&["review", "notes.md", "--with", "paper.md"][..], &review].concat(),
        ["review", "notes.md", "--critic", "c", "--rubric", "paper.md", "--yes"].to_vec(),
        [&run[..], &["--criterion", "x", "--draft", "paper.md"]].concat(),
        [&run[..], &["--criterion", "x", "--with", "paper.md"]].concat(),
        [&run[..], &["--rubric", "paper.md"]].concat(),
        ["review", "notes.md", "--critic", "c", "--protocol", "audit", "--criteria", "paper.md", "--yes"]
            .to_vec(),
        [&run[..], &["--protocol", "audit", "--criteria", "paper.md"]].concat(),
    ] {
        let said = desk.gadfly(&args);
        assert_eq!(said.code, 2, "{args:?}: {said:?}");
        let target = desk.beside("home/.ssh/id_rsa").canonicalize().unwrap();
        assert!(said.err.contains("leads out of the project"), "{args:?}: {}", said.err);
        assert!(said.err.contains(target.to_str().unwrap()), "{args:?}: where it leads: {}", said.err);
        assert!(!desk.beside("sent").exists(), "{args:?}: nothing was sent");
    }
    // Links within the project, and files named by their own path, are read as ever.
    let own = desk.beside("home/.ssh/id_rsa");
    for path in ["alias.md", own.to_str().unwrap(), "../home/.ssh/id_rsa"] {
        let said = desk.gadfly(&[&["review", path][..], &review].concat());
        assert_eq!(said.code, 0, "{path}: {said:?}");
    }
    assert!(fs::read_to_string(desk.beside("sent")).unwrap().contains(SECRET));
}

#[test]
fn doctor_asks_no_address_that_only_the_project_names() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    let agent = format!("kind = \"openai\"\nbase_url = \"{url}\"\nmodel = \"m\"\n");
    let desk = Desk::folder(&[("gadfly.toml", &format!("[agents.a]\n{agent}"))]);
    let said = desk.gadfly(&["doctor"]);
    assert!(said.out.contains("was not asked"), "{said:?}");
    assert_eq!(listener.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "nobody called");
    // The user's own are asked.
    desk.configure(&format!("[agents.b]\n{agent}"));
    desk.gadfly(&["doctor"]);
    assert!(listener.accept().is_ok());
}
