//! forgetting
