//! Reads the user's project: configuration as typed values with spans. Files are read, never written.
