//! Names of the values of enums.

/// Gives the values of an enum names, by which they are printed and listed: `ALL`, `name` and
/// `Display`; and with a noun for the enum `FromStr`, whose error suggests a name.
///
/// ```
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// pub enum Edge {
///     Lower,
///     Upper,
/// }
/// gradus_core::names!(Edge, "edge" { Lower = "lower", Upper = "upper" });
/// assert_eq!(Edge::ALL.map(Edge::name), ["lower", "upper"]);
/// assert_eq!("upper".parse::<Edge>()?, Edge::Upper);
/// assert!("uper".parse::<Edge>().unwrap_err().to_string().contains("upper"));
/// # Ok::<(), gradus_core::Error>(())
/// ```
#[macro_export]
macro_rules! names {
    ($type:ident, $what:literal { $($names:tt)* }) => {
        $crate::names!($type { $($names)* });

        impl std::str::FromStr for $type {
            type Err = $crate::Error;

            /// Reads a value by its name.
            ///
            /// # Errors
            /// [`Kind::Usage`]($crate::Kind::Usage) if there is none of the name, with the nearest.
            fn from_str(name: &str) -> $crate::Result<$type> {
                let found = $type::ALL.into_iter().find(|value| value.name() == name);
                found.ok_or_else(|| $crate::Error::unknown($what, name, $type::ALL.map($type::name)))
            }
        }
    };
    ($type:ident { $($value:ident = $name:literal),* $(,)? }) => {
        impl $type {
            /// All values.
            pub const ALL: [$type; [$($name),*].len()] = [$($type::$value),*];

            /// The name that is printed.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$value => $name),*
                }
            }
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}
