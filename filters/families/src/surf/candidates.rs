//! Candidates over either key space: a seek beyond all keys, or without a body, is settled here; others walk the trie.

use lacuna_base::{Candidate, RangeFilter, SeekCandidate};
use lacuna_succinct::arch::{Isa, Kernel, dispatch};

use super::codec::Body;
use super::filter::Surf;
use super::key::{IntegerKey, PathKey, StringKey};
use super::seek::{CERTAIN, Place};
use super::sink::{IntegerSink, Sink};
use super::tail::Tail;
use crate::frame::FilterBytes;

/// A seek; `from` is `None` where it lies beyond all keys with the common prefix.
struct Seek<'a, K, S> {
    body: &'a Body,
    bytes: &'a [u8],
    from: Option<K>,
    is_first: bool,
    out: &'a mut S,
}

impl<K: PathKey, S: Sink> Kernel for Seek<'_, K, S> {
    type Output = Option<Place>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Option<Place> {
        match &self.from {
            Some(from) if self.is_first => self.body.first(isa, self.bytes, from, self.out),
            Some(from) => self.body.last(isa, self.bytes, from, self.out),
            None => self.body.last_of_all(isa, self.bytes, self.out),
        }
    }
}

/// What a filter without a body knows: keys may be anywhere between the ends.
const UNKNOWN: Candidate = Candidate { is_certain: false, is_excluded: false };

impl<B: FilterBytes> Surf<u64, B> {
    fn seek(&self, from: u64, is_first: bool, candidate: &mut u64) -> Option<Candidate> {
        let Some(body) = &self.body else { return self.seek_ends(from, is_first, candidate) };
        let (mut out, bytes) = (IntegerSink::new(), self.trie_bytes());
        let place =
            dispatch(Seek { body, bytes, from: Some(IntegerKey::new(from)), is_first, out: &mut out })?;
        Some(match place {
            Place::Written(found) => {
                *candidate = out.value;
                found
            }
            Place::AskedKey => {
                *candidate = from;
                UNKNOWN
            }
        })
    }

    /// As [`seek`](Self::seek), from the smallest and largest key alone; `from` lies strictly between them.
    fn seek_ends(&self, from: u64, is_first: bool, candidate: &mut u64) -> Option<Candidate> {
        let envelope = self.frame.envelope();
        let is_all = envelope.key_count <= 2;
        *candidate = match (is_all, is_first) {
            (false, _) => from,
            (true, true) => envelope.largest,
            (true, false) => envelope.smallest,
        };
        Some(Candidate { is_certain: is_all, is_excluded: false })
    }
}

impl<B: FilterBytes> SeekCandidate<u64> for Surf<u64, B> {
    fn first_candidate(&self, from: u64, candidate: &mut u64) -> Option<Candidate> {
        let envelope = self.frame.envelope();
        let end = if from <= envelope.smallest { Some(envelope.smallest) } else { None };
        if self.key_count() == 0 || from > envelope.largest {
            return None;
        }
        if let Some(end) = end.or(if from == envelope.largest { Some(from) } else { None }) {
            *candidate = end;
            return Some(CERTAIN);
        }
        self.seek(from, true, candidate)
    }

    fn last_candidate(&self, from: u64, candidate: &mut u64) -> Option<Candidate> {
        let envelope = self.frame.envelope();
        let end = if from >= envelope.largest { Some(envelope.largest) } else { None };
        if self.key_count() == 0 || from < envelope.smallest {
            return None;
        }
        if let Some(end) = end.or(if from == envelope.smallest { Some(from) } else { None }) {
            *candidate = end;
            return Some(CERTAIN);
        }
        self.seek(from, false, candidate)
    }
}

impl<B: FilterBytes> Surf<[u8], B> {
    fn seek(&self, from: &[u8], is_first: bool, candidate: &mut Vec<u8>) -> Option<Candidate> {
        candidate.clear();
        if self.key_count() == 0 {
            return None;
        }
        let prefix = self.frame.prefix();
        let tail = match (Tail::of(from, prefix), is_first) {
            (Tail::At(tail), _) => Some(StringKey(tail)),
            (Tail::Below, true) => Some(StringKey(&[])),
            (Tail::Above, false) => None,
            (Tail::Below, false) | (Tail::Above, true) => return None,
        };
        let asked = |candidate: &mut Vec<u8>| {
            candidate.clear();
            candidate.extend_from_slice(from);
            UNKNOWN
        };
        let Some(body) = &self.body else { return Some(asked(candidate)) };
        candidate.extend_from_slice(prefix);
        let place = dispatch(Seek { body, bytes: self.trie_bytes(), from: tail, is_first, out: candidate })?;
        Some(match place {
            Place::Written(found) => found,
            Place::AskedKey => asked(candidate),
        })
    }
}

impl<B: FilterBytes> SeekCandidate<[u8]> for Surf<[u8], B> {
    fn first_candidate(&self, from: &[u8], candidate: &mut Vec<u8>) -> Option<Candidate> {
        self.seek(from, true, candidate)
    }

    fn last_candidate(&self, from: &[u8], candidate: &mut Vec<u8>) -> Option<Candidate> {
        self.seek(from, false, candidate)
    }
}
