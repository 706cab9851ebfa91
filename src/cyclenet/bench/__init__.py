"""How fast the kernels are beside other people's, and whether they say the same.

Everything compared runs in one process on one thread and is timed by the least processor time of a
few repeats, taken in turns: the ratio of two such times moves little from one machine to another,
the times themselves move a lot.
"""
