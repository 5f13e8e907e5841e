//! meddling
