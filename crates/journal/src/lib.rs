//! Remembers: the append-only record of every run in SQLite, and the projections folded from it.
