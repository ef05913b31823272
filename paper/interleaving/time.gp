# The four resources over time under two policies; figures.py sets data and out. The data: day, then storage, CPU, GPU, network of the one,
# then those of the other, in per cent.
set encoding utf8
set terminal pngcairo size 1100, 820 font "DejaVu Sans,11"
set output out
set grid ytics lc rgb "#dddddd"
set border 3
set tics nomirror
set yrange [0:75]
set style fill solid noborder
set ytics 25
array names[4] = ["storage", "CPU", "GPU", "network"]
set multiplot layout 4, 1 margins 0.075, 0.985, 0.075, 0.935 spacing 0, 0.035
do for [k = 1:4] {
    if (k == 1) { set key at screen 0.5, 0.99 top center horizontal Left reverse samplen 2 maxrows 1 } else { unset key }
    set ylabel names[k] . ", %" offset 0.5, 0
    set xlabel (k == 4 ? "days" : "")
    set format x (k == 4 ? "%g" : "")
    plot data using 1:(column(k + 5)) with fillsteps lc rgb "#a6cde6" title "Muri-S", \
         data using 1:(column(k + 5)) with steps lc rgb "#0072B2" lw 1.2 notitle, \
         data using 1:(column(k + 1)) with steps lc rgb "#D55E00" lw 1.6 title "SRSF, which does not share"
}
unset multiplot
