# error.png: closed form against the simulation of stages, a point a group, and the distribution of the error. The script `run` sets data, out.
set encoding utf8
set terminal pngcairo noenhanced rounded size 1730, 1400 font 'Sans,13' fontscale 1.8 linewidth 1.8 background '#ffffff'
set output out
set border 3 linecolor '#444444'
set tics nomirror out scale 0.6 textcolor '#222222' font ',12'
set grid back linecolor '#dddddd' linetype 1 linewidth 0.6
colour(n) = n == 2 ? '#0072B2' : n == 3 ? '#D55E00' : '#009E73'
name(n) = n == 2 ? 'pairs' : n == 3 ? 'triples' : 'quadruples'
splits = 'half storage'
loading(s) = s eq 'half' ? 'loading: half storage, half CPU' : 'loading: all storage'
set multiplot layout 2, 2 margins 0.075, 0.985, 0.075, 0.87 spacing 0.095, 0.13
set label 1 'Speed of a group: the closed form against the simulation of its stages' at screen 0.015, screen 0.968 left font ',17'
set label 2 'all groups of the eight profiles of the Muri traces, for 1 to 32 GPUs; a speed of 1: what one job does alone' \
    at screen 0.015, screen 0.932 left font ',10.5' textcolor '#555555'
do for [s in splits] {
    set title loading(s) offset 0, -0.4 font ',13'
    set xlabel 'speed by stages' offset 0, 0.4
    set ylabel 'speed by the closed form' offset 1, 0
    set xrange [0.9:3.5]
    set yrange [0.9:3.5]
    set xtics 1
    set ytics 1
    set key top left Left reverse samplen 1 spacing 1.2
    plot for [n = 4:2:-1] sprintf('%s/%s-%d.dat', data, s, n) using 1:2 with points pointtype 7 pointsize 0.7 \
             linecolor rgb colour(n) title name(n), \
         x with lines linecolor rgb '#444444' linewidth 1 notitle
    unset label 1
    unset label 2
    set title loading(s)
    set xlabel 'error of the closed form (%)'
    set ylabel 'groups up to that error (%)'
    set xrange [-40:10]
    set yrange [0:100]
    set xtics 10
    set ytics 20
    set arrow 1 from 0, 0 to 0, 100 nohead linecolor rgb '#444444' linewidth 1
    plot for [n = 2:4] sprintf('%s/%s-%d.dat', data, s, n) using 3:4 with lines linewidth 2 linecolor rgb colour(n) title name(n)
    unset arrow 1
}
unset multiplot
