//! Result lines on their way to standard output, on a thread of their own: whoever reads slowly is waited
//! for, whoever stops reading misses lines, and neither stops what makes them.

use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use super::print;

const QUEUE: usize = 1024;
const PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(20);

pub struct Feed {
    queue: Option<SyncSender<String>>,
    patience: Duration,
    /// The reader was waited for in vain; it is not waited for again before it takes something.
    stuck: bool,
    missed: u64,
}

impl Feed {
    /// The feed, and what is told once everything given to it was taken.
    pub fn new() -> (Self, oneshot::Receiver<()>) {
        Self::to(PATIENCE, |line| {
            // Whoever went away does not stop the rest.
            let _ = print::out(line);
        })
    }

    fn to(patience: Duration, write: impl Fn(&str) + Send + 'static) -> (Self, oneshot::Receiver<()>) {
        let (queue, lines) = sync_channel::<String>(QUEUE);
        let (tell, told) = oneshot::channel();
        let writing = move || {
            for line in lines {
                write(&line);
            }
            let _ = tell.send(());
        };
        let started = thread::Builder::new().name("gadfly-feed".into()).spawn(writing).is_ok();
        (Self { queue: started.then_some(queue), patience, stuck: false, missed: 0 }, told)
    }

    /// Waits only for a reader that is merely slow.
    pub fn line(&mut self, line: &str) {
        let Some(queue) = &self.queue else { return };
        let mut line = line.to_owned();
        let until = Instant::now() + self.patience;
        loop {
            match queue.try_send(line) {
                Ok(()) => {
                    self.stuck = false;
                    return;
                }
                Err(TrySendError::Full(back)) if !self.stuck && Instant::now() < until => line = back,
                Err(_) => break,
            }
            thread::sleep(LOOK);
        }
        self.stuck = true;
        self.missed += 1;
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        if self.missed > 0 {
            print::err(&format!(
                "{} lines were not taken from standard output; they are in the results file",
                self.missed
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::*;

    #[test]
    fn a_reader_that_never_reads_does_not_stop_the_work_and_a_reading_one_gets_every_line() {
        let (go, wait) = channel::<()>();
        let (mut stuck, told) = Feed::to(Duration::ZERO, move |_| {
            let _ = wait.recv();
        });
        for n in 0..QUEUE * 2 {
            stuck.line(&n.to_string());
        }
        assert!(stuck.missed > 0, "with patience without end this line is never reached");
        drop((stuck, go));
        told.blocking_recv().unwrap();

        let (tell, taken) = channel();
        let (mut feed, told) = Feed::to(PATIENCE, move |line| tell.send(line.to_owned()).unwrap());
        (0..5000).for_each(|n| feed.line(&n.to_string()));
        drop(feed);
        told.blocking_recv().unwrap();
        assert_eq!(taken.iter().count(), 5000);
    }
}
