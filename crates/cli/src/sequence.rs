//! A sequence of any kind, so that what prints and writes one is compiled once.

use std::ops::Range;

use gradus::profiles::Predicted;
use gradus::seq::{GeomspacePlan, LinspacePlan, LogspacePlan, Plan, RangePlan};
use gradus::{DType, Each, Fill, Number};

macro_rules! sequences {
    ($($kind:ident($plan:ty),)*) => {
        /// A plan of any kind.
        #[derive(Clone, Debug)]
        pub(crate) enum Sequence {
            $($kind($plan),)*
        }

        $(impl From<$plan> for Sequence {
            fn from(plan: $plan) -> Sequence {
                Sequence::$kind(plan)
            }
        })*

        impl Plan for Sequence {
            fn dtype(&self) -> DType {
                match self { $(Sequence::$kind(plan) => plan.dtype(),)* }
            }

            fn len(&self) -> u64 {
                match self { $(Sequence::$kind(plan) => plan.len(),)* }
            }

            fn at(&self, i: u64) -> Number {
                match self { $(Sequence::$kind(plan) => plan.at(i),)* }
            }

            fn slice(&self, indices: Range<u64>) -> Sequence {
                match self { $(Sequence::$kind(plan) => Sequence::$kind(plan.slice(indices)),)* }
            }
        }

        impl Fill for Sequence {
            fn form(&self) -> gradus::Form {
                match self { $(Sequence::$kind(plan) => plan.form(),)* }
            }

            fn kernel(&self) -> gradus::Kernel {
                match self { $(Sequence::$kind(plan) => plan.kernel(),)* }
            }
        }
    };
}

sequences! {
    Range(RangePlan),
    Linspace(LinspacePlan),
    Logspace(LogspacePlan),
    Geomspace(GeomspacePlan),
    Predicted(Each<Predicted>),
}
