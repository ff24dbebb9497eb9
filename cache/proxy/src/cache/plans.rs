//! What texts are, each read once.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use super::ReadingMark;
use crate::recognise::harmless::{Examined, Mentions, examine};
use crate::recognise::shape;
use crate::recognise::strict::{Statement, statement};

/// Most bytes of plans and their texts that are remembered.
const MAX_BYTES: usize = 32 << 20;
/// What a plan takes beside its text, nearly.
const OVERHEAD: usize = 500;
/// Most shapes that are kept once for all texts.
const MAX_SHAPES: usize = 4_096;

/// A text with the types that its client has declared for its parameters.
#[derive(Debug)]
pub(crate) struct Plan {
    /// Equal for two plans only if texts and types are equal.
    pub(crate) number: u64,
    pub(crate) statement: Statement,
    pub(crate) declared: Box<[u32]>,
    /// What it names. Without that it is unknown.
    pub(crate) mentions: Mentions,
    /// Whether it writes nothing unless something of a user is among that.
    pub(crate) is_harmless: bool,
    /// A read as people are shown it, without its constants.
    pub(crate) shape: Arc<str>,
}

/// A plan, and what was known when the server was given its text, which decides the types of its parameters and of its result.
#[derive(Debug, Clone)]
pub(crate) struct Prepared {
    pub(crate) plan: Arc<Plan>,
    pub(crate) as_of: AsOf,
}

/// A moment by the reading of the catalogue and by the schemas that the session searches.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AsOf {
    pub(crate) reading: ReadingMark,
    pub(crate) path: u64,
}

/// Texts and their plans.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// By the text, and by the types that were declared for it.
    plans: HashMap<Box<str>, Vec<Arc<Plan>>>,
    shapes: HashSet<Arc<str>>,
    bytes: usize,
    next: u64,
}

impl Plans {
    pub(crate) fn get(&self, text: &str, declared: &[u32]) -> Arc<Plan> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let same =
            known.plans.get(text).and_then(|plans| plans.iter().find(|plan| *plan.declared == *declared));
        if let Some(plan) = same {
            return plan.clone();
        }
        drop(known);
        let plan = Plan::new(text, declared);
        known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.add(text, plan)
    }
}

#[cfg(test)]
impl Default for Plan {
    fn default() -> Self {
        Self::new("SHOW all", &[])
    }
}

impl Plan {
    /// The plan of a text, still without a number.
    fn new(text: &str, declared: &[u32]) -> Self {
        let Examined { mentions, harmless } = examine(text);
        let is_of_users = declared.iter().any(|number| *number >= FIRST_OF_USERS);
        let statement = match &mentions {
            // The check of a domain runs when a value is bound.
            _ if is_of_users => Statement::Unknown("a parameter has a type of a user".to_owned()),
            None => Statement::Unknown("it has a word that is not known here".to_owned()),
            Some(_) => statement(text, &harmless),
        };
        let (mentions, is_harmless) = (mentions.unwrap_or_default(), harmless.is_ok());
        let shape = if matches!(statement, Statement::Read(_)) { shape(text) } else { String::new() };
        Self { number: 0, statement, declared: declared.into(), mentions, is_harmless, shape: shape.into() }
    }
}

/// The number of the first type that can be a user's.
const FIRST_OF_USERS: u32 = 16_384;

impl Known {
    fn add(&mut self, text: &str, plan: Plan) -> Arc<Plan> {
        let bytes = text.len() + plan.statement.bytes() + plan.mentions.bytes() + OVERHEAD;
        self.bytes += bytes;
        if self.bytes > MAX_BYTES {
            self.plans.clear();
            self.bytes = bytes;
        }
        // Numbers go on, so that no two plans ever have the same.
        self.next += 1;
        let shape = self.shape(plan.shape);
        let plan = Arc::new(Plan { number: self.next, shape, ..plan });
        self.plans.entry(text.into()).or_default().push(plan.clone());
        plan
    }

    /// One text for all plans of a shape.
    fn shape(&mut self, shape: Arc<str>) -> Arc<str> {
        if let Some(known) = self.shapes.get(&shape) {
            return known.clone();
        }
        if self.shapes.len() >= MAX_SHAPES {
            self.shapes.clear();
        }
        self.shapes.insert(shape.clone());
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_belongs_to_one_text_with_its_types() {
        let plans = Plans::default();
        let number = |text: &str, declared: &[u32]| plans.get(text, declared).number;
        let first = number("SELECT 1", &[]);
        assert_eq!(number("SELECT 1", &[]), first);
        let long = "x".repeat(MAX_BYTES);
        let others =
            [number("SELECT 2", &[]), number("SELECT 1", &[23]), number(&long, &[]), number("SELECT 1", &[])];
        assert!(!others.contains(&first), "after the limit a text is another plan");
    }

    /// Clients that write values into their texts send another list each time.
    #[test]
    fn lists_of_constants_are_counted_by_what_their_plans_take() {
        let plan =
            |list: &str| Plan::new(&format!("SELECT note FROM orders WHERE customer IN ({list})"), &[]);
        let numbers: Vec<String> = (0..1_000).map(|number| number.to_string()).collect();
        for (list, of_text) in [(numbers.join(","), 10), (format!("'{}x'", numbers.join("x','")), 25)] {
            let plan = plan(&list);
            let Statement::Read(read) = &plan.statement else { panic!("{:?} is a read", plan.statement) };
            assert_eq!(read.needs.len(), 2, "what it shows, and what it compares");
            let range = read.ranges[0].1.clone();
            let crate::recognise::strict::Range::Among(operands) = range else {
                panic!("{range:?} is a list")
            };
            let taken = size_of_val(&*operands) + size_of_val(&*read.compared);
            assert!(taken <= plan.statement.bytes(), "{taken} bytes and the heap's");
            assert!(plan.statement.bytes() <= of_text * list.len() + 64_000, "{}", plan.statement.bytes());
        }
    }

    #[test]
    fn texts_that_differ_in_constants_have_one_shape() {
        let plans = Plans::default();
        let shape = |text: &str| plans.get(text, &[]).shape.clone();
        let (one, other) = (shape("SELECT * FROM t WHERE a = 1"), shape("SELECT * FROM t  WHERE a = 2"));
        assert!(&*one == "SELECT * FROM t WHERE a = ?" && Arc::ptr_eq(&one, &other));
    }
}
