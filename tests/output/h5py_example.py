"""Columns of /jobs with their units, from the results file named on the command line."""
import sys, h5py
with h5py.File(sys.argv[1]) as f:
    columns = {name: data[:] for name, data in f["jobs"].items()}
    units = {name: data.attrs["units"] for name, data in f["jobs"].items()}
print({name: (len(values), units[name]) for name, values in columns.items()})
