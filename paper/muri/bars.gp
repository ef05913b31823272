# Panels of grouped bars with a diamond on each; called by figures.py, which sets data, out, titles, bars (lists parted by |), x and y.
# The data: a block a panel, a line a group: its tick, then for each bar the bar's height and the diamond's.
set encoding utf8
set linetype 1 lc rgb "#0072B2"
set linetype 2 lc rgb "#E69F00"
set linetype 3 lc rgb "#009E73"
set linetype 4 lc rgb "#CC79A7"
item(list, i) = system(sprintf("printf '%%s' \"%s\" | cut -d'|' -f%d", list, i))
count(list) = int(system(sprintf("printf '%%s' \"%s\" | tr -cd '|' | wc -c", list))) + 1
n_panels = count(titles)
n_bars = count(bars)

canvas = 200 + 440 * n_panels # pixels
set terminal pngcairo size canvas, 460 font "DejaVu Sans,11"
set output out
set style fill solid 1.0 noborder
width = 0.8 / n_bars
set boxwidth width * 0.94
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set xtics scale 0
set yrange [0:*]
set key outside top center horizontal Left reverse samplen 1.5
set multiplot layout 1, n_panels margins 70.0 / canvas, 1 - 15.0 / canvas, 0.14, 0.80 spacing 75.0 / canvas, 0
do for [p = 1:n_panels] {
    set title item(titles, p)
    set xlabel x
    set ylabel y offset 1, 0
    stats data index p - 1 using 0 nooutput
    set xrange [-0.6:STATS_records - 0.4]
    if (p == 1) { set key at screen 0.5, 0.99 top center horizontal maxrows 1 } else { unset key }
    plot data index p - 1 using 0:(0):xtic(1) with points pt -1 notitle, \
         for [k = 1:n_bars] data index p - 1 using ($0 + (k - (n_bars + 1) / 2.0) * width):(column(2 * k)) with boxes lt k \
             title item(bars, k), \
         for [k = 1:n_bars] data index p - 1 using ($0 + (k - (n_bars + 1) / 2.0) * width):(column(2 * k + 1)) with points \
             pt 13 ps 1.1 lc rgb "white" notitle, \
         for [k = 1:n_bars] data index p - 1 using ($0 + (k - (n_bars + 1) / 2.0) * width):(column(2 * k + 1)) with points \
             pt 12 ps 1.1 lw 1.4 lc rgb "black" title (k == 1 ? "published" : "")
}
unset multiplot
