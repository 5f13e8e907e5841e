//! Waiting for a provider's quota, for a person who wants the run to go on by itself. The run is parked in its
//! journal meanwhile: whoever ends this process loses nothing.

use std::time::{Duration, Instant};

use gadfly_engine::{Digest, Outcome, Waiting};
use gadfly_runtime::clock::wall_ms;
use gadfly_runtime::service::Raise;

use crate::cli::Patience;
use crate::exit::{self, Code};
use crate::interrupts::Interrupts;
use crate::output::table::moment;
use crate::output::{next_command, print};
use crate::session::Session;

/// The clock on the wall may be set meanwhile: it is looked at this often.
const LOOK: Duration = Duration::from_secs(20);
/// All runs of a machine wait for the same moment; they come back spread over this much.
const SPREAD_MS: u64 = 2_000;

/// Goes on with a run that was left with this code, as often as it waits for quota and there is patience.
pub async fn wait(
    session: &Session<'_>,
    patience: Patience,
    interrupts: &mut Interrupts,
    left: Code,
) -> Code {
    let mut code = left;
    let end = Instant::now() + Duration::from_secs(patience.wait_at_most.saturating_mul(60));
    while patience.wait && code == exit::WAITING {
        let run = &session.run;
        let Some(Outcome::Waiting(Waiting::Quota { until_ms, .. })) = left_with(session) else { return code };
        let Some(until) = until_ms else {
            print::err("the provider names no time, so nothing is waited for");
            return code;
        };
        let until = until.saturating_add(spread(run.as_str()));
        if Duration::from_millis(until.saturating_sub(wall_ms()))
            > end.saturating_duration_since(Instant::now())
        {
            print::err(&format!(
                "that is further away than --wait-at-most {} minutes; to go on then: {}",
                patience.wait_at_most,
                next_command::command(&format!("resume {run}"))
            ));
            return code;
        }
        print::err(&format!("\nwaiting until {}; Ctrl-C leaves the run as it is", moment(until)));
        tokio::select! {
            biased;
            () = interrupts.next() => {
                print::err(&format!("not waited for; to go on: {}", next_command::command(&format!("resume {run} --wait"))));
                return exit::INTERRUPTED;
            }
            () = sleep(until, end) => {}
        }
        code =
            session.drive(interrupts, |driving| session.gadfly.resume(run, Raise::default(), driving)).await;
    }
    code
}

fn left_with(session: &Session<'_>) -> Option<Outcome> {
    session.gadfly.journal().state(&session.run).ok()?.outcome
}

/// Until this wall time, however the clock is set meanwhile, and never longer than there is patience.
async fn sleep(until_ms: u64, end: Instant) {
    loop {
        let left = Duration::from_millis(until_ms.saturating_sub(wall_ms()));
        let left = left.min(end.saturating_duration_since(Instant::now()));
        if left.is_zero() {
            return;
        }
        tokio::time::sleep(left.min(LOOK)).await;
    }
}

fn spread(run: &str) -> u64 {
    let [byte, ..] = *Digest::of(run.as_bytes()).as_bytes();
    u64::from(byte) * SPREAD_MS / 255
}
