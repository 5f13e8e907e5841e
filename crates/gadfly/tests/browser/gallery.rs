//! One project with a finished run of every kind and one that waits: who is let in, how each page looks, in colours, on
//! narrow screens, to a screen reader, and with the keyboard alone.

use crate::JUDGE;
use crate::desk::Desk;
use crate::pursuit::{PROGRESSING, claims, hire, reads, runs, writes};
use crate::server::Server;
use crate::stage::{pipeline, three};
use crate::theatre::play;

fn gallery() -> Desk {
    let desk = three();
    let said = pipeline(&desk, &[]);
    assert_eq!(said.code, 0, "{}", said.err);

    desk.configure("[agents.me]\nkind = \"person\"\n");
    desk.saying("w", &["We asked people.\n", "We asked 412 people.\n"]);
    desk.saying("c", &["[STATUS: REJECTED]\n- state the sample size", "[STATUS: APPROVED]\nGood."]);
    let criterion = ["--criterion", "at most 150 words", "--yes", "--unattended"];
    let said = desk
        .gadfly(&[&["run", "Write the abstract", "--worker", "w", "--critic", "c"], &criterion[..]].concat());
    assert_eq!(said.code, 0, "{}", said.err);

    // Every verdict once; what the critic takes for achieved is not.
    let works = runs("echo x >> log; wc -l < log").times(11);
    let ends = [works, writes("done.txt", "x"), runs("rm log"), reads("done.txt").then(claims("there"))];
    hire(&desk, "g", &ends, "");
    desk.saying(
        "v",
        &[
            PROGRESSING,
            "STUCK\nIt only counts lines.",
            "MISLED\nIt counts in place of writing.",
            "Hm, hard to say.",
            "ACHIEVED\nSurely.",
            PROGRESSING,
            PROGRESSING,
        ],
    );
    let goal = ["goal", "Write the file done.txt.", "--worker", "g", "--critic", "v", "--until"];
    let more = ["test -f done.txt", "--critic-interval", "2", "--yes", "--unattended"];
    let said = desk.gadfly(&[&goal[..], &more].concat());
    assert_eq!(said.code, 0, "{}", said.err);

    let said = desk.gadfly(&JUDGE);
    assert_eq!(said.code, 4, "{said:?}");
    desk
}

#[test]
fn every_kind_of_page_looks_as_it_should_and_is_there_for_everybody() {
    let desk = gallery();
    let server = Server::start(&desk);
    for scenario in ["locked", "guards", "rail", "pipeline", "looks", "keys"] {
        if !play(&desk, &server, scenario) {
            return;
        }
    }
}
