//! What this machine offers: facts for `doctor` and `init`. It reports; it changes nothing.
