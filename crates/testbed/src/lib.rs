//! A local model server that speaks the real wire formats, with their faults. For tests and benchmarks only.
