//! What templates get: Rust values as values of the template language.

use std::collections::BTreeMap;
use std::sync::Arc;

use minijinja::Value;
use minijinja::value::{Enumerator, Object};

/// What a template can get.
pub trait ToValue {
    /// The value, as templates see it.
    fn to_value(&self) -> Value;
}

/// Makes a struct an object with its fields, in their order, each under its own name.
macro_rules! template_object {
    ($type:ident { $($field:ident),* $(,)? }) => {
        impl $crate::template::ToValue for $type {
            fn to_value(&self) -> minijinja::Value {
                // A field that is not in the list does not compile.
                let $type { $($field),* } = self;
                $crate::template::object(vec![
                    $((stringify!($field), $crate::template::ToValue::to_value($field))),*
                ])
            }
        }
    };
}
pub(crate) use template_object;

/// An object with these fields.
pub(crate) fn object(fields: Vec<(&'static str, Value)>) -> Value {
    Value::from_object(Fields(fields))
}

/// The fields of a struct. They are few, so that looking through them is the fastest way to one.
#[derive(Debug)]
struct Fields(Vec<(&'static str, Value)>);

impl Object for Fields {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        self.0.iter().find(|(name, _)| *name == key).map(|(_, value)| value.clone())
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Values(self.0.iter().map(|(name, _)| Value::from(*name)).collect())
    }

    fn enumerator_len(self: &Arc<Self>) -> Option<usize> {
        Some(self.0.len())
    }
}

impl<T: ToValue> ToValue for Vec<T> {
    fn to_value(&self) -> Value {
        self.iter().map(T::to_value).collect()
    }
}

impl<T: ToValue> ToValue for Option<T> {
    fn to_value(&self) -> Value {
        self.as_ref().map_or_else(|| Value::from(()), T::to_value)
    }
}

impl ToValue for BTreeMap<String, String> {
    fn to_value(&self) -> Value {
        Value::from(self.clone())
    }
}

impl ToValue for String {
    fn to_value(&self) -> Value {
        Value::from(self)
    }
}

impl ToValue for &'static str {
    fn to_value(&self) -> Value {
        Value::from(*self)
    }
}

impl ToValue for bool {
    fn to_value(&self) -> Value {
        Value::from(*self)
    }
}

impl ToValue for u8 {
    fn to_value(&self) -> Value {
        Value::from(*self)
    }
}

impl ToValue for usize {
    fn to_value(&self) -> Value {
        Value::from(*self)
    }
}

#[cfg(test)]
mod tests {
    use minijinja::Environment;

    use super::ToValue;

    struct Outer {
        name: String,
        inner: Vec<Inner>,
    }

    struct Inner {
        on: bool,
        digits: Option<u8>,
    }

    template_object!(Outer { name, inner });
    template_object!(Inner { on, digits });

    #[test]
    fn templates_see_the_fields_in_their_order() -> Result<(), minijinja::Error> {
        let inner = vec![Inner { on: true, digits: Some(3) }, Inner { on: false, digits: None }];
        let value = Outer { name: "a".to_owned(), inner }.to_value();
        let environment = Environment::new();
        for (template, text) in [
            ("{{ name }}{% for one in inner %} {{ one.on }} {{ one.digits }}{% endfor %}", "a True 3 False None"),
            ("{{ inner[0] }} {{ inner[0] | items }}", "{'on': True, 'digits': 3} [('on', True), ('digits', 3)]"),
            (
                "{{ inner | length }} {{ inner[1] | length }} {{ 'on' in inner[1] }} {{ inner[1].off is defined }}",
                "2 2 True False",
            ),
        ] {
            assert_eq!(environment.render_str(template, &value)?, text);
        }
        Ok(())
    }
}
