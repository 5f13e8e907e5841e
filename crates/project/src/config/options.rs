//! Options as typed fields: a row of the table and the field it fills stand in one line.

use std::path::PathBuf;
use std::time::Duration;

use gadfly_engine::Severity;
use gadfly_engine::budget::Limits;
use gadfly_engine::deduction::Level;
use gadfly_engine::protocol::audit::economy::Economy;
use gadfly_engine::protocol::goal::Criterion;
use gadfly_engine::tool::Risk;

use super::budget;
use super::criteria::{CriteriaSetting, CriticSetting};
use super::keys::{Fixed, Key};
use super::loops::RubricSetting;
use super::protocols::LoopProtocol;
use super::value::{ConfigTable, ConfigValue};
use crate::place::Sourced;

/// Declares a group of options: the rows of the table, and the struct that a table is read into.
#[macro_export]
macro_rules! options {
    ($(#[$meta:meta])* $settings:ident, $rows:ident in $section:ident {
        $($field:ident: $type:ty = $row:expr;)*
    }) => {
        pub const $rows: &[$crate::config::keys::Key] =
            &[$($row.of($crate::config::keys::ConfigSection::$section, stringify!($field))),*];

        $(#[$meta])*
        #[derive(Clone, PartialEq, Debug)]
        pub struct $settings {
            $(pub $field: $type,)*
        }

        impl $settings {
            pub fn read(table: &$crate::config::ConfigTable) -> Self {
                use $crate::config::Setting;
                Self {
                    $($field: {
                        const ROW: $crate::config::keys::Key =
                            $row.of($crate::config::keys::ConfigSection::$section, stringify!($field));
                        // What always has a value has a default.
                        const { assert!(!<$type as Setting>::NEEDS_DEFAULT || ROW.default.is_some()) };
                        <$type as Setting>::read(table, &ROW)
                    },)*
                }
            }
        }
    };
}

/// A field: how it is read from the merged table.
pub trait Setting: Sized {
    const NEEDS_DEFAULT: bool = false;
    fn read(table: &ConfigTable, key: &Key) -> Self;
}

/// A single value.
pub trait Single: Sized {
    fn of(value: &ConfigValue) -> Option<Self>;

    fn built_in(_: Fixed) -> Option<Self> {
        None
    }
}

impl<T: Single> Setting for Option<Sourced<T>> {
    fn read(table: &ConfigTable, key: &Key) -> Self {
        let found = table.get(key.name)?;
        T::of(&found.value).map(|value| found.with(value))
    }
}

impl<T: Single + Default> Setting for Sourced<T> {
    const NEEDS_DEFAULT: bool = true;

    fn read(table: &ConfigTable, key: &Key) -> Self {
        let usual = || key.default.and_then(T::built_in).unwrap_or_default();
        Option::<Self>::read(table, key).unwrap_or_else(|| Self::built_in(usual()))
    }
}

impl Setting for Vec<Sourced<String>> {
    fn read(table: &ConfigTable, key: &Key) -> Self {
        table.texts(key.name).map(|list| list.value).unwrap_or_default()
    }
}

impl Setting for Vec<Sourced<PathBuf>> {
    fn read(table: &ConfigTable, key: &Key) -> Self {
        table.paths(key.name).map(|list| list.value).unwrap_or_default()
    }
}

impl Setting for Vec<Sourced<CriticSetting>> {
    fn read(table: &ConfigTable, key: &Key) -> Self {
        table.critics(key.name).map(|list| list.value).unwrap_or_default()
    }
}

impl Setting for Limits {
    fn read(table: &ConfigTable, key: &Key) -> Self {
        table.table(key.name).map(budget::limits).unwrap_or_default()
    }
}

macro_rules! singles {
    ($($type:ty: $variant:ident $(= $fixed:ident)?;)*) => {$(
        impl Single for $type {
            fn of(value: &ConfigValue) -> Option<Self> {
                match value {
                    ConfigValue::$variant(value) => Some(value.clone()),
                    _ => None,
                }
            }

            $(fn built_in(fixed: Fixed) -> Option<Self> {
                match fixed {
                    Fixed::$fixed(value) => Some(value.into()),
                    _ => None,
                }
            })?
        }
    )*};
}

singles! {
    String: Text = Text;
    PathBuf: Path;
    u64: Whole = Whole;
    bool: Flag = Flag;
    Duration: Time = Time;
    Criterion: Until;
    CriteriaSetting: Criteria;
}

/// A word that the parser has let through.
macro_rules! words {
    ($($type:ty: $parse:expr;)*) => {$(
        impl Single for $type {
            fn of(value: &ConfigValue) -> Option<Self> {
                match value {
                    ConfigValue::Text(word) => $parse(word),
                    _ => None,
                }
            }

            fn built_in(fixed: Fixed) -> Option<Self> {
                match fixed {
                    Fixed::Text(word) => $parse(word),
                    _ => None,
                }
            }
        }
    )*};
}

words! {
    Severity: Severity::parse;
    Level: Level::parse;
    Economy: Economy::parse;
    Risk: Risk::of;
}

impl Single for LoopProtocol {
    fn of(value: &ConfigValue) -> Option<Self> {
        match value {
            ConfigValue::Protocol(protocol) => Some(*protocol),
            _ => None,
        }
    }

    fn built_in(fixed: Fixed) -> Option<Self> {
        match fixed {
            Fixed::Text(name) => Self::named(name),
            _ => None,
        }
    }
}

impl Single for RubricSetting {
    fn of(value: &ConfigValue) -> Option<Self> {
        match value {
            ConfigValue::Texts(items) => Some(Self::Items(items.clone())),
            ConfigValue::Path(path) => Some(Self::File(path.clone())),
            _ => None,
        }
    }
}
