"""Rivals are timed in turns, and a slow one is not asked again."""

import time

from cyclenet.bench.clock import Patience, Rival, race


def busy(seconds):
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass


def test_the_first_call_of_ours_is_not_counted():
    calls = []

    def ours():
        busy(0.2 if not calls else 0.03)
        calls.append("ours")
        return len(calls)

    found = race(Rival(ours), Rival(lambda: busy(0.03)), Patience(seconds=10, repeats=2))
    assert found.our_answer == 3
    assert found.ours > 0


def test_rivals_take_turns():
    calls = []

    def call(name):
        busy(0.03)
        calls.append(name)

    race(Rival(lambda: call("a")), Rival(lambda: call("b")), Patience(seconds=10, repeats=3))
    assert calls == ["a", "a", "b", "a", "b", "a", "b"]


def test_a_rival_out_of_time_is_not_asked_again():
    asked = []
    slow = Rival(lambda: (busy(0.05), asked.append(1)))
    race(Rival(lambda: busy(0.03)), slow, Patience(seconds=0.04, repeats=5))
    assert len(asked) == 1


def test_preparation_is_made_for_each_call():
    prepared = []
    rival = Rival(lambda item: item, prepare=lambda: prepared.append(1) or len(prepared))
    race(Rival(lambda: None), rival, Patience(seconds=10, repeats=3))
    assert rival.answer == len(prepared) == 3
