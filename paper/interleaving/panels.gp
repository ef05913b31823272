# Panels of points with intervals; called by figures.py, which sets data, out, n_rows, n_columns, titles, ylabels, series (lists parted by |),
# x, xtics (a list of labels, or ""), joined (1: lines between the points), step (between the series of one place), keyrows, claims (a value a
# row that is drawn as a dashed line, or 0), nones (a value a row: no difference), colours (a number a series), symbols (a number a series).
# The data: a block a panel, row by row; a line a place on the x axis: x, then value, low, high of each series.
set encoding utf8
item(list, i) = system(sprintf("printf '%%s' \"%s\" | cut -d'|' -f%d", list, i))
count(list) = int(system(sprintf("printf '%%s' \"%s\" | tr -cd '|' | wc -c", list))) + 1
array palette[6] = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#555555"]
colour(k) = palette[int(item(colours, k))]
n_series = count(series)
top = 65.0 + 20 * keyrows
height = 290 * n_rows + 65 + top + (xtics ne "" ? bottom : 0)
width = 640 * n_columns
set terminal pngcairo size width, height font "DejaVu Sans,11"
set output out
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set multiplot layout n_rows, n_columns margins 85.0 / width, 1 - 15.0 / width, (60.0 + (xtics ne "" ? bottom : 0)) / height, \
    1 - top / height spacing 95.0 / width, 55.0 / height
n_ticks = xtics ne "" ? count(xtics) : 0
do for [p = 1:n_rows * n_columns] {
    row = (p - 1) / n_columns + 1
    if (p == 1) {
        set key at screen 0.5, 1 - 10.0 / height top center horizontal Left reverse samplen 1.5 maxrows keyrows
    } else {
        unset key
    }
    set title (p <= n_columns ? item(titles, p) : "")
    set ylabel (p % n_columns == 1 || n_columns == 1 ? item(ylabels, row) : "")
    set xlabel (row == n_rows ? x : "")
    set yrange [*:*]
    stats data index p - 1 using 1 nooutput name "X"
    if (n_ticks > 0) {
        set xrange [-0.6:n_ticks - 0.4]
        set xtics ()
        do for [i = 1:n_ticks] { set xtics add ((row == n_rows || n_columns == 1) ? item(xtics, i) : "" i - 1) }
        if (bottom > 0) { set xtics rotate by 35 right } else { set xtics norotate }
    } else {
        span = X_max - X_min
        set xrange [X_min - 0.06 * span:X_max + 0.06 * span]
        set xtics autofreq
    }
    set ytics autofreq
    claim = real(item(claims, row))
    none = real(item(nones, row))
    at(k) = (k - (n_series + 1) / 2.0) * step
    plot none with lines lc rgb "#444444" lw 1 notitle, \
         (claim != 0 ? claim : NaN) with lines dt 2 lc rgb "#444444" lw 1.4 title (claim != 0 ? "the claim" : ""), \
         for [k = 1:n_series] data index p - 1 using ($1 + at(k)):(column(3 * k - 1)):(column(3 * k)):(column(3 * k + 1)) \
             with yerrorbars pt int(item(symbols, k)) ps 1.1 lc rgb colour(k) lw 1.4 title item(series, k), \
         for [k = 1:n_series] data index p - 1 using ($1 + at(k)):(joined ? column(3 * k - 1) : NaN) with lines lc rgb colour(k) \
             lw 1.4 notitle
}
unset multiplot
