//! Files as trees: what a mutator changes without the knowledge of a format.

/// Value of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Tree {
    /// A text or bytes.
    Bytes(Vec<u8>),
    /// An integer.
    Number(u64),
    /// Parts that are only moved and copied, never changed within.
    Raw(Vec<u8>),
    /// Named parts, and a mark that the form keeps for itself.
    Node(char, Vec<Field>),
}

/// A value and its name within the parent: a key, a tag, the number of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    pub label: Vec<u8>,
    pub tree: Tree,
}

impl Field {
    pub fn new(label: impl Into<Vec<u8>>, tree: Tree) -> Field {
        Field { label: label.into(), tree }
    }
}

impl Tree {
    pub fn fields(&self) -> &[Field] {
        if let Tree::Node(_, fields) = self { fields } else { &[] }
    }

    pub fn fields_mut(&mut self) -> Option<&mut Vec<Field>> {
        if let Tree::Node(_, fields) = self { Some(fields) } else { None }
    }

    /// Fields at all depths.
    pub fn count(&self) -> usize {
        self.fields().iter().map(|field| 1 + field.tree.count()).sum()
    }

    /// The way to a field, by its number in the order of the file.
    pub fn path(&self, mut number: usize) -> Vec<usize> {
        for (index, field) in self.fields().iter().enumerate() {
            if number == 0 {
                return vec![index];
            }
            let within = field.tree.count();
            if number <= within {
                let mut path = field.tree.path(number - 1);
                path.insert(0, index);
                return path;
            }
            number -= within + 1;
        }
        Vec::new()
    }

    /// The fields among which the last step of a way chooses.
    pub fn around(&mut self, path: &[usize]) -> Option<&mut Vec<Field>> {
        match path {
            [] => None,
            [_] => self.fields_mut(),
            [first, rest @ ..] => self.fields_mut()?.get_mut(*first)?.tree.around(rest),
        }
    }

    /// Adds all fields that satisfy a condition, in the order of the file.
    pub fn collect<'a>(&'a self, wanted: &impl Fn(&Field) -> bool, found: &mut Vec<&'a Field>) {
        for field in self.fields() {
            if wanted(field) {
                found.push(field);
            }
            field.tree.collect(wanted, found);
        }
    }
}
