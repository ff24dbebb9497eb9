//! The class `Filter`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use lacuna_base::{AlignedBytes, Error, TimeUnit};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyTuple};

use crate::batch;
use crate::build::{Built, Order, SampleValues};
use crate::column::Column;
use crate::errors::{raised, wrong_type, wrong_value};
use crate::explain::explain;
use crate::files;
use crate::held::{Bytes, Held};
use crate::keys::Keys;
use crate::progress::Progress;
use crate::question;
use crate::secret::secret_of;
use crate::seek;

/// A range filter: can there be a key in ``[lo, hi]``? ``False`` is always true: there is none. ``True`` means maybe: go and
/// read.
///
/// A filter never changes. Any number of threads may ask it at once.
///
/// >>> import numpy as np
/// >>> from lacuna import Filter
/// >>> keys = np.arange(1, 1001, dtype=np.uint64) ** 2 * 1_000_003
/// >>> f = Filter.build(keys, bits_per_key=14)
/// >>> int(keys[10]) in f, f.may_contain_range(1, 500)
/// (True, False)
/// >>> len(f), f.key_type
/// (1000, 'u64')
#[pyclass(module = "lacuna", frozen)]
#[derive(Debug)]
pub(crate) struct Filter {
    held: Held,
    design: Option<String>,
}

impl Filter {
    fn open_bytes(py: Python<'_>, bytes: Bytes) -> PyResult<Self> {
        let held = py.detach(|| Held::open(bytes)).map_err(|error| raised(py, &error))?;
        Ok(Self { held, design: None })
    }

    fn as_bytes(&self) -> &[u8] {
        self.held.bytes.as_ref()
    }
}

/// The lower and upper ends of the queries in `sample`.
fn sample_values(sample: &Bound<'_, PyAny>) -> PyResult<SampleValues> {
    let pair = sample.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2);
    let pair = pair.ok_or_else(|| wrong_type("sample is no pair of columns; give sample=(lo, hi)"))?;
    let los = Column::read(&pair.get_item(0)?, "the lower ends of sample")?.into_owned()?;
    let his = Column::read(&pair.get_item(1)?, "the upper ends of sample")?.into_owned()?;
    if los.len() != his.len() {
        let (los, his) = (los.len(), his.len());
        return Err(wrong_value(format!(
            "sample has {los} lower and {his} upper ends; give one of each for a query"
        )));
    }
    Ok((los, his))
}

#[pymethods]
impl Filter {
    /// A filter of keys in any order, within ``bits_per_key`` (14 if neither it nor ``rate`` is given) or with the bits that
    /// keep ``rate`` for ranges of up to ``range_len`` keys (64 if not given) in the family ``grafite``. Over str and bytes no
    /// family keeps a rate: there ``rate`` stands for its bits alone.
    ///
    /// Keys are a NumPy array, an Arrow column (polars, pyarrow, pandas) or an iterable of unsigned or signed integers, floats,
    /// dates, moments, str or bytes. The filter notes their type. Missing values (NaN, NaT, nulls) are refused.
    ///
    /// ``spec`` is a family such as ``"grafite"`` or ``"bloom:k=7"``; ``"auto"`` chooses one for the keys and for ``sample``,
    /// the lower and upper ends of queries that found nothing. If it is not given, it is ``"grafite"`` where a rate is given for keys
    /// other than str and bytes, which looks at no sample, else ``"auto"``. Same keys, spec, budget, sample, seed and secret give the same bytes
    /// on every machine: those that the command ``lacuna build`` writes.
    ///
    /// ``secret`` is 16 random bytes, for ``"ribbon:secret"``, ``"grafite:secret"`` and, where it is given, ``"auto:robust"`` over
    /// integers: they keep their rate against those who know all but the secret and choose their queries. Take it from a file or the environment, not from the source.
    /// The filter is opened without it.
    ///
    /// ``threads`` is the most that build ``"ribbon"``, ``"grafite"`` or ``"bucketing"`` over 65,536 keys and more; other families take one,
    /// and so does sorting. The bytes do not depend on it.
    ///
    /// ``progress`` is called as ``progress(stage, seconds)`` when a stage (``"sort"``, ``"build"``) begins and ten times a
    /// second until its end. Other threads run meanwhile; the keys are copied before.
    ///
    /// Time: linear in the number of keys, after sorting if they are not in order. Memory: 8 bytes a key, or its bytes and
    /// 24 more; twice that while an array is copied.
    ///
    /// >>> from lacuna import Filter
    /// >>> f = Filter.build([3, 1_000, 1_000_000], rate=0.01, range_len=64)
    /// >>> f.may_contain_range(990, 1_010), f.may_contain_range(1_000_001, None), f.rate_bound(64) <= 0.01
    /// (True, False, True)
    /// >>> Filter.build([1, None])
    /// Traceback (most recent call last):
    /// ValueError: value 1 of keys is None; leave missing values out
    #[staticmethod]
    #[pyo3(signature = (keys, bits_per_key=None, spec=None, sample=None, *, rate=None, range_len=None, seed=1, secret=None, threads=1, progress=None))]
    #[expect(clippy::too_many_arguments, reason = "each has a name in Python")]
    fn build(
        py: Python<'_>,
        keys: &Bound<'_, PyAny>,
        bits_per_key: Option<f64>,
        spec: Option<&str>,
        sample: Option<&Bound<'_, PyAny>>,
        rate: Option<f64>,
        range_len: Option<u64>,
        seed: u64,
        secret: Option<&Bound<'_, PyAny>>,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let failed = |error: Error| raised(py, &error);
        let secret = secret.map(secret_of).transpose()?;
        let threads =
            NonZeroUsize::new(threads).ok_or_else(|| wrong_value("threads is 0; give 1 or more"))?;
        let order = Order::new(bits_per_key, rate, range_len, spec, seed, secret, threads).map_err(failed)?;
        let values = Column::read(keys, "keys")?.into_owned()?;
        let sample = sample.map(sample_values).transpose()?;
        let progress = Progress::new(progress);
        let sorted = progress.run(py, "sort", || {
            let mut keys = Keys::of(values)?;
            keys.sort();
            Ok(keys)
        })?;
        let keys = sorted.map_err(failed)?;
        for ends in sample.iter().flat_map(|(los, his)| [los, his]) {
            keys.form().check_all(ends)?;
        }
        let built = progress.run(py, "build", || {
            let Built { sealed, design } = order.build(&keys, sample)?;
            Ok((Held::open(sealed.into_bytes().into())?, design))
        })?;
        let (held, design) = built.map_err(failed)?;
        Ok(Self { held, design })
    }

