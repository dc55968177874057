//! Numbers that look random and come again with their seed.

use std::time::Duration;

/// SplitMix64.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// From 0 on, below `end`.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    /// True so many times out of a hundred.
    pub fn percent(&mut self, share: u64) -> bool {
        self.below(100) < share
    }

    /// From `least` milliseconds on, below `end`.
    pub fn millis(&mut self, least: u64, end: u64) -> Duration {
        Duration::from_millis(least + self.below(end - least))
    }
}

/// The first numbers of the published generator.
#[test]
fn the_generator_is_splitmix64() {
    let mut random = Random(1_234_567);
    assert_eq!([random.next(), random.next()], [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
}
