//! The machine that drives a run's tree of nodes. (Under construction: the types other crates need.)

use serde::{Deserialize, Serialize};

use crate::effect::Effect;
use crate::event::Event;
use crate::outcome::Outcome;
use crate::text::Text;

/// The engine's answer to one input.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Step {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<Event>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
    /// Texts the engine wrote in this step. Stored beside the record, by digest.
    #[serde(skip)]
    pub texts: Vec<Text>,
}

pub struct Engine;
