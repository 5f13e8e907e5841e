//! The rule books. stub
