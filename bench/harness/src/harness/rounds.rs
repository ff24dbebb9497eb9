//! Interleaved rounds of named tasks.

use std::array;
use std::fmt;
use std::hint::black_box;
use std::time::Duration;

use super::barrier::barriers;
use super::clock::WorkClock;
use crate::statistics::median;

/// Barriers that are timed alone in each round; some milliseconds.
const BARRIERS: usize = 1 << 16;

/// The time, in nanoseconds, of a step that seems to cost less than its barrier.
const MIN_NS: f64 = 0.01;

/// The number of a task within its [`Rounds`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskId(usize);

struct Task<'a> {
    name: String,
    steps: usize,
    run: Box<dyn FnMut() -> Duration + 'a>,
    /// A task whose time per step is taken off.
    less: Option<TaskId>,
}

/// Tasks that will be timed in turn.
#[derive(Default)]
pub struct Rounds<'a> {
    tasks: Vec<Task<'a>>,
    barrier: Option<TaskId>,
}

impl<'a> Rounds<'a> {
    /// No tasks yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a task that takes `steps` steps each time it runs; its time is reported per step. Dropping what `work`
    /// returns is not timed.
    pub fn add<T>(
        &mut self,
        name: impl Into<String>,
        steps: usize,
        mut work: impl FnMut() -> T + 'a,
    ) -> TaskId {
        let run = move || {
            let watch = WorkClock::start();
            let result = black_box(work());
            let elapsed = watch.elapsed();
            drop(result);
            elapsed
        };
        self.tasks.push(Task { name: name.into(), steps: steps.max(1), run: Box::new(run), less: None });
        TaskId(self.tasks.len() - 1)
    }

    /// As [`add`](Self::add), for work that waits at one barrier in each step, as [`dependent`](super::dependent) does:
    /// what barriers cost in the same round is taken off.
    pub fn add_serial<T>(
        &mut self,
        name: impl Into<String>,
        steps: usize,
        work: impl FnMut() -> T + 'a,
    ) -> TaskId {
        let barrier = match self.barrier {
            Some(barrier) => barrier,
            None => self.add("barrier", BARRIERS, || barriers(BARRIERS)),
        };
        self.barrier = Some(barrier);
        let task = self.add(name, steps, work);
        self.tasks[task.0].less = Some(barrier);
        task
    }

    /// Runs every task `round_count` times (at least once), in rounds that start with another task each. `on_round`
    /// is called with the number of finished rounds.
    pub fn run(self, round_count: usize, on_round: &mut dyn FnMut(usize)) -> Timings {
        self.run_while(round_count, &mut |done| {
            on_round(done);
            true
        })
    }

    /// As [`run`](Self::run), but no round begins once `goes_on`, called with the number of finished rounds, says no.
    pub(crate) fn run_while(mut self, round_count: usize, goes_on: &mut dyn FnMut(usize) -> bool) -> Timings {
        let task_count = self.tasks.len();
        let mut ns = vec![Vec::new(); task_count];
        for round in 0..round_count.max(1) {
            for place in 0..task_count {
                let index = (place + round) % task_count;
                let task = &mut self.tasks[index];
                ns[index].push((task.run)().as_nanos() as f64 / task.steps as f64);
            }
            if !goes_on(round + 1) {
                break;
            }
        }
        for (index, task) in self.tasks.iter().enumerate() {
            if let Some(TaskId(less)) = task.less {
                let net = ns[index].iter().zip(&ns[less]).map(|(whole, less)| (whole - less).max(MIN_NS));
                ns[index] = net.collect();
            }
        }
        Timings { names: self.tasks.into_iter().map(|task| task.name).collect(), ns }
    }
}

impl fmt::Debug for Rounds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.tasks.iter().map(|task| &task.name)).finish()
    }
}

/// Nanoseconds per step of every task in every round.
#[derive(Debug, Clone, PartialEq)]
pub struct Timings {
    names: Vec<String>,
    ns: Vec<Vec<f64>>,
}

impl Timings {
    /// Times that were taken elsewhere, in nanoseconds per step, of tasks that took turns in every round: for work that
    /// cannot run in any order, such as to take away what another task has put in.
    ///
    /// ```
    /// use lacuna_bench::harness::Timings;
    ///
    /// let (timings, [insert, lookup]) = Timings::of([("insert", vec![60.0, 90.0]), ("lookup", vec![30.0, 45.0])]);
    /// assert_eq!((timings.ratio(insert, lookup), timings.name(insert)), (2.0, "insert"));
    /// ```
    pub fn of<const TASKS: usize>(tasks: [(&str, Vec<f64>); TASKS]) -> (Self, [TaskId; TASKS]) {
        let (names, ns) = tasks.into_iter().map(|(name, ns)| (name.to_owned(), ns)).unzip();
        (Self { names, ns }, array::from_fn(TaskId))
    }

