# A row a policy, a panel a metric; called by draw.py, which sets data, out, series (the symbols), titles (the panels), labels and places of the
# rows, breaks (where groups part), n_y. The data: a line a policy: y, then value, low, high for each symbol of the first panel, and so on.
set encoding utf8
item(list, i) = system(sprintf("printf '%%s' \"%s\" | cut -d'|' -f%d", list, i))
count(list) = int(system(sprintf("printf '%%s' \"%s\" | tr -cd '|' | wc -c", list))) + 1
array palette[3] = ["#0072B2", "#D55E00", "#009E73"]
n = count(series)
panels = count(titles)
height = 16 * n_y + 110
width = 1400
set terminal pngcairo size width, height font "DejaVu Sans,10" enhanced
set output out
unset key
set border 3
set tics nomirror
set yrange [n_y - 0.5:-0.8]
set grid xtics lc rgb "#dddddd"
set multiplot
left = 190.0
span = (width - left - 20) / panels
do for [b = 1:count(breaks)] { set arrow b from graph 0, first real(item(breaks, b)) to graph 1, first real(item(breaks, b)) nohead lc rgb "#bbbbbb" dt 3 }
do for [p = 1:panels] {
    set lmargin at screen (left + (p - 1) * span + 14) / width
    set rmargin at screen (left + p * span - 14) / width
    set bmargin at screen 40.0 / height
    set tmargin at screen 1 - 60.0 / height
    set title item(titles, p) offset 0, -0.5
    set ytics () scale 0.3
    do for [i = 1:count(labels)] { set ytics add ((p == 1 ? item(labels, i) : "") real(item(places, i))) }
    if (p == 1 || p == panels) { set logscale x; set format x "%g" } else { unset logscale x }
    if (p == panels) { set format x "%g" }
    c(k) = 2 + 3 * ((p - 1) * n + k - 1)
    plot for [k = 1:n] data using (column(c(k))):($1 + (k - (n + 1) / 2.0) * 0.22):(column(c(k) + 1)):(column(c(k) + 2)) \
        with xerrorbars pt 7 ps 0.6 lc rgb palette[k] lw 1 notitle
}
# The key, over the whole width.
unset logscale
unset border
unset tics
unset title
unset arrow
set lmargin at screen 0.02
set rmargin at screen 0.98
set tmargin at screen 1
set bmargin at screen 0
set xrange [0:1]
set key at screen 0.5, 1 - 6.0 / height top center horizontal Left reverse samplen 1 width 1
plot for [k = 1:n] NaN with points pt 7 ps 0.8 lc rgb palette[k] title item(series, k)
unset multiplot
