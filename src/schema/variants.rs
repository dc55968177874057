//! Decoding of the format's "this or that" values.
//!
//! serde's `untagged` would lose the place and the reason of a fault inside; here the JSON type decides first.

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};

use super::format::{EventType, MaxAttempts, NameOrColumn, OneOrMany};

/// Implements `Deserialize` for a type that is a simple value or an object, by one visitor.
macro_rules! simple_or_object {
    ($type:ty, $expecting:literal, { $($simple:item)* }, $object:expr) => {
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Variants;
                impl<'de> Visitor<'de> for Variants {
                    type Value = $type;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str($expecting)
                    }

                    $($simple)*

                    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                        Deserialize::deserialize(MapAccessDeserializer::new(map)).map($object)
                    }
                }
                deserializer.deserialize_any(Variants)
            }
        }
    };
}

simple_or_object!(
    MaxAttempts,
    "a number of attempts from 1, or an object with `column` and `default`",
    {
        fn visit_u64<E: de::Error>(self, number: u64) -> Result<Self::Value, E> {
            match u32::try_from(number) {
                Ok(number) if number > 0 => Ok(MaxAttempts::Number(number)),
                _ => Err(E::invalid_value(de::Unexpected::Unsigned(number), &self)),
            }
        }
    },
    MaxAttempts::Column
);

simple_or_object!(
    EventType,
    "an event type's name, or an object with `name`",
    {
        fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
            Ok(EventType::Name(name.to_owned()))
        }
    },
    EventType::Described
);

simple_or_object!(
    NameOrColumn,
    "a name, or an object with `column`",
    {
        fn visit_str<E: de::Error>(self, name: &str) -> Result<Self::Value, E> {
            Ok(NameOrColumn::Name(name.to_owned()))
        }
    },
    NameOrColumn::Column
);

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Texts;
        impl<'de> Visitor<'de> for Texts {
            type Value = OneOrMany;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a text or a list of texts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Self::Value, E> {
                Ok(OneOrMany(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(OneOrMany(texts))
            }
        }
        deserializer.deserialize_any(Texts)
    }
}
