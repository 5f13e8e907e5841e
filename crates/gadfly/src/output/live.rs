//! The lines that are drawn over: who is at work, for how long, and the last words. Only on a terminal.

use std::collections::BTreeMap;
use std::io::{self, Write as _};
use std::time::{Duration, Instant};

use gadfly_engine::EffectId;

use super::{safe, terminal};

const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
/// Of a stream only the end is kept.
const TAIL: usize = 400;

#[derive(Default)]
pub struct LiveLine {
    at_work: BTreeMap<EffectId, ActiveCall>,
    drawn: usize,
    frame: usize,
    /// Lines that stand below those at work.
    panel: Vec<String>,
}

struct ActiveCall {
    who: String,
    since: Instant,
    words: usize,
    tail: String,
}

impl LiveLine {
    /// `ago` is how long it has been at work already.
    pub fn begin(&mut self, effect: EffectId, who: String, ago: Duration) {
        let now = Instant::now();
        let since = now.checked_sub(ago).unwrap_or(now);
        let work = ActiveCall { who, since, words: 0, tail: String::new() };
        self.at_work.insert(effect, work);
    }

    pub fn end(&mut self, effect: &EffectId) {
        self.at_work.remove(effect);
    }

    /// Nobody is at work any more: the process that asked for it is gone.
    pub fn end_all(&mut self) {
        self.at_work.clear();
    }

    /// It is drawn from now on, below who is at work.
    pub fn show_panel(&mut self, lines: Vec<String>) {
        self.panel = lines;
    }

    /// How many lines a panel may have.
    pub fn room_for_panel(&self) -> usize {
        // One line stays for the cursor, one for the last permanent line.
        terminal::rows().saturating_sub(self.at_work.len() + 2)
    }

    pub fn streamed(&mut self, effect: &EffectId, text: &str) {
        let Some(work) = self.at_work.get_mut(effect) else { return };
        work.words += text.split_whitespace().count();
        work.tail.push_str(text);
        let cut = work.tail.len().saturating_sub(TAIL);
        work.tail.drain(..work.tail.ceil_char_boundary(cut));
    }

    /// Takes the lines away, so that a permanent one can be written.
    pub fn erase(&mut self) {
        if self.drawn > 0 {
            let _ = write!(io::stderr().lock(), "\r\x1b[{}A\x1b[J", self.drawn);
            self.drawn = 0;
        }
    }

    pub fn draw(&mut self) {
        self.erase();
        self.frame = (self.frame + 1) % SPINNER.len();
        let width = terminal::width().saturating_sub(1);
        // What scrolls out of the terminal cannot be taken away again.
        let most = terminal::rows().saturating_sub(1);
        let at_work = self.at_work.values().map(|work| work.line(SPINNER[self.frame], width));
        let lines: Vec<String> = at_work.chain(self.panel.iter().cloned()).take(most).collect();
        let mut stderr = anstream::stderr().lock();
        for line in &lines {
            let _ = writeln!(stderr, "{line}");
        }
        let _ = stderr.flush();
        self.drawn = lines.len();
    }
}

impl ActiveCall {
    fn line(&self, spinner: &str, width: usize) -> String {
        let seconds = self.since.elapsed().as_secs();
        let time = format!("{}:{:02}", seconds / 60, seconds % 60);
        let words = if self.words > 0 { format!(" · {} words", self.words) } else { String::new() };
        let head = fitting(format!("  {spinner} {} · {time}{words}", self.who).chars(), width);
        let room = width.saturating_sub(head.chars().map(cells).sum::<usize>() + 3);
        let tail = safe::line(&self.tail, usize::MAX);
        if room <= 10 || tail.is_empty() {
            return head;
        }
        let tail: String = fitting(tail.chars().rev(), room).chars().rev().collect();
        format!("{head} · {tail}")
    }
}

/// As many characters as have room.
pub(super) fn fitting(chars: impl Iterator<Item = char>, room: usize) -> String {
    let mut used = 0;
    chars
        .take_while(|c| {
            used += cells(*c);
            used <= room
        })
        .collect()
}

/// Columns a character takes: a line that wraps could not be drawn over.
pub(super) const fn cells(c: char) -> usize {
    match c {
        '\u{1100}'..='\u{115f}'
        | '\u{2e80}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}'
        | '\u{ffe0}'..='\u{ffe6}'
        | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}' => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_work(tail: &str) -> ActiveCall {
        ActiveCall { who: "worker writer".into(), since: Instant::now(), words: 2, tail: tail.into() }
    }

    #[test]
    fn a_line_never_wraps_and_cannot_act_on_the_terminal() {
        for width in [20, 40, 80] {
            for tail in ["\u{1b}[2J evil ", "漢字 "] {
                let line = at_work(&tail.repeat(50)).line("⠋", width);
                assert!(line.chars().map(cells).sum::<usize>() <= width, "{line}");
                assert!(!line.contains('\u{1b}'));
            }
        }
    }

    #[test]
    fn only_the_end_of_a_stream_is_kept() {
        let id: EffectId = "run#1".parse().unwrap();
        let mut live = LiveLine::default();
        live.begin(id.clone(), "worker".into(), Duration::ZERO);
        live.streamed(&id, &"ü".repeat(10_000));
        live.streamed(&id, " last words");
        let work = &live.at_work[&id];
        assert!(work.tail.len() <= TAIL && work.tail.ends_with("last words"));
    }
}