    /// The filter in the file at ``path``, after a check of every byte.
    ///
    /// With ``mmap=True`` the file is mapped instead of read. No process may write to it or shorten it while the filter is in
    /// use: answers could be wrong, or the process be ended by a signal. A file that is replaced by renaming is safe.
    ///
    /// Raises `OSError` if there is no such file, `CorruptError` if its bytes are damaged or no filter, `UnsupportedError` if
    /// they are newer than this package.
    #[staticmethod]
    #[pyo3(signature = (path, *, mmap=false))]
    fn open(py: Python<'_>, path: PathBuf, mmap: bool) -> PyResult<Self> {
        let read = || if mmap { files::map(&path) } else { files::read(&path) };
        let bytes = py.detach(read).map_err(|error| files::os_error(&path, error))?;
        Self::open_bytes(py, bytes)
    }

    /// The filter that `to_bytes` gave, copied, after a check of every byte.
    ///
    /// >>> from lacuna import Filter
    /// >>> Filter.from_bytes(Filter.build([3, 50, 700]).to_bytes()).may_contain(50)
    /// True
    /// >>> Filter.from_bytes(b"no filter")
    /// Traceback (most recent call last):
    /// lacuna.CorruptError: this is not a Lacuna filter: the first four bytes are not `LCNA`
    #[staticmethod]
    fn from_bytes(py: Python<'_>, data: &[u8]) -> PyResult<Self> {
        Self::open_bytes(py, AlignedBytes::copy_of(data).into())
    }

