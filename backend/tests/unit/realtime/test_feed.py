"""The ring keeps a gap-free end of the events within its bounds; a feed publishes each event once."""

from collections.abc import Sequence
from uuid import UUID, uuid4

import pytest

from app.realtime.feed import Feed, Ring
from app.realtime.reader import RunHead, StoredEvent


def events(*sequences: int, size: int = 2) -> list[StoredEvent]:
    return [StoredEvent.of(sequence, "agent.progress", b"x" * (size - 2)) for sequence in sequences]


def head(last: int, epoch: str = "here") -> RunHead:
    return RunHead("active", last, 1, epoch)


def sequences(found: Sequence[StoredEvent]) -> list[int]:
    return [event.sequence for event in found]


@pytest.mark.parametrize(
    ("given", "cursor", "expected"),
    [
        pytest.param([], 0, [], id="empty"),
        pytest.param([1, 2, 3], 0, [1, 2, 3], id="whole"),
        pytest.param([1, 2, 3], 2, [3], id="end"),
        pytest.param([1, 2, 3], 3, [], id="at its head"),
        pytest.param([1, 2, 3], 7, [], id="ahead of its head"),
        pytest.param([4, 5, 6], 2, [], id="does not reach back"),
        pytest.param([4, 5, 6], 3, [4, 5, 6], id="reaches back exactly"),
        pytest.param([1, 2, 3, 4, 5, 6], 2, [3, 4, 5, 6], id="oldest forgotten"),
        pytest.param([1, 2, 3, 4, 5, 6], 1, [], id="before the oldest"),
        pytest.param([1, 2, 8, 9], 7, [8, 9], id="only what follows a gap is kept"),
        pytest.param([1, 2, 8, 9], 0, [], id="nothing across a gap"),
    ],
)
def test_ring(given: list[int], cursor: int, expected: list[int]) -> None:
    ring = Ring(max_events=4, max_bytes=100)
    ring.extend(events(*given))
    assert sequences(ring.after(cursor)) == expected


def test_ring_is_bounded_by_size() -> None:
    ring = Ring(max_events=100, max_bytes=100)
    ring.extend(events(1, 2, 3, size=40))
    assert sequences(ring.after(1)) == [2, 3]
    ring.extend(events(4, size=1_000))
    assert ring.after(3) == []
    ring.extend(events(5, size=2))
    assert sequences(ring.after(4)) == [5]


class Recorder:
    def __init__(self) -> None:
        self.got: list[int] = []
        self.looks = 0

    def look_again(self) -> None:
        self.looks += 1

    def notify(self, events: Sequence[StoredEvent]) -> None:
        self.got += sequences(events)


def test_feed_publishes_nothing_before_its_start_and_nothing_twice() -> None:
    started: list[UUID] = []
    run_id = uuid4()
    feed = Feed(run_id, Ring(max_events=10, max_bytes=100), started.append)
    follower = Recorder()
    feed.join(follower)
    feed.publish(events(1))
    assert feed.start(head(1))
    assert feed.start(head(0))
    feed.publish(events(1, 2))
    feed.publish(events(2))
    feed.publish(events(2, 3, 4))
    feed.leave(follower)
    feed.publish(events(5))
    assert follower.got == [2, 3, 4]
    assert feed.head == 5
    assert started == [run_id]


def test_one_who_looked_at_another_history_makes_all_look_again() -> None:
    feed = Feed(uuid4(), Ring(max_events=10, max_bytes=100), lambda _run_id: None)
    follower = Recorder()
    feed.join(follower)
    assert feed.start(head(1))
    feed.publish(events(2))
    assert not feed.start(head(2, "there"))
    assert (feed.epoch, feed.ring.after(1), follower.looks) == (None, [], 1)
    assert feed.start(head(2, "there"))


def test_a_follower_may_leave_while_it_is_told() -> None:
    feed = Feed(uuid4(), Ring(max_events=10, max_bytes=100), lambda _run_id: None)

    class Leaver(Recorder):
        def notify(self, events: Sequence[StoredEvent]) -> None:
            super().notify(events)
            feed.leave(self)

    leaver, stayer = Leaver(), Recorder()
    feed.join(leaver)
    feed.join(stayer)
    feed.start(head(0))
    feed.publish(events(1))
    feed.publish(events(2))
    assert (leaver.got, stayer.got) == ([1], [1, 2])


def test_a_broken_follower_keeps_nothing_from_the_others() -> None:
    feed = Feed(uuid4(), Ring(max_events=10, max_bytes=100), lambda _run_id: None)

    class Broken(Recorder):
        def notify(self, events: Sequence[StoredEvent]) -> None:
            raise RuntimeError("its connection is in a strange state")

    broken, other = Broken(), Recorder()
    feed.join(broken)
    feed.join(other)
    feed.start(head(0))
    feed.publish(events(1))
    assert (other.got, broken.looks, other.looks) == ([1], 1, 0)


@pytest.mark.parametrize("gap", [[3], [2, 4], [2, 3, 5]])
def test_events_that_do_not_follow_void_the_feed(gap: list[int]) -> None:
    feed = Feed(uuid4(), Ring(max_events=10, max_bytes=100), lambda _run_id: None)
    follower = Recorder()
    feed.join(follower)
    feed.start(head(0))
    feed.publish(events(1))
    feed.publish(events(*gap))
    assert (follower.got, follower.looks) == ([1], 1)
    assert (feed.epoch, feed.ring.after(0)) == (None, [])
    feed.start(head(gap[-1], "there"))
    feed.publish(events(gap[-1] + 1))
    assert (follower.got, feed.epoch) == ([1, gap[-1] + 1], "there")
