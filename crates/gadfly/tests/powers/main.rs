//! Separation of powers, through the real binary: who judges changes nothing, who works changes its own tree
//! only, and the record says what held.

#[path = "../judging/desk.rs"]
#[allow(dead_code)]
mod desk;

mod kinds;
mod readers;
mod trusted;
mod workers;

/// In every byte that somebody tries to leave where it does not belong.
const EVIL: &str = "EVIL-7391";

/// Whether this machine can hold processes. Where it cannot, what needs it is skipped, loudly.
fn landlock(test: &str) -> bool {
    match gadfly_runtime::os::landlock() {
        Ok(_) => true,
        Err(why) => {
            println!("SKIPPED {test}: there is no Landlock here ({why})");
            eprintln!("SKIPPED {test}: there is no Landlock here ({why})");
            false
        }
    }
}
