//! The supervisor's side of the control pipe: carries what comes through it to the command's stdin and notices
//! its end.
//!
//! Never blocks on the command: a command that does not read leaves bytes in the pipe, and the end of the pipe
//! is seen behind them. At most one chunk is held beyond the brief.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::process::ChildStdin;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::Errno;

/// Waits this long, less than a second, for the pipe's end. Bytes that wait in it are for the command.
pub fn ended(control: &impl AsFd, wait: Duration) -> bool {
    let wait = Timespec { tv_sec: 0, tv_nsec: i64::from(wait.subsec_nanos()) };
    // Asked for nothing, the end is told all the same.
    let mut fds = [PollFd::new(control, PollFlags::empty())];
    poll(&mut fds, Some(&wait)).is_ok_and(|ready| ready > 0)
}

/// Between a launcher and a command's stdin.
pub struct Carrier {
    control: File,
    stdin: Option<ChildStdin>,
    frames: Frames,
    waiting: Vec<u8>,
    /// How many of `waiting` the command has taken.
    taken: usize,
}

impl Carrier {
    /// The brief goes first. Without `more` nothing else does, and the command's stdin ends with it.
    pub fn new(control: File, stdin: Option<ChildStdin>, brief: Vec<u8>, more: bool) -> io::Result<Self> {
        if let Some(stdin) = &stdin {
            // Only our end of the pipe: the command's end is another description.
            fcntl_setfl(stdin, fcntl_getfl(stdin)? | OFlags::NONBLOCK)?;
        }
        let frames = if more { Frames::default() } else { Frames { closed: true, ..Frames::default() } };
        Ok(Self { control, stdin, frames, waiting: brief, taken: 0 })
    }

    /// Returns when the pipe ends, whatever the command does.
    pub fn carry(mut self) {
        let mut chunk = vec![0_u8; 16 << 10];
        loop {
            self.write();
            let full = self.stdin.is_some() && !self.waiting.is_empty();
            let wanted = if full { PollFlags::empty() } else { PollFlags::IN };
            let Ok((control, stdin)) = self.poll(wanted, full) else { return };
            if stdin.intersects(PollFlags::ERR | PollFlags::NVAL) {
                // The command closed it, which is its right.
                self.stdin = None;
            }
            if !full && control.contains(PollFlags::IN) {
                match self.control.read(&mut chunk) {
                    Ok(0) => return,
                    Ok(read) => self.frames.take(chunk.get(..read).unwrap_or_default(), &mut self.waiting),
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(_) => return,
                }
            } else if control.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
                return;
            }
        }
    }

    fn poll(&self, control: PollFlags, full: bool) -> Result<(PollFlags, PollFlags), Errno> {
        let out = if full { PollFlags::OUT } else { PollFlags::empty() };
        let mut fds = vec![PollFd::new(&self.control, control)];
        fds.extend(self.stdin.as_ref().map(|stdin| PollFd::new(stdin, out)));
        match poll(&mut fds, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
        let said = |at: usize| fds.get(at).map_or(PollFlags::empty(), PollFd::revents);
        Ok((said(0), said(1)))
    }

    /// Gives the command as much as it takes now, and the end of its stdin after the last of it.
    fn write(&mut self) {
        while let (Some(stdin), Some(rest @ [_, ..])) = (&mut self.stdin, self.waiting.get(self.taken..)) {
            match stdin.write(rest) {
                Ok(taken @ 1..) => self.taken += taken,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(0) | Err(_) => self.stdin = None,
            }
        }
        // A brief may have been large: its memory goes with it.
        self.waiting = Vec::new();
        self.taken = 0;
        if self.frames.closed {
            self.stdin = None;
        }
    }
}

/// Takes frames apart, however they are cut on the way.
#[derive(Default)]
struct Frames {
    /// Of the length that is being read.
    length: [u8; 4],
    length_read: usize,
    /// Bytes of the frame that are still to come.
    left: usize,
    closed: bool,
}

impl Frames {
    fn take(&mut self, mut bytes: &[u8], into: &mut Vec<u8>) {
        while let Some((&first, rest)) = bytes.split_first() {
            if self.closed {
                return;
            }
            if self.left > 0 {
                let (now, later) = bytes.split_at(self.left.min(bytes.len()));
                into.extend_from_slice(now);
                self.left -= now.len();
                bytes = later;
                continue;
            }
            if let Some(slot) = self.length.get_mut(self.length_read) {
                *slot = first;
            }
            self.length_read += 1;
            bytes = rest;
            if self.length_read == self.length.len() {
                self.length_read = 0;
                self.left = usize::try_from(u32::from_le_bytes(self.length)).unwrap_or(usize::MAX);
                self.closed = self.left == 0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(text: &str) -> Vec<u8> {
        let mut frame = u32::try_from(text.len()).unwrap().to_le_bytes().to_vec();
        frame.extend(text.bytes());
        frame
    }

    #[test]
    fn frames_are_found_however_they_are_cut() {
        let bytes = [frame("one"), frame("two and more"), frame(""), frame("after the end")].concat();
        for size in 1..=bytes.len() {
            let (mut frames, mut out) = (Frames::default(), Vec::new());
            for piece in bytes.chunks(size) {
                frames.take(piece, &mut out);
            }
            assert_eq!(String::from_utf8_lossy(&out), "onetwo and more", "in pieces of {size}");
            assert!(frames.closed);
        }
    }
}