    /// The task's name.
    ///
    /// # Panics
    /// If the task is of other rounds; so do all methods here.
    pub fn name(&self, task: TaskId) -> &str {
        &self.names[task.0]
    }

    /// Nanoseconds per step in each round.
    pub fn rounds_ns(&self, task: TaskId) -> &[f64] {
        &self.ns[task.0]
    }

    /// Median nanoseconds per step.
    pub fn median_ns(&self, task: TaskId) -> f64 {
        median(&self.ns[task.0])
    }

    /// How many times longer `task` takes than `yardstick`: the median of the ratios within each round.
    pub fn ratio(&self, task: TaskId, yardstick: TaskId) -> f64 {
        median(&self.round_ratios(task, yardstick))
    }

    /// How many times longer `task` takes than `yardstick` in each round.
    pub fn round_ratios(&self, task: TaskId, yardstick: TaskId) -> Vec<f64> {
        let pairs = self.ns[task.0].iter().zip(&self.ns[yardstick.0]);
        // A task too quick for the clock would divide by zero.
        pairs.map(|(ours, theirs)| ours / theirs.max(f64::MIN_POSITIVE)).collect()
    }

    /// How far the middle half of the rounds spreads around the median, as a share of it: above 0.1, another process was
    /// using the machine.
    pub fn spread(&self, task: TaskId) -> f64 {
        let (low, high) = self.middle_half(task);
        (high - low) / self.median_ns(task).max(f64::MIN_POSITIVE)
    }

    /// The least and the greatest of the middle half of the rounds, in nanoseconds per step; of fewer than four rounds, of
    /// all.
    pub fn middle_half(&self, task: TaskId) -> (f64, f64) {
        let mut sorted = self.ns[task.0].clone();
        sorted.sort_by(f64::total_cmp);
        let quarter = sorted.len() / 4;
        (sorted[quarter], sorted[sorted.len() - 1 - quarter])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timings() -> Timings {
        Timings::of([("ours", vec![60.0, 90.0, 62.0, 61.0]), ("theirs", vec![30.0, 45.0, 31.0, 61.0])]).0
    }

    #[test]
    fn ratios_are_taken_within_rounds() {
        let timings = timings();
        assert_eq!(timings.ratio(TaskId(0), TaskId(1)), 2.0);
        assert_eq!(timings.round_ratios(TaskId(0), TaskId(1)), [2.0, 2.0, 2.0, 1.0]);
        assert_eq!(timings.median_ns(TaskId(0)), 61.5);
        assert_eq!(timings.name(TaskId(1)), "theirs");
    }

    #[test]
    fn spread_ignores_outliers() {
        assert!(timings().spread(TaskId(0)) < 0.05);
        assert!(timings().spread(TaskId(1)) > 0.3);
        assert_eq!(timings().middle_half(TaskId(0)), (61.0, 62.0));
        let (three, [task]) = Timings::of([("three", vec![3.0, 1.0, 2.0])]);
        assert_eq!(three.middle_half(task), (1.0, 3.0));
    }

    #[test]
    fn barriers_are_taken_off() {
        let mut seen = Vec::new();
        // One run of a few: others may be on the processor's other half in any of them.
        for _ in 0..5 {
            let mut rounds = Rounds::new();
            let nothing = rounds.add_serial("nothing", 10_000, || barriers(10_000));
            let whole = rounds.add("with barriers", 10_000, || barriers(10_000));
            let timings = rounds.run(9, &mut |_| {});
            if timings.median_ns(nothing) < 0.5 * timings.median_ns(whole) {
                return;
            }
            seen.push(timings);
        }
        panic!("{seen:?}");
    }

    #[test]
    fn every_round_starts_with_another_task() {
        let order = std::cell::RefCell::new(String::new());
        let mut rounds = Rounds::new();
        rounds.add("a", 1, || order.borrow_mut().push('a'));
        rounds.add("b", 1, || order.borrow_mut().push('b'));
        rounds.run(3, &mut |_| {});
        assert_eq!(*order.borrow(), "abbaab");
    }
}
