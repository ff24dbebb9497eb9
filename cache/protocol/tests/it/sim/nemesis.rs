//! Who breaks things, and how.

use lacuna_cache_protocol::{CacheModel, Flaw, Interval, RangeId};

use super::coordinator::Wish;
use super::dendrite::{ALARM, Seat};
use super::network::{Message, Node};
use super::world::{CACHES, DENDRITES, SERVERS, World};

impl World {
    /// One fault, chosen by chance.
    pub(crate) fn break_something(&mut self) {
        let (dendrite, server, cache) =
            (self.rng.index(DENDRITES), self.rng.index(SERVERS), self.rng.index(CACHES));
        let a_while = 200 + self.rng.below(3_000);
        if self.setup.recuts && self.rng.below(6) == 0 {
            return self.cut_anew();
        }
        let what = match self.rng.below(20) {
            0 | 1 => self.crash_dendrite(dendrite, a_while),
            2..=4 => {
                self.dendrites[dendrite].paused_until = self.now + a_while;
                "owner paused"
            }
            5 | 6 => self.crash_cache(cache),
            7 | 8 => {
                self.network.cut(Node::Dendrite(dendrite), Node::Cache(cache), self.now + a_while);
                "cache server unreachable for an owner"
            }
            9 | 10 => {
                self.network.cut(Node::Dendrite(dendrite), Node::Coordinator, self.now + a_while);
                "coordinator unreachable for an owner"
            }
            11 => self.crash_log(server, a_while),
            12 => {
                self.logs[server].is_full = !self.logs[server].is_full;
                "log full or not"
            }
            13 if self.rng.below(2) == 0 => {
                for server in 0..SERVERS {
                    self.crash_cache(server % CACHES);
                    self.crash_log(server, 100);
                }
                for dendrite in 0..DENDRITES {
                    self.crash_dendrite(dendrite, 100);
                }
                "power failure"
            }
            14 => {
                self.network.cut(Node::Dendrite(dendrite), Node::Store, self.now + a_while / 4);
                "store unreachable for an owner"
            }
            15 => {
                self.snapshots[cache] = self.caches[cache].clone();
                "snapshot"
            }
            _ => {
                let range = RangeId(u32::try_from(self.rng.below(u64::from(self.setup.ranges))).unwrap());
                let choice = self.rng.index(100);
                self.caches[cache].evict(range, choice);
                "eviction"
            }
        };
        *self.counts.faults.entry(what).or_default() += 1;
    }

    /// Crashes an owner the likelier the less often one crashed while it did the same.
    pub(crate) fn crash_where_it_is_rare(&mut self) {
        self.fill_a_log_while_writes_are_applied();
        if self.now < self.next_hunt {
            return;
        }
        for dendrite in 0..DENDRITES {
            let seats = self.dendrites[dendrite].seats.values();
            let points: Vec<String> = seats.flat_map(|seat| seat.owner.in_progress()).collect();
            let count = |point: &String| self.counts.crash_points.get(point).copied().unwrap_or(0);
            let Some(rarest) = points.iter().map(count).min() else { continue };
            if self.rng.below(4 + 20 * rarest * rarest) == 0 {
                self.next_hunt = self.now + 400;
                self.crash_dendrite(dendrite, 150);
                return;
            }
        }
    }

    /// A log that is full just when the store does not have all that was acknowledged: writes that then go past the logs meet
    /// buffered ones.
    fn fill_a_log_while_writes_are_applied(&mut self) {
        if self.rng.below(4) == 0 {
            let mut seats = self.dendrites.iter().flat_map(|dendrite| dendrite.seats.values());
            let is_applying = |seat: &Seat| seat.owner.in_progress().iter().any(|point| point == "applying");
            self.logs[0].is_full = seats.any(is_applying);
        }
    }

    /// A range is to be split, or merged with the one below it.
    fn cut_anew(&mut self) {
        let ranges = self.coordinator.table.ranges();
        let range = ranges[self.rng.index(ranges.len())];
        let below = self.coordinator.table.below(range);
        let wish = match below {
            Some(lower) if ranges.len() > 3 || self.rng.below(2) == 0 => Wish::Merge(lower, range),
            _ => {
                let at = 1 + self.rng.below(self.key_count() - 1);
                let place = (0, Interval::point(at.into()));
                Wish::Split(*self.coordinator.table.parts(&[place]).keys().next().unwrap(), at)
            }
        };
        for range in self.coordinator.wish(self.now, wish) {
            if let Some(route) = self.coordinator.route(range) {
                self.send(Node::Coordinator, Node::Dendrite(route.owner), Message::StopRange(range));
            }
        }
    }

    fn crash_dendrite(&mut self, dendrite: usize, down_for: u64) -> &'static str {
        let node = Node::Dendrite(dendrite);
        for point in self.dendrites[dendrite].seats.values().flat_map(|seat| seat.owner.in_progress()) {
            *self.counts.crash_points.entry(point).or_default() += 1;
        }
        self.dendrites[dendrite].seats.clear();
        self.network.restart(node);
        self.down.insert(node, self.now + down_for);
        self.network.send_at(self.now + down_for + ALARM, node, node, Message::Alarm);
        "owner crashed"
    }

    fn crash_cache(&mut self, cache: usize) -> &'static str {
        self.network.restart(Node::Cache(cache));
        self.caches[cache] = if self.setup.flaw == Some(Flaw::RestoreSnapshot) {
            self.snapshots[cache].clone()
        } else {
            CacheModel::new(12).with_flaw(self.setup.flaw)
        };
        "cache server restarted"
    }

    fn crash_log(&mut self, log: usize, down_for: u64) -> &'static str {
        self.network.restart(Node::Log(log));
        self.down.insert(Node::Log(log), self.now + down_for);
        if self.setup.flaw == Some(Flaw::ForgetfulLogs) {
            self.logs[log].forget();
        }
        "log server restarted"
    }
}
