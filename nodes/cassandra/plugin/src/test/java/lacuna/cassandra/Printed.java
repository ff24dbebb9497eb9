package lacuna.cassandra;

import java.util.List;
import java.util.stream.IntStream;

import lacuna.cassandra.PaperTable.Column;

/** What Mosharraf and Adnan, Journal of Big Data 9, 2022 print: tables 1 to 13. */
final class Printed
{
    /** Rows of its data. */
    static final double ROWS = 136e6;
    static final List<String> SHARES = List.of("0 %", "25 %", "50 %", "75 %", "100 %");
    static final List<String> SIZES = List.of("1 GB", "10 GB", "20 GB", "30 GB", "40 GB", "50 GB");
    static final List<String> MINUTES = IntStream.rangeClosed(0, 24).mapToObj(i -> Integer.toString(5 * i)).toList();

    /** The table says milliseconds; the last row of the second, which it repeats, says seconds. */
    static final List<Column> TABLE_1 = List.of(new Column("Bloom, s", 56.71), new Column("Cuckoo, s", 0.02));
    static final List<Column> TABLE_2 = List.of(
        new Column("Bloom, s", 161.368, 148.943, 127.332, 109.944, 56.709),
        new Column("Cuckoo, s", 157.392, 128.170, 101.672, 53.448, 0.004));
    static final List<Column> TABLE_3 = List.of(
        new Column("Bloom, s", 10.258, 130.664, 248.105, 318.843, 440.009, 506.697),
        new Column("Cuckoo, s", 0.005, 0.002, 0.006, 0.009, 0.014, 0.020));
    static final List<Column> TABLE_4 = List.of(
        new Column("Bloom, s", 0.025, 59.904, 75.618, 121.482, 187.531),
        new Column("Cuckoo, s", 0.021, 47.155, 54.873, 105.444, 170.694));
    static final List<Column> TABLE_5 = List.of(
        new Column("Bloom, s", 84.565, 85.572, 85.863, 86.029, 85.435),
        new Column("Cuckoo, s", 84.457, 85.224, 85.183, 85.255, 85.413));
    static final List<Column> TABLE_6 = List.of(
        new Column("default, ms", 2, 4, 5, 6, 7), new Column("node Bloom, ms", 2, 2, 2, 2, 2), new Column("node cuckoo, ms", 2, 2, 2, 2, 2));
    static final List<Column> TABLE_7 = List.of(
        new Column("default, s", 81.333, 92.879, 94.189, 100.382, 87.539),
        new Column("node Bloom, s", 81.26, 91.60, 94.81, 100.83, 86.29),
        new Column("node cuckoo, s", 81.67, 82.91, 58.10, 34.31, 0.00));
    static final List<Column> TABLE_8 = List.of(
        new Column("default, s", 0.007, 114.364, 184.581, 239.622, 322.622),
        new Column("node Bloom, s", 0.002, 111.930, 183.720, 240.370, 321.272),
        new Column("node cuckoo, s", 0.001, 0.001, 0.002, 0.001, 0.002));
    static final List<Column> TABLE_9 = List.of(
        new Column("default, s", 200.290, 236.479, 248.119, 276.972, 254.769),
        new Column("node Bloom, s", 200.852, 237.785, 249.285, 277.024, 255.881),
        new Column("node cuckoo, s", 200.737, 237.603, 248.927, 277.042, 255.497));
    static final List<Column> TABLE_10 = List.of(
        new Column("default, min", 78.27), new Column("node Bloom, min", 78.03), new Column("node cuckoo, min", 77.94));
    static final List<Column> TABLE_11 = List.of(
        new Column("default, %", 0.3, 0.0, 3.1, 22.6, 21.5, 21.8, 22.5, 20.9, 22.7, 19.8, 22.8, 22.7, 20.9, 23.2, 22.5, 16.5, 23.2, 22.5,
                   16.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
        new Column("node cuckoo, %", 0.8, 0.6, 13.3, 22.9, 21.2, 23.3, 22.3, 21.5, 20.9, 21.4, 21.8, 21.8, 22.0, 23.2, 20.3, 22.8, 21.7,
                   23.7, 6.5, 0.0, 0.1, 0.1, 0.0, 0.1, 0.1));
    static final List<Column> TABLE_12 = List.of(
        new Column("default, MB", 0.6, 0.5, 33.1, 128.0, 151.0, 196.0, 128.0, 157.0, 136.0, 119.0, 144.0, 138.0, 166.0, 135.0, 158.0, 143.0,
                   148.0, 165.0, 103.0, 0.1, 0.1, 0.1, 0.1, 0.0, 0.0),
        new Column("node cuckoo, MB", 0.0, 0.1, 74.6, 136.0, 187.0, 153.0, 151.0, 138.0, 138.0, 123.0, 145.0, 130.0, 173.0, 151.0, 146.0,
                   133.0, 185.0, 135.0, 40.9, 0.1, 3.5, 3.5, 0.1, 3.5, 0.1));
    static final List<Column> TABLE_13 = List.of(
        new Column("default, MB", 0.1, 0.5, 27.4, 122.0, 144.0, 193.0, 146.0, 137.0, 140.0, 138.0, 130.0, 133.0, 167.0, 139.0, 154.0, 135.0,
                   144.0, 180.0, 99.0, 0.1, 0.1, 0.1, 0.1, 0.0, 0.0),
        new Column("node cuckoo, MB", 0.0, 0.2, 83.1, 133.0, 173.0, 176.0, 153.0, 121.0, 138.0, 137.0, 139.0, 117.0, 183.0, 155.0, 132.0,
                   132.0, 191.0, 141.0, 34.8, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1));

    private Printed() {}
}
