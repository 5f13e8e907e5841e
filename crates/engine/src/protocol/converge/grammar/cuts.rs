//! What of a reply is not read: reasoning, and text in code fences that is only shown.

use std::borrow::Cow;

use super::lines::has_header;
use crate::brief::REASONING_TAGS;

/// Code fences. One that is open where the header stands encloses the whole reply; the others enclose
/// text that is only shown.
#[derive(Default)]
pub(super) struct Fence {
    /// Mark and length of the fence that is open.
    inner: Option<(char, usize)>,
    /// The same of the fence around the whole reply.
    wrapper: Option<(char, usize)>,
}

impl Fence {
    pub(super) const fn is_inner(&self) -> bool {
        self.inner.is_some()
    }

    /// The header stands here: an open fence is the reply's own.
    pub(super) fn wrap(&mut self) -> bool {
        self.wrapper = self.inner.take();
        self.wrapper.is_some()
    }

    /// Is this line a fence, and no text?
    pub(super) fn takes(&mut self, line: &str, begun: bool) -> bool {
        let body = line.trim();
        let Some(mark) = body.chars().next().filter(|c| matches!(c, '`' | '~')) else { return false };
        let length = body.chars().take_while(|c| *c == mark).count();
        let info = &body[length..];
        if length < 3 || info.contains(mark) {
            return false;
        }
        let closes = |fence: Option<(char, usize)>| {
            info.is_empty() && fence.is_some_and(|(open, least)| open == mark && length >= least)
        };
        match self.inner {
            Some(_) if closes(self.inner) => self.inner = None,
            Some(_) => return false,
            None if begun && closes(self.wrapper) => self.wrapper = None,
            None => self.inner = Some((mark, length)),
        }
        true
    }
}

/// Cuts `<think>…</think>` blocks that begin a line, and everything before a lone closing tag if no
/// header stands above it. An opening tag that is never closed hides the rest, unless a header stands
/// above it: then the rest is read, so that nothing said there is overlooked.
pub(super) fn without_reasoning(reply: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(reply);
    for tag in REASONING_TAGS {
        let (open, close) = (format!("<{tag}>"), format!("</{tag}>"));
        if text.contains(&open) {
            text = Cow::Owned(cut_blocks(&text, &open, &close));
        }
        let lone = text.split_once(&close).filter(|(above, _)| !above.contains(&open) && !has_header(above));
        if let Some(after) = lone.map(|(_, after)| after.to_owned()) {
            text = Cow::Owned(after);
        }
    }
    text
}

fn cut_blocks(text: &str, open: &str, close: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut line_is_blank = true;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(open) {
        kept.push_str(before);
        line_is_blank = match before.rsplit_once('\n') {
            Some((_, line)) => line.trim().is_empty(),
            None => line_is_blank && before.trim().is_empty(),
        };
        if !line_is_blank {
            kept.push_str(open);
            rest = after;
            continue;
        }
        match after.split_once(close) {
            Some((_, behind)) => rest = behind,
            None if has_header(&kept) => {
                kept.push_str(after);
                return kept;
            }
            None => return kept,
        }
    }
    kept.push_str(rest);
    kept
}
