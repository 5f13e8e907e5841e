//! Code fences: which of them holds the reply, and which only shows something.

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
