//! Objects of JSON that are written where their fields are computed.

use std::fmt::Display;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

/// A field that is left out where there is no value.
pub(crate) struct Maybe<T>(pub(crate) Option<T>);

/// A list that is left out where it is empty.
pub(crate) fn nonempty<T: AsRef<[U]>, U>(list: T) -> Maybe<T> {
    Maybe(Some(list).filter(|list| !list.as_ref().is_empty()))
}

/// The fields of another object in place of a field.
pub(crate) struct Flattened<T>(pub(crate) T);

/// An object made by [`object!`].
pub(crate) trait JsonFields {
    /// Writes the fields.
    fn write_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error>;
}

/// The fields of an object, or the error in their place.
pub(crate) struct OrError<T, E>(pub(crate) Result<T, E>);

impl<T: JsonFields, E: Display> JsonFields for OrError<T, E> {
    fn write_fields<M: SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
        match &self.0 {
            Ok(fields) => fields.write_fields(map),
            Err(error) => map.serialize_entry("error", &error.to_string()),
        }
    }
}

impl<T: JsonFields, E: Display> Serialize for OrError<T, E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        self.write_fields(&mut map)?;
        map.end()
    }
}

/// A value of a field of [`object!`].
pub(crate) trait JsonField {
    /// Writes the field, if it is not left out.
    fn write<M: SerializeMap>(&self, key: &'static str, map: &mut M) -> Result<(), M::Error>;
}

impl<T: Serialize> JsonField for T {
    fn write<M: SerializeMap>(&self, key: &'static str, map: &mut M) -> Result<(), M::Error> {
        map.serialize_entry(key.strip_prefix("r#").unwrap_or(key), self)
    }
}

impl<T: Serialize> JsonField for Maybe<T> {
    fn write<M: SerializeMap>(&self, key: &'static str, map: &mut M) -> Result<(), M::Error> {
        self.0.as_ref().map_or(Ok(()), |value| value.write(key, map))
    }
}

impl<T: JsonFields> JsonField for Flattened<T> {
    fn write<M: SerializeMap>(&self, _: &'static str, map: &mut M) -> Result<(), M::Error> {
        self.0.write_fields(map)
    }
}

/// An object of JSON: a structure of that name, whose fields have the types of their values and are
/// written in their order. With `..base` at the end, fields without a value are those of `base`.
macro_rules! object {
    ($name:ident { $($key:ident $(: $value:expr)?,)* ..$base:ident $(,)? }) => {
        $crate::object::object!($name { $($key: $crate::object::object!(@ $base $key $($value)?)),* })
    };
    (@ $base:ident $key:ident) => { &$base.$key };
    (@ $base:ident $key:ident $value:expr) => { $value };
    ($name:ident { $($key:ident $(: $value:expr)?),* $(,)? }) => {{
        #[allow(non_camel_case_types, non_snake_case, reason = "types are named as the fields")]
        struct $name<$($key),*> {
            $($key: $key),*
        }
        #[allow(non_camel_case_types, reason = "types are named as the fields")]
        impl<$($key: $crate::object::JsonField),*> $crate::object::JsonFields for $name<$($key),*> {
            fn write_fields<M: serde::ser::SerializeMap>(&self, map: &mut M) -> Result<(), M::Error> {
                $($crate::object::JsonField::write(&self.$key, stringify!($key), map)?;)*
                Ok(())
            }
        }
        #[allow(non_camel_case_types, reason = "types are named as the fields")]
        impl<$($key: $crate::object::JsonField),*> serde::Serialize for $name<$($key),*> {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use serde::ser::SerializeMap;
                let mut map = serializer.serialize_map(None)?;
                $crate::object::JsonFields::write_fields(self, &mut map)?;
                map.end()
            }
        }
        $name { $($key $(: $value)?),* }
    }};
}
pub(crate) use object;
