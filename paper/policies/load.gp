# Curves against load, two rows of panels; called by draw.py, which sets data, out, n_columns, titles, series, colours, symbols (lists parted by |).
# The data: a block a panel, row by row; a line a load: load, then value, low, high of each series.
set encoding utf8
item(list, i) = system(sprintf("printf '%%s' \"%s\" | cut -d'|' -f%d", list, i))
count(list) = int(system(sprintf("printf '%%s' \"%s\" | tr -cd '|' | wc -c", list))) + 1
array palette[10] = ["#0072B2", "#56B4E9", "#888888", "#D55E00", "#E69F00", "#009E73", "#66C2A5", "#CC79A7", "#8B5A2B", "#000000"]
colour(k) = palette[int(item(colours, k))]
n = count(series)
keyrows = (n + 4) / 5
height = 2 * 300 + 95 + 20 * keyrows
width = 430 * n_columns + 60
set terminal pngcairo size width, height font "DejaVu Sans,11"
set output out
unset key
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set logscale y
set multiplot
key_at = 1 - 8.0 / height
cell_w = (width - 75.0) / n_columns
cell_h = (height - 35.0 - 20 * keyrows - 30.0) / 2
do for [p = 1:2 * n_columns] {
    column_of = (p - 1) % n_columns
    row_of = (p - 1) / n_columns
    set lmargin at screen (75.0 + column_of * cell_w) / width
    set rmargin at screen (75.0 + (column_of + 1) * cell_w - 55) / width
    set tmargin at screen 1 - (35.0 + 20 * keyrows + row_of * cell_h) / height
    set bmargin at screen 1 - (35.0 + 20 * keyrows + (row_of + 1) * cell_h - 40) / height
    set title (p <= n_columns ? item(titles, p) : "")
    set ylabel (p == 1 ? "mean JCT / that of srtf" : (p == n_columns + 1 ? "p99 of the JCT / that of srtf" : ""))
    set xlabel (p > n_columns ? "load" : "")
    set xrange [0.66:1.1]
    set xtics (0.7, 0.9, 1.05)
    set yrange [*:*] noextend
    set ytics (0.5, 0.7, 1, 1.2, 1.5, 2, 3, 5, 7, 10, 20, 30, 50, 70, 100, 200)
    at(k) = (k - (n + 1) / 2.0) * 0.004
    plot 1 with lines lc rgb "#444444" lw 1 notitle, \
         for [k = 1:n] data index p - 1 using ($1 + at(k)):(column(3 * k - 1)) with lines lc rgb colour(k) lw 1.2 notitle, \
         for [k = 1:n] data index p - 1 using ($1 + at(k)):(column(3 * k - 1)):(column(3 * k)):(column(3 * k + 1)) \
             with yerrorbars pt int(item(symbols, k)) ps 0.9 lc rgb colour(k) lw 1 notitle
}
# The key, over the whole width.
unset logscale
unset border
unset tics
unset xlabel
unset ylabel
unset title
set lmargin at screen 0.02
set rmargin at screen 0.98
set tmargin at screen 1
set bmargin at screen 0
set yrange [0:1]
set key at screen 0.5, key_at top center horizontal Left reverse samplen 1.5 width 1
plot for [k = 1:n] NaN with points pt int(item(symbols, k)) ps 1.1 lc rgb colour(k) title item(series, k)
unset multiplot
