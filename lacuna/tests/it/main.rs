//! The facade as its users meet it: filters, the list of public names, and the documentation around them.

mod api;
mod documentation;
mod filters;
