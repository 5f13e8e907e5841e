//! headway
