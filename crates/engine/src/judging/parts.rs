//! Splits an artifact over as many calls as a critic's window asks for. What does not fit is named.

use crate::machine::Cx;
use crate::review::Unseen;
use crate::slice::{Slice, SliceStyle};
use crate::text::Texts;

use super::{ColdCase, Piece, Seat};

/// Text makes at most one token per two bytes with the tokenisers in use.
const BYTES_PER_TOKEN: u64 = 2;
/// What the marks and the name around a piece take.
const PIECE_BYTES: usize = 200;

type Parts = (Vec<Vec<Piece>>, Vec<Unseen>);

/// The parts for the critic of this seat: as many as the smaller window of it and its fallback needs.
pub(super) fn for_critic(case: &ColdCase<'_>, seat: &Seat, cx: &Cx<'_>) -> Parts {
    let agents = [Some(seat.agent.as_str()), seat.fallback.as_deref()].into_iter().flatten();
    let room = agents.filter_map(|a| cx.window(a)).map(|(window, answer)| {
        let tokens = window.saturating_sub(answer.min(window / 2));
        usize::try_from(tokens.saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX)
    });
    let Some(room) = room.min() else {
        return (vec![case.subject.pieces.clone()], Vec::new());
    };
    let room = room.saturating_sub(case.overhead(cx.texts()));
    split(&case.subject.pieces, cx.texts(), room, case.max_parts.max(1) as usize)
}

/// Fills parts in order. An entry that fits whole is not cut.
fn split(pieces: &[Piece], texts: &Texts, room: usize, most: usize) -> Parts {
    let mut filling = Filling { parts: vec![Vec::new()], left: room, room, unseen: Vec::new() };
    for piece in pieces {
        let text = texts.get(&piece.slice.text);
        let size = piece.slice.size(text) + PIECE_BYTES;
        if size <= filling.left {
            filling.add(piece.clone(), size);
        } else if size <= room {
            filling.next();
            filling.add(piece.clone(), size);
        } else {
            filling.cut(piece, text);
        }
    }
    let Filling { mut parts, mut unseen, .. } = filling;
    parts.retain(|p| !p.is_empty());
    // An artifact without a line is still shown.
    if pieces.is_empty() && unseen.is_empty() {
        return (vec![Vec::new()], unseen);
    }
    if parts.len() > most {
        let needed = parts.len();
        let because = format!(
            "the artifact needs {needed} parts and {most} are allowed; start it with --max-parts {needed}"
        );
        for piece in parts.drain(most..).flatten() {
            unseen.push(Unseen { what: named(&piece), because: because.clone() });
        }
    }
    (parts, unseen)
}

struct Filling {
    parts: Vec<Vec<Piece>>,
    left: usize,
    room: usize,
    unseen: Vec<Unseen>,
}

impl Filling {
    fn add(&mut self, piece: Piece, size: usize) {
        self.left = self.left.saturating_sub(size);
        if let Some(part) = self.parts.last_mut() {
            part.push(piece);
        }
    }

    fn next(&mut self) {
        if self.parts.last().is_some_and(|p| !p.is_empty()) {
            self.parts.push(Vec::new());
        }
        self.left = self.room;
    }

    /// Cuts an entry at line ends.
    fn cut(&mut self, piece: &Piece, text: &str) {
        self.next();
        let slice = piece.slice;
        let number = if slice.style == SliceStyle::Plain { 0 } else { 8 };
        let lines = text.split_inclusive('\n').skip(slice.from.saturating_sub(1) as usize);
        let (mut from, mut size) = (slice.from, PIECE_BYTES);
        for (at, line) in (slice.from..=slice.to).zip(lines) {
            let bytes = line.len() + number;
            if bytes + PIECE_BYTES > self.room {
                self.close(piece, from, at.saturating_sub(1), size);
                let what = format!("{}, line {at}", piece.path);
                let because = "this line alone is longer than the critic's window".to_owned();
                self.unseen.push(Unseen { what, because });
                (from, size) = (at.saturating_add(1), PIECE_BYTES);
                continue;
            }
            if size + bytes > self.left {
                self.close(piece, from, at.saturating_sub(1), size);
                self.next();
                (from, size) = (at, PIECE_BYTES);
            }
            size += bytes;
        }
        self.close(piece, from, slice.to, size);
    }

    fn close(&mut self, piece: &Piece, from: u32, to: u32, size: usize) {
        if to >= from {
            let slice = Slice { from, to, ..piece.slice };
            self.add(Piece { path: piece.path.clone(), slice }, size);
        }
    }
}

fn named(piece: &Piece) -> String {
    let Slice { from, to, .. } = piece.slice;
    let word = if piece.slice.style == SliceStyle::Diff { "lines of the diff" } else { "lines" };
    format!("{}, {word} {from}–{to}", piece.path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::Digest;
    use crate::text::Text;

    fn piece(texts: &mut Texts, path: &str, body: &str) -> Piece {
        let text = Text::new(body.to_owned());
        texts.insert(&text);
        let to = u32::try_from(body.lines().count()).unwrap();
        Piece {
            path: path.into(),
            slice: Slice { text: text.digest(), from: 1, to, style: SliceStyle::Plain },
        }
    }

    /// Every line of every piece is in exactly one part or named as unseen.
    fn covered(pieces: &[Piece], (parts, unseen): &Parts) -> bool {
        let mut seen: Vec<(Digest, u32)> = Vec::new();
        for p in parts.iter().flatten() {
            seen.extend((p.slice.from..=p.slice.to).map(|l| (p.slice.text, l)));
        }
        let count = seen.len();
        seen.sort();
        seen.dedup();
        let all: u32 = pieces.iter().map(|p| p.slice.lines()).sum();
        count == seen.len() && (seen.len() == all as usize || !unseen.is_empty())
    }

    #[test]
    fn every_line_is_in_one_part_or_named_as_unseen() {
        let mut texts = Texts::default();
        let bodies: Vec<String> = (0..30).map(|n| format!("line {n}\n").repeat(1 + n * 7 % 40)).collect();
        let pieces: Vec<Piece> =
            bodies.iter().enumerate().map(|(n, b)| piece(&mut texts, &format!("f{n}"), b)).collect();
        for room in [0, 205, 250, 400, 1000, 100_000] {
            for most in [1, 3, 1000] {
                let parts = split(&pieces, &texts, room, most);
                assert!(covered(&pieces, &parts), "room {room} most {most}: {parts:?}");
                assert!(parts.0.len() <= most);
                for part in &parts.0 {
                    let size: usize = part.iter().map(|p| p.slice.size(texts.get(&p.slice.text))).sum();
                    assert!(size <= room, "a part of {size} bytes in a room of {room}");
                }
            }
        }
        assert_eq!(split(&pieces, &texts, 100_000, 1000).0.len(), 1, "what fits is not cut");
    }

    #[test]
    fn a_line_longer_than_the_window_is_unseen_and_its_neighbours_are_not() {
        let mut texts = Texts::default();
        let piece = piece(&mut texts, "x", &format!("a\n{}\nb\n", "y".repeat(5000)));
        let (parts, unseen) = split(&[piece], &texts, 1000, 10);
        assert_eq!(unseen.len(), 1);
        assert!(unseen[0].what.contains("line 2"));
        let lines: u32 = parts.iter().flatten().map(|p| p.slice.lines()).sum();
        assert_eq!(lines, 2);
    }
}
