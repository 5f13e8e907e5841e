//! Answers typed at the terminal while a run waits: one line, or lines until one with a single dot. The thread that
//! reads is never waited for, so that a process can end while nobody types.

use std::io::{BufRead as _, Read as _, stdin};

use tokio::sync::mpsc;

/// More than this is not typed.
const LONGEST_LINE: u64 = 1 << 20;
const LONGEST_ANSWER: usize = 4 << 20;

/// Where an answer ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AnswerEnd {
    Line,
    /// With a line that has only a dot.
    Dot,
}

pub struct Typing {
    end: AnswerEnd,
    lines: Option<mpsc::Receiver<String>>,
    so_far: String,
}

impl Typing {
    pub const fn new() -> Self {
        Self { end: AnswerEnd::Dot, lines: None, so_far: String::new() }
    }

    /// What was read as a line is the beginning of an answer that goes on.
    pub fn goes_on(&mut self, line: &str) {
        self.end = AnswerEnd::Dot;
        line.clone_into(&mut self.so_far);
    }

    /// Listens for the next answer. Who reads is started once.
    pub fn listen(&mut self, end: AnswerEnd) {
        self.end = end;
        self.so_far.clear();
        if self.lines.is_some() {
            return;
        }
        let (tell, told) = mpsc::channel(16);
        self.lines = Some(told);
        let _ = std::thread::Builder::new().name("gadfly-typing".into()).spawn(move || {
            let mut line = String::new();
            while matches!(stdin().lock().take(LONGEST_LINE).read_line(&mut line), Ok(n) if n > 0) {
                if tell.blocking_send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
    }

    /// The next whole answer. Cancel-safe: what was typed so far is kept.
    pub async fn next(&mut self) -> String {
        loop {
            let Some(lines) = &mut self.lines else { return std::future::pending().await };
            // The end of the input ends an answer that was begun.
            let line = match lines.recv().await {
                Some(line) if self.end == AnswerEnd::Line => return line,
                Some(line) => line,
                None if self.end == AnswerEnd::Line => {
                    // Nothing more is typed: no reason, but no word either.
                    self.lines = None;
                    return String::new();
                }
                None if !self.so_far.is_empty() => ".".to_owned(),
                None => return std::future::pending().await,
            };
            if let Some(answer) = take(&mut self.so_far, &line) {
                return answer;
            }
        }
    }
}

fn take(so_far: &mut String, line: &str) -> Option<String> {
    if line.trim_end() == "." {
        return Some(std::mem::take(so_far));
    }
    if so_far.len() + line.len() <= LONGEST_ANSWER {
        so_far.push_str(line);
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_ends_with_a_dot_on_its_own_line() {
        let mut so_far = String::new();
        assert_eq!(take(&mut so_far, "[STATUS: REJECTED]\n"), None);
        assert_eq!(take(&mut so_far, "- a dot. inside .\n"), None);
        assert_eq!(take(&mut so_far, ".\n").unwrap(), "[STATUS: REJECTED]\n- a dot. inside .\n");
        assert_eq!(take(&mut so_far, ".\n").unwrap(), "", "the next answer begins anew");
    }
}
