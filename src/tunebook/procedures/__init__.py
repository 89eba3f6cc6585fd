"""The probes: small experiments that answer one question each.

A procedure is a generator that yields a study, is sent its results, and returns an answer. It runs
nothing itself, so that continuing one is following it again from its first study.
"""
