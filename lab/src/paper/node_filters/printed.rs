//! The numbers that the paper prints.

/// Shares of the axes of tables 2, 4 to 7 and 9, in percent.
pub(super) const SHARES: [f64; 5] = [0.0, 25.0, 50.0, 75.0, 100.0];
/// Sizes of tables 3 and 8, in GB; table 8 lacks the last.
pub(super) const SIZES: [f64; 6] = [1.0, 10.0, 20.0, 30.0, 40.0, 50.0];
/// Rows of its data.
pub(super) const ROWS: f64 = 136e6;

/// A line: its name and heights.
pub(super) type Printed = (&'static str, &'static [f64]);

/// Seconds, as tables 3, 5, 7, 8 and 9 below unless they say otherwise.
pub(super) const TABLE_2: [Printed; 2] = [
    ("Bloom", &[161.368, 148.943, 127.332, 109.944, 56.709]),
    ("Cuckoo", &[157.392, 128.170, 101.672, 53.448, 0.004]),
];
pub(super) const TABLE_3: [Printed; 2] = [
    ("Bloom", &[10.258, 130.664, 248.105, 318.843, 440.009, 506.697]),
    ("Cuckoo", &[0.005, 0.002, 0.006, 0.009, 0.014, 0.020]),
];
pub(super) const TABLE_4: [Printed; 2] = [
    ("Bloom", &[0.025, 59.904, 75.618, 121.482, 187.531]),
    ("Cuckoo", &[0.021, 47.155, 54.873, 105.444, 170.694]),
];
pub(super) const TABLE_5: [Printed; 2] = [
    ("Bloom", &[84.565, 85.572, 85.863, 86.029, 85.435]),
    ("Cuckoo", &[84.457, 85.224, 85.183, 85.255, 85.413]),
];
/// Milliseconds.
pub(super) const TABLE_6: [Printed; 3] = [
    ("Default", &[2.0, 4.0, 5.0, 6.0, 7.0]),
    ("Node Bloom", &[2.0, 2.0, 2.0, 2.0, 2.0]),
    ("Node Cuckoo", &[2.0, 2.0, 2.0, 2.0, 2.0]),
];
pub(super) const TABLE_7: [Printed; 3] = [
    ("Default", &[81.333, 92.879, 94.189, 100.382, 87.539]),
    ("Node Bloom", &[81.26, 91.60, 94.81, 100.83, 86.29]),
    ("Node Cuckoo", &[81.67, 82.91, 58.10, 34.31, 0.0]),
];
pub(super) const TABLE_8: [Printed; 3] = [
    ("Default", &[0.007, 114.364, 184.581, 239.622, 322.622]),
    ("Node Bloom", &[0.002, 111.930, 183.720, 240.370, 321.272]),
    ("Node Cuckoo", &[0.001, 0.001, 0.002, 0.001, 0.002]),
];
pub(super) const TABLE_9: [Printed; 3] = [
    ("Default", &[200.290, 236.479, 248.119, 276.972, 254.769]),
    ("Node Bloom", &[200.852, 237.785, 249.285, 277.024, 255.881]),
    ("Node Cuckoo", &[200.737, 237.603, 248.927, 277.042, 255.497]),
];
/// Minutes to insert all rows: default, Node Bloom, Node Cuckoo.
pub(super) const TABLE_10: [f64; 3] = [78.27, 78.03, 77.94];

/// Percent of a processor, every five minutes from minute 0 to minute 120.
pub(super) const TABLE_11: [Printed; 2] = [
    (
        "Default",
        &[
            0.3, 0.0, 3.1, 22.6, 21.5, 21.8, 22.5, 20.9, 22.7, 19.8, 22.8, 22.7, 20.9, 23.2, 22.5, 16.5,
            23.2, 22.5, 16.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
        ],
    ),
    (
        "as in the paper",
        &[
            0.8, 0.6, 13.3, 22.9, 21.2, 23.3, 22.3, 21.5, 20.9, 21.4, 21.8, 21.8, 22.0, 23.2, 20.3, 22.8,
            21.7, 23.7, 6.5, 0.0, 0.1, 0.1, 0.0, 0.1, 0.1,
        ],
    ),
];
/// Megabytes received.
pub(super) const TABLE_12: [Printed; 2] = [
    (
        "Default",
        &[
            0.6, 0.5, 33.1, 128.0, 151.0, 196.0, 128.0, 157.0, 136.0, 119.0, 144.0, 138.0, 166.0, 135.0,
            158.0, 143.0, 148.0, 165.0, 103.0, 0.1, 0.1, 0.1, 0.1, 0.0, 0.0,
        ],
    ),
    (
        "as in the paper",
        &[
            0.0, 0.1, 74.6, 136.0, 187.0, 153.0, 151.0, 138.0, 138.0, 123.0, 145.0, 130.0, 173.0, 151.0,
            146.0, 133.0, 185.0, 135.0, 40.9, 0.1, 3.5, 3.5, 0.1, 3.5, 0.1,
        ],
    ),
];
/// Megabytes sent.
pub(super) const TABLE_13: [Printed; 2] = [
    (
        "Default",
        &[
            0.1, 0.5, 27.4, 122.0, 144.0, 193.0, 146.0, 137.0, 140.0, 138.0, 130.0, 133.0, 167.0, 139.0,
            154.0, 135.0, 144.0, 180.0, 99.0, 0.1, 0.1, 0.1, 0.1, 0.0, 0.0,
        ],
    ),
    (
        "as in the paper",
        &[
            0.0, 0.2, 83.1, 133.0, 173.0, 176.0, 153.0, 121.0, 138.0, 137.0, 139.0, 117.0, 183.0, 155.0,
            132.0, 132.0, 191.0, 141.0, 34.8, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1,
        ],
    ),
];
