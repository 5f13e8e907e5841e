//! The real binary, as a user meets it: exit code, standard output, standard error.

mod acting;
mod looking;
mod outcomes;
mod people;
mod reference;
mod refusals;
mod stopping;
mod support;
