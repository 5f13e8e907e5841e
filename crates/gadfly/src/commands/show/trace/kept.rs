//! A list that keeps its beginning and its end, and counts what lay between.

use std::collections::VecDeque;

pub struct FirstAndLast<T> {
    half: usize,
    first: Vec<T>,
    last: VecDeque<T>,
    omitted: usize,
}

impl<T> FirstAndLast<T> {
    pub const fn new(half: usize) -> Self {
        Self { half, first: Vec::new(), last: VecDeque::new(), omitted: 0 }
    }

    pub fn push(&mut self, one: T) {
        if self.first.len() < self.half {
            self.first.push(one);
            return;
        }
        self.last.push_back(one);
        if self.last.len() > self.half {
            self.last.pop_front();
            self.omitted += 1;
        }
    }

    pub fn extend(&mut self, all: impl IntoIterator<Item = T>) {
        all.into_iter().for_each(|one| self.push(one));
    }

    pub fn first(&self) -> &[T] {
        &self.first
    }

    pub fn last(&self) -> impl Iterator<Item = &T> {
        self.last.iter()
    }

    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.first.iter().chain(&self.last)
    }

    pub const fn omitted(&self) -> usize {
        self.omitted
    }
}
