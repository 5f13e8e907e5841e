//! `audit`: a worker changes files, the engine verifies, a critic judges every success criterion, and
//! findings are routed by their category.

pub mod settings;
pub mod checks;
pub mod citations;
pub mod economy;
pub mod report;
pub mod routes;