    /// The sealed bytes: an envelope of 64 bytes, then the payload. Every version from 0.1.0 on reads them.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.as_bytes())
    }

    /// Writes the sealed bytes to a file, which is there whole or not at all.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        py.detach(|| files::write(&path, self.as_bytes())).map_err(|error| files::os_error(&path, error))
    }

    /// Whether ``key`` may be there; ``False`` proves that it is not.
    ///
    /// A column of keys is answered by an array of bool, many times faster than one by one: ``out`` if it is given, else a new
    /// one. The column is copied before other threads run.
    ///
    /// >>> import numpy as np
    /// >>> from lacuna import Filter
    /// >>> f = Filter.build(np.array([-21.5, 1.5, 3.25]))
    /// >>> f.may_contain(1.5), f.may_contain(1)
    /// (True, False)
    /// >>> f.may_contain(np.array([3.25, 4.0]))
    /// array([ True, False])
    #[pyo3(signature = (key, *, out=None))]
    fn may_contain<'py>(
        &self,
        py: Python<'py>,
        key: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match question::one_key(&self.held, key)? {
            Some(answer) => single(py, answer, out),
            None => {
                let keys = Column::read(key, "key")?;
                batch::ask(py, &self.held, &keys, &keys, out)
            }
        }
    }

    /// Whether any key from ``lo`` to ``hi``, both included, may be there; ``False`` proves that none is.
    ///
    /// ``None`` is an open end. A range whose ends are the wrong way round holds nothing. A bare date as ``hi`` is the whole
    /// day. Two columns are answered by an array of bool, as `may_contain` answers one.
    ///
    /// >>> import numpy as np
    /// >>> from lacuna import Filter
    /// >>> f = Filter.build(np.array(["2024-01-31T12:00", "2024-03-01"], dtype="datetime64[s]"))
    /// >>> f.may_contain_range(np.datetime64("2024-01-31"), np.datetime64("2024-01-31"))
    /// True
    /// >>> f = Filter.build(np.array([100, 200, 300], dtype=np.uint64))
    /// >>> f.may_contain_range(np.array([90, 301], dtype=np.uint64), np.array([110, 400], dtype=np.uint64))
    /// array([ True, False])
    #[pyo3(signature = (lo, hi, *, out=None))]
    fn may_contain_range<'py>(
        &self,
        py: Python<'py>,
        lo: &Bound<'py, PyAny>,
        hi: &Bound<'py, PyAny>,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match question::one_range(&self.held, lo, hi)? {
            Some(answer) => single(py, answer, out),
            None => {
                let (los, his) = (Column::read(lo, "lo")?, Column::read(hi, "hi")?);
                batch::ask(py, &self.held, &los, &his, out)
            }
        }
    }

    /// The least and the most keys that the range can hold. Only filters of the family ``surf`` count.
    ///
    /// >>> from lacuna import Filter
    /// >>> f = Filter.build(range(0, 1000, 10), bits_per_key=100, spec="surf")
    /// >>> least, most = f.count(100, 200)
    /// >>> least <= 11 <= most
    /// True
    fn count(&self, lo: &Bound<'_, PyAny>, hi: &Bound<'_, PyAny>) -> PyResult<(u64, u64)> {
        let found = seek::count(&self.held, lo, hi)?;
        Ok((found.min, found.max))
    }

    /// A value that is not above the first key at or after ``key``, so that reading may begin there; ``None`` proves that no
    /// key follows. Only filters of the family ``surf`` name it; byte strings and texts are named by bytes, moments by
    /// ``datetime64``.
    ///
    /// >>> from lacuna import Filter
    /// >>> f = Filter.build([3, 50, 700], bits_per_key=100, spec="surf")
    /// >>> f.seek(51) <= 700, f.seek(701)
    /// (True, None)
    fn seek<'py>(&self, key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        seek::first(&self.held, key)
    }

    /// What the filter is, in words: family, keys, size, the rate it promises, and what ``auto`` chose it among if it was
    /// built just now.
    ///
    /// >>> from lacuna import Filter
    /// >>> print(Filter.build([3, 50, 700], spec="grafite").explain())  # doctest: +ELLIPSIS
    /// family        grafite
    /// keys          3 distinct, of type u64
    /// ...
    fn explain(&self) -> String {
        explain(&self.held, self.design.as_deref())
    }

    /// The largest share of ranges of ``range_len`` keys without a key that are answered "maybe", whatever the keys and the
    /// queries; 1 where the family promises nothing.
    fn rate_bound(&self, range_len: u64) -> f64 {
        self.held.rate_bound(range_len)
    }

    /// The family, such as ``"grafite"``.
    #[getter]
    fn family(&self) -> &'static str {
        self.held.family()
    }

    /// What the keys are: ``"u64"``, ``"i64"``, ``"f64"``, ``"date"``, ``"timestamp"``, ``"text"``, ``"hex"`` (bytes),
    /// ``"tuple"`` or ``"unknown"``.
    #[getter]
    fn key_type(&self) -> &'static str {
        self.held.envelope.key_type.name()
    }

    /// The unit of moments: ``"seconds"``, ``"milliseconds"`` or ``"microseconds"``; else ``None``.
    #[getter]
    fn time_unit(&self) -> Option<&'static str> {
        self.held.envelope.key_type.time_unit().map(TimeUnit::name)
    }

    /// Bits of the payload for each distinct key.
    #[getter]
    fn bits_per_key(&self) -> f64 {
        self.held.bits_per_key()
    }

    /// Length of the sealed bytes.
    #[getter]
    fn nbytes(&self) -> usize {
        self.as_bytes().len()
    }

    /// Number of distinct keys.
    fn __len__(&self) -> PyResult<usize> {
        usize::try_from(self.held.envelope.key_count).map_err(|_| wrong_value("more keys than Python counts"))
    }

    /// A filter is true even if it has no keys.
    fn __bool__(&self) -> bool {
        true
    }

    /// ``key in filter``: whether one key may be there.
    fn __contains__(&self, key: &Bound<'_, PyAny>) -> PyResult<bool> {
        let answer = question::one_key(&self.held, key)?;
        answer.ok_or_else(|| wrong_type("`in` asks for one key; ask for a column with may_contain"))
    }

    fn __repr__(&self) -> String {
        let (family, count) = (self.held.family(), self.held.envelope.key_count);
        let (key_type, bits) = (self.held.envelope.key_type, self.held.bits_per_key());
        format!("<lacuna.Filter: {family}, {count} keys of type {key_type}, {bits:.2} bits per key>")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyBytes>,))> {
        let unpickle = py.import("lacuna._lacuna")?.getattr("unpickle")?;
        Ok((unpickle, (self.to_bytes(py),)))
    }
}

/// The answer to one question.
fn single<'py>(
    py: Python<'py>,
    answer: bool,
    out: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    match out {
        None => Ok(PyBool::new(py, answer).to_owned().into_any()),
        Some(_) => Err(wrong_type("out is for columns; one value is answered by a bool")),
    }
}

/// The filter that was pickled.
#[pyfunction]
#[pyo3(name = "unpickle")]
pub(crate) fn unpickle(py: Python<'_>, data: &[u8]) -> PyResult<Filter> {
    Filter::from_bytes(py, data)
}
