"""The U-statistic test of Fuchs, Hornung, De Bin and Boulesteix (2013)."""
