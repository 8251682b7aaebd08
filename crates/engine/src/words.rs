//! Attributes that have one of a few texts: the one list of them, which inference checks and
//! evaluation reads.

use gradus_core::Result;
use gradus_core::graph::{Content, Standard};

use crate::attributes::Attributes;
use crate::operators::errors;

/// An attribute that is one of a few texts, or a list of such.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The name of the attribute.
    pub attribute: &'static str,
    /// Its texts, the default first.
    pub texts: &'static [&'static str],
    any_case: bool,
    list: bool,
}

impl Words {
    /// An attribute of that name, and its texts, the default first.
    pub const fn new(attribute: &'static str, texts: &'static [&'static str]) -> Words {
        Words { attribute, texts, any_case: false, list: false }
    }

    /// The attribute, in upper or lower case.
    pub const fn in_any_case(self) -> Words {
        Words { any_case: true, ..self }
    }

    /// A list of texts, which OpenVINO separates by commas.
    pub const fn listed(self) -> Words {
        Words { list: true, ..self }
    }

    /// The text that is given, or the default.
    ///
    /// # Errors
    /// [`gradus_core::Kind::Value`] if it is no text of the list, [`gradus_core::Kind::Type`] if it
    /// is no text.
    pub fn of(&self, attributes: &Attributes<'_>) -> Result<&'static str> {
        self.of_or(attributes, self.texts[0])
    }

    /// The text that is given, or another default.
    ///
    /// # Errors
    /// As [`Words::of`].
    pub fn of_or(&self, attributes: &Attributes<'_>, default: &'static str) -> Result<&'static str> {
        let text = attributes.text(self.attribute)?;
        text.map_or(Ok(default), |text| self.read(text, self.in_any_case_of(attributes)))
    }

    /// Checks the text, or each of a list.
    ///
    /// # Errors
    /// As [`Words::of`].
    pub fn check(&self, attributes: &Attributes<'_>) -> Result<()> {
        let any_case = self.in_any_case_of(attributes);
        let read = |text: &str| self.read(text, any_case).map(drop);
        match attributes.get(self.attribute) {
            Some(Content::Strings(all)) => {
                all.distinct().iter().filter_map(|text| std::str::from_utf8(text).ok()).try_for_each(read)
            }
            Some(Content::Text(all)) if self.list => all.split(',').map(str::trim).try_for_each(read),
            _ => attributes.text(self.attribute)?.map_or(Ok(()), read),
        }
    }

    /// Returns true if texts mean the same in upper and lower case, as those of OpenVINO do.
    fn in_any_case_of(&self, attributes: &Attributes<'_>) -> bool {
        self.any_case || attributes.form().standard() == Standard::OpenVino
    }

    fn read(&self, text: &str, any_case: bool) -> Result<&'static str> {
        let is = |known: &&&str| if any_case { known.eq_ignore_ascii_case(text) } else { **known == text };
        let found = self.texts.iter().find(is).copied();
        found.ok_or_else(|| errors::text(self.attribute, text, &self.wanted()))
    }

    /// The texts, in words.
    pub fn wanted(&self) -> String {
        let texts: Vec<_> = self.texts.iter().copied().filter(|text| !text.is_empty()).collect();
        match texts.split_last() {
            Some((last, [])) => (*last).to_owned(),
            Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
            None => String::new(),
        }
    }
}
