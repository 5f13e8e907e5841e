//! Carries out: drives the engine, journal first, then performs effects and feeds replies back.

pub mod os;
