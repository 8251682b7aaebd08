//! Types that the columns of conversions name, in a build that runs and converts nothing: no rule
//! has one.

use std::marker::PhantomData;

/// A node that is converted.
pub struct ConvertContext<'c, 'm>(PhantomData<(&'c (), &'m ())>);

/// An operator that is written.
pub struct New<'a>(PhantomData<&'a ()>);

/// A value that is written.
pub struct NewValue;
