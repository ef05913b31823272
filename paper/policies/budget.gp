# What more plans a decision are worth; called by draw.py, which sets data, out, series, titles (lists parted by |). A block a panel; a line a budget:
# budget, then value, low, high of each series.
set encoding utf8
item(list, i) = system(sprintf("printf '%%s' \"%s\" | cut -d'|' -f%d", list, i))
array palette[3] = ["#0072B2", "#D55E00", "#009E73"]
width = 1350.0
height = 440.0
set terminal pngcairo size width, height font "DejaVu Sans,11"
set output out
set border 3
set tics nomirror
set grid ytics lc rgb "#dddddd"
set logscale x
set multiplot layout 1, 3 margins 85 / width, 1 - 15 / width, 60 / height, 1 - 55 / height spacing 80 / width
do for [p = 1:3] {
    if (p == 1) {
        set key at screen 0.5, 1 - 6 / height top center horizontal Left reverse samplen 1.5
    } else {
        unset key
    }
    set title item(titles, p)
    set xlabel "plans a decision"
    set ylabel (p == 1 ? "mean JCT / best simple order or policy" : "")
    set xtics (12, 25, 50, 100, 200, 400, 800, 1600)
    set xrange [10:(p == 1 ? 2000 : 500)]
    at(x, k) = x * (1 + (k - 2) * 0.05)
    plot 1 with lines lc rgb "#444444" lw 1 notitle, \
         for [k = 1:3] data index p - 1 using (at($1, k)):(column(3 * k - 1)) with lines lc rgb palette[k] lw 1.4 notitle, \
         for [k = 1:3] data index p - 1 using (at($1, k)):(column(3 * k - 1)):(column(3 * k)):(column(3 * k + 1)) \
             with yerrorbars pt 7 ps 1 lc rgb palette[k] lw 1.3 title item(series, k)
}
unset multiplot
